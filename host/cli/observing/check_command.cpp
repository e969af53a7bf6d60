#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/cli/observing/observing_commands.hpp"
#include "host/cli/observing/traces.hpp"
#include "host/measure/result.hpp"
#include "host/observe/check.hpp"
#include "host/own/foreign_call.hpp"
#include "host/own/foreign_kernel.hpp"
#include "host/own/own_kernel.hpp"
#include "host/own/trials.hpp"
#include "host/reduce/kernel_sources.hpp"
#include "host/reduce/stage_description.hpp"
#include "host/simt/executor.hpp"
#include "host/text/process.hpp"
#include "host/text/quantity.hpp"
#include "host/text/split.hpp"
#include "host/text/terminal.hpp"

namespace tenfold::cli {
namespace {

using json = nlohmann::ordered_json;
using observe::finding;
using observe::witness;

/// A stage and what was found, by warp size.
struct checked_stage {
  const stage_info* stage;
  std::vector<std::pair<int, observe::check_report>> reports;
  /// Of a user's own kernel in which nothing was found.
  std::optional<measure::trial_report> trials;

  [[nodiscard]] bool is_clean() const {
    return std::ranges::all_of(reports,
                               [](const auto& each) { return each.second.findings.empty(); });
  }
};

/// In which kernels are observed in every order.
constexpr int small_block = 16, small_warp = 8;

bool has_small_block(const stage_info& stage, const observed_kernel& k) {
  const stage_description& is = description_of(stage);
  return is.compute_capability == 0 && is.only_block == 0 && !is.needs_whole_warps &&
         !is_narrow_type(parse_element_type(k.type));
}

/// Where and what; a thread that has returned did so at no line.
std::string describe_deed(const witness& w) {
  return w.place.line == 0 ? w.doing : fmt::format("{}:{} {}", w.place.file, w.place.line, w.doing);
}

std::string describe_threads(const witness& w) {
  const std::string block = fmt::format("block ({}, {}, {})", w.block.x, w.block.y, w.block.z);
  if (w.thread)
    return fmt::format("{}, thread {} (warp {}, lane {})", block, *w.thread, w.warp, w.lane);
  return w.threads.empty() ? block : fmt::format("{}, threads {}", block, w.threads);
}

/// Without its template arguments.
std::string_view short_name(std::string_view kernel) {
  return kernel.substr(0, kernel.find('<'));
}

void print_finding(const finding& f) {
  std::string text =
      fmt::format("  {}: {}\n", paint(observe::name_of(f.kind), colour::red), f.what);
  for (const witness& each : f.witnesses)
    text += fmt::format("    {}: {}\n", describe_deed(each), describe_threads(each));
  text += fmt::format("    {} {}\n", paint("remedy:", colour::green), f.remedy);
  text += fmt::format("    in {}, first met with warps of {}, n {}, {}; {} in all\n",
                      short_name(f.kernel), f.warp_size, format_count(f.n), f.schedule,
                      format_number_of(f.count, "time", "times"));
  fmt::print("{}", fitted(text));
}

/// What is checked: sums, unless a kernel serves no sums.
std::string op_of(const stage_info& stage) {
  const std::string_view only = description_of(stage).only_operator;
  return std::string(only.empty() ? "sum" : only);
}

/// A user's own kernel, and no pitfall.
bool is_own(const stage_info& stage) {
  return is_unlisted(stage) && listed_kernel(file_of(stage)).empty();
}

void print_checked(const checked_stage& checked) {
  for (const auto& [warp, report] : checked.reports) {
    const std::size_t count = report.findings.size();
    const std::string verdict =
        count == 0 ? paint("clean", colour::green)
                   : paint(format_number_of(count, "finding", "findings"), colour::red);
    say("{}, warps of {}: {} ({}, in {} more orders of threads and blocks)",
        name_stage(*checked.stage), warp, verdict,
        format_number_of(report.inputs, "input", "inputs"), report.schedules);
    for (const finding& each : report.findings) print_finding(each);
  }
  if (!checked.trials) return;
  const measure::trial_report& trials = *checked.trials;
  const std::string verdict = trials.passed()
                                  ? paint("right", colour::green)
                                  : paint(fmt::format("{} WRONG", trials.wrong), colour::red);
  const std::string op = op_of(*checked.stage);
  const std::string others =
      !description_of(*checked.stage).only_operator.empty()
          ? ""
          : fmt::format("; 'tenfold run --kernel {}' judges the other operators",
                        file_of(*checked.stage));
  say("{}, {} trials of {}: {}{}", name_stage(*checked.stage), trials.trials,
      op == "sum" ? "sums" : op, verdict, others);
  for (const std::string& each : trials.failures) say("{}", "  " + each);
}

json describe(const witness& w) {
  json entry{{"doing", w.doing},
             {"file", w.place.file},
             {"line", w.place.line},
             {"block", {w.block.x, w.block.y, w.block.z}}};
  if (w.thread) {
    entry["thread"] = *w.thread;
    entry["warp"] = w.warp;
    entry["lane"] = w.lane;
  }
  if (!w.threads.empty()) entry["threads"] = w.threads;
  return entry;
}

json describe(const finding& f, const stage_info& stage) {
  json entry{{"stage", stage.number},  {"stage_name", stage.name}, {"kind", key_of(f.kind)},
             {"kernel", f.kernel},     {"what", f.what},           {"address", f.address},
             {"remedy", f.remedy},     {"warp", f.warp_size},      {"n", f.n},
             {"schedule", f.schedule}, {"count", f.count},         {"witnesses", json::array()}};
  for (const witness& each : f.witnesses) entry["witnesses"].push_back(describe(each));
  return entry;
}

/// Writes what there is by now, so that a run that is cut short has left what it found; to standard
/// output only when all is done.
void write_so_far(const check_options& o, const auto& all) {
  if (!o.json.empty() && o.json != "-") measure::write_document(o.json, document_of(all));
}

json document_of(const std::vector<checked_stage>& checked) {
  json document{
      {"context", executor_context()}, {"checked", json::array()}, {"findings", json::array()}};
  for (const checked_stage& each : checked) {
    for (const auto& [warp, report] : each.reports) {
      document["checked"].push_back({{"stage", each.stage->number},
                                     {"stage_name", each.stage->name},
                                     {"warp", warp},
                                     {"inputs", report.inputs},
                                     {"schedules", report.schedules},
                                     {"findings", report.findings.size()}});
      for (const finding& f : report.findings)
        document["findings"].push_back(describe(f, *each.stage));
    }
    if (each.trials)
      document["trials"] = {{"op", op_of(*each.stage)},
                            {"trials", each.trials->trials},
                            {"wrong", each.trials->wrong},
                            {"failures", each.trials->failures}};
  }
  return document;
}

/// What a kernel does where something was found, the smallest block first: it is read most easily.
/// A clean one of a small block is shown as it is.
void add_views(const checked_stage& checked, const observed_kernel& k,
               std::vector<played_view>& views) {
  const stage_info& stage = *checked.stage;
  observed_kernel small = k;
  small.shape = {.block = small_block};
  const auto add = [&](observe::run_request r, const finding* f) {
    unsigned block = 0;
    if (f != nullptr) {
      r.n = f->n;
      r.offset = f->offset;
      if (!f->witnesses.empty()) block = f->witnesses.front().block.x;
    }
    const simt::scoped_schedule order(
        simt::parse_schedule(f == nullptr ? "in-order" : f->schedule));
    views.push_back(
        {fmt::format("{}, warps of {}",
                     f == nullptr ? name_stage(stage) : observe::name_of(f->kind), r.warp_size),
         {trace_kernel(stage, r, block, trace_reader::page)},
         f == nullptr ? json() : describe(*f, stage)});
  };
  for (auto report = checked.reports.rbegin(); report != checked.reports.rend(); ++report)
    for (const finding& each : report->second.findings)
      add(request_for(stage, report->first == small_warp ? small : k, report->first), &each);
  if (checked.is_clean() && has_small_block(stage, k)) {
    observe::run_request r = request_for(stage, small, small_warp);
    r.n = observe::elements_per_block(r);
    add(r, nullptr);
  }
}

/// @param show says on the terminal what goes on
checked_stage check(const stage_info& stage, const observed_kernel& k, unsigned seeds,
                    const std::function<void(const std::string& what)>& show) {
  checked_stage checked{&stage, {}, {}};
  for (const int warp : usable_warps(stage, k)) {
    checked.reports.emplace_back(warp,
                                 observe::check_kernel(request_for(stage, k, warp), seeds, show));
  }
  if (has_small_block(stage, k)) {
    observed_kernel small = k;
    small.shape = {.block = small_block};
    show(fmt::format("a block of {} threads", small_block));
    checked.reports.emplace_back(small_warp,
                                 observe::check_small_block(request_for(stage, small, small_warp)));
  }
  // A kernel that does not end, or leaves its arrays, is not tried further.
  if (is_own(stage) && checked.is_clean() && op_of(stage) != "none") {
    show("trials");
    checked.trials = measure::run_trials(*backends().back()->open(32), stage);
  }
  return checked;
}

// ---- a folder of kernels ------------------------------------------------------------------------

/// A kernel of a folder. It is judged in a process of its own, so that the others are still judged
/// when it crashes.
struct judged_kernel {
  std::string file, call;
  std::map<int, std::string> by_warp;  ///< `clean`, or kinds of findings
  std::string trials;                  ///< of sums: `right`, or how many are wrong
  std::string failure;                 ///< why it could not be judged
  bool is_clean = false;
  json document;
};

judged_kernel judge(const std::filesystem::path& file, const std::string& call,
                    const check_options& o) {
  std::vector<std::string> command{"/proc/self/exe", "check", "--json", "-"};
  const auto add = [&](const char* option, const std::string& value) {
    command.insert(command.end(), {option, value});
  };
  add("--kernel", file.string());
  add("--n", o.kernel.n);
  add("--type", o.kernel.type);
  add("--warp", fmt::format("{}", fmt::join(o.kernel.warps, ",")));
  add("--seeds", fmt::format("{}", o.seeds));
  if (!call.empty()) add("--call", call);
  judged_kernel judged;
  judged.file = file.filename().string();
  judged.call = call;
  const temporary_folder folder;
  const process_result run = run_process(command, folder);
  judged.document = json::parse(run.out, nullptr, false);
  if (judged.document.is_discarded()) {
    judged.document = nullptr;
    // What went wrong is the last line, but a compiler's is the first error.
    for (const std::string_view each : split(run.err, '\n')) {
      if (each.empty()) continue;
      judged.failure = each;
      if (each.find("error:") != each.npos) break;
    }
    return judged;
  }
  for (const json& each : judged.document["checked"]) judged.by_warp[each["warp"]] = "clean";
  for (const json& each : judged.document["findings"]) {
    std::string& verdict = judged.by_warp[each["warp"]];
    const std::string kind = each["kind"];
    if (verdict == "clean") verdict.clear();
    if (verdict.find(kind) == verdict.npos) verdict += (verdict.empty() ? "" : ", ") + kind;
  }
  judged.is_clean = judged.document["findings"].empty();
  if (judged.document.contains("trials")) {
    const json& trials = judged.document["trials"];
    judged.is_clean &= trials["wrong"] == 0;
    judged.trials = trials["wrong"] == 0
                        ? fmt::format("{} right", trials["trials"].get<std::uint64_t>())
                        : fmt::format("{} of {} WRONG", trials["wrong"].get<std::uint64_t>(),
                                      trials["trials"].get<std::uint64_t>());
  }
  return judged;
}

void print_judged(const judged_kernel& judged) {
  std::string text = fmt::format("{}{}{}\n", paint(judged.file, colour::bold),
                                 judged.call.empty() ? "" : ": ", judged.call);
  if (!judged.failure.empty()) text += fmt::format("  not judged  {}\n", judged.failure);
  for (const auto& [warp, verdict] : judged.by_warp)
    text += fmt::format("  warps of {}  {}\n", warp,
                        paint(verdict, verdict == "clean" ? colour::green : colour::red));
  if (!judged.trials.empty()) text += fmt::format("  trials       {}\n", judged.trials);
  fmt::print("{}", fitted(text));
}

json document_of(const std::vector<judged_kernel>& all) {
  json document{{"context", executor_context()}, {"kernels", json::array()}};
  for (const judged_kernel& each : all)
    document["kernels"].push_back({{"file", each.file},
                                   {"call", each.call},
                                   {"clean", each.is_clean},
                                   {"failure", each.failure},
                                   {"check", each.document}});
  return document;
}

exit_code check_folder(const check_options& o) {
  namespace fs = std::filesystem;
  std::vector<fs::path> files;
  for (const auto& each : fs::recursive_directory_iterator(o.corpus)) {
    const std::string ending = each.path().extension().string();
    const bool is_source =
        ending == ".cu" || ending == ".hip" || ending == ".cpp" || ending == ".cc";
    // Of headers, those that come with calls.
    const bool has_calls =
        ending != ".call" && fs::is_regular_file(fs::path(each.path()).replace_extension(".call"));
    if ((is_source || has_calls) && is_foreign(each.path())) files.push_back(each.path());
  }
  if (files.empty())
    throw input_error(fmt::format(
        "'{}' has no kernels: a file of them ends in .cu, .hip, .cpp or .cc", o.corpus));
  std::ranges::sort(files);
  std::vector<std::pair<fs::path, std::string>> launches;
  for (const fs::path& file : files) {
    std::vector<std::string> calls = calls_beside(file);
    if (calls.empty()) calls.emplace_back();
    for (const std::string& call : calls) launches.emplace_back(file, call);
  }
  std::vector<judged_kernel> all;
  progress line;
  for (const auto& [file, call] : launches) {
    line.show(
        fmt::format("{} of {}: {}", all.size() + 1, launches.size(), file.filename().string()),
        all.size(), launches.size());
    all.push_back(judge(file, call, o));
    line.clear();
    if (o.json != "-") print_judged(all.back());
    write_so_far(o, all);
  }
  const auto clean = std::ranges::count_if(all, &judged_kernel::is_clean);
  const auto failed =
      std::ranges::count_if(all, [](const judged_kernel& j) { return !j.failure.empty(); });
  if (o.json != "-")
    fmt::print("{} judged: {} clean, {} with findings; {} could not be judged\n",
               std::ssize(all) - failed, clean, std::ssize(all) - clean - failed, failed);
  if (!o.json.empty()) measure::write_document(o.json, document_of(all));
  if (clean + failed != std::ssize(all)) return exit_code::wrong_result;
  return failed == 0 ? exit_code::success : exit_code::bad_input;
}

}  // namespace

exit_code check_stages(const check_options& o) {
  if (!o.corpus.empty()) {
    measure::check_json_file(o.json);
    return check_folder(o);
  }
  check_choice(o.all, o.kernel, "check");
  measure::check_json_file(o.json);
  measure::check_page_file(o.html);
  const observed_ladder ladder =
      o.all ? all_stages_for(o.kernel) : observed_ladder{{&choose_observed(o.kernel)}, {}};

  std::vector<checked_stage> checked;
  std::vector<played_view> views;
  bool found = false;
  progress line;
  for (const stage_info* each : ladder.stages) {
    const observed_kernel k = o.all ? shaped_for(*each, o.kernel) : o.kernel;
    checked.push_back(check(*each, k, o.seeds, [&](const std::string& what) {
      line.show(fmt::format("{}, {}", name_stage(*each), what), checked.size(),
                ladder.stages.size());
    }));
    line.clear();
    write_so_far(o, checked);
    if (!o.html.empty()) add_views(checked.back(), k, views);
    if (o.json != "-") print_checked(checked.back());
    const auto& trials = checked.back().trials;
    found |= !checked.back().is_clean() || (trials && !trials->passed());
  }
  if (o.json != "-") ladder.print_left_out();
  if (!o.json.empty()) measure::write_document(o.json, document_of(checked));
  if (!o.html.empty()) {
    if (views.empty())
      throw input_error("nothing was found, and there is no small block to show: there is no page");
    write_player_page(o.html, o.all ? "all stages" : name_stage(*ladder.stages.front()), views);
  }
  return found ? exit_code::wrong_result : exit_code::success;
}

}  // namespace tenfold::cli
