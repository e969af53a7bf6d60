/// @file
/// How much memory the host has to give.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

namespace tenfold::measure {

inline std::uint64_t physical_memory() {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
}

/// What the system has to spare, within the limit of the container that this process is in.
/// @param root where /proc and /sys are
[[nodiscard]] inline std::uint64_t available_memory(const std::filesystem::path& root = "/") {
  std::uint64_t bytes = physical_memory(), value = 0;
  std::ifstream info(root / "proc/meminfo");
  for (std::string key; info >> key; info.ignore(std::numeric_limits<std::streamsize>::max(), '\n'))
    if (key == "MemAvailable:" && info >> value) bytes = std::min(bytes, value * 1024);
  // Those of cgroups, versions 2 and 1; a file without a limit says `max`, which is no number.
  for (const char* file :
       {"sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes"})
    if (std::ifstream limit(root / file); limit >> value) bytes = std::min(bytes, value);
  return bytes;
}

}  // namespace tenfold::measure
