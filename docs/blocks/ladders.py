"""What a GPU gives each stage, from its recorded ladders."""

from blocks.architectures import ADDITIONS_PER_CLOCK
from blocks.markdown import count, duration, gigabytes, number, percent, times
from blocks.modes import HEADS, modes_of
from blocks.results import GPU, results
from blocks.sources import name_of, with_the_one_before
from scripts.common import ROOT, device_name, table


def ladder(entry, key, file=f"{GPU}-ladder.json", n=None):
    """A figure of a recorded ladder, of a stage's number or a peer's name: "real_time" (us),
    "bytes_per_second", "share_of_ceiling", "share_of_peak", "against_best_peer", "block", "items",
    "grid", "launches", or "partials" of all launches; of a ladder by size, for n elements. A detour goes by its name."""
    counted = {"launches": len, "partials": lambda passes: sum(each["blocks"] for each in passes[:-1])}
    for row in results(file)["benchmarks"]:
        if entry in (row.get("stage"), row.get("stage_name"), row.get("peer")) and n in (None, row["n"]):
            return counted[key](row["passes"]) if key in counted else row[key]
    raise ValueError(f"{file} has no {entry}{f' of {count(n)} elements' if n else ''}")


def gain(stage, file=f"{GPU}-ladder.json"):
    """How many times the bytes per second of the stage before."""
    return ladder(stage, "bytes_per_second", file) / ladder(stage - 1, "bytes_per_second", file)


def gpu():
    return fact("device_name")


def fact(key, file=f"{GPU}-ladder.json"):
    """What a recorded run says of its GPU: "multiprocessors", "peak_bytes_per_second", ..."""
    return results(file)["context"][key]


def additions_per_second():
    """Additions of f32 on paper."""
    architecture = fact("architecture", f"{GPU}-calls.json")
    return ADDITIONS_PER_CLOCK[architecture] * fact("multiprocessors") * fact("core_hertz")


def ladder_mode(file=f"{GPU}-ladder.json"):
    """What the times of a recorded ladder are of."""
    return HEADS[modes_of(results(file)["benchmarks"])[0]]


def on_gpu(stage):
    """What a GPU gives a stage and the one before: in the same shape, which is the one that is profiled,
    and each in its best."""
    rows = []
    for s in with_the_one_before(stage):
        cells = []
        for file in (f"{GPU}-ladder-256.json", f"{GPU}-ladder.json"):
            gained = f"{gain(s, file):.2f} x" if s == stage and s > 1 else ""
            cells += [duration(ladder(s, "real_time", file)),
                      f"{ladder(s, 'bytes_per_second', file) / 1e9:.0f}", gained]
        # From stage 9 on a thread takes several elements.
        shape = f"{ladder(s, 'block')}, {ladder(s, 'items')} items" if s > 8 else ladder(s, "block")
        since_stage_1 = times(ladder(s, "bytes_per_second"), ladder(1, "bytes_per_second"))
        rows.append([f"{s} {name_of(s)}", *cells[:3], shape, *cells[3:], since_stage_1,
                     percent(ladder(s, "share_of_ceiling"))])
    items = ", 4 items" if stage > 8 else ""
    what = f"sum of {count(ladder(stage, 'n'))} {ladder(stage, 'type')}, {gpu()}, {ladder_mode()}"
    return table([what, f"time in blocks of 256{items}", "GB/s", "vs before",
                  "best blocks of", "time in these", "GB/s", "vs before", "vs stage 1", "of what can be read"], rows)


def _solution(name):
    return results(f"{GPU}-solutions.json")["solutions"][name]


def solution_row(name):
    return _solution(name)["solution"]


def stage_row(name):
    """The stage that a solution began as, in the same run and shape."""
    return _solution(name)["stage"]


def solution(name):
    """What a GPU gives the solution of an exercise, beside the stage that it began as."""
    own, stage = (row(name)["bytes_per_second"] for row in (solution_row, stage_row))
    return (f"an {gpu().removeprefix('NVIDIA ')} reads {gigabytes(own)} with it, and {gigabytes(stage)} "
            f"with stage {_solution(name)['began_as']} in the same shape, {HEADS[stage_row(name).get('mode')]}: "
            f"{times(own, stage)}")


def sized(stage, n, key):
    """A figure of a stage in a ladder by size: "real_time" (us), "p5", "p95", "block", ..."""
    return ladder(stage, key, f"{GPU}-sizes.json", n)


def sized_gain(before, after, n):
    """How many times as fast a stage is as another, of n elements."""
    return sized(before, n, "real_time") / sized(after, n, "real_time")


def by_size(stages_shown, exponents):
    """A ladder's rows by size: for 2^each exponent the time and the launches of some stages, and how
    many times as fast the last of them is as the first."""
    heads = [head for stage in stages_shown for head in (f"stage {stage}", "launches")]
    rows = []
    for n in (2 ** exponent for exponent in exponents):
        cells = [cell for stage in stages_shown
                 for cell in (duration(sized(stage, n, "real_time")), sized(stage, n, "launches"))]
        rows.append([count(n), *cells, f"{sized_gain(stages_shown[0], stages_shown[-1], n):.2f} x"])
    what = f"f32 sum, {gpu()}, {ladder_mode(f'{GPU}-sizes.json')}"
    return table([what, *heads, f"{stages_shown[-1]} against {stages_shown[0]}"], rows)


DETOURS = f"{GPU}-detours.json"


def detour_time(entry, n):
    """Microseconds of a detour, by its name, or of a stage that was run beside it."""
    return ladder(entry, "real_time", DETOURS, n)


def detour_sizes(least=0, most=2**64):
    """The sizes in these bounds that they were run for."""
    return sorted({row["n"] for row in results(DETOURS)["benchmarks"] if least <= row["n"] <= most})


def detours():
    return [path.stem for path in sorted((ROOT / "kernels/detours").glob("*.hpp"))]


def headway(stages_shown, rivals, n):
    """How many times as long as the slowest of some stages the fastest of its rivals takes."""
    return min(detour_time(each, n) for each in rivals) / max(detour_time(each, n) for each in stages_shown)


def detours_by_size(stages_shown, exponents):
    """Microseconds of the detours, and of some stages beside them, for 2^each exponent."""
    sizes = [2 ** exponent for exponent in exponents]
    rows = [*((name, name) for name in detours()), *((f"stage {stage}", stage) for stage in stages_shown)]
    return table([f"us, {device_name(results(DETOURS)['context'])}, {ladder_mode(DETOURS)}", *map(count, sizes)],
                 [[label, *(number(detour_time(entry, n)) for n in sizes)] for label, entry in rows])


def each_atomic(detour, elements):
    """Nanoseconds, of a sum whose atomics are one for so many elements."""
    n = max(detour_sizes())
    return detour_time(detour, n) * 1e3 / (n / elements)


def sums_found(kernel):
    """What two ladders found of the same 2^24 random floats."""
    return [ladder(kernel, "rounding", file, 2**24)["result"] for file in (DETOURS, f"{GPU}-detours-again.json")]
