"""That docs/weave writes what it is asked for, and no page whose marks are not in pairs."""

import importlib
import itertools
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "docs"), str(ROOT)]
# The modules, not the functions of their names.
matrices, recordings, scaling, versions = (importlib.import_module(f"blocks.{name}")
                                           for name in ("matrices", "recordings", "scaling", "versions"))

STALE = """# A page

<!-- weave: idea(3) -->
of old
<!-- /weave -->

There are <!--= number(1000 + 24) -->7<!--/--> of them.
"""


class Weave(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.page = pathlib.Path(folder.name) / "page.md"

    def weave(self, text, *arguments):
        """What it says, and what then stands in the page."""
        self.page.write_text(text, encoding="utf-8")
        command = [sys.executable, "-B", ROOT / "docs/weave", "--program", "none", *arguments, self.page]
        self.done = subprocess.run(command, capture_output=True, text=True, check=False)
        return self.page.read_text(encoding="utf-8")

    def assert_refused(self, text, *reasons):
        self.assertEqual(self.weave(text), text)
        self.assertEqual(self.done.returncode, 1)
        for reason in reasons:
            self.assertIn(reason, self.done.stderr)
        self.assertNotIn("Traceback", self.done.stderr)

    def test_rewrites_a_stale_page(self):
        woven = self.weave(STALE)
        self.assertEqual(self.done.returncode, 0, self.done.stderr)
        self.assertIn("<!--= number(1000 + 24) -->1 024<!--/-->", woven)
        self.assertNotIn("of old", woven)
        self.assertEqual(self.weave(woven, "--check"), woven)
        self.assertEqual(self.done.returncode, 0, self.done.stderr)

    def test_tells_of_a_stale_page_and_leaves_it(self):
        self.assertEqual(self.weave(STALE, "--check"), STALE)
        self.assertEqual(self.done.returncode, 1)
        self.assertIn("-of old", self.done.stdout)
        self.assertIn("run docs/weave", self.done.stderr)

    def test_keeps_what_needs_a_program(self):
        text = 'before\n\n  <!-- weave: console("list") -->\n  kept\n  <!-- /weave -->\n'
        self.assertEqual(self.weave(text, "--check"), text)
        self.assertEqual(self.done.returncode, 0, self.done.stderr)
        self.assertIn("1 left alone", self.done.stdout)

    def test_names_what_cannot_be_had(self):
        self.assert_refused("# Page\n\n<!-- weave: idea(99) -->\n<!-- /weave -->\n", "page.md:3: idea(99)")

    def test_keeps_the_prose_after_a_block_without_its_end(self):
        block = "<!-- weave: idea(3) -->\nold\n"
        self.assert_refused(f"{block}\nprose\n\n{block}<!-- /weave -->\n", "page.md:1: a block without its end")
        self.assert_refused(f"<!-- weave: idea(3) -->\n```cpp\nold\n<!-- /weave -->\n\nprose\n\n"
                            f"<!-- weave: idea(3) -->\n\nprose\n\n<!-- weave: idea(4) -->\n```\nold\n```\n"
                            "<!-- /weave -->\n", "page.md:8: a block without its end")

    def test_refuses_other_marks(self):
        for mark in ("<!-- wave: idea(3) -->", "<!-- = number(3) -->7<!--/-->", "one <!-- weave: idea(3) -->",
                     "<!-- weave: idea(3) --> one\n<!-- /weave -->", "<!-- a remark -->", "<!-- open"):
            with self.subTest(mark):
                self.assert_refused(f"# Page\n\n{mark}\n", "page.md:3: neither opens nor closes")

    def test_refuses_ends_without_a_begin(self):
        self.assert_refused("a <!--= number(7) -->7<!--/--><!--/-->\n", "page.md:1: a figure ends")
        self.assert_refused("one\n<!-- /weave -->\n", "page.md:2: a block ends")
        self.assert_refused("a <!--= number(7) -->7\n\n<!-- weave: idea(3) -->\n<!-- /weave -->\n",
                            "page.md:1: a figure without its end")

    def test_refuses_two_dashes_in_a_mark(self):
        self.assert_refused('a <!--= len("--block 64") -->10<!--/-->\n', "page.md:1: a figure's mark has \"--\"")
        self.assert_refused('<!-- weave: len("--block 64") -->\n10\n<!-- /weave -->\n',
                            "page.md:1: a block's mark has \"--\"")
        woven = self.weave('a <!--= "—block 64"[:7] -->old<!--/-->\n')
        self.assertEqual(self.done.returncode, 0, self.done.stderr)
        self.assertIn("-->--block<!--/-->", woven)

    def test_tells_that_a_recording_is_of_changed_sources(self):
        document = {"benchmarks": [], "command": "tenfold run", "date": "2026-11-22", "commit": "ff23 with changes"}
        with unittest.mock.patch.object(recordings, "results", lambda file: document):
            self.assertIn("ff23 with changes", recordings._line("h200-some.json"))

    def test_passes_over_code(self):
        text = "```markdown\n<!-- weave: idea(3) -->\n<!-- remark -->\n```\n"
        self.assertEqual(self.weave(text, "--check"), text)
        self.assertEqual(self.done.returncode, 0, self.done.stderr)


    def test_holds_the_same_sums_against_the_duel(self):
        def row(program, time, mode="in-graph", **spread):
            return {"program": program, "n": 1 << 20, "stage": 10, "block": 256, "items": 4, "grid": 8,
                    "mode": mode, "real_time": time, **spread}
        document = {"benchmarks": [
            row("tenfold run", 2.0, p5=1.9, p95=2.1), row("tenfold_duel", 2.2, p5=2.1, p95=2.3),
            row("tenfold ladder", 2.0, p5=1.9, p95=2.09), row("bench/tune", 2.2),
            row("tenfold_duel", 1.0, "after-producer", p5=1.0, p95=1.0), row("bench/tune", 2.4, "after-producer")]}
        with unittest.mock.patch.object(recordings, "results", lambda file: document):
            words, _, _, _, *shown = recordings.agreement().splitlines()
            self.assertIn("2 of 4 overlap", words)
            cells = [[cell.strip() for cell in line.strip("| ").split("|")][3:] for line in shown]
            self.assertEqual(cells, [["2.2 (2.1 to 2.3)", "2", "**2**", "", "", "2.2"],
                                     ["1 (1 to 1)", "", "", "", "", "**2.4**"]])

    def test_holds_sums_of_matrices_against_what_memory_allows(self):
        def row(columns, n, who, rate, mode="in-graph", **more):
            return {"columns": columns, "n": n, "mode": mode, "ok": True, "contestant": f"peer:matrix:{who}",
                    "bytes_per_second": rate, **more}
        against = {"ratio": 1.5, "ratio_low": 1.4, "ratio_high": 1.6}
        document = {"context": {"device_name": "A GPU"}, "benchmarks": [
            row(1024, 1 << 20, "sums", 9e11, **against), row(1024, 1 << 20, "cub", 6e11, peer_version="3.6.0"),
            row(1024, 1 << 20, "read:1", 8e11), row(1024, 1 << 20, "read:4:streaming", 1e12),
            row(1024, 1 << 18, "sums", 1e11), row(1024, 1 << 18, "read:1", 4e12),
            row(3, (1 << 20) - 1, "sums", 7e11), row(3, (1 << 20) - 1, "read:1", 1e12),
            row(3, (1 << 20) - 1, "read:2", 9e12, ok=False), row(7, 7, "read:1", 1e12),
            row(1024, 1 << 20, "sums", 5e11, axis="columns"), row(1024, 1 << 20, "read:1", 1e12, axis="columns"),
            row(1024, 1 << 20, "sums", 2e11, "back-to-back"), row(1024, 1 << 20, "read:1", 1e12, "back-to-back")]}
        with unittest.mock.patch.object(matrices, "results", lambda file: document):
            def cells(*asked):
                head, _, *lines = matrices.matrix_sums(*asked).splitlines()
                self.assertIn(f"sums of {asked[0]}, up to 2^20 f32, A GPU", head)
                self.assertEqual("CUB 3.6.0, of it" in head, asked == ("rows", "in-graph"))
                return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
            self.assertEqual(cells("rows", "in-graph"), [
                ["3", "1 000", "70.0%", "", ""], ["2^10", "1 000", "90.0%", "60.0%", "1.500 (1.400..1.600)"]])
            self.assertEqual(cells("columns", "in-graph"), [["2^10", "1 000", "50.0%"]])
            self.assertEqual(cells("rows", "back-to-back"), [["2^10", "1 000", "20.0%"]])
            self.assertEqual(matrices.matrix_share(1024, mode="in-graph", contestant=matrices.CUB), 0.6)
            with self.assertRaisesRegex(matrices.Failure, "no sums of columns were measured, back-to-back"):
                matrices.matrix_sums("columns", "back-to-back")

    def test_shows_small_matrices_transforms_and_segments(self):
        def row(who, n=1 << 20, **more):
            return {"contestant": f"peer:{who}", "ok": True, "mode": "in-graph", "n": n, "real_time": 2.5, "ratio": 1.5,
                    "ratio_low": 1.4, "ratio_high": 1.6, "axis": "rows", "columns": 4, "against": matrices.CUB,
                    "bytes_per_second": 1e12, **more}
        document = {"context": {"device_name": "A GPU"}, "benchmarks": [
            row("matrix:sums"), row("matrix:sums", 1 << 10, against="peer:matrix:sums"),
            row("matrix:cub", peer_version="3.6.0"),
            row("matrix:sums", axis="columns"), row("transform:dot"), row("transform:arg-max", ok=False),
            row("matrix:sums", axis="segments"), row("matrix:read:1", axis="segments", bytes_per_second=2e12)]}
        def cells(shown):
            return [[cell.strip() for cell in line.strip("|").split("|")] for line in shown.splitlines()[2:]]
        self.assertEqual(cells(matrices.small_table(document, "in-graph")), [
            ["2^20", "4", "2.5", "1.500 (1.400..1.600)"], ["2^10", "4", "2.5", ""]])
        self.assertEqual(cells(matrices.transform_table(document, "in-graph")), [
            ["2^20", "dot product of two halves", "2.5", "1.500 (1.400..1.600)"]])
        with unittest.mock.patch.object(matrices, "results", lambda file: document):
            shown = matrices.matrix_sums("segments", "in-graph", matrices.SEGMENTS)
            self.assertIn("elements of a segment on average", shown)
            self.assertEqual(cells(shown), [["4", "2 000", "50.0%"]])

    def test_holds_gpus_that_share_against_one(self):
        def row(ranks, n, time, ok=True):
            return {"contestant": "nccl", "ranks": ranks, "n": n, "real_time": time, "ok": ok, "bytes_per_second": 5e12}
        rows = [row(1, 1 << 20, 10.0), row(1, 1 << 21, 16.0), row(2, 1 << 20, 8.0), row(2, 1 << 21, 12.5), row(3, 5, 9.0),
                row(2, 1 << 22, 1.0, ok=False)]
        _, _, *lines = scaling.scaling_table({"context": {"device": "a GPU"}, "benchmarks": rows}).splitlines()
        self.assertEqual([[cell.strip() for cell in line.strip("|").split("|")] for line in lines], [
            ["1", "2^20", "", "10", "", ""], ["1", "2^21", "", "16", "", ""], ["2", "2^20", "", "8 (1.25)", "", ""],
            ["2", "2^21", "", "12.5 (1.28)", "", ""], ["3", "5", "", "9", "", ""]])
        with unittest.mock.patch.object(scaling, "results", lambda file: {"benchmarks": rows}):
            self.assertEqual(scaling.shared_time("nccl", 2, 1 << 21), 12.5)
            self.assertEqual(scaling.bandwidth_kept("nccl", 2, 1 << 21), 0.8)

    def test_finds_techniques_in_code_alone(self):
        self.assertEqual(versions.techniques("// shuffle_down<32>, __launch_bounds__(BlockSize)\n"), set())
        stages = {int(file.name[:2]): versions.techniques(file.read_text(encoding="utf-8"))
                  for file in (ROOT / "kernels").glob("[0-9]*.hpp")}
        first = {name: min((stage for stage in stages if name in stages[stage]), default=None)
                 for name in versions.TECHNIQUES}
        self.assertEqual(first, {"warps without block barriers": 5, "constant block size": 6, "shuffles": 7,
                                 "vector loads": 9, "grid-stride loop": 10, "atomics": None})
        for file in (ROOT / "kernels/detours").glob("*.hpp"):
            with self.subTest(detour=file.stem):
                text = file.read_text(encoding="utf-8")
                self.assertEqual("atomics" in versions.techniques(text), "adds_to_result = true" in text)


class Rendered(unittest.TestCase):
    """cmark-gfm has GitHub's rules."""

    def test_shows_no_mark(self):
        renderers = [name for name in ("cmark", "cmark-gfm") if shutil.which(name)]
        if not renderers:
            self.skipTest("there is neither cmark nor cmark-gfm")
        pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
        for renderer, page in itertools.product(renderers, pages):
            with self.subTest(renderer=renderer, page=page.name):
                self.assertNotIn("&lt;!--", shown(renderer, page.read_text(encoding="utf-8")))

    def test_would_find_a_mark_that_shows(self):
        if not shutil.which("cmark"):
            self.skipTest("there is no cmark")
        self.assertIn("&lt;!--", shown("cmark", 'a <!--= len("--block 64") -->10<!--/-->\n'))


def shown(renderer, text):
    """What a reader sees of a page, code aside."""
    done = subprocess.run([renderer], input=text, capture_output=True, text=True, check=True)
    return re.sub(r"<code.*?</code>", "", done.stdout, flags=re.DOTALL)


if __name__ == "__main__":
    unittest.main()
