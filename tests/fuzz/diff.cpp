// Two kernels' source, with a zero byte between them: the edits must lead from one to the other.
#include "host/text/source_diff.hpp"
#include "tests/fuzz/fuzz.hpp"

void tenfold::fuzz(std::string_view bytes) {
  const std::size_t end = std::min(bytes.find('\0'), bytes.size());
  const auto a = code_lines(bytes.substr(0, end));
  const auto b = code_lines(bytes.substr(std::min(end + 1, bytes.size())));
  std::vector<std::string> from, to;
  for (const diff_line& line : diff(a, b)) {
    if (line.kind != edit::add) from.push_back(line.text);
    if (line.kind != edit::remove) to.push_back(line.text);
  }
  if (from != a || to != b) __builtin_trap();
}
