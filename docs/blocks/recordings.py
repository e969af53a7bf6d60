"""Which command made each recording of a GPU, when, and how it makes calls."""

import re

from blocks.contests import fastest
from blocks.markdown import count, number
from blocks.modes import HEADS, MODES, modes_of
from blocks.results import GPU, results
from scripts.common import RESULTS, ROOT, read, table, tuned_rows

SIZE = 2**28


def _context(document):
    """What a recording says of itself, wherever it says it."""
    return {**document, **document.get("run_with", {}), **document.get("context", {})}


def _rows(document):
    """All that was timed."""
    if "columns" in document:
        return tuned_rows(document)
    solutions = document.get("solutions", {}).values()
    return document.get("benchmarks") or [each[key] for each in solutions for key in ("stage", "solution")]


def _command(file):
    """As the recording or the text beside it has it, without where files go; else the script that makes it."""
    command, beside = _context(results(file)).get("command"), RESULTS / file.replace(".json", ".txt")
    if not command and beside.exists():
        command = re.search(r"^\$ (.*)", read(beside), re.MULTILINE)[1]
    if not command:
        words = re.search(rf"^DEVICE{re.escape(file.removeprefix(GPU))}\s+(.*(?:\n .*)*)", read(ROOT / "bench/record"),
                          re.MULTILINE)
        script = "bench/record" if words else f"bench/{file.removeprefix(GPU + '-').removesuffix('.json')}"
        return f"`{script}`" + (f": {' '.join(words[1].split())}" if words else "")
    command = re.sub(r" --(json|results|table|build)[ =]\S+", "", command).replace("'", "")
    return "`" + re.sub(r"(--(?:n|sizes) [^,\s]+),\S+,", r"\1,..,", command) + "`"


def _of_stage_10(file, mode):
    """(microseconds, GB/s of the ceiling) of a sum of 2^28 f32; None where there is none."""
    if "columns" in results(file):
        return fastest(10, SIZE, mode, file=file), None
    row = next(row for row in results(file)["benchmarks"] if row.get("stage") == 10 and row.get("mode") == mode and
               (row["n"], row["type"], row["op"]) == (SIZE, "f32", "sum"))
    return row["real_time"], row["bytes_per_second"] / row["share_of_ceiling"] / 1e9


def _line(file):
    document = results(file)
    # Whole calls of ranks are timed by the host.
    modes, figures = modes_of([row for row in _rows(document) if "ranks" not in row]), []
    for mode in modes:
        try:
            figures.append(_of_stage_10(file, mode))
        except (KeyError, StopIteration, ValueError):  # it has no such sum
            pass
    untimed = "whole calls" if any("real_time" in row for row in _rows(document)) else "no times"
    of = _context(document)
    times, ceilings = ([number(round(pair[i])) for pair in figures if pair[i]] for i in (0, 1))
    return [f"[{file.removeprefix(GPU + '-').removesuffix('.json')}](results/{file})", _command(file),
            of["date"][:10], of.get("commit", ""),
            ", ".join(modes) or untimed, ", ".join(times), ", ".join(ceilings)]


AGREEMENT = f"{GPU}-agreement.json"


def _spread(row):
    """From the 5th to the 95th percentile; of bench/tune, which keeps none, the time itself."""
    return row.get("p5", row["real_time"]), row.get("p95", row["real_time"])


def agrees(row, duel):
    """Whether their spreads overlap."""
    (low, high), (low_of_duel, high_of_duel) = _spread(row), _spread(duel)
    return low <= high_of_duel and low_of_duel <= high


def _same_sums(rows):
    """Rows by program, of every sum that all measured."""
    sums = {}
    for row in rows:
        sums.setdefault(tuple(row[key] for key in ("n", "mode", "stage", "block", "items", "grid")), {})[row["program"]] = row
    return sums.values()


def agreement():
    """A table of the same sums by every program that measures, held against the duel, whose samples take turns."""
    lines, found = [], []
    programs = ["tenfold_duel", "tenfold run", "tenfold ladder", "tenfold best --measure", "tenfold_bench", "bench/tune"]
    for by_program in _same_sums(results(AGREEMENT)["benchmarks"]):
        duel = by_program["tenfold_duel"]
        low, high = (f"{time:.4g}" for time in _spread(duel))
        line = [count(duel["n"]), HEADS[duel["mode"]], f"{duel['stage']}: {duel['block']} x {duel['items']}",
                f"{duel['real_time']:.4g} ({low} to {high})"]
        for program in programs[1:]:
            row = by_program.get(program)
            if row:
                found.append(agrees(row, duel))
            line.append("" if not row else f"{row['real_time']:.4g}" if found[-1] else f"**{row['real_time']:.4g}**")
        lines.append(line)
    heads = ["n", "mode", "stage: threads x items"] + [f"`{program}`" for program in programs]
    return (f"Microseconds, with the duel's 5th and 95th percentile. {sum(found)} of {len(found)} overlap with it; the "
            f"others are bold:\n\n{table(heads, lines, right=False)}")


def recordings():
    """A table of all recordings of the GPU, those in the mode that a program meets first before the others."""
    files = [path.name for path in RESULTS.glob(f"{GPU}-*.json")]
    def place(file):
        modes = modes_of(_rows(results(file)))
        return (list(MODES).index(modes[0]) if modes else len(MODES)), file
    heads = ["recording", "made by", "date", "commit", "mode", "stage 10, sum of 2^28 f32, us", "ceiling, GB/s"]
    return table(heads, [_line(file) for file in sorted(files, key=place)], right=False)
