/// @file
/// A reducer for each of several streams, which threads share.
///
///     reducer_pool pool(4, [&] { return best_reducer<float>(gpu, n, sum<double>{}); });
///     pool.enqueue(in, n, out, stream);  // from any thread, on up to four streams
///
///     reducer_pool rows(4, [&] { return row_reducer<float, sum<double>>(gpu); });
///     rows.enqueue(in, height, width, stride, out, stream);
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "host/error.hpp"
#include "host/runtime/runtime.hpp"

namespace tenfold::inline TENFOLD_BACKEND {

/// Gives each stream a reducer of its own, from the stream's first call on. The calls in one stream
/// run one after the other, so they can share the scratch memory of one reducer. Any thread may
/// call, at any time. The pool allocates nothing after construction. Do not record its calls into a
/// graph, since a graph may be launched in several streams: make a reducer for each graph. Some
/// handles, such as cudaStreamPerThread, stand for another stream in each thread: for these, each
/// thread gets a reducer of its own.
/// @tparam Reducer `reducer`, `row_reducer`, with a function too, `column_reducer`,
///   `segment_reducer`, `predicate_reducer`, or whatever has an `enqueue` whose last argument is a
///   stream
template <typename Reducer>
class reducer_pool {
 public:
  /// @param streams the most that will call
  /// @param make    makes a reducer, and is called that often
  template <typename Make>
  reducer_pool(std::size_t streams, Make make) {
    for (std::size_t i = 0; i < streams; ++i) owned_.push_back(std::make_unique<owned>(make()));
  }

  /// `Reducer::enqueue` on the stream's reducer, with the arguments that it takes: the last of them
  /// is the stream.
  /// @throws input_error on one stream more than the pool was made for, and as `Reducer` does
  template <typename... Arguments>
  void enqueue(Arguments... arguments) {
    owned& its = of(std::get<sizeof...(Arguments) - 1>(std::tie(arguments...)));
    const std::lock_guard lock(its.calls);
    its.by.enqueue(arguments...);
  }

  /// Reduces on that stream, after all that is in it, and waits for the result: of a `reducer`,
  /// whose calls have one.
  /// @throws input_error as `enqueue` does
  template <typename In>
  [[nodiscard]] auto operator()(const In* in, std::uint64_t n, stream_handle on) {
    owned& its = of(on);
    const std::lock_guard lock(its.calls);
    return its.by(in, n, on);
  }

 private:
  struct owned {
    explicit owned(Reducer made) : by(std::move(made)) {}
    Reducer by;
    stream_handle stream{};
    std::uint64_t thread = 0;  ///< whose the stream is, if each thread has its own
    std::mutex calls;
  };

  /// From 1 on; unlike std::thread::id, no thread has that of one that has ended.
  static std::uint64_t number_of_thread() {
    static std::atomic<std::uint64_t> last = 0;
    static thread_local const std::uint64_t mine = ++last;
    return mine;
  }

  owned& of(stream_handle on) {
    const std::uint64_t thread = is_threads_own(on) ? number_of_thread() : 0;
    const std::lock_guard lock(finding_);
    for (std::size_t i = 0; i < given_; ++i)
      if (owned_[i]->stream == on && owned_[i]->thread == thread) return *owned_[i];
    if (given_ == owned_.size())
      throw input_error("this pool was made for " + std::to_string(given_) +
                        " streams, and there is one more: make it for as many as call");
    owned_[given_]->stream = on;
    owned_[given_]->thread = thread;
    return *owned_[given_++];
  }

  std::vector<std::unique_ptr<owned>> owned_;
  std::size_t given_ = 0;  ///< the first so many have their stream
  std::mutex finding_;
};

template <typename Make>
reducer_pool(std::size_t, Make) -> reducer_pool<std::invoke_result_t<Make>>;

}  // namespace tenfold::inline TENFOLD_BACKEND
