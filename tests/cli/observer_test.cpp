// `tenfold profile`, `model`, `check` and `trace` as their users meet them: kernels observed on the
// executor.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tests/cli/program.hpp"

namespace tenfold::cli_test {
namespace {

class CliObserver : public Cli {
 protected:
  json document(const words& arguments, int code = success) const {
    const outcome o = tenfold(arguments);
    EXPECT_EQ(o.code, code) << o.what();
    EXPECT_EQ(o.err, "") << o.what();
    json found = json::parse(o.out, nullptr, false);
    if (found.is_discarded()) throw std::runtime_error("no JSON: " + o.what());
    return found;
  }

  void expect_refused(const words& arguments, std::initializer_list<const char*> parts) const {
    expect_refusal(tenfold(arguments), bad_input, parts);
  }
};

void expect_parts(const outcome& o, std::initializer_list<const char*> parts) {
  for (const char* part : parts)
    EXPECT_TRUE(contains(o.out, part)) << "without \"" << part << "\": " << o.what();
}

/// How often a line begins so, after blanks.
std::size_t lines_beginning(const std::string& text, std::string_view beginning) {
  std::size_t count = 0;
  for (const std::string& line : lines_of(text)) {
    const std::size_t at = line.find_first_not_of(' ');
    if (at != line.npos && std::string_view(line).substr(at).starts_with(beginning)) ++count;
  }
  return count;
}

/// The lines between the first line that begins with `begin` and the next that begins with `end`.
std::string between(const std::string& text, std::string_view begin, std::string_view end) {
  std::string found;
  bool inside = false;
  for (const std::string& line : lines_of(text)) {
    if (inside && line.starts_with(end)) return found;
    if (inside) found += line + "\n";
    inside |= line.starts_with(begin);
  }
  return found;
}

std::set<std::string> keys_of(const json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.insert(key);
  return keys;
}

// ---- profile ------------------------------------------------------------------------------------

TEST_F(CliObserver, ProfileShowsAStageBesideTheOneBefore) {
  const outcome o = succeed({"profile", "3", "--n", "2^16"});
  expect_parts(o, {"warps of 32", "warps of 64", "2 no_divergence", "3 no_bank_conflicts",
                   "With warps of 64, wavefronts are a model"});
  EXPECT_EQ(lines_beginning(o.out, "wavefronts per request"), 2u) << o.what();
  EXPECT_EQ(lines_beginning(o.out, "pass "), 2u) << o.what();
}

TEST_F(CliObserver, ProfileOfWarpsOf32NeedsNoModel) {
  const outcome o = succeed({"profile", "no_bank_conflicts", "--n", "2^12", "--warp", "32"});
  EXPECT_FALSE(contains(o.out, "warps of 64") || contains(o.out, "model")) << o.what();
}

TEST_F(CliObserver, ProfileOfTheFirstStageStandsAlone) {
  const outcome o = succeed({"profile", "1", "--n", "2^12"});
  EXPECT_TRUE(contains(o.out, "1 naive")) << o.what();
  EXPECT_FALSE(contains(o.out, " x\n")) << o.what();
}

TEST_F(CliObserver, ProfileMarksTheLinesOfTheSource) {
  const outcome o = succeed({"profile", "3", "--n", "2^12", "--warp", "32", "--source"});
  expect_parts(o, {"line of kernels/03_no_bank_conflicts.hpp", "__syncthreads();",
                   "shared[tid] = op(shared[tid], shared[tid + stride]);"});
  expect_parts(o, {"shared wavefronts  barriers  shuffles", "* a hot line"});
  constexpr std::size_t mark = 78;  // after the columns of counters
  std::size_t hot = 0;
  for (const std::string& line : lines_of(o.out))
    if (line.size() > mark && line[mark] == '*') ++hot;
  EXPECT_GE(hot, 1u) << o.what();
  EXPECT_LE(hot, 5u) << "all lines are marked: " << o.what();
}

TEST_F(CliObserver, ProfileOfAllStagesHasALineForEach) {
  const outcome o = succeed({"profile", "--all", "--n", "2^14"});
  for (const char* stage :
       {"1  naive", "2  no_divergence", "3  no_bank_conflicts", "4  first_op_on_load",
        "5  warp_sync", "6  unrolled", "7  warp_shuffle", "8  warps_first", "9  items_per_thread",
        "10  two_pass", "11  single_pass", "13  dependent_launch", "14  dependent_passes",
        "16  ordered"})
    EXPECT_EQ(lines_beginning(o.out, std::string(stage) + " "), 2u) << stage << o.what();
  EXPECT_EQ(lines_beginning(o.out, "12  bulk_copy "), 1u) << "there are no warps of 64 for it";
  expect_parts(o, {"12 bulk_copy: hardware copies another 65536 bytes by itself",
                   "left out, as no device has it with warps of 64: 12 bulk_copy",
                   "left out: 15 narrow_elements, which takes no f32"});
}

TEST_F(CliObserver, OutputFitsTheTerminal) {
  for (const words& command : {words{"profile", "--all"}, words{"profile", "3", "--source"},
                               words{"check", "3"}, words{"model", "--all"}, words{"model", "3"}})
    for (const std::size_t width : {60u, 80u, 200u}) {
      const bool has_size = command.front() != "model";
      const outcome o = succeed(command + (has_size ? words{"--n", "2^12"} : words{}),
                                {{"COLUMNS", std::to_string(width)}});
      for (const std::string& line : lines_of(o.out)) EXPECT_LE(line.size(), width) << line;
    }
}

TEST_F(CliObserver, ResultsAreWrittenAfterEveryStage) {
  const fs::path file = in_directory("so_far.json");
  for (const char* verb : {"profile", "check"}) {
    fs::remove(file);
    const std::string program = TENFOLD_PROGRAM;
    const words endless{program, verb, "--all", "--n", "2^16", "--json", file.string()};
    const outcome o = spawn(endless, {}, {}, [&](pid_t pid) {
      for (int tries = 0; !fs::exists(file) && tries < 6000; ++tries)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      kill(pid, SIGKILL);
    });
    ASSERT_EQ(o.code, -SIGKILL) << o.what();
    const json document = json::parse(slurp(file));
    EXPECT_GE(document.at(verb == std::string("check") ? "checked" : "profiles").size(), 1u);
  }
}

TEST_F(CliObserver, AllStagesAreThoseThatHaveTheShape) {
  const words few{"--all", "--n", "100", "--warp", "32"};
  for (const words& verb : {words{"profile"}, words{"check", "--seeds", "0"}}) {
    const outcome gridded = succeed(verb + few + words{"--grid", "5", "--type", "u32"});
    EXPECT_EQ(lines_beginning(gridded.out, "left out: stage "), 0u) << gridded.what();
    const outcome narrow = succeed(verb + few + words{"--block", "128", "--type", "u32"});
    EXPECT_EQ(lines_beginning(narrow.out, "left out: stage "), 6u) << narrow.what();
    expect_parts(narrow,
                 {"two_pass", "left out: stage 11 (single_pass) has no kernel", "block 128"});
    expect_refused(verb + few + words{"--block", "100"}, {"stage 1 ", "block 100"});
  }
}

TEST_F(CliObserver, ProfileComparesWithTheNearestStageThatTakesTheType) {
  EXPECT_TRUE(contains(succeed({"profile", "16", "--n", "2^10", "--warp", "32"}).out,
                       "14 dependent_passes"));
  EXPECT_TRUE(
      contains(succeed({"profile", "13", "--n", "2^10", "--warp", "64"}).out, "11 single_pass"));
}

TEST_F(CliObserver, ModelTellsWhatBindsAStage) {
  const outcome o = succeed({"model", "3"});
  expect_parts(o, {"sum of 2^28 f32 by stage 3 (no_bank_conflicts) on NVIDIA H200, block 256",
                   "The first is bound by length of blocks.", "Measured, after a kernel",
                   "Work 268435455 operations"});
  expect_parts(succeed({"model", "10", "--device", "mi300x"}),
               {"on MI300X", "Nobody measured what a block costs on this GPU"});
  const outcome all = succeed({"model", "--all", "--n", "2^22", "--type", "u32"});
  EXPECT_EQ(lines_of(all.out).size(), 12u) << all.what();
  expect_parts(succeed({"model", "1", "--n", "0"}), {"Work 0 operations"});
}

TEST_F(CliObserver, ModelRefusesWhatItKnowsNothingOf) {
  expect_refused({"model", "11"}, {"stage 11 (single_pass)", "the ten"});
  expect_refused({"model", "3", "--device", "voodoo"}, {"'voodoo'", "NVIDIA H200", "MI300X"});
  expect_refused({"model", "3", "--block", "100"}, {"stage 3", "block 100"});
  expect_refused({"model", "3", "--items", "8"}, {"stage 3", "8 items"});
  expect_refused({"model", "3", "--grid", "8"}, {"stage 3", "takes no grid"});
  expect_refused({"model", "10", "--grid", "2^30"}, {"1073741824", "at most"});
  expect_refused({"model", "10", "--grid", "-1"}, {"--grid", "'-1' is negative"});
  expect_refused({"model", "10", "--grid", "1000000"}, {"at most", "1000000"});
  expect_refused({"model"}, {"--all"});
}

// No constant of the model was fitted to a stage, and three may miss.
TEST_F(CliObserver, ModelIsWithin15PercentOfAnH200ButForThreeStages) {
  std::set<int> missed;
  for (int exponent = 22; exponent <= 30; ++exponent) {
    const json all =
        document({"model", "--all", "--n", "2^" + std::to_string(exponent), "--json", "-"});
    ASSERT_EQ(all.at("models").size(), 10u);
    for (const json& m : all.at("models")) {
      ASSERT_TRUE(m.at("measured").is_number()) << m;
      const double ratio = m.at("predicted").get<double>() / m.at("measured").get<double>();
      if (std::abs(ratio - 1) > 0.15) missed.insert(m.at("stage").get<int>());
    }
  }
  EXPECT_LE(missed.size(), 3u) << testing::PrintToString(missed);
}

TEST_F(CliObserver, ProfileAsJsonHasTheCountsOfTheThirdStage) {
  const json all = document({"profile", "3", "--n", "2^16", "--json", "-"}).at("profiles");
  ASSERT_EQ(all.size(), 2u);
  const json& p = all[0];
  EXPECT_EQ(p.at("stage"), 3);
  EXPECT_EQ(p.at("warp"), 32);
  EXPECT_EQ(p.at("n"), 65536);
  EXPECT_EQ(p.at("file"), "kernels/03_no_bank_conflicts.hpp");
  EXPECT_EQ(p.at("launches"), 2);
  EXPECT_EQ(p.at("blocks"), 256 + 1);
  EXPECT_EQ(p.at("wavefronts_per_request"), 1.0);
  EXPECT_EQ(p.at("worst_bank_conflict"), 1);
  EXPECT_EQ(p.at("shared_wavefronts"), p.at("shared_requests"));
  // Of each element and each partial of a block: in, and out.
  EXPECT_EQ(p.at("global_bytes"), 4 * (65536 + 256 + 256 + 1));
  // After the load, and after each of the tree's eight steps.
  EXPECT_EQ(p.at("barriers_per_block"), 9.0);
  EXPECT_EQ(p.at("block_barriers"), 257 * 8 * 9);
  EXPECT_EQ(p.at("shuffles"), 0);

  const json& first = p.at("passes").at(0);
  EXPECT_EQ(first.at("n"), 65536);
  EXPECT_EQ(first.at("blocks"), 256);
  EXPECT_EQ(first.at("threads_per_block"), 256);
  EXPECT_EQ(first.at("shared_bytes"), 256 * 4);
  EXPECT_EQ(first.at("global_reads").at("requests"), 65536 / 32);
  EXPECT_EQ(first.at("global_reads").at("sectors"), 65536 / 8);
  EXPECT_EQ(first.at("global_writes").at("lanes"), 256);
  // In a tree each of 255 additions reads twice and writes once; then the result is read.
  EXPECT_EQ(first.at("shared_reads").at("lanes"), 256 * (2 * 255 + 1));
  EXPECT_EQ(first.at("shared_writes").at("lanes"), 256 * (256 + 255));
  EXPECT_EQ(p.at("passes").at(1).at("n"), 256);

  EXPECT_EQ(all[1].at("warp"), 64);
  EXPECT_TRUE(contains(all[1].at("shared_memory_model").get<std::string>(), "not measured"));
}

TEST_F(CliObserver, ProfilesLinesAddUpToTheWhole) {
  const json p =
      document({"profile", "1", "--n", "2^12", "--warp", "32", "--json", "-"}).at("profiles")[0];
  std::uint64_t reads = 0, barriers = 0;
  for (const json& line : p.at("lines")) {
    EXPECT_GT(line.at("line"), 0);
    reads += line.at("global_reads").at("bytes").get<std::uint64_t>();
    barriers += line.at("block_barriers").get<std::uint64_t>();
  }
  EXPECT_EQ(reads, 4u * (4096 + 16));
  EXPECT_EQ(barriers, p.at("block_barriers"));
}

TEST_F(CliObserver, ProfileToAFileKeepsTheTable) {
  const outcome o = succeed({"profile", "7", "--n", "2^12", "--json", "profile.json"});
  EXPECT_TRUE(contains(o.out, "7 warp_shuffle")) << o.what();
  const json written = json::parse(slurp(in_directory("profile.json")));
  EXPECT_GT(written.at("profiles").at(0).at("shuffles"), 0);
}

TEST_F(CliObserver, ProfileRefusesWhatThereIsNot) {
  expect_refused({"profile", "99"}, {"no stage '99'", "16 ordered", "kernels/pitfalls"});
  expect_refused({"profile", "3", "--n", "many"}, {"'many' is not a count"});
  expect_refused({"profile", "3", "--all"}, {"STAGE", "--all"});
  expect_refused({"profile"}, {"name a stage", "--all"});
  expect_refused({"profile", "3", "--warp", "16"}, {"--warp", "16", "32"});
  expect_refused({"profile", "3", "--type", "f31"}, {"'f31'", "f32"});
  expect_refused({"profile", "3", "--items", "8"}, {"stage 3", "takes no items"});
  expect_refused({"profile", "--all", "--source"}, {"--source", "--all"});
  // Not of stage 2, which it would be compared with.
  expect_refused({"profile", "3", "--block", "100"}, {"stage 3", "block 100", "256"});
}

TEST_F(CliObserver, NothingToObserveIsNoSuccess) {
  for (const char* verb : {"profile", "check"}) {
    expect_refused({verb, "15"}, {"stage 15", "f32", "i8"});
    expect_refused({verb, "12", "--warp", "64"}, {"stage 12", "32 lanes"});
    expect_refused({verb, "--all", "--type", "i64"}, {"i64", "f32"});
  }
}

// ---- check --------------------------------------------------------------------------------------

TEST_F(CliObserver, CheckFindsNothingInAStage) {
  const outcome o = succeed({"check", "3", "--seeds", "1"});
  for (const char* warp : {"32", "64", "8"})
    EXPECT_EQ(lines_beginning(
                  o.out, std::string("stage 3 (no_bank_conflicts), warps of ") + warp + ": clean"),
              1u)
        << o.what();
  EXPECT_FALSE(contains(o.out, "remedy")) << o.what();
}

TEST_F(CliObserver, CheckSaysWhoMeetsWhomAndWhatToDo) {
  const outcome o = tenfold({"check", "missing_load_barrier", "--warp", "32", "--seeds", "1"});
  EXPECT_EQ(o.code, wrong_result) << o.what();
  EXPECT_EQ(o.err, "") << o.what();
  expect_parts(o,
               {"missing_load_barrier, warps of 32: 1 finding", "block race: shared[128]",
                "kernels/pitfalls/missing_load_barrier.hpp:", " writes: block (0, 0, 0), thread",
                " reads: block (0, 0, 0), thread", "(warp 4, lane 0)", "remedy:", "__syncthreads()",
                "in missing_load_barrier::reduce_blocks, first met with warps of 32"});
}

TEST_F(CliObserver, CheckNamesTheLineOfAPitfallThatIsMarkedInItsText) {
  const std::string name = "missing_load_barrier", file = "kernels/pitfalls/" + name + ".hpp";
  const words text = lines_of(slurp(fs::path(TENFOLD_SOURCE) / file));
  const json findings =
      document({"check", name, "--warp", "32", "--seeds", "1", "--json", "-"}, wrong_result)
          .at("findings");
  ASSERT_FALSE(findings.empty());
  for (const json& each : findings.at(0).at("witnesses")) {
    EXPECT_TRUE(each.at("file").get<std::string>().ends_with(file)) << each;
    const std::string line = text.at(each.at("line").get<std::size_t>() - 1);
    EXPECT_TRUE(contains(line, "shared[")) << each << line;
  }
}

TEST_F(CliObserver, CheckTellsOfThreadsThatHaveReturned) {
  const outcome o = tenfold({"check", "early_return", "--warp", "64", "--seeds", "0"});
  EXPECT_EQ(o.code, wrong_result) << o.what();
  expect_parts(
      o, {"divergent barrier", "waits in __syncthreads", "has returned: block", "threads 1-255"});
  EXPECT_FALSE(contains(o.out, "unknown")) << o.what();
}

TEST_F(CliObserver, CheckFindsNothingInAMendedPitfall) {
  const outcome o = succeed({"check", "early_return_mended", "--warp", "32", "--seeds", "0"});
  EXPECT_TRUE(contains(o.out, "clean")) << o.what();
}

TEST_F(CliObserver, CheckAsJsonSaysWhatWasTriedAndFound) {
  const json d = document({"check", "past_the_end", "--warp", "32", "--seeds", "1", "--json", "-"},
                          wrong_result);
  ASSERT_EQ(d.at("checked").size(), 2u) << "warps of 32, and a small block";
  std::size_t findings = 0;
  for (const json& each : d.at("checked")) {
    EXPECT_EQ(keys_of(each), (std::set<std::string>{"stage", "stage_name", "warp", "inputs",
                                                    "schedules", "findings"}));
    EXPECT_EQ(each.at("stage_name"), "past_the_end");
    EXPECT_GT(each.at("inputs"), 0);
    findings += each.at("findings").get<std::size_t>();
  }
  ASSERT_EQ(d.at("findings").size(), findings);
  const json& f = d.at("findings").at(0);
  EXPECT_EQ(f.at("kind"), "out_of_bounds");
  EXPECT_EQ(f.at("warp"), 32);
  for (const char* text : {"kernel", "what", "address", "remedy", "schedule"})
    EXPECT_NE(f.at(text), "") << text;
  EXPECT_GT(f.at("count"), 0);
  ASSERT_FALSE(f.at("witnesses").empty());
  const json& w = f.at("witnesses").at(0);
  EXPECT_EQ(w.at("block").size(), 3u);
  EXPECT_EQ(w.at("thread"), w.at("warp").get<int>() * 32 + w.at("lane").get<int>());
  EXPECT_GT(w.at("line"), 0);
}

TEST_F(CliObserver, CheckRefusesWhatThereIsNot) {
  expect_refused({"check", "missing_barrier"}, {"no stage 'missing_barrier'"});
  expect_refused({"check"}, {"name a stage", "--all"});
  expect_refused({"check", "3", "--all"}, {"STAGE", "--all"});
  expect_refused({"check", "3", "--seeds", "-1"}, {"--seeds", "-1"});
  expect_refused({"check", "3", "--n", "2^"}, {"'2^' is not a count"});
}

// ---- trace --------------------------------------------------------------------------------------

TEST_F(CliObserver, TraceEndsWithTheSumOfWhatItRead) {
  for (const char* stage : {"1", "2", "3", "4", "5", "6", "7", "8", "10"}) {
    const json d = document({"trace", stage, "--type", "u32"});
    const json& launch = d.at("launches").at(0);
    EXPECT_EQ(launch.at("blocks"), 1) << stage;
    std::map<std::int64_t, std::uint32_t> read;
    std::uint32_t written = 0;
    std::size_t bytes = 4;
    for (const json& step : launch.at("steps"))
      for (const json& lane : step.at("lanes"))
        if (step.value("array", "") == "in") {
          bytes = step.at("bytes");
          read[lane.at("index")] = lane.at("value");
        } else if (step.value("array", "") == "out") {
          EXPECT_EQ(step.at("action"), "write") << stage;
          written = lane.at("value");
        }
    if (bytes != 4) continue;  // of which the first element alone is told
    EXPECT_EQ(read.size(), d.at("context").at("n")) << stage;
    std::uint32_t sum = 0;
    for (const auto& [index, value] : read) sum += value;
    EXPECT_EQ(written, sum) << stage;
  }
}

TEST_F(CliObserver, TraceShowsTheBlockThatIsAskedFor) {
  const json launches =
      document({"trace", "11", "--n", "1024", "--traced-block", "15"}).at("launches");
  EXPECT_EQ(launches.at(0).at("blocks"), 16);
  EXPECT_EQ(launches.at(0).at("block"), 15);
  EXPECT_EQ(launches.at(0).at("steps").at(0).at("lanes").at(0).at("index"), 15 * 64);
  EXPECT_EQ(launches.at(0).at("steps").back().at("array"), "out") << "the last block folds on";
  const json later = document({"trace", "10", "--n", "1024", "--traced-block", "9"}).at("launches");
  EXPECT_EQ(later.at(1).at("block"), 0) << "there is but one";
}

TEST_F(CliObserver, TraceOfOnesCountsElements) {
  for (const char* type : {"u32", "f32", "f64"}) {
    const json d = document({"trace", "10", "--type", type, "--values", "ones"});
    EXPECT_EQ(d.at("context").at("values"), "ones");
    const json& steps = d.at("launches").at(0).at("steps");
    EXPECT_EQ(steps.at(0).at("lanes").at(0).at("value"), 1) << type;
    EXPECT_EQ(steps.back().at("lanes").at(0).at("value"), d.at("context").at("n")) << type;
  }
}

TEST_F(CliObserver, TraceStaysWithinItsArraysAndInOrder) {
  for (const char* stage : {"1", "3", "5", "9", "11", "16"}) {
    const json d = document({"trace", stage, "--n", "1000"});
    EXPECT_EQ(d.at("context").at("n"), 1000);
    for (const json& launch : d.at("launches")) {
      std::map<std::string, std::int64_t> elements;
      for (const json& each : launch.at("arrays"))
        elements[each.at("name")] = each.at("elements").get<std::int64_t>();
      std::pair<int, int> last{0, 0};
      for (const json& step : launch.at("steps")) {
        const std::pair<int, int> now{step.at("epoch"), step.at("warp")};
        EXPECT_LE(last, now) << stage << step;
        last = now;
        EXPECT_EQ(step.contains("array"), step.contains("bytes")) << step;
        EXPECT_EQ(step.contains("array"), step.contains("sectors") || step.contains("wavefronts"));
        int before = -1;
        for (const json& lane : step.at("lanes")) {
          EXPECT_GT(lane.at("lane"), before) << step;
          before = lane.at("lane");
          EXPECT_LT(before, 8) << step;
          EXPECT_EQ(lane.at("thread"), now.second * 8 + before) << step;
          if (!step.contains("array")) continue;
          ASSERT_TRUE(elements.contains(step.at("array"))) << step;
          EXPECT_GE(lane.at("index"), 0) << step;
          EXPECT_LT(lane.at("index"), elements.at(step.at("array"))) << stage << step;
        }
        EXPECT_FALSE(step.at("lanes").empty()) << step;
      }
    }
  }
}

TEST_F(CliObserver, TraceOfShufflesSaysWhoseValueComes) {
  const json d = document({"trace", "7", "--type", "u32"});
  std::vector<json> shuffles;
  for (const json& step : d.at("launches").at(0).at("steps"))
    if (step.at("action") == "shuffle") shuffles.push_back(step);
  ASSERT_EQ(shuffles.size(), 3u) << "eight lanes fold in three steps";
  for (std::size_t i = 0; i + 1 < shuffles.size(); ++i) {
    const json& lanes = shuffles[i].at("lanes");
    const std::size_t source = lanes.at(0).at("source");
    EXPECT_EQ(source, std::size_t{4} >> i);
    EXPECT_EQ(shuffles[i + 1].at("lanes").at(0).at("value").get<std::uint32_t>(),
              lanes.at(0).at("value").get<std::uint32_t>() +
                  lanes.at(source).at("value").get<std::uint32_t>());
  }
}

// As many banks as lanes, so that a small block meets the conflicts of a large one.
TEST_F(CliObserver, TraceShowsWhereLanesMeetInABank) {
  const auto most_turns = [&](const char* stage) {
    const json d = document({"trace", stage});
    EXPECT_EQ(d.at("context").at("banks"), 8);
    unsigned most = 0;
    for (const json& step : d.at("launches").at(0).at("steps"))
      most = std::max(most, step.value("wavefronts", 0u));
    return most;
  };
  EXPECT_EQ(most_turns("2"), 2u);
  EXPECT_EQ(most_turns("3"), 1u);
}

TEST_F(CliObserver, TraceShowsCountsAndFlagsAsWholeNumbers) {
  const json d = document({"trace", "11", "--n", "1000"});
  std::set<std::string> seen;
  for (const json& step : d.at("launches").at(0).at("steps")) {
    const std::string array = step.value("array", "");
    seen.insert(array);
    for (const json& lane : step.at("lanes"))
      if (array == "ticket" || array == "is_last") {
        EXPECT_TRUE(lane.at("value").is_number_unsigned()) << step;
      } else if (array == "in") {
        EXPECT_TRUE(lane.at("value").is_number_float()) << step;
      }
  }
  EXPECT_TRUE(seen.contains("ticket") && seen.contains("is_last") && seen.contains("in"));
}

// The tables of docs/trace.md, each under the name of what it describes.
std::set<std::string> documented_keys(const std::string& text, const std::string& of) {
  std::set<std::string> keys;
  const std::string section = between(text, "## " + of, "## ");
  bool is_table = false;
  for (const std::string& line : lines_of(section)) {
    if (line.starts_with("| key ")) is_table = true;
    if (!line.starts_with("|")) is_table = false;
    if (is_table && line.starts_with("| `")) keys.insert(line.substr(3, line.find('`', 3) - 3));
  }
  return keys;
}

TEST_F(CliObserver, TraceHasTheKeysThatAreDocumented) {
  const std::string text = slurp(fs::path(TENFOLD_SOURCE) / "docs/trace.md");
  std::map<std::string, std::set<std::string>> found;
  const auto note = [&](const std::string& where, const json& object) {
    found[where].merge(keys_of(object));
  };
  for (const char* stage : {"3", "7"}) {
    const json d = document({"trace", stage});
    EXPECT_EQ(d.at("context").at("schema"), 1);
    note("The document", d);
    note("`context`", d.at("context"));
    for (const json& launch : d.at("launches")) {
      note("`launches`", launch);
      for (const json& array : launch.at("arrays")) note("`arrays`", array);
      for (const json& step : launch.at("steps")) {
        note("`steps`", step);
        EXPECT_TRUE(contains(text, "`" + step.at("action").get<std::string>() + "`"));
        for (const json& lane : step.at("lanes")) note("`lanes`", lane);
      }
    }
  }
  found["`context`"].insert("commit");  // where there is no Git none is known
  for (const auto& [where, keys] : found) EXPECT_EQ(keys, documented_keys(text, where)) << where;
  EXPECT_EQ(found.size(), 6u);
}

TEST_F(CliObserver, TraceIsWhatItsPageShows) {
  const std::string text = slurp(fs::path(TENFOLD_SOURCE) / "docs/trace.md");
  const outcome o = succeed({"trace", "3"});
  EXPECT_TRUE(contains(o.out, between(text, "```json", "```"))) << o.what();
  const json trace = json::parse(o.out);
  std::string table;
  for (const json& step : trace.at("launches").at(0).at("steps")) {
    json row{step.at("epoch"), step.at("warp"), step.at("action"), step.at("line")};
    row.push_back(step.value("array", json()));
    row.push_back(json::array());
    for (const json& lane : step.at("lanes")) row.back().push_back(lane.value("index", json()));
    table += row.dump() + "\n";
  }
  EXPECT_EQ(between(text, "$ tenfold trace 3 |", "```"), table);
}

TEST_F(CliObserver, TraceTakesTheWarpsOfHardware) {
  for (const auto& [warp, banks] : {std::pair{32, 32}, {64, 32}}) {
    const json d = document({"trace", "3", "--warp", std::to_string(warp)});
    EXPECT_EQ(d.at("context").at("warp"), warp);
    EXPECT_EQ(d.at("context").at("block"), 2 * warp);
    EXPECT_EQ(d.at("context").at("banks"), banks);
    EXPECT_EQ(d.at("launches").at(0).at("steps").at(1).at("wavefronts"), warp / 32);
  }
  // Its blocks are of 256 threads and more.
  EXPECT_EQ(document({"trace", "11", "--warp", "32"}).at("context").at("block"), 256);
  // Hardware copies at once what no lane could.
  bool copies = false;
  const json launches = document({"trace", "12", "--warp", "32"}).at("launches");
  for (const json& step : launches.at(0).at("steps"))
    copies |= step.at("action") == "bulk_write" && step.at("wavefronts") > 32;
  EXPECT_TRUE(copies);
}

TEST_F(CliObserver, PagesNeedNothingButThemselves) {
  const outcome one = succeed({"trace", "3", "--html", "one.html"});
  expect_parts(one, {"one.html: 3 no_bank_conflicts, warps of 8, 28 steps, the sum of 16 f32 is "});
  const outcome two = succeed({"trace", "2", "3", "--html", "two.html", "--warp", "8,32"});
  EXPECT_EQ(lines_of(two.out).size(), 4u) << two.what();
  const outcome checked = tenfold({"check", "early_return", "--warp", "32", "--html", "bug.html"});
  EXPECT_EQ(checked.code, wrong_result) << checked.what();
  EXPECT_TRUE(contains(checked.out, "divergent barrier")) << checked.what();
  for (const char* file : {"one.html", "two.html", "bug.html"}) {
    const std::string page = slurp(in_directory(file));
    EXPECT_TRUE(page.starts_with("<!doctype html>")) << file;
    EXPECT_LT(page.size(), 500'000u) << file;
    EXPECT_FALSE(contains(page, "src=") || contains(page, "href=")) << file;
    const std::string_view begin = "id=\"data\">";
    const std::size_t at = page.find(begin) + begin.size();
    const std::string data = page.substr(at, page.find("</script>", at) - at);
    EXPECT_FALSE(contains(data, "<")) << file;
    for (const json& view : json::parse(data))
      for (const json& trace : view.at("traces"))
        EXPECT_TRUE(contains(trace.at("context").at("source").get<std::string>(), "#include <"))
            << file;
  }
}

TEST_F(CliObserver, APageIsAFile) {
  for (const char* verb : {"trace", "check"}) {
    expect_refused({verb, "3", "--html", "-"}, {"--html", "page.html"});
    expect_refused({verb, "3", "--html", "."}, {"cannot write '.'", "folder"});
    expect_refused({verb, "3", "--html", ""}, {"--html"});
  }
}

TEST_F(CliObserver, TraceWritesAFile) {
  const outcome o = succeed({"trace", "3", "--json", "trace.json"});
  EXPECT_EQ(o.out, "");
  EXPECT_EQ(json::parse(slurp(in_directory("trace.json"))).at("context").at("stage"), 3);
}

TEST_F(CliObserver, TraceRefusesWhatThereIsNot) {
  expect_refused({"trace"}, {"STAGE", "required"});
  expect_refused({"trace", "99"}, {"no stage '99'"});
  expect_refused({"trace", "3", "--block", "32"}, {"--block", "16"});
  expect_refused({"trace", "3", "--warp", "16"}, {"--warp", "8"});
  expect_refused({"trace", "3", "--block", "16", "--warp", "32"}, {"stage 3", "block 16"});
  expect_refused({"trace", "3", "4"}, {"--html"});
  expect_refused({"trace", "3", "--warp", "8,32"}, {"--html"});
  expect_refused({"trace", "3", "--values", "twos"}, {"--values", "ones"});
  expect_refused({"trace", "3", "--type", "i8"}, {"stage 3", "i8", "u32"});
  expect_refused({"trace", "12"}, {"stage 12", "--warp 32"});
}

// ---- all of them --------------------------------------------------------------------------------

TEST_F(CliObserver, AFileThatCannotBeWrittenIsRefusedBeforeAnythingRuns) {
  for (const char* verb : {"profile", "check", "trace"}) {
    expect_refused({verb, "3", "--json", "nowhere/out.json"},
                   {"cannot write 'nowhere/out.json'", "No such file"});
    expect_refused({verb, "3", "--json", "."}, {"cannot write '.'", "folder"});
  }
}

TEST_F(CliObserver, AFileThatIsNoKernelIsRefused) {
  write("kernel.txt", "no kernel");
  for (const char* verb : {"profile", "check", "trace"}) {
    expect_refused({verb, "./kernel.txt"}, {"./kernel.txt", "no kernel file", ".hpp"});
    expect_refused({verb, "missing.hpp"}, {"no kernel file 'missing.hpp'", "tenfold new"});
    expect_refused({verb, "--kernel", "3"}, {"no kernel file '3'"});
    expect_refused({verb, "3", "--kernel", "missing.hpp"}, {"STAGE", "--kernel"});
  }
}

TEST_F(CliObserver, AFileOfTheProjectStandsForItsStageOrPitfall) {
  const fs::path kernels = fs::path(TENFOLD_SOURCE) / "kernels";
  const auto profile = [&](const char* file) {
    return succeed({"profile", kernels / file, "--n", "2^10", "--warp", "32"});
  };
  expect_parts(profile("03_no_bank_conflicts.hpp"), {"3 no_bank_con"});
  expect_parts(profile("beyond/11_single_pass.hpp"), {"11 single_pass"});
  expect_parts(profile("pitfalls/precedence.hpp"), {"precedence"});
}

TEST_F(CliObserver, KernelIsAnotherWayToNameAFile) {
  const std::string file = fs::path(TENFOLD_SOURCE) / "kernels/03_no_bank_conflicts.hpp";
  EXPECT_EQ(succeed({"trace", "--kernel", file}).out, succeed({"trace", "3"}).out);
  for (const char* verb : {"profile", "check"})
    expect_refused({verb, "--kernel", file, "--all"}, {"--kernel", "--all"});
}

TEST_F(CliObserver, ACopyOfAStageIsNotTakenForTheStage) {
  fs::copy_file(fs::path(TENFOLD_SOURCE) / "kernels/01_naive.hpp", in_directory("01_naive.hpp"));
  for (const char* verb : {"profile", "check", "trace"}) {
    expect_refused({verb, "01_naive.hpp"}, {"'01_naive' is no name for a kernel"});
    expect_refused({verb, "./nowhere/01_naive.hpp"}, {"no kernel file './nowhere/01_naive.hpp'"});
    expect_refused({verb, "02_no_divergence.hpp"}, {"no kernel file '02_no_divergence.hpp'"});
  }
}

TEST_F(CliObserver, WithoutAddr2lineItSaysWhatToInstall) {
  expect_refusal(tenfold({"profile", "3", "--n", "2^10"}, {{"PATH", "/nonexistent"}}), bad_input,
                 {"addr2line", "binutils"});
}

}  // namespace
}  // namespace tenfold::cli_test
