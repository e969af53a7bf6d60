"""What several GPUs that share an input were measured to gain."""

from blocks.markdown import count, number
from blocks.results import GPU, results
from blocks.sources import image
from scripts.common import RESULTS, table

SCALING = f"{GPU}-scaling.json"


def scaling_table(document):
    """Each number of GPUs beside one that has all elements, and one that has as many as each of them."""
    rows = {(row["stage_name"], row["ranks"], row["n"]): row for row in document["benchmarks"] if row["ok"]}
    lines = []
    for (stage, ranks, n), row in rows.items():
        alone = rows.get((stage, 1, n))
        of_share = rows.get((stage, 1, n // ranks)) if n % ranks == 0 else None
        lines.append([count(n), stage, ranks, f"{row['real_time']:.4g}", number(round(row["bytes_per_second"] / 1e9)),
                      f"{alone['real_time'] / row['real_time']:.2f}" if alone else "",
                      f"{row['real_time'] - of_share['real_time']:+.3g}" if of_share else ""])
    heads = ["n", "stage", "GPUs", "us", "GB/s", "times one GPU", "us more than one GPU for its share"]
    return table(heads, lines)


def scaling():
    """A plot and a table of one sum shared by one GPU, by two and so on; or that there is none."""
    if not (RESULTS / SCALING).exists():
        return "How sums scale with the number of GPUs was not measured: `bench/record --only scaling` does it."
    return f"{image(f'scaling-{GPU}')}\n\n{scaling_table(results(SCALING))}"
