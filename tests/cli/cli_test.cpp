// The program as its users meet it: command lines in; exit code, standard output and standard error
// out. Everything runs on the executor, so that the tests are the same on every machine.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/cli/program.hpp"

namespace tenfold::cli_test {
namespace {

constexpr std::array<std::string_view, 10> stage_names{
    "naive",    "no_divergence", "no_bank_conflicts", "first_op_on_load", "warp_sync",
    "unrolled", "warp_shuffle",  "warps_first",       "items_per_thread", "two_pass"};
constexpr std::array<std::string_view, 6> wide_types{"i32", "u32", "i64", "u64", "f32", "f64"};
constexpr std::array<std::string_view, 4> narrow_types{"i8", "u8", "f16", "bf16"};
constexpr const char* every_type = "i32, u32, i64, u64, f32, f64, i8, u8, f16, bf16";

// ---- help and verbs -----------------------------------------------------------------------------

const words run_options{"--n",      "--type",     "--op",    "--block", "--items",  "--grid",
                        "--device", "--schedule", "--input", "--seed",  "--repeat", "--json"};

TEST_F(Cli, HelpNamesVerbsAndExitCodes) {
  const outcome o = succeed({"--help"});
  for (const char* part :
       {"list", "devices", "run", "ladder", "diff", "best", "--version", "Exit codes"})
    EXPECT_TRUE(contains(o.out, part)) << part << o.what();
}

TEST_F(Cli, HelpOfEachVerbNamesItsOptions) {
  for (const char* verb : {"run", "ladder"}) {
    const outcome o = succeed({verb, "--help"});
    for (const std::string& option : run_options)
      EXPECT_TRUE(contains(o.out, option + " ")) << option << o.what();
    for (const std::string_view type : wide_types) EXPECT_TRUE(contains(o.out, type)) << o.what();
    for (const std::string_view type : narrow_types) EXPECT_TRUE(contains(o.out, type)) << o.what();
    for (const char* op : {"sum", "product", "minimum", "maximum", "bit_and", "gcd"})
      EXPECT_TRUE(contains(o.out, op)) << o.what();
  }
  for (const char* option : {"--n ", "--type ", "--op ", "--device ", "--mode ", "--measure "})
    EXPECT_TRUE(contains(succeed({"best", "--help"}).out, option)) << option;
  EXPECT_TRUE(contains(succeed({"run", "--help"}).out, "STAGE"));
  EXPECT_TRUE(contains(succeed({"diff", "--help"}).out, "A B"));
  EXPECT_TRUE(contains(succeed({"list", "--help"}).out, "list"));
  EXPECT_TRUE(contains(succeed({"devices", "--help"}).out, "devices"));
}

TEST_F(Cli, HelpOfTheLadderNamesWhatItTakesBeyond) {
  const outcome o = succeed({"ladder", "--help"});
  for (const char* option : {"--beyond ", "--sizes ", "--peers "})
    EXPECT_TRUE(contains(o.out, option)) << option << o.what();
}

TEST_F(Cli, HelpNeedsNoStage) {
  EXPECT_TRUE(contains(succeed({"run", "3", "--help"}).out, "STAGE"));
  EXPECT_TRUE(contains(succeed({"run", "--help", "3"}).out, "STAGE"));
}

TEST_F(Cli, VersionSaysWhatTheProgramWasBuiltFrom) {
  const outcome o = succeed({"--version"});
  EXPECT_TRUE(o.out.starts_with("version 0.")) << o.what();
  EXPECT_TRUE(contains(o.out, "\ncompiler ")) << o.what();
}

TEST_F(Cli, NoVerbListsVerbs) {
  expect_refusal(tenfold({}), bad_input, {"list", "devices", "run", "ladder", "diff", "--help"});
}

TEST_F(Cli, UnknownVerbIsNamedAndVerbsListed) {
  expect_refusal(tenfold({"frobnicate"}), bad_input,
                 {"'frobnicate'", "list, devices, run, ladder, diff", "tenfold --help"});
  expect_refusal(tenfold({"--frobnicate"}), bad_input, {"'--frobnicate'", "ladder"});
}

TEST_F(Cli, UnknownOptionIsNamedAndTheVerbsHelpToo) {
  expect_refusal(tenfold({"run", "3", "--foo"}), bad_input, {"--foo", "'tenfold run --help'"});
  expect_refusal(tenfold({"ladder", "--foo"}), bad_input, {"--foo", "'tenfold ladder --help'"});
  expect_refusal(tenfold({"list", "--n", "3"}), bad_input, {"--n", "'tenfold list --help'"});
  expect_refusal(tenfold({"devices", "3"}), bad_input, {"3", "'tenfold devices --help'"});
  expect_refusal(tenfold({"run", "3", "-n", "5"}), bad_input, {"-n"});
}

TEST_F(Cli, DevicesShareTheInput) {
  for (const char* n : {"0", "1", "65537"}) {
    const words request{"run", "10", "--n", n, "--type", "i32"};
    const json together = measure(request + words{"--devices", "simt:32,simt:64,simt:32"});
    const json alone = measure(request + words{"--device", "simt"});
    EXPECT_EQ(together["benchmarks"][0]["verdict"], "right");
    EXPECT_EQ(together["benchmarks"][0]["result"], alone["benchmarks"][0]["result"]);
    EXPECT_EQ(together["context"]["ranks"], 3);
    EXPECT_EQ(together["context"]["devices"], json({"simt:32", "simt:64", "simt:32"}));
  }
  const outcome ladder = succeed({"ladder", "--n", "1000", "--devices", "simt:32,simt:64"});
  for (const char* word :
       {"2 ranks", "warps of 32", "warps of 64", "500 elements each", "1  naive", "10  two_pass"})
    EXPECT_TRUE(contains(ladder.out, word)) << word << ladder.what();
}

TEST_F(Cli, DevicesThatCannotShareTheInput) {
  expect_refusal(tenfold({"run", "10", "--devices", "simt:32,simt:33"}), bad_input,
                 {"rank 1 of 2", "simt:33"});
  expect_refusal(tenfold({"run", "10", "--devices", "simt", "--mode", "in-graph"}), bad_input,
                 {"--mode"});
  expect_refusal(tenfold({"run", "10", "--devices", "simt", "--device", "simt"}), bad_input,
                 {"--device"});
  expect_refusal(tenfold({"run", "10", "--devices", "simt", "--input", "-"}), bad_input,
                 {"standard input"});
  for (const words& sharing : {words{"--devices", "simt"}, words{"--distributed"}})
    for (const char* option : {"--peers", "--sizes", "--kernel"})
      expect_refusal(tenfold(words{"ladder", option, "2"} + sharing), bad_input,
                     {sharing[0].c_str(), "excludes", option});
}

TEST_F(Cli, HelpOfAVerbByTheVerbHelp) {
  for (const char* verb : {"run", "compare", "profile", "completion"})
    EXPECT_EQ(succeed({"help", verb}).out, succeed({verb, "--help"}).out) << verb;
  EXPECT_EQ(succeed({"help"}).out, succeed({"--help"}).out);
  expect_refusal(tenfold({"help", "lader"}), bad_input, {"'lader'", "did you mean 'ladder'?"});
}

TEST_F(Cli, HelpIsInGroupsWithExamples) {
  const std::string help = succeed({"--help"}).out;
  for (const char* group : {"Look up:\n", "Run:\n", "See why:\n", "A kernel of your own:\n"})
    EXPECT_TRUE(contains(help, group)) << help;
  EXPECT_FALSE(contains(help, "Subcommands:")) << "a verb without a group: " << help;
  for (const char* verb : {"run", "diff", "compare", "check", "list"}) {
    const std::string of_verb = succeed({verb, "--help"}).out;
    EXPECT_TRUE(contains(of_verb, "Such as\n  tenfold " + std::string(verb))) << of_verb;
    EXPECT_TRUE(contains(of_verb, "Exit codes: ")) << of_verb;
  }
}

TEST_F(Cli, ValuesThatAreNoneAreRefusedInPlainWords) {
  for (const auto& [typed, said] : std::map<words, const char*>{
           {{"run", "3", "--block", "abc"}, "--block: 'abc' is not a count"},
           {{"run", "3", "--block", "0400"}, "and block 400"},
           {{"run", "3", "--repeat", "0"}, "--repeat: '0' is not a number from 1 to 1000000"},
           {{"check", "3", "--warp", "5"}, "--warp: there is no '5', use one of 32,64"},
           {{"run", "3", "--items", "4"}, "stage 3 (no_bank_conflicts) takes no items: leave"},
           {{"new", "--from", "absent.cu"}, "there is no kernel file 'absent.cu'"}})
    expect_refusal(tenfold(typed), bad_input, {said});
}

TEST_F(Cli, SlipsOfTheFinger) {
  for (const auto& [typed, meant] : std::map<std::string, const char*>{
           {"lader", "ladder"}, {"ldader", "ladder"}, {"prof", "profile"}, {"bset", "best"}})
    expect_refusal(tenfold({typed}), bad_input, {"did you mean '", meant});
  expect_refusal(tenfold({"run", "3", "--tipe", "f32"}), bad_input,
                 {"--tipe (did you mean '--type'?)"});
  expect_refusal(tenfold({"run", "3", "--sched=reverse"}), bad_input, {"'--schedule'"});
  expect_refusal(tenfold({"run", "two_pas"}), bad_input, {"'two_pas' (did you mean 'two_pass'?)"});
  for (const words& far :
       {words{"frobnicate"}, words{"run", "3", "--frobnicate"}, words{"run", "99"}})
    EXPECT_FALSE(contains(tenfold(far).err, "did you mean")) << join(far);
}

TEST_F(Cli, CompletionInBash) {
  write("tenfold.bash", succeed({"completion", "bash"}).out);
  const auto complete = [&](const std::string& typed) {
    // The last word may be empty.
    const std::string last = typed.substr(typed.rfind(' ') + 1);
    const outcome o =
        spawn({"/bin/bash", "-c",
               "source ./tenfold.bash; COMP_WORDS=(" + typed + (last.empty() ? "''" : "") +
                   "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _tenfold; "
                   "echo ${COMPREPLY[@]}"});
    EXPECT_EQ(o.code, success) << o.what();
    return o.out;
  };
  EXPECT_EQ(complete("tenfold lad"), "ladder\n");
  EXPECT_EQ(complete("tenfold help pro"), "profile\n");
  EXPECT_EQ(complete("tenfold run two_"), "two_pass\n");
  EXPECT_EQ(complete("./tenfold --preset simt run 3 --sch"), "--schedule\n");
  EXPECT_EQ(complete("tenfold run 3 --type bf"), "bf16\n");
  EXPECT_EQ(complete("tenfold run 3 --json "), "\n") << "files are the shell's";
  EXPECT_TRUE(contains(complete("tenfold "), " completion "));
  EXPECT_TRUE(contains(succeed({"completion", "zsh"}).out, "bashcompinit"));
  expect_refusal(tenfold({"completion", "fish"}), bad_input, {"SHELL", "fish"});
}

TEST_F(Cli, QuietPrintsNothingButErrors) {
  const words run{"run", "3", "--n", "1000", "--device", "simt:32", "--repeat", "1", "--quiet"};
  EXPECT_EQ(succeed(run).out, "");
  EXPECT_EQ(succeed({"ladder", "--n", "100", "--repeat", "1", "--quiet"}).out, "");
  std::ignore = succeed(run + words{"--json", "r.json"});
  EXPECT_EQ(json::parse(slurp(in_directory("r.json"))).at("benchmarks").size(), 1u);
  for (const words& order : {words{"--quiet", "--json", "-"}, words{"--json", "-", "--quiet"}})
    EXPECT_TRUE(json::parse(succeed(words{"run", "3", "--n", "9"} + order).out).is_object());
  expect_refusal(tenfold({"run", "99", "--quiet"}), bad_input, {"no stage '99'"});
}

/// The lines of standard output that are wider than that.
words wider_than(std::ptrdiff_t width, const outcome& o) {
  words wide;
  for (const std::string& line : lines_of(o.out))
    if (std::ranges::count_if(line, [](char c) { return (c & 0xc0) != 0x80; }) > width)
      wide.push_back(line);
  return wide;
}

TEST_F(Cli, OutputFitsTheTerminal) {
  for (const char* file : {"h200-ladder.json", "h200-ladder-256.json"})
    fs::copy_file(fs::path(TENFOLD_EXAMPLES) / "../docs/results" / file, in_directory(file));
  const words small{"--n", "1000", "--repeat", "1", "--device", "simt:32"};
  for (const words& command :
       {words{"list"}, words{"list", "--detours"}, words{"devices"}, words{"help"},
        words{"run", "--help"}, words{"help", "ladder"}, words{"run", "3"} + small,
        words{"ladder", "--n", "1000", "--device", "simt:32"}, words{"ladder"} + small,
        words{"ladder", "--sizes", "1,10,100", "--repeat", "1"}, words{"best"} + small,
        words{"compare", "h200-ladder.json", "h200-ladder-256.json", "h200-ladder.json"}})
    for (const int width : {60, 80, 200}) {
      const outcome o = succeed(command, {{"COLUMNS", std::to_string(width)}});
      EXPECT_EQ(wider_than(width, o), words{}) << width << o.what();
    }
}

TEST_F(Cli, ANarrowLadderSaysWhatItLeavesOut) {
  const words ladder{"ladder", "--n", "1000", "--device", "simt:32"};
  const outcome narrow = succeed(ladder, {{"COLUMNS", "80"}});
  EXPECT_TRUE(contains(narrow.out, "A wider terminal has room for more: launches, barriers.\n"));
  EXPECT_TRUE(contains(narrow.out, "3  no_bank_conflicts        1.00   98%")) << narrow.what();
  EXPECT_FALSE(contains(succeed(ladder, {{"COLUMNS", "200"}}).out, "wider"));
}

TEST_F(Cli, DevicesAsJson) {
  const json document = json::parse(succeed({"devices", "--json"}).out);
  const json executor = document.at("devices").back();
  EXPECT_TRUE(executor.at("device").get<std::string>().starts_with("simt:"));
  EXPECT_EQ(executor.at("is_executor"), true);
  EXPECT_GT(executor.at("warp"), 0);
  EXPECT_EQ(lines_of(succeed({"devices", "--json", "d.json"}).out).size(),
            document.at("devices").size() + document.at("absent").size());
  EXPECT_EQ(json::parse(slurp(in_directory("d.json"))).at("devices"), document.at("devices"));
}

TEST_F(Cli, MissingOrSurplusArguments) {
  expect_refusal(tenfold({"run"}), bad_input, {"STAGE", "required", "'tenfold run --help'"});
  expect_refusal(tenfold({"run", "3", "4"}), bad_input, {"4"});
  expect_refusal(tenfold({"diff", "3"}), bad_input, {"B", "required"});
  expect_refusal(tenfold({"run", "3", "--n"}), bad_input, {"--n"});
  expect_refusal(tenfold({"run", "3", "--n", "4", "--n", "5"}), bad_input, {"--n"});
}

TEST_F(Cli, ListNamesAllStagesInOrder) {
  const outcome o = succeed({"list"});
  const words lines = lines_of(o.out);
  ASSERT_GE(lines.size(), 11u) << o.what();
  for (std::size_t i = 0; i < stage_names.size(); ++i) {
    std::istringstream line(lines[i + 1]);
    std::size_t number = 0;
    std::string name;
    line >> number >> name;
    EXPECT_EQ(number, i + 1) << o.what();
    EXPECT_EQ(name, stage_names[i]) << o.what();
    EXPECT_EQ(contains(lines[i + 1], "block items"), i >= 8) << lines[i + 1];
    EXPECT_EQ(contains(lines[i + 1], "items grid"), i == 9) << lines[i + 1];
    EXPECT_EQ(contains(lines[i + 1], "wide, narrow"), i == 9) << lines[i + 1];
  }
  EXPECT_TRUE(contains(o.out, "Narrow ones, i8, u8, f16, bf16, ")) << o.what();
}

TEST_F(Cli, DevicesShowTheExecutor) {
  const outcome o = succeed({"devices"});
  EXPECT_TRUE(contains(o.out, "simt:32")) << o.what();
  EXPECT_TRUE(contains(o.out, "simt:64")) << o.what();
  EXPECT_TRUE(contains(o.out, "warp size 64")) << o.what();
}

// ---- stages, types, operators -------------------------------------------------------------------

TEST_F(Cli, RunSaysWhatThereIsToSay) {
  const outcome o = succeed({"run", "3", "--n", "1000", "--device", "simt:32"});
  for (const char* part : {"3 no_bank_conflicts", "simt:32", "sum of 1000 random f32 (seed 1)",
                           "block 256", "warp 32", "right", "reference", "median of", "GB/s"})
    EXPECT_TRUE(contains(o.out, part)) << part << o.what();
}

TEST_F(Cli, StageByNumberNameAndFileName) {
  for (const char* stage : {"3", "03", "no_bank_conflicts", "03_no_bank_conflicts"}) {
    const json entry = measure_one({"run", stage, "--n", "100", "--type", "u32"});
    EXPECT_EQ(entry.at("stage"), 3) << stage;
    EXPECT_EQ(entry.at("stage_name"), "no_bank_conflicts") << stage;
  }
  EXPECT_EQ(measure_one({"run", "10", "--n", "100", "--type", "i32"}).at("stage_name"), "two_pass");
}

TEST_F(Cli, UnknownStageListsStages) {
  for (const char* stage : {"99", "0", "003", "", "threads", "3.0"})
    expect_run_refused({stage}, bad_input,
                       {"there is no stage", "1 naive", "3 no_bank_conflicts", "11 single_pass"});
}

TEST_F(Cli, EveryTypeAndOperator) {
  for (const std::string_view type : wide_types) {
    words operators{"sum", "product", "minimum", "maximum"};
    if (type[0] != 'f') operators = operators + words{"bit_and", "bit_or", "bit_xor"};
    if (type[0] == 'u') operators.emplace_back("gcd");
    for (const std::string& op : operators) {
      const json entries =
          measure({"run", "10", "--n", "1000", "--type", std::string(type), "--op", op})
              .at("benchmarks");
      ASSERT_EQ(entries.size(), 1u);
      EXPECT_EQ(entries[0].at("ok"), true) << entries.dump(1);
      EXPECT_EQ(entries[0].at("type"), type);
      EXPECT_EQ(entries[0].at("op"), op);
    }
  }
}

TEST_F(Cli, NarrowTypesInTheStagesThatTakeThem) {
  for (const char* stage : {"10", "15"})
    for (const std::string_view type : narrow_types)
      for (const char* op : {"sum", "minimum", "maximum"}) {
        const json entry =
            measure_one({"run", stage, "--n", "70001", "--type", std::string(type), "--op", op});
        EXPECT_EQ(entry.at("ok"), true) << entry.dump(1);
        EXPECT_EQ(entry.at("type"), type);
        const double bytes = type.ends_with("8") ? 70'001 : 2 * 70'001;
        EXPECT_NEAR(
            entry.at("bytes_per_second").get<double>() * entry.at("real_time").get<double>() * 1e-6,
            bytes, 1e-6 * bytes);
      }
}

TEST_F(Cli, NarrowTypesInOtherStagesNameThoseThatTakeThem) {
  for (const char* stage : {"1", "9", "11"})
    for (const char* type : {"i8", "u8", "f16", "bf16"})
      expect_run_refused(
          {stage, "--n", "100", "--type", type}, bad_input,
          {"stage", stage, "takes no elements of type", type, "or one of the stages 10, 13, 15"});
  expect_run_refused({"15", "--n", "100", "--type", "f32"}, bad_input,
                     {"stage 15 takes no elements of type f32, only of i8, u8, f16, bf16",
                      "use --type i8 or one of the stages 1, 2, "});
}

TEST_F(Cli, NarrowTypesHaveThreeOperators) {
  for (const char* op : {"product", "bit_xor", "gcd"})
    expect_run_refused({"10", "--n", "100", "--type", "u8", "--op", op}, bad_input,
                       {op, "u8", "use sum, minimum, maximum"});
}

TEST_F(Cli, NarrowTypesHaveShapesOfTheirOwn) {
  for (const char* block : {"256", "512"})
    for (const char* items : {"4", "16"})
      EXPECT_EQ(measure_one({"run", "15", "--n", "5000", "--type", "i8", "--block", block,
                             "--items", items})
                    .at("ok"),
                true);
  expect_run_refused({"10", "--n", "100", "--type", "f16", "--items", "8"}, bad_input,
                     {"8 items", "for narrow elements blocks 256 and 512 with 4 and 16 items"});
}

TEST_F(Cli, ShortFormsOfOperators) {
  const std::map<std::string, std::string> forms{
      {"min", "minimum"}, {"max", "maximum"}, {"and", "bit_and"}, {"or", "bit_or"},
      {"xor", "bit_xor"}, {"add", "sum"},     {"mul", "product"}};
  for (const auto& [form, name] : forms) {
    const words common{"run", "10", "--n", "100", "--type", "u32", "--op"};
    const json by_form = measure_one(common + words{form});
    EXPECT_EQ(by_form.at("op"), name);
    EXPECT_EQ(by_form.at("result"), measure_one(common + words{name}).at("result"));
  }
}

TEST_F(Cli, UnknownOperatorListsThoseThatServe) {
  expect_run_refused({"3", "--op", "foo"}, bad_input,
                     {"'foo'", "f32", "sum, product, minimum, maximum"});
  expect_run_refused({"3", "--op", "", "--type", "i32"}, bad_input, {"sum, product"});
  for (const char* op : {"and", "bit_xor", "gcd"}) {
    const outcome o = tenfold({"run", "3", "--op", op, "--type", "f32", "--device", "simt"});
    expect_refusal(o, bad_input, {"f32", "sum, product, minimum, maximum"});
    EXPECT_FALSE(contains(o.err, "bit_or")) << "takes no f32: " << o.err;
  }
  expect_run_refused({"3", "--op", "gcd", "--type", "i64"}, bad_input,
                     {"'gcd'", "i64", "bit_and, bit_or, bit_xor"});
}

TEST_F(Cli, UnknownTypeListsTypes) {
  for (const char* type : {"f8", "float", "F32"})
    expect_run_refused({"3", "--type", type}, bad_input, {type, every_type});
  expect_run_refused({"3", "--type", ""}, bad_input, {"--type", "empty"});
}

TEST_F(Cli, StagesThatReorderRefuseNothingOfTheProgramsOperators) {
  for (const char* stage : {"1", "2", "3", "10"})
    EXPECT_EQ(measure_one({"run", stage, "--n", "5000", "--op", "min"}).at("ok"), true);
}

// ---- n ------------------------------------------------------------------------------------------

TEST_F(Cli, FormsOfN) {
  const std::map<std::string, std::uint64_t> forms{
      {"1000", 1000}, {"1_000", 1000}, {"2^16", 65536}, {"64Ki", 65536},
      {"1e3", 1000},  {"2.5e3", 2500}, {"1.5k", 1500},  {"1", 1}};
  for (const auto& [text, n] : forms)
    EXPECT_EQ(measure_one({"run", "9", "--type", "u32", "--n", text}).at("n"), n) << text;
}

TEST_F(Cli, BadN) {
  for (const char* n : {"abc", "-5", "1.5", "10 000", "0x10", "2^", "1K", "3 ", "1__0", "nan"})
    expect_run_refused({"3", "--n", n}, bad_input, {n, "for example", "2^24"});
  expect_run_refused({"3", "--n=-5"}, bad_input, {"'-5' is negative"});
  expect_run_refused({"3", "--n", ""}, bad_input, {"--n", "empty"});
}

TEST_F(Cli, NBeyond64Bits) {
  for (const char* n : {"2^64", "18446744073709551616", "1e99", "99999999Ti"})
    expect_run_refused({"3", "--n", n}, bad_input, {"too large", "2^64-1"});
}

TEST_F(Cli, NBeyondMemory) {
  for (const char* n : {"2^50", "2^60", "2^62", "2^63", "18446744073709551615"})
    for (const char* verb : {"run 3", "ladder"}) {
      words command{"ladder"};
      if (std::string_view(verb) != "ladder") command = {"run", "3"};
      expect_refusal(tenfold(command + words{"--n", n, "--device", "simt:32"}), device_failed,
                     {"memory", "use a smaller n"});
    }
}

TEST_F(Cli, NothingGivesTheIdentity) {
  const words common{"run", "10", "--n", "0"};
  const auto identity = [&](const char* type, const char* op) {
    return measure_one(common + words{"--type", type, "--op", op}).at("result");
  };
  EXPECT_EQ(identity("i32", "sum"), 0);
  EXPECT_EQ(identity("i64", "product"), 1);
  EXPECT_EQ(identity("i32", "min"), std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(identity("i64", "max"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(identity("u64", "and"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(identity("u32", "or"), 0u);
  EXPECT_EQ(identity("u32", "gcd"), 0u);
  EXPECT_EQ(identity("f64", "sum"), 0.0);
  EXPECT_EQ(identity("f64", "min"), "inf");
  EXPECT_EQ(identity("f32", "max"), "-inf");
  EXPECT_EQ(identity("i8", "min"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(identity("bf16", "max"), "-inf");
}

TEST_F(Cli, EveryStageTakesNoneAndOneElement) {
  for (const char* n : {"0", "1"}) {
    const json document = measure({"ladder", "--n", n, "--type", "f64"});
    ASSERT_EQ(document.at("benchmarks").size(), 10u);
    for (const json& entry : document.at("benchmarks")) {
      EXPECT_EQ(entry.at("ok"), true) << entry.dump(1);
      EXPECT_EQ(entry.at("result"), document.at("benchmarks")[0].at("result"));
    }
  }
  const outcome o = succeed({"ladder", "--n", "0", "--device", "simt", "--repeat", "1"});
  EXPECT_FALSE(contains(o.out, "nan")) << o.what();
}

// ---- shape --------------------------------------------------------------------------------------

TEST_F(Cli, BlocksOfAllSizes) {
  for (const int block : {64, 128, 256, 512, 1024})
    EXPECT_EQ(
        measure_one({"run", "6", "--n", "5000", "--type", "u32", "--block", std::to_string(block)})
            .at("block"),
        block);
}

TEST_F(Cli, BlockWithoutKernelListsBlocks) {
  for (const char* block : {"96", "0", "2048", "1"})
    expect_run_refused({"3", "--n", "100", "--block", block}, bad_input,
                       {"block", block, "64, 128, 256, 512 and 1024"});
  for (const char* block : {"abc", "256.5", "-256", "99999999999", ""})
    expect_run_refused({"3", "--n", "100", "--block", block}, bad_input, {"--block", "--help"});
}

TEST_F(Cli, ItemsWithoutKernelListItems) {
  for (const char* items : {"3", "0", "32"})
    expect_run_refused({"9", "--n", "100", "--items", items}, bad_input,
                       {items, "1, 2, 4, 8 and 16"});
  expect_run_refused({"9", "--n", "100", "--items", "-1"}, bad_input, {"--items", "negative"});
}

TEST_F(Cli, ItemsOfAllCounts) {
  for (const char* stage : {"9", "10"})
    for (const int items : {1, 2, 4, 8, 16})
      EXPECT_EQ(measure_one({"run", stage, "--n", "5000", "--type", "u32", "--items",
                             std::to_string(items)})
                    .at("items"),
                items);
}

TEST_F(Cli, ItemsWhereThereAreNone) {
  expect_run_refused({"3", "--n", "100", "--items", "8"}, bad_input,
                     {"stage 3 (no_bank_conflicts)", "takes no items"});
}

TEST_F(Cli, NotEveryPairOfBlockAndItemsHasAKernel) {
  const words shape{"--n", "10000", "--block", "512", "--items", "8"};
  expect_run_refused(
      words{"9"} + shape + words{"--type", "f64"}, bad_input,
      {"no kernel", "block 512", "8 items", "with block 256", "sums of f32 have every pair"});
  const json entries = measure(words{"run", "9"} + shape).at("benchmarks");
  EXPECT_EQ(entries[0].at("ok"), true);
  EXPECT_EQ(entries[0].at("block"), 512);
  EXPECT_EQ(entries[0].at("items"), 8);
}

TEST_F(Cli, GridIsForTheStageThatLoops) {
  expect_run_refused({"9", "--n", "100", "--grid", "7"}, bad_input,
                     {"stage 9 (items_per_thread)", "takes no grid"});
  expect_run_refused({"3", "--n", "100", "--grid", "7"}, bad_input, {"takes no grid"});
}

TEST_F(Cli, GridIsUsed) {
  const words common{"run", "10", "--n", "2^16", "--type", "i32"};
  const json entry = measure_one(common + words{"--grid", "7"});
  EXPECT_EQ(entry.at("grid"), 7);
  const json passes{{{"n", 65536}, {"blocks", 7}}, {{"n", 7}, {"blocks", 1}}};
  EXPECT_EQ(entry.at("passes"), passes);
  EXPECT_EQ(measure_one(common + words{"--grid", "2^3"}).at("grid"), 8);
  EXPECT_EQ(measure_one(common + words{"--grid", "0"}).at("grid"), measure_one(common).at("grid"));
}

TEST_F(Cli, GridTooLargeOrNoNumber) {
  const words common{"10", "--n", "2^16", "--grid"};
  expect_run_refused(common + words{"1025"}, bad_input, {"1025", "at most 1024"});
  expect_run_refused(common + words{"18446744073709551615"}, bad_input, {"at most 1024"});
  expect_run_refused(common + words{"-1"}, bad_input, {"--grid", "-1", "negative"});
  expect_run_refused(common + words{"many"}, bad_input, {"--grid", "many"});
  EXPECT_EQ(measure_one({"run", "10", "--n", "2^16", "--type", "u32", "--block", "64", "--items",
                         "4", "--grid", "64"})
                .at("passes")
                .size(),
            2u);
}

// ---- devices and schedules ----------------------------------------------------------------------

TEST_F(Cli, DeviceWithoutNumberIsItsFirst) {
  EXPECT_EQ(measure_one({"run", "3", "--n", "9", "--type", "u32", "--device", "simt"}).at("device"),
            "simt:32");
}

TEST_F(Cli, WarpsOf64) {
  const json document = measure({"ladder", "--n", "5000", "--type", "u32", "--device", "simt:64"});
  ASSERT_EQ(document.at("benchmarks").size(), 10u);
  for (const json& entry : document.at("benchmarks")) {
    EXPECT_EQ(entry.at("warp"), 64);
    EXPECT_EQ(entry.at("device"), "simt:64");
    EXPECT_EQ(entry.at("ok"), true) << entry.dump(1);
  }
}

TEST_F(Cli, WarpSizesWithoutKernels) {
  expect_run_refused({"3", "--n", "100", "--device", "simt:8"}, bad_input,
                     {"warp size 8", "32 and 64"});
  for (const char* device : {"simt:7", "simt:0", "simt:-32", "simt:128"})
    expect_run_refused({"3", "--n", "100", "--device", device}, bad_input, {device, "32 or 64"});
}

TEST_F(Cli, UnknownDeviceListsDevices) {
  for (const char* device : {"simt:", "simt:x", "simt:32x", "SIMT:32", "vulkan", ":32", "32"})
    expect_run_refused({"3", "--n", "100", "--device", device}, bad_input,
                       {"there is no device", device, "simt:32, simt:64"});
  for (const char* option : {"--device", "--devices", "--kernel", "--call"})
    expect_run_refused({"3", option, ""}, bad_input, {option, "empty"});
}

TEST_F(Cli, GpuThatIsNotThere) {
  if (contains(succeed({"devices"}).out, "cuda:0 ")) GTEST_SKIP() << "it is there";
  // A device that is missing is no mistake where the backend is built in.
  const bool built_in = contains(succeed({"devices"}).out, "cuda ");
  expect_run_refused({"3", "--n", "100", "--device", "cuda:0"},
                     built_in ? device_failed : bad_input,
                     {"there is no device 'cuda:0'", built_in ? "--device simt" : "simt:32"});
}

TEST_F(Cli, UnknownScheduleListsSchedules) {
  for (const char* schedule : {"foo", "", "random", "random:", "random:x", "random:-1"})
    expect_run_refused({"3", "--n", "100", "--schedule", schedule}, bad_input,
                       {"unknown schedule", "in-order, reverse, blocks-reverse, random:SEED"});
}

TEST_F(Cli, SchedulesGiveTheSameBits) {
  const words common{"ladder", "--n", "10000", "--op", "sum", "--type", "f32"};
  const json in_order = measure(common);
  ASSERT_EQ(in_order.at("benchmarks").size(), 10u);
  for (const char* schedule : {"reverse", "random:7"}) {
    const json other = measure(common + words{"--schedule", schedule});
    EXPECT_EQ(other.at("context").at("schedule"), schedule);
    for (std::size_t i = 0; i < 10; ++i)
      EXPECT_EQ(other.at("benchmarks").at(i).at("result").dump(),
                in_order.at("benchmarks").at(i).at("result").dump())
          << schedule << ", stage " << i + 1;
  }
}

TEST_F(Cli, ThreadsGiveTheSameBits) {
  const words common{"run", "10", "--n", "10000"};
  const json alone = measure(common, {{"TENFOLD_THREADS", "1"}}).at("benchmarks").at(0);
  EXPECT_EQ(alone.at("ok"), true);
  EXPECT_EQ(alone.at("result"), measure(common).at("benchmarks").at(0).at("result"));
  EXPECT_EQ(alone.at("result"),
            measure(common, {{"TENFOLD_THREADS", "5"}}).at("benchmarks").at(0).at("result"));
}

TEST_F(Cli, BadThreads) {
  for (const char* threads : {"x", "0", "-1", "2x", " ", "99999999999999999999999"}) {
    expect_refusal(
        tenfold({"run", "3", "--n", "100", "--device", "simt"}, {{"TENFOLD_THREADS", threads}}),
        bad_input, {"TENFOLD_THREADS", threads, "set it to a number from 1"});
    EXPECT_EQ(tenfold({"list"}, {{"TENFOLD_THREADS", threads}}).code, success);
  }
}

// ---- seeds and repetitions ----------------------------------------------------------------------

TEST_F(Cli, SeedDecidesTheInput) {
  const words common{"run", "3", "--n", "1000", "--type", "u32"};
  const auto result = [&](const char* seed) {
    return measure_one(common + words{"--seed", seed}).at("result");
  };
  const std::set<json> results{result("0"), result("1"), result("2"),
                               result("18446744073709551615")};
  EXPECT_EQ(results.size(), 4u);
  EXPECT_EQ(result("2"), result("2"));
  EXPECT_EQ(result("1"), measure_one(common).at("result")) << "1 is the default";
  EXPECT_EQ(measure(common + words{"--seed", "7"}).at("context").at("seed"), 7);
}

TEST_F(Cli, BadSeed) {
  for (const char* seed : {"-1", "x", "", "18446744073709551616", "1.5"})
    expect_run_refused({"3", "--n", "10", "--seed", seed}, bad_input, {"--seed", "--help"});
}

TEST_F(Cli, RepeatIsTheNumberOfTimedRuns) {
  const outcome o = succeed({"run", "3", "--n", "100", "--device", "simt", "--repeat", "3"});
  EXPECT_TRUE(contains(o.out, "median of 3")) << o.what();
  for (const char* repeat : {"0", "-1", "x", "1.5", "9999999"})
    expect_run_refused({"3", "--n", "100", "--repeat", repeat}, bad_input, {"--repeat", repeat});
}

// ---- input files --------------------------------------------------------------------------------

TEST_F(Cli, ResultsAsATableForSpreadsheets) {
  succeed({"ladder", "--times", "--n", "1000", "--device", "simt:32", "--repeat", "2", "--json",
           "all.csv"});
  const words lines = lines_of(slurp(in_directory("all.csv")));
  ASSERT_EQ(lines.size(), 11u);
  EXPECT_TRUE(lines[0].starts_with("name,run_name,")) << lines[0];
  EXPECT_TRUE(contains(lines[0], ",rounding.verdict")) << lines[0];
  for (const std::string& line : lines)
    EXPECT_EQ(std::ranges::count(line, ','), std::ranges::count(lines[0], ',')) << line;
}

TEST_F(Cli, InputOfADuel) {
  const auto program = fs::path(TENFOLD_PROGRAM).parent_path() / "tenfold_duel";
  if (!fs::exists(program)) GTEST_SKIP() << "build the target 'benchmarks'";
  write_npy<double>("three.npy", {0.5, 1.5, -4.0});
  const auto duel = [&](const words& more) {
    return spawn(words{program, "--device", "simt", "--candidate", "10,exact", "--peers", "none",
                       "--rounds", "1", "--input", "three.npy"} +
                 more);
  };
  const outcome all = duel({"--json", "-"});
  EXPECT_EQ(all.code, success) << all.what();
  EXPECT_TRUE(contains(all.out, "sum of 3 f64")) << all.what();
  EXPECT_EQ(duel({"--n", "2"}).code, success);
  const outcome refused = duel({"--n", "4"});
  EXPECT_EQ(refused.code, bad_input);
  EXPECT_TRUE(contains(refused.err, "'three.npy' holds 3 elements, --n says 4")) << refused.what();
  expect_refusal(duel({"--type", "f64"}), bad_input, {"--type excludes --input"});
}

TEST_F(Cli, InputOfIntegers) {
  std::vector<std::uint32_t> elements(1000);
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<std::uint32_t>(i);
  write_npy("thousand.npy", elements);
  const json entry = measure_one({"run", "3", "--input", "thousand.npy"});
  EXPECT_EQ(entry.at("result"), 499'500);
  EXPECT_EQ(entry.at("type"), "u32");
  EXPECT_EQ(entry.at("n"), 1000);
  EXPECT_EQ(measure_one({"run", "10", "--input", "thousand.npy", "--op", "max"}).at("result"), 999);
  const json ladder = measure({"ladder", "--input", "thousand.npy"}).at("benchmarks");
  ASSERT_EQ(ladder.size(), 10u);
  for (const json& each : ladder) EXPECT_EQ(each.at("result"), 499'500) << each.dump(1);
}

TEST_F(Cli, InputIsDescribed) {
  write_npy<std::uint32_t>("large.npy", std::vector<std::uint32_t>(1000, 4294967295));
  for (const char* verb : {"run", "ladder"})
    EXPECT_TRUE(
        contains(succeed(words{verb} + (verb == std::string("run") ? words{"3"} : words{}) +
                         words{"--input", "large.npy", "--device", "simt"})
                     .out,
                 "the sum of these elements is 4294967295000: their type does not hold it"));
  write_npy<double>("halves.npy", {0.5, 1.5, -4.0});
  const outcome o = succeed({"run", "3", "--input", "halves.npy", "--device", "simt"});
  EXPECT_TRUE(contains(o.out, "sum of 3 f64 from halves.npy")) << o.what();
  EXPECT_TRUE(contains(o.out, "-2, right (reference -2,")) << o.what();
}

TEST_F(Cli, InputOfBytes) {
  write_npy<std::int8_t>("bytes.npy", std::vector<std::int8_t>(70'001, -128));
  const json entry = measure_one({"run", "15", "--input", "bytes.npy"});
  EXPECT_EQ(entry.at("result"), -128 * 70'001);
  EXPECT_EQ(entry.at("type"), "i8");
  EXPECT_EQ(measure_one({"run", "10", "--input", "bytes.npy", "--op", "max"}).at("result"), -128);
}

TEST_F(Cli, InputOfBf16IsSaidToBeNone) {
  write_npy<float>("data.npy", {1, 2});
  expect_run_refused({"10", "--input", "data.npy", "--type", "bf16"}, bad_input,
                     {"data.npy", "f32", "bf16, which is no type of NumPy's"});
  EXPECT_TRUE(contains(succeed({"run", "--help"}).out, "which bf16 is not to NumPy"));
}

TEST_F(Cli, InputOfTwoDimensionsInFortranOrder) {
  write_npy<std::uint32_t>("matrix.npy", {1, 2, 3, 4, 5, 6}, "(2, 3)", true);
  EXPECT_EQ(measure_one({"run", "9", "--input", "matrix.npy"}).at("result"), 21);
  EXPECT_EQ(measure_one({"run", "10", "--input", "matrix.npy", "--op", "mul"}).at("result"), 720);
  EXPECT_EQ(measure_one({"run", "9", "--input", "matrix.npy", "--type", "u32"}).at("n"), 6);
}

TEST_F(Cli, InputOfOneAndOfNone) {
  write_npy<double>("scalar.npy", {3.25}, "()");
  EXPECT_EQ(measure_one({"run", "10", "--input", "scalar.npy"}).at("result"), 3.25);
  write_npy<double>("empty.npy", {});
  const json entry = measure_one({"run", "10", "--input", "empty.npy", "--op", "min"});
  EXPECT_EQ(entry.at("result"), "inf");
  EXPECT_EQ(entry.at("n"), 0);
}

TEST_F(Cli, InputOfNegativeIntegers) {
  write_npy<std::int32_t>("negative.npy", {-5, 3, -2'000'000'000});
  EXPECT_EQ(measure_one({"run", "3", "--input", "negative.npy"}).at("result"), -2'000'000'002);
  EXPECT_EQ(measure_one({"run", "10", "--input", "negative.npy", "--op", "min"}).at("result"),
            -2'000'000'000);
}

/// Which would be a terminal's to obey; `spawn` looks for the escape.
TEST_F(Cli, InputWhoseNameHasControlCharacters) {
  write_npy<float>("a\n\x1b[31m.npy", {1, 2});
  const words run{"--input", "a\n\x1b[31m.npy", "--device", "simt"};
  for (const words& verb : {words{"run", "3"}, words{"ladder", "--repeat", "1"}}) {
    const outcome o = succeed(verb + run);
    EXPECT_TRUE(contains(o.out, "from a??[31m.npy")) << o.what();
  }
}

TEST_F(Cli, InputBeyondTheIntegersOfADouble) {
  constexpr std::uint64_t large = (std::uint64_t{1} << 53) + 1;
  write_npy<std::uint64_t>("large.npy", {large, 1, std::uint64_t{1} << 60});
  const std::uint64_t expected = large + 1 + (std::uint64_t{1} << 60);
  const json entry = measure_one({"run", "3", "--input", "large.npy"});
  EXPECT_TRUE(entry.at("result").is_number_unsigned());
  EXPECT_EQ(entry.at("result").get<std::uint64_t>(), expected);
  EXPECT_EQ(entry.at("reference").get<std::uint64_t>(), expected);
  const outcome o = succeed({"run", "3", "--input", "large.npy", "--device", "simt"});
  EXPECT_TRUE(contains(o.out, std::to_string(expected) + ", right")) << o.what();
}

TEST_F(Cli, InputWithNanAndInfinity) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float inf = std::numeric_limits<float>::infinity();
  write_npy<float>("nan.npy", {1, nan, -2, 3});
  write_npy<float>("inf.npy", {1, inf, -2, 3});
  for (const char* op : {"min", "max", "sum", "product"})
    EXPECT_EQ(measure_one({"run", "8", "--input", "nan.npy", "--op", op}).at("result"), "nan");
  EXPECT_EQ(measure_one({"run", "8", "--input", "inf.npy", "--op", "min"}).at("result"), -2.0);
  EXPECT_EQ(measure_one({"run", "8", "--input", "inf.npy", "--op", "max"}).at("result"), "inf");
  const json sum = measure_one({"run", "8", "--input", "inf.npy"});
  EXPECT_EQ(sum.at("result"), "inf");
  EXPECT_EQ(sum.at("error_bound"), "inf") << "and not null";
  EXPECT_EQ(measure_one({"run", "8", "--input", "inf.npy", "--op", "mul"}).at("result"), "-inf");
  const outcome o = succeed({"run", "8", "--input", "nan.npy", "--op", "min", "--device", "simt"});
  EXPECT_TRUE(contains(o.out, "nan, right (reference nan)")) << o.what();
}

TEST_F(Cli, InputWhoseSumMayOverflowIsUndecidedAndNoFailure) {
  write_npy<float>("overflow.npy", {3e38F, -3e38F, 3e38F, 3e38F, -3e38F});
  const json entry = measure({"run", "1", "--input", "overflow.npy"}).at("benchmarks").at(0);
  EXPECT_EQ(entry.at("result"), "inf") << "stage 1 adds the third to the fourth";
  EXPECT_EQ(entry.at("verdict"), "undecided");
  EXPECT_EQ(entry.at("ok"), false);
}

/// What no bound decides for one's own elements, a launch of the same shape does for exact ones.
TEST_F(Cli, InputThatRoundsStandsBesideExactElements) {
  write_npy<float>("rounds.npy", {1e8F, 1, -1e8F, 3});
  const outcome o = succeed({"run", "1", "--input", "rounds.npy", "--device", "simt"});
  for (const char* part : {"undecided (reference 4, error ", "certain bound", "by this bound 0 ",
                           "\nexact      ", "for other elements"})
    EXPECT_TRUE(contains(o.out, part)) << part << o.what();
  for (const char* op : {"sum", "product"}) {
    const json entry =
        measure({"run", "1", "--input", "rounds.npy", "--op", op}).at("benchmarks").at(0);
    EXPECT_EQ(entry.at("exact").at("verdict"), "right") << op;
    EXPECT_EQ(entry.at("exact").at("error"), 0) << op;
  }
  for (const words& more :
       {words{"--input", "rounds.npy", "--op", "min"}, {"--n", "9", "--type", "u32"}})
    EXPECT_FALSE(measure_one(words{"run", "1"} + more).contains("exact"));
}

TEST_F(Cli, InputFromStandardInput) {
  std::vector<std::int32_t> elements(100'000);
  std::iota(elements.begin(), elements.end(), -7);
  write_npy("data.npy", elements);
  const std::string run =
      std::string(TENFOLD_PROGRAM) + " run 10 --device simt:32 --repeat 1 --json - --input - ";
  for (const std::string& line : {run + "< data.npy", "cat data.npy | " + run}) {
    const outcome o = spawn({"/bin/sh", "-c", line});
    ASSERT_EQ(o.code, success) << o.what();
    const json entry = json::parse(o.out).at("benchmarks").at(0);
    EXPECT_EQ(entry.at("result"), 704'982'704 - 700'000) << line;  // modulo 2^32
    EXPECT_EQ(entry.at("n"), 100'000);
  }
  for (const char* no_data : {"cat /dev/zero | ", "cat /dev/null | ", "printf '\\223NUM' | "})
    expect_refusal(spawn({"/bin/sh", "-c", no_data + run}), bad_input, {"'-' is not a .npy file"});
  expect_refusal(spawn({"/bin/sh", "-c", "head -c 1000 data.npy | " + run}), bad_input,
                 {"'-' is truncated"});
  expect_refusal(spawn({"/bin/sh", "-c", "cat data.npy | TMPDIR=/nonexistent " + run}), bad_input,
                 {"set TMPDIR"});
}

// The file is as large as its header says, and holds nothing but a hole.
TEST_F(Cli, InputThatIsShortenedWhileItIsRead) {
  constexpr std::uint64_t n = std::uint64_t{1} << 26;
  write_npy<std::uint32_t>("data.npy", {}, "(" + std::to_string(n) + ",)");
  const fs::path file = in_directory("data.npy");
  fs::resize_file(file, fs::file_size(file) + n * 4);
  const outcome o =
      spawn({TENFOLD_PROGRAM, "run", "10", "--input", "data.npy"}, {}, {}, [&](pid_t running) {
        const fs::path maps = "/proc/" + std::to_string(running) + "/maps";
        while (!contains(slurp(maps), "data.npy") && kill(running, 0) == 0)
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        fs::resize_file(file, 4096);
      });
  expect_refusal(o, bad_input, {"'data.npy' was shortened while it was read", "copy"});
}

TEST_F(Cli, InputWithSpacesInItsName) {
  write_npy<double>("my own data.npy", {1, 2});
  EXPECT_EQ(measure_one({"run", "3", "--input", "my own data.npy"}).at("result"), 3.0);
}

TEST_F(Cli, InputThatCannotBeRead) {
  expect_run_refused({"3", "--input", "missing.npy"}, bad_input, {"missing.npy", "No such file"});
  expect_run_refused({"3", "--input", "."}, bad_input, {"'.'"});
  expect_run_refused({"3", "--input", ""}, bad_input, {"--input", "empty"});
  write("text.npy", "1 2 3\n");
  expect_run_refused({"3", "--input", "text.npy"}, bad_input,
                     {"'text.npy' is not a .npy file", "numpy.save"});
  write("nothing.npy", "");
  expect_run_refused({"3", "--input", "nothing.npy"}, bad_input, {"nothing.npy"});
}

TEST_F(Cli, InputThatIsTruncated) {
  write_npy<double>("whole.npy", {1, 2, 3});
  const std::string bytes = slurp(in_directory("whole.npy"));
  write("short.npy", std::string_view(bytes).substr(0, bytes.size() - 1));
  expect_run_refused({"3", "--input", "short.npy"}, bad_input,
                     {"short.npy", "truncated", "24 bytes", "23"});
}

TEST_F(Cli, InputOfAnotherType) {
  write_npy<std::int16_t>("short.npy", {1, 2, 3});
  expect_run_refused({"3", "--input", "short.npy"}, bad_input, {"<i2", "not supported", "astype"});
}

TEST_F(Cli, InputContradictedByOptions) {
  write_npy<double>("data.npy", {1, 2});
  expect_run_refused({"3", "--input", "data.npy", "--n", "2"}, bad_input,
                     {"--n and --input exclude each other"});
  expect_run_refused({"3", "--input", "data.npy", "--type", "f32"}, bad_input,
                     {"data.npy", "f64", "f32", "leave --type out"});
  expect_run_refused({"3", "--input", "data.npy", "--op", "xor"}, bad_input,
                     {"bit_xor", "f64", "sum, product, minimum, maximum"});
  expect_run_refused({"3", "--input", "data.npy", "--type", "f16"}, bad_input, {"f16"});
}

TEST_F(Cli, OperatorOfTheUser) {
  std::vector<std::uint32_t> elements;
  for (std::uint32_t i = 2; i < 2000; ++i) elements.push_back(12 * i);
  write_npy("twelves.npy", elements);
  const json entry =
      measure_one({"run", "10", "--op", "gcd", "--type", "u32", "--input", "twelves.npy"});
  EXPECT_EQ(entry.at("result"), 12);
  EXPECT_EQ(entry.at("op"), "gcd");
  EXPECT_TRUE(fs::exists(fs::path(TENFOLD_EXAMPLES) / "gcd.hpp"));
}

// ---- JSON ---------------------------------------------------------------------------------------

void expect_entry(const json& e) {
  for (const char* key : {"name", "run_name", "run_type", "time_unit", "stage_name", "device",
                          "type", "op", "verdict"})
    EXPECT_TRUE(e.at(key).is_string()) << key << e.dump(1);
  for (const char* key : {"repetitions", "repetition_index", "threads", "iterations", "stage",
                          "warp", "n", "block", "items", "grid"})
    EXPECT_TRUE(e.at(key).is_number_integer()) << key << e.dump(1);
  for (const char* key : {"real_time", "cpu_time", "bytes_per_second", "fastest", "slowest",
                          "result", "reference", "error_bound"})
    EXPECT_TRUE(e.at(key).is_number()) << key << e.dump(1);
  EXPECT_EQ(e.at("ok"), true);
  EXPECT_EQ(e.at("verdict"), "right");
  EXPECT_EQ(e.at("time_unit"), "us");
  EXPECT_EQ(e.at("run_type"), "iteration");
  EXPECT_GT(e.at("real_time").get<double>(), 0);
  EXPECT_LE(e.at("fastest").get<double>(), e.at("real_time").get<double>());
  EXPECT_GE(e.at("slowest").get<double>(), e.at("real_time").get<double>());
  ASSERT_FALSE(e.at("passes").empty());
  EXPECT_EQ(e.at("passes")[0].at("n"), e.at("n"));
  EXPECT_EQ(e.at("passes")[0].at("blocks"), e.at("grid"));
  EXPECT_EQ(e.at("passes").back().at("blocks"), 1);
}

TEST_F(Cli, JsonOfALadder) {
  const json document = measure({"ladder", "--n", "5000", "--type", "f64"});
  const json& context = document.at("context");
  for (const char* key : {"date", "host_name", "executable", "library_build_type", "device",
                          "device_name", "schedule"})
    EXPECT_TRUE(context.at(key).is_string()) << key;
  EXPECT_TRUE(context.at("num_cpus").is_number_integer());
  EXPECT_EQ(context.at("device"), "simt:32");
  EXPECT_EQ(context.at("seed"), 1);

  const json& entries = document.at("benchmarks");
  ASSERT_EQ(entries.size(), 10u);
  std::set<std::string> names;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const json& e = entries[i];
    expect_entry(e);
    EXPECT_EQ(e.at("stage"), i + 1);
    EXPECT_EQ(e.at("stage_name"), stage_names[i]);
    EXPECT_EQ(e.at("warp"), 32);
    EXPECT_EQ(e.at("device"), "simt:32");
    EXPECT_EQ(e.at("n"), 5000);
    EXPECT_EQ(e.at("type"), "f64");
    EXPECT_EQ(e.at("op"), "sum");
    EXPECT_EQ(e.at("block"), 256);
    EXPECT_EQ(e.at("rounds"), 1);
    const double expected = 5000 * 8 / (e.at("real_time").get<double>() * 1e-6);
    EXPECT_NEAR(e.at("bytes_per_second").get<double>(), expected, 1e-6 * expected);
    EXPECT_NEAR(e.at("result").get<double>(), e.at("reference").get<double>(),
                e.at("error_bound").get<double>());
    names.insert(e.at("name").get<std::string>());
  }
  EXPECT_EQ(names.size(), 10u) << "tools tell entries apart by name";
}

TEST_F(Cli, JsonToAFileLeavesTheReportOnStandardOutput) {
  write("a result.json", std::string(100'000, 'x'));
  const outcome o = succeed(
      {"run", "3", "--n", "1000", "--device", "simt", "--repeat", "4", "--json", "a result.json"});
  EXPECT_TRUE(contains(o.out, "right")) << o.what();
  EXPECT_FALSE(contains(o.out, "\"benchmarks\"")) << o.what();
  const json document = json::parse(slurp(in_directory("a result.json")));
  ASSERT_EQ(document.at("benchmarks").size(), 1u);
  expect_entry(document.at("benchmarks")[0]);
  const json& entry = document.at("benchmarks")[0];
  EXPECT_EQ(entry.at("rounds"), 4);
  EXPECT_EQ(entry.at("iterations"), 4 * entry.at("calls_per_sample").get<int>());
}

TEST_F(Cli, JsonToAFileThatCannotBeWritten) {
  const words common{"run", "3", "--n", "100", "--device", "simt", "--json"};
  for (const char* file : {"/nonexistent/result.json", "/dev/full", "."}) {
    const outcome o = tenfold(common + words{file});
    EXPECT_EQ(o.code, bad_input) << o.what();
    EXPECT_TRUE(contains(o.err, "cannot write '" + std::string(file) + "'")) << o.what();
    EXPECT_EQ(lines_of(o.err).size(), 1u) << o.what();
  }
  expect_refusal(tenfold({"run", "3", "--json"}), bad_input, {"--json"});
  expect_refusal(tenfold({"run", "3", "--json", ""}), bad_input, {"--json", "empty"});
}

TEST_F(Cli, JsonHasNoPartWhenARunIsRefused) {
  expect_run_refused({"3", "--n", "100", "--items", "8", "--json", "-"}, bad_input, {"items"});
  expect_run_refused({"3", "--n", "100", "--items", "8", "--json", "r.json"}, bad_input, {"items"});
  EXPECT_FALSE(fs::exists(in_directory("r.json")));
}

TEST_F(Cli, StandardOutputThatIsFull) {
  for (const words& arguments :
       {words{"list"}, words{"list", "--json"},
        words{"run", "3", "--n", "9", "--device", "simt", "--json", "-"}}) {
    const outcome o = spawn(words{TENFOLD_PROGRAM} + arguments, {}, "/dev/full");
    EXPECT_EQ(o.code, bad_input) << o.what();
    EXPECT_TRUE(contains(o.err, "cannot write to standard output")) << o.what();
  }
}

TEST_F(Cli, HelpOnAFullDisk) {
  for (const words& arguments : {words{"--help"}, words{"run", "--help"}, words{"--version"}}) {
    const outcome o = spawn(words{TENFOLD_PROGRAM} + arguments, {}, "/dev/full");
    EXPECT_EQ(o.code, bad_input) << o.what();
    EXPECT_TRUE(contains(o.err, "cannot write to standard output")) << o.what();
  }
}

TEST_F(Cli, StreamsThatAreClosedOrFull) {
  const auto shell = [&](const std::string& redirected) {
    return spawn({"/bin/sh", "-c", std::string(TENFOLD_PROGRAM) + " " + redirected});
  };
  for (const char* redirected : {"run 99 2>&-", "run 99 2>/dev/full", "list >&-"})
    EXPECT_EQ(shell(redirected).code, bad_input) << redirected;
  EXPECT_EQ(shell("list <&- 2>&-").code, success);
}

// Threads, too, get as little stack as there was at the start.
TEST_F(Cli, LittleStack) {
  const std::string run = std::string(TENFOLD_PROGRAM) + " run 3 --n 1000 --device simt:32";
  const outcome raised = spawn({"/bin/sh", "-c", "ulimit -S -s 32; " + run});
  EXPECT_EQ(raised.code, success) << raised.what();
  const outcome held = spawn({"/bin/sh", "-c", "ulimit -s 32; " + run});
  if (held.code == success) GTEST_SKIP() << "this user may raise the limit again";
  expect_refusal(held, bad_input, {"stack is limited to 32 KiB", "ulimit -s 8192"});
}

// ---- ladder -------------------------------------------------------------------------------------

TEST_F(Cli, LadderHasALinePerStageAndAClosingSentence) {
  const outcome o = succeed({"ladder", "--n", "4096", "--device", "simt:32", "--repeat", "1"});
  EXPECT_FALSE(contains(o.out, "\r")) << "overwrites lines, but this is no terminal";
  std::size_t next = 0;
  for (const std::string& text : lines_of(o.out)) {
    std::istringstream line(text);
    std::size_t number = 0;
    std::string name;
    if (!(line >> number >> name)) continue;
    ASSERT_LT(next, stage_names.size()) << o.what();
    EXPECT_EQ(number, next + 1) << o.what();
    EXPECT_EQ(name, stage_names[next]) << o.what();
    EXPECT_TRUE(contains(text, "right")) << text;
    ++next;
  }
  EXPECT_EQ(next, 10u) << o.what();
  EXPECT_TRUE(contains(o.out, "times what stage 1 does; the largest step was stage ")) << o.what();
  EXPECT_TRUE(contains(o.out, "say nothing of a GPU's speed")) << o.what();
}

TEST_F(Cli, LadderWithoutAGpuShowsWhatIsCountedAndTimesWhenAsked) {
  const words command{"ladder", "--n", "4096", "--device", "simt:32"};
  const outcome counted = succeed(command), timed = succeed(command + words{"--times"});
  const std::vector<std::string> lines = lines_of(counted.out);
  ASSERT_GT(lines.size(), 12u) << counted.what();
  EXPECT_FALSE(contains(lines[0], "timed")) << lines[0];
  for (const char* column : {"launches", "barriers", "wavefronts", "lanes", "bytes", "H200 GB/s"})
    EXPECT_TRUE(contains(lines[1], column)) << lines[1];
  // Launches, barriers a block, wavefronts a request of stage 2, whose banks conflict.
  EXPECT_TRUE(contains(lines[3], "no_divergence             3        9       3.33")) << lines[3];
  EXPECT_TRUE(contains(lines[3], "right")) << lines[3];
  EXPECT_TRUE(contains(counted.out, "recorded")) << counted.what();
  EXPECT_FALSE(contains(counted.out, " ms ")) << counted.what();
  EXPECT_TRUE(contains(timed.out, "timed back to back")) << timed.what();
  EXPECT_TRUE(contains(timed.out, "say nothing of a GPU's speed")) << timed.what();
}

TEST_F(Cli, LadderDrawsWithWhatTheLocaleHas) {
  const words command{"ladder", "--n", "500", "--device", "simt", "--repeat", "1"};
  const outcome ascii = succeed(command, {{"LC_ALL", "C"}});
  EXPECT_TRUE(std::all_of(ascii.out.begin(), ascii.out.end(), [](char c) {
    return static_cast<unsigned char>(c) < 128;
  })) << ascii.what();
  EXPECT_TRUE(contains(ascii.out, "#")) << ascii.what();
  EXPECT_TRUE(contains(succeed(command, {{"LC_ALL", "C.UTF-8"}}).out, "█"));
}

TEST_F(Cli, LadderGivesEachStageTheParametersItTakes) {
  const json entries =
      measure({"ladder", "--n", "2^16", "--type", "u32", "--items", "8", "--grid", "7"})
          .at("benchmarks");
  ASSERT_EQ(entries.size(), 10u);
  for (const json& e : entries) {
    EXPECT_EQ(e.at("ok"), true) << e.dump(1);
    EXPECT_EQ(e.at("items") == 8, e.at("stage") >= 9) << e.dump(1);
    EXPECT_EQ(e.at("grid") == 7, e.at("stage") == 10) << e.dump(1);
  }
}

TEST_F(Cli, LadderLeavesOutStagesThatDoNotServe) {
  const words command{"ladder",  "--n", "5000",     "--type", "f64",      "--block", "512",
                      "--items", "8",   "--device", "simt",   "--repeat", "1"};
  const outcome table = succeed(command);
  EXPECT_TRUE(contains(table.out, "stage 9 (items_per_thread) has no kernel")) << table.what();
  EXPECT_TRUE(contains(table.out, "times what stage 1 does")) << table.what();

  const outcome o = tenfold(command + words{"--json", "-"});
  EXPECT_EQ(o.code, success) << o.what();
  EXPECT_EQ(json::parse(o.out).at("benchmarks").size(), 8u);
  EXPECT_TRUE(contains(o.err, "left out: stage 9 (items_per_thread) has no kernel")) << o.what();
  EXPECT_TRUE(contains(o.err, "left out: stage 10 (two_pass) has no kernel")) << o.what();
}

TEST_F(Cli, LadderOfNarrowElementsTellsWhichStagesTakeThem) {
  const words command{"ladder", "--beyond", "--type", "f16",      "--n",
                      "5000",   "--device", "simt",   "--repeat", "1"};
  const outcome table = succeed(command);
  std::size_t absent = 0;
  for (const std::string& line : lines_of(table.out)) {
    if (!contains(line, "takes no f16")) continue;
    ++absent;
    EXPECT_FALSE(contains(line, "right")) << line;
  }
  EXPECT_EQ(absent, 14u) << "all but 10, 13, 15 and 18: " << table.what();

  const outcome o = tenfold(command + words{"--json", "-"});
  EXPECT_EQ(o.code, success) << o.what();
  const json entries = json::parse(o.out).at("benchmarks");
  std::vector<int> stages;
  for (const json& entry : entries) stages.push_back(entry.at("stage"));
  EXPECT_EQ(stages, (std::vector{10, 13, 15, 18}));
  EXPECT_TRUE(contains(o.err, "left out: stage 9 (items_per_thread) takes no f16")) << o.what();
}

TEST_F(Cli, LadderWithoutAnyStageThatServes) {
  const words command{"ladder", "--n", "100", "--device", "simt:8"};
  const outcome table = tenfold(command);
  EXPECT_EQ(table.code, bad_input) << table.what();
  EXPECT_TRUE(contains(table.out, "warp sizes 32 and 64")) << table.what();
  EXPECT_TRUE(contains(table.err, "no stage serves this request")) << table.what();

  const outcome silent = tenfold(command + words{"--json", "-"});
  EXPECT_EQ(silent.code, bad_input) << silent.what();
  EXPECT_EQ(silent.out, "") << silent.what();
  EXPECT_TRUE(contains(silent.err, "warp sizes 32 and 64")) << silent.what();
}

TEST_F(Cli, LadderOfSomeStages) {
  const json rows =
      measure({"ladder", "--stages", "two_pass,1,13", "--n", "5000", "--device", "simt:32"})
          .at("benchmarks");
  std::vector<int> stages;
  for (const json& each : rows) stages.push_back(each.at("stage"));
  EXPECT_EQ(stages, (std::vector{10, 1, 13}));
  const words ladder{"ladder", "--device", "simt:32", "--stages"};
  expect_refusal(tenfold(ladder + words{"1,99"}), bad_input, {"99"});
  expect_refusal(tenfold(ladder + words{"1", "--beyond"}), bad_input, {"--stages", "--beyond"});
}

TEST_F(Cli, LadderRefusesWhatRunRefuses) {
  const words ladder{"ladder", "--device", "simt:32"};
  expect_refusal(tenfold(ladder + words{"--n", "x"}), bad_input, {"'x' is not a count"});
  expect_refusal(tenfold(ladder + words{"--type", "f8"}), bad_input, {"f8"});
  expect_refusal(tenfold(ladder + words{"--op", "and"}), bad_input, {"bit_and", "f32"});
  expect_refusal(tenfold(ladder + words{"--input", "missing.npy"}), bad_input, {"missing.npy"});
  expect_refusal(tenfold(ladder + words{"--schedule", "x"}), bad_input, {"in-order"});
  expect_refusal(tenfold(ladder + words{"3"}), bad_input, {"3"});
}

TEST_F(Cli, LadderInJsonHasPercentilesAndNoFigureThatIsUnknown) {
  const json document = json::parse(
      succeed({"ladder", "--n", "5000", "--repeat", "7", "--device", "simt", "--json", "-"}).out);
  for (const char* key : {"read_ceiling_bytes_per_second", "driver", "core_hertz"})
    EXPECT_FALSE(document.at("context").contains(key)) << key;
  for (const json& e : document.at("benchmarks")) {
    EXPECT_LE(e.at("fastest"), e.at("p5")) << e.dump(1);
    EXPECT_LE(e.at("p5"), e.at("real_time")) << e.dump(1);
    EXPECT_LE(e.at("real_time"), e.at("p95")) << e.dump(1);
    EXPECT_LE(e.at("p95"), e.at("slowest")) << e.dump(1);
    for (const char* key : {"share_of_peak", "share_of_ceiling", "against_best_peer", "peer"})
      EXPECT_FALSE(e.contains(key)) << key << e.dump(1);
  }
}

// ---- ladder with peers --------------------------------------------------------------------------

const words with_peers{"ladder", "--n", "5000", "--device", "simt:32", "--repeat", "3"};

TEST_F(Cli, PeersAreLinesBelowTheStages) {
  const outcome o = tenfold(with_peers + words{"--peers"});
  EXPECT_EQ(o.code, success) << o.what();
  words names;
  for (const std::string& text : lines_of(o.out)) {
    EXPECT_LE(text.size(), 140u) << text;
    std::istringstream line(text);
    std::string name;
    if (text.starts_with("      ") && line >> name) names.push_back(name);
  }
  EXPECT_EQ(names, (words{"std", "openmp"})) << o.what();
  EXPECT_TRUE(contains(o.out, " 10  two_pass ")) << o.what();
}

TEST_F(Cli, PeersAreMeasuredAndCheckedLikeStages) {
  const outcome o = tenfold(with_peers + words{"--peers", "--json", "-", "--type", "u32"});
  EXPECT_EQ(o.code, success) << o.what();
  const json entries = json::parse(o.out).at("benchmarks");
  std::map<std::string, double> peers;
  for (const json& e : entries) {
    if (!e.contains("peer")) continue;
    EXPECT_FALSE(e.contains("stage")) << e.dump(1);
    EXPECT_FALSE(e.contains("block")) << e.dump(1);
    EXPECT_EQ(e.at("verdict"), "right") << e.dump(1);
    EXPECT_EQ(e.at("result"), entries[0].at("result")) << e.dump(1);
    EXPECT_EQ(e.at("rounds"), 3) << e.dump(1);
    EXPECT_EQ(e.at("n"), 5000) << e.dump(1);
    peers[e.at("peer")] = e.at("real_time");
  }
  // What this program was built without must be named instead.
  for (const std::string name : {"std", "openmp"})
    EXPECT_NE(peers.contains(name), contains(o.err, "tenfold: left out: " + name + ": its package"))
        << o.what();
  if (peers.empty()) GTEST_SKIP() << "neither oneTBB nor OpenMP is here";
  const double best =
      std::min_element(peers.begin(), peers.end(), [](const auto& a, const auto& b) {
        return a.second < b.second;
      })->second;
  for (const json& e : entries) {
    const double expected = best / e.at("real_time").get<double>();
    EXPECT_NEAR(e.at("against_best_peer").get<double>(), expected, 1e-9 * expected) << e.dump(1);
  }
}

TEST_F(Cli, PeersOfAList) {
  for (const words& list :
       {words{"--peers=openmp"}, words{"--peers", "openmp"}, words{"--peers=openmp,openmp"}}) {
    const outcome o = tenfold(with_peers + list);
    EXPECT_EQ(o.code, success) << o.what();
    EXPECT_EQ(o.out.find("\n       openmp "), o.out.rfind("\n       openmp ")) << o.what();
    EXPECT_TRUE(contains(o.out, "\n       openmp ")) << o.what();
    EXPECT_FALSE(contains(o.out, "\n       std ")) << o.what();
  }
}

TEST_F(Cli, UnknownPeerListsPeers) {
  for (const char* list : {"--peers=nobody", "--peers=std,nobody"})
    expect_refusal(tenfold(with_peers + words{list}), bad_input,
                   {"there is no peer 'nobody' for simt", "all", "std, openmp"});
  expect_refusal(tenfold(with_peers + words{"--peers", ""}), bad_input, {"there is no peer ''"});
}

// ---- what is not built --------------------------------------------------------------------------

/// A program that was copied from where it was built, with all that it takes to start.
class CopiedCli : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    copy_program(TENFOLD_PROGRAM, "tenfold");
    fs::create_directories(in_directory("kernels/simt"));
  }

  outcome copy(const words& arguments) const {
    return spawn(words{in_directory("tenfold").string()} + arguments);
  }
};

TEST_F(CopiedCli, SaysWhatIsNotBuiltAndWhereItCanBe) {
  const std::string folder = fs::path(TENFOLD_PROGRAM).parent_path();
  for (const auto& [arguments, what] : {std::pair{words{"run", "3"}, "03_no_bank_conflicts"},
                                        std::pair{with_peers + words{"--peers"}, "the peers"},
                                        std::pair{words{"profile", "3"}, "observes kernels"}})
    expect_refusal(copy(arguments), bad_input,
                   {what, "not built in /", folder.c_str(), "'cmake --build "});
}

TEST_F(CopiedCli, RunsWhatIsBuilt) {
  const fs::path module = "kernels/simt/03_no_bank_conflicts_of_f32_sum.so";
  fs::copy_file(fs::path(TENFOLD_PROGRAM).parent_path() / module, in_directory(module));
  EXPECT_EQ(copy({"run", "3", "--n", "1000", "--device", "simt"}).code, success);
}

TEST_F(CopiedCli, SaysWhatCannotBeLoaded) {
  write("kernels/simt/03_no_bank_conflicts_of_f32_sum.so", "no library");
  write("libtenfold_peers_cpu.so", "no library");
  expect_refusal(copy({"run", "3", "--device", "simt"}), bad_input,
                 {"cannot load ", "03_no_bank_conflicts_of_f32_sum.so"});
  expect_refusal(copy(with_peers + words{"--peers"}), bad_input,
                 {"cannot load the peers: ", "libtenfold_peers_cpu.so"});
}

// ---- ladder of many sizes -----------------------------------------------------------------------

const words many_sizes{"ladder", "--device", "simt:32", "--repeat", "1"};

TEST_F(Cli, SizesAreColumnsWithTheFastestStageMarked) {
  const outcome o = succeed(many_sizes + words{"--sizes", "2^4..2^12,1000"});
  EXPECT_FALSE(contains(o.out, "\r")) << o.what();
  const words sizes{"16", "32", "64", "128", "256", "512", "1000", "2^10", "2^11", "2^12"};
  words headers;
  std::size_t marks = 0, lines = 0;
  for (const std::string& text : lines_of(o.out)) {
    std::istringstream line(text);
    std::string first, name, cell;
    line >> first >> name;
    const bool is_stage =
        std::find(stage_names.begin(), stage_names.end(), name) != stage_names.end();
    if (is_stage || first == "stage") {
      EXPECT_LE(text.size(), 100u) << text;
      EXPECT_NE(text.back(), ' ') << text;
    }
    while (line >> cell) {
      if (first == "stage") headers.push_back(cell);
      if (is_stage) marks += cell.back() == '*';
    }
    lines += is_stage;
  }
  EXPECT_EQ(headers, sizes) << o.what();
  EXPECT_EQ(marks, sizes.size()) << o.what();
  EXPECT_EQ(lines, 20u) << "two blocks: " << o.what();
}

TEST_F(Cli, SizesAreAllInJson) {
  const json entries =
      measure({"ladder", "--sizes", "0,1,2^10..2^12:4", "--type", "u32", "--op", "sum"})
          .at("benchmarks");
  const std::vector<std::uint64_t> sizes{0, 1, 1024, 4096};
  ASSERT_EQ(entries.size(), 10 * sizes.size());
  std::map<std::uint64_t, json> results;
  std::set<std::string> names;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const json& e = entries[i];
    EXPECT_EQ(e.at("n"), sizes[i / 10]) << e.dump(1);
    EXPECT_EQ(e.at("stage"), i % 10 + 1) << e.dump(1);
    EXPECT_EQ(e.at("ok"), true) << e.dump(1);
    const double bytes =
        e.at("bytes_per_second").get<double>() * 1e-6 * e.at("real_time").get<double>();
    EXPECT_NEAR(bytes, 4.0 * static_cast<double>(sizes[i / 10]), 1e-6 * bytes) << e.dump(1);
    results[sizes[i / 10]] = e.at("result");
    names.insert(e.at("name"));
  }
  EXPECT_EQ(names.size(), entries.size()) << "tools tell entries apart by name";
  EXPECT_EQ(results.at(0), 0);
  EXPECT_NE(results.at(1024), results.at(4096)) << "each size folds elements of its own number";
}

TEST_F(Cli, SizesWithPeers) {
  const outcome o =
      tenfold(many_sizes + words{"--sizes", "100,200", "--peers=openmp", "--json", "-"});
  EXPECT_EQ(o.code, success) << o.what();
  const bool is_absent = contains(o.err, "tenfold: left out: openmp: ");
  const json entries = json::parse(o.out).at("benchmarks");
  EXPECT_EQ(entries.size(), is_absent ? 20u : 22u) << o.what();
  if (is_absent) GTEST_SKIP() << "OpenMP is not here";
  EXPECT_EQ(entries[10].at("peer"), "openmp");
  EXPECT_EQ(entries[10].at("n"), 100);
  EXPECT_EQ(entries[21].at("against_best_peer"), 1.0);
}

TEST_F(Cli, LadderThatIsInterruptedLeavesWhatItFound) {
  signal(SIGINT, SIG_DFL);  // which a program inherits as ignored where tests run in the background
  const fs::path file = in_directory("ladder.json");
  std::size_t entries = 0;
  const auto interrupt_after_two = [&](pid_t program) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (entries < 2 && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (!fs::exists(file)) continue;
      const json document = json::parse(slurp(file), nullptr, false);
      ASSERT_FALSE(document.is_discarded()) << "a part of a file";
      entries = document.at("benchmarks").size();
    }
    kill(program, SIGINT);
  };
  const outcome o = spawn({TENFOLD_PROGRAM, "ladder", "--times", "--n", "2^20", "--device", "simt",
                           "--json", "ladder.json"},
                          {}, {}, interrupt_after_two);
  EXPECT_EQ(o.code, -SIGINT) << o.what();
  const json left = json::parse(slurp(file)).at("benchmarks");
  EXPECT_GE(left.size(), entries);
  EXPECT_GE(entries, 2u) << o.what();
  for (const json& each : left) expect_entry(each);
}

TEST_F(Cli, SizesLeaveOutStagesThatDoNotServe) {
  const outcome o = tenfold(
      many_sizes + words{"--sizes", "100,200", "--type", "f64", "--block", "512", "--items", "8"});
  EXPECT_EQ(o.code, success) << o.what();
  EXPECT_TRUE(contains(o.out, "stage 9 (items_per_thread) has no kernel")) << o.what();
  const outcome none = tenfold({"ladder", "--sizes", "100,200", "--device", "simt:8"});
  EXPECT_EQ(none.code, bad_input) << none.what();
  EXPECT_TRUE(contains(none.err, "no stage serves this request")) << none.what();
}

TEST_F(Cli, BadSizes) {
  const auto refused = [&](const words& arguments, std::initializer_list<const char*> parts) {
    expect_refusal(tenfold(many_sizes + arguments), bad_input, parts);
  };
  refused({"--sizes", "100", "--n", "100"}, {"--sizes", "--n", "excludes"});
  refused({"--sizes", "100", "--input", "x.npy"}, {"--sizes", "--input", "excludes"});
  refused({"--sizes", "2^12..2^10"}, {"'2^12..2^10' runs downwards"});
  refused({"--sizes", "0..2^10"}, {"'0..2^10' never ends"});
  refused({"--sizes", "100,x"}, {"'x' is not a count"});
  refused({"--sizes", ""}, {"--sizes", "empty"});
  expect_refusal(tenfold(many_sizes + words{"--sizes", "2^10..2^60"}), device_failed,
                 {"2^60 elements of f32", "use a smaller n"});
}

// ---- best ---------------------------------------------------------------------------------------

TEST_F(Cli, BestSaysWhatItChoseAndWhy) {
  const outcome o = succeed({"best", "--n", "10000", "--device", "simt", "--repeat", "2"});
  for (const char* part : {"13 dependent_launch", "chosen     by rule", "simt", "on a GPU: stage",
                           "H200", "block 256", "items 4", "right", "median of 2"})
    EXPECT_TRUE(contains(o.out, part)) << part << o.what();
}

// A row of the table holds from its size on, and 2^10 is the smallest that was measured.
TEST_F(Cli, BestSaysOfWhichSizeItsFiguresAre) {
  const auto said_of = [&](const char* n) {
    return succeed({"best", "--n", n, "--device", "simt", "--repeat", "1"}).out;
  };
  EXPECT_TRUE(
      contains(said_of("2^10"), " with 2^10 elements of 4 bytes, in a stream, after a kernel: "))
      << said_of("2^10");
  EXPECT_TRUE(contains(
      said_of("10000"),
      ": this shape is its best from 2^10 elements of 4 bytes on, in a stream, after a kernel\n"))
      << said_of("10000");
}

TEST_F(Cli, BestServesTypesOfEveryWidth) {
  const auto serve = [&](std::string_view type, const char* op) {
    const json entry = measure({"best", "--n", "3000", "--type", std::string(type), "--op", op})
                           .at("benchmarks")
                           .at(0);
    EXPECT_EQ(entry.at("ok"), true) << entry.dump(1);
    EXPECT_EQ(entry.at("shape_by"), "rule");
    EXPECT_TRUE(entry.at("reason").is_string());
  };
  // Those that are built for the tests.
  for (const std::string_view type : {"u32", "f32", "f64"}) serve(type, "sum");
  serve("f32", "min");
  for (const std::string_view type : narrow_types) {
    serve(type, "sum");
    serve(type, "min");
  }
  EXPECT_EQ(measure_one({"best", "--n", "0", "--type", "u32"}).at("result"), 0);
}

TEST_F(Cli, BestInEveryMode) {
  for (const char* mode : {"back-to-back", "after-producer", "in-graph"})
    EXPECT_EQ(measure_one({"best", "--n", "100", "--type", "u32", "--mode", mode}).at("ok"), true);
  expect_refusal(tenfold({"best", "--n", "100", "--device", "simt", "--mode", "warp"}), bad_input,
                 {"'warp'", "back-to-back, after-producer, in-graph"});
}

TEST_F(Cli, BestByMeasurementTriesWhatThereIs) {
  for (const char* mode : {"after-producer", "in-graph"}) {
    const json entries =
        measure({"best", "--n", "2000", "--op", "min", "--measure", "--mode", mode})
            .at("benchmarks");
    // The choice, and what was faster, if anything was.
    ASSERT_GE(entries.size(), 1u);
    ASSERT_LE(entries.size(), 2u);
    EXPECT_TRUE(contains(entries.back().at("reason").get<std::string>(), "tried here"))
        << entries.back().dump(1);
    for (const json& entry : entries) {
      EXPECT_EQ(entry.at("ok"), true) << entry.dump(1);
      EXPECT_EQ(entry.at("shape_by"), &entry == &entries[0] ? "rule" : "measurement");
      EXPECT_GE(entry.at("stage"), 9) << entry.dump(1);
    }
  }
}

TEST_F(Cli, BestSaysWhoSumsTheRowsOfAMatrix) {
  const auto said_of = [&](const words& more) {
    return succeed(words{"best", "--device", "simt:32"} + more).out;
  };
  for (const auto& [columns, who] : {std::pair{"3", "a thread a row ("},
                                     {"60", "16 lanes of a warp a row ("},
                                     {"160", "a warp a row, in one turn ("},
                                     {"1000", "a warp a row ("},
                                     {"8192", "a block a row ("}}) {
    const std::string out = said_of({"--rows", "1000", "--columns", columns});
    EXPECT_TRUE(contains(out, who)) << columns << out;
    EXPECT_TRUE(contains(out, "recorded on NVIDIA H200, of the nearest shape")) << out;
  }
  EXPECT_TRUE(
      contains(said_of({"--rows", "1", "--columns", "2^24"}), "blocks a row, and a second"));
  const words columns{"--axis", "columns", "--columns", "1000", "--rows"};
  EXPECT_TRUE(contains(said_of(columns + words{"4"}), "a thread 4 columns ("));
  EXPECT_TRUE(contains(said_of(columns + words{"4", "--type", "f64"}), "a thread 2 columns ("));
  EXPECT_TRUE(contains(said_of(columns + words{"2^20"}), "of 4 rows abreast, and a second launch"));
  EXPECT_TRUE(contains(said_of({"--axis", "columns", "--columns", "32", "--rows", "2^20"}),
                       "blocks a tile of 32 columns, and a second launch"));
}

TEST_F(Cli, BestSaysOfAMatrixAsJson) {
  const json said = json::parse(succeed({"best", "--device", "simt:32", "--rows", "2^20",
                                         "--columns", "5", "--json", "-"})
                                    .out)
                        .at("matrix");
  EXPECT_EQ(said.at("kernel"), "a thread a row");
  EXPECT_EQ(said.at("block"), 128);
  EXPECT_EQ(said.at("items"), 16);
  EXPECT_EQ(said.at("grid"), (1 << 20) / 256);
  EXPECT_EQ(said.at("nearest").at("columns"), 5);
}

TEST_F(Cli, BestRefusesWhatIsNoMatrix) {
  const auto refuse = [&](const words& more, const char* part) {
    expect_refusal(tenfold(words{"best", "--device", "simt"} + more), bad_input, {part});
  };
  refuse({"--rows", "3"}, "--rows and --columns");
  refuse({"--axis", "columns"}, "--rows and --columns");
  refuse({"--rows", "0", "--columns", "3"}, "1 or more of each");
  refuse({"--rows", "x", "--columns", "3"}, "'x' is not a count");
  refuse({"--rows", "2^40", "--columns", "2^40"}, "2^40 bytes");
  refuse({"--rows", "3", "--columns", "3", "--axis", "both"}, "both");
  refuse({"--rows", "3", "--columns", "3", "--n", "9"}, "--n");
  refuse({"--rows", "3", "--columns", "3", "--type", "f31"}, "f31");
}

TEST_F(Cli, BestTakesNoStageAndNoShape) {
  expect_refusal(tenfold({"best", "10"}), bad_input, {"10", "'tenfold best --help'"});
  for (const char* option : {"--block", "--items", "--grid"})
    expect_refusal(tenfold({"best", option, "4"}), bad_input, {option});
  expect_refusal(tenfold({"best", "--n", "x", "--device", "simt"}), bad_input,
                 {"'x' is not a count"});
}

TEST_F(Cli, ShapesThatNobodyNamesAreChosen) {
  const words common{"run", "10", "--n", "2^16", "--type", "i32"};
  const json chosen = measure_one(common);
  EXPECT_EQ(chosen.at("shape_by"), "rule");
  EXPECT_EQ(chosen.at("block"), 256);
  EXPECT_EQ(chosen.at("items"), 4);
  EXPECT_EQ(chosen.at("grid"), 64);
  const json named = measure_one(common + words{"--block", "128"});
  EXPECT_EQ(named.at("shape_by"), "user");
  EXPECT_EQ(named.at("block"), 128);
  EXPECT_EQ(named.at("items"), 4);
  const json with_items = measure({"ladder", "--n", "5000", "--type", "u32", "--items", "8"});
  for (const json& e : with_items.at("benchmarks"))
    EXPECT_EQ(e.at("shape_by"), e.at("stage") >= 9 ? "user" : "rule") << e.dump(1);
  const json with_block = measure({"ladder", "--n", "5000", "--type", "u32", "--block", "64"});
  for (const json& e : with_block.at("benchmarks")) {
    EXPECT_EQ(e.at("shape_by"), "user") << e.dump(1);
    EXPECT_EQ(e.at("block"), 64) << e.dump(1);
  }
}

// ---- diff ---------------------------------------------------------------------------------------

TEST_F(Cli, DiffShowsAndCountsWhatChanged) {
  const outcome o = succeed({"diff", "3", "4"});
  const words lines = lines_of(o.out);
  ASSERT_GT(lines.size(), 2u) << o.what();
  EXPECT_EQ(lines[0], "--- kernels/03_no_bank_conflicts.hpp");
  EXPECT_EQ(lines[1], "+++ kernels/04_first_op_on_load.hpp");
  const auto count = [&](const char* prefix) {
    return std::count_if(lines.begin() + 2, lines.end(),
                         [&](const std::string& line) { return line.starts_with(prefix); });
  };
  EXPECT_GT(count("- "), 0) << o.what();
  EXPECT_GT(count("+ "), 0) << o.what();
  EXPECT_GT(count("  "), 0) << o.what();
  EXPECT_TRUE(lines.back().starts_with(std::to_string(count("- ")) + " lines of code removed, " +
                                       std::to_string(count("+ ")) + " added"))
      << o.what();
  EXPECT_FALSE(contains(o.out, "//")) << "comments are left out: " << o.what();
}

TEST_F(Cli, DiffOfAStageWithItself) {
  const outcome o = succeed({"diff", "3", "no_bank_conflicts"});
  const words lines = lines_of(o.out);
  ASSERT_GT(lines.size(), 2u);
  for (auto line = lines.begin() + 2; line != lines.end(); ++line)
    EXPECT_FALSE(line->starts_with("- ") || line->starts_with("+ ")) << o.what();
  EXPECT_TRUE(lines.back().starts_with("0 lines of code removed, 0 added")) << o.what();
}

TEST_F(Cli, DiffOfAnyTwoStages) {
  for (int i = 1; i < 10; ++i)
    EXPECT_TRUE(contains(succeed({"diff", std::to_string(i), std::to_string(i + 1)}).out, "added"));
  EXPECT_TRUE(contains(succeed({"diff", "10", "01_naive"}).out, "+++ kernels/01_naive.hpp"));
  expect_refusal(tenfold({"diff", "3", "99"}), bad_input, {"'99'", "10 two_pass"});
  expect_refusal(tenfold({"diff", "x", "3"}), bad_input, {"'x'", "1 naive"});
}

// ---- colours ------------------------------------------------------------------------------------

/// The terminal's side of a pseudo-terminal, to be read here.
class terminal {
 public:
  terminal() : master_(posix_openpt(O_RDWR | O_NOCTTY)) {
    if (master_ < 0 || grantpt(master_) != 0 || unlockpt(master_) != 0)
      throw std::runtime_error("no pseudo-terminal");
    path_ = ptsname(master_);
    slave_ = open(path_.c_str(), O_RDWR | O_NOCTTY);  // keeps what is written until it is read
  }
  ~terminal() {
    close(slave_);
    close(master_);
  }
  terminal(const terminal&) = delete;
  terminal& operator=(const terminal&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  /// All that was written. It comes some time after its writer has ended, so that a mark written
  /// behind it is waited for.
  [[nodiscard]] std::string text() const {
    constexpr char mark = '\f';
    std::string all;
    if (write(slave_, &mark, 1) != 1) return all;
    while (!all.ends_with(mark)) {
      char buffer[1 << 12];
      const ssize_t n = read(master_, buffer, sizeof buffer);
      if (n <= 0) break;
      all.append(buffer, static_cast<std::size_t>(n));
    }
    return all;
  }

 private:
  int master_, slave_;
  std::string path_;
};

TEST_F(Cli, ColoursOnATerminalThatTakesThem) {
  const auto shown = [&](const std::map<std::string, std::string>& environment) {
    const terminal screen;
    const outcome o = spawn({TENFOLD_PROGRAM, "list"}, environment, screen.path());
    EXPECT_EQ(o.code, success) << o.what();
    return screen.text();
  };
  const std::string coloured = shown({{"TERM", "xterm"}, {"NO_COLOR", ""}});
  EXPECT_TRUE(contains(coloured, "\x1b[1m")) << coloured;
  for (const std::map<std::string, std::string>& plain :
       {std::map<std::string, std::string>{{"TERM", "xterm"}, {"NO_COLOR", "1"}},
        std::map<std::string, std::string>{{"TERM", "dumb"}, {"NO_COLOR", ""}}}) {
    const std::string text = shown(plain);
    EXPECT_TRUE(contains(text, "naive"));
    EXPECT_FALSE(contains(text, "\x1b")) << text;
  }
}

}  // namespace
}  // namespace tenfold::cli_test
