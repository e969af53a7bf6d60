#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "host/backends/names.hpp"
#include "host/cli/options.hpp"
#include "host/cli/served_verbs.hpp"
#include "host/error.hpp"
#include "host/isa/isa.hpp"
#include "host/measure/result.hpp"
#include "host/own/own_kernel.hpp"
#include "host/reduce/kernel_sources.hpp"
#include "host/reduce/stage_description.hpp"
#include "host/reduce/unlisted_stages.hpp"
#include "host/text/split.hpp"
#include "host/text/table.hpp"
#include "host/text/terminal.hpp"

namespace tenfold::cli {
namespace {

// ---- a kernel by itself -------------------------------------------------------------------------

/// A kernel that the program holds for GPUs of an architecture.
struct chosen_kernel {
  const stage_info* stage;
  element_type type;
  std::string op;
  tenfold::shape shape;
  isa::architecture architecture;
  std::size_t dynamic_shared_bytes;  ///< which a launch adds to what the kernel itself has
};

std::string_view cpp_name_of(element_type type) {
  static constexpr std::array names{
#define TENFOLD_QUOTE_CPP(name, cpp) std::string_view(#cpp),
      TENFOLD_ELEMENT_TYPES(TENFOLD_QUOTE_CPP)
#undef TENFOLD_QUOTE_CPP
  };
  return names[static_cast<std::size_t>(type)];
}

element_type accumulator_type(element_type type) {
  return visit_type(type, []<typename In>() { return element_type_of<accumulator_of<In>>; });
}

/// In C++, from the project's namespace on.
std::string type_of(const stage_info& stage) {
  const unlisted_stage* unlisted = find_unlisted(stage);
  return unlisted != nullptr ? std::string(unlisted->type) : fmt::format("{}::stage", stage.name);
}

void check_architecture(const stage_info& stage, const isa::architecture& a) {
  const int needed = description_of(stage).compute_capability;
  if (needed == 0) return;
  const std::string what =
      fmt::format("{} needs NVIDIA's compute capability {:.1f}", name_stage(stage), needed / 10.0);
  if (a.vendor == isa::vendor::amd)
    throw input_error(fmt::format("{}, and {} is AMD's: use --arch sm_{}", what, a.name, needed));
  // As in sm_90 and sm_90a.
  const int capability = number_at(std::string_view(a.name).substr(3)).value_or(0);
  if (capability < needed)
    throw input_error(fmt::format("{}, and {} has {:.1f}: use --arch sm_{}", what, a.name,
                                  capability / 10.0, needed));
}

/// @throws input_error where there is no such kernel, or the architecture lacks what it takes
chosen_kernel choose_kernel(const stage_info& stage, std::string_view type, std::string_view op,
                            const shape& s, const isa::architecture& a) {
  const element_type element = parse_element_type(type);
  chosen_kernel k{&stage, element, choose_operator(op, element), s, a, 0};
  check_architecture(stage, a);
  // The executor runs the same kernels and refuses the same requests, whatever warp size it
  // imitates.
  std::ignore =
      backends().back()->open(a.warp_size)->make_reduction({stage.number, element, k.op, s, 1});
  k.dynamic_shared_bytes = description_of(stage).dynamic_shared_bytes(
      launch_of(s, size_of(element), size_of(accumulator_type(element))));
  return k;
}

/// The text of a unit with this kernel and no other, for a GPU's compiler.
std::string unit_text(const chosen_kernel& k) {
  return fmt::format(R"(#include "{}"
#include "common/narrow_float.hpp"
#include "common/operators.hpp"
#if __has_include("tenfold_user_operators.hpp")
#include "tenfold_user_operators.hpp"
#endif

namespace tenfold {{
auto chosen_kernel() {{
  using accumulator = {};
  return {}::kernel<{}, {}, {}, {}, accumulator, {}<accumulator>>();
}}
}}  // namespace tenfold
)",
                     file_of(*k.stage), cpp_name_of(accumulator_type(k.type)), type_of(*k.stage),
                     k.shape.block, k.architecture.warp_size, k.shape.items, cpp_name_of(k.type),
                     k.op);
}

// ---- figures -----------------------------------------------------------------------------------

using json = nlohmann::ordered_json;

constexpr int widest_load = 16;

/// A kernel as a compiler made it for one architecture.
struct inspected_kernel {
  chosen_kernel chosen;
  isa::kernel_code code;
  bool is_sass;
  std::string compiler;  ///< with its version
};

bool is_amd(const inspected_kernel& k) {
  return k.chosen.architecture.vendor == isa::vendor::amd;
}

std::string_view language_of(const inspected_kernel& k) {
  return is_amd(k) ? "AMDGCN" : k.is_sass ? "SASS" : "PTX";
}

/// One figure of a kernel.
struct figure {
  std::string label;
  std::string key;           ///< in JSON
  std::optional<int> value;  ///< nothing: not told
};

/// How the figures were found.
constexpr const char* status = "compiled and inspected, not run";

/// The same figures in the same order for every kernel.
std::vector<figure> figures_of(const inspected_kernel& k) {
  const isa::resources& r = k.code.resources;
  const int at_launch = static_cast<int>(k.chosen.dynamic_shared_bytes);
  std::vector<figure> figures{
      {is_amd(k) ? "vector registers" : "registers", "vector_registers", r.vector_registers},
      {"scalar registers", "scalar_registers", r.scalar_registers},
      {"spilled registers", "spilled_registers", r.spilled_registers},
      {"scratch memory, bytes", "scratch_bytes", r.scratch_bytes},
      {"shared memory, bytes", "shared_bytes", r.shared_bytes + at_launch},
      {"  given at launch", "dynamic_shared_bytes", at_launch},
      {"warps per SIMD", "warps_per_simd", r.warps_per_simd},
      {"block barriers", "block_barriers", isa::count_barriers(k.code)},
      {"loops", "loops", isa::count_loops(k.code)},
      {"loads of 16 bytes", "loads_of_16_bytes", isa::count_global_loads(k.code, widest_load)},
      {"instructions", "instructions", isa::count_instructions(k.code)}};
  for (int i = 0; i < isa::instruction_kinds; ++i) {
    const auto kind = static_cast<isa::instruction_kind>(i);
    const std::string name(isa::name_of(kind));
    figures.push_back({"  " + name, replace_all(name, " ", "_"), isa::count_kind(k.code, kind)});
  }
  return figures;
}

/// PTX has any number of virtual registers, so that the figures for registers come from ptxas.
std::string describe_code(const inspected_kernel& k) {
  std::string text =
      fmt::format("{} for {} by {}", language_of(k), k.chosen.architecture.name, k.compiler);
  if (language_of(k) == "PTX") text += "; registers and memory as ptxas assigns them";
  return text;
}

std::string describe_request(std::span<const inspected_kernel> kernels) {
  const chosen_kernel& k = kernels.front().chosen;
  std::string text = fmt::format("{} of {}, block {}", k.op, name_of(k.type), k.shape.block);
  if (std::ranges::any_of(kernels, [](const inspected_kernel& each) {
        return description_of(*each.chosen.stage).takes_items;
      }))
    text += fmt::format(", items {}", k.shape.items);
  return text + fmt::format(", warps of {}", k.architecture.warp_size);
}

/// A row says nothing where no kernel has the figure, or none an instruction of the kind.
bool says_something(std::span<const std::vector<figure>> columns, std::size_t row) {
  const bool is_detail = columns.front()[row].label.starts_with(' ');
  return std::ranges::any_of(columns, [&](const std::vector<figure>& each) {
    return each[row].value && (!is_detail || *each[row].value != 0);
  });
}

json describe(const inspected_kernel& k) {
  const chosen_kernel& c = k.chosen;
  json entry{{"stage", c.stage->number},
             {"stage_name", c.stage->name},
             {"type", name_of(c.type)},
             {"op", c.op},
             {"block", c.shape.block},
             {"items", description_of(*c.stage).takes_items ? json(c.shape.items) : json()},
             {"warp", c.architecture.warp_size},
             {"symbol", k.code.symbol}};
  for (const figure& each : figures_of(k))
    entry[each.key] = each.value ? json(*each.value) : json();
  entry["code"] = json::array();
  for (const isa::code_line& line : k.code.code) {
    json places = json::array();
    for (const source_place& at : line.places)
      places.push_back({{"file", at.file}, {"line", at.line}});
    entry["code"].push_back(
        {{"text", line.text}, {"is_label", line.is_label}, {"places", std::move(places)}});
  }
  return entry;
}

// ---- the code ----------------------------------------------------------------------------------

/// A line of a source file without its indentation; empty where the file cannot be read.
std::string source_line(const source_place& at) {
  std::ifstream in(at.file);
  std::string line;
  for (int i = 0; i < at.line; ++i)
    if (!std::getline(in, line)) return {};
  return line.substr(std::min(line.find_first_not_of(' '), line.size()));
}

std::string short_name(const source_place& at) {
  return fmt::format("{}:{}", std::filesystem::path(at.file).filename().string(), at.line);
}

/// The line to show: the innermost in the stage's own file, which may have called what is inlined.
const source_place* shown_place(const isa::code_line& line, const std::string& file) {
  for (const source_place& at : line.places)
    if (at.file.ends_with(file)) return &at;
  return line.places.empty() ? nullptr : &line.places.front();
}

/// An instruction and, where another line begins, that line.
struct listing_row {
  std::string source, code;
};

std::string describe_line(const isa::code_line& line, bool all_lines) {
  std::string text = line.is_label ? line.text + ":" : "  " + line.text;
  if (!all_lines || line.is_label || line.places.empty()) return text;
  text = fmt::format("{:<48} //", text);
  for (const source_place& at : line.places) text += " " + short_name(at);
  return text;
}

std::vector<listing_row> rows_of(const inspected_kernel& k, bool all_lines) {
  const std::string file{file_of(*k.chosen.stage)};
  std::vector<listing_row> rows;
  std::string before;
  for (const isa::code_line& line : k.code.code) {
    listing_row row{"", describe_line(line, all_lines)};
    // A label belongs to no line; what a compiler gives no line goes on with the one before.
    const source_place* at = line.is_label ? nullptr : shown_place(line, file);
    if (at != nullptr && before != short_name(*at)) {
      before = short_name(*at);
      const std::string where = at->file.ends_with(file) ? fmt::format("{:>4}", at->line) : before;
      row.source = fmt::format("{}  {}", where, source_line(*at));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

struct listing_line {
  std::string text{};
  bool is_source = false;
};
using listing_column = std::vector<listing_line>;

/// Lines of the source above their code: two kernels side by side have no room for more.
listing_column interleave(const std::vector<listing_row>& rows) {
  listing_column lines;
  for (const listing_row& row : rows) {
    if (!row.source.empty()) lines.push_back({row.source, true});
    lines.push_back({"    " + row.code});
  }
  return lines;
}

std::string paint_line(const listing_line& line, std::size_t width) {
  return paint(line.text.substr(0, width), line.is_source ? colour::green : colour::plain);
}

/// Side by side, in a terminal cut to its width.
void print_columns(listing_column left, listing_column right) {
  std::size_t left_width = 0, right_width = std::string::npos;
  for (const listing_line& each : left) left_width = std::max(left_width, each.text.size());
  if (const auto screen = terminal_width(stdout)) {
    left_width = std::min(left_width, (*screen - std::min<std::size_t>(*screen, 3)) / 2);
    right_width = *screen - std::min(*screen, left_width + 3);
  }
  const std::size_t lines = std::max(left.size(), right.size());
  left.resize(lines);
  right.resize(lines);
  for (std::size_t i = 0; i < lines; ++i)
    fmt::print("{}{:{}} | {}\n", paint_line(left[i], left_width), "",
               left_width - std::min(left[i].text.size(), left_width),
               paint_line(right[i], right_width));
}

/// What the kernels are, and their figures, in a column each.
void print_figures(std::span<const inspected_kernel> kernels) {
  fmt::print("{}\n{}\n\n",
             fitted(describe_request(kernels) + '\n' + describe_code(kernels.front())),
             paint(status, colour::yellow));
  std::vector<table_column> columns{{"", 24, true}};
  std::vector<std::vector<figure>> figures;
  for (const inspected_kernel& k : kernels) {
    columns.push_back({column_title(*k.chosen.stage), 22});
    figures.push_back(figures_of(k));
  }
  table_rows rows;
  for (std::size_t row = 0; row < figures.front().size(); ++row) {
    if (!says_something(figures, row)) continue;
    rows.push_back({figures.front()[row].label});
    for (const std::vector<figure>& each : figures)
      rows.back().push_back(each[row].value ? fmt::format("{}", *each[row].value) : "");
  }
  print_table(std::move(columns), rows, 1);
}

/// The code in its own order and beside it the lines that it comes from; two kernels go side by
/// side.
/// @param all_lines through all functions that were inlined, beside each instruction
void print_listing(std::span<const inspected_kernel> kernels, bool all_lines) {
  const std::vector<listing_row> first = rows_of(kernels.front(), all_lines);
  if (kernels.size() == 2)
    return print_columns(interleave(first), interleave(rows_of(kernels.back(), all_lines)));
  listing_column source, code;
  for (const listing_row& row : first) {
    source.push_back({row.source, true});
    code.push_back({row.code});
  }
  print_columns(std::move(source), std::move(code));
}

json isa_document(std::span<const inspected_kernel> kernels) {
  const inspected_kernel& first = kernels.front();
  json document{{"context",
                 {{"date", measure::timestamp()},
                  {"executable", "tenfold"},
                  {"architecture", first.chosen.architecture.name},
                  {"language", language_of(first)},
                  {"kernel_compiler", first.compiler},
                  {"status", status}}},
                {"kernels", json::array()}};
  for (const inspected_kernel& each : kernels) document["kernels"].push_back(describe(each));
  return document;
}

// ---- the verb ----------------------------------------------------------------------------------

inspected_kernel inspect(const chosen_kernel& chosen, bool sass) {
  const isa::architecture& a = chosen.architecture;
  std::vector<isa::kernel_code> kernels =
      sass ? isa::compile_to_sass(unit_text(chosen), a) : isa::compile(unit_text(chosen), a);
  if (kernels.empty())
    throw device_error(
        fmt::format("the compiler for {} wrote no kernel that can be read: is '{}' "
                    "the right one?",
                    a.name, isa::compiler_version(a)));
  return {chosen, std::move(kernels.front()), sass, isa::compiler_version(a)};
}

}  // namespace

exit_code show_machine_code(const isa_options& o) {
  measure::check_json_file(o.json);
  const isa::architecture a = isa::parse_architecture(o.architecture);
  std::vector<chosen_kernel> chosen;
  for (const std::string& word : o.stages)
    chosen.push_back(choose_kernel(stage_or_kernel(word), o.type, o.op,
                                   {.block = o.block, .items = o.items}, a));
  announce(fmt::format("compiling for {}", a.name));
  std::vector<inspected_kernel> kernels;
  for (const chosen_kernel& each : chosen) kernels.push_back(inspect(each, o.sass));
  if (o.json != "-") {
    print_figures(kernels);
    fmt::print("\n");
    print_listing(kernels, o.all_lines);
  }
  if (!o.json.empty()) measure::write_document(o.json, isa_document(kernels));
  return exit_code::success;
}

}  // namespace tenfold::cli
