"""What bench/tune makes of figures, on made-up ones."""

import types
import unittest
from unittest import mock

from loading import load

tune = load("tune")

LISTING = [
    {"stage": stage, "name": name, "takes_items": items, "takes_grid": grid, "serves_wide": wide,
     "serves_narrow": narrow, "adds_floats_alone": False} for stage, name, items, grid, wide, narrow in [
         (2, "no_divergence", False, False, True, False),
         (9, "items_per_thread", True, False, True, False),
         (10, "two_pass", True, True, True, True),
         (15, "narrow_elements", True, True, False, True)]]


def figure(ratio, low=None, high=None):
    return {"ratio": ratio, "ratio_low": low, "ratio_high": high}


def row(n, stage, ratio, block=256, **others):
    values = {"round": "detail", "type": "f32", "element_bytes": 4, "mode": "in-graph", "n": n,
              "stage": stage, "block": block, "items": 4, "grid": 2,
              "unit": "blocks_per_multiprocessor", "microseconds": 1.5,
              "gigabytes_per_second": 20, "ratio": ratio, "ratio_low": None, "ratio_high": None}
    return [{**values, **others}[column] for column in tune.COLUMNS]


def document(rows, **others):
    return {"architecture": "sm_1", "device": "NVIDIA X1", "library": "CUB",
            "columns": tune.COLUMNS, "rows": rows, **others}


def rows_in(table, name):
    """The rows of an array of the table, without the conditions they were measured under."""
    lines = table.split(f"auto {name} ")[1].split("});")[0].splitlines()[1:]
    return [line.strip().split("launched_in::")[1] for line in lines]


STAGES = [tune.Stage(**told) for told in LISTING]


class Stages(unittest.TestCase):
    def choose(self, *numbers):
        with mock.patch.object(tune, "listed_stages", return_value=LISTING):
            return [each.name for each in tune.choose_stages(types.SimpleNamespace(tenfold="", stages=numbers))]

    def test_are_those_that_were_asked_for_or_have_parameters(self):
        self.assertEqual(self.choose("10", "2"), ["no_divergence", "two_pass"])
        self.assertEqual(self.choose(), ["items_per_thread", "two_pass", "narrow_elements"])
        with self.assertRaisesRegex(tune.Failure, "no stage '11'"):
            self.choose("10", "11")

    def test_serve_the_elements_that_are_listed(self):
        served = {each.stage: [name for name in ("f32", "f16", "i8") if each.serves(name)] for each in STAGES}
        self.assertEqual(served, {2: ["f32"], 9: ["f32"], 10: ["f32", "f16", "i8"],
                                  15: ["f16", "i8"]})


class Candidates(unittest.TestCase):
    def setUp(self):
        self.stages = STAGES[:3]

    def test_have_what_their_stage_takes(self):
        grids = [tune.parse_grid("2x"), tune.parse_grid("7")]
        found = tune.candidates_of(self.stages, [256], [2, 8], grids)
        self.assertEqual([each.text() for each in found],
                         ["2:256:4", "9:256:2", "9:256:8", "10:256:2:2x", "10:256:2:7",
                          "10:256:8:2x", "10:256:8:7"])
        self.assertEqual([each.label(132) for each in found[:4]],
                         ["02_no_divergence/block:256", "09_items_per_thread/block:256/items:2",
                          "09_items_per_thread/block:256/items:8",
                          "10_two_pass/block:256/items:2/grid:264"])

    def test_begin_with_one_that_every_type_has(self):
        found = tune.candidates_of(self.stages, [64, 256], [1, 4], [tune.parse_grid("4x")])
        self.assertEqual(found[0].text(), "2:256:4")
        found = tune.candidates_of(self.stages[1:], [64, 512], [1, 4], [tune.parse_grid("4x")])
        self.assertEqual(found[0].text(), "9:64:4")

    def test_neither_starve_nor_overfill_a_multiprocessor(self):
        found = tune.candidates_of(self.stages[2:], [256, 1024], [4],
                                   [(64, "blocks_per_multiprocessor")])
        self.assertEqual([each.block for each in found], [256])
        found = tune.candidates_of(self.stages[2:], [64, 256], [4],
                                   [(1, "blocks_per_multiprocessor")])
        self.assertEqual([each.block for each in found], [256])

    def test_that_lead_somewhere_go_on(self):
        found = tune.candidates_of(self.stages[1:2], [64, 128, 256], [4], [])
        rows = [dict(zip(tune.COLUMNS, row(n, 9, ratio, block, grid=0, unit="blocks")))
                for n, block, ratio in [(10, 64, 3), (10, 128, 2), (10, 256, 1), (20, 64, 1),
                                        (20, 128, 2), (20, 256, 3)]]
        self.assertEqual({each.block for each in tune.finalists_of(found, rows, 1)}, {64, 256})

    def test_that_are_as_good_as_others_stay_behind(self):
        found = tune.candidates_of(self.stages[1:2], [64, 128, 256], [4], [])
        rows = [dict(zip(tune.COLUMNS, row(n, 9, ratio, block, grid=0, unit="blocks")))
                for n, block, ratio in [(10, 64, 1.01), (10, 128, 1), (20, 64, 1), (20, 128, 2)]]
        self.assertEqual([each.block for each in tune.finalists_of(found, rows, 1)], [128])

    def test_grid_that_cannot_be_read(self):
        for text in ("x", "0x", "4y", ""):
            with self.assertRaises(tune.Failure):
                tune.parse_grid(text)


class Results(unittest.TestCase):
    def test_of_candidates_are_kept_and_of_peers_are_not(self):
        candidates = tune.candidates_of(STAGES[2:3], [256], [4],
                                        [(4, "blocks_per_multiprocessor")])
        entry = {"contestant": "10_two_pass/block:256/items:4/grid:32", "type": "f32", "n": 1024,
                 "mode": "in-graph", "real_time": 2.00049, "bytes_per_second": 2.04789e9,
                 "ratio": 1.5, "ratio_low": 1.4, "ratio_high": 1.6}
        found = tune.rows_of({"context": {"multiprocessors": "8"},
                              "benchmarks": [{**entry, "contestant": "peer:cub"}, entry]},
                             "coarse", candidates)
        self.assertEqual(len(found), 1)
        self.assertEqual((found[0]["stage"], found[0]["grid"], found[0]["microseconds"],
                          found[0]["gigabytes_per_second"]), (10, 4, 2.0, 2.048))

    def test_sizes_and_types(self):
        self.assertEqual(tune.parse_count("2^10"), 1024)
        self.assertEqual(tune.parse_count("1000"), 1000)
        self.assertEqual([tune.bytes_of(each) for each in ("f32", "u64", "bf16", "i8")],
                         [4, 8, 2, 1])
        for bad in ("1K", "2^", "-1"):
            with self.assertRaises(tune.Failure):
                tune.parse_count(bad)

    def test_file_is_named_after_the_device(self):
        self.assertEqual(tune.file_name_of({"device": "NVIDIA H200"}), "h200-tune.json")
        self.assertEqual(tune.file_name_of({"device": "SIMT executor on the CPU, warps of 32"}),
                         "simt-executor-on-the-cpu-tune.json")


class Segments(unittest.TestCase):
    def test_a_row_goes_on_while_it_is_within_the_tolerance(self):
        figures = {1: {"a": figure(1.0), "b": figure(0.5)}, 2: {"a": figure(1.0), "b": figure(1.002)},
                   4: {"a": figure(1.0), "b": figure(1.2)}}
        self.assertEqual(tune.segments(figures), [([1, 2], "a"), ([4], "b")])

    def test_a_row_ends_where_another_is_faster_by_more(self):
        figures = {1: {"a": figure(1.0), "b": figure(0.5)}, 2: {"a": figure(1.0), "b": figure(1.02)}}
        self.assertEqual(tune.segments(figures), [([1], "a"), ([2], "b")])

    def test_what_the_spread_explains_is_no_difference(self):
        figures = {1: {"a": figure(1.0), "b": figure(0.5)},
                   2: {"a": figure(1.0), "b": figure(1.02, 0.99, 1.05)}}
        self.assertEqual(tune.segments(figures), [([1, 2], "a")])

    def test_one_that_is_good_everywhere_spares_a_row(self):
        figures = {1: {"a": figure(1.0), "b": figure(0.5), "c": figure(0.998)},
                   2: {"a": figure(0.5), "b": figure(1.0), "c": figure(0.998)}}
        self.assertEqual(tune.segments(figures), [([1, 2], "c")])

    def test_one_that_was_not_measured_at_a_size_does_not_reach_over_it(self):
        figures = {1: {"a": figure(1.0)}, 2: {"b": figure(1.0)}, 4: {"a": figure(1.0)}}
        self.assertEqual(tune.segments(figures), [([1], "a"), ([2], "b"), ([4], "a")])


class Table(unittest.TestCase):
    def test_has_rows_of_stages_and_their_rank(self):
        table = tune.table_of([document([
            row(1024, 10, 1.5), row(1024, 10, 1.2, 512), row(1024, 11, 1.4), row(1024, 9, 0.5),
            row(4096, 10, 1.5), row(4096, 10, 1.8, 512), row(4096, 11, 2.0), row(4096, 9, 0.5)])],
            ["x1-tune.json"])
        unit = "grid_unit::blocks_per_multiprocessor"
        self.assertEqual(rows_in(table, "tuned_shapes"), [
            f"graph, 1ull << 10}}, 9, 256, 4, 2, {unit}, 1.5, 20, 0.5}},",
            f"graph, 1ull << 10}}, 10, 256, 4, 2, {unit}, 1.5, 20, 1.5}},",
            f"graph, 1ull << 12}}, 10, 512, 4, 2, {unit}, 1.5, 20, 1.8}},",
            f"graph, 1ull << 10}}, 11, 256, 4, 2, {unit}, 1.5, 20, 1.4}},"])
        self.assertEqual(rows_in(table, "tuned_stages"),
                         ["graph, 1ull << 10}, {10, 11, 9}},", "graph, 1ull << 12}, {11, 10, 9}},"])
        self.assertIn('{"sm_1", "NVIDIA X1", "CUB"},', table)
        self.assertIn("// x1-tune.json\n", table)

    def test_ranks_first_what_is_launched_once_where_the_host_has_to_launch(self):
        for mode, ranked in {"in-graph": "graph, 1ull << 10}, {14, 13}},",
                             "after-producer": "stream, 1ull << 10}, {13, 14}},"}.items():
            rows = [row(1024, 14, 1.5, mode=mode), row(1024, 13, 1.4, mode=mode)]
            self.assertEqual(rows_in(tune.table_of([document(rows)], []), "tuned_stages"), [ranked])

    def test_takes_no_coarse_figures(self):
        table = tune.table_of([document([row(1000, 10, 1), row(1000, 11, 9, round="coarse")])], [])
        self.assertEqual(rows_in(table, "tuned_stages"), ["graph, 1000}, {10}},"])

    def test_has_no_ratio_without_a_library(self):
        table = tune.table_of([document([row(1024, 10, 1.5)], library="")], [])
        self.assertTrue(rows_in(table, "tuned_shapes")[0].endswith(", 1.5, 20, 0},"))

    def test_ranks_no_stage_by_ratios_to_something_else_than_the_library(self):
        compared = document([row(1024, 10, 1.5), row(4096, 10, 1.5)])
        alone = document([row(2048, 18, 9), row(4096, 18, 9)], library="")
        for order in ([alone, compared], [compared, alone]):
            table = tune.table_of(order, [])
            self.assertEqual(rows_in(table, "tuned_stages"), ["graph, 1ull << 10}, {10}},"])
            self.assertTrue(rows_in(table, "tuned_shapes")[-1].startswith("graph, 1ull << 11}, 18,"))
            self.assertTrue(rows_in(table, "tuned_shapes")[-1].endswith(", 1.5, 20, 0},"))
            self.assertIn('{"sm_1", "NVIDIA X1", "CUB"},', table)

    def test_of_one_architecture_has_one_source(self):
        with self.assertRaisesRegex(tune.Failure, "two files have results of sm_1"):
            tune.table_of([document([row(1, 10, 1)])] * 2, [])

    def test_takes_a_stage_of_the_file_that_was_made_for_fewer(self):
        of_both = document([row(1024, 10, 1.5), row(1024, 18, 1.6)])
        alone = document([row(1024, 18, 1.7)])
        for order in ([alone, of_both], [of_both, alone]):
            shown = rows_in(tune.table_of(order, []), "tuned_shapes")
            self.assertEqual(len(shown), 2)
            self.assertTrue(shown[1].endswith(", 1.7},"), shown)

    def test_of_nothing_is_refused(self):
        with self.assertRaises(tune.Failure):
            tune.table_of([document([])], [])


if __name__ == "__main__":
    unittest.main()
