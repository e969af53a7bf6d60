/// @file
/// A reduction of what several ranks hold, each on a device of its own.
///
///     mpi_ranks all;                                             // of MPI_COMM_WORLD
///     distributed_reducer<float, sum<double>, gather_through_host> add(
///         gpu, gather_through_host(all), n);                     // n: the most of this rank
///     add.enqueue(in, n, out, stream);                           // on every rank; out: on each
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "host/best_reducer.hpp"
#include "host/error.hpp"
#include "host/reducer.hpp"
#include "host/runtime/runtime.hpp"
#include "kernels/beyond/16_ordered.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

/// Reduces each rank's elements there, gathers the results in the order of ranks, and reduces them
/// again, on every rank alike: the result depends on the elements, on how they are shared, and on
/// no timing. With an `exact_sum` as the accumulator it does not depend on the shares either. An
/// operator that does not commute has the elements of a rank before those of the next.
///
/// All ranks make one, with the same In and Op, and call it as often. What only one of them can
/// find wrong, such as a pointer, it must tell the others (host/ranks/together.hpp), which would
/// wait.
/// @tparam In what is read
/// @tparam Op see common/operators.hpp
/// @tparam Gather `gather_through_host` for MPI, `gather_by_nccl`: has `count()` and
///   `operator()(mine, bytes, of_all, stream)`
template <typename In, typename Op, typename Gather>
class distributed_reducer {
 public:
  using T = decltype(std::declval<const Op&>().identity());

  /// @param max_n the most elements that this rank will bring; shares may differ, and be empty
  /// @throws input_error on every rank where ranks differ in In or Op
  /// @throws device_error when memory cannot be had
  distributed_reducer(const device& on, Gather all, std::uint64_t max_n, Op op = {})
      : distributed_reducer(on, std::move(all), best_reducer<In>(on, max_n, op), op) {}

  /// The same by a stage of the caller's choice, in its best shape.
  /// @throws input_error for an operator that the stage cannot serve
  template <typename Stage>
  distributed_reducer(Stage stage, const device& on, Gather all, std::uint64_t max_n, Op op = {})
      : distributed_reducer(on, std::move(all), reducer<In, T, Op>(stage, on, max_n, op), op) {}

  /// Enqueues the reduction of all ranks' elements into `*out` on each rank.
  /// @param in `n` elements of this rank, device memory, and otherwise as for a `reducer`
  /// @param out null on ranks that need no result
  void enqueue(const In* in, std::uint64_t n, T* out, stream_handle on) {
    T* const of_all = static_cast<T*>(results_.data());
    T* const mine = of_all + ranks();
    own_.enqueue(in, n, mine, on);
    gather_(mine, sizeof(T), of_all, on);
    if (out != nullptr) of_ranks_.enqueue(of_all, ranks(), out, on);
  }

 private:
  distributed_reducer(const device& on, Gather all, reducer<In, T, Op> own, Op op)
      : gather_(std::move(all)),
        own_(std::move(own)),
        of_ranks_(ordered::stage{}, on, ranks(), op),
        results_(on, (ranks() + 1) * sizeof(T)) {
    check_alike(on);
  }

  [[nodiscard]] std::uint64_t ranks() const { return static_cast<std::uint64_t>(gather_.count()); }

  /// Of the types' names, as the compiler spells them.
  static std::uint64_t fingerprint() {
    std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
    for (const char each : std::string_view(__PRETTY_FUNCTION__))
      hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001b3u;
    return hash;
  }

  void check_alike(const device& on) {
    const stream queue(on);
    std::vector<std::uint64_t> all(ranks() + 1, fingerprint());
    const device_memory there(on, all.size() * sizeof all[0]);
    auto* const of_all = static_cast<std::uint64_t*>(there.data());
    copy_to_device(of_all, all.data(), all.size() * sizeof all[0], queue.handle());
    gather_(of_all + ranks(), sizeof all[0], of_all, queue.handle());
    copy_to_host(all.data(), of_all, all.size() * sizeof all[0], queue.handle());
    queue.synchronize();
    for (const std::uint64_t each : all)
      if (each != all[0])
        throw input_error(
            "the ranks reduce different types, or by different operators: give all the same");
  }

  Gather gather_;
  reducer<In, T, Op> own_;
  reducer<T, T, Op> of_ranks_;
  device_memory results_;  ///< of all ranks, and this rank's own
};

}  // namespace tenfold::inline TENFOLD_BACKEND
