// Thrust, or rocThrust. Its reductions run CUB's kernels (or rocPRIM's): what differs is that each
// call allocates its scratch memory and waits for the result, and sums are enough to show that.
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/reduce.h>
#if defined(__CUDACC__)
#include <thrust/system/cuda/execution_policy.h>
#else
#include <thrust/system/hip/execution_policy.h>
#endif

#include "bench/peers/gpu_peer.hpp"

namespace tenfold::measure::inline TENFOLD_BACKEND {
namespace {

auto policy_on(stream_handle queue) {
#if defined(__CUDACC__)
  return thrust::cuda::par_nosync.on(queue);
#else
  return thrust::hip::par_nosync.on(queue);
#endif
}

template <typename T>
class thrust_peer final : public runnable {
 public:
  explicit thrust_peer(const device_session& on) : on_(on) {}

  void enqueue(const void* in, std::uint64_t n) override {
    on_.opened().make_current();
    const T* begin = static_cast<const T*>(in);
    result_ = thrust::reduce(policy_on(on_.queue()), begin, begin + n, T{}, sum<T>{});
  }
  value result() override { return result_; }

 private:
  const device_session& on_;
  T result_{};
};

}  // namespace

std::unique_ptr<runnable> make_thrust_peer(session& on, const conditions& at) {
  if (at.op != "sum") throw input_error("Thrust is built in for sums alone: use --op sum");
  refuse_narrow(at, "Thrust");
  return visit_type(at.type, [&]<typename T>() -> std::unique_ptr<runnable> {
    if constexpr (is_narrow<T>)
      return nullptr;
    else
      return std::make_unique<thrust_peer<T>>(own_session(on));
  });
}

}  // namespace tenfold::measure::inline TENFOLD_BACKEND
