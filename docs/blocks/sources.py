"""What stands in the sources and on other pages."""

import functools
import pathlib
import re
import textwrap

from blocks.markdown import fence
from scripts.common import ROOT, read, table

LANGUAGES = {".hpp": "cpp", ".cpp": "cpp", ".py": "python", ".txt": "cmake"}


@functools.cache
def lines_of(file):
    return read(ROOT / file).splitlines()


def line_with(lines, text, where, begin=0):
    """The place of the first line from `begin` on that holds the text."""
    for i in range(begin, len(lines)):
        if text in lines[i]:
            return i
    raise ValueError(f"no line has {text!r} in {where}")


@functools.cache
def catalogue():
    """number -> (name, change), of every stage."""
    pattern = re.compile(r'^  STAGE\((\d+), (\w+), \w+, "([^"]*)"\)', re.MULTILINE)
    text = "\n".join(lines_of("host/reduce/catalogue.hpp"))
    return {int(n): (name, change) for n, name, change in pattern.findall(text)}


def name_of(stage):
    return catalogue()[stage][0]


def idea(stage):
    """Half a line on what the stage changes."""
    return catalogue()[stage][1]


def with_the_one_before(stage):
    return range(max(1, stage - 1), stage + 1)


def file_of(stage):
    folder = "kernels" if stage <= 10 else "kernels/beyond"
    return f"{folder}/{stage:02d}_{name_of(stage)}.hpp"


def page_of(stage):
    """Where a stage is told of: on a page of its own, or under a heading of the page on those beyond."""
    if stage <= 10:
        return f"stages/{stage:02d}_{name_of(stage)}.md"
    page = lines_of("docs/beyond.md")
    heading = page[line_with(page, f"# Stage {stage}", "docs/beyond.md")]
    words = re.sub(r"[^\w\- ]", "", heading.lstrip("# ").lower())
    return f"beyond.md#{words.replace(' ', '-')}"


def stages(first, last, to_docs=""):
    """A table of stages; `to_docs` leads from the page's folder to docs/."""
    to_root = "" if to_docs == "docs/" else to_docs + "../"
    rows = []
    for stage, (name, change) in catalogue().items():
        if first <= stage <= last:
            file = pathlib.Path(file_of(stage))
            rows.append([f"[{stage} {name}]({to_docs}{page_of(stage)})", change,
                         f"[{file.name}]({to_root}{file})"])
    return table(["stage", "idea", "kernel"], rows, right=False)


def contents(*pages):
    """A list of pages in docs/ by their titles."""
    titles = {page: lines_of(f"docs/{page}")[0].removeprefix("# ") for page in pages}
    return "\n".join(f"- [{title}]({page})" for page, title in titles.items())


def code(file, first, last=None):
    """The lines from the first that holds the text `first` to the next that holds `last`, or to the
    brace that closes what begins there: "}"."""
    lines = lines_of(file)
    begin = end = line_with(lines, first, file)
    if last == "}":
        end = lines.index(re.match(" *", lines[begin])[0] + "}", begin)
    elif last is not None:
        end = line_with(lines, last, f"{file} after {first!r}", begin)
    return fence(textwrap.dedent("\n".join(lines[begin:end + 1])), LANGUAGES[pathlib.Path(file).suffix])


def source(file):
    """A source file, without what it says at its head."""
    lines = lines_of(file)
    begin = next(i for i, line in enumerate(lines) if not line.startswith("//"))
    return fence("\n".join(lines[begin:]), LANGUAGES[pathlib.Path(file).suffix])


def kernel(stage):
    """The kernel of a stage, whole."""
    return code(file_of(stage), "template <", "}")


def standalone(stage):
    """The two lines that build examples/standalone.cpp with a stage's kernel, and run it."""
    program = f"/tmp/stage_{stage}"
    rest = (f"-std=c++20 -I. -DSTAGE={name_of(stage)} -include {file_of(stage)} examples/standalone.cpp"
            f" -o {program} && {program}")
    return fence(f"nvcc -x cu -arch=native {rest}\nhipcc {rest}")


def claims(*tests):
    """Rows of docs/claims.md, by the names of their tests."""
    rows = [line for line in lines_of("docs/claims.md") if line.startswith("|")]
    chosen = []
    for test in tests:
        found = [row for row in rows if f".{test}`" in row or f".{test}/" in row]
        if not found:
            raise ValueError(f"docs/claims.md has no test {test}")
        chosen += [row.removeprefix("| ").rpartition(" | `")[0].split(" | ") for row in found]
    return table(["claim", "verdict", "what the code shows"], chosen, right=False)


def image(name, to_images="images/"):
    """A picture of docs/images/ with what it says of itself; `to_images` leads there."""
    text = read(ROOT / "docs/images" / f"{name}.svg")
    found = re.search(r"<desc[^>]*>(.*?)</desc>", text, re.DOTALL)
    words = " ".join(found[1].split()) if found else name
    return f"![{words.replace('[', '(').replace(']', ')')}]({to_images}{name}.svg)"


def drawing(stage):
    """What the first block of a stage does, on the page of the stage."""
    return image(f"{stage:02d}_{name_of(stage)}", "../images/")
