"""Whether pages that compare results show what files say, in a browser: compare_test.py [CLASS...]

The program is $TENFOLD_PROGRAM.
"""

import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import jsonschema
except ImportError:
    jsonschema = None

import axe
import chromium
import firefox

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs/results"
sys.path.insert(0, str(ROOT / "docs/site"))
import program_pages  # noqa: E402

PROGRAM = os.environ.get("TENFOLD_PROGRAM", str(ROOT / "build/simt/tenfold"))
PHONE = chromium.PHONE
VIEWS = ("stages", "sizes", "types")
KINDS = ("rate", "ceiling", "peak", "time", "times")


def tenfold(*arguments):
    run = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError(f"tenfold {arguments} gave {run.returncode}: {run.stderr}")
    return run.stdout


def compared():
    """The recordings that can be compared: those of one program, with its names."""
    for path in sorted(RESULTS.glob("*.json")):
        document = json.loads(path.read_text())
        rows = document.get("benchmarks") if isinstance(document, dict) else None
        if rows and "name" in rows[0]:
            yield path, document


@unittest.skipUnless(jsonschema, "there is no python3-jsonschema")
class SchemaTest(unittest.TestCase):
    """Of results, those that others contribute as well."""

    def setUp(self):
        schema = json.loads((RESULTS / "contributed/schema.json").read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        self.validator = jsonschema.Draft202012Validator(schema)

    def errors(self, document):
        return [f"{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}" for error in self.validator.iter_errors(document)]

    def test_results_are_as_the_schema_has_them(self):
        contributed = [(path, json.loads(path.read_text())) for path in sorted((RESULTS / "contributed").glob("*.json"))
                       if path.name != "schema.json"]
        recorded = list(compared())
        self.assertLess(10, len(recorded))
        for path, document in recorded + contributed:
            with self.subTest(file=path.name):
                self.assertEqual([], self.errors(document))

    def test_the_program_writes_what_the_schema_has(self):
        self.assertEqual([], self.errors(json.loads(tenfold("run", 1, "--n", "2^10", "--json", "-"))))

    def test_what_others_published_says_where(self):
        validator = self.validator.evolve(schema={"$ref": "#/$defs/published", "$defs": self.validator.schema["$defs"]})
        published = json.loads((RESULTS / "published.json").read_text())
        self.assertEqual([], list(validator.iter_errors(published)))
        for key in published["figures"][0]:
            bad = copy.deepcopy(published)
            del bad["figures"][0][key]
            self.assertEqual(1, len(list(validator.iter_errors(bad))), key)

    def test_what_is_not_as_the_schema_has_it_is_found(self):
        good = json.loads((RESULTS / "h200-ladder.json").read_text())
        for change in (lambda d: d.pop("context"), lambda d: d["context"].pop("device"), lambda d: d["benchmarks"].clear(),
                       lambda d: d["benchmarks"][0].update(verdict="WRONG"), lambda d: d["benchmarks"][0].update(real_time=0),
                       lambda d: d["benchmarks"][0].update(name="<b>"), lambda d: d["benchmarks"][0].update(time_unit="h"),
                       lambda d: d["context"].update(date="yesterday")):
            bad = copy.deepcopy(good)
            change(bad)
            self.assertEqual(1, len(self.errors(bad)), self.errors(bad))


class PageTest(unittest.TestCase):
    """What tests of either browser begin with."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.model = cls.folder / "model.json"
        cls.model.write_text(json.dumps(program_pages.modelled(PROGRAM, "MI300X")))
        cls.page = cls.folder / "page.html"
        tenfold("compare", RESULTS / "h200-ladder.json", RESULTS / "h200-sizes.json", RESULTS / "h200-types.json", cls.model,
                "--html", cls.page)

    def value_of(self, expression):
        return self.browser.value_of(expression)

    def take(self, name, text):
        """Gives the page a file, as a dialog does; returns the lines that say what is wrong."""
        return self.value_of(f"compare.take([new File([{json.dumps(text)}], {json.dumps(name)})]).then(() =>"
                             " [...document.querySelectorAll('.trouble')].map(line => line.textContent))")


@unittest.skipUnless(chromium.find(), "there is no Chromium")
class ChromiumTest(chromium.QuietPages, PageTest):
    def setUp(self):
        super().setUp()
        self.browser.open("about:blank")
        self.browser.open(self.page.as_uri())

    def test_a_page_reads_what_the_program_reads(self):
        for path in [*(path for path, _ in compared()), self.model]:
            told = json.loads(tenfold("compare", path, path, "--json", "-"))
            expected = {}
            for each in told["comparisons"]:
                r = each["results"]["A"]
                expected["/".join((each["who"], each["type"], each["op"], str(each["n"]), each["mode"] or ""))] = [
                    r[key] for key in ("seconds", "low", "high", "bytes_per_second", "share_of_peak", "share_of_ceiling")]
            shown = self.value_of(f"""(() => {{
                const rows = new Map();
                for (const e of readResults({path.read_text()}, 'x').entries) {{
                    const row = [e.who, e.type, e.op, e.n, e.mode].join('/');
                    if (!rows.has(row) || e.seconds < rows.get(row)[0]) rows.set(row, [e.seconds, e.low, e.high, e.rate, e.peak, e.ceiling]);
                }}
                return Object.fromEntries(rows); }})()""")
            with self.subTest(file=path.name):
                self.assertEqual(expected.keys(), shown.keys())
                for row, figures in expected.items():
                    for one, other in zip(figures, shown[row]):
                        self.assertTrue(one == other or abs(one - other) <= 1e-9 * abs(one), (row, figures, shown[row]))

    def test_the_table_says_what_the_file_says(self):
        ladder = json.loads((RESULTS / "h200-ladder.json").read_text())
        naive = next(each for each in ladder["benchmarks"] if each["stage_name"] == "naive")
        table = self.value_of("document.querySelector('tbody tr').innerText")
        self.assertIn(f"{naive['bytes_per_second'] / 1e9:.4g} GB/s", table)
        low, high = (naive["bytes_per_second"] / 1e9 * naive["real_time"] / naive[key] for key in ("p95", "p5"))
        self.assertIn(f"{low:.4g} GB/s to {high:.4g} GB/s", table)
        rows = self.value_of("[...document.querySelectorAll('tbody th')].map(each => each.innerText)")
        self.assertEqual([f"{stage:02}" for stage in range(1, 11)], [row[:2] for row in rows[:10]])

    def test_a_model_says_that_it_is_one(self):
        self.assertIn("MI300X (model: at best)", self.value_of("document.querySelector('.files .model').innerText"))
        self.assertIn("calculated and not measured", self.value_of("document.querySelector('.files .model').innerText"))
        self.assertEqual(10, self.value_of("document.querySelectorAll('.plot .model .bar').length"))
        self.assertEqual(0, self.value_of("document.querySelectorAll('.plot .model .spread').length"))

    def test_ratios_and_intervals_are_the_programs(self):
        files = RESULTS / "h200-ladder-256.json", RESULTS / "h200-ladder.json"
        page = self.folder / "two.html"
        tenfold("compare", *files, "--html", page)
        self.browser.open(page.as_uri())
        chosen = self.value_of("compare.chosen")
        told = {each["who"]: each["results"] for each in json.loads(tenfold("compare", *files, "--json", "-"))["comparisons"]
                if (each["mode"] or "", each["n"], each["type"], each["op"]) == tuple(chosen[key] for key in ("mode", "n", "type", "op"))}
        rows = self.value_of("[...document.querySelectorAll('tbody tr')].map(row => [row.firstChild.textContent, row.lastChild.lastChild.textContent])")
        expected = [[who, f"{each['B']['speed_up']:.2f} x A{' ~' if each['B']['within_spread'] else ''}"]
                    for who, each in told.items() if each["A"] and each["B"]]
        self.assertLess(9, len(expected))
        self.assertLess(0, sum("~" in words for _, words in expected))
        self.assertEqual([], [each for each in expected if each not in rows])
        times = self.value_of("""compare.kind = 'times', compare.show(),
            [...document.querySelectorAll('tbody tr')].map(row => [row.firstChild.textContent, row.lastChild.firstChild.textContent])""")
        self.assertEqual([], [who for who, each in told.items() if each["A"] and each["B"] and [who, f"{each['B']['speed_up']:.2f} x"] not in times])
        # As long as they say, and each with its interval.
        for kind in ("rate", "time"):
            bars = self.value_of(f"""compare.kind = '{kind}', compare.show(), [...document.querySelectorAll('.plot g')].map(g =>
                [Number(g.querySelector('.bar').getAttribute('width')), g.querySelector('.spread').getAttribute('d').match(/[\\d.]+/g).map(Number),
                 Number(g.querySelector('.bar').getAttribute('x'))])""")
            values = [(r["bytes_per_second"], r["seconds"], r["low"], r["high"]) for who, _ in rows
                      for r in (told[who]["A"], told[who]["B"]) if r and (kind == "time" or who != "peer:empty")]
            self.assertEqual(len(values), len(bars))
            scale = max(bar[0] for bar in bars) / max(value[0 if kind == "rate" else 1] for value in values)
            for (rate, seconds, low, high), (width, (from_x, *_, to_x, _, _), left) in zip(values, bars):
                ends = (rate * seconds / high, rate * seconds / low) if kind == "rate" else (low, high)
                value = rate if kind == "rate" else seconds
                self.assertAlmostEqual(value * scale, width, 3)
                for end, x in zip(ends, (from_x, to_x)):
                    self.assertAlmostEqual(end * scale, x - left, 3)
        # Of several shapes the fastest stands for its stage.
        entry = {"name": "a/f32/sum/n:8/block:1", "real_time": 2, "time_unit": "us", "bytes_per_second": 1e9}
        entries = [{**entry, "name": f"a/f32/sum/n:8/block:{time}", "real_time": time} for time in (3, 2, 4)]
        self.take("shapes.json", json.dumps({"benchmarks": entries}))
        self.assertEqual(2e-6, self.value_of("compare.rowsOf([[], [], compare.files[2].entries])[0].found[2].seconds"))
        self.value_of("compare.files.pop()")
        # Over sizes a band holds the intervals.
        spread = self.value_of("""compare.view = 'sizes', compare.kind = 'rate', compare.show(),
            [...document.querySelectorAll('.plot .band')].map(band => band.getAttribute('d').length > 10)""")
        self.assertEqual([True, True], spread)

    def test_what_others_published_is_drawn_as_such(self):
        figure = json.loads((RESULTS / "published.json").read_text())["figures"][0]
        rate = f"{figure['gibibytes_per_second'] * 2**30 / 1e9:.0f} GB/s"
        self.assertIn(f"Published, not measured here: {rate}, {figure['what']}, {figure['date']}",
                      self.value_of("document.querySelector('.files .published').innerText"))
        self.assertEqual(figure["source"], self.value_of("document.querySelector('.files .published a').href"))
        drawn = "[...document.querySelectorAll('.plot .published')].map(each => each.textContent)"
        letter = self.value_of("letterOf(compare.files.findIndex(({isModel}) => isModel))")
        self.assertEqual([letter + rate], self.value_of(drawn))
        self.assertEqual([], self.value_of(f"compare.kind = 'time', compare.show(), {drawn}"))
        self.assertIn("not measured here", self.value_of("document.querySelector('caption').innerText"))
        for each in json.loads((RESULTS / "published.json").read_text())["figures"]:
            told = program_pages.modelled(PROGRAM, each["gpu"].split(",")[0])["context"]["published"]
            self.assertIn(each["source"], [one["source"] for one in told])
        model = json.loads(self.model.read_text())
        good = {"bytes_per_second": 1e12, "what": "<b>", "source": "https://example.org/<b>"}
        bad = [{**good, **change} for change in ({"source": "javascript:alert(1)"}, {"source": None}, {"bytes_per_second": -1},
                                                 {"bytes_per_second": "1"})]
        for published, count in (([*bad, None, good], 1), (bad, 0), ({}, 0), (1, 0)):
            model["context"]["published"] = published
            self.assertEqual([], self.take("more.json", json.dumps(model)))
            self.assertEqual(count, self.value_of("compare.files.pop().published.length"))

    def test_every_view_shows_every_figure(self):
        for view in VIEWS:
            for kind in KINDS:
                self.value_of(f"compare.view = '{view}', compare.kind = '{kind}', compare.show()")
                marks = "document.querySelectorAll('.plot .bar, .plot .dot').length"
                self.assertLess(2, self.value_of(marks), (view, kind))
                attributes = self.value_of("[...document.querySelectorAll('.plot *')].flatMap(e => [...e.attributes].map(a => a.value)).join()")
                self.assertNotRegex(attributes, "NaN|Infinity|undefined", (view, kind))

    def test_files_come_by_a_dialog_and_go_by_a_button(self):
        self.value_of("[...document.querySelectorAll('.files [aria-label^=Remove]')].reverse().forEach(each => document.querySelector('.files [aria-label^=Remove]').click())")
        self.assertEqual([0, True], self.value_of("[compare.files.length, document.querySelector('.plot').hidden]"))
        root = self.browser.call("DOM.getDocument")["root"]["nodeId"]
        picker = self.browser.call("DOM.querySelector", nodeId=root, selector="input[type=file]")["nodeId"]
        self.browser.call("DOM.setFileInputFiles", nodeId=picker, files=[str(RESULTS / "h200-ladder-256.json"), str(self.model)])
        self.browser.wait_for("compare.files.length === 2")
        self.value_of("document.querySelector('[aria-label=\"Make B the first\"]').click()")
        self.assertEqual("MI300X (model: at best)", self.value_of("compare.files[0].device"))
        self.value_of("""document.dispatchEvent(Object.assign(new Event('drop'), {dataTransfer: {files: [new File(['{}'], 'dropped.json')]}}))""")
        self.browser.wait_for("document.querySelector('.trouble')?.innerText.startsWith('dropped.json: it has no list')")

    def test_what_cannot_be_compared_gets_one_line(self):
        entry = {"name": "a/f32/sum/n:8", "real_time": 1, "time_unit": "us", "bytes_per_second": 1}
        for content, expected in (("", "it is no JSON"), ("{", "it is no JSON"), ("[" * 100000, "it is no JSON"), ("null", 'no list "benchmarks"'),
                                  ("[]", 'no list "benchmarks"'), ('{"benchmarks": 1}', 'no list "benchmarks"'),
                                  ('{"benchmarks": []}', 'no entry in "benchmarks"'), ('{"benchmarks": [1]}', 'an entry without "name"'),
                                  ('{"models": [1]}', 'no entry in "benchmarks"'), ('{"models": [{}]}', "no time above 0"),
                                  *((json.dumps({"benchmarks": [{**entry, **change}]}), words) for change, words in (
                                      ({"name": "x"}, "which names no stage"), ({"real_time": 0}, "no time above 0"),
                                      ({"real_time": "1"}, "no time above 0"), ({"time_unit": "h"}, "in no unit"),
                                      ({"time_unit": "constructor"}, "in no unit"), ({"bytes_per_second": None}, 'no number "bytes_per_second"'),
                                      ({"verdict": "WRONG"}, "all its results are wrong"))),
                                  ('{"benchmarks": [{"name": "a/f32/sum/n:8", "real_time": 1e999, "time_unit": "us"}]}', "no time above 0")):
            with self.subTest(content=content[:60]):
                lines = self.take("broken.json", content)
                self.assertEqual(1, len(lines))
                self.assertTrue(lines[0].startswith("broken.json: it ") and expected in lines[0], lines)
        self.assertEqual(4, self.value_of("compare.files.length"))
        self.assertEqual([], self.take("good.json", json.dumps({"benchmarks": [entry]})))
        for _ in range(21):
            self.take("good.json", json.dumps({"benchmarks": [entry]}))
        self.assertIn("26 files at most", self.take("one too many.json", json.dumps({"benchmarks": [entry]}))[0])

    def test_hostile_names_do_no_harm(self):
        evil = "</script><img src=x onerror='window.harm=1'><script>window.harm=1</script>"
        flat = evil.replace("/", "")
        document = {"context": {"device": evil, "device_name": evil, "date": evil, "__proto__": {"harm": 1}},
                    "benchmarks": [{"name": f"{flat}/{flat}/__proto__/n:4194304/{flat}", "real_time": 1, "time_unit": "us",
                                    "bytes_per_second": 1e9, "block": evil, "verdict": evil}]}
        (self.folder / "evil.json").write_text(json.dumps(document))
        page = self.folder / "evil.html"
        tenfold("compare", self.folder / "evil.json", "--html", page)
        self.browser.open(page.as_uri())
        self.assertEqual([], self.take(evil, json.dumps(document)))
        self.assertIn("window.harm", self.take(evil, "{}")[0])
        for view in VIEWS:
            self.value_of(f"compare.view = '{view}', compare.show()")
            self.assertEqual([0, None, 2], self.value_of("[document.images.length, window.harm ?? null, compare.files.length]"))

    def test_no_view_is_wider_than_a_phone(self):
        self.browser.resize(*PHONE)
        for view in VIEWS:
            for kind in KINDS:
                width = self.value_of(f"compare.view = '{view}', compare.kind = '{kind}', compare.show(), document.documentElement.scrollWidth")
                self.assertLessEqual(width, PHONE[0], (view, kind))

    def test_text_stands_out_from_its_ground(self):
        self.take("broken.json", "{")
        for scheme in ("light", "dark"):
            self.browser.prefer(scheme)
            self.assertEqual([], self.value_of(chromium.PALE), scheme)

    @unittest.skipUnless(axe.SCRIPT.exists(), axe.MISSING)
    def test_the_page_keeps_the_rules_for_access(self):
        self.take("broken.json", "{")
        for view in VIEWS:
            self.value_of(f"compare.view = '{view}', compare.show()")
            self.assertEqual([], axe.violations(self.browser), view)


@unittest.skipUnless(firefox.find(), "there is no Firefox")
class FirefoxTest(PageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.browser = firefox.Browser(firefox.find())
        cls.addClassCleanup(cls.browser.close)

    def test_the_page_works_in_firefox_as_well(self):
        for width in (None, PHONE[0]):
            self.browser.open(self.page.as_uri(), width)
            self.assertEqual(1, len(self.take("broken.json", "{")))
            for view in VIEWS:
                self.value_of(f"compare.view = '{view}', compare.show()")
                self.assertLess(5, self.value_of("document.querySelectorAll('.plot .bar, .plot .dot').length"))
                self.assertLessEqual(*self.value_of("[document.documentElement.scrollWidth, innerWidth]"))


if __name__ == "__main__":
    unittest.main(verbosity=2)  # so that CTest reads why tests were skipped
