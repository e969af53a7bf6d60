// Files of results side by side. Times are made up here: none is taken.
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/cli/program.hpp"

namespace tenfold::cli_test {
namespace {

constexpr std::uint64_t n = 1 << 22;
constexpr double bytes = 4.0 * n;

struct timed {
  std::string who;
  double microseconds = 0;
  std::pair<double, double> range{};
  std::string op = "sum";
};

/// An entry as the ladder writes it.
json ladder_entry(const timed& t) {
  return {{"name", t.who + "/f32/" + t.op + "/n:" + std::to_string(n) + "/block:256/items:1"},
          {"run_type", "iteration"},
          {"real_time", t.microseconds},
          {"time_unit", "us"},
          {"bytes_per_second", bytes / t.microseconds * 1e6},
          {"fastest", t.range.first},
          {"slowest", t.range.second},
          {"block", 256},
          {"items", 1},
          {"verdict", "right"}};
}

json document(std::vector<json> entries) {
  return {{"context",
           {{"device", "cuda:0"},
            {"device_name", "Made-up GPU"},
            {"date", "2026-11-21T02:20:02+0000"},
            {"peak_bytes_per_second", 1e12}}},
          {"benchmarks", std::move(entries)}};
}

json ladder(const std::vector<timed>& all) {
  std::vector<json> entries;
  for (const timed& t : all) entries.push_back(ladder_entry(t));
  return document(entries);
}

class Compare : public Cli {
 protected:
  void write_json(const std::string& file, const json& content) const {
    write(file, content.dump());
  }

  void write_pair(const std::vector<timed>& a, const std::vector<timed>& b) const {
    write_json("a.json", ladder(a));
    write_json("b.json", ladder(b));
  }

  [[nodiscard]] json compare(const words& arguments = {"a.json", "b.json"}) const {
    return json::parse(succeed(words{"compare", "--json", "-"} + arguments).out);
  }

  /// The result in B of the only comparison of these two files.
  [[nodiscard]] json compare_one(const json& a, const json& b) const {
    write_json("a.json", a);
    write_json("b.json", b);
    const json all = compare().at("comparisons");
    if (all.size() != 1) throw std::runtime_error("not one comparison: " + all.dump());
    return all[0].at("results").at("B");
  }

  void expect_file_refused(const std::string& content,
                           std::initializer_list<const char*> parts) const {
    write_json("a.json", ladder({{"01_naive", 100, {99, 101}}}));
    write("b.json", content);
    const outcome o = tenfold({"compare", "a.json", "b.json"});
    expect_refusal(o, bad_input, parts);
    EXPECT_TRUE(contains(o.err, "'b.json'")) << o.what();
  }
};

// ---- what is shown ------------------------------------------------------------------------------

TEST_F(Compare, ShowsTimesRatesSharesAndSpeedUps) {
  write_pair({{"01_naive", 100, {99, 101}}, {"10_two_pass", 20, {19, 21}}},
             {{"01_naive", 50, {49, 51}}, {"10_two_pass", 10, {9, 11}}});
  const outcome o = succeed({"compare", "a.json", "b.json"});
  for (const char* part :
       {"A  a.json  cuda:0 (Made-up GPU)  2026-11-21 02:20", "B  b.json", "sum of 2^22 f32",
        "01_naive", "10_two_pass", "100 us", "50.0 us", "167.8", "335.5", "16.8%", "33.6%",
        "2.00 x", "B is 2.00 times as fast as A overall", "2 entries",
        "no difference is within the spread"})
    EXPECT_TRUE(contains(o.out, part)) << part << o.what();
  EXPECT_FALSE(contains(o.out, "~")) << o.what();
  EXPECT_FALSE(contains(o.out, "block")) << "the shapes are the same: " << o.what();
  EXPECT_FALSE(contains(o.out, "ceiling")) << "no file knows it: " << o.what();
}

json model(double predicted) {
  return {{"context", {{"gpu", "Made-up GPU"}, {"costs_measured", false}}},
          {"models",
           {{{"stage", 3},
             {"stage_name", "no_bank_conflicts"},
             {"type", "f32"},
             {"op", "sum"},
             {"n", n},
             {"block", 256},
             {"predicted", predicted}}}}};
}

TEST_F(Compare, ShowsWhatAModelSaysAsThat) {
  json measured = ladder_entry({"03_no_bank_conflicts", 100, {99, 101}});
  measured["name"] = measured["name"].get<std::string>() + "/after-producer";
  write_json("a.json", document({measured}));
  write_json("b.json", model(50));
  const outcome o = succeed({"compare", "a.json", "b.json"});
  for (const char* part : {"Made-up GPU (model: at best)", "2.00 x", "335.5"})
    EXPECT_TRUE(contains(o.out, part)) << part << o.what();
}

TEST_F(Compare, WritesAPageOfFilesThatNeedNotBeOfTheSame) {
  write_json("a.json", ladder({{"01_naive", 100, {99, 101}}}));
  write_json("b.json", ladder({{"10_two_pass", 100, {99, 101}}}));
  EXPECT_EQ(succeed({"compare", "a.json", "b.json", "--html", "page.html"}).out,
            "page.html: 2 files\n");
  succeed({"compare", "a.json", "--html", "page.html"});
  const std::string page = slurp(in_directory("page.html"));
  EXPECT_TRUE(contains(page, "01_naive/f32/sum/n:4194304"));
  EXPECT_FALSE(contains(page, "10_two_pass/f32/sum/n:4194304")) << "the page is the last one's";
  EXPECT_FALSE(contains(page, "@data@"));
  EXPECT_FALSE(contains(page, "\"iteration\",\"repetitions\"")) << "what nobody looks at";
}

TEST_F(Compare, WritesNoPageOfWhatItCannotRead) {
  write("a.json", "{}");
  expect_refusal(tenfold({"compare", "a.json", "--html", "page.html"}), bad_input,
                 {"'a.json' has no list \"benchmarks\""});
  write_json("a.json", ladder({{"01_naive", 100, {99, 101}}}));
  expect_refusal(tenfold({"compare", "--html", "a.json"}), bad_input, {"compare takes a file"});
  expect_refusal(tenfold({"compare", "--html", "a.json", "a.json"}), bad_input,
                 {"the page would replace 'a.json'"});
  EXPECT_TRUE(json::accept(slurp(in_directory("a.json")))) << "results were written over";
}

TEST_F(Compare, MatchesTheBestOfTwoDuelsWhicheverStageItIs) {
  const auto duel = [&](const char* stage, double microseconds) {
    json e = ladder_entry({"best", microseconds, {microseconds - 1, microseconds + 1}});
    e["name"] = "best/f32/sum/n:1024/" + std::string(stage) + "/block:256/items:4/graph";
    return document({e});
  };
  EXPECT_EQ(compare_one(duel("10_two_pass", 100), duel("14_dependent_passes", 50)).at("speed_up"),
            2);
}

TEST_F(Compare, NamesTheFasterOneFirst) {
  write_pair({{"01_naive", 10, {9, 11}}}, {{"01_naive", 40, {39, 41}}});
  const outcome o = succeed({"compare", "a.json", "b.json"});
  EXPECT_TRUE(contains(o.out, "A is 4.00 times as fast as B overall")) << o.what();
  EXPECT_TRUE(contains(o.out, "0.25 x")) << o.what();
}

TEST_F(Compare, OverallIsTheGeometricMeanOfWhatBothHave) {
  write_pair(
      {{"01_naive", 80, {79, 81}}, {"02_no_divergence", 20, {19, 21}}, {"03_no_bank", 5, {4, 6}}},
      {{"01_naive", 10, {9, 11}}, {"02_no_divergence", 10, {9, 11}}});
  const json file = compare().at("files").at(1);
  EXPECT_EQ(file.at("common"), 2);
  EXPECT_DOUBLE_EQ(file.at("speed_up").get<double>(), 4);
}

TEST_F(Compare, LinesFitWhateverTheNumberOfFiles) {
  words command{"compare"};
  for (const char* file : {"a.json", "b.json", "c.json", "d.json"}) {
    json content = ladder({{"03_no_bank_conflicts", 12345, {12344, 12346}}});
    content["context"]["read_ceiling_bytes_per_second"] = 9e11;
    write_json(file, content);
    command.emplace_back(file);
    if (command.size() < 3) continue;
    for (const std::string& line : lines_of(succeed(command).out))
      EXPECT_LE(line.size(), 120u) << line;
  }
}

TEST_F(Compare, NumbersOfAnySizeAreShown) {
  words command{"compare"};
  for (const double microseconds : {1e-9, 1e12, 100.0, 1e-3}) {
    const std::string file = std::to_string(command.size()) + ".json";
    json content = ladder({{"03_no_bank_conflicts", microseconds}});
    content["context"]["read_ceiling_bytes_per_second"] = 9e11;
    write_json(file, content);
    command.emplace_back(file);
  }
  const outcome o = succeed(command);
  EXPECT_EQ(lines_of(o.out).at(9).substr(0, 20), "03_no_bank_conflicts") << o.what();
}

TEST_F(Compare, WhatAFileLacksStaysBlankAndIsCounted) {
  write_pair({{"01_naive", 100, {99, 101}}},
             {{"01_naive", 50, {49, 51}}, {"10_two_pass", 10, {9, 11}}});
  const outcome o = succeed({"compare", "a.json", "b.json"});
  EXPECT_TRUE(contains(o.out, "10_two_pass")) << o.what();
  EXPECT_TRUE(contains(o.out, "1 entry is not in every file")) << o.what();
  const json all = compare().at("comparisons");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_TRUE(all[1].at("results").at("A").is_null());
  EXPECT_TRUE(all[1].at("results").at("B").at("speed_up").is_null());
}

TEST_F(Compare, OperatorsAreNotMixed) {
  write_pair({{"01_naive", 100, {99, 101}, "sum"}, {"01_naive", 80, {79, 81}, "minimum"}},
             {{"01_naive", 40, {39, 41}, "minimum"}, {"01_naive", 20, {19, 21}, "sum"}});
  const json all = compare().at("comparisons");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].at("op"), "sum");
  EXPECT_EQ(all[0].at("results").at("B").at("speed_up"), 5.0);
  EXPECT_EQ(all[1].at("results").at("B").at("speed_up"), 2.0);
}

TEST_F(Compare, WrongResultsAreLeftOutAndCounted) {
  json wrong = ladder({{"01_naive", 50, {49, 51}}, {"10_two_pass", 1, {1, 1}}});
  wrong["benchmarks"][1]["verdict"] = "WRONG";
  write_json("a.json", ladder({{"01_naive", 100, {99, 101}}, {"10_two_pass", 10, {9, 11}}}));
  write_json("b.json", wrong);
  const outcome o = succeed({"compare", "a.json", "b.json"});
  EXPECT_TRUE(contains(o.out, "1 entry is left out of B: the result is wrong")) << o.what();
  EXPECT_TRUE(contains(o.out, "B is 2.00 times as fast as A")) << o.what();
}

TEST_F(Compare, JsonGoesToAFileBesideTheTable) {
  write_pair({{"01_naive", 100, {99, 101}}}, {{"01_naive", 50, {49, 51}}});
  const outcome o = succeed({"compare", "a.json", "b.json", "--json", "out.json"});
  EXPECT_TRUE(contains(o.out, "2.00 x")) << o.what();
  EXPECT_EQ(json::parse(slurp(in_directory("out.json"))), compare());
}

TEST_F(Compare, PathsNeedNotBeUtf8) {
  write_pair({{"01_naive", 100, {99, 101}}}, {{"01_naive", 50, {49, 51}}});
  fs::copy_file(in_directory("b.json"), in_directory("\xe9.json"));
  EXPECT_EQ(compare({"a.json", "\xe9.json"}).at("files").at(1).at("common"), 1);
}

TEST_F(Compare, ReadsWhatTheLadderWrites) {
  for (const char* warp : {"32", "64"})
    succeed({"ladder", "--n", "1000", "--repeat", "2", "--device", std::string("simt:") + warp,
             "--json", std::string(warp) + ".json"});
  const json document = compare({"32.json", "64.json"});
  EXPECT_EQ(document.at("files").at(1).at("common"), 10);
  EXPECT_EQ(document.at("comparisons").at(9).at("who"), "10_two_pass");
  EXPECT_TRUE(contains(document.at("files").at(1).at("device").get<std::string>(), "simt:64"));
}

TEST_F(Compare, HelpTellsTheRuleOfTheSpread) {
  const outcome o = succeed({"compare", "--help"});
  for (const char* part : {"FILE", "--by-shape", "--json", "within the spread", "tenfold_duel"})
    EXPECT_TRUE(contains(o.out, part)) << part << o.what();
}

// ---- the spread ---------------------------------------------------------------------------------

TEST_F(Compare, WithinTheSpreadWhereOneMedianLiesInsideTheOthers) {
  const auto is_within = [&](std::pair<double, double> a, std::pair<double, double> b) {
    return compare_one(ladder({{"01_naive", 100, a}}), ladder({{"01_naive", 110, b}}))
        .at("within_spread");
  };
  EXPECT_EQ(is_within({99, 101}, {109, 111}), false);
  EXPECT_EQ(is_within({99, 106}, {104, 111}), false) << "they overlap, but hold no median";
  EXPECT_EQ(is_within({99, 110}, {109, 111}), true);
  EXPECT_EQ(is_within({99, 101}, {100, 111}), true);
}

TEST_F(Compare, DifferencesWithinTheSpreadAreMarked) {
  write_pair({{"01_naive", 100, {90, 120}}}, {{"01_naive", 110, {109, 111}}});
  const outcome o = succeed({"compare", "a.json", "b.json"});
  for (const char* part :
       {"0.91 x~", "~ within the spread", "do not differ by more than the spread"})
    EXPECT_TRUE(contains(o.out, part)) << part << o.what();
}

TEST_F(Compare, PercentilesGoBeforeTheFastestAndSlowest) {
  json a = ladder({{"01_naive", 100, {1, 1000}}}), b = ladder({{"01_naive", 110, {1, 1000}}});
  for (json* each : {&a, &b}) {
    const double median = (*each)["benchmarks"][0]["real_time"];
    (*each)["benchmarks"][0]["p5"] = median - 1;
    (*each)["benchmarks"][0]["p95"] = median + 1;
  }
  const json result = compare_one(a, b);
  EXPECT_EQ(result.at("within_spread"), false);
  EXPECT_DOUBLE_EQ(result.at("low").get<double>(), 109e-6);
}

TEST_F(Compare, WithoutASpreadNothingIsSaidOfIt) {
  json a = ladder({{"01_naive", 100}}), b = ladder({{"01_naive", 110}});
  for (json* each : {&a, &b}) (*each)["benchmarks"][0].erase("fastest");
  EXPECT_TRUE(compare_one(a, b).at("within_spread").is_null());
  const outcome o = succeed({"compare", "a.json", "b.json"});
  EXPECT_TRUE(contains(o.out, "1 without one")) << o.what();
}

// ---- forms of files -----------------------------------------------------------------------------

TEST_F(Compare, TimesMayHaveDifferentUnits) {
  for (const auto& [unit, per_second] :
       {std::pair{"ns", 1e9}, std::pair{"us", 1e6}, std::pair{"ms", 1e3}, std::pair{"s", 1.0}}) {
    json b = ladder({{"01_naive", 50e-6 * per_second, {49e-6 * per_second, 51e-6 * per_second}}});
    b["benchmarks"][0]["time_unit"] = unit;
    const json result = compare_one(ladder({{"01_naive", 100, {99, 101}}}), b);
    EXPECT_DOUBLE_EQ(result.at("seconds").get<double>(), 50e-6) << unit;
    EXPECT_DOUBLE_EQ(result.at("high").get<double>(), 51e-6) << unit;
    EXPECT_DOUBLE_EQ(result.at("speed_up").get<double>(), 2) << unit;
  }
}

TEST_F(Compare, SharesAreTheEntrysElseOfWhatTheContextSays) {
  json a = ladder({{"01_naive", 100, {99, 101}}}), b = a;
  b["context"].erase("peak_bytes_per_second");
  b["context"]["peak"] = "2 transfers x 3201 MHz x 6016 bits / 8 = 2000 GB/s";
  b["context"]["read_ceiling_bytes_per_second"] = 1e11;
  const json by_context = compare_one(a, b);
  EXPECT_DOUBLE_EQ(by_context.at("share_of_peak").get<double>(), bytes / 100e-6 / 2e12);
  EXPECT_DOUBLE_EQ(by_context.at("share_of_ceiling").get<double>(), bytes / 100e-6 / 1e11);
  b["benchmarks"][0]["share_of_peak"] = 0.25;
  b["benchmarks"][0]["share_of_ceiling"] = 0.5;
  const json by_entry = compare_one(a, b);
  EXPECT_EQ(by_entry.at("share_of_peak"), 0.25);
  EXPECT_EQ(by_entry.at("share_of_ceiling"), 0.5);
}

TEST_F(Compare, WhatRanOnTheCpuHasNoShareOfWhatTheDeviceReads) {
  json a = ladder({{"peer:std", 100, {99, 101}}}), b = a;
  b["benchmarks"][0]["device"] = "cpu";
  b["context"]["read_ceiling_bytes_per_second"] = 1e11;
  const json of_cpu = compare_one(a, b);
  EXPECT_TRUE(of_cpu.at("share_of_peak").is_null());
  EXPECT_TRUE(of_cpu.at("share_of_ceiling").is_null());
}

/// As tenfold_bench has Google Benchmark write it.
json benchmark_entry(const std::string& shape, double milliseconds, const std::string& aggregate) {
  const std::string name = "10_two_pass/f32/sum/n:" + std::to_string(n) + "/" + shape +
                           "/graph/iterations:1/manual_time";
  json e{{"name", name},
         {"run_name", name},
         {"run_type", "iteration"},
         {"real_time", milliseconds},
         {"time_unit", "ms"},
         {"bytes_per_second", bytes / milliseconds * 1e3}};
  if (aggregate.empty()) return e;
  e["name"] = name + "_" + aggregate;
  e["run_type"] = "aggregate";
  e["aggregate_name"] = aggregate;
  return e;
}

/// As tenfold_duel writes it.
json duel_entry(const std::string& shape, double microseconds) {
  json e = benchmark_entry(shape, microseconds, "");
  e["name"] = e["run_name"] = "10_two_pass/f32/sum/n:" + std::to_string(n) + "/" + shape + "/graph";
  e["time_unit"] = "us";
  e["p5"] = microseconds - 1;
  e["p95"] = microseconds + 1;
  return e;
}

TEST_F(Compare, AggregatesOfGoogleBenchmarkGiveMedianAndSpread) {
  std::vector<json> entries;
  for (const double each : {0.3, 0.1, 0.9})
    entries.push_back(benchmark_entry("block:64", each, ""));
  for (const auto& [name, value] :
       {std::pair{"mean", 0.43}, std::pair{"median", 0.3}, std::pair{"p5", 0.12},
        std::pair{"p95", 0.8}, std::pair{"cv", 0.5}})
    entries.push_back(benchmark_entry("block:64", value, name));
  const json result = compare_one(document({duel_entry("block:64", 600)}), document(entries));
  EXPECT_DOUBLE_EQ(result.at("seconds").get<double>(), 300e-6);
  EXPECT_DOUBLE_EQ(result.at("low").get<double>(), 120e-6);
  EXPECT_DOUBLE_EQ(result.at("high").get<double>(), 800e-6);
  EXPECT_DOUBLE_EQ(result.at("speed_up").get<double>(), 2);
}

TEST_F(Compare, RepetitionsWithoutAggregatesServeAsWell) {
  std::vector<json> entries;
  for (const double each : {0.3, 0.1, 0.9})
    entries.push_back(benchmark_entry("block:64", each, ""));
  const json result = compare_one(document({duel_entry("block:64", 600)}), document(entries));
  EXPECT_DOUBLE_EQ(result.at("seconds").get<double>(), 300e-6);
  EXPECT_DOUBLE_EQ(result.at("low").get<double>(), 100e-6);
  EXPECT_DOUBLE_EQ(result.at("high").get<double>(), 900e-6);
}

TEST_F(Compare, TheFastestShapeStandsForItsStage) {
  write_json("a.json",
             document({duel_entry("block:64/items:4", 300), duel_entry("block:256/items:4", 200)}));
  write_json("b.json", document({duel_entry("block:64/items:4", 100)}));
  const json document = compare();
  ASSERT_EQ(document.at("comparisons").size(), 1u);
  EXPECT_EQ(document.at("comparisons")[0].at("results").at("B").at("speed_up"), 2.0);
  EXPECT_EQ(document.at("slower_shapes"), 1);
  const outcome o = succeed({"compare", "a.json", "b.json"});
  for (const char* part : {"A: block 256, items 4", "B: block 64, items 4",
                           "1 launch shape is left out", "--by-shape"})
    EXPECT_TRUE(contains(o.out, part)) << part << o.what();
}

TEST_F(Compare, ByShapeComparesLikeWithLike) {
  write_json("a.json",
             document({duel_entry("block:64/items:4", 300), duel_entry("block:256/items:4", 200)}));
  write_json("b.json", document({duel_entry("block:64/items:4", 100)}));
  const json all = compare({"a.json", "b.json", "--by-shape"}).at("comparisons");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].at("results").at("B").at("speed_up"), 3.0);
  EXPECT_TRUE(all[1].at("results").at("B").is_null());
}

// ---- refusals -----------------------------------------------------------------------------------

TEST_F(Compare, TakesTwoFilesAtLeast) {
  write_pair({{"01_naive", 100, {99, 101}}}, {{"01_naive", 100, {99, 101}}});
  expect_refusal(tenfold({"compare"}), bad_input, {"two files", "tenfold ladder --json"});
  expect_refusal(tenfold({"compare", "a.json"}), bad_input, {"two files"});
  expect_refusal(tenfold(words{"compare"} + words(27, "a.json")), bad_input, {"26 files at most"});
}

TEST_F(Compare, UnreadableFiles) {
  write_pair({{"01_naive", 100, {99, 101}}}, {{"01_naive", 100, {99, 101}}});
  expect_refusal(tenfold({"compare", "a.json", "none.json"}), bad_input,
                 {"'none.json'", "No such file"});
  expect_refusal(tenfold({"compare", "a.json", "."}), bad_input, {"'.'", "folder"});
  expect_refusal(tenfold({"compare", "a.json", "b.json", "--json", "none/out.json"}), bad_input,
                 {"cannot write 'none/out.json'"});
  expect_refusal(tenfold({"compare", "a.json", "b.json", "--json", ""}), bad_input, {"empty"});
}

TEST_F(Compare, WhatIsNoJson) {
  for (const char* content : {"", "{", "stage 1\n", "{\"benchmarks\": [}"})
    expect_file_refused(content, {"is no JSON", "byte", "tenfold_duel --json FILE"});
}

TEST_F(Compare, JsonWithoutEnd) {
  expect_file_refused(std::string(100'000, '['), {"nested more than 100 deep"});
  expect_file_refused(
      "{\"benchmarks\": " + std::string(100'000, '[') + std::string(100'000, ']') + "}",
      {"nested more than 100 deep"});
  const outcome o = tenfold({"compare", "a.json", "/dev/zero"});
  expect_refusal(o, bad_input, {"'/dev/zero'", "more than 64 MiB"});
  EXPECT_LT(o.peak_bytes, std::uint64_t{256} << 20);
}

TEST_F(Compare, NamesThatWouldMoveTheCursor) {
  json file = ladder({{"01_naive\x1b[2J\x07\u009b2J", 100, {99, 101}}});
  file["context"]["device"] = "gpu\x1b]0;title";
  write_json("a.json", file);
  const outcome o = succeed({"compare", "a.json", "a.json"});
  EXPECT_TRUE(contains(o.out, "01_naive?[2J??2J")) << o.what();
  EXPECT_TRUE(contains(o.out, "gpu?]0;title")) << o.what();
  file["benchmarks"][0]["time_unit"] = "\x1b[2J\n";
  expect_file_refused(file.dump(), {"in the unit '?[2J?'"});
}

TEST_F(Compare, JsonOfAnotherKind) {
  for (const char* content : {"[]", "3", "{}", "{\"benchmarks\": 3}"})
    expect_file_refused(content, {"has no list \"benchmarks\"", "--benchmark_out=FILE"});
  expect_file_refused("{\"benchmarks\": []}", {"no entry in \"benchmarks\"", "tenfold ladder"});
  expect_file_refused("{\"benchmarks\": [1]}", {"without \"name\"", "tenfold ladder"});
  expect_file_refused(
      R"({"benchmarks": [{"name": "BM_copy/8", "real_time": 1, "time_unit": "ns"}]})",
      {"'BM_copy/8'", "names no stage", "tenfold_bench"});
  expect_file_refused(R"({"benchmarks": [{"name": "a/f32/sum/n:x"}]})", {"names no stage"});
}

TEST_F(Compare, EntriesThatLackWhatIsNeeded) {
  for (const char* key : {"real_time", "bytes_per_second"}) {
    json content = ladder({{"01_naive", 100, {99, 101}}});
    content["benchmarks"][0].erase(key);
    expect_file_refused(content.dump(), {key, "01_naive/f32"});
  }
  json content = ladder({{"01_naive", 100, {99, 101}}});
  content["benchmarks"][0]["time_unit"] = "min";
  expect_file_refused(content.dump(), {"'min'", "ns, us, ms or s"});
  expect_file_refused(ladder({{"01_naive", 0}}).dump(), {"a time of 0"});
  expect_file_refused("{\"benchmarks\": [{\"real_time\": 1e999}]}", {"a number that is too large"});
  content = ladder({{"01_naive", 100, {99, 101}}});
  content["benchmarks"][0]["verdict"] = "WRONG";
  expect_file_refused(content.dump(), {"all its results are wrong"});
}

TEST_F(Compare, NothingInCommon) {
  write_pair({{"01_naive", 100, {99, 101}}}, {{"10_two_pass", 10, {9, 11}}});
  expect_refusal(tenfold({"compare", "a.json", "b.json"}), bad_input,
                 {"'a.json'", "'b.json'", "no entry in common", "01_naive", "10_two_pass"});
}

}  // namespace
}  // namespace tenfold::cli_test
