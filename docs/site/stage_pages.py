"""What the site adds to the page of a stage: where on the ladder the reader is, and the whole kernel with
the lines that changed, and a player in the place of its drawing. A repository browser shows none of them."""

import difflib
import html
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "docs"), str(ROOT)]
from blocks.ladders import gain, gpu, ladder, ladder_mode  # noqa: E402
from blocks.markdown import count, gigabytes, percent  # noqa: E402
from blocks.sources import file_of, lines_of, name_of, page_of  # noqa: E402

STAGES = range(1, 11)
DIFF = re.compile(r"^```diff\n.*?^```\n\n[^\n]*`\./tenfold diff [^\n]*\n", re.MULTILINE | re.DOTALL)
DRAWING = re.compile(r"^!\[[^\n]*\]\(\.\./images/\d\d_\w+\.svg\)\n", re.MULTILINE)
THE_CHANGE = "\n## The change\n"  # a page without a drawing has its player before it


def reached(stage):
    """What a GPU gives a stage, in half a sentence."""
    gained = f", {gain(stage):.2f} x stage {stage - 1}" if stage > 1 else ""
    return (f"{gigabytes(ladder(stage, 'bytes_per_second'))}{gained}, "
            f"{percent(ladder(stage, 'share_of_ceiling'))} of what can be read")


def small_ladder(here):
    """A bar for each stage, which leads to its page."""
    most = max(ladder(stage, "bytes_per_second") for stage in STAGES)
    lines = ['<nav class="ladder" aria-label="The ten stages">', "<ol>"]
    for stage in STAGES:
        words = html.escape(f"Stage {stage}, {name_of(stage)}: {reached(stage)}")
        current = ' aria-current="page"' if stage == here else ""
        address = pathlib.Path(page_of(stage)).with_suffix(".html").name
        lines.append(f'<li><a href="{address}" aria-label="{words}" title="{words}"{current} '
                     f'style="--share: {ladder(stage, "bytes_per_second") / most:.4f}">{stage}</a></li>')
    what = (f"Sum of {count(ladder(here, 'n'))} {ladder(here, 'type')}, {gpu()}, {ladder_mode()}, each stage in its "
            "best shape.")
    return "\n".join([*lines, "</ol>", f"<p><strong>You are here:</strong> {reached(here)}.<br>{what}</p>", "</nav>"])


def kernel_lines(stage):
    """A stage's code: what stands in its namespace."""
    lines = lines_of(file_of(stage))
    begin = next(i for i, line in enumerate(lines) if line.startswith("namespace "))
    end = next(i for i, line in enumerate(lines) if line.startswith("}  // namespace "))
    return lines[begin + 2:end - 1]


def changed_lines(stage):
    """The places of a kernel's lines that the stage before has not, comments aside; from 1 on."""
    def code(lines):
        without_comments = (re.sub(r" *//.*", "", line) for line in lines)
        return [(place, line) for place, line in enumerate(without_comments, 1) if line]

    before, after = code(kernel_lines(stage - 1)), code(kernel_lines(stage))
    matcher = difflib.SequenceMatcher(None, *([line for _, line in lines] for lines in (before, after)), autojunk=False)
    return [after[j][0] for edit, _, _, begin, end in matcher.get_opcodes() if edit != "equal"
            for j in range(begin, end)]


def whole_kernel(stage):
    marked = ",".join(map(str, changed_lines(stage)))
    return "\n".join(["<details><summary>The whole kernel, changed lines marked</summary>", "",
                      "```{code-block} cpp", f":emphasize-lines: {marked}", "", *kernel_lines(stage), "```", "",
                      "</details>", ""])


def player(stage):
    """What the site's script makes a player of; without it the link leads there."""
    page = pathlib.Path(file_of(stage)).with_suffix(".html").name
    return (f'<div class="player" data-title="Stage {stage}, {name_of(stage)}, step by step">'
            f'<a href="../_static/players/{page}">Play it, step by step</a></div>\n')


def with_player(text, stage):
    drawing = DRAWING.search(text)
    end = drawing.end() if drawing else text.index(THE_CHANGE)
    return f"{text[:end]}\n{player(stage)}{text[end:]}"


def with_additions(text, stage, has_player):
    """A stage's page with its place on the ladder before the first heading, its kernel after the diff, and, if
    there is one, its player after its drawing."""
    if has_player:
        text = with_player(text, stage)
    head, mark, rest = text.partition("\n## ")
    text = f"{head}\n{small_ladder(stage)}\n{mark}{rest}"
    if stage > 1:  # the first page shows all of its kernel
        diff = DIFF.search(text)
        if diff is None:
            raise ValueError(f"the page of stage {stage} shows no diff for its kernel to follow")
        text = f"{text[:diff.end()]}\n{whole_kernel(stage)}{text[diff.end():]}"
    return text
