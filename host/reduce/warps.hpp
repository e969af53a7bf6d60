/// @file
/// From a device's warps to kernels that have their number of lanes as a constant.
#pragma once

#include <string>
#include <tuple>

#include "common/tmp.hpp"
#include "host/error.hpp"
#include "host/reduce/shape.hpp"
#include "host/runtime/runtime.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

/// Calls `f.template operator()<WarpSize>()`, unless there are no kernels for the device's warps.
template <typename F>
void for_warps(const device& on, F&& f) {
  std::ignore = static_switch<warp_sizes>(on.warp_size(), f);
}

/// @throws input_error for a device whose warps have no kernels
inline void check_warps(const device& on, const char* what) {
  if (!is_among(warp_sizes, on.warp_size()))
    throw input_error(std::string("there are no kernels for ") + what + " with warps of " +
                      std::to_string(on.warp_size()) + " lanes: use warps of 32 or 64");
}

}  // namespace tenfold::inline TENFOLD_BACKEND
