"""tests/plant in a small tree of its own, with stand-ins for the tools that build and test."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent

FAULTS = """FAULTS = [
    {"name": name, "what": "a change", "file": "source.txt", "old": "right", "new": new,
     "targets": ["program"], "test": test}
    for name, new, test in [("shown", "wrong", "sees.it"), ("hidden", "odd", "sees.it"),
                            ("broken", "no code", "sees.it"), ("nameless", "wrong", "is.gone"),
                            ("absent", "away", "sees.it"), ("endless", "hang", "sees.it")]]
"""

# Makes a program of the source where that is the newer one, as builds do.
CMAKE = """#!/bin/bash
[[ "$1 $3 $4" == "--build --target program" ]] || exit 1
echo build >>"$FAKE/calls"
if grep -q "no code" source.txt; then echo "error: that is no code"; exit 1; fi
if [[ source.txt -nt $2/program ]]; then cp source.txt "$2/program"; fi
"""

CTEST = """#!/bin/bash
while (($#)); do
  case $1 in
    --test-dir) folder=$2; shift ;;
    -R) test=$2; shift ;;
    --output-junit) report=$2; shift ;;
  esac
  shift
done
[[ $test == '^sees\\.it$' ]] || { echo "<testsuite/>" >"$report"; echo "No tests were found!!!"; exit; }
status=run
case $(<"$folder/program") in
  wrong) status=fail ;;
  away) status=notrun ;;
  hang) echo $$ >"$FAKE/started"; exec sleep 600 ;;
esac
echo "<testsuite><testcase status='$status'/></testsuite>" >"$report"
[[ $status == run ]]
"""


class Plant(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.fake = pathlib.Path(folder.name).resolve()
        self.root, self.build = self.fake / "root", self.fake / "root/build"
        for each in self.root / "tests", self.build, self.fake / "bin":
            each.mkdir(parents=True)
        shutil.copy(ROOT / "tests/plant", self.root / "tests")
        (self.root / "tests/planted_faults.py").write_text(FAULTS)
        self.source = self.root / "source.txt"
        self.source.write_text("right\n")
        (self.build / "CMakeCache.txt").write_text(f"CMAKE_HOME_DIRECTORY:INTERNAL={self.root}\n")
        for name, text in ("cmake", CMAKE), ("ctest", CTEST):
            path = self.fake / "bin" / name
            path.write_text(text)
            path.chmod(0o755)
        self.environment = {"PATH": f"{self.fake / 'bin'}:{os.environ['PATH']}", "FAKE": str(self.fake),
                            "GIT_CONFIG_NOSYSTEM": "1", "HOME": str(self.fake)}
        self.git("init", "-q")
        self.git("add", "source.txt")
        self.git("-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "-qm", "All")

    def git(self, *arguments):
        subprocess.run(["git", *arguments], cwd=self.root, env=self.environment, check=True)

    def start(self, *arguments):
        return subprocess.Popen(
            [sys.executable, "-B", self.root / "tests/plant", "--build", self.build, *arguments],
            env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))

    def plant(self, *arguments, status):
        process = self.start(*arguments)
        out, err = process.communicate()
        self.assertEqual(process.returncode, status, out + err)
        self.assertNotIn("Traceback", err)
        self.assertEqual(self.source.read_text(), "right\n")
        return out, err

    def table(self, out):
        """The outcome of each fault."""
        rows = [line.split() for line in out.split("\nfault ")[1].splitlines()[1:]]
        return {row[0]: " ".join(row[3:-1]) for row in rows}

    def test_says_what_was_caught_and_what_was_missed(self):
        out, _ = self.plant("shown", "hidden", status=1)
        self.assertEqual(self.table(out), {"shown": "caught", "hidden": "MISSED"})
        self.assertEqual((self.build / "program").read_text(), "right\n")
        # Without a fault, and with and after each of the two.
        self.assertEqual((self.fake / "calls").read_text().count("build"), 5)
        out, err = self.plant("shown", status=0)
        self.assertEqual((self.table(out), err), ({"shown": "caught"}, ""))

    def test_a_fault_that_does_not_build_is_not_caught(self):
        out, err = self.plant("broken", "shown", status=2)
        self.assertEqual(self.table(out), {"shown": "caught", "broken": "does not build"})
        self.assertIn("that is no code", err)

    def test_a_test_that_is_skipped_has_caught_nothing(self):
        self.assertEqual(self.table(self.plant("absent", status=2)[0]), {"absent": "skipped"})

    def test_begins_with_tests_that_pass(self):
        _, err = self.plant("nameless", "shown", status=2)
        self.assertIn("tests/plant: is.gone: no such test, without any fault", err)
        tool = self.fake / "bin/ctest"
        tool.write_text(tool.read_text().replace("wrong)", "right)"))
        _, err = self.plant("shown", status=2)
        self.assertIn("sees.it: failed, without any fault", err)

    def test_restores_when_it_is_interrupted(self):
        for number in signal.SIGINT, signal.SIGTERM:
            with self.subTest(number=number):
                process = self.start("shown", "endless")
                started = self.fake / "started"
                while not (started.exists() and started.read_text()):
                    self.assertIsNone(process.poll())
                    time.sleep(0.01)
                self.assertEqual(self.source.read_text(), "hang\n")
                process.send_signal(number)
                out, err = process.communicate()
                self.assertEqual(process.returncode, 128 + number)
                self.assertEqual(self.source.read_text(), "right\n")
                self.assertEqual(self.table(out), {"shown": "caught"})
                self.assertIn("interrupted", err)
                self.assertRaises(ProcessLookupError, os.kill, int(started.read_text()), 0)
                self.assertGreater(self.source.stat().st_mtime_ns, (self.build / "program").stat().st_mtime_ns)
                started.unlink()

    def test_leaves_alone_what_is_not_committed(self):
        self.source.write_text("right and mine\n")
        process = self.start("shown")
        self.assertIn("not committed: source.txt", process.communicate()[1])
        self.assertEqual(process.returncode, 2)
        self.assertEqual(self.source.read_text(), "right and mine\n")
        self.source.write_text("right\n")  # newer, and the same
        self.plant("shown", status=0)

    def test_refuses_what_it_cannot_plant(self):
        self.assertIn("there is no fault 'other': use shown", self.plant("other", status=2)[1])
        (self.build / "CMakeCache.txt").write_text("CMAKE_HOME_DIRECTORY:INTERNAL=/else\n")
        self.assertIn("is no build of this tree", self.plant("shown", status=2)[1])
        (self.root / "tests/planted_faults.py").write_text(FAULTS.replace('"right"', '"left"'))
        self.assertIn("holds its text 0 times", self.plant("--list", status=2)[1])

    def test_every_fault_can_be_planted_here(self):
        done = subprocess.run([sys.executable, "-B", ROOT / "tests/plant", "--list"], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(len(done.stdout.splitlines()), 30)


if __name__ == "__main__":
    unittest.main()
