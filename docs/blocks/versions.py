"""The kernels of a document beside those of this repository that do the same."""

import functools
import re

from blocks.markdown import number
from blocks.program import profile
from blocks.sources import catalogue, file_of, lines_of, name_of, page_of
from scripts.common import table

# What the code of a kernel has where it takes a technique.
TECHNIQUES = {
    "warps without block barriers": r"static_for<WarpSize / 2\b|\bfold_(block|warp)<",
    "constant block size": r"__launch_bounds__\(BlockSize\)",
    "shuffles": r"\bshuffle_\w+<|\bfold_(block|warp)<",
    "vector loads": r"\bload_vectors<",
    "grid-stride loop": r"\btakes_grid = true\b",
    "atomics": r"\batomicAdd\(out\b",
}

# What the executor counts of it, with warps of 32.
COUNTED = {
    "launches": lambda p: p("launches"),
    "elements a thread": lambda p: p("n") / (p("passes.0.blocks") * p("passes.0.threads_per_block")),
    "accesses to global memory an element": lambda p: p("global_bytes") / 4 / p("n"),
    "requests to shared memory an element": lambda p: p("shared_requests") / p("n"),
    "bank conflict, ways": lambda p: p("worst_bank_conflict") or None,
    "barriers a block": lambda p: p("barriers_per_block"),
}


def techniques(text):
    """Those of TECHNIQUES that a kernel's source takes; a comment about one does not count."""
    code = re.sub(r"//.*", "", text)
    return {name for name, pattern in TECHNIQUES.items() if re.search(pattern, code)}


def _file(kernel):
    return file_of(kernel) if kernel in catalogue() else f"kernels/detours/{kernel}.hpp"


def _link(kernel):
    if kernel in catalogue():
        return f"[{kernel} {name_of(kernel)}]({page_of(kernel)})"
    return f"[{kernel}](../{_file(kernel)})"


def _cell(kernel, column):
    if column in COUNTED:
        return number(COUNTED[column](functools.partial(profile, kernel)))
    return "✓" if column in techniques("\n".join(lines_of(_file(kernel)))) else ""


def versions(kernels, *columns):
    """A row for each version of a document: its name, the stage (a number) or detour (a name) that does the same,
    and what TECHNIQUES finds in the source of that, or COUNTED on the executor."""
    if unknown := set(columns) - {*COUNTED, *TECHNIQUES}:
        raise ValueError(f"no column {', '.join(sorted(unknown))}")
    rows = [[f"{version}: {_link(kernel)}" if version else _link(kernel), *(_cell(kernel, column) for column in columns)]
            for version, kernel in kernels]
    return table(["version: here", *columns], rows)
