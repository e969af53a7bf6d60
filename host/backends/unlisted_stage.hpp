/// @file
/// How a unit brings a stage that the catalogue does not list: it includes this and the kernel's
/// file, and names what is in there, outside of any namespace:
///
///     TENFOLD_REGISTER_STAGE(my_kernel, my_kernel::stage, "/home/me/my_kernel.hpp")
///
/// It is compiled while somebody waits, so that there are few kernels: sums and maxima of u32 and
/// f32, in `unlisted_block_sizes`, and the one operator of host/backends/adversarial_operator.hpp.
#pragma once

#include <string_view>
#include <type_traits>

#include "host/backends/adversarial_operator.hpp"
#include "host/backends/stage.hpp"
#include "host/reduce/unlisted_stages.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

/// See `make_reduction_function`.
/// @throws input_error for any operator but those few.
template <typename Stage, typename T>
reduction* make_unlisted_reduction(const device& on, stream_handle queue,
                                   const reduction_request& r) {
  const auto make = [&]<typename Op>(Op) {
    return new typed_reduction<T, T, Op>(Stage{}, on, queue, r);
  };
  if (r.op == "sum") return make(sum<T>{});
  if constexpr (is_built_for<T, maximum<T>>)
    if (r.op == "maximum") return make(maximum<T>{});
  if constexpr (is_built_for<T, composition> && Stage::keeps_order &&
                std::is_same_v<T, std::uint32_t>)
    if (r.op == composition_name) return make(composition{});
  throw input_error(name_stage(info_of<Stage>()) +
                    " is built for the operators sum and maximum, not for " + r.op);
}

/// @return true, for an initializer
template <typename Stage>
bool register_unlisted_stage(std::string_view type, std::string_view file) {
  const int number = add_unlisted_stage({.stage = describe<Stage>(), .type = type, .file = file});
  std::vector<registered_stage>& all = registered_stages();
  all.push_back({number, element_type::u32, "", &make_unlisted_reduction<Stage, std::uint32_t>});
  all.push_back({number, element_type::f32, "", &make_unlisted_reduction<Stage, float>});
  return true;
}

}  // namespace tenfold::inline TENFOLD_BACKEND

#define TENFOLD_REGISTER_STAGE(name, type, file)                                                   \
  namespace tenfold::inline TENFOLD_BACKEND {                                                      \
  template <>                                                                                      \
  inline constexpr stage_info unlisted_info<type>{first_unlisted_number, #name, type::keeps_order, \
                                                  "no stage of the ladder"};                       \
  [[maybe_unused]] static const bool name##_is_registered =                                        \
      register_unlisted_stage<type>(#type, file);                                                  \
  }
