/// @file
/// What the peers of a GPU backend share. Compiled as CUDA or as HIP.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "host/backends/device_session.hpp"
#include "host/measure/peers.hpp"
#include "host/reduce/operator_list.hpp"

namespace tenfold::measure::inline TENFOLD_BACKEND {

/// `peers_on` makes peers on sessions of their own backend alone.
inline device_session& own_session(session& on) {
  return static_cast<device_session&>(on);
}

/// A value on the device, and the stream that computes it.
template <typename T>
class result_on_device {
 public:
  explicit result_on_device(const device_session& on)
      : device_(on.opened()), queue_(on.queue()), memory_(device_, sizeof(T)) {}

  [[nodiscard]] stream_handle queue() const { return queue_; }
  [[nodiscard]] const device& on() const { return device_; }
  [[nodiscard]] T* data() const { return static_cast<T*>(memory_.data()); }

  [[nodiscard]] T wait() const {
    device_.make_current();
    T copy{};
    copy_to_host(&copy, memory_.data(), sizeof(T), queue_);
    synchronize(queue_);
    return copy;
  }

 private:
  device device_;
  stream_handle queue_;
  device_memory memory_;
};

/// Makes a peer from `f.template operator()<In, Op>()`, for elements of ElementBytes.
template <std::size_t ElementBytes, typename F>
std::unique_ptr<runnable> make_typed(const conditions& at, F&& f) {
  std::unique_ptr<runnable> made;
  visit_type(at.type, [&]<typename In>() {
    if constexpr (sizeof(In) == ElementBytes)
      std::ignore =
          visit_operator<In>(at.op, [&]<typename Op>() { made = f.template operator()<In, Op>(); });
  });
  if (made == nullptr) refuse_operator(at.op, at.type);
  return made;
}

/// From 300002, as CUB and its like have it, `3.0.2`.
inline std::string version_of(int number) {
  return std::to_string(number / 100000) + "." + std::to_string(number / 100 % 1000) + "." +
         std::to_string(number % 100);
}

/// @throws input_error for narrow elements, for which not every library is built in
inline void refuse_narrow(const conditions& at, const std::string& library) {
  if (is_narrow_type(at.type))
    throw input_error(library + " is built in for wide elements alone, not for " +
                      std::string(name_of(at.type)));
}

/// A peer that does more than a sum of the elements, but has one as its result.
/// @tparam Made its class, made from a session and how many elements there are at most
template <typename Made>
peer judged_by_sum(const char* name) {
  return {.name = name, .make = [](session& on, const conditions& at) -> std::unique_ptr<runnable> {
            if (at.op != "sum" || at.type != element_type::f32 || at.columns != 0)
              throw input_error("it is judged by the sum of an array of f32 alone");
            return std::make_unique<Made>(own_session(on), at.n, place_of(at.mode));
          }};
}

// The makers of peers, each in units of its own.

/// For elements of 1, 2, 4 and 8 bytes.
template <std::size_t ElementBytes>
std::unique_ptr<runnable> make_cub_peer(session& on, const conditions& at);
std::unique_ptr<runnable> make_rocprim_peer(session& on, const conditions& at);
std::unique_ptr<runnable> make_thrust_peer(session& on, const conditions& at);

}  // namespace tenfold::measure::inline TENFOLD_BACKEND

namespace tenfold::measure {

/// Kernels that tell what a block's steps cost, for warps of 32.
void append_cost_peers(std::vector<peer>& all);

/// Sums of a matrix's rows and columns, what memory allows for them, and each way to fold rows.
void append_matrix_peers(std::vector<peer>& all);

/// Several results of the same elements, and what becomes of them.
void append_transform_peers(std::vector<peer>& all);

/// Of the library that is built where TENFOLD_CCCL names a CCCL.
void append_newest_cub_peers(std::vector<peer>& all);

}  // namespace tenfold::measure
