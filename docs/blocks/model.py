"""What the model says of stages on a GPU, and by how much it is off."""

import functools
import json

from blocks.ladders import fact, ladder
from blocks.markdown import count
from blocks.profiler import hardware
from blocks.program import run
from blocks.results import GPU
from scripts.common import table

SIZES = [2**exponent for exponent in range(22, 31)]
FAR = 0.15  # off by more than that is a miss


@functools.cache
def _document(n):
    return json.loads(run(f"model --all --n {n} --json -"))


def modelled_gpu():
    """The name of the GPU that the model is of where it is not told another."""
    return _document(SIZES[0])["context"]["gpu"]


def _models(n):
    return {each["stage"]: each for each in _document(n)["models"]}


def off(stage, n):
    """By which part of the measured time the model is above it, or below."""
    return _models(n)[stage]["predicted"] / _models(n)[stage]["measured"] - 1


def residuals():
    """Stages by size: by how much the model is off."""
    def cell(stage, n):
        text = f"{100 * off(stage, n):+.0f}%"
        return f"**{text}**" if abs(off(stage, n)) > FAR else text
    return table(["stage", "bound by, at 2^28", *map(count, SIZES)],
                 [[f"{stage} {each['stage_name']}", each["bound"], *(cell(stage, n) for n in SIZES)]
                  for stage, each in _models(2**28).items()])


def missed_at(stage):
    """The sizes at which the model misses a stage."""
    return [n for n in SIZES if abs(off(stage, n)) > FAR]


def missed():
    """The stages that it misses at some size."""
    return [stage for stage in _models(2**28) if missed_at(stage)]


def modelled(stage, key, n=2**28):
    return _models(n)[stage][key]


def seconds_between_blocks():
    first = modelled(1, "passes")[0]
    return first["starts"] * 1e-6 / first["blocks"]


def seconds_of_instructions(stage, n=2**28):
    """Of stage's first launch, where every multiprocessor issues four warps' instructions a cycle."""
    return (hardware(stage, "instructions") * (n / 2**20) / fact("multiprocessors") / 4
            / fact("core_hertz", f"{GPU}-ladder-256.json"))
