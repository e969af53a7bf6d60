/// @file
/// A reduction with the caller's own types and operator, on any backend.
///
/// Header-only: whatever unit includes it, built by nvcc, by HIP's clang or by a plain C++
/// compiler, instantiates the kernels that it names.
///
///     #include "kernels/10_two_pass.hpp"
///
///     device gpu(0);                                       // device(32) on the executor
///     reducer<float, double, sum<double>> add(two_pass::stage{}, gpu, n);
///     double total = add(in, n);                           // in: device memory
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "common/operators.hpp"
#include "common/tmp.hpp"
#include "host/catalogue.hpp"
#include "host/error.hpp"
#include "host/plan.hpp"
#include "host/runtime.hpp"
#include "host/shape.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

namespace detail {

/// `1, 2 and 4`
template <typename Range>
std::string list_of(const Range& values) {
  std::string text;
  std::size_t i = 0;
  for (const auto& each : values) {
    if (i != 0) text += i + 1 == values.size() ? " and " : ", ";
    text += std::to_string(each);
    ++i;
  }
  return text;
}

/// @throws input_error naming the stages that serve, if this one reorders and the operator minds.
inline void check_order(const stage_info& stage, bool commutes) {
  if (commutes || stage.keeps_order) return;
  std::string serving;
  for (const stage_info& each : catalogue)
    if (each.keeps_order) serving += (serving.empty() ? "" : ", ") + name_stage(each);
  throw input_error(name_stage(stage) +
                    " reorders its elements and the operator does not commute: use " + serving);
}

/// @throws input_error for a parameter that the stage does not have.
template <typename Stage>
void check_parameters(const shape& s) {
  if (s.items != default_items && !takes_items<Stage>)
    throw input_error(name_stage(info_of<Stage>()) + " takes no items: each of its threads loads " +
                      std::to_string(Stage::elements_per_thread(s.items)));
  if (s.grid == 0) return;
  if (!Stage::takes_grid)
    throw input_error(name_stage(info_of<Stage>()) +
                      " takes no grid: its number of blocks follows from n");
  const auto limit = static_cast<std::uint64_t>(s.block) * static_cast<std::uint64_t>(s.items);
  if (s.grid > limit)
    throw input_error("a grid of " + std::to_string(s.grid) +
                      " blocks is more than the one block of the second pass folds: use at most " +
                      std::to_string(limit) + ", which is block times items");
}

template <typename Stage, typename T>
[[noreturn]] void no_kernel(int warp_size, const shape& s) {
  const bool known =
      std::find(block_sizes.begin(), block_sizes.end(), s.block) != block_sizes.end();
  if (known && static_cast<std::size_t>(s.block) * sizeof(T) > smallest_shared_memory)
    throw input_error("a block of " + std::to_string(s.block) + " partials of " +
                      std::to_string(sizeof(T)) + " bytes exceeds the " +
                      std::to_string(smallest_shared_memory) +
                      " bytes of shared memory that every GPU has: use a smaller block");
  std::string what = name_stage(info_of<Stage>()) + " has no kernel for warp size " +
                     std::to_string(warp_size) + " and block " + std::to_string(s.block);
  if (takes_items<Stage>) what += " with " + std::to_string(s.items) + " items";
  what += "; there are warp sizes " + list_of(warp_sizes) + ", blocks " + list_of(block_sizes);
  if (takes_items<Stage>)
    what += " with " + std::to_string(default_items) + " items, and items " + list_of(item_counts) +
            " with block " + std::to_string(default_block) + std::string(all_pairs_note);
  throw input_error(what);
}

}  // namespace detail

/// Reduces arrays of In to one T with Op, by one stage of the progression.
///
/// Made once for the largest n it will see; it owns its scratch memory and allocates nothing
/// afterwards. Not for use from several OS threads at once, nor on several streams at once: the
/// scratch memory is shared by its calls. Must outlive the work that it has enqueued.
/// @tparam In what is read; converts explicitly to T
/// @tparam T  what is accumulated, partials included; trivially copyable
/// @tparam Op see common/operators.hpp
template <typename In, typename T, typename Op>
class reducer {
  static_assert(std::is_trivially_copyable_v<In> && std::is_trivially_copyable_v<T>,
                "elements travel through device memory: they must be trivially copyable");
  static_assert(
      requires { Op::commutes; },
      "say whether the operator commutes: "
      "static constexpr bool commutes = true; (or false)");
  static_assert(reduction_operator<Op, T>,
                "the operator needs identity() and operator()(T, T), and is trivially copyable");

 public:
  /// Any block size and item count that has a kernel in `host/shape.hpp`; only those are built.
  /// @param max_n the most elements that a call may bring
  /// @throws input_error for a shape without a kernel, or an operator that the stage cannot serve
  /// @throws device_error when the scratch memory cannot be had
  template <typename Stage>
  reducer(Stage, const device& on, std::uint64_t max_n, const shape& s = {}, Op op = {})
      : device_(on), queue_(on), shape_(s), max_n_(max_n), op_(op) {
    detail::check_order(info_of<Stage>(), Op::commutes);
    detail::check_parameters<Stage>(s);
    select_kernels<Stage>();
    loops_ = Stage::takes_grid;
    elements_per_thread_ = Stage::elements_per_thread(s.items);
    dynamic_shared_bytes_ = Stage::dynamic_shared_elements(s.block) * sizeof(T);
    const device_properties properties = on.properties();
    blocks_per_launch_ = properties.blocks_per_launch;
    if (loops_ && shape_.grid == 0)
      shape_.grid =
          std::min(default_loop_grid(shape_.block, shape_.items, properties.multiprocessors,
                                     properties.threads_per_multiprocessor),
                   blocks_per_launch_);
    if (loops_ && shape_.grid > blocks_per_launch_)
      throw input_error("the device launches at most " + std::to_string(blocks_per_launch_) +
                        " blocks at once, not a grid of " + std::to_string(shape_.grid));
    allocate_scratch();
  }

  /// Enqueues the reduction of `n` elements at `in` into `*out`, both device memory.
  /// n = 0 gives the operator's identity. `in` is aligned to In and otherwise as it pleases: its
  /// address never changes the result, only the speed.
  /// @throws input_error when n exceeds the constructor's max_n
  void enqueue(const In* in, std::uint64_t n, T* out, stream_handle on) {
    if (n > max_n_)
      throw input_error("this reducer was made for at most " + std::to_string(max_n_) +
                        " elements, not " + std::to_string(n));
    device_.make_current();
    const plan passes = plan_for(n);
    T* const scratch[2] = {scratch_[0].get(), scratch_[1].get()};
    const T* partials = nullptr;
    for (std::size_t i = 0; i < passes.size(); ++i) {
      T* target = i + 1 == passes.size() ? out : scratch[i % 2];
      if (i == 0)
        launch_pass(first_, in, target, passes[i], on);
      else
        launch_pass(later_, partials, target, passes[i], on);
      partials = target;
    }
  }

  /// Reduces on a stream of its own and waits for the result. That stream waits for no other: what
  /// writes the input must be done.
  [[nodiscard]] T operator()(const In* in, std::uint64_t n) {
    enqueue(in, n, result_.get(), queue_.handle());
    T result = op_.identity();
    copy_to_host(&result, result_.get(), sizeof(T), queue_.handle());
    queue_.synchronize();
    return result;
  }

  /// The passes that `n` elements take.
  [[nodiscard]] plan plan_for(std::uint64_t n) const {
    return {n,
            {.block = shape_.block,
             .elements_per_thread = elements_per_thread_,
             .loops = loops_,
             .loop_grid = shape_.grid}};
  }

  /// The shape in use, with the grid that the device's size gave where none was asked for.
  [[nodiscard]] const shape& used_shape() const { return shape_; }

 private:
  template <typename From>
  using kernel_pointer = void (*)(const From*, T*, std::size_t, Op);

  /// Device memory for values of T.
  class values {
   public:
    values() = default;
    values(const device& on, std::uint64_t count) : memory_(on, count * sizeof(T)) {}
    [[nodiscard]] T* get() const { return static_cast<T*>(memory_.data()); }

   private:
    device_memory memory_;
  };

  /// A value without a case leaves the kernels unset, which the last line finds.
  template <typename Stage>
  void select_kernels() {
    std::ignore = static_switch<warp_sizes>(device_.warp_size(), [&]<int WarpSize>() {
      std::ignore = static_switch<block_sizes>(shape_.block, [&]<int Block>() {
        if constexpr (takes_items<Stage>)
          std::ignore = static_switch<item_counts>(
              shape_.items, [&]<int Items>() { select_kernel<Stage, WarpSize, Block, Items>(); });
        else
          select_kernel<Stage, WarpSize, Block, default_items>();
      });
    });
    if (first_ == nullptr) detail::no_kernel<Stage, T>(device_.warp_size(), shape_);
  }

  template <typename Stage, int WarpSize, int Block, int Items>
  void select_kernel() {
    constexpr bool fits = Block * sizeof(T) <= smallest_shared_memory;
    if constexpr (fits && is_instantiated<Op>(Block, Items)) {
      first_ = Stage::template kernel<Block, WarpSize, Items, In, T, Op>();
      later_ = Stage::template kernel<Block, WarpSize, Items, T, T, Op>();
    }
  }

  void allocate_scratch() {
    const plan passes = plan_for(max_n_);
    result_ = values(device_, 1);
    for (std::size_t i = 0; i < 2 && i + 1 < passes.size(); ++i)
      scratch_[i] = values(device_, passes[i].blocks);
  }

  /// A grid has a limit that n does not have: what exceeds it goes into further launches. The grid
  /// of a stage that loops never does.
  template <typename From>
  void launch_pass(kernel_pointer<From> kernel, const From* in, T* out, const pass& p,
                   stream_handle on) {
    const std::uint64_t elements_per_block =
        static_cast<std::uint64_t>(shape_.block) * static_cast<std::uint64_t>(elements_per_thread_);
    for (std::uint64_t block = 0; block < p.blocks; block += blocks_per_launch_) {
      const std::uint64_t blocks = std::min(p.blocks - block, blocks_per_launch_);
      const std::uint64_t first = block * elements_per_block;
      launch(kernel, blocks, shape_.block, dynamic_shared_bytes_, on, in + first, out + block,
             static_cast<std::size_t>(p.n - first), op_);
    }
  }

  device device_;
  stream queue_;
  shape shape_;
  std::uint64_t max_n_;
  std::uint64_t blocks_per_launch_ = 0;
  bool loops_ = false;
  int elements_per_thread_ = 0;
  std::size_t dynamic_shared_bytes_ = 0;
  Op op_;
  kernel_pointer<In> first_ = nullptr;
  kernel_pointer<T> later_ = nullptr;
  values scratch_[2];
  values result_;
};

}  // namespace tenfold::inline TENFOLD_BACKEND
