#include "host/text/kernel_sources.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "host/error.hpp"
#include "host/reduce/unlisted_stages.hpp"

namespace tenfold {
namespace {

/// The catalogue numbers its stages without a gap.
const kernel_source& listed_source(const stage_info& stage) {
  return kernel_sources()[static_cast<std::size_t>(stage.number) - 1];
}

std::string read_text(std::string_view file) {
  std::ifstream in{std::string(file), std::ios::binary};
  if (!in) throw input_error(fmt::format("cannot read {}", file));
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

std::string_view file_of(const stage_info& stage) {
  const unlisted_stage* unlisted = find_unlisted(stage);
  return unlisted != nullptr ? unlisted->file : listed_source(stage).file;
}

std::string text_of(const stage_info& stage) {
  if (const unlisted_stage* unlisted = find_unlisted(stage)) return read_text(unlisted->file);
  return std::string(listed_source(stage).text);
}

}  // namespace tenfold
