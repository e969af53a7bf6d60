/// @file
/// Runs a kernel's unchanged source on the CPU.
///
/// Blocks are spread over OS threads, each GPU thread of a block is a fiber, and fibers switch at
/// barriers and warp collectives only. Where a GPU's behaviour is merely undefined, the executor
/// reports an error that names the kernel, the block and its threads:
///
/// - a block barrier that some threads never reach, or that they reach at different lines;
/// - a warp collective that a lane of its mask never reaches, reaches at another line, or calls
///   without being in the mask; a shuffle from a lane that takes no part;
/// - a block or shared memory larger than the device model has;
/// - a vector load that is not aligned, a stack that overflows, an address that faults, a trap, an
///   exception that leaves the kernel, and on x86 an integer division by zero.
///
/// For barriers and collectives the error names file and line as well.
///
/// Shared memory is filled with a poison before every block. After an error the next launch runs
/// as if nothing had happened.
#pragma once

#include <cstddef>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/gpu/simt.hpp"
#include "host/simt/observer.hpp"
#include "host/simt/schedule.hpp"

namespace tenfold::simt {

/// What a launch needs to know, besides the kernel and its arguments.
struct launch_shape {
  index3 grid{1, 1, 1};
  index3 block{1, 1, 1};
  std::size_t dynamic_shared_bytes = 0;
  int warp_size = 32;                          ///< a power of two from 2 to 64
  std::size_t shared_bytes_limit = 48 * 1024;  ///< per block, static and dynamic
};

inline constexpr unsigned max_threads_per_block = 1024;

/// Sets the order of blocks and lanes for the launches that follow; `in_order` at first.
void set_schedule(const schedule& order);
[[nodiscard]] schedule current_schedule();

/// How many OS threads share the blocks of a launch: `TENFOLD_THREADS` from the environment, else
/// as many as the machine runs at once, up to 16.
[[nodiscard]] unsigned worker_count();

/// The part of `launch` that does not depend on the kernel's type.
/// @param kernel the kernel's address, for its name and its shared variables
/// @param pointers the pointers among its arguments, for observers
void launch_erased(const launch_shape& shape, const void* kernel,
                   void (*invoke)(const void* arguments), const void* arguments,
                   std::span<const pointer_argument> pointers = {});

/// The pointers among a kernel's arguments.
template <typename... Parameters>
std::vector<pointer_argument> pointers_among(const std::tuple<Parameters...>& arguments) {
  std::vector<pointer_argument> pointers;
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    [[maybe_unused]] const auto add = [&]<typename T>(std::size_t position, const T& argument) {
      if constexpr (std::is_pointer_v<T> && !std::is_void_v<std::remove_pointer_t<T>>)
        pointers.push_back({position,
                            const_cast<const void*>(static_cast<const volatile void*>(argument)),
                            sizeof *argument});
    };
    (add(I, std::get<I>(arguments)), ...);
  }
  (std::index_sequence_for<Parameters...>{});
  return pointers;
}

/// Runs a kernel to its end. Launches from several OS threads run one after the other.
/// @throws device_error describing the first block, by number, that failed.
template <typename... Parameters, typename... Arguments>
void launch(const launch_shape& shape, void (*kernel)(Parameters...), Arguments&&... arguments) {
  using call = std::pair<void (*)(Parameters...), std::tuple<std::decay_t<Parameters>...>>;
  const call bound{kernel, {std::forward<Arguments>(arguments)...}};
  launch_erased(
      shape, reinterpret_cast<const void*>(kernel),
      [](const void* p) {
        const call& c = *static_cast<const call*>(p);
        std::apply(c.first, c.second);
      },
      &bound, current_observer() ? pointers_among(bound.second) : std::vector<pointer_argument>{});
}

}  // namespace tenfold::simt
