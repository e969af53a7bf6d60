"""bench/python_peers without a GPU: its words, its statistics, its input, its table and files.

TENFOLD_PROGRAM and TENFOLD_DUEL name the programs whose numbers and files it must share.
"""
import contextlib
import io
import itertools
import json
import os
import pathlib
import subprocess
import tempfile
import types
import unittest
from unittest import mock

from loading import load

peers = load("python_peers")


class Words(unittest.TestCase):
    def test_counts_in_all_forms(self):
        forms = {"1000": 1000, "1_000": 1000, "2^16": 65536, "64Ki": 65536, "1e3": 1000,
                 "2.5e6": 2_500_000, "1.5k": 1500, "2^63": 1 << 63}
        for text, count in forms.items():
            self.assertEqual(peers.parse_count(text), count, text)

    def test_what_is_no_count(self):
        for text in ("", "abc", "-5", "1.5", "0x10", "2^", "1K", "1__0", "nan", "2^64", "1e99",
                     " 3"):
            with self.assertRaises(peers.Failure, msg=text):
                peers.parse_count(text)

    def test_lists_of_names(self):
        short = peers.SHORT_OPERATORS
        self.assertEqual(peers.choose("max,sum,sum", peers.OPERATORS, "operator", short),
                         ["maximum", "sum"])
        self.assertEqual(peers.choose("all", peers.TYPES, "type"), list(peers.TYPES))
        with self.assertRaisesRegex(peers.Failure, "no type 'f17'.*i32, u32"):
            peers.choose("f32,f17", peers.TYPES, "type")

    def test_counts_and_times_as_text(self):
        self.assertEqual([peers.format_count(n) for n in (1000, 512, 1 << 20, 1025)],
                         ["1000", "512", "2^20", "1025"])
        times = {1.234e-6: "1.23 us", 999.9e-6: "1.00 ms", 245e-6: "245 us", 12.3456: "12.3 s",
                 7e-10: "0.700 ns"}
        for seconds, text in times.items():
            self.assertEqual(peers.format_seconds(seconds), text)


class Steady(peers.Contestant):
    """A call takes so many seconds; writing its input takes ten microseconds."""

    def __init__(self, mode, seconds):
        self._mode, self.seconds, self.calls = mode, seconds, 1
        self.choose_calls()

    def time(self, what):
        each = {"calls": self.seconds, "producers": 1e-5, "pairs": 1e-5 + self.seconds}[what]
        return each * self.calls

    def is_right(self, expected):
        return expected == 0


class Statistics(unittest.TestCase):
    def test_quantiles_are_linear_between_neighbours(self):
        for seconds, p5, median, p95 in (([3, 1, 2], 1.1, 2, 2.9), ([10, 0], 0.5, 5, 9.5), ([7], 7, 7, 7)):
            row = timed("peer:torch", seconds)
            for found, expected in ((row.p5, p5), (row.median, median), (row.p95, p95)):
                self.assertAlmostEqual(found, expected)

    def test_interval_of_the_median(self):
        # The ranks that tables of the sign test give for 95%: 2 and 9 of 10, 40 and 61 of 100.
        self.assertIsNone(peers.median_interval(range(1, 6)))
        self.assertEqual(peers.median_interval(range(1, 7)), (1, 6))
        self.assertEqual(peers.median_interval(range(1, 11)), (2, 9))
        self.assertEqual(peers.median_interval(range(1, 101)), (40, 61))

    def test_rounds_sample_everyone_in_changing_order(self):
        log = []
        samplers = [lambda i=i: log.append(i) or float(i) for i in range(3)]
        self.assertEqual(peers.interleave(samplers, 20, 1), [[float(i)] * 20 for i in range(3)])
        rounds = [tuple(log[i:i + 3]) for i in range(3, len(log), 3)]  # after the warm-up
        self.assertTrue(all(sorted(each) == [0, 1, 2] for each in rounds))
        self.assertGreater(len(set(rounds)), 1)

    def test_calls_make_a_sample_long_enough(self):
        for mode, seconds, calls in (("back-to-back", 1e-6, 300), ("back-to-back", 1e-9, peers.MOST_CALLS),
                                     ("after-producer", 1e-6, 300), ("after-producer", 1e-9, 499),
                                     ("after-producer", -1e-6, 555),
                                     # In a stream 16 of them, unless they take longer than 5 ms.
                                     ("back-to-back", 1e-4, 16), ("back-to-back", 1e-3, 5), ("back-to-back", 1e-2, 1),
                                     ("after-producer", 1e-4, 16), ("after-producer", 1e-3, 4), ("in-graph", 1e-3, 1)):
            steady = Steady(mode, seconds)
            self.assertEqual(steady.calls, calls, (mode, seconds))
            self.assertAlmostEqual(steady.sample(), seconds)


class Recording(peers.Contestant):
    """Keeps what it enqueues, of three windows."""

    def __init__(self):
        self._windows, self._turn, self._last, self.calls = ["a", "b", "c"], 0, None, 2
        self._reduce, self.log = (lambda window: self.log.append(f"reduce {window}") or window), []

    def produce(self, i):
        self.log.append(f"produce {self._windows[i]}")
        return self._windows[i]


class Sequences(unittest.TestCase):
    def test_go_from_window_to_window(self):
        for what, log in (("calls", ["reduce a", "reduce b"]), ("producers", ["produce a", "produce b"]),
                          ("pairs", ["produce a", "reduce a", "produce b", "reduce b"])):
            recording = Recording()
            self.assertEqual(recording.enqueue(what), "b")
            self.assertEqual(recording.log, log)
            self.assertEqual(recording._last, None if what == "producers" else "b")
            recording.enqueue("calls")
            self.assertEqual(recording.log[-2:], ["reduce c", "reduce a"])


class Input(unittest.TestCase):
    def result(self, element_type, op, n):
        """What the program's reference makes of its own input."""
        command = [os.environ["TENFOLD_PROGRAM"], "run", "10", "--n", str(n), "--seed", "7", "--type",
                   element_type, "--op", op, "--device", "simt", "--repeat", "1", "--json", "-"]
        out = subprocess.run(command, check=True, capture_output=True).stdout
        return json.loads(out)["benchmarks"][0]["reference"]

    def test_elements_are_those_of_the_program(self):
        for element_type in peers.TYPES:
            def elements(op, n):
                return [peers.element(element_type, op, 7, i, n) for i in range(n)]
            for n in (1, 1000, 1 << 16):
                total = sum(elements("sum", n))
                if element_type in peers.DIGITS:
                    self.assertEqual(self.result(element_type, "sum", n), total, (element_type, n))
                else:
                    bits = int(element_type[1:])
                    self.assertEqual((self.result(element_type, "sum", n) - total) % 2**bits, 0, (element_type, n))
            for op, of in (("minimum", min), ("maximum", max)):
                self.assertEqual(self.result(element_type, op, 1000), of(elements(op, 1000)), element_type)

    def test_sums_of_floats_are_exact_in_any_order(self):
        for element_type, digits in peers.DIGITS.items():
            n = 1 << 12
            elements = [peers.element(element_type, "sum", 7, i, n) for i in range(n)]
            unit = 2.0 ** -peers.exact_bits(element_type, n)
            sums = list(itertools.accumulate(elements)) + list(itertools.accumulate(elements[::-1]))
            self.assertTrue(all(x % unit == 0 and abs(x) <= unit * 2**digits for x in sums))

    def test_numpy_makes_the_same_elements(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("numpy is not here; where it is, each run compares some elements")
        for element_type, op in itertools.product(peers.TYPES, peers.OPERATORS):
            made = peers.Input(element_type, op, 1000, 7)
            elements = [peers.element(element_type, op, 7, i, 1000) for i in range(1000)]
            self.assertEqual(made.data.tolist(), elements)
            if op == "sum" and element_type in peers.DIGITS:
                self.assertEqual(made.expected(peers.Event(element_type, op, 1000, "")), sum(elements))
            for columns, axis in itertools.product((1, 7, 999, 1000), peers.AXES):
                self.expect_lines(made, numpy, elements, peers.Event(
                    element_type, op, 1000 // columns * columns, "", columns, axis))

    def expect_lines(self, made, numpy, elements, event):
        """That each row or column is folded, as Python folds its list, and that a library like NumPy does so."""
        rows = [elements[i:i + event.columns] for i in range(0, event.n, event.columns)]
        lines = rows if event.axis == "rows" else list(zip(*rows))
        expected = made.expected(event)
        by = {"sum": sum, "minimum": min, "maximum": max}[event.op]
        wraps = event.op == "sum" and event.type not in peers.DIGITS
        differences = [found - by(line) for found, line in zip(expected.tolist(), lines, strict=True)]
        self.assertEqual({each % 2**int(event.type[1:]) if wraps else each for each in differences}, {0})
        contestant = Recording()
        contestant._library = types.SimpleNamespace(to_numpy=lambda result: result)
        contestant._last = peers.reduction(numpy, event)(made.data[:event.n].reshape(event.shape))
        self.assertTrue(contestant.is_right(expected))
        contestant._last[-1] += 1
        self.assertFalse(contestant.is_right(expected))
        self.assertFalse(contestant.is_right(numpy.append(expected, 0)))

    def test_windows_fill_the_ring(self):
        self.assertEqual(peers.ring_of("f32", 100, 4000, 99), (7, 128))
        self.assertEqual(peers.ring_of("f32", 100, 4000, 2), (2, 128))
        self.assertEqual(peers.ring_of("f64", 1000, 4000, 99), (2, 1024))


EVENT = peers.Event("f32", "sum", 1 << 22, "after-producer")
MERGED = {"contestant": "peer:cub", "type": "f32", "op": "sum", "n": 1000, "mode": "after-producer", "real_time": 3,
          "p5": 3, "p95": 3, "against": "peer:cub", "ratio": 1.0, "ratio_low": 0.9, "ratio_high": 1.1}


def timed(label, seconds):
    library = types.SimpleNamespace(name=label, version="1.0")
    return peers.timed_row(library, EVENT, seconds, 4, True)


class Standings(unittest.TestCase):
    def test_ratios_are_taken_round_by_round(self):
        rows = [timed("peer:torch", [2.0 * r for r in range(1, 8)]),
                timed("peer:jax", [1.0 * r for r in range(1, 8)])]
        peers.rank(rows, rows[0])
        self.assertEqual((rows[1].ratio, rows[1].interval), (2, (2, 2)))
        self.assertEqual([row.entry["share_of_ceiling"] for row in rows], [0.5, 1])

    def test_ratios_between_two_runs_have_no_interval(self):
        file = peers.Row(MERGED)
        rows = [timed("peer:torch", [6e-6] * 7), file]
        reference = peers.choose_reference(rows, None)
        self.assertIs(reference, file)
        peers.rank(rows, reference)
        self.assertAlmostEqual(rows[0].ratio, 0.5)
        self.assertEqual(peers.describe_ratio(rows[0], reference), "0.500 (of two runs)")
        self.assertEqual(peers.describe_ratio(rows[1], reference), "1.000 (0.900..1.100)")

    def test_what_is_written_of_a_matrix_counts_as_traffic(self):
        for axis, elements in ((None, 1000), ("rows", 1250), ("columns", 1004)):
            row = peers.Row({**MERGED, "columns": 4, "axis": axis} if axis else MERGED)
            self.assertAlmostEqual(row.bytes_per_second, elements * 4 / 3e-6, delta=1)

    def test_table_names_what_must_be_known(self):
        rows = [timed("peer:torch", [2e-6] * 7), timed("peer:jax", [1e-6] * 4 + [9e-6] * 3)]
        rows[0].entry["verdict"] = "WRONG"
        peers.rank(rows, rows[0])
        text = peers.table(rows, rows[0])
        for part in ("sum of 2^22 f32, a call after a kernel that writes its input", "times as fast as peer:torch",
                     "2.00 us", "50.0%", "WRONG", "wide spread: 800%"):
            self.assertIn(part, text)

    def test_the_reference_must_take_part(self):
        rows = [timed("peer:torch", [1.0])]
        self.assertIs(peers.choose_reference(rows, None), rows[0])
        with self.assertRaisesRegex(peers.Failure, "'peer:cub'.*peer:torch"):
            peers.choose_reference(rows, "peer:cub")


class ImaginedLibrary:
    name, version, device_name = "peer:torch", "1.0", "Imagined GPU"

    def __init__(self, cache_bytes):
        pass

    def admit(self, event, input_, ring_bytes):
        if event.mode == "in-graph":
            raise peers.Failure("graphs are dry")
        return Steady(event.mode, 1e-6)


class Absent:
    def __init__(self, cache_bytes):
        raise ImportError("No module named 'jax'")


class Program(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_program(self, *arguments, torch=ImaginedLibrary, expected=0):
        out, err = io.StringIO(), io.StringIO()
        with mock.patch.dict(peers.LIBRARIES, torch=torch, jax=Absent), \
                mock.patch.object(peers.Input, "expected", return_value=expected), \
                contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = peers.main([str(each) for each in arguments])
        return code, out.getvalue(), err.getvalue()

    def expect_refusal(self, part, *arguments, code=2, **how):
        found, out, err = self.run_program(*arguments, **how)
        self.assertEqual((found, out), (code, ""), err)
        self.assertEqual(err.count("\n"), 1, err)
        self.assertTrue(err.startswith("python_peers: "), err)
        self.assertIn(part, err)

    def duel(self):
        path = self.folder / "duel.json"
        subprocess.run([os.environ["TENFOLD_DUEL"], "--device", "simt", "--n", "1000", "--ring", "1",
                        "--rounds", "7", "--peers", "none", "--json", str(path)], check=True,
                       stdout=subprocess.DEVNULL)
        return path

    def test_what_is_absent_is_named(self):
        code, out, err = self.run_program("--n", "1000", "--rounds", 7)
        self.assertEqual((code, err), (peers.RIGHT, ""))
        for part in ("peer jax is absent: No module named 'jax'", "cuda:0 (Imagined GPU)",
                     "left out: peer:torch: graphs are dry", "sum of 1000 f32, a call after a kernel",
                     "peer:torch  "):
            self.assertIn(part, out)

    def test_nothing_to_time(self):
        self.expect_refusal("jax is absent", code=peers.DEVICE_FAILED, torch=Absent)

    def test_nobody_takes_part(self):
        code, out, err = self.run_program("--mode", "in-graph", "--n", 1000)
        self.assertEqual(code, peers.BAD_INPUT)
        self.assertIn("graphs are dry", out)
        self.assertIn("nobody took part", err)

    def test_wrong_results_show_in_the_exit_code(self):
        code, out, _ = self.run_program("--n", 1000, "--rounds", 1, expected=2**-20)
        self.assertEqual(code, peers.WRONG_RESULT)
        self.assertIn("WRONG", out)

    def test_a_device_that_fails_is_reported_in_one_line(self):
        with mock.patch.object(peers, "interleave", side_effect=RuntimeError("CUDA error: 719\nx")):
            code, _, err = self.run_program("--n", 1000)
        self.assertEqual((code, err), (peers.DEVICE_FAILED, "python_peers: CUDA error: 719\n"))

    def test_bad_input_is_refused_in_one_line(self):
        not_json, other = self.folder / "not.json", self.folder / "other.json"
        not_json.write_text("{")
        other.write_text('{"benchmarks": [{"name": "BM_x"}]}')
        for part, *arguments in (
                ("'x' is not a count", "--n", "x"), ("0 elements", "--n", "0"),
                ("'f17'", "--type", "f17"), ("'product'", "--op", "product"),
                ("'eager'", "--mode", "eager"), ("'diagonals'", "--columns", "1", "--axis", "diagonals"),
                ("--columns", "--axis", "rows"), ("--columns", "--columns", "0"),
                ("--columns", "--columns", "2000", "--n", "1000"), ("'cupy'", "--peers", "cupy"),
                ("--rounds", "--rounds", "0"), ("--foo", "--foo"), ("--seed", "--seed", "-1"),
                ("cannot write", "--json", self.folder / "none" / "out.json"),
                ("No such file", "--merge", self.folder / "none.json"),
                ("is no JSON", "--merge", not_json), ("tenfold_duel --json", "--merge", other)):
            self.expect_refusal(part, *arguments)

    def test_entries_have_the_keys_of_the_duel(self):
        duel, out = self.duel(), self.folder / "out.json"
        self.run_program("--n", "1000", "--rounds", 7, "--json", out, "--build", self.folder)
        ours = json.loads(out.read_text())["benchmarks"]
        theirs = json.loads(duel.read_text())["benchmarks"]
        of_stages_alone = {"stage", "stage_name", "block", "items", "grid", "shape_by", "reason", "passes"}
        of_the_program_alone = {"device", "warp", "result", "reference", "error", "error_bound", "rounding"}
        self.assertEqual(ours[0].keys() - {"peer", "peer_version"},
                         theirs[0].keys() - of_stages_alone - of_the_program_alone)
        self.assertEqual(ours[0]["name"], "peer:torch/f32/sum/n:1000/after-producer")

    def test_matrices_are_named_as_the_duel_names_them(self):
        duel, out = peers.ROOT / "docs/results/h200-matrices.json", self.folder / "out.json"
        code, text, err = self.run_program("--n", "2^28", "--columns", "7,2^30", "--axis", "all", "--rounds", "7",
                                           "--mode", "back-to-back", "--json", out, "--merge", duel)
        self.assertEqual((code, err), (peers.RIGHT, ""))
        self.assertIn("sum of 268435454 f32, the columns of a matrix of 7 columns", text)
        found = {}
        for entry in json.loads(out.read_text())["benchmarks"]:
            who, _, what = entry["name"].partition("/")
            found.setdefault(what, set()).add(who)
        self.assertEqual(len(found), 2)
        for each in found.values():
            self.assertLessEqual({"peer:torch", "peer:matrix:sums"}, each)

    def test_calls_that_add_nothing_are_left_out(self):
        with mock.patch.object(ImaginedLibrary, "admit", return_value=Steady("after-producer", -1e-6)):
            code, out, _ = self.run_program("--n", 1000, "--mode", "after-producer")
        self.assertEqual(code, peers.BAD_INPUT)
        self.assertIn("left out: peer:torch: its calls add no time", out)

    def test_says_what_made_it(self):
        out, build = self.folder / "out.json", pathlib.Path(os.environ["TENFOLD_PROGRAM"]).parent
        self.run_program("--n", "1000", "--rounds", 7, "--json", out, "--build", build)
        context = json.loads(out.read_text())["context"]
        for key in ("command", "version", "compiler", "peer:torch"):
            self.assertIn(key, context)

    def test_a_merged_duel_stands_beside(self):
        duel, out = self.duel(), self.folder / "out.json"
        code, text, err = self.run_program("--n", "1000,2000", "--rounds", 7, "--merge", duel,
                                           "--mode", "back-to-back", "--json", out)
        self.assertEqual((code, err), (peers.RIGHT, ""))
        self.assertIn("10_two_pass/block:256/items:4", text)
        self.assertIn("of two runs", text)
        entries = json.loads(out.read_text())["benchmarks"]
        self.assertEqual([(e["contestant"].split("/")[0], e["n"]) for e in entries],
                         [("peer:torch", 1000), ("10_two_pass", 1000), ("peer:torch", 2000)])

    def test_compare_reads_what_is_written(self):
        a, b = self.folder / "a.json", self.folder / "b.json"
        for path in (a, b):
            self.run_program("--n", "1000", "--rounds", 7, "--json", path)
        shown = subprocess.run([os.environ["TENFOLD_PROGRAM"], "compare", a, b], check=True,
                               capture_output=True, text=True).stdout
        for part in ("peer:torch", "Imagined GPU", "1.00 x~"):
            self.assertIn(part, shown)


if __name__ == "__main__":
    unittest.main()
