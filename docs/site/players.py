#!/usr/bin/env python3
"""Has the program write the pages that play kernels: players.py PROGRAM FOLDER

A page for each of the ten stages, in which a reader chooses between warps, and one for each pitfall, which
opens at what `tenfold check` finds.
"""

import concurrent.futures
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
WARPS = "8,32,64"
FOUND = 1  # the exit code of a check that found something


def write_page(program, page, *arguments, code=0):
    run = subprocess.run([program, *arguments, "--html", page], capture_output=True, text=True,
                         env={**os.environ, "TENFOLD_REFRESH": "0"})
    if run.returncode != code:
        raise RuntimeError(f"tenfold {' '.join(arguments)} ended with {run.returncode}: {run.stderr.strip()}")


def write_pages(program, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for page in folder.glob("*.html"):
        page.unlink()
    calls = [(path, ["check", path.stem], FOUND) for path in (ROOT / "kernels/pitfalls").glob("*.hpp")]
    calls += [(path, ["trace", path.stem.split("_", 1)[1], "--warp", WARPS], 0)
              for path in (ROOT / "kernels").glob("[0-9]*.hpp")]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        pages = [pool.submit(write_page, program, folder / f"{path.stem}.html", *arguments, code=code)
                 for path, arguments, code in calls]
    for page in pages:
        page.result()


if __name__ == "__main__":
    write_pages(sys.argv[1], pathlib.Path(sys.argv[2]))
