/// @file
/// What the reductions of CUB, hipCUB and rocPRIM share as peers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bench/peers/gpu_peer.hpp"

namespace tenfold::measure::inline TENFOLD_BACKEND {

/// A library's function that tells how much scratch memory it needs when it is given none, as those
/// of CUB, hipCUB and rocPRIM do: `f(scratch, bytes, in, out, n, stream)`. It reads elements of In.
template <typename In, typename T, typename Function>
class two_phase_peer final : public runnable {
 public:
  two_phase_peer(const device_session& on, std::uint64_t max_n, Function function)
      : function_(function), result_(on) {
    call(nullptr, nullptr, max_n);
    scratch_ = device_memory(result_.on(), bytes_);
  }

  void enqueue(const void* in, std::uint64_t n) override {
    result_.on().make_current();
    call(scratch_.data(), static_cast<const In*>(in), n);
  }
  value result() override { return result_.wait(); }

 private:
  void call(void* scratch, const In* in, std::uint64_t n) {
    detail::check(function_(scratch, bytes_, in, result_.data(), n, result_.queue()),
                  "a library's reduction");
  }

  Function function_;
  result_on_device<T> result_;
  std::size_t bytes_ = 0;
  device_memory scratch_;
};

}  // namespace tenfold::measure::inline TENFOLD_BACKEND
