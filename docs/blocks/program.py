"""What tenfold prints and counts."""

import functools
import json
import os
import pathlib
import shlex
import subprocess
import threading

from blocks.markdown import fence, rows_of
from blocks.sources import file_of, line_with, lines_of, name_of, with_the_one_before
from scripts.common import ROOT, table


class NoProgram(Exception):
    """There is no program to ask."""


_program = "none"


def use_program(path):
    global _program
    _program = path


def program_of_build(name):
    """Another one, from the same folder."""
    path = pathlib.Path(_program).with_name(name)
    if _program == "none" or not path.exists():
        raise NoProgram
    return path


@functools.cache
def run(arguments, status=0):
    """What `tenfold ARGUMENTS` prints, where it ends with this exit code."""
    if _program == "none":
        raise NoProgram
    environment = dict(os.environ, LC_ALL="C.UTF-8", NO_COLOR="1", COLUMNS="")
    done = subprocess.run([_program, *shlex.split(arguments)], cwd=ROOT, env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != status:
        raise ValueError(f"exit code {done.returncode}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def result_of(arguments):
    """What `tenfold run ARGUMENTS` computes of elements that round, in as many digits as an f32 has."""
    value, = (row["rounding"]["result"] for row in json.loads(run(f"run {arguments} --json -"))["benchmarks"])
    return f"{value:.9g}"


def console(arguments, head=False, after=None, until=None, status=0):
    """A command and what it prints: all of it, or the head before the first blank line; or from the line
    that holds the text `after`, or to the one that holds `until`. `status` is the exit code that is expected."""
    where = f"what tenfold {arguments} prints"
    lines = run(arguments, status).replace(f"{ROOT}/", "").rstrip().splitlines()
    if head and "" in lines:
        lines = lines[:lines.index("")]
    if after is not None:
        lines = ["...", *lines[line_with(lines, after, where):]]
    if until is not None:
        lines = lines[:line_with(lines, until, where) + 1] + ["..."]
    return fence("\n".join([f"$ ./tenfold {arguments}", *lines]), "console")


def diff(before, after, around=2):
    """What a stage changes in the one before: lines of code, comments left out."""
    _, _, *body, _, summary = run(f"diff {before} {after}").rstrip().splitlines()
    # A change of the namespace's name alone says nothing.
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
def _profiles(arguments):
    document = json.loads(run(f"profile {arguments} --json -"))
    return {(p["stage_name"], p["warp"]): p for p in document["profiles"]}


def profile(stage, key, warp=32, options=""):
    """A figure of `tenfold profile STAGE --json -`: "shared_wavefronts", or of the first launch
    "passes.0.shared_reads.requests". `stage` may be the name of a pitfall or a kernel's file."""
    is_stage = isinstance(stage, int)
    # All stages at once, for the pages ask for most of them.
    arguments = "--all" if is_stage and not options else f"{stage} {options}"
    with _one_at_a_time:
        value = _profiles(arguments)[name_of(stage) if is_stage else pathlib.Path(stage).stem, warp]
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


COUNTERS = {
    "launches": "launches",
    "blocks": "blocks",
    "global_requests": "global memory: requests",
    "sector_efficiency": "bytes used of those moved, %",
    "shared_requests": "shared memory: requests",
    "shared_wavefronts": "wavefronts",
    "wavefronts_per_request": "wavefronts per request",
    "worst_bank_conflict": "worst bank conflict, ways",
    "active_lanes_at_shared_memory": "active lanes per request to shared memory",
    "active_lanes": "active lanes per step",
    "steps_per_element": "steps per element",
    "barriers_per_block": "barriers per block",
    "warp_barriers": "warp barriers",
    "shuffles": "shuffles",
}


def counters(stage, *keys, warps=(32, 64)):
    """The counters of a stage beside those of the one before, on the executor, by their keys in the
    program's JSON (see COUNTERS)."""
    columns = [(s, w) for w in warps for s in with_the_one_before(stage)]
    heads = ["2^20 elements, blocks of 256"] + [f"stage {s}, warps of {w}" for s, w in columns]
    return table(heads, rows_of(COUNTERS, keys, lambda key: [round(profile(s, key, w), 2) for s, w in columns]))
