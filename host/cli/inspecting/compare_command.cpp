#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "host/cli/inspecting/result_file.hpp"
#include "host/cli/page/page.hpp"
#include "host/cli/served_verbs.hpp"
#include "host/error.hpp"
#include "host/measure/result.hpp"
#include "host/text/quantity.hpp"
#include "host/text/terminal.hpp"

namespace tenfold::cli {
namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t most_files = 26;    // as many as there are letters
constexpr std::size_t widest_line = 120;  // where no terminal says how wide it is

std::string letter(std::size_t file) {
  return {static_cast<char>('A' + file)};
}

// ---- numbers as text ----------------------------------------------------------------------------

std::string format_factor(double factor) {
  return factor < 0.1 || factor >= 100 ? fmt::format("{:.3g}", factor)
                                       : fmt::format("{:.2f}", factor);
}

std::string format_rate(double bytes_per_second) {
  const double gigabytes = bytes_per_second * 1e-9;
  if (gigabytes >= 1000) return fmt::format("{:.0f}", gigabytes);
  return gigabytes < 1 ? fmt::format("{:.3g}", gigabytes) : fmt::format("{:.4g}", gigabytes);
}

std::string format_shape(const launch_shape& shape) {
  std::string text;
  for (const auto& [name, figure] : shape_figures)
    if (const auto& count = shape.*figure)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, *count);
  return text;
}

/// `2026-11-21T02:20:02+0000` without what nobody reads.
std::string format_date(std::string date) {
  constexpr std::size_t to_the_minute = 16;
  if (date.empty()) return "no date";
  if (date.size() > to_the_minute && date[10] == 'T') {
    date.resize(to_the_minute);
    date[10] = ' ';
  }
  return date;
}

std::string describe_mode(const std::string& mode) {
  if (mode.empty()) return {};
  for (const measure::timing_mode known : measure::timing_modes)
    if (mode == measure::name_of(known)) return fmt::format(", {}", measure::describe(known));
  if (mode == "graph") return ", back to back in a graph";  // in files of older programs
  if (mode == "cpu") return ", on the CPU";
  return ", " + mode;
}

// ---- the table ----------------------------------------------------------------------------------

/// What an entry has to say of a file, in one line or one below the other.
struct group {
  std::string times, rates;
};

/// A group of columns for each file; two lines for each entry where one would be too wide. Where a
/// terminal is too narrow for that, a table for some of the files follows that of others.
class comparison_table {
 public:
  comparison_table(std::span<const comparison> all, std::size_t files, bool by_shape)
      : files_(files), by_shape_(by_shape), end_(files) {
    for (const comparison& c : all) {
      label_width_ = std::max(label_width_, label(c).size());
      for (const result_entry* each : c.results) {
        has_peak_ |= each != nullptr && each->share_of_peak.has_value();
        has_ceiling_ |= each != nullptr && each->share_of_ceiling.has_value();
      }
    }
    in_one_line_ = width() <= terminal_width(stdout).value_or(widest_line);
  }

  void print(std::span<const comparison> all) {
    const std::size_t room = terminal_width(stdout).value_or(std::string::npos);
    for (; begin_ < files_; begin_ = end_) {
      end_ = files_;
      while (width() > room && end_ > begin_ + 1) --end_;
      print_side_by_side(all);
    }
  }

 private:
  void print_side_by_side(std::span<const comparison> all) const {
    std::string title;
    for (const comparison& c : all) {
      if (const std::string its_title = title_of(c.example().what); its_title != title) {
        title = its_title;
        fmt::print("\n{}\n", paint(title, colour::bold));
        print_header();
      }
      print_row(c);
    }
  }

  /// Of a line of what stands side by side.
  [[nodiscard]] std::size_t width() const {
    std::size_t sum = label_width_;
    for (std::size_t i = begin_; i < end_; ++i) sum += group_width(i);
    return sum;
  }

  [[nodiscard]] static std::string title_of(const subject& s) {
    return fmt::format("{} of {} {}{}", s.op, format_count(s.n), s.type, describe_mode(s.mode));
  }

  [[nodiscard]] std::string label(const comparison& c) const {
    const result_entry& e = c.example();
    return by_shape_ ? fmt::format("{} {}", e.what.who, format_shape(e.shape)) : e.what.who;
  }

  /// @param ratio empty for the first file, with which the others are compared
  [[nodiscard]] static std::string times(std::size_t file, std::string_view time,
                                         std::string_view ratio, colour c = colour::plain) {
    std::string text = fmt::format("{:>9}", time);
    if (file != 0) text += paint(fmt::format("{:>10}", ratio), c);
    return text;
  }
  [[nodiscard]] std::string rates(std::string_view rate, std::string_view peak,
                                  std::string_view ceiling) const {
    std::string text = fmt::format("{:>8}", rate);
    if (has_peak_) text += fmt::format("{:>7}", peak);
    if (has_ceiling_) text += fmt::format("{:>8}", ceiling);
    return text;
  }

  [[nodiscard]] std::size_t group_width(std::size_t file) const {
    const std::size_t above = times(file, "", "").size(), below = rates("", "", "").size();
    return in_one_line_ ? above + below : std::max(above, below);
  }

  /// @param group_of a file, by its number
  template <typename GroupOf>
  void print_groups(std::string_view label, GroupOf&& group_of) const {
    std::string first = fmt::format("{:{}}", label, label_width_), second(label_width_, ' ');
    for (std::size_t i = begin_; i < end_; ++i) {
      const group g = group_of(i);
      if (in_one_line_) {
        first += g.times + g.rates;
      } else {
        // Padded by hand: a width in fmt's format would count the codes of colours as characters.
        first += std::string(group_width(i) - times(i, "", "").size(), ' ') + g.times;
        second += fmt::format("{:>{}}", g.rates, group_width(i));
      }
    }
    print_line(first);
    if (!in_one_line_) print_line(second);
  }

  static void print_line(std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    fmt::print("{}\n", line);
  }

  void print_header() const {
    std::string letters(label_width_, ' ');
    for (std::size_t i = begin_; i < end_; ++i)
      letters += fmt::format("{:>9}{:{}}", letter(i), "", group_width(i) - 9);
    print_line(letters);
    print_groups("", [&](std::size_t i) -> group {
      return {times(i, "time", "vs A"), rates("GB/s", "peak", "ceiling")};
    });
  }

  void print_row(const comparison& c) const {
    print_groups(label(c), [&](std::size_t i) -> group {
      const result_entry* e = c.results[i];
      if (e == nullptr) return {times(i, "", ""), rates("", "", "")};
      return {times_of(c, i),
              rates(format_rate(e->bytes_per_second), format_share(e->share_of_peak),
                    format_share(e->share_of_ceiling))};
    });
    if (!by_shape_ && c.shapes_differ()) print_shapes(c);
  }

  [[nodiscard]] static std::string times_of(const comparison& c, std::size_t file) {
    const std::string time = format_seconds(c.results[file]->seconds);
    const auto speed_up = c.speed_up(file);
    if (!speed_up) return times(file, time, "");
    if (c.is_within_spread(file).value_or(false))
      return times(file, time, format_factor(*speed_up) + " x~");
    return times(file, time, format_factor(*speed_up) + " x ",
                 *speed_up > 1 ? colour::green : colour::red);
  }

  void print_shapes(const comparison& c) const {
    for (std::size_t i = begin_; i < end_; ++i)
      if (c.results[i] != nullptr)
        fmt::print("{:{}}  {}: {}\n", "", label_width_, letter(i),
                   format_shape(c.results[i]->shape));
  }

  std::size_t files_;
  bool by_shape_;
  std::size_t begin_ = 0, end_;  ///< the files that stand side by side
  std::size_t label_width_ = 0;
  bool has_peak_ = false, has_ceiling_ = false, in_one_line_ = true;
};

// ---- what surrounds it --------------------------------------------------------------------------

void print_files(std::span<const result_file> files) {
  std::size_t path_width = 0, device_width = 0;
  for (const result_file& each : files) {
    path_width = std::max(path_width, each.path.size());
    device_width = std::max(device_width, each.device.size());
  }
  for (std::size_t i = 0; i < files.size(); ++i)
    say("{}  {:<{}}  {:<{}}  {}", paint(letter(i), colour::bold), files[i].path, path_width,
        files[i].device.empty() ? "unknown device" : files[i].device,
        std::max(device_width, std::string_view("unknown device").size()),
        format_date(files[i].date));
}

/// Which is faster overall, and how much of that means something.
void print_overall(const overall& o, const std::string& file) {
  const std::string over = format_number_of(o.entries, "entry", "entries");
  if (o.within_spread == o.entries) {
    say("{} and A do not differ by more than the spread in any of {}.", file, over);
    return;
  }
  const bool is_faster = o.speed_up >= 1;
  say("{} is {} times as fast as {} overall, by the geometric mean of {}; {} within the "
      "spread{}.",
      is_faster ? file : "A", format_factor(is_faster ? o.speed_up : 1 / o.speed_up),
      is_faster ? "A" : file, over,
      format_number_of(o.within_spread, "difference is", "differences are"),
      o.without_spread == 0 ? "" : fmt::format(", {} without one", o.without_spread));
}

void print_left_out(std::span<const result_file> files, const matched_results& matched) {
  const auto partial =
      matched.comparisons.size() - static_cast<std::size_t>(std::ranges::count_if(
                                       matched.comparisons, &comparison::is_in_every_file));
  if (partial != 0)
    fmt::print("{} not in every file.\n", format_number_of(partial, "entry is", "entries are"));
  if (matched.slower_shapes != 0)
    say("{} left out, the fastest standing for its stage; --by-shape shows all.",
        format_number_of(matched.slower_shapes, "launch shape is", "launch shapes are"));
  for (std::size_t i = 0; i < files.size(); ++i)
    if (files[i].wrong != 0)
      fmt::print(
          "{}\n",
          paint(fmt::format("{} left out of {}: the result is wrong.",
                            format_number_of(files[i].wrong, "entry is", "entries are"), letter(i)),
                colour::red));
}

void print_comparison(std::span<const result_file> files, const matched_results& matched,
                      bool by_shape) {
  print_files(files);
  comparison_table(matched.comparisons, files.size(), by_shape).print(matched.comparisons);
  fmt::print("\n");
  std::size_t within_spread = 0;
  for (std::size_t i = 1; i < files.size(); ++i) {
    const overall o = summarize(matched.comparisons, i);
    within_spread += o.within_spread;
    print_overall(o, letter(i));
  }
  if (within_spread != 0)
    say("~ within the spread: a median between the other's 5th and 95th "
        "percentiles, or its fastest and slowest run.");
  print_left_out(files, matched);
}

// ---- JSON ---------------------------------------------------------------------------------------

template <typename T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json();
}

json result_entry_of(const comparison& c, std::size_t file) {
  const result_entry* e = c.results[file];
  if (e == nullptr) return {};
  json r{{"name", e->name},
         {"seconds", e->seconds},
         {"low", e->spread ? json(e->spread->low) : json()},
         {"high", e->spread ? json(e->spread->high) : json()},
         {"bytes_per_second", e->bytes_per_second},
         {"share_of_peak", or_null(e->share_of_peak)},
         {"share_of_ceiling", or_null(e->share_of_ceiling)},
         {"block", or_null(e->shape.block)},
         {"items", or_null(e->shape.items)},
         {"grid", or_null(e->shape.grid)}};
  if (file != 0) {
    r["speed_up"] = or_null(c.speed_up(file));
    r["within_spread"] = or_null(c.is_within_spread(file));
  }
  return r;
}

json document_of(std::span<const result_file> files, const matched_results& matched) {
  json document{
      {"context", json::object()}, {"files", json::array()}, {"comparisons", json::array()}};
  for (std::size_t i = 0; i < files.size(); ++i) {
    json file{{"letter", letter(i)},
              {"path", files[i].path},
              {"device", files[i].device},
              {"date", files[i].date},
              {"entries", files[i].entries.size()},
              {"wrong", files[i].wrong}};
    if (i != 0) {
      const overall o = summarize(matched.comparisons, i);
      file["common"] = o.entries;
      file["within_spread"] = o.within_spread;
      file["without_spread"] = o.without_spread;
      file["speed_up"] = o.speed_up;
    }
    document["files"].push_back(std::move(file));
  }
  for (const comparison& c : matched.comparisons) {
    const subject& s = c.example().what;
    json entry{{"who", s.who},
               {"type", s.type},
               {"op", s.op},
               {"n", s.n},
               {"mode", s.mode.empty() ? json() : json(s.mode)}};
    for (std::size_t i = 0; i < files.size(); ++i)
      entry["results"][letter(i)] = result_entry_of(c, i);
    document["comparisons"].push_back(std::move(entry));
  }
  document["slower_shapes"] = matched.slower_shapes;
  return document;
}

/// Whatever the files have in common: the page lets its reader choose, and add to them.
void write_compare_page(const compare_options& o) {
  json data = json::array();
  for (const std::string& path : o.files)
    data.push_back({{"file", std::filesystem::path(path).filename().string()},
                    {"document", read_shown_results(path)}});
  write_page(o.html, "Compare results", compare_files(), data);
  fmt::print("{}: {}\n", o.html, format_number_of(o.files.size(), "file", "files"));
}

void check_files(const compare_options& o) {
  if (o.files.size() < (o.html.empty() ? 2 : 1))
    throw input_error(
        fmt::format("compare takes {}, as 'tenfold ladder --json FILE' writes them",
                    o.html.empty() ? "two files or more" : "a file or more besides --html's"));
  if (o.files.size() > most_files)
    throw input_error(fmt::format("compare takes {} files at most", most_files));
  std::error_code failure;
  for (const std::string& each : o.files)
    if (!o.html.empty() && std::filesystem::equivalent(each, o.html, failure))
      throw input_error(fmt::format("the page would replace '{}': name another file", each));
}

}  // namespace

exit_code compare_results(const compare_options& o) {
  check_files(o);
  measure::check_json_file(o.json);
  measure::check_page_file(o.html);
  if (!o.html.empty()) {
    write_compare_page(o);
    return exit_code::success;
  }
  std::vector<result_file> files;
  for (const std::string& path : o.files) files.push_back(read_result_file(path));
  const matched_results matched = match(files, o.by_shape);
  if (o.json != "-") print_comparison(files, matched, o.by_shape);
  if (!o.json.empty()) measure::write_document(o.json, document_of(files, matched));
  return exit_code::success;
}

}  // namespace tenfold::cli
