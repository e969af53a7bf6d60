#include "tests/codegen/claims/claim.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <stdexcept>

#include "host/error.hpp"
#include "tests/codegen/reading.hpp"

namespace tenfold::claims {
namespace {

std::vector<row>& found_rows() {
  static std::vector<row> rows;
  return rows;
}

std::string verdict_of(std::string_view test) {
  test = test.substr(0, test.find('/'));
  if (test.ends_with("_Holds")) return "holds";
  if (test.ends_with("_DoesNotHold")) return "does not hold";
  throw std::logic_error("a claim's test has no verdict in its name");
}

/// Once in the life of the process. A shuffle on AMD is what HIP's own is there, through the LDS.
const std::vector<isa::kernel_code>& compiled(const std::string& header,
                                              const isa::architecture& a) {
  static std::map<std::pair<std::string, std::string>, std::vector<isa::kernel_code>> cached;
  const auto at = cached.find({header, a.name});
  if (at != cached.end()) return at->second;
  std::vector<isa::kernel_code> kernels =
      isa::compile(fmt::format("#include \"tests/codegen/claims/{}\"\n", header), a,
                   {fmt::format("-DTENFOLD_WARP_SIZE={}", a.warp_size), "-DTENFOLD_HIP_DPP=0"});
  return cached.emplace(std::pair(header, a.name), std::move(kernels)).first->second;
}

}  // namespace

const std::vector<row>& rows() {
  return found_rows();
}

std::string joined(const findings& all) {
  std::vector<std::pair<std::string, std::string>> places;  // of each finding, in its order
  for (const auto& [architecture, finding] : all) {
    const auto same = std::find_if(places.begin(), places.end(),
                                   [&](const auto& each) { return each.second == finding; });
    if (same == places.end())
      places.emplace_back(architecture, finding);
    else
      same->first += ", " + architecture;
  }
  std::string text;
  for (const auto& [place, finding] : places)
    text += (text.empty() ? "" : "; ") + (place.empty() ? finding : place + ": " + finding);
  return text;
}

void Claim::says(const char* source, const char* claim) {
  row_.source = source;
  row_.claim = claim;
}

void Claim::finds(const std::string& finding, const std::string& architecture) {
  row_.found.emplace_back(architecture, finding);
}

void Claim::TearDown() {
  if (IsSkipped() || HasFailure()) return;
  const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
  row_.verdict = verdict_of(test.name());
  row_.test = fmt::format("{}.{}", test.test_suite_name(), test.name());
  ASSERT_FALSE(row_.claim.empty() || row_.found.empty()) << "nothing is claimed, or found";
  RecordProperty("claim", row_.claim);
  RecordProperty("verdict", row_.verdict);
  RecordProperty("finding", joined(row_.found));
  std::cout << "claim: " << row_.claim << "; " << row_.verdict << ": " << joined(row_.found)
            << '\n';
  found_rows().push_back(row_);
}

unit::unit(const std::string& header, isa::architecture a)
    : architecture_(std::move(a)), kernels_(&compiled(header, architecture_)) {}

const isa::kernel_code& unit::operator[](std::string_view kernel) const {
  // Stages are told apart by the namespace around their kernels.
  const std::string in_namespace = fmt::format("{}{}13reduce_blocks", kernel.size(), kernel);
  const auto found =
      std::find_if(kernels_->begin(), kernels_->end(), [&](const isa::kernel_code& each) {
        return each.symbol == kernel || each.symbol.find(in_namespace) != each.symbol.npos;
      });
  if (found == kernels_->end())
    throw std::logic_error(fmt::format("there is no kernel {}", kernel));
  return *found;
}

GpuClaim::GpuClaim(isa::vendor v) {
  const std::vector<const char*> names =
      v == isa::vendor::amd ? std::vector{"gfx90a", "gfx1100"} : std::vector{"sm_90"};
  for (const char* each : names) architectures_.push_back(isa::parse_architecture(each));
}

void GpuClaim::SetUp() {
  if (const std::string absence = isa::compiler_absence(architectures_.front()); !absence.empty())
    GTEST_SKIP() << "no machine code to look at: " << absence;
}

std::string GpuClaim::reason_to_leave_out(const std::string& header, const isa::architecture& a) {
  try {
    static_cast<void>(compiled(header, a));
    return {};
  } catch (const input_error&) {
    if (codegen::reason_to_skip(a).empty()) throw;
    return codegen::reason_to_skip(a);
  }
}

INSTANTIATE_TEST_SUITE_P(, Claims, testing::Values(isa::vendor::amd, isa::vendor::nvidia),
                         [](const auto& info) {
                           return std::string(info.param == isa::vendor::amd ? "hip" : "cuda");
                         });

}  // namespace tenfold::claims
