#include "host/reduce/kernel_sources.hpp"

#include "host/reduce/unlisted_stages.hpp"
#include "host/text/process.hpp"

namespace tenfold {
namespace {

/// The catalogue numbers its stages without a gap.
const embedded_file& listed_source(const stage_info& stage) {
  return kernel_sources()[static_cast<std::size_t>(stage.number) - 1];
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
