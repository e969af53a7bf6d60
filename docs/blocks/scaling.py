"""What several GPUs that share an input were measured to gain."""

from blocks.markdown import count, number
from blocks.results import GPU, results
from blocks.sources import image
from scripts.common import table

SCALING = f"{GPU}-scaling.json"
LAST_STEPS = {"peer_partials": "in the kernel", "nccl": "by NCCL", "through_host": "through the host",
              "mpi": "by MPI, stage 10"}


def _rows(document):
    return {(row["stage_name"], row["ranks"], row["n"]): row for row in document["benchmarks"] if row["ok"]}


def _of_share(rows, by, ranks, n):
    """One GPU with as many elements as each of them has."""
    return rows.get((by, 1, n // ranks)) if n % ranks == 0 else None


def last_step(by, ranks, n):
    """Microseconds that a call takes longer than on one GPU with a share of the elements."""
    rows = _rows(results(SCALING))
    return rows[by, ranks, n]["real_time"] - _of_share(rows, by, ranks, n)["real_time"]


def bandwidth_kept(by, ranks, n):
    """The bytes a second of all GPUs, of what each reads alone."""
    rows = _rows(results(SCALING))
    return _of_share(rows, by, ranks, n)["real_time"] / rows[by, ranks, n]["real_time"]


def scaling_table(document):
    """Each number of GPUs beside one that has all elements, and one that has as many as each of them."""
    rows = _rows(document)
    lines = []
    for by, ranks, n in sorted(rows, key=lambda key: (list(LAST_STEPS).index(key[0]), *key[1:])):
        row, alone, of_share = rows[by, ranks, n], rows.get((by, 1, n)), _of_share(rows, by, ranks, n)
        lines.append([count(n), LAST_STEPS[by], ranks, f"{row['real_time']:.4g}",
                      number(round(row["bytes_per_second"] / 1e9)),
                      f"{alone['real_time'] / row['real_time']:.2f}" if alone and ranks > 1 else "",
                      f"{row['real_time'] - of_share['real_time']:+.3g}" if of_share and ranks > 1 else ""])
    heads = [f"n, {document['context']['device']}, whole calls", "the last step", "GPUs", "us", "GB/s", "times one GPU",
             "us more than one GPU for its share"]
    return table(heads, lines)


def scaling():
    """A plot and a table of one sum shared by one GPU, by two and so on."""
    return f"{image(f'scaling-{GPU}')}\n\n{scaling_table(results(SCALING))}"
