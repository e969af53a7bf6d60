/// @file
/// Published claims about what compilers make of code, each a test that says whether it holds.
///
/// A test's name ends in `_Holds` or `_DoesNotHold`, which is its verdict. The test fails where the
/// machine code says otherwise.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/isa/isa.hpp"

namespace tenfold::claims {

/// Where the claims are from.
inline constexpr const char* hip_tutorial = "Reduction, HIP documentation";
inline constexpr const char* fast_cuda = "Reduction kernels of FastCuda";
inline constexpr const char* parallel_cuda = "Embarrassingly Parallel Reduction in CUDA";
inline constexpr const char* kepler = "Faster Parallel Reductions on Kepler";

/// For each architecture what the machine code shows; on the CPU, for one without a name.
using findings = std::vector<std::pair<std::string, std::string>>;

/// `gfx90a and gfx1100: the same; sm_90: something else`
[[nodiscard]] std::string joined(const findings& all);

/// What has been found out about a claim.
struct row {
  std::string claim, source, verdict, test;
  findings found;
};

/// Those of the tests that have run so far.
[[nodiscard]] const std::vector<row>& rows();

class Claim : public testing::Test {
 protected:
  /// Says what is claimed, and where.
  void says(const char* source, const char* claim);
  /// Says what the machine code shows, with figures that were read from it.
  void finds(const std::string& finding, const std::string& architecture = "");

  [[nodiscard]] bool finds_nothing() const { return row_.found.empty(); }

  void TearDown() override;

 private:
  row row_;
};

/// The kernels of a header in this folder, compiled for one architecture.
class unit {
 public:
  unit(const std::string& header, isa::architecture a);

  /// By its name, or that of its stage.
  [[nodiscard]] const isa::kernel_code& operator[](std::string_view kernel) const;
  [[nodiscard]] const isa::architecture& architecture() const { return architecture_; }
  [[nodiscard]] bool is_amd() const { return architecture_.vendor == isa::vendor::amd; }

 private:
  isa::architecture architecture_;
  const std::vector<isa::kernel_code>* kernels_;
};

/// A claim about GPUs, to be looked at on several: CDNA and RDNA of AMD's; NVIDIA's in PTX, and in
/// what ptxas reports.
class GpuClaim : public Claim {
 protected:
  explicit GpuClaim(isa::vendor v);

  void SetUp() override;

  /// Finds what `look` finds in a header's kernels, on each architecture that the compiler knows.
  template <typename Look>
  void finds_in(const char* header, Look look) {
    std::string unknown;
    for (const isa::architecture& each : architectures_) {
      SCOPED_TRACE(each.name);
      if (const std::string reason = reason_to_leave_out(header, each); !reason.empty())
        unknown = reason;
      else
        finds(look(unit(header, each)), each.name);
    }
    if (finds_nothing()) GTEST_SKIP() << "no machine code to look at: " << unknown;
  }

 private:
  /// Asked only when the compiler refuses a header, since asking takes as long as compiling.
  static std::string reason_to_leave_out(const std::string& header, const isa::architecture& a);

  std::vector<isa::architecture> architectures_;
};

class AmdClaims : public GpuClaim {
 protected:
  AmdClaims() : GpuClaim(isa::vendor::amd) {}
};

class NvidiaClaims : public GpuClaim {
 protected:
  NvidiaClaims() : GpuClaim(isa::vendor::nvidia) {}
};

/// For claims that are looked at on both: `Claims.Name/hip`, `Claims.Name/cuda`.
class Claims : public GpuClaim, public testing::WithParamInterface<isa::vendor> {
 protected:
  Claims() : GpuClaim(GetParam()) {}
};

}  // namespace tenfold::claims
