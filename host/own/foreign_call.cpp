#include "host/own/foreign_call.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <span>

#include "host/error.hpp"
#include "host/text/cpp_text.hpp"
#include "host/text/process.hpp"
#include "host/text/split.hpp"

namespace tenfold {
namespace fs = std::filesystem;
namespace {

using tokens = std::vector<cpp_token>;

constexpr std::string_view example_call =
    "'reduce<float><<<blocks, threads, threads * sizeof(float)>>>(in, out, n)'";

/// The one below is what all of them end in.
[[noreturn]] void refuse_call(std::string_view text, std::string_view why) {
  throw input_error(
      fmt::format("'{}' is no call of a kernel: {}; write it like {}", text, why, example_call));
}

/// `dim3(a, 1, 1)` is a.
std::string one_extent(std::string_view text, std::string_view whole) {
  const std::string_view inner = trimmed(text);
  if (!inner.starts_with("dim3") || !inner.ends_with(")")) return std::string(inner);
  const std::size_t open = inner.find('(');
  if (open == inner.npos) refuse_call(whole, "dim3 has no extents");
  const std::vector<std::string> extents =
      split_at_commas(inner.substr(open + 1, inner.size() - open - 2), true);
  if (extents.empty() || std::any_of(extents.begin() + 1, extents.end(),
                                     [](const std::string& each) { return each != "1"; }))
    refuse_call(whole, "blocks and grids have one extent, and others of 1");
  return extents.front();
}

/// Where the template arguments begin that a name ends with; where it ends, if it has none.
std::size_t last_template_arguments(std::string_view name) {
  return name.ends_with('>') ? begin_of_last_pair(name, '<', '>') : name.size();
}

std::string list_kernels(const foreign_file& file) {
  std::vector<std::string> names;
  for (const device_function* each : file.kernels()) {
    const std::string name = each->scope + each->name;
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::optional<int> number_of(const foreign_file& file, std::string_view word) {
  const auto known = file.constants.find(std::string(word));
  return number_at(known == file.constants.end() ? word : known->second);
}

/// A number of threads that the kernel's arrays are made for; 0 where none says.
unsigned block_by_text(const foreign_file& file, const device_function& kernel) {
  const tokens all = read_cpp(kernel.body);
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    if (!all[i].is("__shared__")) continue;
    for (std::size_t k = i; k + 1 < all.size() && !all[k].is(";"); ++k)
      if (all[k].is("["))
        if (const auto size = number_of(file, all[k + 1].text); size && all[k + 2].is("]"))
          if (*size >= 64 && *size <= 1024 && (*size & (*size - 1)) == 0) return *size;
  }
  return 0;
}

constexpr std::string_view result_names[] = {"out",   "result", "sum", "dst",    "odata",
                                             "total", "res",    "ans", "partial"};
constexpr std::string_view scratch_names[] = {"scratch", "part", "temp", "tmp", "workspace"};
constexpr std::string_view counter_names[] = {"count", "ticket", "done", "finished", "retire"};

/// What a parameter is, by what people call it.
bool sounds_like(std::string name, std::span<const std::string_view> words) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::ranges::any_of(words,
                             [&](std::string_view each) { return name.find(each) != name.npos; });
}

bool sounds_like_result(const std::string& name) {
  return sounds_like(name, result_names) || name == "y" || name == "o";
}

}  // namespace

bool launch_call::uses(std::string_view word) const {
  return mentions(kernel, word) || mentions(template_arguments, word) ||
         std::ranges::any_of(arguments,
                             [&](const std::string& each) { return mentions(each, word); });
}

launch_call parse_call(std::string_view text) {
  const std::string_view whole = trimmed(text);
  std::string_view rest = whole;
  launch_call call;
  if (constexpr std::string_view option = "--op "; rest.starts_with(option)) {
    rest = trimmed(rest.substr(option.size()));
    const std::size_t end = std::min(rest.find(' '), rest.size());
    call.op = rest.substr(0, end);
    rest = trimmed(rest.substr(end));
  }
  if (rest.empty() && !call.op.empty()) return call;  // the rest is to be guessed
  while (rest.starts_with("*")) {
    const std::size_t end = rest.find(';');
    std::string first(rest.substr(0, end));
    std::erase(first, ' ');
    bool& clears = first.starts_with("*counter") ? call.clears_counter : call.clears_result;
    if (end == rest.npos ||
        (first != "*out=0" && first != "*out=identity" && first != "*counter=0"))
      refuse_call(whole, "before the kernel only '*out = 0;' and '*counter = 0;' may come");
    clears = true;
    rest = trimmed(rest.substr(end + 1));
  }
  if (rest.ends_with(";")) rest = trimmed(rest.substr(0, rest.size() - 1));
  const std::size_t open = rest.find("<<<"), close = rest.find(">>>", open);
  if (open == rest.npos || close == rest.npos) refuse_call(whole, "it has no <<<grid, block>>>");
  const std::string_view name = trimmed(rest.substr(0, open));
  const std::size_t angle = last_template_arguments(name);
  call.kernel = trimmed(name.substr(0, angle));
  call.template_arguments = name.substr(angle);
  if (const std::string plain = without_template_arguments(call.kernel);
      plain.empty() || plain.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNO"
                                               "PQRSTUVWXYZ0123456789_:") != std::string::npos)
    refuse_call(whole, "it begins with the kernel's name");
  const std::vector<std::string> launch =
      split_at_commas(rest.substr(open + 3, close - open - 3), false);
  if (launch.size() < 2 || launch.size() > 4 || launch[0].empty() || launch[1].empty())
    refuse_call(whole, "between <<< and >>> are the grid, the block and, if any, the shared bytes");
  call.grid = one_extent(launch[0], whole);
  call.block = one_extent(launch[1], whole);
  if (call.grid != "blocks" && mentions(call.grid, "blocks"))
    refuse_call(whole, "a grid is 'blocks', or says how many by n and threads");
  if (call.block != "threads" && mentions(call.block, "threads"))
    refuse_call(whole, "a block is 'threads', or a constant");
  if (launch.size() > 2 && launch[2] != "0") call.shared_bytes = launch[2];
  const std::string_view arguments = trimmed(rest.substr(close + 3));
  if (!arguments.starts_with("(") || !arguments.ends_with(")"))
    refuse_call(whole, "the arguments in parentheses come last");
  call.arguments = split_at_commas(arguments.substr(1, arguments.size() - 2), true);
  const std::string all = fmt::format("{}", fmt::join(call.arguments, ","));
  for (const char* each : {"in", "out"})
    if (!mentions(all, each)) refuse_call(whole, fmt::format("no argument is '{}'", each));
  return call;
}

std::vector<std::string> calls_beside(const fs::path& file) {
  std::vector<std::string> calls;
  std::error_code failure;
  const auto add_lines = [&](std::string_view text, std::string_view before, std::size_t most) {
    const std::vector<std::string_view> lines = split(text, '\n');
    for (std::size_t i = 0; i < std::min(most, lines.size()); ++i) {
      const std::string_view line = trimmed(lines[i]);
      if (line.starts_with(before) && !trimmed(line.substr(before.size())).empty() &&
          !(before.empty() && line.starts_with("//")))
        calls.emplace_back(trimmed(line.substr(before.size())));
    }
  };
  if (const fs::path beside = fs::path(file).replace_extension(".call");
      fs::is_regular_file(beside, failure))
    add_lines(read_text(beside), "", static_cast<std::size_t>(-1));
  else
    add_lines(read_text(file), "// call:", 5);
  return calls;
}

unsigned elements_by_text(const foreign_file& file, std::string_view text) {
  const tokens all = read_cpp(text);
  const auto is_number = [](const cpp_token& each) { return each.kind == cpp_token_kind::number; };
  for (std::size_t i = 0; i + 3 < all.size(); ++i) {
    if (!all[i].is("blockIdx") || !all[i + 1].is(".") || !all[i + 2].is("x")) continue;
    for (std::size_t k = i + 3; k < all.size(); ++k) {
      const bool goes_on = all[k].is("*") || all[k].is("(") || all[k].is(".") || all[k].is_word() ||
                           is_number(all[k]);
      if (!goes_on) break;
      if (!is_number(all[k])) continue;
      if (const auto factor = number_of(file, all[k].text); factor && *factor >= 2 && *factor <= 64)
        return *factor;
    }
  }
  return 1;
}

bool is_single_pass(std::string_view text) {
  const bool counts = mentions(text, "atomicInc") || mentions(text, "atomicAdd") ||
                      mentions(text, "atomic_ref") || mentions(text, "fetch_add");
  return (mentions(text, "__threadfence") && counts) || mentions(text, "this_grid");
}

bool adds_atomically(const device_function& kernel, std::string_view parameter) {
  const tokens all = read_cpp(kernel.body);
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    if (!all[i].text.starts_with("atomicAdd") || !all[i + 1].is("(")) continue;
    for (std::size_t k = i + 2; k < all.size() && !all[k].is(","); ++k)
      if (all[k].is(parameter)) return true;
  }
  return false;
}

launch_call guess_call(const fs::path& path, const foreign_file& file,
                       std::vector<std::string>& assumptions) {
  const std::string ask = fmt::format("say how it is launched: --call {}", example_call);
  const auto kernels = file.kernels();
  if (kernels.size() != 1)
    throw input_error(fmt::format("'{}' has {} kernels, {}: {}", path.string(), kernels.size(),
                                  list_kernels(file), ask));
  const device_function& kernel = *kernels.front();
  launch_call call;
  call.kernel = kernel.scope + kernel.name;
  call.grid = "blocks";
  const bool has_more = std::ranges::count(kernel.parameters, true, &parameter::is_pointer) > 2;
  std::vector<std::size_t> pointers;
  std::size_t counts = 0;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const parameter& p = kernel.parameters[i];
    call.arguments.emplace_back("n");
    if (!p.is_pointer)
      ++counts;
    else if (has_more && p.is_integer && !p.is_const && sounds_like(p.name, counter_names))
      call.arguments.back() = "counter";
    else if (has_more && !p.is_const && sounds_like(p.name, scratch_names))
      call.arguments.back() = "scratch";
    else
      pointers.push_back(i);
  }
  if (pointers.size() != 2 || counts != 1)
    throw input_error(
        fmt::format("'{}' has a kernel, {}, whose {} parameters do not tell what they are: {}",
                    path.string(), kernel.name, kernel.parameters.size(), ask));
  const parameter &first = kernel.parameters[pointers[0]], &second = kernel.parameters[pointers[1]];
  const bool is_turned = first.is_const != second.is_const
                             ? second.is_const
                             : sounds_like_result(first.name) && !sounds_like_result(second.name);
  call.arguments[pointers[0]] = is_turned ? "out" : "in";
  call.arguments[pointers[1]] = is_turned ? "in" : "out";
  const unsigned block = block_by_text(file, kernel);
  call.block = fmt::format("{}", block == 0 ? 256 : block);
  if (file.has_dynamic_shared) call.shared_bytes = "threads * sizeof(T)";
  assumptions.push_back(fmt::format("--call '{}<<<{}, {}{}{}>>>({})'", call.kernel, call.grid,
                                    call.block, call.shared_bytes.empty() ? "" : ", ",
                                    call.shared_bytes, fmt::join(call.arguments, ", ")));
  return call;
}

std::string without_template_arguments(std::string_view name) {
  std::string plain;
  std::size_t depth = 0;
  for (const char each : name) {
    if (each == '<') ++depth;
    if (depth == 0) plain += each;
    if (each == '>' && depth != 0) --depth;
  }
  return plain;
}

const device_function& find_called(const fs::path& path, const foreign_file& file,
                                   const launch_call& call) {
  const device_function* found = nullptr;
  const std::string name = "::" + without_template_arguments(call.kernel);
  for (const device_function* each : file.kernels()) {
    const bool is_it = ("::" + each->scope + each->name).ends_with(name) ||
                       name == "::::" + each->scope + each->name;
    // Of overloads, the one that takes as many.
    if (is_it && (found == nullptr || each->parameters.size() == call.arguments.size()))
      found = each;
  }
  if (found == nullptr)
    throw input_error(fmt::format("there is no kernel '{}' in '{}': it has {}", call.kernel,
                                  path.string(), list_kernels(file)));
  if (found->parameters.size() < call.arguments.size())
    throw input_error(fmt::format("'{}' of '{}' has {} parameters, and the call {} arguments",
                                  call.kernel, path.string(), found->parameters.size(),
                                  call.arguments.size()));
  return *found;
}

}  // namespace tenfold
