/// @file
/// Errors that all ranks hear of, so that none waits for one that has given up, and the time of
/// what they do together.
#pragma once

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "host/error.hpp"
#include "host/ranks/ranks.hpp"

namespace tenfold {

/// What every rank throws when one of them has failed.
class shared_error : public error {
 public:
  using error::error;
};

/// How a step ended on a rank.
struct outcome {
  exit_code code = exit_code::success;
  char message[500] = "";

  outcome() = default;
  outcome(exit_code c, std::string_view text) : code(c) {
    text.copy(message, std::min(text.size(), sizeof message - 1));
  }
};

/// @throws shared_error for the first rank that failed, if any did
inline void share_outcome(const ranks& all, const outcome& mine) {
  const std::vector<outcome> of_all = all.gather(mine);
  const auto failed = std::ranges::find_if(
      of_all, [](const outcome& each) { return each.code != exit_code::success; });
  if (failed == of_all.end()) return;
  const std::string message = failed->message;
  const bool is_the_same =
      std::ranges::all_of(of_all, [&](const outcome& each) { return each.message == message; });
  if (is_the_same) throw shared_error(failed->code, message);
  throw shared_error(failed->code, "rank " + std::to_string(failed - of_all.begin()) + " of " +
                                       std::to_string(of_all.size()) + ": " + message);
}

/// What `step()` returns here, once it has succeeded on every rank.
/// @throws shared_error on every rank where it throws on one
template <typename Step>
auto together(const ranks& all, Step step) {
  using result = std::invoke_result_t<Step>;
  outcome mine;
  std::conditional_t<std::is_void_v<result>, std::optional<bool>, std::optional<result>> made;
  try {
    if constexpr (std::is_void_v<result>)
      step();
    else
      made.emplace(step());
  } catch (const error& e) {
    mine = {e.code(), e.what()};
  } catch (const std::exception& e) {
    mine = {exit_code::device_failed, e.what()};
  }
  share_outcome(all, mine);
  if constexpr (!std::is_void_v<result>) return std::move(*made);
}

/// Does `work()` on each rank once all are ready.
/// @return seconds that it took the slowest rank, by the host's clock; the same on every rank
template <typename Work>
double time_of_slowest(const ranks& all, Work work) {
  using clock = std::chrono::steady_clock;
  static_cast<void>(all.gather(0));
  const clock::time_point start = clock::now();
  work();
  return std::ranges::max(all.gather(std::chrono::duration<double>(clock::now() - start).count()));
}

}  // namespace tenfold
