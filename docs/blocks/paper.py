"""What AMD's GPUs should make of the kernels, on paper.

What others published of the GPUs (bench/paper/gpus.json), joined with what a compiler tells of the kernels
(bench/paper/facts.cpp). It measures nothing, and needs no GPU: TENFOLD_HIP_COMPILER names a compiler that knows these
GPUs, such as 'clang++-19 --rocm-path=FOLDER'.
"""

import functools
import json
import math
import subprocess

from blocks.program import NoProgram, program_of_build
from blocks.sources import lines_of
from scripts.common import ROOT, SKIPPED, read_json, table

GPUS = ROOT / "bench/paper/gpus.json"
LOAD_BYTES = 16
ELEMENT_BYTES = 4  # all of f32


@functools.cache
def _paper():
    return read_json(GPUS)


@functools.cache
def _asked():
    """The compiler, by the program that asks it."""
    return subprocess.run([program_of_build("on_paper_facts"), GPUS], capture_output=True, text=True)


def _facts():
    """What the compiler told. Another one than the page names counts otherwise, and is none of its business."""
    if _asked().returncode == SKIPPED:
        raise NoProgram
    if _asked().returncode:
        raise ValueError(_asked().stderr.strip())
    facts = json.loads(_asked().stdout)
    if f"By {facts['compiler']}:" not in lines_of("docs/amd.md"):
        raise NoProgram
    return facts


# ---- Little's law -------------------------------------------------------------------------------


def latency_of(gpu):
    """Seconds."""
    if "latency_nanoseconds" in gpu:
        return gpu["latency_nanoseconds"]["value"] * 1e-9
    return gpu["latency_cycles"]["value"] / gpu["core_gigahertz"]["value"] * 1e-9


def bandwidth_of(gpu):
    """Bytes per second."""
    return gpu["gigabytes_per_second"]["value"] * 1e9


def needed_bytes(gpu):
    """In flight for each multiprocessor: its share of bandwidth times latency."""
    return bandwidth_of(gpu) * latency_of(gpu) / gpu["multiprocessors"]["value"]


def resident_blocks(gpu, warp_size, stage):
    """Blocks that a multiprocessor holds at once: by threads, registers, shared memory, the grid."""
    threads = min(gpu["threads_per_multiprocessor"]["value"],
                  stage["warps_per_simd"] * gpu["simds_per_multiprocessor"]["value"] * warp_size)
    blocks = threads // stage["block"]
    if stage["shared_bytes"]:
        blocks = min(blocks, gpu["shared_bytes_per_multiprocessor"]["value"]
                     // stage["shared_bytes"])
    if stage["grid"]:
        blocks = min(blocks, stage["grid"] / gpu["multiprocessors"]["value"])
    return blocks


def bytes_in_flight(gpu, warp_size, stage):
    """The most there are for a multiprocessor."""
    return (resident_blocks(gpu, warp_size, stage) * stage["block"]
            * stage["loads_in_flight"] * LOAD_BYTES)


def covered_latency(gpu, in_flight):
    """Seconds that a memory may take to answer before what is in flight is too little."""
    return in_flight * gpu["multiprocessors"]["value"] / bandwidth_of(gpu)


# ---- rocPRIM ------------------------------------------------------------------------------------


def rocprim_plan(n, config, items_per_launch, blocks_of_one_launch):
    """Launches, blocks and partials of rocprim::reduce, after its reduce_impl()."""
    tile = config["block"] * config["items"]
    launches = blocks = partials = 0
    while n > blocks_of_one_launch * tile:
        launches += math.ceil(n / (max(items_per_launch // tile, 1) * tile))
        n = math.ceil(n / tile)
        blocks += n
        partials += n
    return {"launches": launches + 1, "blocks": blocks + 1,
            "partial_bytes": partials * ELEMENT_BYTES}


# ---- tables -------------------------------------------------------------------------------------


def kibibytes(count):
    return f"{count / 1024:.1f} KiB"


def flight_on_paper():
    """What GPUs must have in flight, and what stages have."""
    rows = []
    for gpu, known in zip(_paper()["gpus"], _facts()["gpus"]):
        for stage in known["stages"]:
            in_flight = bytes_in_flight(gpu, known["warp_size"], stage)
            rows.append([
                gpu["name"], f"{latency_of(gpu) * 1e9:.0f} ns", kibibytes(needed_bytes(gpu)),
                stage["stage"], f"{stage['block']} x {stage['items']}", stage["vector_registers"],
                stage["warps_per_simd"], f"{resident_blocks(gpu, known['warp_size'], stage):g}",
                stage["loads_in_flight"], kibibytes(in_flight),
                f"{in_flight / needed_bytes(gpu):.1f} x",
                f"{covered_latency(gpu, in_flight) * 1e9:.0f} ns"])
    return table(["GPU", "latency", "needed", "stage", "block x items", "registers",
                  "warps per SIMD", "blocks", "loads", "in flight", "of what is needed",
                  "enough up to"], rows, right=False)


def plans_on_paper():
    """Launches, blocks and partials of stages and of rocPRIM."""
    document, rows = _paper(), []
    for gpu, known in zip(document["gpus"], _facts()["gpus"]):
        config, stages = gpu["rocprim"], [stage for stage in known["stages"] if stage["grid"]]
        loads = [stage["loads_in_flight"] * LOAD_BYTES for stage in stages] + [config["items"] * ELEMENT_BYTES]
        for n in [plan["n"] for plan in known["stages"][0]["plans"]]:
            plans = [plan for stage in stages for plan in stage["plans"] if plan["n"] == n]
            plans.append(rocprim_plan(n, config, document["rocprim_items_per_launch"]["value"],
                                      document["rocprim_blocks_of_one_launch"]["value"]))
            cells = [[plan[key] for plan in plans] for key in ("launches", "blocks", "partial_bytes")]
            rows.append([gpu["name"], f"2^{n.bit_length() - 1}", f"{config['block']} x {config['items']}",
                         *(" / ".join(map(str, cell)) for cell in [*cells, loads])])
    names = " / ".join(f"stage {stage['stage']}" for stage in stages)  # the same for every GPU
    heads = ["GPU", "n", "rocPRIM's block x items", "launches", "blocks", "bytes of partials",
             "bytes a thread loads at once"]
    return f"{names} / rocPRIM:\n\n" + table(heads, rows, right=False)


def folds_on_paper():
    """Instructions of a fold, by shuffles and by DPP."""
    facts, rows = _facts(), {}
    for row in facts["folds"]:
        cell = ", ".join(f"{row['shuffles'][key]} → {row['dpp'][key]}" for key in ("instructions", "through_lds"))
        rows.setdefault((row["architecture"], row["stage"]), {})[f"{row['op']} of {row['type']}"] = cell
    heads = list(next(iter(rows.values())))
    cells = [[*key, *(row[head] for head in heads)] for key, row in rows.items()]
    return f"By {facts['compiler']}:\n\n" + table(["architecture", "stage", *heads], cells, right=False)


def figures_on_paper():
    """All that was published, and where."""
    rows = []
    for of in _paper()["gpus"] + [_paper()]:
        for name, figure in of.items():
            if isinstance(figure, dict):
                value = figure.get("value", f"{figure.get('block')} x {figure.get('items')}")
                rows.append([of.get("name", "all"), name.replace("_", " "), value, figure["what"],
                             f"[source]({figure['source']})"])
    return table(["GPU", "figure", "value", "what", ""], rows, right=False)
