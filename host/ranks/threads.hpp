/// @file
/// Ranks in one process: a thread each.
#pragma once

#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "host/error.hpp"
#include "host/ranks/ranks.hpp"

namespace tenfold {

/// A thread among `in_threads`.
class thread_ranks final : public ranks {
 public:
  /// Where the threads meet.
  struct meeting {
    explicit meeting(int count)
        : all_are_here(count, count_meetings{meetings}), brought(static_cast<std::size_t>(count)) {}

    /// Waits until all are here. A thread that sleeps wakes up late, so it first spins for a
    /// millisecond.
    void wait() {
      using clock = std::chrono::steady_clock;
      const unsigned before = meetings;
      auto here = all_are_here.arrive();
      const clock::time_point late = clock::now() + std::chrono::milliseconds(1);
      while (meetings == before && clock::now() < late) std::this_thread::yield();
      all_are_here.wait(std::move(here));
    }

    struct count_meetings {
      std::atomic<unsigned>& meetings;
      void operator()() noexcept { ++meetings; }
    };
    std::atomic<unsigned> meetings = 0;
    std::barrier<count_meetings> all_are_here;
    std::vector<const void*> brought;
    std::atomic<bool> has_been_left = false;
  };

  thread_ranks(meeting& at, int rank) : at_(at), rank_(rank) {}

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int count() const override { return static_cast<int>(at_.brought.size()); }
  [[nodiscard]] bool share_memory() const override { return true; }

  using ranks::gather;
  void gather(const void* mine, std::size_t bytes, void* all) const override {
    at_.brought[static_cast<std::size_t>(rank_)] = mine;
    at_.wait();
    const bool is_complete = !at_.has_been_left;
    if (is_complete)
      for (std::size_t rank = 0; rank < at_.brought.size(); ++rank)
        std::memcpy(static_cast<std::byte*>(all) + rank * bytes, at_.brought[rank], bytes);
    // What a thread brings is its own until all have read it.
    at_.wait();
    if (!is_complete) throw device_error("another rank has failed");
  }

  /// For a thread that does not come any more: those that wait for it hear of that.
  void leave() const {
    at_.has_been_left = true;
    at_.all_are_here.arrive_and_drop();
  }

 private:
  meeting& at_;
  int rank_;
};

/// Calls `work(const ranks&)` in as many threads, and waits for them.
/// @return what it returns on rank 0
/// @throws what it throws on one rank, on the one that failed by itself if that can be told
/// @throws device_error where the system starts no more threads
template <typename Work>
auto in_threads(int count, Work work) {
  struct end {
    std::optional<std::invoke_result_t<Work, const ranks&>> result{};
    std::exception_ptr failure{};
  };
  thread_ranks::meeting meeting(count);
  std::vector<end> ends(static_cast<std::size_t>(count));
  std::atomic<int> first_to_fail = -1;
  {
    std::vector<std::jthread> threads;
    const auto start = [&](int rank) {
      threads.emplace_back([&, rank] {
        const thread_ranks here(meeting, rank);
        end& mine = ends[static_cast<std::size_t>(rank)];
        try {
          mine.result = work(here);
        } catch (...) {
          mine.failure = std::current_exception();
          int none = -1;
          first_to_fail.compare_exchange_strong(none, rank);
          here.leave();
        }
      });
    };
    for (int rank = 0; rank < count; ++rank) {
      try {
        start(rank);
      } catch (const std::system_error& failure) {
        // Those that have begun wait for all.
        for (int missing = rank; missing < count; ++missing) thread_ranks(meeting, missing).leave();
        throw device_error("cannot start a thread for rank " + std::to_string(rank) + " of " +
                           std::to_string(count) + ": " + failure.code().message() +
                           "; use fewer ranks");
      }
    }
  }
  if (first_to_fail >= 0)
    std::rethrow_exception(ends[static_cast<std::size_t>(first_to_fail.load())].failure);
  return *ends.front().result;
}

}  // namespace tenfold
