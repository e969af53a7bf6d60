"""bench/pitfalls without a GPU: the executor's program, and tools that only speak as the real ones.

TENFOLD_PITFALLS_PROGRAM names the program that runs a pitfall.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "bench"))
from loading import BENCH, load  # noqa: E402

pitfalls = load("pitfalls")


def fake(name):
    return os.path.join(HERE, "fake_" + name)


def run_script(*arguments):
    command = [sys.executable, "-B", BENCH / "pitfalls", "--timeout", "3", "--times", "2",
               "--program", os.environ["TENFOLD_PITFALLS_PROGRAM"], "--tenfold", fake("tenfold"),
               "--sanitizer", fake("compute_sanitizer"), "--smi", fake("nvidia_smi")]
    return subprocess.run(command + list(arguments), capture_output=True, text=True)


def cells_of(page, name):
    row = next(line for line in page.splitlines() if line.startswith(f"| [{name}]"))
    return [cell.strip() for cell in row.strip("|").split(" | ")][1:]


class Heads(unittest.TestCase):
    def test_tell_shape_and_kind(self):
        text = "// Pitfall: x\n//\n// Shows at: block 64, n 1000, offset 1\n  f();  // pitfall: grid_race\n"
        self.assertEqual(pitfalls.parse_shape(text), {"block": "64", "n": "1000", "offset": "1"})
        self.assertEqual(pitfalls.parse_shape("// Pitfall: x\n"), {})
        self.assertEqual(pitfalls.parse_kind(text), "grid_race")

    def test_give_the_programs_arguments(self):
        shape = {"n": "1000", "warp": "64", "type": "f32"}
        self.assertEqual(pitfalls.arguments_of({"shape": shape}), ["--n", "1000", "--type", "f32"])

    def test_of_all_files_are_understood(self):
        found = pitfalls.pitfalls_in(pitfalls.PITFALLS)
        self.assertGreater(len(found), 12)
        for each in found:
            self.assertLessEqual(set(each["shape"]), {"block", "n", "offset", "type", "warp"})


class Outputs(unittest.TestCase):
    def test_of_the_plain_run(self):
        for code, output, found, text in [
                (0, "", False, "right"), (1, "x: wrong 3 of 20 times; ...", True, "wrong, 3 of 20"),
                (3, "misaligned address", True, "error"), (-11, "", True, "error"),
                (None, "", True, "hangs")]:
            cell = pitfalls.read_plain(code, output)
            self.assertEqual((cell["found"], cell["text"]), (found, text))

    def test_of_the_sanitizer(self):
        summary, races = "=== ERROR SUMMARY: %d errors", "=== RACECHECK SUMMARY: %d hazards displayed"
        for code, output, found, text in [
                (0, summary % 0, False, ""), (86, summary % 7, True, "7"), (0, races % 0, False, ""),
                (86, races % 1, True, "1"), (1, summary % 0, False, ""), (86, "", True, "found"),
                (None, "", False, "hangs"), (None, summary % 2, True, "2"),
                (255, "Error: Target application not found", False, "failed")]:
            cell = pitfalls.read_sanitizer(code, output)
            self.assertEqual((cell["found"], cell["text"]), (found, text), output)

    def test_of_the_checker(self):
        findings = json.dumps({"findings": [{"kind": "warp_race"}, {"kind": "block_race"},
                                            {"kind": "warp_race"}]})
        self.assertEqual(pitfalls.read_check(1, findings)["text"], "block race, warp race")
        self.assertFalse(pitfalls.read_check(0, 'so far\n{"findings": []}\nthen')["found"])
        self.assertEqual(pitfalls.read_check(2, "no such stage")["text"], "failed")


class Twins(unittest.TestCase):
    def looks(self, **cells):
        silent = {column: {"found": False, "text": ""} for column in pitfalls.COLUMNS}
        silent["plain"] = {"found": False, "text": "right"}
        return [dict(name="x_mended", mended=True, **{**silent, **cells})]

    def test_are_silent_or_named(self):
        self.assertEqual(pitfalls.loud_twins(self.looks()), [])
        loud = pitfalls.loud_twins(self.looks(racecheck={"found": True, "text": "4"},
                                              memcheck={"found": False, "text": "hangs"}))
        self.assertEqual(loud, ["x_mended: memcheck says hangs", "x_mended: racecheck says 4"])


class Time(unittest.TestCase):
    def test_is_longer_for_a_check_which_may_compile_first(self):
        options = argparse.Namespace(program="p", sanitizer="s", tenfold="t", times=1, timeout=1)
        seen = {}
        with unittest.mock.patch.object(
                pitfalls, "run", side_effect=lambda command, timeout: seen.setdefault(command[0], timeout) and (0, "")):
            pitfalls.look_at({"name": "x", "shape": {}}, options)
        self.assertEqual(seen, {"p": 1, "s": 1, "t": pitfalls.CHECK_LIMIT_IN_RUNS})


class Program(unittest.TestCase):
    def test_prints_who_finds_what(self):
        result = run_script("--only", "misaligned_vectors", "missing_load_barrier", "shuffle_as_barrier")
        self.assertEqual(result.returncode, 0, result.stderr)
        page = result.stdout
        self.assertIn("NVIDIA H200, driver 580.65.06, compute-sanitizer\n2025.1.0.0, tenfold 0.1", page)
        self.assertEqual(cells_of(page, "misaligned_vectors"),
                         ["misaligned access", "error", "5", "—", "—", "—", "block race"])
        self.assertEqual(cells_of(page, "missing_load_barrier"),
                         ["block race", "wrong, 2 of 2", "—", "2", "—", "—", "block race"])
        self.assertEqual(cells_of(page, "shuffle_as_barrier"),
                         ["shuffle race", "right", "—", "—", "—", "—", "block race"])
        self.assertIn("Of 3 pitfalls, 2 show in the result or in an error, compute-sanitizer's tools "
                      "find 2, and `tenfold check` finds 3.", page)
        self.assertIn("nobody finds anything in them", page)

    def test_ends_what_hangs(self):
        begin = time.monotonic()
        result = run_script("--only", "stride_over_one", "--jobs", "6", "--timeout", "2")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertLess(time.monotonic() - begin, 60)
        self.assertEqual(cells_of(result.stdout, "stride_over_one"),
                         ["endless loop"] + ["hangs"] * 5 + ["block race"])

    def test_says_where_a_tool_failed(self):
        result = run_script("--only", "odd_one_out")
        self.assertIn("failed", cells_of(result.stdout, "odd_one_out"))

    def test_writes_results_from_which_the_page_can_be_written_again(self):
        with tempfile.TemporaryDirectory() as folder:
            page, again = os.path.join(folder, "page.md"), os.path.join(folder, "again.md")
            results = os.path.join(folder, "results.json")
            document = {"run_with": {"device": "a GPU", "driver": "1", "compute_sanitizer": "2",
                                     "version": "3", "date": "today"}, "looks": []}
            pitfalls.write(results, json.dumps(document))
            self.assertEqual(run_script("--from", results, "--page", page).returncode, 0)
            self.assertEqual(run_script("--from", results, "--page", again).returncode, 0)
            self.assertEqual(pitfalls.read(page), pitfalls.read(again))
            self.assertIn("a GPU, driver 1", pitfalls.read(page))
            check = ["--check", "--from", results, "--page", page]
            self.assertEqual(run_script(*check).returncode, 0)
            pitfalls.write(page, pitfalls.read(page) + "by hand\n")
            self.assertIn("is not what the results give", run_script(*check).stderr)

    def test_takes_no_unknown_name(self):
        result = run_script("--only", "nothing")
        self.assertEqual(result.returncode, 1)
        self.assertIn("there is no pitfall 'nothing'", result.stderr)


if __name__ == "__main__":
    unittest.main()
