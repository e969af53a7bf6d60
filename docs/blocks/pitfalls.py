"""What is wrong in kernels/pitfalls, and who finds it."""

import difflib
import re

from blocks.markdown import fence
from blocks.results import GPU, results
from blocks.sources import lines_of
from scripts.common import table

TOOLS = ["memcheck", "racecheck", "initcheck", "synccheck"]


def _kernel_lines(name):
    """The lines of a pitfall's kernel, and those of the mended one, without what marks the mistake."""
    text = "\n".join(lines_of(f"kernels/pitfalls/{name}.hpp"))
    both = re.findall(r"^template[^{]*?__global__.*?^}$", text, re.MULTILINE | re.DOTALL)
    return [re.sub(r" *// pitfall: \w+$", "", kernel, flags=re.MULTILINE).splitlines() for kernel in both]


def pitfall(name, around=1):
    """What mends the kernel of a pitfall: the lines that differ, and so many around them."""
    lines = list(difflib.unified_diff(*_kernel_lines(name), lineterm="", n=around))[3:]
    if not lines:
        raise ValueError(f"what differs in {name} is not in its kernel")
    if lines[0].strip() == "":
        del lines[0]
    margin = min(len(line) - len(line[1:].lstrip()) for line in lines if line[1:].strip() and line[0] != "@")
    text = ["  ..." if line[0] == "@" else f"{line[0]} {line[margin:]}".rstrip() for line in lines]
    return fence("\n".join(text), "diff")


def _device():
    return results(f"{GPU}-pitfalls.json")["run_with"]["device"]


def _looks():
    return {look["name"]: look for look in results(f"{GPU}-pitfalls.json")["looks"] if not look["mended"]}


def _tools_that_find(look):
    return [tool for tool in TOOLS if look[tool]["found"]]


def pitfall_result(name):
    """What the result of a pitfall on a GPU was: "right", "wrong, 1 of 20", "hangs", "error"."""
    return _looks()[name]["plain"]["text"]


def found(name):
    """Who finds a pitfall: the result on a GPU, compute-sanitizer, the checker."""
    look, shows = _looks()[name], pitfall_result(name)
    tools = ", ".join(_tools_that_find(look)) or ("hangs, too" if shows == "hangs" else "nothing")
    return (f"{_device()}: *{shows}*. compute-sanitizer: *{tools}*. "
            f"`tenfold check`: *{look['check']['text']}*.")


def pitfalls_found(by):
    """How many pitfalls there are ("all"), show on a GPU ("plain"), hang there ("hangs"), are found by
    compute-sanitizer ("sanitizer") or by `tenfold check` ("check")."""
    by_tool = {
        "all": lambda look: True,
        "plain": lambda look: look["plain"]["found"],
        "hangs": lambda look: look["plain"]["text"] == "hangs",
        "sanitizer": _tools_that_find,
        "check": lambda look: look["check"]["found"],
    }
    return sum(bool(by_tool[by](look)) for look in _looks().values())


def pitfalls_table():
    """All pitfalls, in the order of their list, and who finds them."""
    rows = []
    pattern = re.compile(r"^\| \[(\w+)\]\(\w+\.hpp\) \| (.*?) \|")
    for name, what in (m.groups() for m in map(pattern.match, lines_of("kernels/pitfalls/README.md")) if m):
        look = _looks()[name]
        rows.append([f"[{name}](../kernels/pitfalls/{name}.hpp)", what, look["plain"]["text"],
                     ", ".join(_tools_that_find(look)), look["check"]["text"]])
    return table(["pitfall", "what is wrong", _device(), "compute-sanitizer", "`tenfold check`"], rows, right=False)
