"""What tests/emulator/run has run of AMD's machine code."""

import itertools
import re

from blocks.markdown import number
from blocks.results import results
from scripts.common import table

FILE = "amd-emulator.json"


def _ranges(stages):
    """"1 to 11, 13": what is no number is a name."""
    numbers, runs = sorted(each for each in stages if isinstance(each, int)), []
    for _, run in itertools.groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
        first, *_, last = 2 * [stage for _, stage in run]
        runs.append(f"{first} to {last}" if last > first else str(first))
    return ", ".join([*runs, *sorted(each for each in stages if isinstance(each, str))])


def _all_of(jobs, key):
    """Those of all jobs, in their order; "all" where a job was not limited to some."""
    if any(job[key] is None for job in jobs):
        return "all"
    return ", ".join(dict.fromkeys(each for job in jobs for each in job[key]))


def _line(call):
    jobs = call["jobs"]
    compiler = re.search(r"(\w+) version ([\d.]+)", call["compiler"])
    return [f"`{call['command']}`", f"{compiler[1]} {compiler[2]}", _ranges({job["stage"] for job in jobs}), _all_of(jobs, "types"),
            _all_of(jobs, "operators"), *(number(sum(job[key] for job in jobs)) for key in ("kernels", "cases")),
            number(sum(len(job["wrong"]) for job in jobs))]


def emulated():
    """A table of all calls."""
    heads = ["command", "compiler", "stages", "element types", "operators", "kernels", "cases right", "wrong"]
    return table(heads, map(_line, results(FILE)), right=False)
