// The peers that run on the CPU itself, in the memory of the executor's devices, which is the
// host's.
#include <execution>
#include <functional>
#include <numeric>
#include <type_traits>

#include "host/measure/peers.hpp"
#include "host/reduce/operator_list.hpp"

namespace tenfold::measure {
namespace {

/// Sums in floating point by the standard's own functor, for which libraries have faster loops.
/// That of signed integers must not overflow, ours may.
template <typename T, typename Op>
using standard_operator =
    std::conditional_t<std::is_same_v<Op, sum<T>> && std::is_floating_point_v<T>, std::plus<T>, Op>;

struct parallel_policy {
  template <typename In, typename T, typename Op>
  static T reduce(const In* in, std::uint64_t n) {
    constexpr auto policy = std::execution::par_unseq;
    const auto by = standard_operator<T, Op>{};
    if constexpr (std::is_same_v<In, T>)
      return std::reduce(policy, in, in + n, Op{}.identity(), by);
    else
      return std::transform_reduce(policy, in, in + n, Op{}.identity(), by,
                                   [](In x) { return static_cast<T>(x); });
  }
};

struct openmp_loop {
  template <typename In, typename T, typename Op>
  static T reduce(const In* in, std::uint64_t n) {
    T result = Op{}.identity();
    if constexpr (std::is_same_v<Op, sum<T>> && std::is_floating_point_v<T>) {
#pragma omp parallel for simd reduction(+ : result)
      for (std::uint64_t i = 0; i < n; ++i) result += static_cast<T>(in[i]);
    } else {
#pragma omp declare reduction(fold:T : omp_out = Op{}(omp_out, omp_in)) \
    initializer(omp_priv = Op{}.identity())
#pragma omp parallel for simd reduction(fold : result)
      for (std::uint64_t i = 0; i < n; ++i) result = Op{}(result, static_cast<T>(in[i]));
    }
    return result;
  }
};

template <typename In, typename Op, typename Loop>
class cpu_peer final : public runnable {
 public:
  void enqueue(const void* in, std::uint64_t n) override {
    result_ = Loop::template reduce<In, accumulator_of<In>, Op>(static_cast<const In*>(in), n);
  }
  value result() override { return result_; }
  /// Each core may take its share in a single chain, and there may be a single core.
  std::uint64_t depth(std::uint64_t n) const override { return n; }

 private:
  accumulator_of<In> result_{};
};

template <typename Loop>
std::unique_ptr<runnable> make(session&, const conditions& at) {
  std::unique_ptr<runnable> made;
  const bool known = visit_type(at.type, [&]<typename In>() {
    return visit_operator<In>(
        at.op, [&]<typename Op>() { made = std::make_unique<cpu_peer<In, Op, Loop>>(); });
  });
  if (!known) refuse_operator(at.op, at.type);
  return made;
}

template <typename Loop, bool IsThere>
peer cpu_peer_of(const char* name) {
  peer p{.name = name};
  if constexpr (IsThere)
    p.make = make<Loop>;
  else
    p.absent = "its package was not found when this program was built";
  return p;
}

}  // namespace

__attribute__((visibility("default"))) const std::vector<peer>* tenfold_peer_list() {
  // Without oneTBB the standard library runs the parallel policies on one core.
  static const std::vector<peer> all{cpu_peer_of<parallel_policy, TENFOLD_WITH_TBB>("std"),
                                     cpu_peer_of<openmp_loop, TENFOLD_WITH_OPENMP>("openmp")};
  return &all;
}

}  // namespace tenfold::measure
