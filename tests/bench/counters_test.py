"""bench/counters, with a made-up ncu in the place of NVIDIA's and the real executor."""

import contextlib
import io
import json
import os
import stat
import sys
import tempfile
import unittest

from loading import load

TENFOLD, OBSERVER = os.environ.get("TENFOLD_PROGRAM"), os.environ.get("TENFOLD_OBSERVER")
counters = load("counters")

# A profiler whose hardware counts what the executor does, but for what COUNTERS_TEST says:
# 'unknown METRIC', 'shift METRIC', 'fail' or 'lose STAGE'. It reports a kernel of another's first,
# and each reduction twice, as a run that warms up does.
FAKE_NCU = '''#!{python}
import csv, os, subprocess, sys, json
sys.path.insert(0, {here!r})
import loading
if "--version" in sys.argv:
    sys.exit(print("NVIDIA (R) Nsight Compute\\nVersion 2025.3.1.0 (build 1)"))
def after(name):
    return sys.argv[sys.argv.index(name) + 1]
what, _, of = os.environ.get("COUNTERS_TEST", "").partition(" ")
log, metrics = open(after("--log-file"), "w"), after("--metrics").split(",")
if what == "fail":
    sys.exit(print("==ERROR== ERR_NVGPUCTRPERM - no permission", file=log) or 9)
if what == "unknown" and of in metrics:
    pattern = "regex:^" + of.replace(".", "\\\\.")
    sys.exit(print("==ERROR== Failed to find metric " + pattern, file=log) or 1)
counters = loading.load("counters")
stage = sys.argv[sys.argv.index("run") + 1]
arguments = sys.argv[sys.argv.index("--n"):sys.argv.index("--repeat")]
profile = json.loads(subprocess.run([{observer!r}, "profile", stage, "--warp", "32", *arguments,
                                     "--json", "-"], stdout=subprocess.PIPE).stdout)["profiles"][0]
def value(metric, one):
    stalls = {{"long_scoreboard": "12.25", "barrier": "1.5"}}
    if metric in counters.STALLS.values():
        return next((stalls[each] for each in stalls if counters.STALLS[each] == metric), "0")
    opcodes = {{}}
    for counter in counters.COUNTERS:
        if metric not in counter.metrics:
            continue
        if counter.opcodes:
            opcodes[counter.opcodes[0]] = counter.executor(one)
        elif metric == counter.metrics[0]:
            return f"{{counter.executor(one) + (what == 'shift' and metric == of):,}}"
    listed = "; ".join(f"{{name}}: {{count}}" for name, count in opcodes.items())
    return f"{{sum(opcodes.values())}} ({{listed}})" if opcodes else "0"
name = profile["stage_name"]
passes = [dict(one, kernel="_ZN7tenfold4cuda" + str(len(name)) + name + "13reduce_blocksILi256ELi32ENS0_3sumIfEE")
          for one in profile["passes"]]
rows = [dict(passes[0], kernel="fill(float *)"),
        dict(passes[0], kernel=passes[0]["kernel"].replace("3sumI", "7bit_xorI")),
        dict(passes[0], kernel="_ZN7tenfold4cuda8two_pass13reduce_blocksILi1024ELi32ENS0_3sumIfEE")]
if (what, of) != ("lose", stage):
    rows += passes + passes
out = csv.writer(log, quoting=csv.QUOTE_ALL)
print("==PROF== Connected to process 1", file=log)
out.writerow(["ID", "Kernel Name", "Block Size", "Grid Size"] + metrics)
out.writerow(["", "", "", ""] + ["inst"] * len(metrics))
for number, one in enumerate(rows):
    out.writerow([number, one["kernel"], f"({{one['threads_per_block']}}, 1, 1)",
                  f"({{one['blocks']}}, 1, 1)"] + [value(metric, one) for metric in metrics])
print("==PROF== Disconnected from process 1", file=log)
'''


class Values(unittest.TestCase):
    def test_are_numbers(self):
        self.assertEqual(counters.value_of("a.sum", "1,024"), 1024)
        self.assertEqual(counters.value_of("a.ratio", "31.92"), 31.92)
        self.assertEqual(counters.value_of("a.sum", "12 (0: 4; 1: 8)"), 12)
        self.assertIsNone(counters.value_of("a.sum", "n/a"))

    def test_are_one_for_each_opcode(self):
        value = counters.value_of(counters.INSTRUCTIONS, "1,012 (BAR: 4; LDS.U: 1,008)")
        self.assertEqual(value, {"BAR": 4, "LDS.U": 1008})
        reads = counters.Counter("", None, [counters.INSTRUCTIONS], ["LDS", "LD"])
        self.assertEqual(reads.on_hardware({counters.INSTRUCTIONS: value}), 1008)
        self.assertIsNone(counters.value_of(counters.INSTRUCTIONS, "12"))

    def test_come_one_launch_a_line_after_the_units(self):
        launches = counters.parse_launches(
            '==PROF== Profiling\n"ID","Kernel Name","Block Size","Grid Size",'
            '"smsp__inst_executed_op_shared_ld.sum"\n"","","","","inst"\n'
            '"0","void f<int, int>(T1)","(256, 1, 1)","(16, 2, 1)","3,264"\n')
        self.assertEqual(launches, [counters.Launch("void f<int, int>(T1)", 32, 256,
                                                    {"smsp__inst_executed_op_shared_ld.sum": 3264})])


class Comparison(unittest.TestCase):
    def stage(self, executor, hardware):
        traffic = dict.fromkeys(["requests", "sectors", "lanes", "wavefronts"], 0)
        zero = {f"{where}_{what}": dict(traffic) for where in ("global", "shared")
                for what in ("reads", "writes", "atomics")}
        zero.update(dict.fromkeys(["steps", "step_lanes", "block_barriers", "warp_barriers",
                                   "shuffles"], 0))
        zero["shuffles"] = executor
        return {"stage": 7, "passes": [{"executor": zero, "hardware": {
            counters.INSTRUCTIONS: hardware}}]}

    def row(self, stage):
        return [row for row in counters.compare_stage(stage) if row.counter.name == "shuffles"][0]

    def test_is_equal_unexplained_or_not_measured(self):
        self.assertEqual(self.row(self.stage(5, {"SHFL": 5, "BAR": 9})).verdict, "equal")
        self.assertEqual(self.row(self.stage(5, {"SHFL": 6})).verdict, "unexplained")
        self.assertEqual(self.row(self.stage(5, {})).verdict, "unexplained")
        self.assertEqual(self.row(self.stage(5, None)).verdict, "not measured")

    def test_takes_an_explanation_only_where_it_holds(self):
        one_more = counters.Explanation(
            ["shuffles"], lambda difference: difference.hardware == difference.executor + 1
            and difference.surplus("block barriers, by warps") == 0, "One more.")
        before = counters.EXPLANATIONS
        counters.EXPLANATIONS = [one_more]
        try:
            self.assertEqual(self.row(self.stage(5, {"SHFL": 6})).verdict, "explained")
            self.assertEqual(self.row(self.stage(5, {"SHFL": 7})).verdict, "unexplained")
            self.assertEqual(self.row(self.stage(5, {"SHFL": 6, "BAR": 1})).verdict, "unexplained")
        finally:
            counters.EXPLANATIONS = before

    def test_explains_fewer_shared_reads_of_hardware_only_where_lanes_are_equal(self):
        def verdicts(executor, hardware):
            """Each: requests, wavefronts, lanes; of the executor also bytes a lane."""
            stage = self.stage(0, {})
            one, = stage["passes"]
            one["executor"]["blocks"] = 1
            one["executor"]["shared_reads"] = {"requests": executor[0], "wavefronts": executor[1], "lanes": executor[2],
                                               "bytes": executor[2] * executor[3], "sectors": 0}
            one["hardware"][counters.ACTIVE_THREADS] = {"LDS": hardware[2]}
            for counter, value in zip(("requests", "wavefronts"), hardware):
                one["hardware"][counters.BY_NAME[f"shared reads, {counter}"].metrics[0]] = value
            rows = {row.counter.name: row.verdict for row in counters.compare_stage(stage)}
            return rows["shared reads, requests"], rows["shared reads, wavefronts"]

        # A lane that comes in a request of its own, and 64 bits that all lanes read.
        self.assertEqual(verdicts((29, 29, 705, 4), (23, 23, 705)), ("explained", "explained"))
        self.assertEqual(verdicts((2, 3, 43, 8), (2, 2, 43)), ("equal", "explained"))
        self.assertEqual(verdicts((29, 29, 705, 4), (23, 23, 700)), ("unexplained", "unexplained"))
        self.assertEqual(verdicts((2, 3, 43, 4), (2, 2, 43)), ("equal", "unexplained"))
        self.assertEqual(verdicts((2, 2, 43, 8), (2, 3, 43)), ("equal", "unexplained"))


class Launches(unittest.TestCase):
    def test_repeat_after_a_call(self):
        self.assertEqual([counters.period_of(list(kernels)) for kernels in ("aaaaaa", "ababab", "abcabc", "abcdef")],
                         [1, 2, 3, 6])

    def test_of_cub_are_counted_on_a_gpu_alone(self):
        class Profiler:
            def launches_of(self, command, kernel, count):
                names = ["reduce", "tile"] if "2^13" in command else ["tile", "tile"]
                return [counters.Launch(name + kernel, 1, 1, {}) for name in names * (count // 2)]

        with tempfile.TemporaryDirectory() as folder:
            options = counters.parse_options(["--build", folder])
            self.assertEqual(counters.launches_of_cub(options, Profiler()), {})
            open(os.path.join(folder, "tenfold_duel"), "w").close()
            with contextlib.redirect_stdout(io.StringIO()):
                counted = counters.launches_of_cub(options, Profiler())
            self.assertEqual((counted["2^12"], counted["2^13"]), (1, 2))
            options.device = "simt"
            self.assertEqual(counters.launches_of_cub(options, Profiler()), {})


class StageNumbers(unittest.TestCase):
    def test_may_be_ranges(self):
        self.assertEqual(counters.stage_numbers("1..3,11,13"), [1, 2, 3, 11, 13])


@unittest.skipUnless(TENFOLD and OBSERVER, "TENFOLD_PROGRAM and TENFOLD_OBSERVER name no programs")
class Measuring(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.ncu, self.page = self.path("ncu"), self.path("counters.md")
        with open(self.ncu, "w", encoding="utf-8") as file:
            file.write(FAKE_NCU.format(python=sys.executable, observer=OBSERVER,
                                       here=os.path.dirname(os.path.realpath(__file__))))
        os.chmod(self.ncu, os.stat(self.ncu).st_mode | stat.S_IXUSR)
        self.say("")

    def path(self, name):
        return os.path.join(self.folder, name)

    def say(self, text):
        os.environ["COUNTERS_TEST"] = text

    def run_script(self, *arguments):
        with contextlib.redirect_stdout(io.StringIO()):
            counters.run(counters.parse_options([
                "--build", os.path.dirname(TENFOLD), "--observer", OBSERVER, "--device", "simt",
                "--ncu", self.ncu, "--results", self.folder, "--page", self.page,
                "--table", os.path.join(self.folder, "facts.inl"), *arguments]))

    def measure(self, stages="3,10"):
        self.run_script("--stages", stages, "--n", "2^14", "--grid", "4")
        return self.results()

    def results(self):
        return [self.path(name) for name in os.listdir(self.folder) if name.endswith(".json")][0]

    def read_page(self):
        return counters.read(self.page)

    def test_finds_hardware_equal_that_counts_the_same(self):
        self.measure()
        rows = [line.split(" | ") for line in self.read_page().splitlines()
                if line.startswith("| shared reads, requests |") and len(line.split(" | ")) == 4]
        # In each block 4 + 2 + 6 warps read two values a step, then one the result; 64 blocks, 1.
        self.assertEqual(rows[0][1:], ["1600, 25", "1600, 25", "equal |"])
        self.assertNotIn("unexplained**", self.read_page())

    def test_records_what_made_it_and_what_warps_wait_for(self):
        document = counters.read_json(self.measure("3"))
        self.assertEqual(document["version"], counters.build_facts(TENFOLD)["version"])
        self.assertEqual(list(document["stages"][0]["stalls"].items()), [("long_scoreboard", 12.25), ("barrier", 1.5)])
        self.assertNotIn("stalled", str(document["stages"][0]["passes"]))
        self.assertIn("| 3 | no_bank_conflicts | long scoreboard 12.25, barrier 1.50 |", self.read_page())

    def test_shows_what_nothing_explains_and_fails(self):
        self.say("shift l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum")
        with self.assertRaisesRegex(counters.Failure, "stage 3: global reads, sectors: 2048"):
            self.measure("3")
        self.assertIn("+2 (1 x), **unexplained**", self.read_page())

    def test_goes_on_without_a_metric_that_is_unknown(self):
        self.say("unknown l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum")
        with open(self.measure("3"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["unknown_metrics"],
                             ["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"])
        self.assertIn("| 2048, 8 | ?, ? | not measured |", self.read_page())

    def test_tells_why_the_profiler_failed(self):
        self.say("fail")
        with self.assertRaisesRegex(counters.Failure, "ERR_NVGPUCTRPERM"):
            self.measure("3")

    def test_keeps_what_was_measured_when_a_stage_fails(self):
        self.say("lose 3")
        with self.assertRaisesRegex(counters.Failure, "no_bank_conflicts launches .* fill"):
            self.measure("3,10")
        self.assertIn("## Stage 10: two_pass", self.read_page())
        with self.assertRaisesRegex(counters.Failure, "no_bank_conflicts"):
            self.measure("3")

    def test_checks_the_page_and_the_executor(self):
        results = self.measure("3")
        self.run_script("--from", results, "--check")
        with open(results, encoding="utf-8") as file:
            document = json.load(file)
        document["stages"][0]["passes"][0]["executor"]["shared_reads"]["requests"] -= 1
        with open(results, "w", encoding="utf-8") as file:
            json.dump(document, file)
        with self.assertRaisesRegex(counters.Failure, "is not what"):
            self.run_script("--from", results, "--check")
        with self.assertRaises(counters.Failure):
            self.run_script("--from", results)
        with self.assertRaisesRegex(counters.Failure, "no longer counts .* of stages 3:"):
            self.run_script("--from", results, "--check")
        self.run_script("--from", results, "--recount")
        self.run_script("--from", results, "--check")


if __name__ == "__main__":
    unittest.main()
