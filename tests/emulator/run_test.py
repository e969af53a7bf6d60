"""What tests/emulator/run says where it cannot run: it needs no emulator."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

RUN = pathlib.Path(__file__).resolve().parent / "run"


class WithoutAnEmulator(unittest.TestCase):
    def call(self, *arguments, **environment):
        known = {name: value for name, value in os.environ.items() if not name.startswith("TENFOLD")}
        done = subprocess.run([sys.executable, "-B", RUN, *arguments], env=known | environment, capture_output=True,
                              text=True)
        return done.returncode, done.stdout, done.stderr

    def test_is_skipped_and_says_what_to_do(self):
        status, out, err = self.call("--architecture", "gfx942")
        self.assertEqual((status, err), (77, ""))
        self.assertRegex(out, "^tests/emulator/run: skipped: TENFOLD_AMD_EMULATOR is not set: let it name .*\n$")

    def test_is_skipped_in_a_folder_that_is_none(self):
        with tempfile.TemporaryDirectory() as folder:
            status, out, _ = self.call("--architecture", "gfx942", TENFOLD_AMD_EMULATOR=folder)
        self.assertEqual(status, 77)
        self.assertIn(f"names '{folder}', which is no checkout of tinygrad", out)

    def test_wants_to_know_for_which_gpu(self):
        status, _, err = self.call()
        self.assertEqual(status, 2)
        self.assertIn("name a FILE or an --architecture", err)

    def test_wants_a_folder_of_libraries_that_is_there(self):
        status, _, err = self.call("--architecture", "gfx942", "--libraries", "nowhere")
        self.assertEqual(status, 2)
        self.assertIn("there is no folder 'nowhere'", err)

    def test_has_help(self):
        status, out, _ = self.call("--help")
        self.assertEqual(status, 0)
        self.assertIn("--kernel", out)


if __name__ == "__main__":
    unittest.main()
