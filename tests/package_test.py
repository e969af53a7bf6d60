#!/usr/bin/env python3
"""Whether a project of somebody else's, tests/consumer, finds tenfold, builds and runs.

The environment has TENFOLD_CMAKE, TENFOLD_GENERATOR and TENFOLD_BUILD, a build folder with the executor's library.
TENFOLD_HIP_COMPILER, such as "clang++-19 --rocm-path=FOLDER", is what compiles for AMD.
"""

import os
import pathlib
import shlex
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
CMAKE = os.environ.get("TENFOLD_CMAKE", "cmake")
BUILD = os.environ.get("TENFOLD_BUILD", ROOT / "build/simt")
# Of the build that tests this: there need be no other.
GENERATOR = [f"-G{name}"] if (name := os.environ.get("TENFOLD_GENERATOR")) else []
NO_DEVICE = 3


def run(*command):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise AssertionError(f"{shlex.join(map(str, command))}\n{done.stdout}")
    return done.stdout


class Consumer(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def install(self, component="cpp"):
        run(CMAKE, "--install", BUILD, "--component", component, "--prefix", self.folder / "installed")
        return f"-DCMAKE_PREFIX_PATH={self.folder / 'installed'}"

    def build(self, *options):
        run(CMAKE, *GENERATOR, "-S", ROOT / "tests/consumer", "-B", self.folder / "build", *options)
        return run(CMAKE, "--build", self.folder / "build", "--verbose")

    def expect_sum(self, total=5000150001):
        self.assertEqual(run(self.folder / "build/consumer"), f"{total}\n")


class Executor(Consumer):
    def test_installed_with_gcc(self):
        self.build("-DCMAKE_CXX_COMPILER=g++", self.install())
        self.expect_sum()

    def test_installed_with_clang(self):
        compiler = next(filter(shutil.which, ["clang++", *(f"clang++-{version}" for version in range(22, 15, -1))]), None)
        if not compiler:
            self.skipTest("there is no clang++")
        self.build(f"-DCMAKE_CXX_COMPILER={compiler}", self.install())
        self.expect_sum()

    def test_included(self):
        """What the parent has not asked for stays unbuilt: the executor and the consumer are two units."""
        for how in "-DFETCHED=OFF", "-DFETCHED=ON":
            with self.subTest(how):
                said = self.build(f"-DTENFOLD_SOURCE={ROOT}", how)
                self.expect_sum()
                built = {path.stem for path in (self.folder / "build").rglob("*.o")}
                self.assertEqual(built, {"consumer.cpp", "unity_0_cxx.cxx"}, said)
                shutil.rmtree(self.folder / "build")

    def test_headers_alone_are_installed_without_a_build(self):
        run(CMAKE, *GENERATOR, "-S", ROOT, "-B", self.folder / "alone", "-DTENFOLD_PROGRAM=OFF", "-DTENFOLD_EXECUTOR=OFF")
        run(CMAKE, "--install", self.folder / "alone", "--prefix", self.folder / "headers")
        self.install()

        def headers_in(folder):
            return {path.relative_to(folder) for path in folder.rglob("*.hpp")}
        self.assertEqual(headers_in(self.folder / "headers"), headers_in(self.folder / "installed"))
        self.assertEqual(list((self.folder / "headers").rglob("*.so")), [])

    def test_an_older_standard_is_refused(self):
        if not shutil.which("g++"):
            self.skipTest("there is no g++")
        with self.assertRaisesRegex(AssertionError, "tenfold takes C\\+\\+20: compile with -std=c\\+\\+20"):
            run("g++", "-std=c++17", "-fsyntax-only", "-I", ROOT, ROOT / "tests/consumer/consumer.cpp")

    def test_another_version_is_refused(self):
        with self.assertRaisesRegex(AssertionError, 'not[\n ]+compatible|requested version "99"'):
            self.build(self.install(), "-DWANTED=99")


class C(Consumer):
    def test_header_is_one_of_c(self):
        compiler = shutil.which("gcc") or shutil.which("clang")
        if not compiler:
            self.skipTest("there is no compiler for C")
        run(compiler, "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", ROOT / "host/c",
            ROOT / "tests/consumer/consumer.c")

    def test_installed_without_its_build(self):
        """With kernels of its own: the build folder that it came from could make those that are missing."""
        run(CMAKE, "--build", BUILD, "--target", "to_install")
        self.build("-DBACKEND=c", self.install("c"))
        self.expect_sum(200002)
        (self.folder / "installed").rename(self.folder / "moved")
        library, = (self.folder / "moved").rglob("libtenfold.so.0")
        done = subprocess.run([self.folder / "build/consumer"], env={"LD_LIBRARY_PATH": str(library.parent)},
                              capture_output=True, text=True)
        self.assertEqual(done.stdout, "200002\n", done.stderr)


class Gpus(Consumer):
    """Where there is none, the program must say so."""

    def expect_sum_or_no_device(self, driver):
        if pathlib.Path(driver).exists():
            self.expect_sum()
        else:
            done = subprocess.run([self.folder / "build/consumer"], capture_output=True, text=True)
            self.assertEqual(done.returncode, NO_DEVICE, done.stdout)

    def expect_headers_alone(self, said):
        self.assertNotIn("libtenfold", said)

    def build_with_nvcc(self, *options):
        compiler = shutil.which("nvcc", path=os.pathsep.join([os.environ["PATH"], "/usr/local/cuda/bin"]))
        if not compiler:
            self.skipTest("there is no nvcc")
        self.expect_headers_alone(self.build("-DBACKEND=cuda", f"-DCMAKE_CUDA_COMPILER={compiler}",
                                             "-DCMAKE_CUDA_ARCHITECTURES=90", *options))

    def test_cuda(self):
        self.build_with_nvcc(self.install())
        self.expect_sum_or_no_device("/dev/nvidiactl")

    def test_cuda_included_without_executor(self):
        self.build_with_nvcc("-DTENFOLD_EXECUTOR=OFF", f"-DTENFOLD_SOURCE={ROOT}")

    def build_with_clang(self, *options):
        compiler, *flags = shlex.split(os.environ.get("TENFOLD_HIP_COMPILER", "")) or [None]
        if not compiler:
            self.skipTest("there is no compiler for AMD")
        roots = [flag.split("=")[1] for flag in flags if flag.startswith("--rocm-path=")]
        self.expect_headers_alone(self.build(
            "-DBACKEND=hip", f"-DCMAKE_HIP_COMPILER={compiler}", f"-DCMAKE_HIP_FLAGS={shlex.join(flags)}",
            "-DCMAKE_HIP_ARCHITECTURES=gfx90a", *(f"-DCMAKE_HIP_COMPILER_ROCM_ROOT={root}" for root in roots), *options))

    def test_hip(self):
        self.build_with_clang(self.install())
        self.expect_sum_or_no_device("/dev/kfd")

    def test_hip_fetched_without_executor(self):
        self.build_with_clang("-DTENFOLD_EXECUTOR=OFF", f"-DTENFOLD_SOURCE={ROOT}", "-DFETCHED=ON")


if __name__ == "__main__":
    unittest.main()
