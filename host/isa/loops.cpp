// Loops, by the paths that a thread can take: compilers put blocks apart and branch back to where
// they belong, so that the order of the lines tells nothing.
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "host/isa/isa.hpp"
#include "host/isa/readers.hpp"
#include "host/text/split.hpp"

namespace tenfold::isa {
namespace {

bool is_guarded(std::string_view instruction) {
  return instruction.starts_with('@');
}

/// Whether what stands behind an instruction may come next.
bool goes_on(std::string_view instruction) {
  const std::string_view opcode = opcode_of(instruction);
  if (is_guarded(instruction) || opcode.starts_with("s_cbranch_")) return true;
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
