"""Bytes in flight on a GPU, and by Little's law the most that it can read with them, beside what it read."""

from blocks.architectures import THREADS_PER_MULTIPROCESSOR
from blocks.contests import tuned
from blocks.ladders import fact, gpu, ladder
from blocks.markdown import number
from blocks.paper import GPUS, bandwidth_of, latency_of
from blocks.results import GPU
from scripts.common import read_json, table

BLOCKS = (256, 512, 1024)  # of stage 9, as bench/tune tried them
# Of each row the stages, the bytes that a thread asks for at once, and the bytes per second that were measured.
ROWS = [("1 to 3", 4, lambda: max(ladder(s, "bytes_per_second") for s in (1, 2, 3))),
        ("4 to 8", 8, lambda: max(ladder(s, "bytes_per_second") for s in (4, 5, 6, 7, 8))),
        ("9, 4 items", 16, lambda: 1e9 * max(tuned(9, block, 4) for block in BLOCKS)),
        ("9, 16 items", 64, lambda: 1e9 * max(tuned(9, block, 16) for block in BLOCKS))]


def few_in_flight():
    """Bytes per second of stage 10 with one block of 256 threads on each multiprocessor, 16 KiB in flight."""
    return 1e9 * sum(tuned(10, 256, items, 1) for items in (4, 8, 16)) / 3


def latency():
    """Seconds until a multiprocessor has those 16 KiB anew, with the loop around the loads."""
    return 2**14 * fact("multiprocessors") / few_in_flight()


def needed():
    """Bytes that a multiprocessor must have in flight to read what can be read."""
    return fact("read_ceiling_bytes_per_second") * latency() / fact("multiprocessors")


def _row(device, stages, each, limits, measured):
    threads, multiprocessors, seconds, most = limits
    bandwidth = min(most, each * threads * multiprocessors / seconds)
    return [device, stages, each, number(each * threads // 1024), number(round(bandwidth / 1e9)), measured]


def in_flight():
    """The most that stages have in flight where all threads are there that a multiprocessor holds."""
    paper = read_json(GPUS)["gpus"][0]
    here = (THREADS_PER_MULTIPROCESSOR[fact("architecture", f"{GPU}-calls.json")], fact("multiprocessors"), latency(),
            fact("read_ceiling_bytes_per_second"))
    there = (*(paper[key]["value"] for key in ("threads_per_multiprocessor", "multiprocessors")),
             latency_of(paper), bandwidth_of(paper))
    rows = [_row(gpu(), stages, each, here, number(round(measured() / 1e9))) for stages, each, measured in ROWS]
    rows.append(_row(paper["name"], *ROWS[2][:2], there, "never measured"))
    return table(["GPU", "stage", "bytes that a thread asks for at once", "KiB in flight", "GB/s at most",
                  "GB/s measured"], rows)
