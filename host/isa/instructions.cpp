// What instructions are, and how many of them there are.
#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "host/isa/isa.hpp"
#include "host/text/split.hpp"

namespace tenfold::isa {
namespace {

template <typename Predicate>
int count_code(const kernel_code& kernel, Predicate&& counts) {
  return static_cast<int>(std::ranges::count_if(
      kernel.code, [&](const code_line& line) { return !line.is_label && counts(line.text); }));
}

/// What names, or beginnings of names, stand for.
template <typename Meaning>
struct named {
  Meaning meaning;
  std::initializer_list<std::string_view> names;
};

bool begins_with_one_of(std::string_view text, std::initializer_list<std::string_view> prefixes) {
  return std::ranges::any_of(prefixes, [&](auto each) { return text.starts_with(each); });
}

/// 0 where none of the parts is in the table.
int find_number(std::span<const named<int>> table, const std::vector<std::string_view>& parts) {
  for (const auto& [number, names] : table)
    if (std::ranges::find_first_of(names, parts) != names.end()) return number;
  return 0;
}

const named<int> amd_sizes[] = {{16, {"dwordx4", "b128"}},
                                {12, {"dwordx3", "b96"}},
                                {8, {"dwordx2", "b64"}},
                                {4, {"dword", "b32"}},
                                {2, {"ushort", "sshort", "short", "b16", "u16", "i16"}},
                                {1, {"ubyte", "sbyte", "u8", "i8"}}};
const named<int> ptx_vectors[] = {{8, {"v8"}}, {4, {"v4"}}, {2, {"v2"}}};
const named<int> sass_sizes[] = {
    {32, {"256"}}, {16, {"128"}}, {8, {"64"}}, {2, {"U16", "S16"}}, {1, {"U8", "S8"}}};

/// Of `global_load_dwordx4`, or `flat_load_b128` as it is called from gfx11 on; 0: no such load.
int amd_load_bytes(std::string_view opcode) {
  if (!opcode.starts_with("global_load_") && !opcode.starts_with("flat_load_")) return 0;
  return find_number(amd_sizes, words_of(opcode, "_"));
}

/// Of `ld.global.nc.v4.f32`. What names no memory may be global memory.
int ptx_load_bytes(std::string_view opcode) {
  const std::vector<std::string_view> parts = words_of(opcode, ".");
  if (parts.front() != "ld" && parts.front() != "ldu") return 0;
  for (const std::string_view part : parts)
    for (const std::string_view other : {"param", "shared", "local", "const"})
      if (part.substr(0, part.find("::")) == other) return 0;
  const int bits = number_at(parts.back().substr(1)).value_or(0);
  return bits / 8 * std::max(find_number(ptx_vectors, parts), 1);
}

/// Of `LDG.E.128.CONSTANT`.
int sass_load_bytes(std::string_view opcode) {
  const std::vector<std::string_view> parts = words_of(opcode, ".");
  if (parts.front() != "LDG" && parts.front() != "LD") return 0;
  const int bytes = find_number(sass_sizes, parts);
  return bytes == 0 ? 4 : bytes;
}

int load_bytes(std::string_view opcode) {
  if (opcode.find_first_not_of('.') == opcode.npos) return 0;
  if (const int bytes = amd_load_bytes(opcode)) return bytes;
  if (const int bytes = ptx_load_bytes(opcode)) return bytes;
  return sass_load_bytes(opcode);
}

// The first that fits counts. AMD's names are in small letters with underscores, PTX has points,
// and SASS is in capitals, so that one list serves all three.
const named<instruction_kind> by_prefix[] = {
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

/// An instruction without the predicate before it.
std::string_view without_guard(std::string_view instruction) {
  if (!instruction.starts_with('@')) return instruction;
  return trimmed(
      instruction.substr(std::min(instruction.find_first_of(blanks), instruction.size())));
}

/// The first word of an instruction after the predicate that guards it, such as `@%p1` or `@!P0`.
std::string_view opcode_of(std::string_view instruction) {
  const std::string_view bare = without_guard(instruction);
  return bare.substr(0, bare.find_first_of(blanks));
}

bool is_branch(std::string_view opcode) {
  return opcode == "bra" || opcode == "BRA" ||
         begins_with_one_of(opcode, {"s_branch", "s_cbranch_", "bra.", "BRA."});
}

bool is_barrier(std::string_view opcode) {
  // From gfx12 on, s_barrier_signal says that a warp has come and s_barrier_wait waits for all.
  if (opcode == "s_barrier" || opcode == "s_barrier_wait") return true;
  return begins_with_one_of(
      opcode, {"bar.sync", "bar.red", "bar.cta.sync", "bar.cta.red", "barrier.sync", "barrier.red",
               "barrier.cta.sync", "barrier.cta.red", "BAR.SYNC", "BAR.RED"});
}

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
  for (const auto& [kind, prefixes] : by_prefix)
    if (begins_with_one_of(opcode, prefixes)) return kind;
  return instruction_kind::arithmetic;
}

int count_barriers(const kernel_code& kernel) {
  return count_code(kernel, [](std::string_view text) { return is_barrier(opcode_of(text)); });
}

int count_global_loads(const kernel_code& kernel, int bytes) {
  return count_code(kernel,
                    [&](std::string_view text) { return load_bytes(opcode_of(text)) == bytes; });
}

int count_instructions(const kernel_code& kernel, std::string_view prefix) {
  return count_code(kernel,
                    [&](std::string_view text) { return without_guard(text).starts_with(prefix); });
}

int count_kind(const kernel_code& kernel, instruction_kind kind) {
  return count_code(kernel, [&](std::string_view text) { return kind_of(text) == kind; });
}

// ---- loops --------------------------------------------------------------------------------------
//
// By the paths that a thread can take: compilers put blocks apart and branch back to where they
// belong, so that the order of the lines tells nothing.

namespace {

/// Whether what stands behind an instruction may come next.
bool goes_on(std::string_view instruction) {
  const std::string_view opcode = opcode_of(instruction);
  if (instruction.starts_with('@') || opcode.starts_with("s_cbranch_")) return true;
  // BRA.DIV and BRA.U name a condition before the label.
  if (is_branch(opcode)) return instruction.find(',') != instruction.npos;
  for (const std::string_view end : {"s_endpgm", "s_setpc", "ret", "exit", "trap", "EXIT", "RET"})
    if (opcode.substr(0, opcode.find('.')).starts_with(end)) return false;
  return true;
}

/// The label that a branch names last: `BRA.U UP0, `(.L_x_1)` names a predicate before.
std::string_view target_of(std::string_view branch) {
  const std::vector<std::string_view> parts = words_of(branch, " \t,`()");
  return parts.empty() ? std::string_view() : parts.back();
}

class loop_counter {
 public:
  explicit loop_counter(const std::vector<code_line>& code) : states_(code.size(), state::unseen) {
    std::map<std::string_view, std::size_t> labels;
    for (std::size_t i = 0; i < code.size(); ++i)
      if (code[i].is_label) labels[code[i].text] = i;
    for (std::size_t i = 0; i < code.size(); ++i) {
      std::vector<std::size_t>& next = successors_.emplace_back();
      const std::string_view text = code[i].text;
      if (i + 1 < code.size() && (code[i].is_label || goes_on(text))) next.push_back(i + 1);
      if (code[i].is_label || !is_branch(opcode_of(text))) continue;
      if (const auto target = labels.find(target_of(text)); target != labels.end())
        next.push_back(target->second);
    }
  }

  /// A path that comes back to a line that it came through closes a loop, which is known by that
  /// line.
  int count() {
    if (!states_.empty()) enter(0);
    while (!path_.empty()) {
      auto& [line, taken] = path_.back();
      if (taken == successors_[line].size()) {
        states_[line] = state::done;
        path_.pop_back();
      } else if (const std::size_t next = successors_[line][taken++];
                 states_[next] == state::unseen) {
        enter(next);
      } else if (states_[next] == state::on_path) {
        heads_.insert(next);
      }
    }
    return static_cast<int>(heads_.size());
  }

 private:
  enum class state { unseen, on_path, done };

  void enter(std::size_t line) {
    states_[line] = state::on_path;
    path_.emplace_back(line, 0);
  }

  std::vector<state> states_;
  std::vector<std::vector<std::size_t>> successors_;
  std::vector<std::pair<std::size_t, std::size_t>> path_;  ///< lines, successors taken of each
  std::set<std::size_t> heads_;
};

}  // namespace

int count_loops(const kernel_code& kernel) {
  return loop_counter(kernel.code).count();
}

}  // namespace tenfold::isa
