"""Reductions: which stage, types, operator and shape a kernel's symbol names, how the executor launches it, and
whether the machine code computes the same bits."""

import collections
import functools
import json
import math
import operator
import random
import re
import struct
import subprocess
import tempfile

from machine import POISON, Memory, Wrong
from scripts.common import Failure, random_bits

SEED = 1
GRID = 3  # blocks of a stage that loops: few, so that it does
MOST_ZEROED_BYTES = 1 << 16  # a ticket, or what blocks add to: as much as any stage asks for

# ---- symbols ------------------------------------------------------------------------------------

Type = collections.namedtuple("Type", "name code numpy")  # `code` is struct's
# By their names in symbols. Python and NumPy know no bf16, which is kept as the upper half of an f32.
TYPES = {"f": Type("f32", "f", "<f4"), "d": Type("f64", "d", "<f8"), "i": Type("i32", "i", "<i4"),
         "j": Type("u32", "I", "<u4"), "l": Type("i64", "q", "<i8"), "m": Type("u64", "Q", "<u8"),
         "a": Type("i8", "b", "|i1"), "h": Type("u8", "B", "|u1"), "NS0_7float16E": Type("f16", "e", "<f2"),
         "NS0_8bfloat16E": Type("bf16", None, None)}
# tenfold::on_hip::STAGE::reduce_blocks<constants..., In, T, OPERATOR<T>>, but for an OPERATOR of one type
SYMBOL = re.compile(r"_ZN7tenfold6on_hip\d+(?P<stage>[a-z]\w*?)(?P<role>13reduce_blocks|11round_total)"
                    r"I(?P<constants>(?:Li\d+E)*)"
                    r"(?P<In>[a-z]|NS0_\d+b?float16E)(?P<T>[a-z])NS0_\d+(?P<op>[a-z_]+)"
                    r"(?:I(?P=T)E)?EEEv\w+$")

# `first` reads elements, `later` partials: code_objects.Kernel. `block` is None where any will do. Kernels of which
# that is so are those with dynamic shared memory, but for a reader's own.
Reduction = collections.namedtuple("Reduction", "stage In T op block items first later")


def is_float(element):
    return element.name in ("f32", "f64", "f16", "bf16")


def reductions_in(code):
    """Those of the stages, in their order in memory, which is that of the unit."""
    parsed, rounding = {}, {}
    for kernel in sorted(code.kernels.values(), key=lambda kernel: kernel.descriptor):
        if found := SYMBOL.match(kernel.name):
            constants = tuple(map(int, re.findall(r"Li(\d+)E", found["constants"])))
            of_role = rounding if found["role"].endswith("round_total") else parsed
            of_role[found["stage"], constants, found["In"], found["T"], found["op"]] = kernel
    for (stage, constants, In, T, op), kernel in parsed.items():
        # One that rounds takes a block and a warp, and no items.
        later = rounding.get((stage, constants[:2], In, T, op)) or parsed.get((stage, constants, T, T, op))
        if later is None:
            raise Failure(f"there is {kernel.name}, and no kernel for its later passes")
        block, items = roles_of(constants, [others for each, others, *_ in parsed if each == stage])
        yield Reduction(stage, TYPES[In], TYPES[T], op, block, items, kernel, later)


def roles_of(constants, of_stage):
    """Which of a kernel's template arguments are its block and its items. Units have each stage in several
    blocks, so that the block is the first argument that is not the same in all kernels. Of three, as BlockSize,
    WarpSize, Items, the last are the items."""
    varying = [i for i, values in enumerate(zip(*of_stage)) if len(set(values)) > 1]
    return constants[varying[0]] if varying else None, constants[2] if len(constants) == 3 else None


# ---- elements -----------------------------------------------------------------------------------


def bytes_of(element, values):
    if element.name == "bf16":
        return b"".join(struct.pack("<f", value)[2:] for value in values)
    return struct.pack(f"<{len(values)}{element.code}", *values)


def elements(element, n, kind, rng):
    """`generated` ones are those of the program; `exact` floats are whole numbers, whose sum is the same in any
    order; `special` ones are for operators that compare. Others are random; integers wrap around."""
    if kind == "generated":  # as host/data/input.cpp has them: digits that are read as a fixed-point number
        digits = {"bf16": 8, "f32": 24}[element.name]
        return [(random_bits(SEED, i) >> 64 - digits) / (1 << digits - 1) - 1 for i in range(n)]
    if not is_float(element):
        bits = 8 * struct.calcsize(element.code)
        low = 0 if element.code.isupper() else -1 << bits - 1
        return [rng.randrange(low, low + (1 << bits)) for _ in range(n)]
    if kind == "exact":
        return [float(rng.randrange(-500, 500)) for _ in range(n)]
    if kind == "special":
        values = [rng.choice((0.0, -0.0, 1.5, math.inf)) for _ in range(n)]
        if n and rng.randrange(2):
            values[rng.randrange(n)] = rng.choice((math.nan, -math.inf, -2.0**-24))
        return values
    values = [rng.uniform(-1, 1) * 10.0 ** rng.randrange(-3, 4) for _ in range(n)]
    return list(struct.unpack(f"<{n}{element.code}", bytes_of(element, values)))  # rounded


def kinds_for(reduction, is_own):
    """Which elements it is tried with."""
    if not is_float(reduction.In):
        return ["random"]
    if reduction.In.name == "bf16":  # NumPy has no files of it
        return ["generated"]
    kinds = ["generated" if is_own and reduction.op == "sum" else "random", "exact"]
    return kinds + ["special"] * (reduction.op in ("minimum", "maximum"))


def compose(f, g):
    """host/backends/adversarial_operator.hpp"""
    a, b, c, d = f >> 16, f & 0xFFFF, g >> 16, g & 0xFFFF
    return (a * c & 0xFFFF) << 16 | a * d + b & 0xFFFF


def in_order(value):
    """Before 0.0 comes -0.0."""
    return value, math.copysign(1, value)


OPERATORS = {"sum": operator.add, "product": operator.mul, "minimum": min, "maximum": max, "bit_and": operator.and_,
             "bit_or": operator.or_, "bit_xor": operator.xor, "gcd": math.gcd, "composition": compose}


def exact_result(reduction, values, kind):
    """By Python's numbers, as the type wraps them around; None where rounding or an identity decides."""
    rounds = reduction.op == "product" or reduction.op == "sum" and kind != "exact"
    if not values or reduction.op not in OPERATORS or is_float(reduction.T) and rounds:
        return None
    if not is_float(reduction.T):
        result = functools.reduce(OPERATORS[reduction.op], values)
        size = struct.calcsize(reduction.T.code)
        return struct.unpack("<" + reduction.T.code, (result & (1 << 8 * size) - 1).to_bytes(size, "little"))[0]
    if any(value != value for value in values):
        return math.nan
    if reduction.op == "sum":
        return sum(values)
    return OPERATORS[reduction.op](values, key=in_order)


def sizes_for(warp, block, items):
    """Around the edges of warps, blocks and tiles, and enough tiles for every loop over them."""
    tile = block * (items or 2)
    return sorted({0, 1, warp - 1, warp, block - 1, block, block + 1, 1000, 4099, tile - 1, tile, tile + 1,
                   4 * tile + 3, 20 * tile - 11})


# ---- the executor -------------------------------------------------------------------------------


class NotOffered(Exception):
    """The program refuses what a kernel was compiled for: it is part of another reduction."""


def line_of(words):
    """The one that says what is wrong: a compiler's, or the last."""
    lines = words.strip().splitlines() or ["it does not say why"]
    return next((line for line in lines if "error:" in line), lines[-1])


def rows_of(*command):
    """What the program measures, in its words."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 2:
        raise NotOffered(line_of(done.stderr))
    if done.returncode != 0 and not done.stdout.startswith("{"):
        raise Failure(f"the executor fails: {line_of(done.stderr or done.stdout)}")
    return json.loads(done.stdout)["benchmarks"]


class Executor:
    """`tenfold run`, which plans the passes of a stage and says what comes out."""

    is_own = False

    def __init__(self, program, looping_stages):
        self.program, self.looping_stages = program, looping_stages

    def prepare(self, reduction, block, warp, sizes):
        pass

    def run(self, reduction, block, warp, values, kind):
        """@return the passes, and the result"""
        command = [self.program, "run", reduction.stage, "--device", f"simt:{warp}", "--op", reduction.op, "--block",
                   str(block), "--repeat", "1", "--json", "-"]
        if reduction.items:
            command += ["--items", str(reduction.items)]
        if reduction.stage in self.looping_stages:
            command += ["--grid", str(GRID)]
        if kind == "generated":
            (row,) = rows_of(*command, "--type", reduction.In.name, "--n", str(len(values)), "--seed", str(SEED))
            result = row.get("rounding", row)["result"]
        else:
            with tempfile.NamedTemporaryFile(suffix=".npy") as file:
                file.write(npy(reduction.In, values))
                file.flush()
                (row,) = rows_of(*command, "--input", file.name)
            result = row["result"]
        return row["passes"], float(result) if is_float(reduction.T) else result


class ExecutorOfOwn:
    """`tenfold ladder --kernel FILE`, which has all sizes in one call, since each puts the kernel on trial. It
    knows sums of f32; what else comes out must be exact."""

    is_own = True

    def __init__(self, program, file):
        self.program, self.file, self.rows = program, file, {}

    def prepare(self, reduction, block, warp, sizes):
        if (block, warp) in self.rows:
            return
        command = [self.program, "ladder", "--kernel", self.file, "--sizes", ",".join(map(str, sizes)), "--device",
                   f"simt:{warp}", "--block", str(block), "--repeat", "1", "--seed", str(SEED), "--json", "-"]
        for grid in (["--grid", str(GRID)], []):  # the first, if it takes one
            try:
                rows = {row["n"]: row for row in rows_of(*command, *grid) if row["stage_name"] == reduction.stage}
            except NotOffered as refusal:
                raise Failure(str(refusal)) from refusal
            if rows:
                self.rows[block, warp] = rows
                return
        raise Failure(f"'{self.program} ladder --kernel {self.file}' does not run the kernel in blocks of {block}")

    def run(self, reduction, block, warp, values, kind):
        row = self.rows[block, warp][len(values)]
        if kind != "generated":
            return row["passes"], None
        return row["passes"], float(row.get("rounding", row)["result"])


def npy(element, values):
    """A file of NumPy's."""
    header = f"{{'descr': '{element.numpy}', 'fortran_order': False, 'shape': ({len(values)},), }}"
    header += " " * (-(11 + len(header)) % 64) + "\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + bytes_of(element, values)


# ---- running ------------------------------------------------------------------------------------


def reduce(machine, reduction, block, shared_bytes, passes, values, shift, rng):
    """All passes over some elements, which begin `shift` elements after an aligned address. @return the bytes of
    the result, and how many instructions ran"""
    element_size = len(bytes_of(reduction.In, [0]))
    partial_size = len(bytes_of(reduction.T, [0]))
    # Beside input, output, n and the operator: room for partials, and what all calls leave at zero.
    folds_its_partials = sum(not kind.startswith("hidden_") for kind, *_ in reduction.first.arguments) > 4
    memory, executed = Memory(bytes_of(reduction.In, values), shift * element_size), 0
    zeroed = Memory(bytes(MOST_ZEROED_BYTES))
    for i, launch in enumerate(passes):
        kernel, blocks = (reduction.later if i else reduction.first), launch["blocks"]
        before = memory.content()
        out = Memory(bytes([POISON]) * partial_size * (1 if folds_its_partials else blocks))
        partials = Memory(bytes([POISON]) * partial_size * blocks)
        executed += machine.launch(kernel, blocks, block, [memory.address, out.address, launch["n"], 0,
                                                           partials.address, zeroed.address], shared_bytes, rng)
        if memory.content() != before:
            raise Wrong("it writes to its input")
        if not all(each.is_intact_around() for each in (memory, out, partials, zeroed)):
            raise Wrong("it writes beyond what is its own")
        memory = out
    if any(zeroed.content()):
        raise Wrong("the ticket, or what else was zero, is not zero again at the end")
    return memory.content(), executed


def judge(reduction, result, expected, exact):
    """@throws Wrong where a result has other bits than the executor's or than the exact one, as far as they are
    known. All NaN are the same."""
    (got,) = struct.unpack("<" + reduction.T.code, result)
    for known, whose in ((expected, "the executor's"), (exact, "the exact")):
        both_are_nan = known is not None and got != got and known != known
        if known is not None and bytes_of(reduction.T, [known]) != result and not both_are_nan:
            raise Wrong(f"{got!r}, and {whose} result is {known!r}")


def check(machine, reduction, block, shared_bytes, executor, sizes, announce):
    """Runs a reduction over all sizes and kinds of elements, aligned and not. `announce` is called before each
    case. @param shared_bytes that a launch asks for, None: as the stages do. @return how many cases there were,
    and how many instructions"""
    rng, cases, executed = random.Random(SEED), 0, 0
    sizes = sizes or sizes_for(machine.warp, block, reduction.items)
    executor.prepare(reduction, block, machine.warp, sizes)
    if shared_bytes is None:  # of a stage: as common/stage.hpp, shared_partials
        shared_bytes = 0 if reduction.block else block * len(bytes_of(reduction.T, [0]))
    for n in sizes:
        for kind in kinds_for(reduction, executor.is_own):
            values = elements(reduction.In, n, kind, rng)
            passes, expected = executor.run(reduction, block, machine.warp, values, kind)
            exact = exact_result(reduction, values, kind)
            for shift in (0, 1):
                case = f"n {n}, {kind} elements{', not aligned' if shift else ''}"
                announce(case)
                try:
                    result, ran = reduce(machine, reduction, block, shared_bytes, passes, values, shift, rng)
                    judge(reduction, result, expected, exact)
                except Wrong as wrong:
                    raise Wrong(f"{case}: {wrong}") from wrong
                cases, executed = cases + 1, executed + ran
    return cases, executed
