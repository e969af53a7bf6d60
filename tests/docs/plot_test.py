"""docs/plot on another GPU than the one that docs/results is of, and that its --check sees mistakes."""

import importlib.util
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SKIPPED = 77
KINDS = ["ladder", "sizes", "peers", "types", "roofline", "bytes-in-flight", "detours", "model", "matrices",
         "scaling"]
SLOWER = 4
TIMES = ("real_time", "fastest", "slowest", "p5", "p95", "microseconds")
RATES = ("bytes_per_second", "read_ceiling_bytes_per_second", "peak_bytes_per_second", "gigabytes_per_second")


def slower(value, key=""):
    """The same results of a GPU with another name that takes longer for everything."""
    if isinstance(value, dict):
        return {each: slower(of_it, each) for each, of_it in value.items()}
    if isinstance(value, list):
        return [slower(each) for each in value]
    if isinstance(value, str):
        peak = lambda found: f"= {int(found[1]) // SLOWER} GB/s"
        return re.sub(r"= (\d+) GB/s", peak, value.replace("NVIDIA H200", "NVIDIA Example 7"))
    if key in TIMES:
        return value * SLOWER
    return value / SLOWER if key in RATES else value


def slower_tune(document):
    """With blocks of 64 beside the others."""
    document, columns = slower(document), document["columns"]
    rows = [slower(dict(zip(columns, row))) for row in document["rows"]]
    rows += [dict(row, block=64) for row in rows if row["block"] == 256]
    return dict(document, rows=[list(row.values()) for row in rows])


# In the program's place: the model of stage 1 is 20% off at 2^22, and no other.
MODEL = r'''#!{python} -IS
import json, sys
n = int(sys.argv[sys.argv.index("--n") + 1])
models = [dict(stage=stage, predicted=n * stage * (1.2 if n == 2**22 and stage == 1 else 1.1), measured=n * stage)
          for stage in range(1, 11)]
print(json.dumps(dict(context=dict(gpu="NVIDIA {gpu}"), models=models)))
'''


def matrix(columns, n, who, rate, **more):
    return {"columns": columns, "n": n, "type": "f32", "op": "sum", "mode": "after-producer", "ok": True,
            "contestant": f"peer:{who}" if who == "torch" else f"peer:matrix:{who}", "bytes_per_second": rate, **more}


# Of two columns the larger matrix counts, and of the kernels that read it the fastest.
MATRICES = [matrix(2, 1 << 10, "sums", 1e9), matrix(2, 1 << 10, "read:1", 1e12),
            matrix(2, 1 << 20, "sums", 9e11), matrix(2, 1 << 20, "cub", 6e11), matrix(2, 1 << 20, "read:1", 8e11),
            matrix(2, 1 << 20, "read:4:streaming", 1e12), matrix(2, 1 << 20, "read:2", 2e12, ok=False),
            matrix(3, (1 << 20) - 1, "sums", 7e11), matrix(3, (1 << 20) - 1, "read:1", 1e12),
            matrix(2, 1 << 20, "sums", 5e11, axis="columns"), matrix(2, 1 << 20, "read:1", 1e12, axis="columns"),
            matrix(2, 1 << 20, "sums", 1e11, mode="back-to-back")]
SHARED = [{"contestant": name, "ranks": ranks, "n": n, "ok": True, "bytes_per_second": ranks * n * speed}
          for name, speed in (("nccl", 1e3), ("peer_partials", 2e3)) for ranks in (1, 2) for n in (1 << 20, 1 << 22)]


class WithFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.results, self.images = (pathlib.Path(folder.name) / name for name in ("results", "images"))
        self.results.mkdir()
        self.program = "none"

    def put_program(self, gpu):
        self.program = self.results / "tenfold"
        self.program.write_text(MODEL.format(python=sys.executable, gpu=gpu), encoding="utf-8")
        self.program.chmod(0o755)

    def plot(self, *arguments):
        command = [sys.executable, "-B", ROOT / "docs/plot", "--results", self.results, "--images", self.images,
                   "--program", self.program]
        return subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)

    def draw(self):
        done = self.plot()
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def assert_refused(self, reason):
        done = self.plot("--check")
        self.assertEqual(done.returncode, 1)
        self.assertIn(reason, done.stderr)
        self.assertNotIn("Traceback", done.stderr)


class AnotherGpu(WithFolder):
    def setUp(self):
        super().setUp()
        for file in (ROOT / "docs/results").glob("h200-*.json"):
            document = json.loads(file.read_text(encoding="utf-8"))
            document = (slower_tune if "columns" in document else slower)(document)
            self.write(file.name.replace("h200", "example-7"), document)
        context = json.loads((self.results / "example-7-calls.json").read_text(encoding="utf-8"))["context"]
        self.write("example-7-matrices.json", {"context": context, "benchmarks": MATRICES})
        self.write("example-7-scaling.json", {"context": context, "benchmarks": SHARED})
        self.put_program("Example 7")

    def write(self, name, document):
        (self.results / name).write_text(json.dumps(document), encoding="utf-8")

    def change(self, name, change):
        document = json.loads((self.results / name).read_text(encoding="utf-8"))
        change(document)
        self.write(name, document)

    def image_of(self, kind):
        return (self.images / f"{kind}-example-7.svg").read_text(encoding="utf-8")

    def test_gets_every_plot_in_its_own_scales(self):
        self.draw()
        self.assertEqual(sorted(file.name for file in self.images.iterdir()),
                         sorted(f"{kind}-example-7.svg" for kind in KINDS))
        for kind in KINDS:
            xml.etree.ElementTree.fromstring(self.image_of(kind))
            self.assertIn("Example 7", self.image_of(kind))
        self.assertEqual(self.plot("--check").returncode, 0)
        for kind in ("sizes", "types", "bytes-in-flight"):
            self.assertRegex(self.image_of(kind), r">1000</text>")
            self.assertNotRegex(self.image_of(kind), r">[2-9]000</text>")
        self.assertNotIn("64 threads ×", self.image_of("bytes-in-flight"))

    def test_shows_where_the_model_is_off(self):
        self.draw()
        image = self.image_of("model")
        self.assertIn("15% off for 1 of 10 stages", image)
        self.assertIn("stage 1 2²² +20%, 2²³ +10%", image)
        self.assertIn("stage 10 2²² +10%, 2²³ +10%", image)
        dots = [len(re.findall(f'<use [^>]*style="fill: {color}', image)) for color in ("#0b62a8", "#c8560f")]
        self.assertEqual(dots, [89, 1])

    def test_leaves_out_a_model_of_another_gpu(self):
        self.put_program("Example 8")
        self.draw()
        self.assertFalse((self.images / "model-example-7.svg").exists())

    def test_names_every_detour_beside_its_line(self):
        self.draw()
        image = self.image_of("detours")
        heights = []
        for file in (ROOT / "kernels/detours").glob("*.hpp"):
            place, = re.findall(rf'y="([\d.]+)"[^>]*>{file.stem}</text>', image)
            heights.append(float(place))
        heights.sort()
        self.assertGreater(min(high - low for low, high in zip(heights, heights[1:])), 14)

    def test_shows_each_axis_of_matrices_as_a_share_of_what_memory_allows(self):
        self.draw()
        self.assertIn("Sums of rows: tenfold 2¹: 90, 3: 70; CUB 2¹: 60. Sums of columns: tenfold 2¹: 50.",
                      self.image_of("matrices"))
        self.write("example-7-python-matrices.json", {"context": {}, "benchmarks": [
            matrix(2, 1 << 20, "torch", 3e11, axis="columns", peer="torch", peer_version="2.0")]})
        self.draw()
        self.assertIn("Sums of columns: tenfold 2¹: 50; PyTorch 2¹: 30.", self.image_of("matrices"))
        self.change("example-7-matrices.json", lambda document: document.update(
            benchmarks=[e for e in MATRICES if "axis" not in e]))
        self.draw()
        self.assertNotIn("Sums of columns", self.image_of("matrices"))

    def test_shows_what_each_number_of_gpus_reads(self):
        self.draw()
        self.assertIn("NCCL, 1 GPU 4.194; NCCL, 2 GPUs 8.389; in the kernel, 1 GPU 8.389; in the kernel, 2 GPUs 16.78.",
                      self.image_of("scaling"))

    def test_leaves_out_what_is_not_known_of_it(self):
        for name in ("example-7-calls.json", "example-7-tune.json"):
            self.change(name, lambda document: (document.update(architecture="sm_1"),
                                                document["context"].update(architecture="sm_1")))
        self.draw()
        self.assertFalse({"roofline-example-7.svg", "bytes-in-flight-example-7.svg"}
                         & {file.name for file in self.images.iterdir()})

    def test_has_all_that_is_plotted_from_record_and_tune(self):
        text = (ROOT / "docs/plot").read_text(encoding="utf-8")
        kinds = re.search(r"^KINDS = \{(.*?)\}", text, re.DOTALL | re.MULTILINE)[1]
        wanted = {name for names in re.findall(r"\[(.*?)\]", kinds) for name in re.findall(r'"([\w-]+)"', names)}
        record = (ROOT / "bench/record").read_text(encoding="utf-8")
        self.assertIn("calls", wanted)
        self.assertEqual({name for name in wanted if f"DEVICE-{name}.json" not in record}, {"tune"})

    def test_needs_one_library_of_python(self):
        def forget_jax(document):
            del document["context"]["peer:jax"]
            document["benchmarks"] = [e for e in document["benchmarks"] if "jax" not in e["name"]]
        self.change("example-7-python.json", forget_jax)
        self.draw()
        self.assertNotIn("JAX", self.image_of("peers"))

    def test_needs_no_python(self):
        (self.results / "example-7-python.json").unlink()
        self.draw()
        self.assertNotIn("Python", self.image_of("peers"))

    def test_says_how_calls_are_made_by_the_modes_of_its_results(self):
        def after_producer(document):
            for e in document["benchmarks"]:
                e["mode"] = "after-producer"
        for name in ("ladder", "narrow", "types"):
            self.change(f"example-7-{name}.json", after_producer)
        self.change("example-7-python.json", lambda document: [
            e.update(mode="back-to-back") for e in document["benchmarks"] if e["mode"] == "stream"])
        self.draw()
        for kind in KINDS:
            self.assertIn("timed by the host" if kind == "scaling" else "a call after a kernel", self.image_of(kind))
        for kind in ("ladder", "types"):
            self.assertNotIn("no cache", self.image_of(kind))
        self.assertIn("Called from Python, a call after a kernel", self.image_of("peers"))


class Check(WithFolder):
    def test_leaves_alone_what_needs_the_program_where_there_is_none(self):
        for file in (ROOT / "docs/results").glob("h200-*.json"):
            shutil.copy(file, self.results)
        self.put_program("H200")
        self.draw()
        image = self.images / "model-h200.svg"
        image.write_text("of old", encoding="utf-8")
        self.assert_refused("model-h200.svg")
        self.program = "none"
        self.draw()
        self.assertEqual(self.plot("--check").returncode, 0)
        self.assertEqual(image.read_text(encoding="utf-8"), "of old")

    def test_fails_where_there_is_nothing_to_plot(self):
        self.assert_refused("nothing to plot")

    def test_names_what_differs_and_what_nobody_makes(self):
        for file in (ROOT / "docs/results").glob("h200-*.json"):
            shutil.copy(file, self.results)
        self.draw()
        for name in ("tree.svg", "03_no_bank_conflicts.svg"):
            (self.images / name).touch()
        self.assertEqual(self.plot("--check").returncode, 0)
        (self.images / "ladder-gone.svg").touch()
        self.assert_refused("makes ladder-gone.svg")
        image = self.images / "types-h200.svg"
        image.write_text(image.read_text(encoding="utf-8").replace("4500", "4501"), encoding="utf-8")
        self.assert_refused("types-h200.svg")


if __name__ == "__main__":
    if importlib.util.find_spec("matplotlib") is None:
        print("skipped: there is no matplotlib")
        sys.exit(SKIPPED)
    unittest.main()
