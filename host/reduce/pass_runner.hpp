/// @file
/// The part of a reducer that no type changes: it checks a launch shape, owns the scratch memory
/// and launches the passes. Compiled once per unit, where the reducer is once per type and
/// operator.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "host/error.hpp"
#include "host/reduce/kernel_family.hpp"
#include "host/reduce/places.hpp"
#include "host/reduce/plan.hpp"
#include "host/reduce/shape.hpp"
#include "host/runtime/runtime.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

/// The kernel of the first pass, which reads the input, and that of the later ones, which read
/// partials. Their parameters: const In* or const T*, T*, std::size_t, Op; and T*, where the stage
/// folds its partials itself room for them; and memory that is zero between calls.
struct kernel_pair {
  kernel_handle first;
  kernel_handle later{};
  /// Of a stage that leaves its last fold to the host: folds `n` partials into the first of them.
  void (*fold_on_host)(std::byte* partials, std::uint64_t n, const void* op) = nullptr;
  /// What all blocks share, and leave as zeros: a ticket, or more.
  std::size_t zeroed_bytes = 0;
};

class pass_runner {
 public:
  /// @param identity the operator's, which is read before it returns
  /// @throws input_error for a shape that does not fit the stage, or an operator that it cannot
  /// serve; device_error when the scratch memory cannot be had
  pass_runner(const device& on, const kernel_family& family, const kernel_pair& kernels,
              const shape& s, std::uint64_t max_n, const void* identity)
      : device_(on),
        queue_(on),
        shape_(s),
        stage_(family.stage),
        op_(family.op),
        elements_per_thread_(family.elements_per_thread(s)),
        shared_bytes_(
            stage_.dynamic_shared_bytes(launch_of(s, op_.input_bytes, op_.partial_bytes))),
        kernels_(kernels),
        max_n_(max_n) {
    check_order();
    if (stage_.adds_floats_alone && !op_.adds_floats)
      throw input_error(name_stage(stage_) +
                        " adds up floats, and does nothing else: use another stage");
    check_parameters();
    check_hardware(hardware_lack(device_, stage_.compute_capability));
    if (!kernels_.first) no_kernel();
    check_hardware(build_lack(device_, kernels_.first, stage_.compute_capability));
    prepare_launches();
    if (!stage_.takes_items) shape_.items = static_cast<int>(elements_per_thread_);
    choose_grid();
    allocate_scratch(identity);
  }

  /// Enqueues the passes over `n` elements at `in`. `op` is read before it returns. Waits for them
  /// where the host has the last fold.
  void enqueue(const void* in, std::uint64_t n, void* out, const void* op, stream_handle on) {
    if (n > max_n_)
      throw input_error("this reducer was made for at most " + std::to_string(max_n_) +
                        " elements, not " + std::to_string(n));
    check_places({in, n * op_.input_bytes, op_.input_alignment},
                 {out, op_.partial_bytes, op_.partial_alignment});
    check_stream(device_, on);
    device_.make_current();
    const plan passes = plan_for(n);
    if (stage_.adds_to_result) copy_on_device(out, identity_.data(), op_.partial_bytes, on);
    if (stage_.clears_ticket)
      copy_on_device(zeroed_.data(), zeros_.data(), kernels_.zeroed_bytes, on);
    for (std::size_t i = 0; i < passes.size(); ++i) {
      const bool is_last = i + 1 == passes.size() && !stage_.leaves_last_fold_to_host;
      void* target = stage_.leaves_result_first ? scratch_[1].data()
                     : is_last                  ? out
                                                : scratch_[i % 2].data();
      launch_pass(i == 0 ? kernels_.first : kernels_.later, in,
                  i == 0 ? op_.input_bytes : op_.partial_bytes, target, passes[i], op, on,
                  i == 0 ? start_of_first(passes, on) : start_);
      in = target;
    }
    if (stage_.leaves_result_first) copy_on_device(out, in, op_.partial_bytes, on);
    if (stage_.leaves_last_fold_to_host) fold_on_host(passes[0].partials, out, op, on);
  }

  /// The same; waits until `*result`, on the host, is there.
  void reduce(const void* in, std::uint64_t n, void* result, const void* op, stream_handle on) {
    enqueue(in, n, result_.data(), op, on);
    copy_to_host(result, result_.data(), op_.partial_bytes, on);
    synchronize(on);
  }

  [[nodiscard]] stream_handle stream_of_calls() const {
    return device_.queue() ? *device_.queue() : queue_.handle();
  }
  [[nodiscard]] std::size_t scratch_bytes() const { return scratch_bytes_; }

  /// What all blocks share.
  [[nodiscard]] void* zeroed() const { return zeroed_.data(); }

  [[nodiscard]] plan plan_for(std::uint64_t n) const {
    return {n, parameters_of(stage_, shape_, elements_per_thread_)};
  }

  [[nodiscard]] const shape& used_shape() const { return shape_; }

 private:
  /// Names the stages that serve, if this one reorders and the operator minds.
  void check_order() const {
    if (op_.commutes || stage_.keeps_order) return;
    std::string serving;
    for (const stage_info& each : catalogue)
      if (each.keeps_order) serving += (serving.empty() ? "" : ", ") + name_stage(each);
    throw input_error(name_stage(stage_) +
                      " reorders its elements and the operator does not commute: use " + serving);
  }

  void check_parameters() const {
    if (shape_.items != default_items && !stage_.takes_items)
      throw input_error(name_stage(stage_) + " takes no items: each of its threads loads " +
                        std::to_string(elements_per_thread_));
    if (shape_.grid == 0) return;
    if (!stage_.takes_grid)
      throw input_error(name_stage(stage_) + " takes no grid: its number of blocks follows from n");
    if (shape_.grid > largest_grid())
      throw input_error(
          "a grid of " + std::to_string(shape_.grid) +
          " blocks is more than the one block of the second pass folds: use at most " +
          std::to_string(largest_grid()) + ", which is block times items");
  }

  void check_hardware(const std::string& lack) const {
    if (!lack.empty()) throw input_error(name_stage(stage_) + " needs " + lack);
  }

  void prepare_launches() {
    if (stage_.launches_early) start_ = earliest_start(device_, kernels_.first);
    if (stage_.meets_peers) start_ = launch_start::beside_others;
    if (shared_bytes_ <= smallest_shared_memory) return;
    if (const std::size_t largest = device_.largest_shared_bytes(); shared_bytes_ > largest)
      check_hardware(std::to_string(shared_bytes_) +
                     " bytes of shared memory for a block, and the device has " +
                     std::to_string(largest));
    for (kernel_handle* each : {&kernels_.first, &kernels_.later})
      allow_shared_bytes(device_, *each, shared_bytes_);
  }

  [[noreturn]] void no_kernel() const {
    const std::size_t partials = kernel_family{stage_, op_}.shared_partials(shape_.block);
    const std::size_t shared_bytes = partials * op_.partial_bytes;
    if (is_among(block_sizes, shape_.block) && has_block(stage_, shape_.block) &&
        shared_bytes > smallest_shared_memory)
      throw input_error("a block of " + std::to_string(partials) + " partials of " +
                        std::to_string(op_.partial_bytes) + " bytes exceeds the " +
                        std::to_string(smallest_shared_memory) +
                        " bytes of shared memory that every GPU has: use a smaller block");
    std::string what = name_stage(stage_) + " has no kernel for warp size " +
                       std::to_string(device_.warp_size()) + " and block " +
                       std::to_string(shape_.block);
    if (stage_.takes_items) what += " with " + std::to_string(shape_.items) + " items";
    what += "; there are warp sizes " + list_of(warp_sizes) + ", ";
    throw input_error(what + (op_.is_narrow ? narrow_shapes() : shapes()));
  }

  [[nodiscard]] std::string shapes() const {
    if (stage_.only_block != 0) return "the block " + std::to_string(stage_.only_block);
    std::vector<int> blocks;
    for (const int block : block_sizes)
      if (has_block(stage_, block)) blocks.push_back(block);
    const std::string items =
        stage_.takes_items ? " with " + std::to_string(default_items) + " items" : "";
    std::string what = "blocks " + list_of(blocks) + items;
    if (is_unlisted(stage_)) return what;
    if (stage_.takes_items)
      what +=
          ", and items " + list_of(item_counts) + " with block " + std::to_string(default_block);
    what += " for sums and your own operators, blocks " + list_of(fast_block_sizes) + items +
            " for the others";
    return stage_.takes_items ? what + "; sums of f32 have every pair" : what;
  }

  [[nodiscard]] std::string narrow_shapes() const {
    std::string what = "for narrow elements blocks " + list_of(narrow_block_sizes);
    if (stage_.takes_items) what += " with " + list_of(narrow_item_counts) + " items";
    return what;
  }

  /// `1, 2 and 4`
  template <typename Range>
  static std::string list_of(const Range& values) {
    std::string text;
    std::size_t i = 0;
    for (const auto& each : values) {
      if (i != 0) text += i + 1 == values.size() ? " and " : ", ";
      text += std::to_string(each);
      ++i;
    }
    return text;
  }

  void choose_grid() {
    const device_properties properties = device_.properties();
    blocks_per_launch_ = properties.blocks_per_launch;
    if (!stage_.takes_grid) return;
    if (shape_.grid == 0) shape_.grid = stage_.own_grid;
    if (shape_.grid == 0)
      shape_.grid = default_grid(properties, shape_.block, shared_bytes_, largest_grid());
    if (shape_.grid > blocks_per_launch_)
      throw input_error("the device launches at most " + std::to_string(blocks_per_launch_) +
                        " blocks at once, not a grid of " + std::to_string(shape_.grid));
  }

  void allocate_scratch(const void* identity) {
    const plan passes = plan_for(max_n_);
    result_ = allocate(op_.partial_bytes);
    if (stage_.folds_its_partials) scratch_[0] = allocate(passes[0].partials * op_.partial_bytes);
    if (stage_.leaves_result_first) scratch_[1] = allocate(passes[0].partials * op_.partial_bytes);
    if (kernels_.zeroed_bytes != 0) {
      const std::vector<std::byte> zeros(kernels_.zeroed_bytes);
      zeroed_ = copy_of(zeros.data(), zeros.size(),
                        stage_.meets_peers ? memory_use::of_peers : memory_use::own);
      if (stage_.clears_ticket) zeros_ = copy_of(zeros.data(), zeros.size());
    }
    if (stage_.leaves_last_fold_to_host) {
      on_host_.resize(passes[0].partials * op_.partial_bytes);
      scratch_[0] = allocate(on_host_.size());
    }
    if (stage_.adds_to_result) identity_ = copy_of(identity, op_.partial_bytes);
    for (std::size_t i = 0; i < 2 && i + 1 < passes.size(); ++i)
      scratch_[i] = allocate(passes[i].partials * op_.partial_bytes);
  }

  [[nodiscard]] device_memory allocate(std::size_t bytes, memory_use use = memory_use::own) {
    device_memory made(device_, bytes, use);
    scratch_bytes_ += made.scratch_bytes();
    return made;
  }

  [[nodiscard]] device_memory copy_of(const void* from, std::size_t bytes,
                                      memory_use use = memory_use::own) {
    device_memory made = allocate(bytes, use);
    copy_to_device(made.data(), from, bytes, queue_.handle());
    queue_.synchronize();
    return made;
  }

  /// As many partials as the one block of the second pass folds, if there is one.
  [[nodiscard]] std::uint64_t largest_grid() const {
    return stage_.folds_its_partials || stage_.leaves_last_fold_to_host
               ? std::numeric_limits<std::uint64_t>::max()
               : elements_per_tile();
  }

  [[nodiscard]] std::uint64_t elements_per_tile() const {
    return static_cast<std::uint64_t>(shape_.block) * elements_per_thread_;
  }

  [[nodiscard]] std::uint64_t partials_per_block() const {
    if (stage_.adds_to_result) return 0;
    return stage_.leaves_partials_of_threads ? static_cast<std::uint64_t>(shape_.block) : 1;
  }

  /// In a graph, to let a single pass begin early takes more time, after a kernel that lets nobody
  /// begin early, than it saves. The first of two passes gains by it.
  [[nodiscard]] launch_start start_of_first(const plan& passes, stream_handle on) const {
    return start_ == launch_start::early && passes.size() == 1 && is_capturing(on)
               ? launch_start::after_the_previous
               : start_;
  }

  /// A grid has a limit that n does not have: what exceeds it goes into further launches. The grid
  /// of a stage that loops never does.
  void launch_pass(const kernel_handle& kernel, const void* in, std::size_t element_bytes,
                   void* out, const pass& p, const void* op, stream_handle on,
                   launch_start start) const {
    for (std::uint64_t block = 0; block < p.blocks; block += blocks_per_launch_) {
      const std::uint64_t first = block * elements_per_tile();
      const void* from = static_cast<const std::byte*>(in) + first * element_bytes;
      void* to = static_cast<std::byte*>(out) + block * partials_per_block() * op_.partial_bytes;
      std::size_t n = p.n - first;
      void* partials = scratch_[0].data();
      void* zeroed = zeroed_.data();
      void* arguments[] = {&from, &to, &n, const_cast<void*>(op), &partials, &zeroed};
      launch(kernel, std::min(p.blocks - block, blocks_per_launch_), shape_.block, shared_bytes_,
             on, arguments, start);
    }
  }

  void fold_on_host(std::uint64_t partials, void* out, const void* op, stream_handle on) {
    if (is_capturing(on))
      throw input_error(name_stage(stage_) + " waits for the host, which no graph can record");
    copy_to_host(on_host_.data(), scratch_[0].data(), partials * op_.partial_bytes, on);
    synchronize(on);
    kernels_.fold_on_host(on_host_.data(), partials, op);
    copy_to_device(out, on_host_.data(), op_.partial_bytes, on);
    synchronize(on);
  }

  device device_;
  stream queue_;
  shape shape_;
  stage_description stage_;
  operator_traits op_;
  std::size_t elements_per_thread_;
  std::size_t shared_bytes_;
  kernel_pair kernels_;
  std::uint64_t max_n_;
  std::uint64_t blocks_per_launch_ = 0;
  launch_start start_ = launch_start::after_the_previous;
  device_memory scratch_[2];
  device_memory zeroed_, zeros_;
  device_memory identity_;
  device_memory result_;
  std::size_t scratch_bytes_ = 0;
  std::vector<std::byte> on_host_;
};

}  // namespace tenfold::inline TENFOLD_BACKEND
