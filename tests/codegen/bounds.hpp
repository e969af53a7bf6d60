/// @file
/// The most that each kernel may take of the hardware, as recorded in bounds.json.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/isa/isa.hpp"
#include "tests/codegen/instances.hpp"

namespace tenfold::codegen {

struct bound {
  int vector_registers, scalar_registers, shared_bytes;
};

/// What a kernel takes, in the form of a bound.
[[nodiscard]] bound taken_by(const isa::kernel_code& kernel);

class bounds_file {
 public:
  explicit bounds_file(std::string path);

  /// @return none where the file has no such kernel, or not for that architecture
  [[nodiscard]] std::optional<bound> find(const instance& i, const isa::architecture& a) const;

  /// The compiler whose registers were recorded for the architecture; empty where none was.
  [[nodiscard]] std::string compiler(const isa::architecture& a) const;

  /// Replaces all that there is for the architecture.
  void record(const isa::architecture& a, const std::string& compiler,
              const std::vector<stage_kernel>& kernels) const;

 private:
  std::string path_;
};

/// 19 for `clang version 19.1.7`, 13 for `Cuda compilation tools, release 13.0`; with the vendor's
/// own name for the compiler around it.
[[nodiscard]] int major_version(const std::string& compiler);

}  // namespace tenfold::codegen
