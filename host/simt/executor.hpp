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

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

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
  /// Whether it runs on the calling OS thread alone, at the same time as launches of others.
  bool waits_for_others = false;
};

/// For how long a kernel waits for one of another device; half a minute at first.
void set_patience(double seconds);

inline constexpr unsigned max_threads_per_block = 1024;

/// Sets the order of blocks and lanes for the launches that follow; `in_order` at first.
/// @return the one before
schedule set_schedule(const schedule& order);
[[nodiscard]] schedule current_schedule();

/// Sets an order for as long as it lives.
using scoped_schedule = scoped_setting<schedule, &set_schedule>;

/// Basic blocks that a thread may enter before its kernel counts as endless: enough for one thread
/// to fold all elements.
[[nodiscard]] constexpr std::uint64_t enough_steps(std::uint64_t n) {
  return 32 * n + 65536;
}

/// Ends blocks of the launches that follow in which a thread takes as many steps. They are counted
/// in a reader's own kernels alone. @return the limit before; at first there is none.
std::uint64_t set_step_limit(std::uint64_t most);

/// Sets a limit of steps for as long as it lives.
using scoped_step_limit = scoped_setting<std::uint64_t, &set_step_limit>;

/// The size of what a kernel's parameter points to; 0 where it is no pointer, or one to void.
template <typename Parameter>
constexpr std::size_t pointed_bytes() {
  using pointed = std::remove_pointer_t<Parameter>;
  if constexpr (std::is_pointer_v<Parameter> && std::is_object_v<pointed>)
    return sizeof(pointed);
  else
    return 0;
}

template <typename... Parameters>
inline constexpr std::array<std::size_t, sizeof...(Parameters)> all_pointed_bytes{
    pointed_bytes<Parameters>()...};

/// A kernel without its types.
struct erased_kernel {
  using function = void (*)();
  function address = nullptr;
  /// Calls the kernel once, as one thread. `arguments` holds a pointer to each of its arguments.
  void (*call)(function kernel, void* const* arguments) = nullptr;
  std::span<const std::size_t> element_bytes{};  ///< `pointed_bytes` of each parameter
};

template <typename... Parameters, std::size_t... I>
void call_kernel(void (*kernel)(Parameters...), [[maybe_unused]] void* const* arguments,
                 std::index_sequence<I...>) {
  kernel(*static_cast<const Parameters*>(arguments[I])...);
}

template <typename... Parameters>
erased_kernel erase_types(void (*kernel)(Parameters...)) {
  const auto call = [](erased_kernel::function erased, void* const* arguments) {
    call_kernel(reinterpret_cast<void (*)(Parameters...)>(erased), arguments,
                std::index_sequence_for<Parameters...>{});
  };
  return {reinterpret_cast<erased_kernel::function>(kernel), call,
          all_pointed_bytes<Parameters...>};
}

/// `launch` for a kernel without its types.
/// @param arguments a pointer to each of the kernel's arguments
void launch_erased(const launch_shape& shape, const erased_kernel& kernel, void* const* arguments);

/// Runs a kernel to its end. Launches from several OS threads run one after the other, but for
/// those that wait for others.
/// @throws device_error describing the first block, by number, that failed.
template <typename... Parameters, typename... Arguments>
void launch(const launch_shape& shape, void (*kernel)(Parameters...), Arguments&&... arguments) {
  std::tuple<Parameters...> values{std::forward<Arguments>(arguments)...};
  std::apply(
      [&](Parameters&... each) {
        void* const pointers[] = {&each..., nullptr};  // no array is empty
        launch_erased(shape, erase_types(kernel), pointers);
      },
      values);
}

}  // namespace tenfold::simt
