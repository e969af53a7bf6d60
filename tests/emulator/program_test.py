#!/usr/bin/env python3
"""The program with a HIP backend chooses kernels by the device's warp size and launches them, with no GPU: on the fake
runtime, which hands launches to this script. What comes out has the bits of the executor.

TENFOLD_PROGRAM is that program, TENFOLD_HIP_ARCHITECTURES the GPUs that it has kernels for, and TENFOLD_EMULATED_HIP the
libraries that take the place of HIP's, each with colons between them. Without the emulator this is skipped."""

import ctypes
import importlib.machinery
import json
import os
import pathlib
import random
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import code_objects  # noqa: E402
from scripts.common import Failure, run_script  # noqa: E402

READ_AND_WRITE, SHARED_AT_FREE_ADDRESS = 0x3, 0x100001
SIZES = [1, 1000, 5000]
WARPS = {"gfx90a": 64, "gfx942": 64, "gfx950": 64, "gfx1100": 32, "gfx1200": 32}  # of those that are emulated


# ---- the process that runs kernels --------------------------------------------------------------


class Launches:
    """Answers the lines that emulated_runtime.cpp sends."""

    def __init__(self, architecture):
        import machine  # which needs the emulator
        self.new_machine, self.wrong, self.architecture = machine.Machine, machine.Wrong, architecture
        self.machines, self.kernel, self.rng = {}, None, random.Random(1)

    def memory(self, file, address, size):
        libc = ctypes.CDLL(None)
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
        descriptor = os.open(file, os.O_RDWR)
        mapped = libc.mmap(int(address), int(size), READ_AND_WRITE, SHARED_AT_FREE_ADDRESS, descriptor, 0)
        return "done" if mapped == int(address) else "error the device's memory cannot be mapped"

    def find(self, file, name):
        if file not in self.machines:
            self.machines[file] = [(code, self.new_machine(code)) for code in code_objects.code_objects(file)
                                   if code.architecture == self.architecture]
        for code, machine in self.machines[file]:
            if name in code.kernels:
                self.kernel = code.kernels[name], machine
                sizes = [size for kind, _, size in code.kernels[name].arguments if not kind.startswith("hidden_")]
                return " ".join(["sizes", *map(str, sizes)])
        return f"error {file} has no such kernel for {self.architecture}"

    def launch(self, blocks, threads, dynamic_shared_bytes, *arguments):
        kernel, machine = self.kernel
        values = [int.from_bytes(bytes.fromhex(each), "little") for each in arguments]
        machine.launch(kernel, int(blocks), int(threads), values, int(dynamic_shared_bytes), self.rng)
        return "done"

    def answer(self, line):
        word, *words = line.split()
        try:
            return {"memory": self.memory, "kernel": self.find, "launch": self.launch}[word](*words)
        except (Failure, self.wrong, RuntimeError, OSError) as error:
            return f"error {error}".replace("\n", " ")


def serve(architecture):
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the emulator prints is no answer
    launches = Launches(architecture)
    for line in sys.stdin:
        print(launches.answer(line), file=answers, flush=True)


# ---- the test -----------------------------------------------------------------------------------


def run(device, n, *options, **environment):
    command = [os.environ["TENFOLD_PROGRAM"], "run", "10", "--n", str(n), "--device", device, "--mode", "back-to-back",
               "--repeat", "1", "--json", "-", *options]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    if done.returncode:
        raise AssertionError(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    return json.loads(done.stdout)


class ProgramTest(unittest.TestCase):
    def check(self, warp):
        here = os.environ["TENFOLD_HIP_ARCHITECTURES"].split(":")
        architecture = next((each for each in here if WARPS.get(each) == warp), None)
        if not architecture:
            self.skipTest(f"this build has kernels for {', '.join(here)}: none has warps of {warp} lanes")
        environment = {"EMULATED_GPU": f"{architecture} {sys.executable} -B {__file__} --serve {architecture}",
                       "LD_PRELOAD": os.environ["TENFOLD_EMULATED_HIP"]}
        for n in SIZES:
            document = run("hip", n, **environment)
            self.assertEqual(document["context"]["device_name"], "fake GPU")
            (row,) = document["benchmarks"]
            self.assertTrue(row["ok"], row)
            self.assertEqual(row["warp"], warp)
            shape = ["--block", str(row["block"]), "--items", str(row["items"]), "--grid", str(row["grid"])]
            (expected,) = run(f"simt:{warp}", n, *shape)["benchmarks"]
            self.assertEqual(row["passes"], expected["passes"])
            for where in ("result", "rounding"):
                self.assertEqual(row.get(where), expected.get(where), f"{where} of {n} elements")

    def test_warps_of_64_lanes(self):
        self.check(64)

    def test_warps_of_32_lanes(self):
        self.check(32)


def main():
    if sys.argv[1:2] == ["--serve"]:
        serve(sys.argv[2])
        return
    command = importlib.machinery.SourceFileLoader("run", str(pathlib.Path(__file__).with_name("run"))).load_module()
    run_script("tests/emulator/program_test.py", command.check_emulator)
    unittest.main()


if __name__ == "__main__":
    main()
