#include "host/cli/measuring/run_command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <csignal>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <thread>
#include <type_traits>
#include <utility>

#include "host/cli/commands.hpp"
#include "host/cli/measuring/shared_run.hpp"
#include "host/data/input.hpp"
#include "host/data/npy.hpp"
#include "host/measure/host_memory.hpp"
#include "host/own/own_kernel.hpp"
#include "host/reduce/kernel_sources.hpp"
#include "host/simt/executor.hpp"
#include "host/text/process.hpp"
#include "host/text/quantity.hpp"
#include "host/text/terminal.hpp"

namespace tenfold::cli {

using measure::candidate;
using measure::result;
using measure::testbed;
using measure::timing_mode;

namespace {

// ---- the data -----------------------------------------------------------------------------------

constexpr std::uint64_t executor_n = std::uint64_t{1} << 20;
constexpr std::uint64_t gpu_n = std::uint64_t{1} << 28;
constexpr std::uint64_t slow_bytes = std::uint64_t{1} << 29;  // seconds to make and to check

// What is said when somebody shortens the input file while it is read: made ready beforehand, for a
// signal's handler may do little.
std::string shortened;
std::span<const std::byte> mapped;

void on_bus_error(int signal, siginfo_t* info, void*) {
  const auto* at = static_cast<const std::byte*>(info->si_addr);
  if (at >= mapped.data() && at < mapped.data() + mapped.size()) {
    static_cast<void>(!write(STDERR_FILENO, shortened.data(), shortened.size()));
    _exit(static_cast<int>(exit_code::bad_input));
  }
  std::signal(signal, SIG_DFL);  // it comes again at once
}

/// Has an error reported when somebody shortens the mapped file while it is read. If several
/// threads map a file, only the last mapping is watched.
void expect_shortening(const npy_file& file, const std::string& path) {
  static std::mutex one_at_a_time;
  const std::scoped_lock lock(one_at_a_time);
  shortened = fmt::format(
      "tenfold: '{}' was shortened while it was read: let nobody write to it, or use a copy\n",
      harmless(path));
  mapped = file.data();
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, nullptr);
}

std::optional<npy_file> open_file(const options& o) {
  if (o.input.empty()) return std::nullopt;
  if (!o.n.empty()) throw input_error("--n and --input exclude each other: the file has its n");
  npy_file file(o.input);
  expect_shortening(file, o.input);
  if (!o.type.empty() && parse_element_type(o.type) != file.type())
    throw input_error(fmt::format(
        "'{}' holds {} elements, --type says {}{}: leave --type out", o.input, name_of(file.type()),
        o.type, o.type == name_of(element_type::bf16) ? ", which is no type of NumPy's" : ""));
  return file;
}

/// @param copies on the host: of what is made there, and of what the executor reads
void check_room(std::uint64_t n, element_type type, std::uint64_t copies, testbed& bed) {
  // A host that overcommits grants what it does not have, and kills the process later.
  const std::uint64_t on_host = measure::available_memory();
  const std::uint64_t on_device = bed.device().free_bytes();
  if (copies != 0 && n > on_host / size_of(type) / copies)
    throw device_error(fmt::format(
        "{} elements of {} do not fit{} into the {} of memory that the host has free: "
        "use a smaller n",
        format_count(n), name_of(type),
        copies == 2 ? " twice, as input and as the executor's copy," : "", format_bytes(on_host)));
  if (n > on_device / size_of(type))
    throw device_error(fmt::format("{} elements of {} need {}, but {} has {} free: use a smaller n",
                                   format_count(n), name_of(type),
                                   n > ~std::uint64_t{0} / size_of(type)
                                       ? "more than any device has"
                                       : format_bytes(n * size_of(type)),
                                   bed.choice().name(), format_bytes(on_device)));
}

// ---- what is said of a result -------------------------------------------------------------------

std::string describe_shape(const result& m) {
  constexpr std::size_t few = 4;
  std::string text;
  for (std::size_t i = 0; i < m.passes.size(); ++i) {
    if (m.passes.size() > few && i == 2) text += ", ...";
    if (m.passes.size() > few && i >= 2 && i + 1 < m.passes.size()) continue;
    text += fmt::format("{}{} -> {}", text.empty() ? "" : ", ", format_count(m.passes[i].n),
                        m.passes[i].partials);
  }
  return fmt::format("block {}, items {}, warp {}; {} pass{}: {}", m.used_shape.block,
                     m.used_shape.items, m.warp_size, m.passes.size(),
                     m.passes.size() == 1 ? "" : "es", text);
}

std::string describe_trials(const measure::trial_report& report) {
  if (report.passed()) return fmt::format("{} {}", report.trials, paint("right", colour::green));
  std::string text =
      fmt::format("{} of {} {}", report.wrong, report.trials, paint("WRONG", colour::red));
  for (const std::string& each : report.failures) text += fmt::format("\n{:<11}{}", "", each);
  return text;
}

void print_result(const result& m, const chosen_input& input, testbed& bed) {
  print_fact("stage", describe_stage(*m.who.stage));
  if (!m.who.reason.empty()) print_fact("chosen", m.who.reason);
  print_fact("device", fmt::format("{} ({})", bed.choice().name(), bed.device().properties().name));
  print_fact("input", fmt::format("{} of {}", m.at.op, input.description()));
  print_fact("shape", describe_shape(m));
  print_verdicts(m, input, "in the same shape");
  if (m.trials) print_fact("trials", describe_trials(*m.trials));
  if (!m.has_time())
    print_fact("time", "none: the call adds nothing to the kernel that writes its input");
  else
    print_fact(
        "time",
        fmt::format("{}, {:.4g} GB/s, {}", describe_times(m.seconds), m.gigabytes_per_second(),
                    bed.choice().is_executor() ? "of the executor: it says nothing of a GPU's"
                                               : measure::describe(m.at.mode)));
}

/// A result, or that of other elements, and the verdict on it.
/// @param note what the reader must know of the reference
std::string describe_verdict(const measure::reading& of, std::string_view note = {}) {
  const reference& r = of.expected;
  std::string text = fmt::format("{}, {} (reference {}{}", to_string(of.computed),
                                 measure::paint(of.verdict), to_string(r.expected), note);
  if (r.model == error_model::additive && of.bound == 0 && r.magnitude != 0)
    text += ", rounded once";
  else if (r.model != error_model::exact && std::isfinite(r.precise)) {
    text += fmt::format(", error {:.3g}, {} bound {:.3g}",
                        static_cast<double>(error_of(r, of.computed)),
                        r.is_random ? "probable" : "certain", static_cast<double>(of.bound));
    if (r.is_random)  // see error_bound()
      text += fmt::format(", p < {:.0e} beyond it",
                          2 * std::exp(-0.5 * lambda_of_bound * lambda_of_bound));
  }
  text += ")";
  if (of.verdict == verdict::undecided)
    text += r.may_overflow ? ": in some order a partial result may leave the type's range"
                           : ": by this bound 0 would be right as well";
  return text;
}

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace

void print_fact(std::string_view key, const std::string& text) {
  say("{:<11}{}", key, text);
}

std::string describe_stage(const stage_info& stage) {
  if (is_unlisted(stage)) return fmt::format("{}, of {}", stage.name, file_of(stage));
  return fmt::format("{} {}: {}", stage.number, stage.name, stage.change);
}

std::string describe_times(const std::vector<double>& seconds) {
  const measure::summary t = measure::summarize(seconds);
  return fmt::format("{} median of {} ({} to {})", format_seconds(t.median), seconds.size(),
                     format_seconds(t.fastest), format_seconds(t.slowest));
}

void print_verdicts(const result& m, const chosen_input& input, std::string_view where) {
  const measure::origin from = input.data.from();
  const bool is_exact_sum =
      from == measure::origin::exact && m.at.op == "sum" && exact_input_matters(m.at.type, m.at.op);
  print_fact("result", describe_verdict({from, m.computed, m.expected, m.bound, m.verdict},
                                        is_exact_sum ? ", exact in any order" : ""));
  if (const std::string note = describe_wrapping(input, m.expected); !note.empty())
    print_fact("note", note);
  if (m.companion)
    print_fact(name_of(m.companion->from),
               fmt::format("{} for other elements, {}", describe_verdict(*m.companion), where));
  else if (is_exact_sum)
    print_fact("rounding", "left out: there is no room for other elements");
  else if (from == measure::origin::file && exact_input_matters(m.at.type, m.at.op))
    print_fact("exact", "left out: there is no room for other elements");
}

std::uint64_t default_n(element_type type, testbed& bed) {
  if (bed.choice().is_executor()) return executor_n;
  session& on = bed.device();
  const std::uint64_t cache = on.properties().last_level_cache_bytes;
  std::uint64_t n = std::max(gpu_n, std::bit_ceil(4 * cache / size_of(type)));
  // Partials and the runtime itself need room, too.
  const std::uint64_t room = std::min(on.free_bytes() / 10 * 9, measure::available_memory() / 2);
  while (n > 1 && n * size_of(type) > room) n /= 2;
  return n;
}

std::string chosen_input::description() const {
  return fmt::format("{} {}", format_count(n), source);
}

std::string describe_wrapping(const chosen_input& input, const reference& r) {
  if (input.data.from() != measure::origin::file || !r.wraps) return {};
  return fmt::format(
      "the sum of these elements is {:.0f}: their type does not hold it, and it wraps; for the "
      "sum itself store them as {}",
      r.precise, size_of(input.data.type()) == 8 ? "f64" : "i64 or f64");
}

chosen_input make_input(const options& o, testbed& bed, const ranks* among) {
  std::optional<npy_file> file = open_file(o);
  const element_type type = file             ? file->type()
                            : o.type.empty() ? element_type::f32
                                             : parse_element_type(o.type);
  std::string op = choose_operator(o.op, type);
  const std::uint64_t n = file ? file->n() : o.n.empty() ? default_n(type, bed) : parse_count(o.n);
  const std::uint64_t mine =
      among == nullptr ? n : share_of(n, among->rank(), among->count()).count;
  check_room(mine, type, (file ? 0u : 1u) + (bed.choice().is_executor() ? 1u : 0u), bed);
  const bool speaks = among == nullptr || among->rank() == 0;
  if (const std::uint64_t bytes = mine * size_of(type); speaks && bytes >= slow_bytes)
    announce(fmt::format("preparing {}", format_bytes(bytes)));
  if (file)
    return {{std::move(*file), std::move(op), among},
            n,
            fmt::format("{} from {}", name_of(type), harmless(o.input))};
  return {{type, std::move(op), n, o.seed, measure::origin::exact, among},
          n,
          fmt::format("random {} (seed {})", name_of(type), o.seed)};
}

candidate candidate_in_shape(const stage_info& stage, const named_shape& s) {
  if (s.items && !description_of(stage).takes_items)
    throw input_error(
        fmt::format("{} takes no items: leave --items out, or use one of the stages {}",
                    name_stage(stage), stages_that(&stage_description::takes_items)));
  return s.is_empty() ? measure::tuned_candidate(stage)
                      : measure::stage_candidate(stage, s.completed(), "user");
}

timing_mode choose_mode(const options& o, const testbed& bed) {
  return o.mode.empty() ? bed.default_mode() : measure::parse_mode(o.mode);
}

result measure_alone(const candidate& who, const options& o, testbed& bed) {
  // Trials are small: at this n another of its loops may have no end.
  std::optional<measure::time_limit> limit;
  if (who.stage != nullptr && is_unlisted(*who.stage) && bed.choice().is_executor()) {
    constexpr std::uint64_t elements_per_second =
        100'000;  // most kernels fold a hundred times as many
    const std::uint64_t n = bed.at(choose_mode(o, bed)).n;
    limit.emplace().begin(fmt::format("n {}", format_count(n)),
                          std::chrono::seconds(20 + n / elements_per_second));
  }
  const auto sampler = bed.admit(who, choose_mode(o, bed));
  if (limit) limit->end();
  return measure::take_samples(*sampler, o.repeat, bed.choice().is_executor());
}

nlohmann::ordered_json describe_run(const options& o, testbed& bed) {
  using json = nlohmann::ordered_json;
  const device_properties& device = bed.device().properties();
  json context{{"date", measure::timestamp()},
               {"host_name", host_name()},
               {"executable", "tenfold"},
               {"num_cpus", std::thread::hardware_concurrency()},
#ifdef NDEBUG
               {"library_build_type", "release"},
#else
               {"library_build_type", "debug"},
#endif
               {"device", bed.choice().name()},
               {"device_name", device.name},
               {"multiprocessors", device.multiprocessors},
               {"last_level_cache_bytes", device.last_level_cache_bytes},
               {"peak_bytes_per_second", device.peak_bytes_per_second},
               {"schedule", bed.choice().is_executor() ? json(o.schedule) : json()},
               {"input", o.input.empty() ? "random" : o.input},
               {"seed", o.input.empty() ? json(o.seed) : json()}};
  // What is unknown is left out.
  const device_facts facts = bed.device().facts();
  const auto add = [&](const char* key, const auto& fact) {
    if (fact != std::remove_cvref_t<decltype(fact)>{}) context[key] = fact;
  };
  add("driver", bed.driver());
  add("toolkit", facts.toolkit);
  add("core_hertz", facts.core_hertz);
  add("memory_hertz", facts.memory_hertz);
  add("memory_bus_bits", facts.memory_bus_bits);
  if (!facts.driver.empty()) context["error_correction"] = facts.error_correction;
  return context;
}

exit_code run_and_report(const options& o, const take_results& take) {
  simt::set_schedule(simt::parse_schedule(o.schedule));
  measure::check_json_file(o.json);
  testbed bed(choose_device(o.device));
  static_cast<void>(choose_mode(o, bed));  // before the data are made: is there such a mode?
  chosen_input input = make_input(o, bed);
  bed.load(input.data, input.data.n());
  announce_stand_in(o, bed.choice());
  const std::vector<result> results = take(bed);
  if (o.json != "-")
    for (const result& m : results) {
      if (&m != &results.front()) fmt::print("\n");
      print_result(m, input, bed);
    }
  if (!o.json.empty())
    measure::write_results(o.json, describe_run(o, bed), results, bed.choice().name());
  const bool wrong = std::ranges::any_of(results, [](const result& m) { return m.is_wrong(); });
  return wrong ? exit_code::wrong_result : exit_code::success;
}

namespace {

exit_code run_stage(const stage_info& stage, const options& o) {
  return run_and_report(o, [&](testbed& bed) {
    std::optional<measure::trial_report> trials;
    if (is_unlisted(stage)) trials = measure::run_trials(bed.device(), stage);
    result m = measure_alone(candidate_in_shape(stage, o.shape), o, bed);
    m.trials = std::move(trials);
    return std::vector<result>{std::move(m)};
  });
}

}  // namespace

std::string run_request::kernel_file() const {
  return o.kernel.empty() ? kernel_file_of(stage) : o.kernel;
}

const stage_info& run_request::choose_stage(std::string_view device) {
  const std::string file = kernel_file();
  const stage_info& chosen =
      file.empty() ? tenfold::choose_stage(stage) : own_stage(file, o.call, o.op, device);
  if (o.type.empty() && o.input.empty()) o.type = name_of(default_type(chosen));
  if (!description_of(chosen).only_operator.empty() && o.op == options{}.op)
    o.op = description_of(chosen).only_operator;
  if (o.op == "none")
    throw input_error(
        "what is no fold has no result to judge: 'tenfold check' says what the kernel does");
  return chosen;
}

CLI::App* declare_run(CLI::App& app, run_request& r) {
  CLI::App* run = app.add_subcommand("run", "run one stage, check and time it");
  CLI::Option* named =
      run->add_option("STAGE", r.stage, "number or name, see 'tenfold list', or a kernel's file");
  add_options(*run, r.o);
  add_shape_options(*run, r.o);
  add_kernel_option(*run, r.o)->excludes(named);
  add_sharing_options(*run, r.o);
  run->parse_complete_callback([named, &r] {
    if (named->count() == 0 && r.o.kernel.empty()) throw CLI::RequiredError("STAGE or --kernel");
  });
  return run;
}

void add_run_verb(CLI::App& app, action& chosen) {
  const auto r = std::make_shared<run_request>();
  declare_run(app, *r)->callback([r, &chosen] {
    // Among ranks it is another program's work.
    if (!r->o.distributed)
      chosen = [r] {
        if (!r->kernel_file().empty()) go_on_in_child("the kernel");
        if (!r->o.devices.empty()) return run_on_devices(*r);
        const stage_info& stage = r->choose_stage(choose_device(r->o.device).name());
        return run_stage(stage, r->o);
      };
  });
}

}  // namespace tenfold::cli
