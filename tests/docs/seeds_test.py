#!/usr/bin/env python3
"""Whether the rows of docs/seeds.md still name what there is.

TENFOLD_CTEST names CTest, TENFOLD_BUILD the build whose tests it lists. Where links lead is docs_markdown's.
"""

import fnmatch
import functools
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs/site"))
import markdown  # noqa: E402

PAGE = ROOT / "docs/seeds.md"
HEAD = ["what the document has", "here", "holds?", "evidence"]
DEFINED = re.compile(r"^\[([^\]]+)\]: ", re.MULTILINE)
WOVEN = re.compile(r"^<!-- weave: .*?^<!-- /weave -->$", re.MULTILINE | re.DOTALL)
# As kernels/pitfalls/README.md calls the documents.
DOCUMENTS = ["HIP tutorial", "post on C++ AMP", "FastCuda", "parallel_reductions_cuda", "Kepler's shuffles"]


@functools.cache
def tests():
    """The names of all tests. Of a program that is not built there is one, which ends with _NOT_BUILT."""
    listed = subprocess.run([os.environ["TENFOLD_CTEST"], "--test-dir", os.environ["TENFOLD_BUILD"],
                             "--show-only=json-v1"], capture_output=True, text=True, check=True)
    return [test["name"] for test in json.loads(listed.stdout)["tests"]]


def rows(text):
    """The cells of each row, without those of the heads and of woven tables."""
    for line in markdown.without_comments(WOVEN.sub("", text)).splitlines():
        if line.startswith("|") and not re.fullmatch(r"[|\s-]+", line):
            cells = [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]
            if cells != HEAD:
                yield cells


def links(cell, text):
    """How many links a cell has; an error where one is defined nowhere."""
    labels = re.findall(r"\[([^\]]+)\](?![(\[])", markdown.prose(cell))
    missing = set(labels) - set(DEFINED.findall(text))
    if missing:
        raise ValueError(f"no link is defined for {', '.join(sorted(missing))}")
    return len(labels) + len(re.findall(r"\]\(", cell))


def mistakes(text, names):
    """What is wrong with each row that is not as it should be."""
    for row in rows(text):
        try:
            if len(row) != len(HEAD) or not row[0]:
                yield row, f"has not {len(HEAD)} cells"
                continue
            _, here, holds, evidence = row
            named = re.findall(r"`([^`]+)`", evidence)
            if here == "not here":
                if holds or evidence:
                    yield row, "is not here, and says more"
                continue
            if not links(here, text):
                yield row, "does not say where it is"
            if not holds:
                yield row, "does not say whether it holds"
            if not links(evidence, text) and not named:
                yield row, "has no evidence"
            for pattern in named:
                if not any(fnmatch.fnmatchcase(name, pattern) for name in names):
                    yield row, f"names no test: {pattern}"
        except ValueError as mistake:
            yield row, str(mistake)


def kernels_of_documents(pitfalls):
    """The detours, and the pitfalls that were met in one of the documents."""
    yield from (file.stem for file in (ROOT / "kernels/detours").glob("*.hpp"))
    for name, met_in in re.findall(r"^\| \[(\w+)\].* \| ([^|]*) \|$", pitfalls, re.MULTILINE):
        if any(document in met_in for document in DOCUMENTS):
            yield name


def without_row(kernels, text):
    told = " ".join(cell for row in rows(text) for cell in row)
    return {name for name in kernels if not re.search(rf"\b{name}\b", told)}


class Seeds(unittest.TestCase):
    def test_every_row_stands(self):
        text = PAGE.read_text(encoding="utf-8")
        self.assertGreater(len(list(rows(text))), 100)
        self.assertEqual(text.count("| " + " | ".join(HEAD) + " |"), 5)
        found = [f"{row[0]}: {words}" for row, words in mistakes(text, tests())]
        not_built = [name for name in tests() if name.endswith("_NOT_BUILT")]
        if not_built and found and all("names no test" in mistake for mistake in found):
            self.skipTest(f"not built: {', '.join(not_built)}")
        self.assertEqual([], found)

    def test_every_kernel_of_a_document_has_a_row(self):
        kernels = set(kernels_of_documents((ROOT / "kernels/pitfalls/README.md").read_text(encoding="utf-8")))
        self.assertGreaterEqual(kernels, {"strided_loads", "bounds_check", "odd_one_out", "in_place", "past_the_end",
                                          "precedence"})
        self.assertNotIn("plain_ticket", kernels)
        text = PAGE.read_text(encoding="utf-8")
        self.assertEqual(set(), without_row(kernels, text))
        self.assertEqual({"odd_one"}, without_row({"in_place", "odd_one"}, text))

    def test_mistakes_are_found(self):
        head = "| " + " | ".join(HEAD) + " |\n|---|---|---|---|\n"
        woven = "<!-- weave: versions([]) -->\n| version | here |\n| --- | ---: |\n<!-- /weave -->\n\n"
        right = ("| a | [b](c.md) | yes | `Real.Test/*` |\n| d | not here | | |\n"
                 "| e | [f] | no | [g](h.md) |\n| i | [j][f] | no | [f] |\n\n[f]: k.md\n")
        self.assertEqual([], list(mistakes(woven + head + right, ["Real.Test/1"])))
        for row, words in (("| a | [b](c.md) | yes | `Real.Tests` |", "names no test: Real.Tests"),
                           ("| a | [b](c.md) | yes | `Real.Test/1`, `Other/*` |", "names no test: Other/*"),
                           ("| a | [b](c.md) | yes | proof |", "has no evidence"),
                           ("| a | [b](c.md) | | `Real.Test/1` |", "does not say whether it holds"),
                           ("| a | somewhere | yes | `Real.Test/1` |", "does not say where it is"),
                           ("| a | [b] | yes | `Real.Test/1` |", "no link is defined for b"),
                           ("| a | [b][c] | yes | `Real.Test/1` |", "no link is defined for c"),
                           ("| a | not here | yes | |", "is not here, and says more"),
                           ("| a | [b](c.md) | yes |", "has not 4 cells")):
            with self.subTest(row=row):
                self.assertEqual([words], [found for _, found in mistakes(head + row + "\n", ["Real.Test/1"])])


if __name__ == "__main__":
    unittest.main()
