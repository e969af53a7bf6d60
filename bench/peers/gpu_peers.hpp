/// @file
/// The makers of a GPU backend's peers, each in units of its own. Compiled as CUDA or as HIP.
#pragma once

#include <cstddef>
#include <memory>

#include "common/gpu/words.hpp"
#include "host/measure/peers.hpp"

namespace tenfold::measure::inline TENFOLD_BACKEND {

/// Each of them in a unit of its own, for elements of 1, 2, 4 and 8 bytes.
template <std::size_t ElementBytes>
std::unique_ptr<runnable> make_cub_peer(session& on, const conditions& at);
std::unique_ptr<runnable> make_rocprim_peer(session& on, const conditions& at);
std::unique_ptr<runnable> make_thrust_peer(session& on, const conditions& at);

}  // namespace tenfold::measure::inline TENFOLD_BACKEND
