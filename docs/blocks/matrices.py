"""What tenfold_duel found on a GPU of the sums of a matrix's rows and columns."""

from blocks.markdown import count, number, percent, ratio
from blocks.modes import HEADS
from blocks.results import GPU, results
from scripts.common import Failure, device_name, table

MATRICES = f"{GPU}-matrices.json"
OURS, CUB, READ = "peer:matrix:sums", "peer:matrix:cub", "peer:matrix:read:"


def by_columns(document, axis, mode):
    """Of each number of columns, the results of the largest matrix that has so many, by contestant."""
    matrices = {}
    for row in document["benchmarks"]:
        if row["ok"] and row.get("columns") and (row.get("axis", "rows"), row["mode"]) == (axis, mode):
            matrices.setdefault((row["columns"], row["n"]), {})[row["contestant"]] = row
    largest = {columns: rows for (columns, _), rows in sorted(matrices.items()) if OURS in rows}
    if not largest:
        raise Failure(f"no sums of {axis} were measured, {mode}")
    return largest


def ceiling_of(rows):
    """The most bytes per second of those that only read the matrix and write as much as its sums take."""
    return max(row["bytes_per_second"] for name, row in rows.items() if name.startswith(READ))


def share_of(rows, contestant):
    return rows[contestant]["bytes_per_second"] / ceiling_of(rows)


def _matrices(axis, mode):
    return by_columns(results(MATRICES), axis, mode)


def matrix_share(columns, axis="rows", mode="after-producer", contestant=OURS):
    """What a contestant has of what memory allows, of matrices with so many columns."""
    return share_of(_matrices(axis, mode)[columns], contestant)


def _cells(rows):
    """What is known of CUB, or blanks."""
    return [percent(share_of(rows, CUB)), ratio(rows[OURS])] if CUB in rows else ["", ""]


def matrix_sums(axis="rows", mode="after-producer"):
    """Sums of the rows or columns of matrices beside what memory allows, and CUB's where it has such sums."""
    matrices = _matrices(axis, mode)
    has_cub = any(CUB in rows for rows in matrices.values())
    largest = max(row["n"] for rows in matrices.values() for row in rows.values())
    lines = [[count(columns), number(round(ceiling_of(rows) / 1e9)), percent(share_of(rows, OURS)),
              *(_cells(rows) if has_cub else [])] for columns, rows in matrices.items()]
    what = (f"columns, sums of {axis}, up to {count(largest)} f32, {device_name(results(MATRICES)['context'])}, "
            f"{HEADS[mode]}")
    return table([what, "ceiling, GB/s", "ours, of it", *(["CUB, of it", "times CUB"] if has_cub else [])], lines)
