"""bench/record, with a made-up GPU: stand-ins for the programs of a build, and the real bench/tune."""

import contextlib
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

from loading import BENCH, load

record = load("record")

# All programs of a build in one. Each writes the rows that it was asked for, and into calls.txt how it was called;
# RECORD_TEST names a program that fails. A sum takes 100 us, as `run` has it, and by the others a little more.
STAND_IN = r'''#!{python} -IS
import json, os, pathlib, re, sys
name, words = pathlib.Path(sys.argv[0]).name, sys.argv[1:]
with open(pathlib.Path(sys.argv[0]).parent / "calls.txt", "a") as calls:
    print(name, *words, file=calls)
def after(option, otherwise=None):
    return words[words.index(option) + 1] if option in words else otherwise
listed = [dict(stage=stage, name="s%d" % stage, file="kernels/" + "beyond/" * (stage > 2), takes_items=stage > 1,
               takes_grid=stage > 1, serves_wide=True, serves_narrow=stage > 2, compute_capability=0,
               adds_floats_alone=stage == 4)
          for stage in (1, 2, 3, 4)]
if name == "tenfold_scaling":
    rows = [dict(ranks=ranks, contestant="nccl", n=n * ranks, ok=True) for ranks in (1, 2) for n in (1 << 20, 1 << 21)]
    sys.exit(print(json.dumps(dict(benchmarks=rows))))
ranks = int(after("-n")) if name == "mpirun" else 0
if name == "mpirun":
    words = words[words.index("run"):]
if words[0] == "list":
    sys.exit(print(json.dumps(dict(stages=listed))))
if words[0] == "devices":
    sys.exit(print(json.dumps(dict(devices=[dict(device=each) for each in ("cuda:0", "cuda:1", "simt:32")]))))
if name == os.environ.get("RECORD_TEST"):
    sys.exit(print(name + " fails", file=sys.stderr) or 3)
context = dict(device="cuda:0 (NVIDIA X1)" if name == "tenfold_duel" else "cuda:0", device_name="NVIDIA X1", driver="1",
               toolkit="2", multiprocessors="4", architecture="sm_1", commit="abc")
mode = after("--mode", "after-producer").split(",")
base, _, power = after("--n", "2^4").split(",")[0].partition("^")
n = int(base) ** int(power or 1)
def row(stage, time=100.0, block=256, items=4, grid=8, **more):
    return dict(dict(stage=stage, stage_name="s%d" % stage, n=n, type="f32", op="sum", mode=mode[0], block=block,
                     items=items, grid=grid, real_time=time, p5=time - 1, p95=time + 1, ok=True, bytes_per_second=1e9,
                     ratio=1.0, against="s", contestant="%02d_s%d/block:%d/items:%d/grid:%d" % (
                         stage, stage, block, items, grid)), **more)
if name == "tenfold_bench":
    times = ("median", 104.0), ("p5", 103.0), ("p95", 105.0)
    rows = [dict(aggregate_name=key, real_time=time) for key, time in times]
elif name == "tenfold_duel":
    shapes = [list(map(int, each.split(":"))) for each in after("--candidate", "").split(",") if ":" in each]
    rows = [row(*([shape[0], 103.0] + (shape + [8])[1:4])) for shape in shapes] + [row(4)] * ("--input" in words)
    print("The fastest stage of each\n  s2")
elif words[0] == "best":
    rows = [row(2), row(3, 90.0, 512, 8, 16)]
elif words[0] == "run":
    stage = int(words[1]) if words[1].isdigit() else 1001
    rows = [row(stage, 100.0, int(after("--block", 256)), int(after("--items", 4)), int(after("--grid", 8)), ranks=ranks)]
else:
    rows = [row(each["stage"], 101.0) for each in listed]
    if after("--kernel"):
        kernel = pathlib.Path(after("--kernel"))
        began = int(re.search(r"began as stage (\d+)", kernel.read_text())[1])
        rows += [row(began, 101.0), dict(row(0), stage_name=kernel.stem, ok=kernel.stem != "any_block")]
text = json.dumps(dict(context=context, benchmarks=rows))
file = after("--json") or next((w.split("=")[1] for w in words if w.startswith(("--benchmark_out=", "--json="))), "-")
print(text) if file == "-" else pathlib.Path(file).write_text(text)
'''


class Recording(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = pathlib.Path(folder.name)
        for name in ("tenfold", "tenfold_duel", "tenfold_bench", "tenfold_scaling", "mpirun"):
            program = self.build / name
            program.write_text(STAND_IN.format(python=sys.executable), encoding="utf-8")
            program.chmod(0o755)

    def record(self, *arguments, code=0, libraries=()):
        """What it prints, where it ends as it should."""
        out = io.StringIO()
        with mock.patch.object(sys, "argv", ["record", str(self.build), str(self.build), *arguments]), \
                mock.patch.object(record, "can_import", lambda library: library in libraries), \
                mock.patch.object(record, "find_ncu", return_value=None), contextlib.redirect_stdout(out), \
                contextlib.redirect_stderr(out), self.assertRaises(SystemExit) as ended:
            record.main()
        self.assertEqual(ended.exception.code, code, out.getvalue())
        return out.getvalue()

    def results(self, name):
        return json.loads((self.build / f"x1-{name}.json").read_text())

    def calls_of(self, program):
        return [line for line in (self.build / "calls.txt").read_text().splitlines() if line.startswith(f"{program} ")]

    def test_writes_all_that_its_help_names_and_says_what_it_leaves_out(self):
        shown = self.record()
        named = set(re.findall(r"^DEVICE-([\w-]+)\.json", record.__doc__, re.MULTILINE))
        written = {path.stem.removeprefix("x1-") for path in self.build.glob("x1-*.json")}
        self.assertEqual(named - written, {"python", "python-matrices", "counters", "exact-data"})
        self.assertEqual(written - named, set())
        for part in ("s  left out: there is no ncu", "left out: Python has no torch and no jax", "x1-agreement.json", "s  done"):
            self.assertIn(part, shown)
        self.assertIn("$ tenfold ladder --beyond --peers=cub,thrust,copy", (self.build / "x1-ladder.txt").read_text())

    def test_takes_stages_from_the_program(self):
        self.record("--only", "calls,types,narrow,together")
        calls, types, narrow, together = self.calls_of("tenfold_duel")
        self.assertIn("--candidate best,2,3 --peers cub,empty,read:plain", calls)
        self.assertIn("--candidate best,2 ", types)
        self.assertIn("--candidate best,3 ", narrow)
        self.assertIn("--against peer:together:three-calls", together)

    def test_measures_levels_of_determinism_where_the_build_has_them(self):
        (self.build / "CMakeCache.txt").write_text("TENFOLD_CCCL:PATH=\n")
        self.record("--only", "determinism,exact-narrow")
        (self.build / "CMakeCache.txt").write_text("TENFOLD_CCCL:PATH=/there\n")
        self.record("--only", "determinism,exact-narrow")
        without, narrow, levels, again = self.calls_of("tenfold_duel")
        self.assertIn("--candidate best,2,4 --peers cub --type f32,f64", without)
        self.assertIn("--peers cub,cub:run_to_run,cub:gpu_to_gpu,cub:not_guaranteed", levels)
        self.assertIn("--type f16,bf16", narrow)
        self.assertEqual(narrow, again)

    def test_names_the_data_of_each_exact_sum(self):
        with mock.patch.object(record, "WRITE_DATA", ""):
            self.record("--only", "exact-data", libraries=["numpy"])
        recorded = self.results("exact-data")
        self.assertEqual([row["data"] for row in recorded["benchmarks"]][::2], list(record.KINDS))
        self.assertNotIn("command", recorded["context"])
        calls = self.calls_of("tenfold_duel")
        self.assertEqual(len(calls), 2 * len(record.KINDS))
        self.assertIn("--candidate best,2,4 --peers read:plain --input ", calls[0])

    def test_has_the_same_sums_by_every_program(self):
        self.record("--only", "agreement")
        rows = self.results("agreement")["benchmarks"]
        found = [(row["n"], row["stage"], row["block"], row["items"], row["grid"], row["program"], row["real_time"],
                  row.get("p5")) for row in rows if row["n"] == 1 << 28 and row["mode"] == "after-producer"]
        self.assertEqual({row["n"] for row in rows}, {1 << 20, 1 << 28})
        chosen, best = (1 << 28, 2, 256, 4, 8), (1 << 28, 3, 512, 8, 16)
        self.assertEqual(found, [
            (*chosen, "tenfold run", 100, 99), (*chosen, "tenfold ladder", 101, 100),
            (*chosen, "tenfold_duel", 103, 102), (*chosen, "tenfold_bench", 104, 103),
            (*chosen, "bench/tune", 103, None),
            (*best, "tenfold best --measure", 90, 89), (*best, "tenfold run", 100, 99),
            (*best, "tenfold ladder", 101, 100), (*best, "tenfold_duel", 103, 102), (*best, "bench/tune", 103, None)])
        self.assertEqual({row["mode"] for row in rows}, {"after-producer", "in-graph"})
        self.assertIn("tenfold run 3 --n 2^28 --mode after-producer --block 512 --items 8 --grid 16",
                      "\n".join(self.calls_of("tenfold")))

    def test_shares_among_as_many_gpus_as_there_are(self):
        shown = self.record("--only", "scaling")
        self.assertIn("left out: ranks by MPI", shown)
        self.assertEqual({(row["ranks"], row["contestant"]) for row in self.results("scaling")["benchmarks"]},
                         {(1, "nccl"), (2, "nccl")})
        (self.build / "tenfold_ranks").touch()
        with mock.patch.dict(os.environ, PATH=f"{self.build}:{os.environ['PATH']}"):
            self.record("--only", "scaling")
        by_mpi = {(row["ranks"], row["n"]) for row in self.results("scaling")["benchmarks"] if row["contestant"] == "mpi"}
        self.assertEqual(by_mpi, {(1, 1 << 20), (1, 1 << 21), (2, 1 << 21), (2, 1 << 22)})
        self.assertIn("-n 2", self.calls_of("mpirun")[-1])

    def test_leaves_out_a_solution_that_is_wrong(self):
        self.record("--only", "solutions")
        names = {path.stem for path in (BENCH.parent / "docs/solutions").glob("*.hpp")}
        self.assertEqual(self.results("solutions")["solutions"].keys(), names - {"any_block"})

    def test_goes_on_after_a_part_that_fails_and_says_so(self):
        with mock.patch.dict(os.environ, RECORD_TEST="tenfold_duel"):
            shown = self.record("--only", "types,ladders", code=1)
        self.assertRegex(shown, "tenfold_duel .* ended with 3")
        self.assertIn("done, but for types", shown)
        self.assertTrue((self.build / "x1-sizes.json").exists())

    def test_has_in_the_program_what_was_recorded_of_matrices(self):
        written = subprocess.run([BENCH / "tabulate_matrices"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(written, (BENCH.parent / "host/cli/measuring/measured_matrices.inl").read_text(),
                         "run bench/tabulate_matrices > host/cli/measuring/measured_matrices.inl")

    def test_knows_its_parts(self):
        with mock.patch.object(sys, "argv", ["record", str(self.build), "--only", "x"]), \
                self.assertRaisesRegex(record.Failure, "no part 'x'"):
            record.main()


if __name__ == "__main__":
    unittest.main()
