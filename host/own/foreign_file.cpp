#include "host/own/foreign_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <ranges>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "host/error.hpp"
#include "host/text/cpp_text.hpp"
#include "host/text/process.hpp"
#include "host/text/split.hpp"

namespace tenfold {
namespace fs = std::filesystem;
namespace {

using tokens = std::vector<cpp_token>;
using some_tokens = std::span<const cpp_token>;

some_tokens part_of(const tokens& all, std::size_t begin, std::size_t end) {
  return some_tokens(all).subspan(begin, end - begin);
}

bool has(some_tokens part, std::string_view word) {
  return std::ranges::find(part, word, &cpp_token::text) != part.end();
}

std::string joined(some_tokens part) {
  return fmt::format("{}", fmt::join(part | std::views::transform(&cpp_token::text), " "));
}

/// A text whose places refer to what it was before the changes.
class edited_text {
 public:
  explicit edited_text(std::string_view text) : text_(text) {}

  void replace(std::size_t begin, std::size_t end, std::string by) {
    edits_.emplace(begin, edit{end, std::move(by)});
  }
  /// Nothing but the ends of its lines is left.
  void blank(std::size_t begin, std::size_t end) {
    std::string lines;
    for (const char each : text_.substr(begin, end - begin))
      if (each == '\n') lines += each;
    replace(begin, end, lines);
  }
  [[nodiscard]] std::string take() const {
    std::string result;
    std::size_t at = 0;
    for (const auto& [begin, change] : edits_) {
      if (begin < at) continue;  // within what has gone
      result += text_.substr(at, begin - at);
      result += change.by;
      at = change.end;
    }
    return result += text_.substr(at);
  }

 private:
  struct edit {
    std::size_t end;
    std::string by;
  };
  std::string_view text_;
  std::multimap<std::size_t, edit> edits_;
};

/// `extern __shared__ T name[];`, whose size the launch gives.
struct dynamic_array {
  std::string name, type, more_extents;

  [[nodiscard]] std::string definition() const {
    if (!more_extents.empty())
      return fmt::format(
          "{0} (*const {1}){2} = "
          "reinterpret_cast<{0} (*){2}>(::tenfold::gpu::dynamic_shared<{0}>());",
          type, name, more_extents);
    return fmt::format("{0}* const {1} = ::tenfold::gpu::dynamic_shared<{0}>();", type, name);
  }
};

/// What the compilers' headers mark functions and variables of devices with.
bool is_device_word(std::string_view word) {
  return word == "__global__" || word == "__device__" || word == "__constant__" ||
         word == "__shared__" || word == "__managed__";
}

/// The vendors' names for what only a host does.
bool is_host_word(std::string_view word) {
  const auto begins = [&](std::string_view prefix) {
    return word.starts_with(prefix) && word.size() > prefix.size() &&
           std::isupper(static_cast<unsigned char>(word[prefix.size()])) != 0;
  };
  return begins("cuda") || begins("hip") || word == "cub" || word == "hipcub" ||
         word == "rocprim" || word == "thrust" || word == "chrono" || word == "main";
}

class file_reader {
 public:
  file_reader(bool marks_lines, std::set<std::string> named)
      : marks_lines_(marks_lines), named_(std::move(named)) {}

  foreign_file read(const fs::path& file) {
    made_.text = convert(file);
    return std::move(made_);
  }

 private:
  static constexpr std::size_t most_bytes = std::size_t{4} << 20;

  /// A file and, in their places, those of its own folder that it includes.
  std::string convert(const fs::path& file) {
    known_files_.insert(fs::weakly_canonical(file));
    std::error_code failure;
    if (fs::file_size(file, failure) > most_bytes)
      throw input_error(fmt::format("'{}' is larger than 4 MiB: leave in it what the kernel takes",
                                    file.string()));
    const std::string text = read_text(file);
    const tokens all = read_cpp(text);
    edited_text changes(text);
    for (const cpp_token& each : all)
      if (each.kind == cpp_token_kind::directive) convert_directive(each, file, text, changes);
    scan(all, changes);
    std::string result = changes.take();
    return marks_lines_ ? fmt::format("#line 1 \"{}\"\n{}", file.string(), result) : result;
  }

  void convert_directive(const cpp_token& line, const fs::path& file, std::string_view text,
                         edited_text& changes) {
    const tokens words = read_cpp(line.text.substr(1));
    if (words.empty()) return;
    if (words[0].is("pragma") && words.size() > 1 && words[1].is("once"))
      changes.blank(line.begin, line.end());
    if (words[0].is("define")) convert_definition(line, words, changes);
    if (!words[0].is("include") || words.size() < 2) return;
    const auto after =
        2 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(line.end()), '\n');
    const auto go_on = [&](bool names_file) {
      if (!marks_lines_) return std::string();
      return names_file ? fmt::format("\n#line {} \"{}\"", after, file.string())
                        : fmt::format("\n#line {}", after);
    };
    std::string_view what = trimmed(line.text.substr(1 + words[1].begin));
    if (words[1].kind == cpp_token_kind::literal)
      what = words[1].text;
    else if (words[1].is("<"))
      what = what.substr(0, what.find('>') + 1);
    else
      return;  // a macro says which
    if (what.size() < 2) return;
    if (const fs::path included = find_header(file, what.substr(1, what.size() - 2));
        !included.empty()) {
      const bool is_new = !known_files_.contains(fs::weakly_canonical(included));
      changes.replace(line.begin, line.end(), is_new ? convert(included) + go_on(true) : "");
      return;
    }
    // Headers of the host's side need not be there.
    changes.replace(
        line.begin, line.end(),
        fmt::format("#if __has_include({0})\n#include {0}\n#endif{1}", what, go_on(false)));
  }

  /// A header that comes with the file: in its folder or in one above, as where a build has its own
  /// headers, up to three of them. Empty: there is none.
  static fs::path find_header(const fs::path& file, std::string_view name) {
    fs::path folder = file.parent_path();
    std::error_code failure;
    for (int level = 0; level <= 3; ++level, folder = folder.parent_path())
      for (const fs::path& each : {folder / name, folder / "include" / name})
        if (fs::is_regular_file(each, failure)) return each;
    return {};
  }

  /// Words that stand for those of devices, and constants.
  void convert_definition(const cpp_token& line, const tokens& words, edited_text& changes) {
    const std::size_t offset = line.begin + 1;
    for (const cpp_token& each : words) {
      if (each.is_word() && is_device_word(each.text) && words.size() > 1)
        device_macros_.insert(std::string(words[1].text));
      if (each.is("__global__")) {
        changes.replace(offset + each.begin, offset + each.end(), "__device__");
        kernel_macros_.insert(std::string(words[1].text));
      }
    }
    if (words.size() == 3 && words[2].kind == cpp_token_kind::number)
      made_.constants.emplace(words[1].text, words[2].text);
  }

  [[nodiscard]] bool marks_device(const cpp_token& each) const {
    return each.is_word() &&
           (is_device_word(each.text) || device_macros_.contains(std::string(each.text)));
  }
  [[nodiscard]] bool marks_kernel(const cpp_token& each) const {
    return each.is("__global__") || kernel_macros_.contains(std::string(each.text));
  }
  [[nodiscard]] bool has_kernel_mark(some_tokens part) const {
    return std::ranges::any_of(part, [&](const cpp_token& each) { return marks_kernel(each); });
  }

  /// A declaration at namespace scope, by its tokens.
  struct declaration {
    std::size_t begin = 0, end = 0;                   ///< with what ends it
    std::optional<std::size_t> parameters{}, body{};  ///< where their brackets open
    bool is_type = false;
    bool is_variable = false;
  };

  /// A namespace, or a class with kernels in it.
  struct scope {
    std::string name;  ///< `a::`
    bool is_class = false;
  };
  using scopes = std::vector<scope>;

  void scan(const tokens& all, edited_text& changes) {
    scopes around;
    std::vector<dynamic_array> arrays;
    std::size_t i = 0;
    while (i < all.size()) {
      if (all[i].kind == cpp_token_kind::directive || all[i].is(";")) {
        ++i;
      } else if (all[i].is("}")) {
        if (!around.empty()) around.pop_back();
        ++i;
      } else if (const std::size_t inner = enter_scope(all, i, around); inner != i) {
        i = inner;
      } else if (i + 1 < all.size() && all[i + 1].is(":") && is_access(all[i])) {
        changes.replace(all[i].begin, all[i].end(), "public");
        i += 2;
      } else {
        const declaration found = next_declaration(all, i);
        if (const std::size_t members = enter_class(all, found, around); members != i) {
          i = members;
          continue;
        }
        take(all, found, around, arrays, changes);
        i = found.end;
      }
    }
  }

  static bool is_access(const cpp_token& each) {
    return each.is("private") || each.is("protected") || each.is("public");
  }

  /// A class that has kernels, of which the host's members go. @return where its inside begins;
  /// where the declaration does, for anything else
  std::size_t enter_class(const tokens& all, const declaration& found, scopes& around) const {
    if (!found.is_type || !found.body) return found.begin;
    if (!has_kernel_mark(part_of(all, *found.body, found.end))) return found.begin;
    std::string name;
    for (std::size_t i = found.begin; i < *found.body && !all[i].is(":"); ++i) {
      if (all[i].is("template") && all[i + 1].is("<"))
        i = after_angles(all, i + 1) - 1;
      else if (all[i].is_word() && !all[i].is("final"))
        name = all[i].text;
    }
    around.push_back({name + "::", true});
    return *found.body + 1;
  }

  /// `namespace a::b {` and `extern "C" {`. @return where their inside begins; i for anything else
  static std::size_t enter_scope(const tokens& all, std::size_t i, scopes& around) {
    std::size_t at = i;
    if (all[at].is("extern") && at + 2 < all.size() &&
        all[at + 1].kind == cpp_token_kind::literal && all[at + 2].is("{")) {
      around.emplace_back();
      return at + 3;
    }
    if (all[at].is("inline")) ++at;
    if (at >= all.size() || !all[at].is("namespace")) return i;
    std::string name;
    for (++at; at < all.size() && !all[at].is("{"); ++at) {
      if (all[at].is(";") || all[at].is("=")) return i;
      name += all[at].text;
    }
    around.push_back({name.empty() ? name : name + "::"});
    return std::min(at + 1, all.size());
  }

  static declaration next_declaration(const tokens& all, std::size_t begin) {
    declaration found{.begin = begin};
    std::size_t i = begin;
    bool is_set = false;
    while (i < all.size()) {
      const cpp_token& each = all[i];
      if (each.is("template") && i + 1 < all.size() && all[i + 1].is("<")) {
        i = after_angles(all, i + 1);
        continue;
      }
      const bool names_type =
          each.is("struct") || each.is("class") || each.is("union") || each.is("enum");
      if (names_type && !found.parameters) found.is_type = true;
      if (each.is("=")) is_set = found.is_variable = true;
      if (each.is(";")) break;
      if (each.is("}")) {
        found.end = i;  // of what is around it
        return found;
      }
      const bool is_colon = each.is(":") && !all[i - 1].is(":") && !all[i + 1].is(":");
      if (is_colon && found.parameters && !is_set) {
        i = after_initializers(all, i);
        continue;
      }
      if (each.is("(") || each.is("[")) {
        if (each.is("(") && !found.parameters && !is_set && opens_parameters(all, begin, i))
          found.parameters = i, found.is_type = false;
        i = closing_bracket(all, i);
      }
      if (i < all.size() && all[i].is("{")) {
        const std::size_t close = closing_bracket(all, i);
        if (found.parameters && !is_set) {
          found.body = i;
          found.end = std::min(close + 1, all.size());
          return found;
        }
        if (found.is_type && !found.body) found.body = i;
        found.is_variable |= !found.is_type;
        i = close;
      }
      ++i;
    }
    found.end = std::min(i + 1, all.size());
    return found;
  }

  /// Behind `: a(1), b{2}` of a constructor, where its body opens.
  static std::size_t after_initializers(const tokens& all, std::size_t colon) {
    for (std::size_t i = colon; i < all.size();) {
      while (i < all.size() && !all[i].is("(") && !all[i].is("{") && !all[i].is(";")) ++i;
      if (i == all.size() || all[i].is(";")) return i;
      i = closing_bracket(all, i) + 1;
      if (i >= all.size() || !all[i].is(",")) return i;
    }
    return all.size();
  }

  static std::size_t after_angles(const tokens& all, std::size_t open) {
    std::size_t depth = 0, i = open;
    for (; i < all.size(); ++i) {
      if (all[i].is("(") || all[i].is("[") || all[i].is("{")) i = closing_bracket(all, i);
      if (i < all.size() && all[i].is("<")) ++depth;
      if (i < all.size() && all[i].is(">") && --depth == 0) return i + 1;
    }
    return all.size();
  }

  /// The name before a bracket, as in `f(` and `f<int>(`; the number of tokens where there is none.
  static std::size_t name_before(const tokens& all, std::size_t open) {
    if (open == 0) return all.size();
    std::size_t i = open - 1;
    if (all[i].is(">")) {
      for (std::size_t depth = 0; i != 0; --i) {
        if (all[i].is(">")) ++depth;
        if (all[i].is("<") && --depth == 0) break;
      }
      if (i == 0 || all[i - 1].is("template")) return all.size();
      --i;
    }
    const bool is_name = all[i].is_word() || (i != 0 && all[i - 1].is("operator"));
    return is_name ? i : all.size();
  }

  static bool opens_parameters(const tokens& all, std::size_t begin, std::size_t open) {
    constexpr std::array<std::string_view, 9> others{
        "__launch_bounds__", "__attribute__", "__align__", "alignas",   "decltype",
        "noexcept",          "explicit",      "requires",  "__declspec"};
    const std::size_t name = open == begin ? all.size() : name_before(all, open);
    return name < all.size() && name >= begin &&
           std::ranges::find(others, all[name].text) == others.end();
  }

  /// Leaves out what stands there, but for the conditions of the preprocessor, of which another
  /// part may stand elsewhere.
  static void blank(const tokens& all, const declaration& found, edited_text& changes) {
    std::size_t begin = all[found.begin].begin;
    for (std::size_t i = found.begin; i < found.end; ++i) {
      if (all[i].kind != cpp_token_kind::directive) continue;
      const std::string_view what = trimmed(all[i].text.substr(1));
      if (!what.starts_with("if") && !what.starts_with("el") && !what.starts_with("endif"))
        continue;
      changes.blank(begin, all[i].begin);
      begin = all[i].end();
    }
    changes.blank(begin, all[found.end - 1].end());
  }

  void take(const tokens& all, const declaration& found, const scopes& around,
            std::vector<dynamic_array>& arrays, edited_text& changes) {
    if (found.end <= found.begin) return;
    const some_tokens whole = part_of(all, found.begin, found.end),
                      head = part_of(all, found.begin, found.body.value_or(found.end));
    const cpp_token& first = whole.front();
    const bool is_device = std::ranges::any_of(
        found.is_type ? whole : head, [&](const cpp_token& each) { return marks_device(each); });
    const bool is_instance = first.is("template") && whole.size() > 1 && !whole[1].is("<");
    const auto is_named_function = [&] {
      return named_.contains(std::string(all[name_before(all, *found.parameters)].text));
    };
    if (is_device) {
      if (!found.is_type && !found.body && has(whole, "extern") && has(whole, "__shared__"))
        return take_dynamic(all, found.begin, found.end, &arrays, changes);
      if (found.parameters) {
        take_function(all, found, around, arrays, changes);
        const bool is_other_kernel =
            has_kernel_mark(head) && !named_.empty() && !is_named_function();
        if (is_other_kernel || is_instance) return blank(all, found, changes);
      }
      return convert_words(all, found.begin, found.end, changes);
    }
    const bool is_alias = first.is("using") || first.is("typedef") || first.is("namespace") ||
                          first.is("static_assert");
    const bool is_of_host = std::ranges::any_of(
        whole, [](const cpp_token& each) { return each.is_word() && is_host_word(each.text); });
    const bool is_constant = has(head, "constexpr") || has(head, "consteval") ||
                             (!found.parameters && has(head, "const")) || has(head, "concept");
    const bool is_in_class = !around.empty() && around.back().is_class;
    const bool is_named =
        found.parameters && !is_in_class && !launches(whole) && is_named_function();
    const bool is_member = is_in_class && !found.parameters;
    const bool is_kept =
        !is_instance && ((is_named || found.is_type || is_alias || is_constant || is_member) &&
                         !(is_of_host && !is_named));
    if (!is_kept) return blank(all, found, changes);
    if (!found.is_type && !found.parameters) note_constant(whole);
    convert_words(all, found.begin, found.end, changes);
  }

  /// Whether it has a `kernel<<<...>>>(...)`.
  static bool launches(some_tokens part) {
    return !std::ranges::search_n(part, 3, std::string_view("<"), {}, &cpp_token::text).empty();
  }

  /// `constexpr int block = 256;`
  void note_constant(some_tokens part) {
    if (part.size() < 4) return;
    const cpp_token &name = part.end()[-4], &sign = part.end()[-3], &value = part.end()[-2];
    if (sign.is("=") && value.kind == cpp_token_kind::number && name.is_word())
      made_.constants.emplace(name.text, value.text);
  }

  void take_function(const tokens& all, const declaration& found, const scopes& around,
                     const std::vector<dynamic_array>& arrays, edited_text& changes) {
    const std::size_t open = *found.parameters, close = closing_bracket(all, open);
    device_function made;
    made.name = all[name_before(all, open)].text;
    for (const scope& each : around) made.scope += each.name;
    made.is_kernel = has_kernel_mark(part_of(all, found.begin, open));
    const std::string list = joined(part_of(all, open + 1, close));
    for (const std::string& each : split_at_commas(list, true)) {
      const std::string declared = each.substr(0, each.find('='));
      parameter p{{}, false, mentions(declared, "const")};
      for (const cpp_token& word : read_cpp(declared)) {
        if (word.is("int") || word.is("unsigned")) p.is_integer = true;
        if (word.is_word()) p.name = word.text;
        if (word.is("*") || word.is("[")) p.is_pointer = true;
      }
      if (p.name != "void") made.parameters.push_back(std::move(p));
    }
    if (!found.body) return;  // it comes later
    made.body = joined(part_of(all, *found.body, found.end));
    std::string definitions;
    for (const dynamic_array& each : arrays)
      if (mentions(made.body, each.name) && !mentions(list, each.name))
        definitions += " " + each.definition();
    if (!definitions.empty())
      changes.replace(all[*found.body].end(), all[*found.body].end(), definitions);
    made_.functions.push_back(std::move(made));
  }

  /// What a wrapper calls is a function of the device; the wrapper alone is a kernel.
  void convert_words(const tokens& all, std::size_t begin, std::size_t end, edited_text& changes) {
    std::size_t statement = begin;
    for (std::size_t i = begin; i < end; ++i) {
      const cpp_token& each = all[i];
      if (each.is("__global__")) changes.replace(each.begin, each.end(), "__device__");
      if ((each.is("__launch_bounds__") || each.is("__cluster_dims__")) && i + 1 < end) {
        i = std::min(closing_bracket(all, i + 1), end - 1);
        changes.blank(each.begin, all[i].end());
      }
      if (each.is("HIP_DYNAMIC_SHARED") && i + 1 < end && all[i + 1].is("(")) {
        made_.has_dynamic_shared = true;
        const std::size_t close = std::min(closing_bracket(all, i + 1), end - 1);
        if (close > i + 3)
          changes.replace(each.begin, all[close].end(),
                          dynamic_array{std::string(all[close - 1].text),
                                        joined(part_of(all, i + 2, close - 2)), ""}
                              .definition());
        i = close;
      }
      if (each.is(";") || each.is("{") || each.is("}") || each.kind == cpp_token_kind::directive)
        statement = i + 1;
      if (!each.is("__shared__") && !each.is("extern")) continue;
      std::size_t stop = i;
      while (stop < end && !all[stop].is(";") && !all[stop].is("{") && !all[stop].is("}")) ++stop;
      if (stop == end || !all[stop].is(";")) continue;
      const some_tokens words = part_of(all, statement, stop);
      if (!has(words, "extern") || !has(words, "__shared__")) continue;
      take_dynamic(all, statement, stop + 1, nullptr, changes);
      i = stop;
      statement = stop + 1;
    }
  }

  /// @param arrays takes it where it is of no function; null: it is defined in its place
  void take_dynamic(const tokens& all, std::size_t begin, std::size_t end,
                    std::vector<dynamic_array>* arrays, edited_text& changes) {
    dynamic_array made;
    std::size_t extents = begin;
    while (extents < end && !all[extents].is("[")) ++extents;
    if (extents == end || extents == begin) return;
    if (extents + 1 < end && !all[extents + 1].is("]")) {  // nvcc takes it for one of a known size
      for (std::size_t i = begin; i < extents; ++i)
        if (all[i].is("extern")) changes.blank(all[i].begin, all[i].end());
      return;
    }
    made_.has_dynamic_shared = true;
    made.name = all[extents - 1].text;
    for (std::size_t i = begin; i + 1 < extents; ++i) {
      const bool is_aligned =
          all[i].is("__align__") || all[i].is("alignas") || all[i].is("__attribute__");
      if (is_aligned && i + 1 < extents)
        i = closing_bracket(all, i + 1);
      else if (!all[i].is("extern") && !all[i].is("__shared__") && !all[i].is("static"))
        made.type += fmt::format("{}{}", made.type.empty() ? "" : " ", all[i].text);
    }
    made.more_extents =
        joined(part_of(all, std::min(closing_bracket(all, extents) + 1, end - 1), end - 1));
    changes.blank(all[begin].begin, all[end - 1].end());
    if (arrays != nullptr)
      arrays->push_back(std::move(made));
    else
      changes.replace(all[end - 1].end(), all[end - 1].end(), made.definition());
  }

  bool marks_lines_;
  std::set<std::string> named_, device_macros_, kernel_macros_;
  std::set<fs::path> known_files_;
  foreign_file made_;
};

}  // namespace

std::vector<const device_function*> foreign_file::kernels() const {
  std::vector<const device_function*> found;
  for (const device_function& each : functions)
    if (each.is_kernel) found.push_back(&each);
  return found;
}

foreign_file read_foreign_file(const fs::path& file, bool marks_lines,
                               std::set<std::string> named) {
  return file_reader(marks_lines, std::move(named)).read(file);
}

std::string reachable_text(const foreign_file& file, const device_function& kernel) {
  std::string text = kernel.body;
  std::set<const device_function*> taken{&kernel};
  for (bool is_new = true; is_new;) {
    is_new = false;
    for (const device_function& each : file.functions)
      if (!taken.contains(&each) && mentions(text, each.name)) {
        taken.insert(&each);
        text += each.body;
        is_new = true;
      }
  }
  return text;
}

}  // namespace tenfold
