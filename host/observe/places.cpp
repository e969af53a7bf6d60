#include "host/observe/places.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <utility>

#include "host/error.hpp"
#include "host/observe/recorder.hpp"
#include "host/text/process.hpp"
#include "host/text/split.hpp"

namespace tenfold::observe {
namespace {

/// `kernels/01_naive.hpp:33 (discriminator 2)`; nothing where the place is not known.
std::optional<source_place> parse_line(std::string_view text) {
  const std::size_t colon = text.find_last_of(':', text.find(" (discriminator"));
  if (colon == text.npos) return std::nullopt;
  const int line = number_at(text.substr(colon + 1)).value_or(0);
  if (line == 0) return std::nullopt;
  return source_place{source_file(text.substr(0, colon)), line};
}

/// The library of kernels, or the program, that has an address, and where it was loaded.
std::pair<std::string, std::uintptr_t> object_at(std::uintptr_t address) {
  Dl_info found{};
  if (dladdr(reinterpret_cast<const void*>(address), &found) == 0)
    return {fmt::format("/proc/{}/exe", getpid()), 0};
  return {found.dli_fname, reinterpret_cast<std::uintptr_t>(found.dli_fbase)};
}

}  // namespace

std::string name_from_root(std::string_view path) {
  constexpr std::string_view root = TENFOLD_SOURCE_FOLDER "/";
  return std::string(path.starts_with(root) ? path.substr(root.size()) : path);
}

std::string source_file(std::string_view compilers_name) {
  namespace fs = std::filesystem;
  return name_from_root(
      (fs::path(TENFOLD_BUILD_FOLDER) / compilers_name).lexically_normal().string());
}

void place_finder::look_up(std::span<const code_address> code) {
  std::map<std::pair<std::string, std::uintptr_t>, std::vector<std::uintptr_t>> unknown;
  for (const code_address each : code) {
    const auto [found, is_new] = known_.try_emplace(each);
    if (!is_new || each == 0) continue;
    if (each < most_sites) {
      const simt::source_place meeting = site_at(each).where;
      found->second.push_back({source_file(meeting.file), meeting.line});
    } else {
      const std::uintptr_t address = code_begin + each;
      const auto object = object_at(address);
      unknown[object].push_back(address - object.second);
    }
  }
  for (const auto& [object, offsets] : unknown) look_up(object.first, object.second, offsets);
}

void place_finder::look_up(const std::string& object, std::uintptr_t base,
                           std::span<const std::uintptr_t> offsets) {
  const std::string addr2line = find_program("addr2line");
  if (addr2line.empty())
    throw input_error(
        "there is no addr2line, which finds the source lines of machine code: install binutils");
  const temporary_folder folder;
  const auto list = folder.path() / "addresses";
  write_text(list, fmt::format("{:#x}\n", fmt::join(offsets, "\n")));
  const process_result result =
      run_process({addr2line, fmt::format("--exe={}", object), "--inlines", "--addresses",
                   fmt::format("@{}", list.string())},
                  folder);
  std::vector<source_place>* lines = nullptr;
  for (const std::string_view text : lines_of(result.out)) {
    if (text.starts_with("0x"))
      lines = &known_[static_cast<code_address>(base + std::stoull(std::string(text), nullptr, 16) -
                                                code_begin)];
    else if (const auto line = parse_line(text); line && lines != nullptr)
      lines->push_back(*line);
  }
}

source_place place_finder::line_in(code_address code, std::string_view file) const {
  const std::vector<source_place>& lines = known_.at(code);
  for (const source_place& each : lines)
    if (each.file.ends_with(file)) return each;
  return lines.empty() ? source_place{} : lines.front();
}

}  // namespace tenfold::observe
