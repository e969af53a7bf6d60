/// @file
/// The compilers for the CPU that claims are looked at with.
#pragma once

#include <string>

#include "host/text/process.hpp"

namespace tenfold::claims {

enum class cpu_vendor { gnu, llvm };

/// The newest that PATH has; empty where there is none.
[[nodiscard]] inline std::string cpu_compiler(cpu_vendor vendor) {
  const std::string name = vendor == cpu_vendor::gnu ? "g++" : "clang++";
  for (int version = 30; version >= 12; --version)
    if (std::string found = find_program(name + "-" + std::to_string(version)); !found.empty())
      return found;
  return find_program(name);
}

}  // namespace tenfold::claims
