"""What bench/tune and tenfold_duel found on a GPU."""

from blocks.markdown import count, duration, number, percent, ratio
from blocks.modes import HEADS, MODES, modes_of
from blocks.results import GPU, results
from scripts.common import device_name, table, tuned_rows

LEAST_OF_CEILING = 2**22  # below it a launch takes longer than the reading


def _modes(file):
    return modes_of(results(file)["benchmarks"])


def _tuned(key, file=f"{GPU}-tune.json", **wanted):
    """A figure of all sums, of f32 where no type is wanted, that bench/tune measured so."""
    found = [row[key] for row in tuned_rows(results(file)) if ({"type": "f32"} | wanted).items() <= row.items()]
    if not found:
        raise ValueError(f"bench/tune measured no sum with {wanted}")
    return found


def tuned(stage, block, items, grid=0, key="gigabytes_per_second"):
    """A figure of a sum of 2^28 f32 after a kernel that wrote them as bench/tune found it, in the closest
    look it had at this shape; `grid` counts blocks per multiprocessor where the stage takes a grid."""
    return _tuned(key, mode="after-producer", n=2**28, stage=stage, block=block, items=items, grid=grid)[-1]


def fastest(stage, n, mode="after-producer", kind="f32", file=f"{GPU}-tune.json", **shape):
    """Microseconds of a sum in the stage's fastest shape, of those that `shape` describes, as bench/tune found it."""
    return min(_tuned("microseconds", file, round="detail", mode=mode, n=n, stage=stage, type=kind, **shape))


def fastest_by_size(stages_shown, exponents, mode):
    """`fastest` of some stages for 2^each exponent."""
    device = results(f"{GPU}-tune.json")["device"]
    heads = [f"us, {device}, {HEADS[mode]}", *(f"stage {s}" for s in stages_shown)]
    return table(heads, [[f"2^{exponent}", *(number(fastest(s, 2 ** exponent, mode)) for s in stages_shown)]
                         for exponent in exponents])


def _duelled(contestant, n, mode=None, kind="f32", file=f"{GPU}-calls.json", op="sum"):
    mode = mode or _modes(file)[0]
    for row in results(file)["benchmarks"]:
        names = row["contestant"], row["contestant"].split("/")[0], row.get("stage")
        if contestant in names and (row["n"], row["mode"], row["type"], row["op"]) == (
                n, mode, kind, op):
            return row
    raise ValueError(f"{file} has no {contestant} of {count(n)} {kind}, {op}, {mode}")


def duelled(contestant, n, key="ratio", *which, **more):
    """A figure as tenfold_duel found it: of "best", a stage's number, or "peer:cub"; without a
    mode in the first that the file has, after a kernel where it has that."""
    return _duelled(contestant, n, *which, **more)[key]


def duel_ratio(contestant, n, mode=None):
    """How many times as fast as the library, and the interval."""
    return ratio(_duelled(contestant, n, mode))


# What was aimed at: (mode, exponents, how many times as fast as whom, at least). An empty kernel adds a launch.
AIMS = [("after-producer", (10, 12), 1 / 1.05, "peer:empty"),
        ("after-producer", (14, 16, 18, 20, 22, 24), 1.4, "peer:cub"),
        ("in-graph", (10, 12), 1.1, "peer:cub"),
        ("in-graph", (14, 16, 18, 20, 22, 24), 1.2, "peer:cub")]


def fastest_that_reads(n, mode):
    """The kernel among the peers that does nothing but read, in its fastest shape."""
    names = {row["contestant"] for row in results(f"{GPU}-calls.json")["benchmarks"]}
    return max((name for name in names if name.startswith("peer:read")), key=lambda name: duelled(name, n, mode=mode))


def aims():
    """What was aimed at and what was measured, at the size where the least was reached."""
    rows = []
    for mode, exponents, least, rival in AIMS:
        def against_rival(contestant, n):
            return duelled(contestant, n, mode=mode) / duelled(rival, n, mode=mode)

        reached = {2**exponent: against_rival("best", 2**exponent) for exponent in exponents}
        worst = min(reached, key=reached.get)
        missed = ", ".join(count(n) for n, times in reached.items() if times < least)
        rows.append([HEADS[mode], ", ".join(f"2^{exponent}" for exponent in exponents),
                     f"{least:.3g} times as fast as {rival.removeprefix('peer:')}",
                     f"{reached[worst]:.3f} at {count(worst)}",
                     f"{against_rival(fastest_that_reads(worst, mode), worst):.3f}",
                     f"missed at {missed}" if missed else "met"])
    return table(["mode", "n", "at least", "measured", "a kernel that only reads, there", ""], rows, right=False)


PYTHON = f"{GPU}-python.json"


def python_mode():
    """What a time of Python's is."""
    return MODES[_modes(PYTHON)[0]]


def python_time(library, n):
    """Microseconds of a sum of f32 that Python calls."""
    return duelled(f"peer:{library}", n, "real_time", file=PYTHON)


def narrow_sums(*stages, kinds=("i8", "u8", "f16", "bf16")):
    """Sums of 2^31 narrow elements by some stages and by CUB."""
    file = f"{GPU}-narrow.json"
    rows = [[kind, *(duration(duelled(who, 2**31, "real_time", kind=kind, file=file))
                     for who in (*stages, "peer:cub"))] for kind in kinds]
    head = f"sum of 2^31, {device_name(results(file)['context'])}, {HEADS[_modes(file)[0]]}"
    return table([head, *(f"stage {stage}" for stage in stages), "CUB"], rows)


def duel(file):
    """The table of what tenfold_duel found: for each size and type the stage that `best` takes, or where that took no
    part the fastest, and how many times as fast as the library it was, with the interval that holds the median at
    95%."""
    rows, modes, events = results(file)["benchmarks"], _modes(file), {}
    for row in rows:
        by_mode = events.setdefault((count(row["n"]), row["type"], row["op"]), {mode: [] for mode in modes})
        by_mode[row["mode"]].append(row)
    library = rows[0]["against"].removeprefix("peer:")
    heads = [head for mode in modes for head in ("stage", HEADS[mode], f"times as fast as {library}", "of ceiling")]
    lines = [[*event, *(cell for entries in by_mode.values() for cell in _duel_cells(entries))]
             for event, by_mode in events.items()]
    return table(["n", "type", "operator", *heads], lines, right=False)


def _duel_cells(entries):
    """Stage, time, times as fast, share of the ceiling; blanks where no stage was measured."""
    measured = [entry for entry in entries if "stage" in entry]
    if not measured:
        return ["", "", "", ""]
    best = next((entry for entry in measured if entry["contestant"].startswith("best/")), None) or min(
        measured, key=lambda entry: entry["real_time"])
    return [str(best["stage"]), f"{best['real_time']:.4g} us", ratio(best),
            percent(best["share_of_ceiling"]) if best["n"] >= LEAST_OF_CEILING else ""]


def exact_sums(name, kinds, rival, exponents, mode="after-producer"):
    """The exact sum beside the stage that it reads like, and beside a sum of CUB's."""
    file = f"{GPU}-{name}.json"

    def times(kind, n, other):
        return f'{duelled(other, n, "real_time", mode, kind, file) / duelled(18, n, "real_time", mode, kind, file):.3f}'

    first = 2**exponents[0]
    level = rival.removeprefix("peer:cub").replace(":", ", ")
    cub = f'CUB {duelled(rival, first, "peer_version", mode, kinds[0], file)}{level}'
    rivals = {"stage 10": 10, cub: rival}
    heads = [f"stage 18, {device_name(results(file)['context'])}, {HEADS[mode]}",
             *(f"{kind}, times as fast as {other}" for kind in kinds for other in rivals)]
    return table(heads, [[count(n), *(times(kind, n, other) for kind in kinds for other in rivals.values())]
                         for n in (2**exponent for exponent in exponents)])


def exact_data():
    """The exact sum beside the stage that it reads like, of several kinds of data."""
    document = results(f"{GPU}-exact-data.json")
    times = {(row["data"], row["type"], row["n"], row.get("stage")): row["real_time"]
             for row in document["benchmarks"] if not row["contestant"].startswith("best")}
    columns = sorted({(kind, n) for _, kind, n, _ in times})
    return table([f"stage 18, times as fast as stage 10, {device_name(document['context'])}, {HEADS['after-producer']}",
                  *(f"{kind}, {count(n)}" for kind, n in columns)],
                 [[data, *(f"{times[(data, *of, 10)] / times[(data, *of, 18)]:.3f}" for of in columns)]
                  for data in dict.fromkeys(data for data, *_ in times)])
