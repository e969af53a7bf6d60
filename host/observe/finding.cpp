#include "host/observe/finding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "host/text/split.hpp"

namespace tenfold::observe {
namespace {

/// In the order of `finding_kind`.
constexpr std::array<std::string_view, 15> keys{
    "block_race",          "warp_race",         "shuffle_race",
    "grid_race",           "divergent_barrier", "divergent_collective",
    "uninitialised_read",  "out_of_bounds",     "misaligned_access",
    "schedule_dependence", "lost_element",      "repeated_element",
    "endless_loop",        "wrong_result",      "fault"};
static_assert(keys.size() == static_cast<std::size_t>(finding_kind::fault) + 1);

using simt::failure_kind;

/// A thread that waits at the first place in the source, if threads wait at several places. The
/// threads that wait further down, or have returned, went past that place.
auto first_that_waits(const simt::block_failure& failure) {
  return std::ranges::min_element(failure.threads, {}, [](const simt::failed_thread& each) {
    return std::tuple(each.doing == nullptr, each.where.line);
  });
}

/// What a failure is to the kernel's author: of which kind, what happened, and the remedy.
std::tuple<finding_kind, std::string, std::string> explain(const simt::block_failure& failure,
                                                           const std::string& address) {
  constexpr const char* together =
      "Have all lanes of the mask reach the same call: move it out of the branch, or let the mask "
      "name no lane but those that come.";
  switch (failure.kind) {
    case failure_kind::different_barriers:
      return {finding_kind::divergent_barrier, "threads of a block wait at different barriers",
              "Have all threads of the block reach the same __syncthreads(): move it out of the "
              "branch."};
    case failure_kind::never_all_there:
      if (const auto first = first_that_waits(failure);
          first != failure.threads.end() && first->doing != nullptr &&
          std::string_view(first->doing) == "__syncthreads")
        return {finding_kind::divergent_barrier,
                "a block barrier that not all threads of the block reach",
                "Move the __syncthreads() out of the branch, and let no thread return before it."};
      return {finding_kind::divergent_collective,
              "a collective that not all lanes of its mask reach", together};
    case failure_kind::missing_block:
      return {finding_kind::divergent_barrier, "a barrier of the grid that not all blocks reach",
              "Have all blocks reach the same sync() of the grid, and let none return before it."};
    case failure_kind::different_collectives:
      return {finding_kind::divergent_collective, "lanes of a warp wait in different collectives",
              together};
    case failure_kind::not_in_own_mask:
      return {finding_kind::divergent_collective,
              "a lane calls a collective with a mask that leaves the lane itself out",
              "Name every lane that calls in its mask."};
    case failure_kind::silent_source:
      return {finding_kind::divergent_collective,
              "a shuffle reads a lane that takes no part: outside of the mask, or returned",
              "Name every lane that is read in the mask, and let none return before."};
    case failure_kind::bad_address:
      return {finding_kind::out_of_bounds,
              fmt::format("{} is touched, where there is no memory", address),
              "Let no thread go further than the last element, as in if (i < n)."};
    case failure_kind::misaligned:
      return {finding_kind::misaligned_access,
              fmt::format("a vector is loaded from {}, which is not aligned to its size", address),
              "Take vectors only where gpu::is_vector_aligned says so, and single elements "
              "elsewhere."};
    case failure_kind::stopped:
      return {finding_kind::endless_loop, "a thread goes on and on and comes to no end",
              "Check that the loop's condition becomes false: what it halves must come to zero, "
              "what it waits for must be written by somebody who runs."};
    case failure_kind::stack_overflow:
      return {finding_kind::fault, failure.text,
              "Keep large arrays in shared memory, and let no recursion go without end."};
    case failure_kind::bad_division:
      return {finding_kind::fault, failure.text, "Check the divisor before the division."};
    case failure_kind::assertion:
      return {finding_kind::fault, failure.text,
              "Find out why what is asserted does not hold for this thread."};
    case failure_kind::refused:
      return {finding_kind::fault, failure.text,
              "Run it on a GPU, or write it in words that the executor has: see "
              "docs/executor.md."};
    default:
      return {finding_kind::fault, failure.text,
              "Let a kernel neither throw, trap nor end the program."};
  }
}

/// Threads that do the same at the same place are one witness.
std::vector<witness> witnesses_of(const simt::block_failure& failure, unsigned warp_size,
                                  std::span<const code_address> last_code) {
  std::vector<witness> witnesses;
  std::vector<std::vector<unsigned>> threads;
  for (const simt::failed_thread& each : failure.threads) {
    witness w;
    w.block = failure.block;
    w.thread = each.thread;
    w.warp = each.thread / warp_size;
    w.lane = each.thread % warp_size;
    w.doing = each.doing != nullptr ? fmt::format("waits in {}", each.doing)
              : failure.kind == failure_kind::never_all_there ? "has returned"
                                                              : "runs";
    if (each.where.file != nullptr)
      w.place = {each.where.file, each.where.line};
    else if (failure.kind != failure_kind::never_all_there)
      w.pc = last_code[each.thread];
    const auto same = std::ranges::find_if(witnesses, [&](const witness& other) {
      return other.doing == w.doing && other.place == w.place && other.pc == w.pc;
    });
    const auto group = static_cast<std::size_t>(same - witnesses.begin());
    if (same == witnesses.end()) {
      witnesses.push_back(std::move(w));
      threads.emplace_back();
    }
    threads[group].push_back(each.thread);
  }
  if (failure.kind == failure_kind::missing_block) {
    witness& w = witnesses.emplace_back();
    w.doing = "has returned";
    w.block = failure.missing;
    threads.push_back(threads.front());
  }
  for (std::size_t i = 0; i < witnesses.size(); ++i) {
    witnesses[i].threads = simt::list_threads(threads[i]);
    if (threads[i].size() > 1) witnesses[i].thread.reset();
  }
  return witnesses;
}

}  // namespace

std::string_view key_of(finding_kind kind) {
  return keys[static_cast<std::size_t>(kind)];
}

std::string name_of(finding_kind kind) {
  return replace_all(std::string(key_of(kind)), "_", " ");
}

void describe(const simt::block_failure& failure, const std::string& address,
              std::span<const code_address> last_code, finding& f) {
  f.address = address;
  std::tie(f.kind, f.what, f.remedy) = explain(failure, address);
  f.witnesses = witnesses_of(failure, static_cast<unsigned>(f.warp_size), last_code);
}

}  // namespace tenfold::observe
