#include "host/cli/inspecting/kernel_unit.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <tuple>

#include "host/backends/names.hpp"
#include "host/error.hpp"
#include "host/reduce/stage_description.hpp"
#include "host/reduce/unlisted_stages.hpp"
#include "host/text/kernel_sources.hpp"
#include "host/text/split.hpp"

namespace tenfold::cli {
namespace {

std::string_view cpp_name_of(element_type type) {
  static constexpr std::array names{
#define TENFOLD_QUOTE_CPP(name, cpp) std::string_view(#cpp),
      TENFOLD_ELEMENT_TYPES(TENFOLD_QUOTE_CPP)
#undef TENFOLD_QUOTE_CPP
  };
  return names[static_cast<std::size_t>(type)];
}

element_type accumulator_type(element_type type) {
  return visit_type(type, []<typename In>() { return element_type_of<accumulator_of<In>>; });
}

/// In C++, from the project's namespace on.
std::string type_of(const stage_info& stage) {
  const unlisted_stage* unlisted = find_unlisted(stage);
  return unlisted != nullptr ? std::string(unlisted->type) : fmt::format("{}::stage", stage.name);
}

void check_architecture(const stage_info& stage, const isa::architecture& a) {
  const int needed = description_of(stage).compute_capability;
  if (needed == 0) return;
  const std::string what =
      fmt::format("{} needs NVIDIA's compute capability {:.1f}", name_stage(stage), needed / 10.0);
  if (a.vendor == isa::vendor::amd)
    throw input_error(fmt::format("{}, and {} is AMD's: use --arch sm_{}", what, a.name, needed));
  // As in sm_90 and sm_90a.
  const int capability = number_at(std::string_view(a.name).substr(3)).value_or(0);
  if (capability < needed)
    throw input_error(fmt::format("{}, and {} has {:.1f}: use --arch sm_{}", what, a.name,
                                  capability / 10.0, needed));
}

/// The executor runs the same kernels and refuses the same requests, whatever warp size it
/// imitates.
void check_request(const chosen_kernel& k) {
  const device_choice executor = choose_device(fmt::format("simt:{}", k.architecture.warp_size));
  std::ignore = executor.backend->open(executor.number)
                    ->make_reduction({k.stage->number, k.type, k.op, k.shape, 1});
}

}  // namespace

chosen_kernel choose_kernel(const stage_info& stage, std::string_view type, std::string_view op,
                            const shape& s, const isa::architecture& a) {
  const element_type element = parse_element_type(type);
  chosen_kernel k{&stage, element, choose_operator(op, element), s, a, 0};
  check_architecture(stage, a);
  check_request(k);
  k.dynamic_shared_bytes = description_of(stage).dynamic_shared_bytes(
      launch_of(s, size_of(element), size_of(accumulator_type(element))));
  return k;
}

std::string unit_text(const chosen_kernel& k) {
  return fmt::format(R"(#include "{}"
#include "common/narrow_float.hpp"
#include "common/operators.hpp"
#if __has_include("tenfold_user_operators.hpp")
#include "tenfold_user_operators.hpp"
#endif

namespace tenfold {{
auto chosen_kernel() {{
  using accumulator = {};
  return {}::kernel<{}, {}, {}, {}, accumulator, {}<accumulator>>();
}}
}}  // namespace tenfold
)",
                     file_of(*k.stage), cpp_name_of(accumulator_type(k.type)), type_of(*k.stage),
                     k.shape.block, k.architecture.warp_size, k.shape.items, cpp_name_of(k.type),
                     k.op);
}

}  // namespace tenfold::cli
