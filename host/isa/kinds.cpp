#include <initializer_list>

#include "host/isa/isa.hpp"
#include "host/isa/readers.hpp"
#include "host/isa/text.hpp"

namespace tenfold::isa {
namespace {

using prefixes = std::initializer_list<std::string_view>;

struct kind_prefixes {
  instruction_kind kind;
  prefixes list;
};

// The first that fits counts. AMD's names are in small letters with underscores, PTX has points,
// and SASS is in capitals, so that one list serves all three.
const kind_prefixes by_prefix[] = {
    {instruction_kind::shuffle,
     {"ds_bpermute", "ds_permute", "ds_swizzle", "v_permlane", "v_readlane", "v_writelane",
      "v_readfirstlane", "redux", "vote", "match", "REDUX", "VOTE", "MATCH", "shfl", "SHFL"}},
    {instruction_kind::wait,
     {"s_waitcnt", "s_wait_",    "s_nop",          "s_delay_alu", "s_sleep",    "s_clause",
      "buffer_gl", "buffer_inv", "buffer_wb",      "global_wb",   "global_inv", "membar",
      "fence",     "mbarrier",   "griddepcontrol", "bar.warp",    "nanosleep",  "DEPBAR",
      "MEMBAR",    "NOP",        "SYNCS",          "WARPSYNC",    "CCTL",       "ERRBAR",
      "ACQBULK",   "NANOSLEEP"}},
    {instruction_kind::shared_memory,
     {"ds_", "ld.shared", "ld.volatile.shared", "st.shared", "st.volatile.shared", "atom.shared",
      "red.shared", "LDS", "STS", "ATOMS"}},
    {instruction_kind::global_load,
     {"global_load", "flat_load", "buffer_load", "ld.global", "ld.volatile.global", "ld.relaxed",
      "ld.acquire", "LDG", "LD.", "LDGSTS", "cp.async", "UBLKCP"}},
    {instruction_kind::global_store,
     {"global_store", "global_atomic", "flat_store", "flat_atomic", "buffer_store", "st.global",
      "atom", "red.", "STG", "ST.", "ATOMG", "ATOM.", "RED"}},
    {instruction_kind::scratch, {"scratch_", "ld.local", "st.local", "LDL", "STL"}},
    {instruction_kind::branch,
     {"s_endpgm", "s_setpc", "s_swappc", "ret", "exit", "call", "EXIT", "RET", "CALL", "BSSY",
      "BSYNC", "BREAK", "BRX", "trap"}},
    {instruction_kind::scalar, {"s_", "U", "R2UR", "S2UR"}}};

}  // namespace

std::string_view name_of(instruction_kind kind) {
  static constexpr std::string_view names[instruction_kinds] = {
      "global loads", "global stores", "shared memory", "shuffles", "scratch memory",
      "barriers",     "waits",         "branches",      "scalar",   "arithmetic"};
  return names[static_cast<int>(kind)];
}

instruction_kind kind_of(std::string_view instruction) {
  const std::string_view opcode = opcode_of(instruction);
  if (opcode.starts_with("s_barrier") || is_barrier(opcode)) return instruction_kind::barrier;
  if (is_branch(opcode)) return instruction_kind::branch;
  // The lanes exchange registers as they compute.
  if (instruction.find("_dpp") != instruction.npos || instruction.find(" row_") != instruction.npos)
    return instruction_kind::shuffle;
  for (const kind_prefixes& each : by_prefix)
    if (begins_with_one_of(opcode, each.list)) return each.kind;
  return instruction_kind::arithmetic;
}

}  // namespace tenfold::isa
