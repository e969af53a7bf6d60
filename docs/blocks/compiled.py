"""What compilers make of the stages, as docs/record-machine-code found it."""

import hashlib

from blocks.markdown import fence, rows_of
from blocks.results import results
from blocks.sources import file_of, line_with, lines_of, with_the_one_before
from scripts.common import ROOT, table

ARCHITECTURES = {"sm_90": "NVIDIA sm_90", "gfx942": "AMD gfx942 (CDNA3)",
                 "gfx1100": "AMD gfx1100 (RDNA3)"}


def _machine(stage, architecture):
    record = results("machine-code.json")["architectures"][architecture]["kernels"][str(stage)]
    if record["source"] != hashlib.sha256((ROOT / file_of(stage)).read_bytes()).hexdigest():
        raise ValueError(f"{file_of(stage)} is another than the recorded one; run docs/record-machine-code "
                         f"{architecture}")
    return record


def machine(stage, architecture, key):
    """A figure of the recorded machine code: "instructions", "vector_registers", "shuffles", ..."""
    return _machine(stage, architecture)[key]


def compilers():
    """Which compilers the recorded machine code of the ten stages is by."""
    records = results("machine-code.json")["architectures"]
    return "; ".join(f"{name}: {record['language']} by {record['compiler']}"
                     for name, record in records.items() if name in ARCHITECTURES)


MACHINE_ROWS = {
    "instructions": "instructions",
    "vector_registers": "vector registers",
    "shared_bytes": "shared memory, bytes",
    "loops": "loops",
    "block_barriers": "block barriers",
    "loads_of_16_bytes": "loads of 16 bytes",
    "shared_memory": "accesses to shared memory",
    "shuffles": "shuffles",
    "branches": "branches",
}


def machine_code(stage, *keys):
    """The machine code of a stage beside that of the one before, on both vendors: rows of MACHINE_ROWS,
    by their keys."""
    columns = [(a, s) for a in ARCHITECTURES for s in with_the_one_before(stage)]
    heads = ["f32 sum, block 256, compiled"] + [f"{a}: stage {s}" for a, s in columns]
    return table(heads, rows_of(MACHINE_ROWS, keys, lambda key: [machine(s, a, key) for a, s in columns]))


def instructions(stage, architecture, text, first=None, last=None):
    """The instructions that come from the kernel's first line with this text; or of them those from
    the first that holds the text `first` to the next that holds `last`."""
    at = line_with(lines_of(file_of(stage)), text, file_of(stage)) + 1
    chosen = [line.partition(" ")[2] for line in _machine(stage, architecture)["code"]
              if line.startswith(f"{at}: ")]
    if not chosen:
        raise ValueError(f"no instruction of {architecture} comes from line {at} of {file_of(stage)}")
    if first is not None:
        where = f"the instructions of {architecture} from line {at} of {file_of(stage)}"
        begin = line_with(chosen, first, where)
        end = line_with(chosen, last, where, begin)
        chosen = chosen[begin:end + 1]
    return fence("\n".join(chosen), "text")
