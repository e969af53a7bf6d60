/// @file
/// What a checker has to say of a kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/observe/step.hpp"
#include "host/text/source_place.hpp"

namespace tenfold::observe {

enum class finding_kind {
  block_race,            ///< threads of a block, no block barrier between their accesses
  warp_race,             ///< lanes of a warp, no warp barrier between their accesses
  shuffle_race,          ///< the same, with nothing but a shuffle between them
  grid_race,             ///< threads of different blocks
  divergent_barrier,     ///< a block barrier that some threads never reach, or reach elsewhere
  divergent_collective,  ///< the same for lanes of a warp; a shuffle from a lane that is not there
  uninitialised_read,
  out_of_bounds,
  misaligned_access,
  schedule_dependence,  ///< another order of threads or blocks, another result
  lost_element,         ///< of the input, which no thread reads
  repeated_element,     ///< of the input, which is read twice
  endless_loop,
  wrong_result,
  fault  ///< a trap, a division by zero, a stack that overflows, an exception
};

/// `block race`, `out of bounds`, ...
[[nodiscard]] std::string name_of(finding_kind kind);
/// As in JSON and in tests: `block_race`, `out_of_bounds`, ...
[[nodiscard]] std::string_view key_of(finding_kind kind);

/// One side of a finding: who did what, where.
struct witness {
  std::string doing;  ///< `reads`, `changes atomically`, `waits in __syncthreads`
  simt::index3 block{0, 0, 0};
  std::optional<unsigned> thread;  ///< in its block; nothing where it is not one alone
  std::string threads;             ///< `0-15, 31` where there are several
  unsigned warp = 0, lane = 0;
  std::optional<code_address> pc;  ///< where `place` is still to be looked up
  source_place place;
};

struct finding {
  finding_kind kind;
  std::string kernel{};
  std::string address{};  ///< `shared[17]`; empty where no memory is involved
  std::string what{};  ///< one line, without places: `shared[17] is written while another reads it`
  std::vector<witness> witnesses{};  ///< the later access first
  std::string remedy{};
  int warp_size = 0;
  std::uint64_t n = 0;
  std::size_t offset = 0;   ///< as in `run_request`
  std::string schedule{};   ///< under which it was met
  std::uint64_t count = 1;  ///< how often, at the same places
};

/// Makes a finding of a block that failed: what happened, who had to do with it, and what to do.
/// @param address that the failure is about, in the kernel's words; empty where it is about none
/// @param last_code of each thread of the block in the program
/// @param f knows kernel and warp size
void describe(const simt::block_failure& failure, const std::string& address,
              std::span<const code_address> last_code, finding& f);

}  // namespace tenfold::observe
