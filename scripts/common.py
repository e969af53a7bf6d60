"""What the scripts of bench/ and docs/ share."""

import argparse
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from fractions import Fraction

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs/results"
SKIPPED = 77  # the exit code of what cannot be checked here
WRONG_RESULT = 1  # that of a program of this project


class Failure(Exception):
    """What ends a script, in one line."""


class Skipped(Exception):
    """Why something cannot be checked here."""


def run_script(name, main):
    """Ends the program in one line where `main` fails or skips what it is for."""
    try:
        main()
    except Skipped as reason:
        print(f"{name}: skipped: {reason}")
        sys.exit(SKIPPED)
    except KeyError as error:
        sys.exit(f"{name}: there is no {error} in what it reads")
    except (Failure, OSError, ValueError) as error:
        sys.exit(f"{name}: {error}")


def parser_of(documentation):
    return argparse.ArgumentParser(description=documentation,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)


# ---- programs and files -------------------------------------------------------------------------


def output_of(*command, status=0, **more):
    """What a program prints. Where it ends otherwise, its own words are the failure."""
    done = subprocess.run(command, capture_output=True, text=True, **more)
    if done.returncode != status:
        raise Failure(f"{shlex.join(map(str, command))}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def call(*command, **more):
    """Has a program do something. Where it fails, its own words stand before these."""
    done = subprocess.run(command, text=True, **more)
    if done.returncode:
        what = "gave a wrong result" if done.returncode == WRONG_RESULT else f"ended with {done.returncode}"
        raise Failure(f"{shlex.join(map(str, command))} {what}")
    return done.stdout


def results_of(*command, option="--json"):
    """What a program writes into the file that this option names."""
    with tempfile.TemporaryDirectory() as folder:
        call(*command, f"{option}={folder}/results.json", stdout=subprocess.DEVNULL)
        return read_json(f"{folder}/results.json")


def build_facts(program):
    """Version, commit and compiler of a program of this project, as each of its own results has them."""
    lines = output_of(program, "--version").splitlines()
    told = dict(line.split(" ", 1) for line in lines if " " in line)
    return {key: told[key] for key in ("version", "commit", "compiler") if key in told}


def version_of(tool):
    """Of one of NVIDIA's."""
    text = output_of(tool, "--version")
    found = re.search(r"Version ([\w.]+)", text)
    return found[1] if found else text.strip().splitlines()[-1]


def context_of(program, *options):
    """What `tenfold` says of a device and of itself."""
    quick = "run", "1", "--n", "1", "--repeat", "1", "--mode", "back-to-back", "--json", "-"
    return json.loads(output_of(program, *quick, *options))["context"]


def listed_stages(tenfold):
    """All stages, as `tenfold list --json` tells of them."""
    return json.loads(output_of(tenfold, "list", "--json"))["stages"]


def find_ncu():
    """NVIDIA's profiler; None where there is none."""
    return shutil.which("ncu") or shutil.which("ncu", path="/usr/local/cuda/bin:/opt/nvidia/nsight-compute")


def read(path):
    try:
        return pathlib.Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise Failure(f"cannot read '{path}': {error.strerror}") from error


def read_json(path):
    try:
        return json.loads(read(path))
    except ValueError as error:
        raise Failure(f"'{path}' is no JSON: {error}") from error


def json_text(document, levels):
    """JSON that has what lies deeper than so many levels on a line."""
    text = re.sub(rf",\n {{{levels + 1},}}", ", ", json.dumps(document, indent=1))
    return re.sub(rf"\n {{{levels + 1},}}|\n {{{levels}}}(?=[\]}}])", "", text) + "\n"


def write(path, text):
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    print(f"wrote {path}")


def write_or_check(path, text, check, expectation):
    """Writes a file that a script makes, or with `check` fails where it holds something else."""
    if not check:
        write(path, text)
    elif read(path) != text:
        raise Failure(f"{path} is not {expectation}")


def cpp_array(name, row_type, rows):
    """A table that the program is built with."""
    lines = "".join(f"    {{{row}}},\n" for row in rows)
    return f"inline constexpr auto {name} = std::to_array<{row_type}>({{\n{lines}}});\n"


# ---- what results are of ------------------------------------------------------------------------


def device_name(context):
    """"NVIDIA H200": also of a context that says "cuda:0 (NVIDIA H200)" alone."""
    return context.get("device_name") or re.sub(r"^\S+ \((.*)\)$", r"\1", context["device"])


def short_name(device):
    """What the names of a device's results begin with: "h200" of "NVIDIA H200"."""
    name = re.sub(r"^(NVIDIA|AMD) ", "", device).split(",")[0].lower()
    return re.sub(r"[^a-z0-9]+", "-", name).strip("-")


def tuned_rows(document):
    """The rows of what bench/tune writes."""
    return [dict(zip(document["columns"], values)) for values in document["rows"]]


def bytes_of(element_type):
    """4 of f32, 2 of bf16."""
    found = re.search(r"\d+$", element_type)
    if not found or int(found[0]) % 8:
        raise Failure(f"cannot tell the size of elements of type '{element_type}'")
    return int(found[0]) // 8


def random_bits(seed, i):
    """What element i of tenfold's random input is made from: a step of splitmix64, as host/data/input.cpp takes
    it. `i` may be an array of numpy's uint64."""
    mask = (1 << 64) - 1
    z = ((seed * 0xD1342543DE82EF95 & mask) + (i + 1) * 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return z ^ (z >> 31)


SUFFIXES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12,
            "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40}


def parse_count(text):
    """A number of elements in the forms that tenfold reads: 1000000, 1_000_000, 2^24, 64Mi, 2.5e6."""
    digits = r"\d+(?:_\d+)*"
    if power := re.fullmatch(rf"({digits})\^({digits})", text):
        base, exponent = map(int, power.groups())
        count = Fraction(base ** min(exponent, 64))
    elif decimal := re.fullmatch(rf"({digits}(?:\.{digits})?(?:[eE][+-]?\d{{1,3}})?)"
                                 rf"({'|'.join(SUFFIXES)})", text):
        count = Fraction(decimal[1].replace("_", "")) * SUFFIXES[decimal[2]]
    else:
        raise Failure(f"'{text}' is not a count: write for example 1000000, 2^24, 64Mi or 1e9")
    if count.denominator != 1:
        raise Failure(f"'{text}' is not a whole number")
    if count >= 1 << 64:
        raise Failure(f"'{text}' is too large, the limit is 2^64-1")
    return int(count)


# ---- pages --------------------------------------------------------------------------------------


def table(heads, rows, right=True):
    """Figures to the right, below heads; words to the left."""
    rule = "| --- " + "| ---: " * (len(heads) - 1) + "|" if right else "|---" * len(heads) + "|"
    head, *lines = ("| " + " | ".join(str(cell) for cell in line) + " |" for line in [heads, *rows])
    return "\n".join([head, rule, *lines])
