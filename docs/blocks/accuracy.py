"""How far sums of the same floats are from the exact one: by the stages, and by loops in Python."""

import functools
import json
import math
import pathlib
import struct
import tempfile

from blocks.markdown import count, where
from blocks.program import run
from scripts.common import random_bits, table

SUMMED = 2**18
SEEDS = (1, 2, 3, 4)
SHAPE = "--device simt:32 --block 256"
# How stages fold. Those that are left out fold the same pairs as the one before: see same_bits().
FOLDS = {1: "stages 1 and 2: neighbours first", 3: "stage 3: the first half folds the second",
         4: "stages 4 to 7: the same, after one addition on load", 8: "stage 8: warps first",
         9: "stage 9: a thread's 4 elements first", 10: "stage 10: a thread's 16 elements first"}

_FLOAT = struct.Struct("<f")


def _f32(x):
    """The nearest float. Of a sum or a difference of two floats in Python's doubles this is what
    hardware makes of it in f32: doubles have digits enough for the first rounding to do no harm."""
    return _FLOAT.unpack(_FLOAT.pack(x))[0]


@functools.cache
def _elements(signs, seed):
    """The program's random floats, from -1 to 1; or the same bits read as floats from 0 to 1."""
    bits = [random_bits(seed, i) >> 40 for i in range(SUMMED)]
    return [b / 2**23 - 1 for b in bits] if signs else [b / 2**24 for b in bits]


def _in_a_row(elements):
    total = 0.0
    for x in elements:
        total = _f32(total + x)
    return total


def _pairwise(elements):
    while len(elements) > 1:
        elements = [_f32(a + b) for a, b in zip(elements[::2], elements[1::2])]
    return elements[0]


def _kahan(elements):
    total = lost = 0.0
    for x in elements:
        x = _f32(x - lost)
        larger = _f32(total + x)
        lost = _f32(_f32(larger - total) - x)
        total = larger
    return total


LOOPS = {"sequential": ("a loop, one after the other", _in_a_row),
         "pairwise": ("a loop, pairwise: neighbours, then sums of neighbours", _pairwise),
         "kahan": ("a loop with Kahan's correction", _kahan),
         "double": ("a loop in f64, rounded to f32 at the end", lambda elements: _f32(sum(elements)))}


@functools.cache
def _result_of_stage(stage, signs, seed):
    options = f"{stage} {SHAPE} {'--grid 64' if stage == 10 else ''} --repeat 1 --json -"
    if signs:
        row, = json.loads(run(f"run {options} --n {SUMMED} --seed {seed}"))["benchmarks"]
        return row["rounding"]["result"]
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "positive.npy"
        head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({SUMMED},)}}".ljust(117) + "\n"
        elements = struct.pack(f"<{SUMMED}f", *_elements(signs, seed))
        file.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + elements)
        row, = json.loads(run(f"run {options} --input {file}"))["benchmarks"]
        return row["result"]


@functools.cache
def _loop(summed, signs, seed):
    return summed(_elements(signs, seed))


@functools.cache
def _exact(signs, seed):
    return math.fsum(_elements(signs, seed))


def _on_average(value_of, signs):
    """The root mean square over the seeds."""
    return math.sqrt(sum(value_of(signs, seed) ** 2 for seed in SEEDS) / len(SEEDS))


def error(summed, signs=True):
    """The error of a stage, or of a loop by its name, on average."""
    value_of = functools.partial(_result_of_stage, summed) if summed in FOLDS else functools.partial(
        _loop, LOOPS[summed][1])
    return _on_average(lambda *of: value_of(*of) - _exact(*of), signs)


def errors():
    """The table of errors, by stage and by loop."""
    heads = [f"sum of {count(SUMMED)} f32, error", "from -1 to 1", "from 0 to 1"]
    rows = [(how, stage) for stage, how in FOLDS.items()]
    rows += [(how, name) for name, (how, _) in LOOPS.items()]
    return table(heads, [[title, *(f"{error(summed, signs):.2g}" for signs in (True, False))] for title, summed in rows])


def sum_itself(signs=True):
    """How large the sums are."""
    return f"{_on_average(_exact, signs):.0f}"


def same_bits(words, *summed):
    """Words that hold if stages, or loops by their names, give the same bits, of either kind of elements."""
    for signs in (True, False):
        seed = SEEDS[0]
        bits = {_loop(LOOPS[s][1], signs, seed) if s in LOOPS else _result_of_stage(s, signs, seed) for s in summed}
        where(len(bits) == 1, words)
    return words
