// Loops in machine code, as the flow of control has them. A branch backwards alone is none:
// compilers put what is seldom run behind the rest, and it goes back from there.
#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "host/isa/isa.hpp"
#include "host/isa/readers.hpp"
#include "host/isa/text.hpp"

namespace tenfold::isa {
namespace {

using positions = std::vector<std::size_t>;

bool is_end(std::string_view opcode) {
  return opcode == "s_endpgm" || opcode == "ret" || opcode == "exit" || opcode == "EXIT";
}

/// Whether control may also go on with the next line.
bool is_conditional(const code_line& line) {
  return line.text.starts_with('@') || opcode_of(line.text).starts_with("s_cbranch_");
}

/// The label that a branch names last: `BRA.U UP0, `(.L_x_1)` names a predicate before.
std::string_view target_of(std::string_view branch) {
  return split(branch, " \t,`()").back();
}

/// For each line, the lines that may come next.
std::vector<positions> flow_of(const std::vector<code_line>& code) {
  std::map<std::string_view, std::size_t> labels;
  for (std::size_t at = 0; at < code.size(); ++at)
    if (code[at].is_label) labels.emplace(code[at].text, at);
  std::vector<positions> next(code.size());
  for (std::size_t at = 0; at < code.size(); ++at) {
    const std::string_view opcode = code[at].is_label ? "" : opcode_of(code[at].text);
    const bool leaves = is_branch(opcode) || is_end(opcode);
    if (at + 1 < code.size() && (!leaves || is_conditional(code[at]))) next[at].push_back(at + 1);
    if (!is_branch(opcode)) continue;
    const auto target = labels.find(target_of(code[at].text));
    if (target != labels.end()) next[at].push_back(target->second);
  }
  return next;
}

/// The lines that control can reach from the first one without passing a line.
std::vector<bool> reached_around(const std::vector<positions>& next, std::size_t avoided) {
  std::vector<bool> reached(next.size());
  positions open;
  const auto visit = [&](std::size_t at) {
    if (at == avoided || reached[at]) return;
    reached[at] = true;
    open.push_back(at);
  };
  visit(0);
  while (!open.empty()) {
    const std::size_t at = open.back();
    open.pop_back();
    for (const std::size_t each : next[at]) visit(each);
  }
  return reached;
}

}  // namespace

int count_loops(const kernel_code& kernel) {
  if (kernel.code.empty()) return 0;
  const std::vector<positions> next = flow_of(kernel.code);
  const std::vector<bool> alive = reached_around(next, next.size());
  const auto is_head = [&](std::size_t label) {
    const std::vector<bool> around = reached_around(next, label);
    for (std::size_t at = 0; at < next.size(); ++at)
      if (alive[at] && !around[at] && std::count(next[at].begin(), next[at].end(), label) != 0)
        return true;
    return false;
  };
  int loops = 0;
  for (std::size_t at = 0; at < kernel.code.size(); ++at)
    if (kernel.code[at].is_label && alive[at] && is_head(at)) ++loops;
  return loops;
}

}  // namespace tenfold::isa
