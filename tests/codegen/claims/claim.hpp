/// @file
/// Published claims about what compilers make of code, each a test that says whether it holds.
///
/// A test's name ends in `_Holds` or `_DoesNotHold`, which is its verdict. The test fails where the
/// machine code says otherwise.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
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

/// A claim about GPUs, to be looked at on several.
class GpuClaim : public Claim {
 protected:
  explicit GpuClaim(std::initializer_list<const char*> architectures);

  void SetUp() override;

  /// Finds what `look` finds in a header's kernels on every architecture.
  template <typename Look>
  void finds_in(const char* header, Look look) {
    for (const isa::architecture& each : architectures_) {
      SCOPED_TRACE(each.name);
      finds(look(unit(header, each)), each.name);
    }
  }

 private:
  std::vector<isa::architecture> architectures_;
};

/// CDNA and RDNA.
class AmdClaims : public GpuClaim {
 protected:
  AmdClaims() : GpuClaim({"gfx90a", "gfx1100"}) {}
};

/// In PTX, and as ptxas reports what it takes.
class NvidiaClaims : public GpuClaim {
 protected:
  NvidiaClaims() : GpuClaim({"sm_90"}) {}
};

/// For claims that are looked at on both: `Claims/Amd.Name`, `Claims/Nvidia.Name`.
template <typename Vendor>
class Claims : public Vendor {};

struct vendor_names {
  template <typename Vendor>
  static std::string GetName(int /*index*/) {
    return std::is_same_v<Vendor, AmdClaims> ? "Amd" : "Nvidia";
  }
};

using both_vendors = testing::Types<AmdClaims, NvidiaClaims>;
TYPED_TEST_SUITE(Claims, both_vendors, vendor_names);

}  // namespace tenfold::claims
