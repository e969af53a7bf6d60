"""Whether pages that play traces show what the program says, in a browser: player_test.py [CLASS...]

The program is $TENFOLD_PROGRAM.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import axe
import chromium
import firefox

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs/site"))
import program_pages  # noqa: E402

SCRIPTS = ROOT / "host/cli"
TSC = shutil.which("tsc", path=f"{ROOT / 'tests/docs/node_modules/.bin'}{os.pathsep}{os.environ['PATH']}")
PROGRAM = os.environ.get("TENFOLD_PROGRAM", str(ROOT / "build/simt/tenfold"))
STAGES = range(1, 11)
LADDER = [name for name in (path.stem.split("_", 1)[1] for path in (ROOT / "kernels").rglob("[0-9]*.hpp"))
          if name not in ("bulk_copy", "narrow_elements")]  # which have no small block, or none of f32
PITFALLS = [path.stem for path in (ROOT / "kernels/pitfalls").glob("*.hpp")]
MOST_BYTES = 500_000
PHONE = chromium.PHONE


def tenfold(*arguments, codes=(0,)):
    run = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)
    if run.returncode not in codes:
        raise RuntimeError(f"tenfold {arguments} gave {run.returncode}: {run.stderr}")
    return run.stdout


class TypeTest(unittest.TestCase):
    @unittest.skipUnless(TSC, "there is no TypeScript: npm install --prefix tests/docs")
    def test_the_types_of_the_scripts_hold(self):
        for script in ("observing/player.js", "inspecting/compare.js"):
            run = subprocess.run([TSC, "--noEmit", "--allowJs", "--checkJs", "--target", "es2020", "--lib", "es2020,dom,dom.iterable",
                                  SCRIPTS / "page/page.js", SCRIPTS / script], capture_output=True, text=True)
            self.assertEqual((0, ""), (run.returncode, run.stdout))


class WeightTest(unittest.TestCase):
    def test_every_page_of_a_small_block_is_light(self):
        self.assertEqual(16, len(LADDER))
        self.assertLess(20, len(PITFALLS))
        with tempfile.TemporaryDirectory() as folder:
            of_site, traced = pathlib.Path(folder, "site"), pathlib.Path(folder, "traced")
            of_site.mkdir()
            traced.mkdir()
            program_pages.write_players(PROGRAM, of_site)
            for name in LADDER + PITFALLS:
                tenfold("trace", name, "--html", traced / f"{name}.html")
            weights = {page.relative_to(folder): page.stat().st_size for page in pathlib.Path(folder).rglob("*.html")}
        self.assertEqual(len(STAGES) + len(LADDER) + 2 * len(PITFALLS), len(weights))
        print("the heaviest page has {1} bytes: {0}".format(*max(weights.items(), key=lambda each: each[1])))
        self.assertEqual({}, {page: weight for page, weight in weights.items() if weight >= MOST_BYTES})


def what_a_page_shows(launch, number, context):
    """Of a step, from the trace alone."""
    step = launch["steps"][number]
    array = next((each for each in launch["arrays"] if each["name"] == step.get("array")), None)
    width = max(1, step["bytes"] // array["element_bytes"]) if array else 0
    touched = [lane["index"] + each for lane in step["lanes"] for each in range(width)] if array else []
    is_shared = array is not None and array["space"] == "shared"
    bank = {index: index * array["element_bytes"] // 4 % context["banks"] for index in touched} if is_shared else {}
    words = {}
    for index, at in bank.items():
        words.setdefault(at, set()).add(index)
    name = (lambda index: f"{array['name']}[{index}]")
    first = context["warp"] * step["warp"]
    taking = {lane["lane"] for lane in step["lanes"]}
    arrived = {each["warp"] for each in launch["steps"][:number + 1]
               if each["action"] == "block_barrier" and each["epoch"] == step["epoch"]}
    return {"lines": [step["line"]] if step["line"] else [],
            "threads": [lane["thread"] for lane in step["lanes"]],
            "cells": sorted(map(name, set(touched))),
            "shared": sorted(name(index) for index in bank if touched.count(index) > 1 and len(words[bank[index]]) == 1),
            "banks": [[name(index), bank[index] + 1] for index in sorted(bank)] if is_shared and array["elements"] > 1 else [],
            "sectors": 0 if is_shared else step.get("sectors", 0), "moves": len(touched),
            "shuffles": [[first + lane["source"], lane["thread"]] for lane in step["lanes"] if lane.get("source", lane["lane"]) != lane["lane"]
                         and lane["source"] in taking],
            "barrier": [len(arrived)] if step["action"] == "block_barrier" else []}


class PagesTest(unittest.TestCase):
    """What tests of either browser begin with."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.printed = {stage: tenfold("trace", stage, "--warp", "8,32,64", "--html", cls.folder / f"{stage}.html")
                       for stage in STAGES}

    def results(self, stage):
        """Of each view: its warp, how many steps it has, and what comes out."""
        results = re.findall(r"warps of (\d+), (\d+) steps, the sum of \d+ f32 is (\S+)$", self.printed[stage], re.MULTILINE)
        self.assertEqual(["8", "32", "64"], [warp for warp, _, _ in results])
        return results


@unittest.skipUnless(firefox.find(), "there is no Firefox")
class FirefoxTest(PagesTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.browser = firefox.Browser(firefox.find())
        cls.addClassCleanup(cls.browser.close)

    def test_every_stage_plays_to_its_result_in_firefox_as_well(self):
        for stage in STAGES:
            self.browser.open((self.folder / f"{stage}.html").as_uri() + "#step=3", PHONE[0])
            self.assertEqual(3, self.browser.value_of("player.at"))
            for view, (_, steps, result) in enumerate(self.results(stage)):
                self.browser.value_of(f"player.open({view}), player.speed.replaceChildren(new Option('', 2000)), player.play()")
                self.browser.wait_for("!player.isPlaying()")
                caption = self.browser.value_of("document.querySelector('.caption').innerText")
                self.assertTrue(caption.startswith(f"Step {steps} of {steps}. ") and caption.endswith(f" is {result}."), caption)
                self.assertLessEqual(self.browser.value_of("document.documentElement.scrollWidth"), PHONE[0])


@unittest.skipUnless(chromium.find(), "there is no Chromium")
class PlayerTest(chromium.QuietPages, PagesTest):
    def open(self, name, address=""):
        self.browser.open("about:blank")
        self.browser.open(f"{(self.folder / f'{name}.html').as_uri()}{address}")

    def make(self, name, *arguments, codes=(0,)):
        return tenfold(*arguments, "--html", self.folder / f"{name}.html", codes=codes)

    def caption(self):
        return self.value_of("document.querySelector('.caption').innerText")

    def press(self, key, code=0, **more):
        text = key if len(key) == 1 else ""
        for kind in ("keyDown", "keyUp"):
            self.browser.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, text=text, **more)

    # What a page shows.

    def test_every_stage_plays_to_the_result_that_the_program_prints(self):
        for stage in STAGES:
            for view, (warp, steps, result) in enumerate(self.results(stage), 1):
                with self.subTest(stage=stage, warp=warp):
                    self.open(stage, f"#view={view}")
                    if view == 1:
                        self.value_of("player.speed.replaceChildren(new Option('', 2000)), player.play()")
                        self.browser.wait_for("!player.isPlaying()")
                    else:
                        self.press("End", 35)
                    self.assertTrue(self.caption().startswith(f"Step {steps} of {steps}. "), self.caption())
                    self.assertTrue(self.caption().endswith(f"f32 is {result}."), self.caption())
                    shown = self.value_of("[...document.querySelectorAll('.memory')].pop().querySelector('.cell').title")
                    self.assertAlmostEqual(float(result), float(re.match(r"out\[0\]: (\S+)", shown)[1]), 5)

    def test_a_step_shows_who_does_what_where(self):
        """Of each step: its line, its lanes, the elements that they touch and in which bank those are, and the arrows."""
        shown = """player.times.slice(1).map((_, i) => {
            player.go(i + 1);
            const panel = player.panels[0], all = selector => [...document.querySelectorAll(selector)], label = cell => cell.label;
            const base = panel.inner.getBoundingClientRect(), centres = panel.lanes.map(cell => cell.getBoundingClientRect())
                .map(({left, width, top}) => [left - base.left + width / 2, top - base.top]);
            const laneAt = (x, y) => centres.findIndex(([a, b]) => Math.abs(a - x) + Math.abs(b - y) < 0.1);
            return {lines: panel.lines.flatMap(({line}, at) => line.matches('.now') ? [at + 1] : []),
                    threads: panel.lanes.flatMap((cell, at) => cell.matches('.idle') ? [] : [at]),
                    cells: all('.memory .active, .memory .broadcast, .memory .conflict').map(label).sort(),
                    shared: all('.memory .broadcast').map(label).sort(),
                    banks: all('.memory .cell').filter(cell => cell.style.gridColumn && cell.matches('.active, .broadcast, .conflict'))
                        .map(cell => [cell.label, Number.parseInt(cell.style.gridColumn)]),
                    sectors: all('.sector.moved').length, moves: all('.moves:not(.shuffle)').length,
                    shuffles: all('.moves.shuffle').map(path => path.getAttribute('d').match(/-?[\\d.]+/g).map(Number))
                        .map(d => [laneAt(...d.slice(0, 2)), laneAt(...d.slice(-2))]),
                    barrier: (player.caption.innerText.match(/as (\\d+) of/) || []).slice(1).map(Number)};
        })"""
        self.make(11, "trace", 11)  # in which lanes read one element together
        for stage, view, warp in ((2, 0, 8), (2, 1, 32), (7, 0, 8), (7, 2, 64), (8, 0, 8), (10, 0, 8), (11, 0, 8)):
            trace = json.loads(tenfold("trace", stage, "--warp", warp))
            self.open(stage)
            steps = self.value_of(f"player.open({view}), {shown}")
            expected = [what_a_page_shows(launch, number, trace["context"])
                        for launch in trace["launches"] for number in range(len(launch["steps"]))]
            self.assertEqual(len(expected), len(steps))
            for number, (one, other) in enumerate(zip(expected, steps), 1):
                self.assertEqual(one, other, f"stage {stage}, warps of {warp}, step {number}")

    def test_an_address_leads_to_a_step(self):
        self.open(3, "#step=17")
        self.assertTrue(self.caption().startswith("Step 17 of 28. "), self.caption())
        self.value_of("location.hash = '#view=2&step=3'")
        self.browser.wait_for("player.at === 3 && player.view === 1")
        self.open(3, "#view=9&step=x")
        self.assertTrue(self.caption().startswith("Step 0 of "), self.caption())

    def test_a_step_is_the_same_from_either_side(self):
        looks = "[...document.querySelectorAll('.inner button, .inner .warp, .line')].map(e => e.outerHTML).join()"
        self.open(8)
        forward = self.value_of(f"player.times.map((_, i) => (player.go(i), {looks}))")
        self.assertEqual(len(forward), len(set(forward)))
        back = self.value_of(f"player.times.map((_, i) => (player.go(player.times.length - 1 - i), {looks}))")
        self.assertEqual(forward, back[::-1])

    def test_turns_are_the_executors(self):
        """The page finds out by itself who meets in a bank; the executor counts."""
        for stage in STAGES:
            self.open(stage)
            for view in range(2):  # of warps of 64 two halves take turns
                wrong = self.value_of(f"""player.open({view}), player.panels[0].trace.steps.filter(step => {{
                    const trace = player.panels[0].trace, array = trace.arrayOf(step);
                    return array && array.space === 'shared'
                        && Math.max(...[...trace.touched(step).values()].map(one => one.turn)) !== step.turns; }}).length""")
                self.assertEqual(0, wrong, (stage, view))
        conflicts = [number for number, step in enumerate(json.loads(tenfold("trace", 2))["launches"][0]["steps"], 1)
                     if step.get("wavefronts", 1) > 1]
        self.assertLess(5, len(conflicts))
        self.open(2)
        self.assertEqual(conflicts, self.value_of("player.marks.conflict"))

    def test_every_element_comes_to_the_result_and_nothing_else(self):
        for stage in STAGES:
            self.open(stage)
            for view in range(3):
                found = self.value_of(f"""(() => {{
                    player.open({view});
                    const {{trace}} = player.panels[0], from = trace.origins(trace.result).map(id => trace.values[id].place);
                    return [trace.context.n, from.length, from.filter(place => place.startsWith('in[')).length]; }})()""")
                self.assertEqual([found[0]] * 3, found, (stage, view))

    def test_a_click_shows_the_way_of_an_element(self):
        self.open(3, "#step=1")
        self.value_of("document.querySelectorAll('.memory .cell')[3].click()")
        way = self.value_of("document.querySelector('.follow').innerText")
        self.assertRegex(way, r"^in\[3\] holds 0\.6298239\. Its way to the result: in\[3\] → thread 3 \(1\) → shared\[3\].*→ out\[0\] \(28\)$")
        self.assertEqual(2, self.value_of("document.querySelectorAll('.state .followed').length"))
        self.press("End", 35)
        self.assertEqual("out[0]", self.value_of("[...document.querySelectorAll('.state .followed')].pop().label"))
        self.press("Escape", 27)
        self.assertEqual(0, self.value_of("document.querySelectorAll('.state .followed').length"))

    def test_lanes_that_part_are_at_several_lines(self):
        self.open(3, "#step=14")
        at = self.value_of("player.panels[0].lines.map(({who}, i) => [i + 1, who.textContent]).filter(([, text]) => text)")
        self.assertEqual([[27, "warp 0, 4 of 8"], [28, "warp 0, 4 of 8warp 1"]], at)

    def test_two_stages_go_by_one_clock(self):
        self.make("both", "trace", 2, 3)
        self.open("both")
        turns = [sum(max(1, step.get("wavefronts", step.get("sectors", 1))) for step in json.loads(tenfold("trace", stage))["launches"][0]["steps"])
                 for stage in (2, 3)]
        self.assertLess(turns[1], turns[0])
        self.assertEqual(turns, self.value_of("player.panels.map(({trace}) => trace.ends[trace.ends.length - 1])"))
        self.press("End", 35)
        self.assertIn(f"It ended after {turns[1]} turns.", self.caption())

    def test_a_check_opens_at_what_it_found(self):
        self.make("race", "check", "missing_load_barrier", "--warp", 32, codes=(1,))
        self.open("race")
        self.assertIn("block race: shared[8] is read and written", self.value_of("document.querySelector('.finding').innerText"))
        lines = self.value_of("[...document.querySelectorAll('.line.found .number')].map(e => e.innerText)")
        self.assertEqual(["27", "30"], lines)
        self.assertRegex(self.caption(), r"^Step 8 of \d+\. Warp 1, line 27: 8 lanes write shared\[8–15\]")
        self.value_of("document.querySelectorAll('.finding button')[1].click()")
        self.assertRegex(self.caption(), r"^Step 3 of \d+\. Warp 0, line 30: 8 lanes read shared\[8–15\]")
        self.make("outside", "check", "past_the_end", "--warp", 32, codes=(1,))
        self.open("outside")
        self.assertIn("that is outside of it", self.caption())
        self.assertEqual("in[112]", self.value_of("document.querySelector('.cell.outside.active').label"))
        self.make("waiting", "check", "early_return", "--warp", 32, codes=(1,))
        self.open("waiting")
        self.assertIn("Here it fails: ", self.caption())

    # How it is used.

    def test_keys_do_it_all(self):
        self.open(2)
        at = []
        for key, code in (("ArrowRight", 39), ("ArrowRight", 39), ("ArrowLeft", 37), ("End", 35), ("Home", 36), ("b", 66), ("c", 67)):
            self.press(key, code)
            at.append(self.value_of("player.at"))
        self.assertEqual([1, 2, 1, 28, 0, 3, 7], at)
        self.press("B", 66, modifiers=8)
        self.assertEqual(6, self.value_of("player.at"))
        self.press(" ", 32)
        self.assertTrue(self.value_of("player.isPlaying()"))
        self.press(" ", 32)
        self.assertFalse(self.value_of("player.isPlaying()"))
        self.value_of("document.querySelector('.cell').focus()")
        self.press("ArrowRight", 39)
        self.assertEqual("in[1]", self.value_of("document.activeElement.label"))

    def test_every_step_is_told_in_words(self):
        for stage in (1, 7, 10):
            self.open(stage)
            texts = self.value_of("player.times.map((_, i) => (player.go(i), document.querySelector('[role=status]').innerText))")
            for text in texts[1:]:
                self.assertRegex(text, r"^Step \d+ of \d+\. Warp \d, line \d+: .*\.$")
        unnamed = "[...document.querySelectorAll('button, input, select, [tabindex]')].filter(e => !(e.ariaLabel || e.innerText || e.labels?.length)).length"
        self.assertEqual(0, self.value_of(unnamed))

    def test_no_page_is_wider_than_a_phone(self):
        self.make("both", "trace", 2, 3)
        self.browser.resize(*PHONE)
        for name, views in [*((stage, 3) for stage in STAGES), ("both", 1)]:
            self.open(name)
            for view in range(views):
                width = self.value_of(f"player.open({view}), player.go(9), document.documentElement.scrollWidth")
                self.assertLessEqual(width, PHONE[0], (name, view))

    def test_text_stands_out_from_its_ground(self):
        self.make("both", "trace", 2, 3)
        for scheme in ("light", "dark"):
            self.browser.prefer(scheme)
            for name, step in ((2, 8), ("both", 9), (7, 16)):
                self.open(name, f"#step={step}")
                self.value_of("document.querySelectorAll('.cell')[3].click()")
                with self.subTest(scheme=scheme, page=name):
                    self.assertEqual([], self.value_of(chromium.PALE))

    @unittest.skipUnless(axe.SCRIPT.exists(), axe.MISSING)
    def test_players_keep_the_rules_for_access(self):
        self.make("both", "trace", 2, 3)
        self.make("race", "check", "missing_load_barrier", "--warp", 32, codes=(1,))
        for name in (min(STAGES), max(STAGES), "both", "race"):
            self.open(name, "#step=9")
            self.assertEqual([], axe.violations(self.browser), name)

    def test_nothing_moves_for_those_who_ask_for_it(self):
        for motion, expected in (("no-preference", "flow"), ("reduce", "none")):
            self.browser.prefer("light", motion)
            self.open(3, "#step=2")
            self.assertEqual(expected, self.value_of("getComputedStyle(document.querySelector('.moves')).animationName"))

    def test_the_page_follows_the_theme_of_the_page_around_it(self):
        self.open(3)
        self.value_of("postMessage({theme: 'dark'}, '*')")
        self.browser.wait_for("getComputedStyle(document.body).backgroundColor === 'rgb(19, 20, 23)'")

    # What it bears.

    def test_a_step_is_quick(self):
        self.make("large", "trace", 2, "--block", 256, "--warp", 32)
        self.make("endless", "check", "stride_over_one", codes=(1,))
        # In time of the browser's thread: others may use the machine.
        self.browser.call("Performance.enable", timeDomain="threadTicks")

        def busy():
            metrics = self.browser.call("Performance.getMetrics")["metrics"]
            return next(each["value"] for each in metrics if each["name"] == "TaskDuration")

        for name, address in (("large", ""), ("endless", "#view=2&step=3900")):
            self.open(name, address)
            self.assertEqual(256, self.value_of("player.panels[0].trace.context.block"))
            begin = busy()
            steps = self.value_of("""player.times.slice(player.at, player.at + 150).map(
                () => (player.go(player.at + 1), document.body.getBoundingClientRect())).length""")
            each = (busy() - begin) / steps
            print(f"a step of 256 threads, {name}, takes {each * 1000:.1f} ms")
            self.assertLess(each, 0.016)

    def test_hostile_names_do_no_harm(self):
        page = (self.folder / "3.html").read_text()
        start, end = (page.index(mark) for mark in ('id="data">', "</script>"))
        data = json.loads(page[start + len('id="data">'):end])
        self.assertNotIn("<", page[start + len('id="data">'):end])
        evil = "</script><img src=x onerror='window.harm=1'><script>window.harm=1</script>&quot;"
        for context in (view["traces"][0]["context"] for view in data):
            context.update(stage=1001, stage_name=evil, file=evil, source=evil + "\n" + context["source"], failure=evil)
        for launch in data[0]["traces"][0]["launches"]:
            launch["kernel"] = evil
            for array in launch["arrays"]:
                array["name"] += evil
        data[0]["name"] = evil
        witness = {"doing": evil, "file": evil, "line": 28, "block": [0, 0, 0], "threads": evil}
        data[0]["finding"] = {"kind": "block_race", "what": evil, "address": evil, "remedy": evil, "witnesses": [witness] * 2}
        text = json.dumps(data).replace("<", "\\u003c")
        (self.folder / "evil.html").write_text(page[:start] + 'id="data">' + text + page[end:])
        self.open("evil")
        self.value_of("document.querySelectorAll('.cell')[3].click(), player.times.forEach((_, i) => player.go(i))")
        self.assertEqual([0, None], self.value_of("[document.images.length, window.harm ?? null]"))
        self.assertIn(evil, self.value_of("document.querySelector('h1').textContent"))


if __name__ == "__main__":
    unittest.main(verbosity=2)  # so that CTest reads why tests were skipped
