#!/usr/bin/env python3
"""Has the program write its pages for the site: program_pages.py PROGRAM FOLDER

In FOLDER/players there is one for each of the ten stages, in which a reader chooses between warps, and one for
each pitfall, which opens at what `tenfold check` finds. FOLDER/compare.html compares results: those in
docs/results, those that others contributed, and, of GPUs of AMD that none is of, what the model says and what
others published.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from scripts.common import RESULTS, ROOT, output_of  # noqa: E402

WARPS = "8,32,64"
FOUND = 1  # the exit code of a check that found something
RECORDED = ("ladder", "sizes", "types", "calls")  # of a GPU, what one column shows
MODELLED_SIZES = ("2^22", "2^24", "2^26", "2^28", "2^30")


def tenfold(program, *arguments, code=0):
    return output_of(program, *arguments, status=code, env={**os.environ, "TENFOLD_REFRESH": "0"})


def recorded(gpu):
    """All recordings of a GPU as one; of what several have, as the first has it."""
    merged, names = None, set()
    for each in RECORDED:
        path = RESULTS / f"{gpu}-{each}.json"
        document = json.loads(path.read_text()) if path.exists() else {"benchmarks": []}
        merged = merged or {"context": document["context"], "benchmarks": []}
        merged["benchmarks"] += [entry for entry in document["benchmarks"] if entry["name"] not in names]
        names.update(entry["name"] for entry in document["benchmarks"])
    return merged


def modelled(program, gpu):
    documents = [json.loads(tenfold(program, "model", "--all", "--device", gpu, "--n", n, "--json", "-"))
                 for n in MODELLED_SIZES]
    figures = [{**each, "bytes_per_second": each["gibibytes_per_second"] * 2**30}
               for each in json.loads((RESULTS / "published.json").read_text())["figures"] if each["gpu"] == documents[0]["context"]["gpu"]]
    return {"context": {**documents[0]["context"], "published": figures},
            "models": [each for document in documents for each in document["models"]]}


def write_compare_page(program, page):
    """Of results that were recorded or contributed, and of models of AMD's GPUs that no result is of."""
    with tempfile.TemporaryDirectory() as folder:
        documents = {f"recorded-{gpu}": recorded(gpu) for gpu in
                     sorted(path.name.removesuffix("-ladder.json") for path in RESULTS.glob("*-ladder.json"))}
        contributed = [path for path in sorted((RESULTS / "contributed").glob("*.json")) if path.stem != "schema"]
        measured = json.dumps([document["context"] for document in documents.values()])
        measured += "".join(path.read_text() for path in contributed)
        sheets = (ROOT / "host/observe/gpu_sheets.inl").read_text()
        for gpu in re.findall(r'\{"([^",]+)[^"]*", "gfx', sheets):
            if gpu not in measured:
                documents[f"model-{gpu.replace(' ', '-')}"] = modelled(program, gpu)
        for name, document in documents.items():
            pathlib.Path(folder, f"{name}.json").write_text(json.dumps(document))
        tenfold(program, "compare", *(pathlib.Path(folder, f"{name}.json") for name in documents), *contributed, "--html", page)


def write_players(program, folder):
    calls = [(path, ["check", path.stem], FOUND) for path in (ROOT / "kernels/pitfalls").glob("*.hpp")]
    calls += [(path, ["trace", path.stem.split("_", 1)[1], "--warp", WARPS], 0)
              for path in (ROOT / "kernels").glob("[0-9]*.hpp")]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda call: tenfold(program, *call[1], "--html", folder / f"{call[0].stem}.html", code=call[2]),
                      calls))


def write_pages(program, folder):
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "players").mkdir(parents=True)
    write_players(program, folder / "players")
    write_compare_page(program, folder / "compare.html")


if __name__ == "__main__":
    write_pages(sys.argv[1], pathlib.Path(sys.argv[2]))
