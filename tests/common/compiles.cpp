// Compiled, not run, by every compiler that is here: the vocabulary, and each stage and each
// pitfall once.
#include "common/folds.hpp"
#include "common/gpu.hpp"
#include "common/narrow_float.hpp"
#include "common/operators.hpp"
#include "common/static_array.hpp"
#include "common/tmp.hpp"
#include "host/reduce/catalogue.hpp"
#include "tenfold_all_kernels.hpp"
#include "tenfold_all_pitfalls.hpp"
#if (defined(__CUDACC__) && __has_include(<nccl.h>)) || \
    (defined(__HIP__) && __has_include(<rccl/rccl.h>))
#include "host/distributed_reducer.hpp"
#include "host/ranks/nccl.hpp"
template class tenfold::distributed_reducer<float, tenfold::sum<double>, tenfold::gather_by_nccl>;
#endif

namespace tenfold {

inline constexpr std::array few{32, 64};

constexpr int sum_below_ten() {
  int total = 0;
  static_for<0, less_than<10>, increment<1>>([&]<int I>() { total += I; });
  static_range_for<few>([&]<int I>() { total += I; });
  return total;
}
static_assert(sum_below_ten() == 45 + 96);

constexpr int chosen(int value) {
  int which = 0;
  const bool found = static_switch<few>(value, [&]<int I>() { which = I; }) ||
                     static_switch<1, 2>(value, [&]<int I>() { which = I; }) ||
                     static_range_switch<few>(value, [&]<int I>() { which = I; });
  return found ? which : -1;
}
static_assert(chosen(64) == 64 && chosen(2) == 2 && chosen(16) == -1);

constexpr int bound() {
  const auto [a, b] = static_array{1, 2};
  return a + b;
}
static_assert(bound() == 3);

template <typename T>
__global__ void fold_each_way(T* out) {
  __shared__ gpu::shared_array<T, 4> shared;
  const sum<T> add;
  T value = gpu::fold_warp<32>(gpu::fold_warp_to_all<32, 8>(out[threadIdx.x], add), add);
  value = gpu::shuffle_up<32>(gpu::broadcast<32>(value, 0), 1);
  const int count = gpu::count_warp<32>(value != T()) + gpu::count_kinds<32>(1).of(1);
  value = gpu::fold_block<128, 32>(add(value, T(count)), add, shared);
  out[threadIdx.x] = gpu::fold_block_to_all<128, 32>(value, add, gpu::dynamic_shared<T>());
}

template <typename T>
auto kernel_of_folds() {
  return &fold_each_way<T>;
}

template <typename T>
bool folds_have_one() {
  return kernel_of_folds<T>() != nullptr;
}

template <typename Stage, typename In, typename T>
auto kernel() {
  return Stage::template kernel<128, 32, 8, In, T, sum<T>>();
}

template <typename In, typename T>
bool all_stages_have_one() {
  bool all = true;
  for_each_stage([&]<typename Stage>(const stage_info&) {
    if constexpr (!Stage::adds_floats_alone) all = all && kernel<Stage, In, T>() != nullptr;
  });
  return all;
}

template <typename In, typename T>
bool narrow_elements_have_one() {
  using stage = narrow_elements::stage;
  return stage::kernel<256, 32, 16, In, T, sum<T>>() != nullptr &&
         stage::kernel<256, 32, 16, In, T, minimum<T>>() != nullptr &&
         stage::kernel<256, 32, 16, In, T, maximum<T>>() != nullptr;
}

template <typename In, typename T>
bool all_pitfalls_have_one() {
  bool all = true;
#define TENFOLD_INSTANTIATE_PITFALL(name)                 \
  all = all && kernel<name::stage, In, T>() != nullptr && \
        kernel<name::mended::stage, In, T>() != nullptr;
  TENFOLD_PITFALLS(TENFOLD_INSTANTIATE_PITFALL)
#undef TENFOLD_INSTANTIATE_PITFALL
  return all;
}

bool instantiate() {
  return folds_have_one<float>() && folds_have_one<double>() && folds_have_one<std::int8_t>() &&
         all_pitfalls_have_one<float, float>() &&
         narrow_elements_have_one<std::int8_t, std::int64_t>() &&
         narrow_elements_have_one<std::uint8_t, std::uint64_t>() &&
         narrow_elements_have_one<float16, float>() &&
         narrow_elements_have_one<bfloat16, float>() && all_stages_have_one<float, float>() &&
         all_stages_have_one<unsigned char, long long>() && all_stages_have_one<float, double>();
}

}  // namespace tenfold
