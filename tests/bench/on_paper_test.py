"""What bench/on_paper makes of figures, on made-up ones and on what rocPRIM's source says."""

import unittest

from loading import load

on_paper = load("on_paper")


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


class Page(unittest.TestCase):
    def test_is_filled_between_its_markers(self):
        self.assertEqual(on_paper.filled("a\n<!-- x -->\nold\n<!-- /x -->\nb", {"x": "new"}),
                         "a\n<!-- x -->\nnew\n<!-- /x -->\nb")
        with self.assertRaises(on_paper.Failure):
            on_paper.filled("a", {"x": "new"})

    def test_is_held_to_the_facts_of_its_own_compiler(self):
        page = "<!-- x -->\nBy clang 1:\n<!-- /x -->"
        on_paper.check(page, {"x": "By clang 1:"}, {"compiler": "clang 1"})
        with self.assertRaisesRegex(on_paper.Failure, "is not what these facts give"):
            on_paper.check(page, {"x": "By clang 1: 3"}, {"compiler": "clang 1"})
        with self.assertRaisesRegex(on_paper.Failure, "skipped"):
            on_paper.check(page, {"x": "By clang 2:"}, {"compiler": "clang 2"})


if __name__ == "__main__":
    unittest.main()
