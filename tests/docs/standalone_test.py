#!/usr/bin/env python3
"""The lines in the pages that build a stage without CMake, and run it.

standalone_test.py nvcc|hipcc [STAGE...]

TENFOLD_HIP_COMPILER, such as "clang++-19 --rocm-path=FOLDER", takes the place of hipcc. Where there is no
GPU to run on, the program must say so.
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGES = {int(page.name[:2]): page for page in sorted((ROOT / "docs/stages").glob("*.md"))}
RIGHT, NO_DEVICE = 0, 3
USUAL = ["/usr/local/cuda/bin", "/opt/rocm/bin", "/opt/rocm/core/bin"]
FOLDERS = os.pathsep.join([os.environ.get("PATH", os.defpath), *USUAL])
HAS_GPU = {"nvcc": pathlib.Path("/dev/nvidiactl").exists(), "hipcc": pathlib.Path("/dev/kfd").exists()}


def compiler_named(name):
    """What the line's first word stands for, and what its last words must be; none where there is none."""
    named = shlex.split(os.environ.get("TENFOLD_HIP_COMPILER", "")) if name == "hipcc" else []
    if named:
        return [*named, "-x", "hip", "--hip-link"], ["-lamdhip64"]
    found = shutil.which(name, path=FOLDERS)
    return ([found], []) if found else None


def line_of(page, name):
    """The words of the line up to the program's name, and the program."""
    line, = re.findall(rf"^{name} (-.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    build, program = line.split(" && ")
    words = shlex.split(build)
    assert words[-2:] == ["-o", program], line
    return words[:-1], program


def fault_of(stage, name, compiler, folder):
    """What is wrong with a stage's line; none where nothing is."""
    begin, end = compiler
    words, program = line_of(PAGES[stage], name)
    if name == "hipcc" and not HAS_GPU[name]:
        begin = [*begin, "--offload-arch=gfx90a"]  # for it takes that of the GPU
    program = folder / pathlib.Path(program).name
    built = subprocess.run([*begin, *words, program, *end], cwd=ROOT, capture_output=True, text=True)
    if built.returncode:
        return f"does not build:\n{built.stdout}{built.stderr}"
    done = subprocess.run([program], capture_output=True, text=True)
    expected = RIGHT if HAS_GPU[name] else NO_DEVICE
    if done.returncode != expected or (expected == RIGHT) != (", right" in done.stdout):
        return f"exit code {done.returncode}: {done.stdout}{done.stderr}"
    return None


def main():
    name, stages = sys.argv[1], list(map(int, sys.argv[2:])) or list(PAGES)
    compiler = compiler_named(name)
    if compiler is None:
        print(f"skipped: there is no {name}")
        return 0
    faults = 0
    with tempfile.TemporaryDirectory() as folder:
        for stage in stages:
            if fault := fault_of(stage, name, compiler, pathlib.Path(folder)):
                faults += 1
                print(f"{PAGES[stage].name}: {fault}")
    ran = "ran" if HAS_GPU[name] else "not run, there is no GPU"
    print(f"{len(stages)} lines of {name} built, {ran}; {faults} faults")
    return 1 if faults or not stages else 0


if __name__ == "__main__":
    sys.exit(main())
