"""What a page may ask docs/weave for: each function's result goes into the page as it is.

Sources are read as they are now, programs are run, results come from docs/results/: nothing here is
written down twice. Functions that need the program raise NoProgram where there is none.
"""

import difflib
import functools
import json
import os
import pathlib
import re
import shlex
import subprocess
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs" / "results"
LANGUAGES = {".hpp": "cpp", ".cpp": "cpp", ".cu": "cpp", ".txt": "cmake", ".json": "json",
             ".md": "markdown"}
ARCHITECTURES = {"sm_90": "NVIDIA sm_90", "gfx942": "AMD gfx942 (CDNA3)",
                 "gfx1100": "AMD gfx1100 (RDNA3)"}


class NoProgram(Exception):
    """There is no program to ask."""


_program = None


def use_program(path):
    global _program
    _program = path if path != "none" else None


# --- text in Markdown ----------------------------------------------------------------------------


def fence(text, language=""):
    return f"```{language}\n{text.rstrip()}\n```"


def table(heads, rows):
    lines = [heads, ["---"] + ["---:"] * (len(heads) - 1), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def number(value):
    """Four significant digits, with blanks between thousands: 1 048 576."""
    if value is None:
        return ""
    if isinstance(value, float) and not value.is_integer():
        return f"{value:.4g}" if abs(value) < 10000 else number(round(value))
    return f"{int(value):,}".replace(",", " ")


def count(n):
    """2^20, or as many digits as it takes."""
    return f"2^{n.bit_length() - 1}" if n >= 1024 and n & (n - 1) == 0 else number(n)


def times(after, before):
    """How many times as much: 0.30 x."""
    return f"{after / before:.2f} x" if before else ""


def percent(share):
    return f"{100 * share:.1f}%"


def gigabytes(bytes_per_second):
    """GB/s, which are 10^9 bytes."""
    return f"{bytes_per_second / 1e9:.0f} GB/s"


def duration(microseconds):
    if microseconds >= 1000:
        return f"{microseconds / 1000:.3g} ms"
    return f"{microseconds:.3g} us"


# --- the sources ---------------------------------------------------------------------------------


@functools.cache
def lines_of(file):
    return (ROOT / file).read_text(encoding="utf-8").splitlines()


@functools.cache
def catalogue():
    """number -> (name, change), of every stage."""
    pattern = re.compile(r'^  STAGE\((\d+), (\w+), \w+, "([^"]*)"\)', re.MULTILINE)
    text = "\n".join(lines_of("host/catalogue.hpp"))
    return {int(n): (name, change) for n, name, change in pattern.findall(text)}


def name_of(stage):
    return catalogue()[stage][0]


def idea(stage):
    """Half a line on what the stage changes."""
    return catalogue()[stage][1]


def file_of(stage):
    folder = "kernels" if stage <= 10 else "kernels/beyond"
    return f"{folder}/{stage:02d}_{name_of(stage)}.hpp"


def page_of(stage):
    return f"stages/{stage:02d}_{name_of(stage)}.md" if stage <= 10 else "beyond.md"


def stages(first, last, to_docs=""):
    """A table of stages; `to_docs` leads from the page's folder to docs/."""
    to_root = "" if to_docs == "docs/" else to_docs + "../"
    lines = ["| stage | idea | kernel |", "|---|---|---|"]
    for stage, (name, change) in catalogue().items():
        if first <= stage <= last:
            file = pathlib.Path(file_of(stage))
            lines.append(f"| [{stage} {name}]({to_docs}{page_of(stage)}) | {change} "
                         f"| [{file.name}]({to_root}{file}) |")
    return "\n".join(lines)


def contents(*pages):
    """A list of pages in docs/ by their titles."""
    titles = {page: lines_of(f"docs/{page}")[0].removeprefix("# ") for page in pages}
    return "\n".join(f"- [{title}]({page})" for page, title in titles.items())


def code(file, first, last=None):
    """The lines from the first that holds the text `first` to the next that holds `last`, or to the
    brace that closes what begins there: "}"."""
    lines = lines_of(file)
    begin = next((i for i, line in enumerate(lines) if first in line), None)
    if begin is None:
        raise ValueError(f"{file} has no line with {first!r}")
    brace = lines[begin][:len(lines[begin]) - len(lines[begin].lstrip())] + "}"
    end = begin
    if last is not None:
        end = next((i for i in range(begin, len(lines))
                    if (lines[i] == brace if last == "}" else last in lines[i])), None)
        if end is None:
            raise ValueError(f"{file} has no line with {last!r} after {first!r}")
    chosen = lines[begin:end + 1]
    margin = min((len(line) - len(line.lstrip()) for line in chosen if line), default=0)
    return fence("\n".join(line[margin:] for line in chosen),
                 LANGUAGES.get(pathlib.Path(file).suffix, ""))


def program(file):
    """A source file, without what it says at its head."""
    lines = lines_of(file)
    begin = next(i for i, line in enumerate(lines) if not line.startswith("//"))
    return fence("\n".join(lines[begin:]), LANGUAGES.get(pathlib.Path(file).suffix, ""))


def kernel(stage):
    """The kernel of a stage, whole."""
    file = file_of(stage)
    lines = lines_of(file)
    at = next(i for i, line in enumerate(lines) if "__global__" in line)
    begin = max(i for i in range(at + 1) if lines[i].startswith("template"))
    end = next(i for i in range(at, len(lines)) if lines[i] == "}")
    return fence("\n".join(lines[begin:end + 1]), "cpp")


# --- the program ---------------------------------------------------------------------------------


@functools.cache
def run(arguments, expected=(0,)):
    """What `tenfold ARGUMENTS` prints."""
    if _program is None:
        raise NoProgram
    environment = dict(os.environ, LC_ALL="C.UTF-8", NO_COLOR="1")
    done = subprocess.run([_program, *shlex.split(arguments)], cwd=ROOT, env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode not in expected:
        raise ValueError(f"exit code {done.returncode}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def result_of(arguments):
    """What `tenfold run ARGUMENTS` computes, in as many digits as an f32 has."""
    value, = (row["result"] for row in json.loads(run(f"run {arguments} --json -"))["benchmarks"])
    return f"{value:.9g}"


def console(arguments, head=False, after=None, until=None, status=0):
    """A command and what it prints: all of it, or the head before the first blank line; or from
    the line that holds the text `after` on, or to the line that holds `until`. `status` is the exit
    code that is expected."""
    lines = run(arguments, (status,)).replace(f"{ROOT}/", "").rstrip().splitlines()
    if head and "" in lines:
        lines = lines[:lines.index("")]
    if after is not None:
        lines = ["..."] + lines[next(i for i, line in enumerate(lines) if after in line):]
    if until is not None:
        lines = lines[:next(i for i, line in enumerate(lines) if until in line) + 1] + ["..."]
    return fence("\n".join([f"$ ./tenfold {arguments}", *lines]), "console")


def diff(before, after, around=2):
    """What a stage changes in the one before: lines of code, comments left out."""
    lines = run(f"diff {before} {after}").rstrip().splitlines()
    summary = lines[-1]
    body = lines[2:-2]
    # The name of the namespace is no news, nor is what the host is told.
    changed = [i for i, line in enumerate(body)
               if line[:1] in "+-" and "namespace tenfold" not in line]
    kept, text = {j for i in changed for j in range(i - around, i + around + 1)}, []
    for i, line in enumerate(body):
        if i not in kept:
            continue
        if text and i - 1 not in kept:
            text.append("  ...")
        text.append(line.rstrip())
    summary = summary.replace(" (comments left out)", "")
    return fence("\n".join(text), "diff") + f"\n\n{summary}, by `./tenfold diff {before} {after}`."


_one_at_a_time = threading.Lock()


@functools.cache
def _profiles_of(arguments):
    document = json.loads(run(f"profile {arguments} --json -"))
    return {(p["stage_name"], p["warp"]): p for p in document["profiles"]}


def _profiles(kernel_name, options):
    # All stages at once, for the pages ask for most of them.
    is_stage = not options and kernel_name.isdigit()
    with _one_at_a_time:
        return _profiles_of("--all" if is_stage else f"{kernel_name} {options}".strip())


def profile(stage, key, warp=32, options=""):
    """A figure of `tenfold profile STAGE --json -`: "shared_wavefronts", or of the first launch
    "passes.0.shared_reads.requests". `stage` may be the name of a pitfall or a kernel's file."""
    name = name_of(stage) if isinstance(stage, int) else pathlib.Path(stage).stem
    value = _profiles(str(stage), options)[name, warp]
    for step in key.split("."):
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


def lanes_at(stage, text, warp=32):
    """The lanes that take part in a read of shared memory, at the kernel's first line with this
    text, on average on the executor."""
    at = next(i + 1 for i, line in enumerate(lines_of(file_of(stage))) if text in line)
    reads = next(line for line in profile(stage, "lines", warp) if line["line"] == at)["shared_reads"]
    return reads["lanes"] / reads["requests"]


def _choose(rows, keys):
    """Of rows with a title and a key, those that are named by their keys, or all."""
    unknown = set(keys) - {key for _, key in rows}
    if unknown:
        raise ValueError(f"no such row: {', '.join(sorted(unknown))}")
    return [row for row in rows if not keys or row[1] in keys]


COUNTERS = [
    ("launches", "launches"),
    ("blocks", "blocks"),
    ("global memory: requests", "global_requests"),
    ("bytes used of those moved, %", "sector_efficiency"),
    ("shared memory: requests", "shared_requests"),
    ("wavefronts", "shared_wavefronts"),
    ("wavefronts per request", "wavefronts_per_request"),
    ("worst bank conflict, ways", "worst_bank_conflict"),
    ("active lanes per request to shared memory", "active_lanes_at_shared_memory"),
    ("active lanes per step", "active_lanes"),
    ("steps per element", "steps_per_element"),
    ("barriers per block", "barriers_per_block"),
    ("warp barriers", "warp_barriers"),
    ("shuffles", "shuffles"),
]


def counters(stage, *keys, warps=(32, 64)):
    """The counters of a stage beside those of the one before, on the executor; all, or those that
    are named by their keys in the program's JSON (see COUNTERS)."""
    before = stage - 1
    chosen = _choose(COUNTERS, keys)
    columns = [(s, w) for w in warps for s in ((before, stage) if before else (stage,))]
    heads = ["2^20 elements, blocks of 256"] + [f"stage {s}, warps of {w}" for s, w in columns]
    rows = [[title, *(number(round(profile(s, key, w), 2)) for s, w in columns)]
            for title, key in chosen]
    return table(heads, rows)


# --- results -------------------------------------------------------------------------------------


@functools.cache
def results(file):
    return json.loads((RESULTS / file).read_text(encoding="utf-8"))


def ladder(entry, key, file="h200-ladder.json"):
    """A figure of a recorded ladder, of a stage's number or a peer's name: "real_time" (us),
    "bytes_per_second", "share_of_ceiling", "share_of_peak", "against_best_peer", "block", "items",
    "grid", or "launches"."""
    for row in results(file)["benchmarks"]:
        if entry in (row.get("stage"), row.get("peer")):
            return len(row["passes"]) if key == "launches" else row[key]
    raise ValueError(f"{file} has no {entry}")


def gpu(file="h200-ladder.json"):
    return results(file)["context"]["device_name"]


def fact(key, file="h200-ladder.json"):
    """What a recorded run says of its GPU: "multiprocessors", "peak_bytes_per_second", ..."""
    return results(file)["context"][key]


def additions_per_second(file="h200-ladder.json"):
    """Additions of f32 on paper: 128 per clock and multiprocessor of compute capability 9.0 (CUDA
    C++ Programming Guide, "Arithmetic Instructions")."""
    return 128 * fact("multiprocessors", file) * fact("core_hertz", file)


def on_gpu(stage, device="h200"):
    """What a GPU gives a stage and the one before: in the same shape, which is the one that is profiled,
    and each in its best."""
    same, best = f"{device}-ladder-256.json", f"{device}-ladder.json"
    rows, before = [], stage - 1
    for s in (before, stage) if before else (stage,):
        cells = [f"{s} {name_of(s)}"]
        for file in (same, best):
            speed = ladder(s, "bytes_per_second", file)
            gain = times(speed, ladder(before, "bytes_per_second", file)) if before and s == stage else ""
            threads = [] if file == same else [_shape_of(s, file)]
            cells += [*threads, duration(ladder(s, "real_time", file)), f"{speed / 1e9:.0f}", gain]
        rows.append([*cells, percent(ladder(s, "share_of_ceiling", best))])
    n, kind = ladder(stage, "n", best), ladder(stage, "type", best)
    items = ", 4 items" if stage > 8 else ""
    return table([f"sum of {count(n)} {kind}, {gpu(best)}", f"blocks of 256{items}", "GB/s",
                  "times the one before", "best blocks of", "time", "GB/s", "times the one before",
                  "of what can be read"], rows)


def _shape_of(stage, file):
    """Threads of a block, and from stage 9 on elements of a thread."""
    items = f", {ladder(stage, 'items', file)} items" if stage > 8 else ""
    return f"{ladder(stage, 'block', file)}{items}"


def solution_row(name, device="h200"):
    return results(f"{device}-solutions.json")["solutions"][name]["solution"]


def solution(name, device="h200"):
    """What a GPU gives the solution of an exercise, beside the stage that it began as."""
    document = results(f"{device}-solutions.json")
    row = document["solutions"][name]
    stage, own = row["stage"]["bytes_per_second"], solution_row(name, device)["bytes_per_second"]
    return (f"an {document['context']['device_name'].removeprefix('NVIDIA ')} reads {gigabytes(own)} with it, and "
            f"{gigabytes(stage)} with stage {row['began_as']} in the same shape: {times(own, stage)}")


def _sized(stage, n, file):
    for row in results(file)["benchmarks"]:
        if row["stage"] == stage and row["n"] == n:
            return row
    raise ValueError(f"{file} has no stage {stage} with {count(n)} elements")


def sized(stage, n, key, file="h200-sizes.json"):
    """A figure of a stage in a ladder by size: "real_time" (us), "p5", "p95", "block", ..."""
    return _sized(stage, n, file)[key]


def by_size(stages_shown, exponents, file="h200-sizes.json"):
    """A ladder's rows by size: for 2^each exponent the time and the launches of some stages, and how
    many times as fast the last of them is as the first."""
    heads = [f"f32 sum, {gpu(file)}"]
    for stage in stages_shown:
        heads += [f"stage {stage}", "launches"]
    rows = []
    for n in (2 ** exponent for exponent in exponents):
        found = [_sized(stage, n, file) for stage in stages_shown]
        cells = [cell for row in found for cell in (duration(row["real_time"]), len(row["passes"]))]
        rows.append([count(n), *cells, times(found[0]["real_time"], found[-1]["real_time"])])
    return table([*heads, f"{stages_shown[-1]} against {stages_shown[0]}"], rows)


def tuned(stage, block, items, grid=0, n=2**28, key="gigabytes_per_second",
          file="h200-tune.json"):
    """A figure of a sum of f32 in a replayed graph as bench/tune found it, in the closest look it
    had at this shape; `grid` counts blocks per multiprocessor where the stage takes a grid."""
    document, found = results(file), None
    for cells in document["rows"]:
        row = dict(zip(document["columns"], cells))
        if [row[c] for c in ("type", "mode", "n", "stage", "block", "items", "grid")] == [
                "f32", "graph", n, stage, block, items, grid]:
            found = row[key]
    if found is None:
        raise ValueError(f"{file} has no stage {stage} as {block} x {items} x {grid}")
    return found


def fastest(stage, n, mode="graph", file="h200-tune.json"):
    """Microseconds of a sum of f32 in the stage's fastest shape, as bench/tune found it."""
    document = results(file)
    rows = (dict(zip(document["columns"], cells)) for cells in document["rows"])
    return min(row["microseconds"] for row in rows
               if [row[c] for c in ("round", "type", "mode", "n", "stage")] == [
                   "detail", "f32", mode, n, stage])


def fastest_by_size(stages_shown, exponents, mode, file="h200-tune.json"):
    """`fastest` of some stages for 2^each exponent."""
    heads = [f"us, {results(file)['device']}, in a {mode}", *(f"stage {s}" for s in stages_shown)]
    return table(heads, [[f"2^{exponent}", *(number(fastest(s, 2 ** exponent, mode, file))
                                             for s in stages_shown)] for exponent in exponents])


def duelled(contestant, n, key="ratio", mode="graph", kind="f32", file="h200-sums.json"):
    """A figure of a sum as tenfold_duel found it: of "best", a stage's number, or "peer:cub"."""
    for row in results(file)["benchmarks"]:
        names = row["contestant"], row["contestant"].split("/")[0], row.get("stage")
        if contestant in names and (row["n"], row["mode"], row["type"], row["op"]) == (
                n, mode, kind, "sum"):
            return row[key]
    raise ValueError(f"{file} has no {contestant} of {count(n)} {kind} in a {mode}")


def narrow_sums(kinds, n=2**31, file="h200-narrow.json"):
    """Sums of narrow elements by stages 10 and 15 and by CUB."""
    contestants = 10, 15, "peer:cub"
    rows = [[kind, *(duration(duelled(who, n, "real_time", kind=kind, file=file))
                     for who in contestants)] for kind in kinds]
    device = results(file)["context"]["device"]
    return table([f"sum of {count(n)}, {device}", "stage 10", "stage 15", "CUB"], rows)


@functools.cache
def _hardware(stage, launch, file):
    for entry in results(file)["stages"]:
        if entry["stage"] == stage:
            return entry["passes"][launch]["hardware"]
    raise ValueError(f"{file} has no stage {stage}")


def hardware(stage, metric, launch=0, file="h200-counters.json"):
    """What NVIDIA's profiler counted in a launch of a stage: a metric's name, or with a dot the
    opcode of one that counts by opcode, or "instructions": all that warps executed."""
    metrics = _hardware(stage, launch, file)
    if metric == "instructions":
        return sum(metrics["sass__inst_executed_per_opcode"].values())
    if metric in metrics:
        return metrics[metric]
    name, _, opcode = metric.rpartition(".")
    return metrics[name].get(opcode, 0)


def per_32_elements(stage):
    """Instructions that warps of the first launch executed for every 32 elements, which are one load
    of a whole warp."""
    n = 2 ** int(results("h200-counters.json")["shape"]["n"].removeprefix("2^"))
    return 32 * hardware(stage, "instructions") / n


def issue_slots(stage, file="h200-ladder-256.json"):
    """The share of their clocks in which a GPU's warp schedulers issue an instruction, of a stage up to
    8 with blocks of 256: four schedulers a multiprocessor and one instruction a clock at most, at the
    highest clock, which these GPUs keep under load."""
    executed = per_32_elements(stage) / 32 * ladder(stage, "n", file)
    slots = 4 * fact("multiprocessors", file) * fact("core_hertz", file)
    return executed / (slots * ladder(stage, "real_time", file) / 1e6)


def duel(file):
    """The table of what tenfold_duel found: for each size and type the best stage that took part
    and how many times as fast as the library it was, with the interval that holds the median at
    95%, in a replayed graph and in a stream."""
    events = {}
    rows = results(file)["benchmarks"]
    for row in rows:
        key = (row["n"], row["type"], row["op"])
        events.setdefault(key, {}).setdefault(row["mode"], []).append(row)
    library = rows[0]["against"].removeprefix("peer:")
    modes = [mode for mode in ("graph", "stream") if any(mode in event for event in events.values())]
    heads = [head for mode in modes
             for head in ("stage", f"in a {mode}", f"times {library}", "of ceiling")]
    lines = ["| n | type | operator | " + " | ".join(heads) + " |", "|---" * (3 + len(heads)) + "|"]
    for (n, kind, op), event in events.items():
        cells = [count(n), kind, op]
        for mode in modes:
            cells += _duel_cells(event.get(mode, []))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _duel_cells(entries):
    """Stage, time, times as fast, share of the ceiling; blanks where no stage was measured."""
    measured = [entry for entry in entries if "stage" in entry]
    if not measured:
        return ["", "", "", ""]
    best = min(measured, key=lambda entry: entry["real_time"])
    interval = (f" ({best['ratio_low']:.3f}..{best['ratio_high']:.3f})" if "ratio_low" in best
                else "")
    return [str(best["stage"]), f"{best['real_time']:.4g} us", f"{best['ratio']:.3f}{interval}",
            percent(best["share_of_ceiling"])]


def _duel_row(contestant, n, mode, file):
    for row in results(file)["benchmarks"]:
        if row["contestant"].split("/")[0] == contestant and (row["n"], row["mode"]) == (n, mode):
            return row
    raise ValueError(f"{file} has no {contestant} of {n} elements in a {mode}")


def duel_time(contestant, n, mode="graph", file="h200-sums.json"):
    """What a call of "best", "peer:cub" or "peer:empty" took, by tenfold_duel."""
    return duration(_duel_row(contestant, n, mode, file)["real_time"])


def duel_ratio(contestant, n, mode="graph", file="h200-sums.json"):
    """How many times as fast as the library, and the interval."""
    row = _duel_row(contestant, n, mode, file)
    return f"{row['ratio']:.3f} ({row['ratio_low']:.3f}..{row['ratio_high']:.3f})"


def listing(file):
    """A text of docs/results/ as it is."""
    return fence((RESULTS / file).read_text(encoding="utf-8"))


# --- machine code --------------------------------------------------------------------------------


def _machine(stage, architecture):
    record = results("machine-code.json")["architectures"][architecture]
    return record["kernels"][str(stage)]


def machine(stage, architecture, key):
    """A figure of the recorded machine code: "instructions", "vector_registers", "shuffles", ..."""
    return _machine(stage, architecture)[key]


def compilers():
    """Which compilers the recorded machine code is by."""
    records = results("machine-code.json")["architectures"]
    return "; ".join(f"{name}: {record['language']} by {record['compiler']}"
                     for name, record in records.items())


MACHINE_ROWS = [
    ("instructions", "instructions"),
    ("vector registers", "vector_registers"),
    ("shared memory, bytes", "shared_bytes"),
    ("loops", "loops"),
    ("block barriers", "block_barriers"),
    ("loads of 16 bytes", "loads_of_16_bytes"),
    ("accesses to shared memory", "shared_memory"),
    ("shuffles", "shuffles"),
    ("branches", "branches"),
]


def machine_code(stage, *keys):
    """The machine code of a stage beside that of the one before, on both vendors: all rows of
    MACHINE_ROWS, or those that are named by their keys."""
    before = stage - 1
    chosen = _choose(MACHINE_ROWS, keys)
    columns = [(a, s) for a in ARCHITECTURES for s in ((before, stage) if before else (stage,))]
    heads = ["f32 sum, block 256, compiled"] + [f"{a}: stage {s}" for a, s in columns]
    rows = [[title, *(number(machine(s, a, key)) for a, s in columns)] for title, key in chosen]
    return table(heads, rows)


def instructions(stage, architecture, text, first=None, last=None):
    """The instructions that come from the kernel's first line with this text; or of them those from
    the first that holds the text `first` to the next that holds `last`."""
    lines = lines_of(file_of(stage))
    at = next((i + 1 for i, line in enumerate(lines) if text in line), None)
    if at is None:
        raise ValueError(f"{file_of(stage)} has no line with {text!r}")
    chosen = [line.partition(" ")[2] for line in _machine(stage, architecture)["code"]
              if line.startswith(f"{at}: ")]
    if not chosen:
        raise ValueError(f"no instruction of {architecture} comes from line {at} of {file_of(stage)}")
    if first is not None:
        begin = next(i for i, line in enumerate(chosen) if first in line)
        end = next(i for i in range(begin, len(chosen)) if last in chosen[i])
        chosen = chosen[begin:end + 1]
    return fence("\n".join(chosen), "text")


# --- claims of published texts -------------------------------------------------------------------


def claims(*tests):
    """Rows of docs/claims.md, by the names of their tests."""
    rows = [line for line in lines_of("docs/claims.md") if line.startswith("|")]
    chosen = []
    for test in tests:
        found = [row for row in rows if f".{test}`" in row or f".{test}/" in row]
        if not found:
            raise ValueError(f"docs/claims.md has no test {test}")
        chosen += [row.rpartition(" | `")[0] + " |" for row in found]
    return "\n".join(["| claim | verdict | what the code shows |", "|---|---|---|", *chosen])


# --- pitfalls ------------------------------------------------------------------------------------


def _kernel_lines(name):
    """The lines of a pitfall's kernel, and those of the mended one, without what marks the mistake."""
    text = "\n".join(lines_of(f"kernels/pitfalls/{name}.hpp"))
    both = re.findall(r"^template[^{]*?__global__.*?^}$", text, re.MULTILINE | re.DOTALL)
    return [re.sub(r" *// pitfall: \w+$", "", kernel, flags=re.MULTILINE).splitlines() for kernel in both]


def pitfall(name, around=1):
    """What mends the kernel of a pitfall: the lines that differ, and so many around them."""
    lines = list(difflib.unified_diff(*_kernel_lines(name), lineterm="", n=around))[3:]
    if not lines:
        raise ValueError(f"what differs in {name} is not in its kernel")
    if lines[0].strip() == "":
        del lines[0]
    margin = min(len(line) - len(line[1:].lstrip()) for line in lines if line[1:].strip() and line[0] != "@")
    text = ["  ..." if line[0] == "@" else f"{line[0]} {line[margin:]}".rstrip() for line in lines]
    return fence("\n".join(text), "diff")


TOOLS = ["memcheck", "racecheck", "initcheck", "synccheck"]


@functools.cache
def _looks(file):
    return {look["name"]: look for look in results(file)["looks"] if not look["mended"]}


def _tools_that_find(look):
    return [tool for tool in TOOLS if look[tool]["found"]]


def pitfall_result(name, file="h200-pitfalls.json"):
    """What the result of a pitfall on a GPU was: "right", "wrong, 1 of 20", "hangs", "error"."""
    return _looks(file)[name]["plain"]["text"]


def found(name, file="h200-pitfalls.json"):
    """Who finds a pitfall: the result on a GPU, compute-sanitizer, the checker."""
    look, shows = _looks(file)[name], pitfall_result(name, file)
    tools = ", ".join(_tools_that_find(look)) or ("hangs, too" if shows == "hangs" else "nothing")
    return (f"{results(file)['run_with']['device']}: *{shows}*. compute-sanitizer: *{tools}*. "
            f"`tenfold check`: *{look['check']['text']}*.")


def pitfalls_found(by, file="h200-pitfalls.json"):
    """How many pitfalls there are ("all"), show on a GPU ("plain"), hang there ("hangs"), are found by
    compute-sanitizer ("sanitizer") or by `tenfold check` ("check")."""
    by_tool = {
        "all": lambda look: True,
        "plain": lambda look: look["plain"]["found"],
        "hangs": lambda look: look["plain"]["text"] == "hangs",
        "sanitizer": _tools_that_find,
        "check": lambda look: look["check"]["found"],
    }
    return sum(bool(by_tool[by](look)) for look in _looks(file).values())


def pitfalls_table(file="h200-pitfalls.json", to_root="../"):
    """All pitfalls, in the order of their list, and who finds them."""
    rows = []
    pattern = re.compile(r"^\| \[(\w+)\]\(\w+\.hpp\) \| (.*?) \|")
    for name, what in (m.groups() for m in map(pattern.match, lines_of("kernels/pitfalls/README.md")) if m):
        look = _looks(file)[name]
        rows.append([f"[{name}]({to_root}kernels/pitfalls/{name}.hpp)", what, look["plain"]["text"],
                     ", ".join(_tools_that_find(look)), look["check"]["text"]])
    heads = ["pitfall", "what is wrong", results(file)["run_with"]["device"], "compute-sanitizer",
             "`tenfold check`"]
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


# --- drawings ------------------------------------------------------------------------------------


def image(name, to_images="images/"):
    """A picture of docs/images/ with what it says of itself; `to_images` leads there."""
    text = (ROOT / "docs" / "images" / f"{name}.svg").read_text(encoding="utf-8")
    found = re.search(r"<desc[^>]*>(.*?)</desc>", text, re.DOTALL)
    words = " ".join(found[1].split()) if found else name
    return f"![{words.replace('[', '(').replace(']', ')')}]({to_images}{name}.svg)"


def drawing(stage):
    """What the first block of a stage does, on the page of the stage."""
    return image(f"{stage:02d}_{name_of(stage)}", "../images/")
