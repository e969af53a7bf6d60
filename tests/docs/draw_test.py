"""What docs/draw shows of a trace, and that it sees when a drawing is not what is traced."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = os.environ.get("TENFOLD_PROGRAM", ROOT / "build/simt/tenfold")


def draw(*arguments):
    command = [sys.executable, "-B", ROOT / "docs/draw", "--program", PROGRAM, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


class WithFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class Drawing(WithFolder):
    def image_of(self, kernel, *arguments):
        file = self.folder / "drawing.svg"
        done = draw("--output", file, kernel, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        xml.etree.ElementTree.parse(file)
        return file.read_text(encoding="utf-8")

    def test_shows_where_lanes_take_turns(self):
        self.assertIn(">2 turns<", self.image_of("2"))
        self.assertNotIn("turns<", self.image_of("3"))

    def test_says_what_each_row_does_and_not_where(self):
        image = self.image_of("1")
        self.assertEqual([image.count(f">{deed}<") for deed in ("load", "fold", "store")],
                         [1, 4, 1])
        self.assertIn(">shuffle<", self.image_of("7"))
        self.assertIn(">load, store<", self.image_of("plain_ticket"))
        self.assertNotIn("line 2", image.lower())

    def test_numbers_banks_once_where_cells_share_them(self):
        image = self.image_of("2")
        self.assertEqual(image.count(">bank<"), 1)
        for bank in range(8):
            self.assertEqual(image.count(f' font-size="10" text-anchor="middle">{bank}<'), 2)
        self.assertNotIn(">bank<", self.image_of("8"))

    def test_marks_what_takes_turns_by_its_lines(self):
        turns = self.image_of("2").count('class="turn"')
        self.assertEqual(turns, 3 * (8 + 4 + 2) + 1)  # two reads and a write, one in the legend

    def test_shows_barriers_by_their_kind(self):
        self.assertEqual(self.image_of("4").count('class="rule"'), 5 + 1)  # one in the legend
        last_warp = self.image_of("5")
        self.assertEqual(last_warp.count('class="rule"'), 2 + 1)
        self.assertEqual(last_warp.count('class="dashed"'), 3 + 1)

    def test_shows_shuffles_as_arrows(self):
        arrow = "url(#head)"
        self.assertEqual(self.image_of("7").count(arrow), 4 + 2 + 1)
        self.assertNotIn(arrow, self.image_of("6"))

    def test_ends_with_all_elements(self):
        for stage, n in (("1", 16), ("8", 32), ("9", 64)):
            self.assertIn(f">{n}<", self.image_of(stage))

    def test_says_that_a_launch_follows(self):
        self.assertIn("Then launch 2: 1 block folds the 4 partials.",
                      self.image_of("10", "--n", "256"))

    def test_draws_a_kernel_of_ones_own_and_pitfalls(self):
        self.assertIn(">one_too_many<", self.image_of("one_too_many"))
        self.assertIn(">my_kernel<", self.image_of(ROOT / "examples/my_kernel.hpp"))

    def test_tells_what_is_no_sum_of_elements(self):
        self.assertIn(">no sum of elements<", self.image_of("one_too_many"))
        self.assertNotIn(">no sum of elements<", self.image_of("8"))

    def test_says_why_there_is_nothing_to_draw(self):
        for arguments, reason in ((["12"], "stage 12"), (["99"], "99"), (["3", "nobody"], "nobody"),
                                  (["--output", self.folder / "none.svg", "nobody"], "nobody")):
            done = draw(*arguments)
            self.assertEqual(done.returncode, 1)
            self.assertIn(reason, done.stderr)
            self.assertNotIn("Traceback", done.stderr)

    def test_takes_what_belongs_to_one_drawing_with_output_alone(self):
        for arguments in (["--n", "64", "3"], ["--traced-block", "1"], ["--output", "none.svg", "3", "4"]):
            done = draw(*arguments)
            self.assertEqual(done.returncode, 2)
            self.assertIn("--output", done.stderr.splitlines()[-1])


class Check(WithFolder):
    def check(self):
        return draw("--check", "--images", self.folder)

    def test_names_what_differs(self):
        self.assertEqual(draw("--images", self.folder).returncode, 0)
        self.assertEqual(self.check().returncode, 0)
        changed = self.folder / "03_no_bank_conflicts.svg"
        image = changed.read_text(encoding="utf-8")
        changed.write_text(image.replace(">8<", ">9<"), encoding="utf-8")
        (self.folder / "07_warp_shuffle.svg").unlink()
        (self.folder / "99_gone.svg").touch()
        done = self.check()
        self.assertEqual(done.returncode, 1)
        for part in ("03_no_bank_conflicts.svg is not", "07_warp_shuffle.svg is missing",
                     "99_gone.svg is of"):
            self.assertIn(part, done.stderr)
        self.assertNotIn("04_", done.stderr)


if __name__ == "__main__":
    unittest.main()
