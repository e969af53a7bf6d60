#!/usr/bin/env python3
"""The wrapper ./tenfold in a small tree of its own, with stand-ins for the tools that build."""

import os
import pathlib
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest
from fcntl import ioctl

WRAPPER = pathlib.Path(__file__).resolve().parents[2] / "tenfold"

# Each notes that it was called, then does what a test has put into $FAKE/NAME.sh, or else its usual work.
TOOLS = {
    "cmake": """
folder=$PWD/build/$4 && mkdir -p "$folder"
echo "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" >"$folder/CMakeCache.txt"
echo rules >"$folder/build.ninja"
touch "$FAKE/stale"
""",
    "ninja": """
echo "[0/1] Re-checking globbed directories..."
if [[ -e $FAKE/stale ]]; then
  echo "[1/2] Building CXX object host/CMakeFiles/program.dir/cli/main.cpp.o"
  echo "[2/2] Linking CXX executable tenfold"
  printf '#!/bin/bash\\necho "program $* refresh=$TENFOLD_REFRESH"\\n' >"$2/tenfold"
  chmod +x "$2/tenfold"
  rm "$FAKE/stale"
else
  echo "ninja: no work to do."
fi
""",
    "ctest": "",
    "c++": "echo 12 __clang_major__",
    "nvcc": "",
    "sudo": 'exec "$@"',
    "apt-get": '[[ " $* " != *" install "* ]] || { echo "Setting up cmake"; touch "$FAKE/installed"; }',
    "dpkg": "",
    "dpkg-query": """
shift 2
if [[ -e $FAKE/installed ]]; then printf 'ii %s\\n' "$@"; fi
""",
}

# Ends by the first signal, whenever that comes. A shell would lose one that comes just before it becomes a 'sleep', and
# wait for a child of its own.
SLEEPER = """
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.SIG_DFL)
open(sys.argv[1], "w").write(str(os.getpid()))
time.sleep(600)
"""


class Wrapper(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.folder.chmod(0o755)
        self.root, self.fake, tools = (self.folder / name for name in ("root", "fake", "bin"))
        for folder in self.root, self.fake, tools:
            folder.mkdir()
        shutil.copy(WRAPPER, self.root / "tenfold")
        shutil.copy(WRAPPER.parent / "CMakePresets.json", self.root)
        sources = re.search(r"SOURCES=\((.*?)\)", WRAPPER.read_text(), re.S).group(1).split()
        for source in map(self.root.joinpath, sources):
            source.parent.mkdir(parents=True, exist_ok=True)
            source.touch() if source.suffix else source.mkdir(exist_ok=True)
        shutil.copy(WRAPPER.parent / "host/cli/commands.hpp", self.root / "host/cli")
        self.cmake_lists = self.root / "CMakeLists.txt"
        for name, work in TOOLS.items():
            # Some systems call ninja so.
            for path in tools / name, *([tools / "ninja-build"] if name == "ninja" else []):
                path.write_text(f"""#!/bin/bash
echo "{name} $*" >>"$FAKE/calls"
if [[ -e $FAKE/{name}.sh ]]; then . "$FAKE/{name}.sh"; exit; fi
{work}""")
                path.chmod(0o755)
        self.environment = {
            "PATH": f"{tools}:/usr/bin:/bin",
            "FAKE": str(self.fake),
            "TENFOLD_PRESET": "simt",
            "TENFOLD_SKIP_SETUP": "1",
            "TENFOLD_PATIENCE": "3600",
            "TERM": "dumb",
        }

    def start(self, *arguments, before=(), **more):
        return subprocess.Popen(
            [*before, "./tenfold", *arguments],
            cwd=self.root, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL), **more)

    def call(self, *arguments, status=0, **more):
        """What it writes to standard output and to standard error."""
        process = self.start(*arguments, **more)
        out, err = process.communicate()
        self.assertEqual(process.returncode, status, err)
        return out, err

    def call_on_terminal(self, *arguments, answer=b"", columns=80):
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.root)
            # Not before the terminal is as wide as it is to be.
            os.read(0, 1)
            os.execve("./tenfold", ["./tenfold", *arguments], self.environment)
        ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.write(terminal, b"\n" + answer)
        shown = b""
        while True:
            try:
                part = os.read(terminal, 4096)
            except OSError:  # the other end is closed
                part = b""
            if not part:
                break
            shown += part
        os.close(terminal)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown.decode()

    def calls(self):
        """The calls of tools since the last time."""
        path = self.fake / "calls"
        lines = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return [line for line in lines if not line.startswith("c++")]

    def tool(self, name, work=None):
        path = self.fake / f"{name}.sh"
        path.unlink() if work is None else path.write_text(work)

    def wait_for(self, name):
        path = self.fake / name
        while not (path.exists() and path.read_text()):
            time.sleep(0.01)
        return path.read_text()

    def assert_works(self, err=None):
        out, said = self.call("ladder")
        self.assertEqual(out, "program ladder refresh=1\n")
        if err is not None:
            self.assertEqual(said, err)

    # --- verbs

    def test_knows_its_verbs_before_it_builds(self):
        _, err = self.call("lader", status=2)
        self.assertIn("there is no verb 'lader'; did you mean 'ladder'?", err)
        self.assertIn("ladder, diff", err)
        for typed, meant in ("lsit", "list"), ("prof", "profile"), ("tset", "test"):
            self.assertIn(f"did you mean '{meant}'?", self.call(typed, status=2)[1])
        self.assertNotIn("did you mean", self.call("xyzzy", status=2)[1])
        self.assertIn("no option '--bogus'", self.call("--bogus", status=2)[1])
        self.assertEqual(self.calls(), [])
        self.assertFalse((self.root / "build").exists())

    def test_verbs_are_the_programs(self):
        program = os.environ.get("TENFOLD_PROGRAM")
        if not program:
            self.skipTest("TENFOLD_PROGRAM does not name the program")
        told = subprocess.run([program, "--help"], check=True, capture_output=True, text=True).stdout
        theirs = re.findall(r"^  (\w+)", told, re.M)  # options begin with a hyphen
        listed = re.search(r"the verbs are (.*);", self.call("xyzzy", status=2)[1]).group(1)
        self.assertEqual(sorted(set(listed.split(", ")) - {"test", "docs", "help"}), sorted(set(theirs) - {"help"}))

    def test_its_help_builds_nothing(self):
        for arguments in [], ["--help"], ["help"], ["test", "--help"], ["docs", "-h"], ["help", "test"]:
            self.assertIn("Usage: ./tenfold", self.call(*arguments)[0])
        self.assertEqual(self.calls(), [])

    def test_help_of_a_verb_builds_only_what_is_not_built(self):
        out, err = self.call("run", "--help")
        self.assertEqual(out, "program run --help refresh=1\n")
        self.assertIn("which is not built yet", err.splitlines()[0])
        self.calls()
        self.assertEqual(self.call("help", "run"), ("program run --help refresh=\n", ""))
        self.assertEqual(self.calls(), [])

    # --- building

    def test_is_silent_when_nothing_is_to_be_done(self):
        out, err = self.call("run", "3", "--n", "2^20")
        self.assertEqual(out, "program run 3 --n 2^20 refresh=1\n")
        self.assertIn("configuring (simt)", err)
        self.assertIn("the first build takes about a minute", err)
        self.calls()
        self.assert_works(err="")
        self.assertEqual(self.calls(), [f"ninja -C {self.root}/build/simt tenfold"])
        (self.fake / "stale").touch()
        self.assert_works(err="tenfold: building (simt) ...\n")

    def test_shows_one_line_on_a_terminal(self):
        status, shown = self.call_on_terminal("ladder")
        self.assertEqual(status, 0)
        self.assertIn("\r\x1b[K[1/2] compiling host/cli/main.cpp\r\x1b[K[2/2] linking", shown)
        (self.fake / "stale").touch()
        self.assertIn("\r\x1b[K[1/2] compiling hos\r", self.call_on_terminal("ladder", columns=20)[1])

    def test_builds_for_tests_what_they_need(self):
        _, err = self.call("test", "-L", "host")
        self.assertIn("several minutes", err)
        calls = self.calls()
        self.assertEqual([line.split()[-1] for line in calls], ["--fresh", "tests", "host"])
        self.assertIn("-LE ^(full|emulator-all|fuzz)$", calls[-1])
        self.call("test", "-L", "full")
        calls = self.calls()
        self.assertEqual([line.split()[-1] for line in calls], ["all", "full"])
        self.assertIn("-LE ^(emulator-all|fuzz)$", calls[-1])
        for label, target, left_out in (("emulator", "tests_emulator", "^(full|emulator-all|fuzz)$"),
                                        ("emulator-all", "tests_emulator", "^full$"), ("fuzz", "fuzzers", "^full$")):
            self.call("test", "-L", label)
            calls = self.calls()
            self.assertEqual([line.split()[-1] for line in calls], [target, label])
            self.assertIn(f"-LE {left_out} -L", calls[-1])
        self.call("--build-only")
        self.assertEqual([line.split()[-1] for line in self.calls()], ["all"])
        self.call("--preset", "cuda", "test", "-L", "cuda")
        self.assertIn("tests_cuda", " ".join(self.calls()).split())

    def test_takes_a_preset_for_the_gpu_that_is_here(self):
        if any(map(os.path.exists, ("/dev/nvidia0", "/dev/dxg", "/dev/kfd"))):
            self.skipTest("there is a GPU")
        del self.environment["TENFOLD_PRESET"]
        self.assert_works()
        self.assertIn("--preset simt", self.calls()[0])  # although there is an nvcc
        self.call("--preset", "cuda", "ladder")
        self.assertIn("--preset cuda", self.calls()[0])
        self.assertIn("there is no preset 'bogus'", self.call("--preset", "bogus", "ladder", status=2)[1])

    def test_sets_up_anew_what_has_changed(self):
        self.assert_works()
        build = self.root / "build/simt"
        (build / "build.ninja").unlink()
        self.assert_works()
        (self.folder / "bin/c++").write_text("#!/bin/bash\necho 13 __clang_major__\n")
        self.assert_works()
        self.root = self.root.rename(self.folder / "moved")
        self.assert_works()
        (self.root / "build/simt/.tenfold-configure").unlink()
        self.calls()
        self.assert_works()  # by hand, as far as it can tell
        self.assertNotIn("--fresh", self.calls()[0])
        self.assert_works(err="")

    def test_errors_are_bounded(self):
        self.tool("ninja", """
echo "[1/3] Building CXX object a.cpp.o"
echo "FAILED: b.cpp.o"
echo "c++ -the -long -command"
for ((i = 0; i < 500; i++)); do echo "b.cpp:$i: error: no"; done
exit 1""")
        _, err = self.call("ladder", status=1)
        shown = err[err.index("FAILED"):].splitlines()
        self.assertEqual(shown[1], "b.cpp:0: error: no")
        self.assertLessEqual(len(shown), 41)
        self.assertRegex(shown[-1], "the build failed; the whole log: .*/build/simt/tenfold-build.log$")
        self.assertIn("b.cpp:499", (self.root / "build/simt/tenfold-build.log").read_text())

    # --- bad luck

    def test_a_full_disk_is_named(self):
        full = "echo 'cannot write x.o: No space left on device'; exit 1"
        for tool in "cmake", "ninja":
            self.tool(tool, full)
            self.assertIn("the disk is full", self.call("ladder", status=1)[1])
            self.tool(tool)
        self.calls()
        self.assert_works()
        self.assertFalse([line for line in self.calls() if line.startswith("cmake")])

    def test_a_broken_clone_is_named(self):
        for file in "CMakeLists.txt", "CMakePresets.json":
            (self.root / file).rename(self.root / "away")
            _, err = self.call("ladder", status=2)
            self.assertRegex(err, f"^tenfold: this copy of tenfold is not whole, .*/{file} is missing.*\n$")
            (self.root / "away").rename(self.root / file)

    def test_can_be_interrupted(self):
        for tool in "cmake", "ninja":
            for send, number in (os.killpg, signal.SIGINT), (os.kill, signal.SIGINT), (os.kill, signal.SIGTERM):
                with self.subTest(tool=tool, send=send.__name__, number=number):
                    self.tool(tool, f"""
echo "[1/9] a"
exec {sys.executable} -c '{SLEEPER}' "$FAKE/started" """)
                    process = self.start("ladder")
                    pid = int(self.wait_for("started"))
                    send(process.pid, number)
                    _, err = process.communicate()
                    self.assertEqual(process.returncode, -number)
                    self.assertIn("interrupted", err)
                    self.assertNotIn("failed", err)
                    self.assertRaises(ProcessLookupError, os.kill, pid, 0)
                    (self.fake / "started").unlink()
            self.tool(tool)
        self.assert_works()
        self.assert_works(err="")

    def test_can_be_killed(self):
        self.tool("ninja", 'echo yes >"$FAKE/started"; while echo "[1/9] a"; do sleep 0.05; done')
        process = self.start("ladder")
        self.wait_for("started")
        process.kill()
        process.communicate()
        self.tool("ninja")
        self.assert_works()

    def test_one_at_a_time(self):
        self.tool("ninja", """
rm "$FAKE/ninja.sh"
echo yes >"$FAKE/started"
until [[ -e $FAKE/go ]]; do sleep 0.05; done
exec "$0" "$@" """)
        first = self.start("ladder")
        self.wait_for("started")
        second = self.start("list")
        self.assertEqual(second.stderr.readline(),
                         "tenfold: another tenfold is building (simt); waiting for it to finish ...\n")
        (self.fake / "go").touch()
        self.assertEqual(second.communicate(), ("program list refresh=1\n", ""))
        first.communicate()
        self.assertEqual((first.returncode, second.returncode), (0, 0))

    def test_serves_another_user(self):
        before = []
        if os.geteuid() == 0:
            before = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
            if subprocess.run([*before, "true"], check=False, stderr=subprocess.DEVNULL).returncode:
                self.skipTest("cannot become another user")
        for built in False, True:
            if built:
                self.assert_works()
            subprocess.run(["chmod", "-R", "a-w", self.root], check=True)
            self.addCleanup(subprocess.run, ["chmod", "-R", "u+w", self.root], check=True)
            self.calls()
            if built:
                self.assertEqual(self.call("ladder", before=before), ("program ladder refresh=\n", ""))
            else:
                self.assertIn("you cannot write to", self.call("ladder", status=2, before=before)[1])
            self.assertEqual(self.calls(), [])
            subprocess.run(["chmod", "-R", "u+w", self.root], check=True)

    # --- packages

    def needs_apt(self):
        system = pathlib.Path("/etc/os-release")
        if not system.exists() or not re.search(r"^ID(_LIKE)?=.*(debian|ubuntu)", system.read_text(), re.M):
            self.skipTest("neither Debian nor a relative")
        del self.environment["TENFOLD_SKIP_SETUP"]
        self.tool("cmake", f'if [[ $1 == --version ]]; then echo "cmake version 3.25.1"; else {TOOLS["cmake"]} fi')

    def installs(self):
        return [line for line in self.calls() if line.startswith("apt-get") and " install " in line]

    def test_asks_before_it_installs(self):
        self.needs_apt()
        status, shown = self.call_on_terminal("ladder", answer=b"n\n")
        self.assertEqual(status, 2)
        self.assertIn("Install them now", shown)
        self.assertIn("nothing installed; to do it by hand", shown)
        self.assertEqual(self.installs(), [])
        self.assertEqual(self.call_on_terminal("ladder", answer=b"y\n")[0], 0)
        self.assertEqual(len(self.installs()), 1)
        self.assert_works(err="")

    def test_without_a_terminal_root_installs(self):
        self.needs_apt()
        if os.geteuid() == 0:
            _, err = self.call("ladder")
            self.assertIn("missing packages", err)
            self.assertIn("installing them", err)
        else:
            self.assertIn("pass --yes, or run: sudo apt-get", self.call("ladder", status=2)[1])
            self.assertEqual(self.installs(), [])
            self.call("--yes", "ladder")
        self.assertEqual(len(self.installs()), 1)
        self.assert_works(err="")

    def test_can_be_interrupted_while_it_installs(self):
        self.needs_apt()
        self.tool("apt-get", f"""
[[ " $* " == *" install "* ]] || exit 0
exec {sys.executable} -c '{SLEEPER}' "$FAKE/started" """)
        process = self.start("--yes", "ladder")
        pid = int(self.wait_for("started"))
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate()
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertIn("interrupted", err)
        self.assertRaises(ProcessLookupError, os.kill, pid, 0)
        self.tool("apt-get")
        self.assertEqual(self.call("--yes", "ladder")[0], "program ladder refresh=1\n")
        self.assert_works(err="")

    def test_two_at_once_install_once(self):
        self.needs_apt()
        self.tool("apt-get", """
[[ " $* " == *" install "* ]] || exit 0
rm "$FAKE/apt-get.sh"
echo yes >"$FAKE/started"
until [[ -e $FAKE/go ]]; do sleep 0.05; done
exec "$0" "$@" """)
        first = self.start("--yes", "ladder")
        self.wait_for("started")
        second = self.start("--yes", "list")
        self.assertIn("another tenfold is", second.stderr.readline())
        (self.fake / "go").touch()
        self.assertEqual(second.communicate()[0], "program list refresh=1\n")
        first.communicate()
        self.assertEqual((first.returncode, second.returncode), (0, 0))
        self.assertTrue((self.fake / "installed").exists())

    def test_says_why_it_could_not_install(self):
        self.needs_apt()
        self.tool("apt-get", 'echo "E: Unable to fetch"; exit 100')
        _, err = self.call("--yes", "ladder", status=2)
        self.assertIn("E: Unable to fetch", err)
        self.assertIn("by hand:", err)


if __name__ == "__main__":
    unittest.main()
