// Several results of the same elements: of one read, and of a call for each. Compiled as CUDA or as
// HIP.
#include <cstdint>
#include <vector>

#include "bench/peers/gpu_peer.hpp"
#include "common/together.hpp"
#include "host/best_reducer.hpp"

namespace tenfold::measure {
inline namespace TENFOLD_BACKEND {
namespace {

using lowest = minimum<float>;
using highest = maximum<float>;
using total = sum<float>;
using all_of_them = together<lowest, highest, total>;

/// Its result is the sum, by which it is judged.
class one_read final : public runnable {
 public:
  one_read(const device_session& on, std::uint64_t max_n)
      : result_(on), reduce_(best_reducer<float>(result_.on(), max_n, all_of_them{})) {}

  void enqueue(const void* in, std::uint64_t n) override {
    reduce_.enqueue(static_cast<const float*>(in), n, result_.data(), result_.queue());
  }
  value result() override { return get<2>(result_.wait()); }
  std::uint64_t depth(std::uint64_t n) const override { return assumed_depth(n); }

 private:
  using T = decltype(all_of_them{}.identity());
  result_on_device<T> result_;
  reducer<float, T, all_of_them> reduce_;
};

class three_calls final : public runnable {
 public:
  three_calls(const device_session& on, std::uint64_t max_n)
      : lowest_(on),
        highest_(on),
        total_(on),
        find_lowest_(best_reducer<float>(total_.on(), max_n, lowest{})),
        find_highest_(best_reducer<float>(total_.on(), max_n, highest{})),
        add_(best_reducer<float>(total_.on(), max_n, total{})) {}

  void enqueue(const void* in, std::uint64_t n) override {
    const auto* elements = static_cast<const float*>(in);
    find_lowest_.enqueue(elements, n, lowest_.data(), total_.queue());
    find_highest_.enqueue(elements, n, highest_.data(), total_.queue());
    add_.enqueue(elements, n, total_.data(), total_.queue());
  }
  value result() override { return total_.wait(); }
  std::uint64_t depth(std::uint64_t n) const override { return assumed_depth(n); }

 private:
  result_on_device<float> lowest_, highest_, total_;
  reducer<float, float, lowest> find_lowest_;
  reducer<float, float, highest> find_highest_;
  reducer<float, float, total> add_;
};

}  // namespace
}  // namespace TENFOLD_BACKEND

void append_together_peers(std::vector<peer>& all) {
  all.push_back(
      judged_by_sum<one_read>("together:one-read", "minimum, maximum and sum of one read"));
  all.push_back(judged_by_sum<three_calls>("together:three-calls",
                                           "minimum, maximum and sum, a call for each"));
}

}  // namespace tenfold::measure
