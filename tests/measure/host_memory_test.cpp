#include "host/measure/host_memory.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace tenfold::measure {
namespace {

namespace fs = std::filesystem;

constexpr const char* meminfo =
    "MemTotal:        2000 kB\nMemFree:          100 kB\nMemAvailable:    1000 kB\n"
    "Buffers:           1 kB\n";

/// A /proc and a /sys of our own.
class HostMemory : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "tenfold-memory-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& file, const std::string& text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  [[nodiscard]] std::uint64_t available() const { return available_memory(root_); }

 private:
  fs::path root_;
};

TEST_F(HostMemory, IsWhatTheSystemHasToSpare) {
  write("proc/meminfo", meminfo);
  EXPECT_EQ(available(), 1000u * 1024);
}

TEST_F(HostMemory, IsLimitedByTheContainer) {
  write("proc/meminfo", meminfo);
  write("sys/fs/cgroup/memory.max", "4096\n");
  EXPECT_EQ(available(), 4096u);
  write("sys/fs/cgroup/memory.max", "max\n");
  EXPECT_EQ(available(), 1000u * 1024);
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "8192\n");
  EXPECT_EQ(available(), 8192u);
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(available(), 1000u * 1024);
}

TEST_F(HostMemory, IsThePhysicalMemoryWhereNothingElseIsKnown) {
  EXPECT_EQ(available(), physical_memory());
  write("proc/meminfo", "MemTotal:        2000 kB\n");
  EXPECT_EQ(available(), physical_memory());
}

TEST_F(HostMemory, IsFoundOnThisMachine) {
  EXPECT_GT(available_memory(), 0u);
  EXPECT_LE(available_memory(), physical_memory());
}

}  // namespace
}  // namespace tenfold::measure
