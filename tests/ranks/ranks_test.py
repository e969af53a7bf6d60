#!/usr/bin/env python3
"""Ranks of MPI, as mpirun starts them: what they find together, and that none of them waits for one that has failed.

The environment has TENFOLD_PROGRAM, TENFOLD_RANKS_PROGRAM, which it calls for --distributed, TENFOLD_MPIRUN, and
TENFOLD_REDUCER_TEST, a program that checks distributed_reducer.
"""

import json
import math
import os
import pathlib
import random
import re
import signal
import struct
import subprocess
import tempfile
import time
import unittest

PROGRAM, MPIRUN = os.environ["TENFOLD_PROGRAM"], os.environ["TENFOLD_MPIRUN"]
COUNTS = (1, 2, 3, 4, 7)
# More ranks than cores, by whoever runs the tests.
ENVIRONMENT = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "TENFOLD_THREADS": "1"}
OVERSUBSCRIBE = ["--oversubscribe"]
DEVICE = ["--device", "simt:32"]
LADDER = [PROGRAM, "ladder", "--distributed", *DEVICE]
LIMIT = 900  # seconds: ranks may wait for kernels that other tests build


def mpirun(*commands):
    """Ranks and command, any number of times."""
    command = [MPIRUN, *OVERSUBSCRIBE]
    for i, (count, words) in enumerate(commands):
        command += [":"] * (i > 0) + ["-n", str(count), *words]
    return subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=LIMIT)


def run(count, *options):
    return mpirun((count, [PROGRAM, "run", *options, "--distributed", *DEVICE, "--repeat", "1"]))


def lines_of_tenfold(done):
    """Without the lines that say how far a build is."""
    return [line for line in done.stderr.splitlines() if line.startswith("tenfold:") and not line.endswith(" ...")]


class Reducer(unittest.TestCase):
    def test_with_any_number_of_ranks(self):
        for count in COUNTS:
            done = mpirun((count, [os.environ["TENFOLD_REDUCER_TEST"]]))
            self.assertEqual((done.returncode, done.stdout), (0, ""), f"{count} ranks: {done.stderr}")


class Run(unittest.TestCase):
    def result(self, count, *options):
        done = run(count, *options, "--json", "-")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        written = json.loads(done.stdout)
        self.assertEqual(written["context"]["ranks"], count)
        return written["benchmarks"][0]

    def test_finds_the_same_however_it_is_shared(self):
        for options in (["10", "--n", "2^16"], ["16", "--n", "65537", "--type", "u32"], ["9", "--n", "3", "--op", "max"],
                        ["15", "--n", "1000", "--type", "i8"]):
            results = [self.result(count, *options) for count in COUNTS]
            self.assertEqual({each["verdict"] for each in results}, {"right"}, options)
            self.assertEqual(len({each["result"] for each in results}), 1, options)

    def save(self, elements, descr, code):
        """A file of NumPy's."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        file = pathlib.Path(folder.name) / "elements.npy"
        header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({len(elements)},), }}".encode().ljust(117) + b"\n"
        data = struct.pack(f"<{len(elements)}{code}", *elements)
        file.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data)
        return str(file)

    def test_shares_a_file(self):
        elements = [i * i - 5000 for i in range(1001)]
        file = self.save(elements, "<i4", "i")
        for count in COUNTS:
            self.assertEqual(self.result(count, "10", "--input", file)["result"], sum(elements))

    def test_an_exact_sum_has_the_same_bits_however_it_is_shared(self):
        # Whatever is rounded where shares end, or before, is larger than what is left.
        elements = [math.ldexp(i * 0x9e3779b1 % 65521 - 32760, i * 37 % 160 - 80) for i in range(999)]
        elements = elements + [2.0**-90] + [-each for each in reversed(elements)] + [2.0**-120]
        random.Random(1).shuffle(elements)
        expected = math.fsum(elements)
        file = self.save(elements, "<f8", "d")
        for count in COUNTS:
            found = self.result(count, "18", "--input", file)
            self.assertEqual((found["verdict"], found["result"]), ("right", expected), f"{count} ranks")
        file, expected = self.save(elements, "<f4", "f"), struct.unpack("f", struct.pack("f", expected))[0]
        for devices in ("simt", "simt:32,simt:64", "simt:64,simt:32,simt:32"):
            command = [PROGRAM, "run", "18", "--input", file, "--devices", devices, "--repeat", "1", "--json", "-"]
            done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=LIMIT)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(done.stdout)["benchmarks"][0]["result"], expected, devices)

    def test_says_who_takes_part(self):
        done = run(3, "10", "--n", "1000")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(re.findall("^device +3 ranks", done.stdout, re.M)), 1, done.stdout)
        self.assertIn("333 to 334 elements", done.stdout)


class Ladder(unittest.TestCase):
    def test_climbs_the_same_however_it_is_shared(self):
        for count in COUNTS:
            done = mpirun((count, [*LADDER, "--n", "1001", "--beyond", "--repeat", "1", "--type", "u32", "--json", "-"]))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            written = json.loads(done.stdout)
            self.assertEqual(written["context"]["ranks"], count)
            entries = written["benchmarks"]
            self.assertEqual([each["stage"] for each in entries], list(range(1, 15)) + [16, 17])
            self.assertEqual({each["verdict"] for each in entries}, {"right"})
            self.assertEqual({each["result"] for each in entries}, {entries[0]["result"]})
            self.assertEqual(entries[0]["n"], 1001)

    def test_shows_a_line_for_each_stage_once(self):
        done = mpirun((2, [*LADDER, "--n", "3", "--repeat", "1", "--type", "i8"]))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(re.findall("2 ranks on simt:32", done.stdout)), 1, done.stdout)
        self.assertEqual(len(re.findall("^ +10  two_pass .* right ", done.stdout, re.M)), 1, done.stdout)
        self.assertEqual(len(re.findall("takes no elements", done.stdout)), 9, done.stdout)


class Faults(unittest.TestCase):
    def expect_refused(self, done, *words):
        self.assertNotEqual(done.returncode, 0)
        told = lines_of_tenfold(done)
        self.assertEqual(len(told), 1, done.stderr)
        for word in words:
            self.assertIn(word, told[0])

    def test_the_same_on_all_is_told_once(self):
        self.expect_refused(run(3, "10", "--n", "1x"), "1x")
        self.expect_refused(run(3, "10", "--n", "2^45"), "smaller n")
        self.expect_refused(run(2, "10", "--mode", "in-graph"), "--mode")
        self.expect_refused(run(2, "10", "--input", "-"), "standard input")

    def test_launcher_of_another_mpi(self):
        done = subprocess.run([*LADDER, "--n", "10"], env=ENVIRONMENT | {"PMI_SIZE": "4"}, capture_output=True, text=True,
                              timeout=LIMIT)
        self.expect_refused(done, "4 processes were started, and MPI knows of 1")

    def test_ranks_asked_for_different_things(self):
        words = [PROGRAM, "run", "10", "--distributed", *DEVICE]
        for mine, other in ((["--n", "100"], ["--n", "200"]), (["--op", "min"], ["--op", "max"])):
            self.expect_refused(mpirun((1, [*words, *mine]), (2, [*words, *other])), "ranks 0 and 1", mine[1], other[1])
        self.expect_refused(mpirun((1, words), (1, LADDER)), "ranks 0 and 1", "run '10'", "ladder")
        words += ["--input", "x" * 400]
        self.expect_refused(mpirun((1, words), (1, [*words, "--block", "64"])), "ranks 0 and 1", "--block '64'")
        self.expect_refused(mpirun((1, LADDER), (1, [*LADDER, "--beyond"])), "ranks 0 and 1", "--beyond")

    def test_one_cannot_begin(self):
        words = [PROGRAM, "run", "10", "--distributed", "--n", "100"]
        self.expect_refused(mpirun((1, [*words, *DEVICE]), (1, [*words, "--device", "simt:33"])), "rank 1 of 2", "simt:33")
        self.expect_refused(mpirun((1, [*words, *DEVICE]), (1, [*words, "--nonsense"])), "--nonsense")

    def test_one_dies(self):
        command = [MPIRUN, *OVERSUBSCRIBE, "-n", "3", PROGRAM, "run", "10", "--distributed", *DEVICE, "--n", "2^16",
                   "--repeat", "1000000"]
        job = subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(job.communicate)
        self.addCleanup(job.terminate)  # which ends the ranks, too; killed, it would leave them
        children = []
        limit = time.monotonic() + LIMIT
        while len(children) < 3 and time.monotonic() < limit:
            time.sleep(0.1)
            found = subprocess.run(["pgrep", "-P", str(job.pid), "-x", "tenfold_ranks"], capture_output=True, text=True)
            children = [int(pid) for pid in found.stdout.split()]
        self.assertEqual(len(children), 3, "the ranks did not start")
        time.sleep(1)
        os.kill(children[1], signal.SIGKILL)
        killed = time.monotonic()
        _, told = job.communicate(timeout=30)
        self.assertLess(time.monotonic() - killed, 30)
        self.assertNotEqual(job.returncode, 0)
        self.assertIn("signal 9", told)


if __name__ == "__main__":
    unittest.main()
