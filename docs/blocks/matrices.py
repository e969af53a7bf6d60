"""What tenfold_duel found on a GPU of the sums of a matrix's rows and columns."""

from blocks.markdown import count, number, percent, ratio
from blocks.modes import HEADS
from blocks.results import GPU, results
from scripts.common import Failure, device_name, table

MATRICES, OF_TORCH, TYPED, SMALL, WAYS, SEGMENTS, TRANSFORMS, SHORT_TRANSFORMS = (
    f"{GPU}-{name}.json" for name in ("matrices", "python-matrices", "typed-matrices", "small-matrices", "ways", "segments", "transforms", "short-transforms"))
OURS, CUB, TORCH, READ = "peer:matrix:sums", "peer:matrix:cub", "peer:torch", "peer:matrix:read:"


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


def together(duel, *others):
    """A duel's document, with what other programs measured of the same matrices."""
    return {**duel, "benchmarks": sum((each["benchmarks"] for each in (duel, *others)), [])}


def _document(file):
    return together(results(file), results(OF_TORCH)) if file == MATRICES else results(file)


def _matrices(axis, mode):
    return by_columns(_document(MATRICES), axis, mode)


def matrix_share(columns, axis="rows", mode="after-producer", contestant=OURS):
    """What a contestant has of what memory allows, of matrices with so many columns."""
    return share_of(_matrices(axis, mode)[columns], contestant)


def matrix_shares(axis, mode):
    """From the least to the most of what ours have of it, of any number of columns."""
    shares = [100 * matrix_share(each, axis, mode) for each in _matrices(axis, mode)]
    return f"{min(shares):.0f} to {max(shares):.0f}%"


def name_of(library, rows):
    """With its version, given its rows: the toolkit's CUB sums matrices more slowly, so a newer one stands here."""
    versions = {row["peer_version"].partition("+")[0] for row in rows if row["contestant"] == library}
    return " and ".join(f"{'CUB' if library == CUB else 'PyTorch'} {version}" for version in sorted(versions))


def ratio_of_runs(theirs, ours):
    """Of medians, with what lies between the fastest 5% of one and the slowest 5% of the other."""
    keys = (("real_time", "real_time"), ("p5", "p95"), ("p95", "p5"))
    return "{:.3f} ({:.3f} to {:.3f})".format(*(theirs[a] / ours[b] for a, b in keys))


def _cells(rows, library):
    """What is known of a library, or blanks."""
    if library not in rows:
        return ["", ""]
    of_one_run = library == CUB
    return [percent(share_of(rows, library)), ratio(rows[OURS]) if of_one_run else ratio_of_runs(rows[library], rows[OURS])]


NAMES = {"segments": "elements of a segment on average, sums of segments",
         "one-segment": "elements of a segment, but for one that has half of all, sums of segments"}


def matrix_sums(axis="rows", mode="after-producer", file=MATRICES):
    """Sums of the rows or columns of matrices beside what memory allows, and CUB's where it has such sums."""
    matrices = by_columns(_document(file), axis, mode)
    all_rows = [row for rows in matrices.values() for row in rows.values()]
    libraries = {library: name for library in (CUB, TORCH) if (name := name_of(library, all_rows))}
    largest = max(row["n"] for row in all_rows)
    lines = [[count(columns), number(round(ceiling_of(rows) / 1e9)), percent(share_of(rows, OURS)),
              *(cell for library in libraries for cell in _cells(rows, library))] for columns, rows in matrices.items()]
    what = (f"{NAMES.get(axis, f'columns, sums of {axis}')}, up to {count(largest)} f32, "
            f"{device_name(results(file)['context'])}, {HEADS[mode]}")
    of_libraries = [head for name in libraries.values() for head in (f"{name}, of it", f"times as fast as {name}")]
    return table([what, "ceiling, GB/s", "ours, of it", *of_libraries], lines)


TYPES = ("i8", "f16", "f64")


def _of_type(type, axis, mode="after-producer"):
    return by_columns({"benchmarks": [row for row in results(TYPED)["benchmarks"] if row["type"] == type]}, axis, mode)


def typed_sums(axis):
    """Of each type the share of what memory allows, and of rows how they compare with CUB's, which sums no columns."""
    document, of_types = results(TYPED), [_of_type(type, axis) for type in TYPES]
    cells = 2 if axis == "rows" else 1
    against = f"times as fast as {name_of(CUB, document['benchmarks'])}"
    largest = max(row["n"] for row in document["benchmarks"])
    what = f"columns, sums of {axis}, up to {count(largest)} elements, {device_name(document['context'])}, {HEADS['after-producer']}"
    heads = [what, *(head for type in TYPES for head in [f"{type}, of the ceiling", against][:cells])]
    lines = []
    for columns in of_types[0]:
        rows = [of_type[columns] for of_type in of_types]
        lines.append([count(columns), *(cell for each in rows for cell in [percent(share_of(each, OURS)), ratio(each[OURS])][:cells])])
    return table(heads, lines)


def typed_shares(type, columns, axis="rows"):
    """From the least to the most of what ours have of the ceiling."""
    shares = [100 * share_of(_of_type(type, axis)[each], OURS) for each in columns]
    return f"{min(shares):.0f} to {max(shares):.0f}%"


def typed_behind():
    """Where CUB's sums of rows are faster, where the interval leaves no doubt."""
    ours = [row for row in results(TYPED)["benchmarks"] if row["ok"] and row["contestant"] == OURS
            and row["axis"] == "rows" and row["against"] == CUB]
    lost = [f"{row['type']} of {count(row['columns'])} columns ({row['ratio']:.3f})" for row in ours if row["ratio_high"] < 1]
    return f"{len(lost)} of {len(ours)} matrices" + (f": {', '.join(lost)}" if lost else "")


def segment_sums(mode="after-producer"):
    """Two tables: of segments of any lengths, and where one is long."""
    return "\n\n".join(matrix_sums(axis, mode, SEGMENTS) for axis in ("segments", "one-segment"))


def small_table(document, mode):
    """Times of small matrices' sums of rows beside CUB's, by size."""
    lines = []
    for row in document["benchmarks"]:
        if row["ok"] and row["contestant"] == OURS and (row["axis"], row["mode"]) == ("rows", mode):
            lines.append([count(row["n"]), count(row["columns"]), f"{row['real_time']:.4g}",
                          ratio(row) if row["against"] == CUB else ""])
    what = f"f32 in all, {device_name(document['context'])}, {HEADS[mode]}"
    cub = name_of(CUB, document["benchmarks"])
    return table([what, "columns, sums of rows", "ours, us", f"times as fast as {cub}"], lines)


def small_matrices(mode="after-producer"):
    return small_table(results(SMALL), mode)


def small_behind(mode):
    """Of how many shapes CUB's sums of rows are faster, where the interval leaves no doubt."""
    found = [row for row in results(SMALL)["benchmarks"] if row["ok"] and row["contestant"] == OURS
             and (row["axis"], row["mode"], row["against"]) == ("rows", mode, CUB)]
    lost = [1 - row["ratio"] for row in found if row["ratio_high"] < 1]
    return f"{len(lost)} of {len(found)} shapes" + (f", by {100 * max(lost):.1f}% at most" if lost else "")


FOLDERS = {"lanes": "lanes", "warp": "a warp", "block": "a block", "blocks": "several blocks"}


def _ways(n, mode):
    """Of each number of columns what the rule takes, and by who folds a row the fastest way that was tried."""
    matrices = {}
    for row in results(WAYS)["benchmarks"]:
        if row["ok"] and row["mode"] == mode and row["n"] == n // row["columns"] * row["columns"]:
            _, kind, who, *_ = row["contestant"].split(":")
            ways = matrices.setdefault(row["columns"], {})
            who = who if kind == "way" else "rule"
            if who not in ways or row["ratio"] > ways[who]["ratio"]:
                ways[who] = row
    return matrices


def row_ways(n=2**28, mode="after-producer"):
    """Times as fast as what the rule takes, of the fastest way in which lanes, a warp and so on fold a row."""
    lines = [[count(columns), f"{ways['rule']['real_time']:.4g}",
              *(f"{ways[who]['ratio']:.3f}" if who in ways else "" for who in FOLDERS)]
             for columns, ways in _ways(n, mode).items()]
    what = f"columns, sums of rows, {count(n)} f32, {device_name(results(WAYS)['context'])}, {HEADS[mode]}"
    return table([what, "the rule's, us", *FOLDERS.values()], lines)


def rule_behind(n, mode):
    """Of how many matrices another way is faster, where the interval leaves no doubt."""
    matrices = _ways(n, mode)
    lost = [max(row["ratio"] - 1 for row in ways.values() if row["ratio_low"] > 1)
            for ways in matrices.values() if any(row["ratio_low"] > 1 for row in ways.values())]
    return f"{len(lost)} of {len(matrices)}" + (f", by {100 * max(lost):.1f}% at most" if lost else "")


TITLES = {"peer:transform:arg-max": "the greatest and its place", "peer:transform:dot": "dot product of two halves",
          "peer:transform:any-nan": "is any a NaN? (none is)", "peer:transform:any-number": "is any a number? (all are)"}


def transform_table(document, mode, more=()):
    """What becomes of elements in one read, against their sum. Of `more` the sizes that it has, and no other run of them."""
    sizes = {row["n"] for row in more}
    lines = [[count(row["n"]), TITLES[row["contestant"]], f"{row['real_time']:.4g}", ratio(row)]
             for row in [*more, *(row for row in document["benchmarks"] if row["n"] not in sizes)]
             if row["ok"] and row["mode"] == mode and row["contestant"] in TITLES]
    what = f"f32 in all, {device_name(document['context'])}, {HEADS[mode]}"
    return table([what, "result", "us", "times as fast as their sum"], lines)


def transforms(mode="after-producer"):
    return transform_table(results(TRANSFORMS), mode, results(SHORT_TRANSFORMS)["benchmarks"])
