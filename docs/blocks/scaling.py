"""What several GPUs that share an input were measured to gain."""

from blocks.markdown import count
from blocks.results import GPU, results
from blocks.sources import image
from scripts.common import device_name, table

SCALING = f"{GPU}-scaling.json"
LAST_STEPS = {"peer_partials": "in the kernel", "nccl": "by NCCL", "through_host": "through the host",
              "mpi": "by MPI, stage 10"}


def _rows(document):
    return {(row["contestant"], row["ranks"], row["n"]): row for row in document["benchmarks"] if row["ok"]}


def shared_time(by, ranks, n):
    """Microseconds of a call."""
    return _rows(results(SCALING))[by, ranks, n]["real_time"]


def bandwidth_kept(by, ranks, n):
    """The bytes a second of all GPUs, of what each reads alone."""
    return shared_time(by, 1, n // ranks) / shared_time(by, ranks, n)


def scaling_table(document):
    """A column for each last step; of several GPUs also how much faster they are than one that has all elements."""
    rows = _rows(document)

    def cell(by, ranks, n):
        row, alone = rows.get((by, ranks, n)), rows.get((by, 1, n))
        if row is None:
            return ""
        faster = f" ({alone['real_time'] / row['real_time']:.2f})" if alone and ranks > 1 else ""
        return f"{row['real_time']:.4g}{faster}"

    shapes = sorted({(ranks, n) for _, ranks, n in rows})
    gpus = f"{shapes[-1][0]} {device_name(document['context'])} of one host"
    heads = ["GPUs", f"n, {gpus}", *(f"{words}, us" for words in LAST_STEPS.values())]
    return table(heads, [[ranks, count(n), *(cell(by, ranks, n) for by in LAST_STEPS)] for ranks, n in shapes])


def scaling():
    """A plot and a table of one sum shared by one GPU, by two and so on."""
    return f"{image(f'scaling-{GPU}')}\n\n{scaling_table(results(SCALING))}"
