/// @file
/// How a unit brings a stage that the catalogue does not list: it includes this and the kernel's
/// file, and names what is in there, outside of any namespace:
///
///     TENFOLD_REGISTER_STAGE(my_kernel, my_kernel::stage, "/home/me/my_kernel.hpp")
///
/// It is compiled while somebody waits, so that there are few kernels: sums and maxima of u32 and
/// f32, in `unlisted_block_sizes`.
#pragma once

#include <memory>

#include "host/registry/stage.hpp"
#include "host/unlisted_stages.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

template <typename Stage, element_type Type>
void register_kernels(int number) {
  registered_unlisted_stages().push_back({number, Type, &make_reduction<Stage, Type>});
}

/// @return true, for an initializer
template <typename Stage>
bool register_stage(std::string_view type, std::string_view file) {
  const int number = add_unlisted_stage({.info = info_of<Stage>(),
                                         .type = type,
                                         .file = file,
                                         .parameters = parameters_of<Stage>(),
                                         .dynamic_shared_bytes = &dynamic_shared_bytes<Stage>});
  register_kernels<Stage, element_type::u32>(number);
  register_kernels<Stage, element_type::f32>(number);
  return true;
}

}  // namespace tenfold::inline TENFOLD_BACKEND

#define TENFOLD_REGISTER_STAGE(name, type, file)                                                   \
  namespace tenfold::inline TENFOLD_BACKEND {                                                      \
  template <>                                                                                      \
  inline constexpr stage_info unlisted_info<type>{first_unlisted_number, #name, type::keeps_order, \
                                                  "a kernel of its own"};                          \
  [[maybe_unused]] static const bool name##_is_registered = register_stage<type>(#type, file);     \
  }
