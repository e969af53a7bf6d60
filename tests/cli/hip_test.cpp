// How the program with a HIP backend fails. Where no device is there, the program is the real one;
// where a call fails, AMD's runtime is replaced. None of these tests needs a GPU.
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/program.hpp"

namespace tenfold::cli_test {
namespace {

// ---- no device ----------------------------------------------------------------------------------

class HipAbsent : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    if (access("/dev/kfd", F_OK) == 0) GTEST_SKIP() << "this machine has AMD's driver";
  }

  static constexpr const char* reason =
      "there is no /dev/kfd: install AMD's driver, amdgpu, or pass /dev/kfd and /dev/dri into this "
      "container";
};

TEST_F(HipAbsent, ADeviceThatIsAskedForIsRefusedWithTheReason) {
  for (const std::string device : {"hip", "hip:0", "hip:x"}) {
    const outcome o = tenfold({"run", "1", "--n", "100", "--device", device});
    expect_refusal(
        o, device_failed,
        {("there is no device '" + device + "'").c_str(), reason, "--device simt runs on the CPU"});
  }
}

TEST_F(HipAbsent, TheExecutorTakesOverAndSaysSoInOneLine) {
  for (const words& verb : {words{"run", "1"}, words{"ladder"}}) {
    const outcome o = tenfold(verb + words{"--n", "100", "--repeat", "1"});
    EXPECT_EQ(o.code, success) << o.what();
    EXPECT_EQ(lines_of(o.err).size(), 1u) << o.what();
    EXPECT_TRUE(contains(o.err, "tenfold: running on simt:32, since there is no hip device: "))
        << o.what();
    EXPECT_TRUE(contains(o.err, reason)) << o.what();
    EXPECT_TRUE(contains(o.out, "simt:32 (SIMT executor")) << o.what();
  }
}

TEST_F(HipAbsent, TheListOfDevicesSaysWhy) {
  const words devices = lines_of(succeed({"devices"}).out);
  ASSERT_FALSE(devices.empty());
  EXPECT_TRUE(contains(devices.back(), "hip      no device: ")) << devices.back();
  EXPECT_TRUE(contains(devices.back(), reason)) << devices.back();
}

// ---- calls that fail ----------------------------------------------------------------------------

class HipFails : public Cli {
 protected:
  /// @param failure as in `Malloc=2`: the function, and the error that it returns
  outcome run(const std::string& failure, const words& arguments = {"run", "1"}) const {
    const words common{"--n", "5000", "--device", "hip", "--repeat", "1"};
    return spawn(words{program()} + arguments + common, {{"FAKE_GPU_FAILURE", failure}});
  }
  /// A copy, so that it finds no kernels for a GPU but those that are in it.
  std::string program() const {
    return copy_program(TENFOLD_FAKE_GPU_PROGRAM, "tests/fake_tenfold").string();
  }
  void expect_failure(const std::string& failure, const std::string& message) const {
    const outcome o = run(failure);
    expect_refusal(o, device_failed, {});
    EXPECT_EQ(o.err, "tenfold: " + message + "\n") << failure;
  }
};

TEST_F(HipFails, NotWhereNoCallDoes) {
  const outcome o = run("", {"run", "1", "--mode", "back-to-back"});
  EXPECT_EQ(o.code, wrong_result) << "no kernel ran: " << o.what();
  EXPECT_EQ(o.err, "") << o.what();
  EXPECT_TRUE(contains(o.out, "hip:0 (fake GPU)")) << o.what();
}

// All times of the stand-in are equal, and it runs no kernel.
TEST_F(HipFails, WhereAWrongCallAddsNoTime) {
  const outcome o = run("");
  EXPECT_EQ(o.code, wrong_result) << o.what();
  EXPECT_TRUE(contains(o.out, "adds nothing to the kernel that writes its input")) << o.what();
  EXPECT_TRUE(contains(o.out, "WRONG")) << o.what();
}

TEST_F(HipFails, OutOfMemory) {
  // Half of what is free, for the input to be there many times.
  expect_failure("Malloc=2",
                 "allocating 268433152 bytes on the device failed: out of memory: use a smaller n, "
                 "or end what else holds memory of the device");
}

TEST_F(HipFails, ArchitectureThatIsNotCompiledIn) {
  expect_failure("LaunchKernel=209",
                 "launching the kernel failed: no kernel image is available for execution on the "
                 "device: build with -DCMAKE_HIP_ARCHITECTURES=gfx1103");
}

TEST_F(HipFails, KernelThatBrokeTheContext) {
  expect_failure("StreamSynchronize=700",
                 "waiting for the stream failed: an illegal memory access was encountered: a "
                 "kernel failed, and this process cannot use the device any more: start anew, and "
                 "find the kernel with rocgdb");
}

TEST_F(HipFails, ALadderInJsonNamesTheDevice) {
  const outcome o = run("", {"ladder", "--mode", "back-to-back", "--json", "-"});
  EXPECT_EQ(o.code, wrong_result) << "no kernel ran: " << o.what();
  const json context = json::parse(o.out).at("context");
  EXPECT_EQ(context.at("device"), "hip:0");
  EXPECT_EQ(context.at("device_name"), "fake GPU");
}

}  // namespace
}  // namespace tenfold::cli_test
