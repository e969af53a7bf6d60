#include "host/cli/page/page.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "host/text/process.hpp"
#include "host/text/split.hpp"

namespace tenfold::cli {
namespace {

using json = nlohmann::ordered_json;

std::string escaped(std::string_view text) {
  return replace_all(replace_all(std::string(text), "&", "&amp;"), "<", "&lt;");
}

/// JSON in which no tag begins, so that a browser reads it to its end. What a user names need not
/// be UTF-8.
std::string script_text(const json& data) {
  return replace_all(data.dump(-1, ' ', false, json::error_handler_t::replace), "<", "\\u003c");
}

}  // namespace

void write_page(const std::string& file, std::string_view title, std::span<const embedded_file> own,
                const json& data) {
  const std::span<const embedded_file> common = page_files();  // page.html and page.js
  std::string_view left = common[0].text;
  std::string page;
  for (const auto& [mark, text] :
       {std::pair<std::string_view, std::string>{"@title@", escaped(title)},
        {"@style@", std::string(own[0].text)},
        {"@data@", script_text(data)},
        {"@script@", std::string(common[1].text) + std::string(own[1].text)}}) {
    const std::size_t at = left.find(mark);
    page += left.substr(0, at);
    page += text;
    left.remove_prefix(at + mark.size());
  }
  write_text(file, page += left);
}

}  // namespace tenfold::cli
