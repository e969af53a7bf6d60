"""What tenfold prints and counts."""

import functools
import json
import os
import pathlib
import shlex
import subprocess
import threading

from blocks.markdown import choose, fence, number
from blocks.sources import file_of, line_with, lines_of, name_of
from scripts.common import ROOT, table


class NoProgram(Exception):
    """There is no program to ask."""


_program = None


def use_program(path):
    global _program
    _program = path if path != "none" else None


@functools.cache
def run(arguments, expected=(0,)):
    """What `tenfold ARGUMENTS` prints."""
    if _program is None:
        raise NoProgram
    environment = dict(os.environ, LC_ALL="C.UTF-8", NO_COLOR="1")
    done = subprocess.run([_program, *shlex.split(arguments)], cwd=ROOT, env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode not in expected:
        raise ValueError(f"exit code {done.returncode}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def result_of(arguments):
    """What `tenfold run ARGUMENTS` computes of elements that round, in as many digits as an f32 has."""
    value, = (row["rounding"]["result"] for row in json.loads(run(f"run {arguments} --json -"))["benchmarks"])
    return f"{value:.9g}"


def console(arguments, head=False, heading=None, after=None, until=None, status=0):
    """A command and what it prints: all of it, or the head before the first blank line; or from
    the line that holds the text `after` on, below the line that holds `heading` if there is one, or
    to the line that holds `until`. `status` is the exit code that is expected."""
    where = f"what tenfold {arguments} prints"
    lines = run(arguments, (status,)).replace(f"{ROOT}/", "").rstrip().splitlines()
    if head and "" in lines:
        lines = lines[:lines.index("")]
    if after is not None:
        above = [line for line in lines if heading is not None and heading in line]
        lines = ["...", *above, *lines[line_with(lines, after, where):]]
    if until is not None:
        lines = lines[:line_with(lines, until, where) + 1] + ["..."]
    return fence("\n".join([f"$ ./tenfold {arguments}", *lines]), "console")


def diff(before, after, around=2):
    """What a stage changes in the one before: lines of code, comments left out."""
    lines = run(f"diff {before} {after}").rstrip().splitlines()
    summary = lines[-1]
    body = lines[2:-2]
    # The name of the namespace is no news, nor is what the host is told.
    changed = [i for i, line in enumerate(body)
               if line[:1] in "+-" and "namespace tenfold" not in line]
    kept, text = {j for i in changed for j in range(i - around, i + around + 1)}, []
    for i, line in enumerate(body):
        if i not in kept:
            continue
        if text and i - 1 not in kept:
            text.append("  ...")
        text.append(line.rstrip())
    summary = summary.replace(" (comments left out)", "")
    return fence("\n".join(text), "diff") + f"\n\n{summary}, by `./tenfold diff {before} {after}`."


_one_at_a_time = threading.Lock()


@functools.cache
def _profiles_of(arguments):
    document = json.loads(run(f"profile {arguments} --json -"))
    return {(p["stage_name"], p["warp"]): p for p in document["profiles"]}


def _profiles(kernel_name, options):
    # All stages at once, for the pages ask for most of them.
    is_stage = not options and kernel_name.isdigit()
    with _one_at_a_time:
        return _profiles_of("--all" if is_stage else f"{kernel_name} {options}".strip())


def profile(stage, key, warp=32, options=""):
    """A figure of `tenfold profile STAGE --json -`: "shared_wavefronts", or of the first launch
    "passes.0.shared_reads.requests". `stage` may be the name of a pitfall or a kernel's file."""
    name = name_of(stage) if isinstance(stage, int) else pathlib.Path(stage).stem
    value = _profiles(str(stage), options)[name, warp]
    for step in key.split("."):
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


def lanes_at(stage, text, warp=32):
    """The lanes that take part in a read of shared memory, at the kernel's first line with this
    text, on average on the executor."""
    at = line_with(lines_of(file_of(stage)), text, file_of(stage)) + 1
    for line in profile(stage, "lines", warp):
        if line["line"] == at and line["shared_reads"]["requests"]:
            return line["shared_reads"]["lanes"] / line["shared_reads"]["requests"]
    raise ValueError(f"line {at} of {file_of(stage)} reads no shared memory")


COUNTERS = [
    ("launches", "launches"),
    ("blocks", "blocks"),
    ("global memory: requests", "global_requests"),
    ("bytes used of those moved, %", "sector_efficiency"),
    ("shared memory: requests", "shared_requests"),
    ("wavefronts", "shared_wavefronts"),
    ("wavefronts per request", "wavefronts_per_request"),
    ("worst bank conflict, ways", "worst_bank_conflict"),
    ("active lanes per request to shared memory", "active_lanes_at_shared_memory"),
    ("active lanes per step", "active_lanes"),
    ("steps per element", "steps_per_element"),
    ("barriers per block", "barriers_per_block"),
    ("warp barriers", "warp_barriers"),
    ("shuffles", "shuffles"),
]


def counters(stage, *keys, warps=(32, 64)):
    """The counters of a stage beside those of the one before, on the executor; all, or those that
    are named by their keys in the program's JSON (see COUNTERS)."""
    before = stage - 1
    chosen = choose(COUNTERS, keys)
    columns = [(s, w) for w in warps for s in ((before, stage) if before else (stage,))]
    heads = ["2^20 elements, blocks of 256"] + [f"stage {s}, warps of {w}" for s, w in columns]
    rows = [[title, *(number(round(profile(s, key, w), 2)) for s, w in columns)]
            for title, key in chosen]
    return table(heads, rows)
