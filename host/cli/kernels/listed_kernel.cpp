#include "host/cli/kernels/listed_kernel.hpp"

#include <algorithm>
#include <iterator>
#include <system_error>

#include "host/text/kernel_sources.hpp"

namespace tenfold::cli {
namespace {

constexpr std::string_view pitfall_files[] = {TENFOLD_PITFALL_FILES};

}  // namespace

std::string listed_kernel(const std::filesystem::path& file) {
  const auto is_that_file = [&](std::string_view from_root) {
    std::error_code failure;
    return std::filesystem::equivalent(
        file, std::filesystem::path(TENFOLD_SOURCE_FOLDER) / from_root, failure);
  };
  const bool is_listed =
      std::any_of(kernel_sources().begin(), kernel_sources().end(),
                  [&](const kernel_source& each) { return is_that_file(each.file); }) ||
      std::any_of(std::begin(pitfall_files), std::end(pitfall_files), is_that_file);
  return is_listed ? file.stem().string() : std::string();
}

bool is_pitfall(std::string_view name) {
  return std::any_of(
      std::begin(pitfall_files), std::end(pitfall_files),
      [&](std::string_view file) { return std::filesystem::path(file).stem() == name; });
}

std::string pitfall_of(std::string_view kernel) {
  if (is_pitfall(kernel)) return std::string(kernel);
  constexpr std::string_view mended = "_mended";
  if (!kernel.ends_with(mended)) return {};
  kernel.remove_suffix(mended.size());
  return is_pitfall(kernel) ? std::string(kernel) : std::string();
}

}  // namespace tenfold::cli
