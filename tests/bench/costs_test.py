"""bench/costs on a made-up GPU, whose figures are round."""

import unittest

from loading import load

costs = load("costs")

BIG, SMALL = costs.IN_MEMORY, costs.IN_CACHE
RESIDENT = {256: 8, 512: 4, 1024: 2}
SHEET = {"name": "Round", "warp_size": {"value": 32}, "threads_per_multiprocessor": {"value": 2048},
         "blocks_per_multiprocessor": {"value": 32}, "shared_bytes_per_multiprocessor": {"value": 65536}}
# Cycles that a block lasts, of each kind of kernel: a word or two are loaded, then eight steps taken.
LIVES = {"load:{}:1:0": 1000, "load:{}:2:0": 1200, "barrier:{}:1:8": 1000 + 8 * 60, "fold_warp:{}:1:8": 1000 + 8 * 100,
         "warp_fold:{}:2:8": 1200 + 8 * 25, "shuffle:{}:2:8": 1200 + 8 * 20}


def microseconds(life, threads, items, n):
    """Of a GPU of 100 multiprocessors at 1 GHz, behind a launch of 2 us."""
    return 2 + life * n / (threads * items) / 100 / RESIDENT[threads] / 1e3


def row(contestant, n, time):
    return {"contestant": contestant, "n": n, "real_time": time}


def document():
    rows = [row("peer:empty", n, 2.0) for n in (BIG, SMALL)]
    rows += [row("peer:read:plain:1", BIG, 2 + BIG * 4 / 1e6), row("peer:read:plain:2", BIG, 2 + BIG * 4 / 2e6),
             row("peer:read:plain:1", SMALL, 2 + SMALL * 4 / 8e6)]
    rows.append(row("peer:cost:load:128:1:0", BIG, 2 + BIG / 128 * 0.5e-3))
    for pattern, life in LIVES.items():
        for threads in RESIDENT:
            name = pattern.format(threads)
            items = int(name.split(":")[2])
            rows.append(row(f"peer:cost:{name}", BIG, microseconds(life, threads, items, BIG)))
            rows.append(row(f"peer:cost:{name}", SMALL, microseconds(life / 2, threads, items, SMALL)))
    context = {"device_name": "Round", "architecture": "sm_1", "multiprocessors": "100", "last-level cache": "64 MiB",
               "clocks under load": "core 1000 MHz, memory 3 MHz"}
    return {"context": context, "benchmarks": rows}


class Costs(unittest.TestCase):
    def test_takes_a_step_from_two_kernels_that_differ_by_it(self):
        *_, cache, of_cache, latency, launch, block, steps = costs.measured_row(document(), SHEET)
        self.assertEqual((cache, latency), (64 << 20, 0))
        self.assertAlmostEqual(of_cache / 8e12, 1)
        self.assertAlmostEqual(launch, 2e-6)
        self.assertAlmostEqual(block, 0.5e-9)
        for found, threads in zip(steps, RESIDENT, strict=True):
            # A fold by shared memory is a round trip, and a store that a barrier waits for.
            for value, expected in zip(found, [threads, 1000, 1200, 500, 600, 60, 40 - 25, 25, 20], strict=True):
                self.assertAlmostEqual(value, expected, places=3)

    def test_takes_the_bandwidth_of_the_fastest_that_reads(self):
        self.assertAlmostEqual(costs.Measured(document()).bandwidth(BIG) / 2e12, 1)

    def test_of_a_gpu_that_nobody_measured_it_takes_what_is_published(self):
        sheet = {**SHEET, "name": "Far", "architecture": "gfx1", "multiprocessors": {"value": 7},
                 "core_gigahertz": {"value": 2}, "latency_cycles": {"value": 800}, "gigabytes_per_second": {"value": 900}}
        row_of_it = costs.published_row(sheet)
        self.assertEqual(row_of_it[:4], ['"Far"', '"gfx1"', 32, 7])
        self.assertEqual(row_of_it[7:9], [2e9, 9e11])
        self.assertAlmostEqual(row_of_it[11], 400e-9)
        self.assertEqual(row_of_it[-1], [])

    def test_wants_a_sheet_of_each_gpu(self):
        with self.assertRaisesRegex(costs.Failure, "gpus.json does not describe Round"):
            costs.table_of([document()], [])
        text = costs.table_of([document()], [SHEET])
        self.assertIn('{"Round", "sm_1", 32, 100, 2048, 32, 65536, 1e+09, 2e+12, 67108864, 8e+12, 0, 2e-06, 5e-10, {{{256,', text)


if __name__ == "__main__":
    unittest.main()
