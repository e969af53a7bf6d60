"""What bench/tune and tenfold_duel found on a GPU."""

from blocks.markdown import count, duration, number, percent
from blocks.results import GPU, results
from scripts.common import table, tuned_rows


# The first two as older programs had them.
MODES = {"graph": "back to back in a graph", "stream": "back to back in a stream",
         "back-to-back": "back to back in a stream", "after-producer": "after a kernel",
         "in-graph": "in a graph, after a kernel"}
LEAST_OF_CEILING = 2**22  # below it a launch takes longer than the reading


def _tuned(key, **wanted):
    """A figure of all sums of f32 that bench/tune measured so, back to back in a graph or a stream."""
    found = [row[key] for row in tuned_rows(results(f"{GPU}-back-to-back.json"))
             if row["type"] == "f32" and wanted.items() <= row.items()]
    if not found:
        raise ValueError(f"bench/tune measured no sum with {wanted}")
    return found


def tuned(stage, block, items, grid=0, key="gigabytes_per_second"):
    """A figure of a sum of 2^28 f32 in a replayed graph as bench/tune found it, in the closest look it
    had at this shape; `grid` counts blocks per multiprocessor where the stage takes a grid."""
    return _tuned(key, mode="graph", n=2**28, stage=stage, block=block, items=items, grid=grid)[-1]


def fastest(stage, n, mode="graph"):
    """Microseconds of a sum of f32 in the stage's fastest shape, as bench/tune found it."""
    return min(_tuned("microseconds", round="detail", mode=mode, n=n, stage=stage))


def fastest_by_size(stages_shown, exponents, mode):
    """`fastest` of some stages for 2^each exponent."""
    device = results(f"{GPU}-back-to-back.json")["device"]
    heads = [f"us, {device}, in a {mode}", *(f"stage {s}" for s in stages_shown)]
    return table(heads, [[f"2^{exponent}", *(number(fastest(s, 2 ** exponent, mode)) for s in stages_shown)]
                         for exponent in exponents])


def duelled(contestant, n, key="ratio", mode="graph", kind="f32", file=f"{GPU}-sums.json"):
    """A figure of a sum as tenfold_duel found it: of "best", a stage's number, or "peer:cub"."""
    for row in results(file)["benchmarks"]:
        names = row["contestant"], row["contestant"].split("/")[0], row.get("stage")
        if contestant in names and (row["n"], row["mode"], row["type"], row["op"]) == (
                n, mode, kind, "sum"):
            return row[key]
    raise ValueError(f"{file} has no {contestant} of {count(n)} {kind} in a {mode}")


def duel_ratio(contestant, n, mode="graph"):
    """How many times as fast as the library, and the interval."""
    low, high = (duelled(contestant, n, f"ratio_{end}", mode) for end in ("low", "high"))
    return f"{duelled(contestant, n, 'ratio', mode):.3f} ({low:.3f}..{high:.3f})"


def narrow_sums(kinds):
    """Sums of 2^31 narrow elements by stages 10 and 15 and by CUB."""
    file = f"{GPU}-narrow.json"
    rows = [[kind, *(duration(duelled(who, 2**31, "real_time", kind=kind, file=file))
                     for who in (10, 15, "peer:cub"))] for kind in kinds]
    return table([f"sum of 2^31, {results(file)['context']['device']}", "stage 10", "stage 15", "CUB"], rows)


def duel(file):
    """The table of what tenfold_duel found: for each size and type the best stage that took part
    and how many times as fast as the library it was, with the interval that holds the median at
    95%."""
    events = {}
    rows = results(file)["benchmarks"]
    for row in rows:
        event = events.setdefault((row["n"], row["type"], row["op"]), {})
        event.setdefault(row["mode"], []).append(row)
    library = rows[0]["against"].removeprefix("peer:")
    modes = [mode for mode in MODES if any(mode in event for event in events.values())]
    heads = [head for mode in modes for head in ("stage", MODES[mode], f"times {library}", "of ceiling")]
    lines = [[count(n), kind, op, *(cell for mode in modes for cell in _duel_cells(event.get(mode, [])))]
             for (n, kind, op), event in events.items()]
    return table(["n", "type", "operator", *heads], lines, right=False)


def _duel_cells(entries):
    """Stage, time, times as fast, share of the ceiling; blanks where no stage was measured."""
    measured = [entry for entry in entries if "stage" in entry]
    if not measured:
        return ["", "", "", ""]
    best = min(measured, key=lambda entry: entry["real_time"])
    interval = f" ({best['ratio_low']:.3f}..{best['ratio_high']:.3f})" if "ratio_low" in best else ""
    return [str(best["stage"]), f"{best['real_time']:.4g} us", f"{best['ratio']:.3f}{interval}",
            percent(best["share_of_ceiling"]) if best["n"] >= LEAST_OF_CEILING else ""]
