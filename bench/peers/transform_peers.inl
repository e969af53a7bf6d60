// Other results than a sum from one read of the elements. Minimum, maximum and sum together are
// compared with one call for each. The place of the greatest element and a dot product should be as
// fast as a sum of the same bytes, and so should a search in vain; one that finds its element at
// once should end at once. Compiled as CUDA or as HIP.
#include <cmath>
#include <cstdint>
#include <vector>

#include "bench/peers/gpu_peer.hpp"
#include "common/arg_extrema.hpp"
#include "common/together.hpp"
#include "host/best_reducer.hpp"
#include "host/row_reducer.hpp"
#include "host/transform_reduce.hpp"

namespace tenfold::measure {
inline namespace TENFOLD_BACKEND {
namespace {

using all_of_them = together<minimum<float>, maximum<float>, sum<float>>;

/// Its result is the sum, by which it is judged.
class one_read final : public runnable {
 public:
  one_read(const device_session& on, std::uint64_t max_n, launched_in where)
      : result_(on), reduce_(best_reducer<float>(result_.on(), max_n, all_of_them{}, where)) {}

  void enqueue(const void* in, std::uint64_t n) override {
    reduce_.enqueue(static_cast<const float*>(in), n, result_.data(), result_.queue());
  }
  value result() override { return get<2>(result_.wait()); }

 private:
  using T = decltype(all_of_them{}.identity());
  result_on_device<T> result_;
  reducer<float, T, all_of_them> reduce_;
};

class three_calls final : public runnable {
 public:
  three_calls(const device_session& on, std::uint64_t max_n, launched_in where)
      : lowest_(on),
        highest_(on),
        total_(on),
        find_lowest_(best_reducer<float>(total_.on(), max_n, minimum<float>{}, where)),
        find_highest_(best_reducer<float>(total_.on(), max_n, maximum<float>{}, where)),
        add_(best_reducer<float>(total_.on(), max_n, sum<float>{}, where)) {}

  void enqueue(const void* in, std::uint64_t n) override {
    const auto* elements = static_cast<const float*>(in);
    find_lowest_.enqueue(elements, n, lowest_.data(), total_.queue());
    find_highest_.enqueue(elements, n, highest_.data(), total_.queue());
    add_.enqueue(elements, n, total_.data(), total_.queue());
  }
  value result() override { return total_.wait(); }

 private:
  result_on_device<float> lowest_, highest_, total_;
  reducer<float, float, minimum<float>> find_lowest_;
  reducer<float, float, maximum<float>> find_highest_;
  reducer<float, float, sum<float>> add_;
};

/// The greatest element and where it is first.
class greatest final : public runnable {
 public:
  greatest(const device_session& on, std::uint64_t max_n, launched_in where)
      : found_(on),
        highest_(on),
        total_(on),
        find_(found_.on(), {}, {}, where),
        find_highest_(best_reducer<float>(found_.on(), max_n, maximum<float>{})),
        add_(best_reducer<float>(found_.on(), max_n, sum<float>{})) {}

  void enqueue(const void* in, std::uint64_t n) override {
    in_ = static_cast<const float*>(in);
    n_ = n;
    find_.enqueue(in_, 1, n, n, found_.data(), found_.queue());
  }
  /// The sum of the elements, which it is judged by; NaN unless the greatest is where it was found.
  value result() override {
    const placed<float> found = found_.wait();
    find_highest_.enqueue(in_, n_, highest_.data(), highest_.queue());
    add_.enqueue(in_, n_, total_.data(), total_.queue());
    const float highest = highest_.wait();
    float at_place = NAN;
    if (found.index < n_) copy_to_host(&at_place, in_ + found.index, sizeof(float), found_.queue());
    const float total = total_.wait();
    return found.value == highest && at_place == highest ? total : NAN;
  }

 private:
  result_on_device<placed<float>> found_;
  result_on_device<float> highest_, total_;
  row_reducer<float, arg_maximum_of<float>, with_place<float>> find_;
  reducer<float, float, maximum<float>> find_highest_;
  reducer<float, float, sum<float>> add_;
  const float* in_ = nullptr;
  std::uint64_t n_ = 0;
};

/// The dot product of the first half of the elements and of the second.
class dot_product final : public runnable {
 public:
  dot_product(const device_session& on, std::uint64_t /*max_n*/, launched_in where)
      : product_(on), multiply_(product_.on(), {}, {}, where) {}

  void enqueue(const void* in, std::uint64_t n) override {
    in_ = static_cast<const float*>(in);
    n_ = n;
    multiply(in_, in_ + n / 2, n / 2);
  }
  /// That of all elements and ones, which is their sum.
  value result() override {
    const std::vector<float> one(n_, 1.0F);
    product_.on().make_current();
    const device_memory ones(product_.on(), n_ * sizeof(float));
    copy_to_device(ones.data(), one.data(), n_ * sizeof(float), product_.queue());
    multiply(in_, static_cast<const float*>(ones.data()), n_);
    return static_cast<float>(product_.wait());
  }

 private:
  void multiply(const float* a, const float* b, std::uint64_t n) {
    multiply_.enqueue({a, b}, 1, n, n, product_.data(), product_.queue());
  }

  result_on_device<double> product_;
  row_reducer<both<float, float>, sum<double>, tenfold::detail::multiplied<double>> multiply_;
  const float* in_ = nullptr;
  std::uint64_t n_ = 0;
};

struct is_nan {
  __host__ __device__ bool operator()(float x) const { return x != x; }
};
struct is_number {
  __host__ __device__ bool operator()(float x) const { return x == x; }
};

/// Whether any element is what Predicate asks for. The elements are numbers.
template <typename Predicate, bool Answer>
class search final : public runnable {
 public:
  search(const device_session& on, std::uint64_t max_n, launched_in /*where*/)
      : answer_(on),
        total_(on),
        ask_(answer_.on(), quantifier::any),
        add_(best_reducer<float>(answer_.on(), max_n, sum<float>{})) {}

  void enqueue(const void* in, std::uint64_t n) override {
    in_ = static_cast<const float*>(in);
    n_ = n;
    ask_.enqueue(in_, n, answer_.data(), answer_.queue());
  }
  /// The sum of the elements, which it is judged by; NaN if the answer is wrong.
  value result() override {
    const bool answer = answer_.wait() != 0;
    add_.enqueue(in_, n_, total_.data(), total_.queue());
    const float total = total_.wait();
    return answer == Answer ? total : NAN;
  }

 private:
  result_on_device<unsigned> answer_;
  result_on_device<float> total_;
  predicate_reducer<float, Predicate> ask_;
  reducer<float, float, sum<float>> add_;
  const float* in_ = nullptr;
  std::uint64_t n_ = 0;
};

}  // namespace
}  // namespace TENFOLD_BACKEND

void append_transform_peers(std::vector<peer>& all) {
  all.push_back(judged_by_sum<one_read>("together:one-read"));
  all.push_back(judged_by_sum<three_calls>("together:three-calls"));
  all.push_back(judged_by_sum<greatest>("transform:arg-max"));
  all.push_back(judged_by_sum<dot_product>("transform:dot"));
  all.push_back(judged_by_sum<search<is_nan, false>>("transform:any-nan"));
  all.push_back(judged_by_sum<search<is_number, true>>("transform:any-number"));
}

}  // namespace tenfold::measure
