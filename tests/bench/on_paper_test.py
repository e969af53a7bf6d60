"""What docs/blocks/paper.py makes of figures, on made-up ones and on what rocPRIM's source says."""

import json
import pathlib
import subprocess
import sys
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]
from blocks import NoProgram  # noqa: E402
from blocks import paper as on_paper  # noqa: E402


def gpu(**figures):
    published = {"multiprocessors": 100, "threads_per_multiprocessor": 2048,
                 "simds_per_multiprocessor": 4, "shared_bytes_per_multiprocessor": 65536,
                 "gigabytes_per_second": 1000, "latency_cycles": 1000, "core_gigahertz": 2}
    return {name: {"value": value} for name, value in {**published, **figures}.items()}


def stage(**facts):
    return {"block": 256, "grid": 0, "warps_per_simd": 8, "shared_bytes": 16,
            "loads_in_flight": 4, **facts}


class LittlesLaw(unittest.TestCase):
    def test_needs_bandwidth_times_latency(self):
        self.assertAlmostEqual(on_paper.needed_bytes(gpu()), 1e12 * 500e-9 / 100)
        self.assertAlmostEqual(on_paper.needed_bytes(gpu(latency_nanoseconds=200)), 2000)

    def test_covers_the_latency_that_it_needs(self):
        needed = on_paper.needed_bytes(gpu())
        self.assertAlmostEqual(on_paper.covered_latency(gpu(), needed), 500e-9)

    def test_blocks_are_bounded_by_whatever_is_short(self):
        def blocks(**facts):
            return on_paper.resident_blocks(gpu(), 64, stage(**facts))
        self.assertEqual(blocks(), 8)
        self.assertEqual(blocks(warps_per_simd=3), 3)
        self.assertEqual(blocks(shared_bytes=30000), 2)
        self.assertEqual(blocks(grid=300), 3)
        self.assertEqual(blocks(grid=50), 0.5)
        self.assertEqual(on_paper.bytes_in_flight(gpu(), 64, stage(grid=300)), 3 * 256 * 64)


class Rocprim(unittest.TestCase):
    def plan(self, n, block=128, items=16):
        return on_paper.rocprim_plan(n, {"block": block, "items": items}, 2**32 - 1, 16)

    def test_launches_once_up_to_sixteen_blocks(self):
        self.assertEqual(self.plan(16 * 2048)["launches"], 1)
        self.assertEqual(self.plan(16 * 2048 + 1), {"launches": 2, "blocks": 18,
                                                    "partial_bytes": 17 * 4})

    def test_launches_three_times_at_2_to_the_28(self):
        self.assertEqual(self.plan(2**28), {"launches": 3, "blocks": 131072 + 64 + 1,
                                            "partial_bytes": (131072 + 64) * 4})

    def test_splits_what_exceeds_a_launch(self):
        self.assertEqual(self.plan(2**32)["launches"], 2 + 1 + 1)


class Facts(unittest.TestCase):
    PAGE = mock.patch.object(on_paper, "lines_of", lambda path: ["By clang 1:"])

    def facts(self, status=0, **told):
        done = subprocess.CompletedProcess([], status, json.dumps(told), "no such GPU")
        with self.PAGE, mock.patch.object(on_paper, "_asked", lambda: done):
            return on_paper._facts()

    def test_are_those_of_the_compiler_that_the_page_names(self):
        self.assertEqual(self.facts(compiler="clang 1"), {"compiler": "clang 1"})
        with self.assertRaises(NoProgram):
            self.facts(compiler="clang 2")

    def test_are_left_alone_without_a_compiler_but_not_where_it_fails(self):
        with self.assertRaises(NoProgram):
            self.facts(status=77)
        with self.assertRaisesRegex(ValueError, "no such GPU"):
            self.facts(status=1)


if __name__ == "__main__":
    unittest.main()
