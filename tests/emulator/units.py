"""Units of kernels for AMD, as the build has them, by a HIP compiler that needs no GPU."""

import os
import pathlib
import shlex
import shutil
import subprocess

from scripts.common import ROOT, Failure, Skipped, output_of

VARIABLE = "TENFOLD_HIP_COMPILER"
USUAL = ("hipcc", "/opt/rocm/bin/hipcc")
# As cmake/Hip.cmake and CMakeLists.txt have them, for the GPU alone.
FLAGS = ("-x hip -std=c++20 -O3 -DNDEBUG -ffp-contract=off -mllvm -amdgpu-early-inline-all=true "
         "-mllvm -amdgpu-function-calls=false --cuda-device-only --no-gpu-bundle-output -c "
         "-Wno-unused-command-line-argument").split()
OWN_BLOCKS = [64, 256, 1024]  # host/reduce/shape.hpp, unlisted_block_sizes
SHARED_BYTES = "tenfold_shared_bytes_of_block_"
# How a compiler says that it knows no such GPU, or has nothing for it.
UNKNOWN_GPU = ("invalid target ID", "cannot find ROCm", "cannot find HIP", "cannot find rocm")


def compiler(named):
    """The command of the compiler: what the command line names, or the environment, or hipcc."""
    words = shlex.split(named or os.environ.get(VARIABLE, ""))
    if not words:
        words = [found for found in map(shutil.which, USUAL) if found][:1]
    if not words:
        raise Skipped(f"there is no hipcc: install ROCm, or set {VARIABLE} to a command such as "
                      "'clang++-19 --rocm-path=FOLDER'")
    if not shutil.which(words[0]):
        raise Failure(f"there is no compiler '{words[0]}'")
    return words


def version_of(named):
    return output_of(*compiler(named), "--version").splitlines()[0]


def unit_of_stage(stage, element_types, only_sums):
    """The text of a unit that registers a stage, as host/backends/stage.cpp.in has it. `stage` is what
    `tenfold list --json` says of it."""
    types = ", ".join(f"element_type::{each}" for each in element_types)
    operators = "sum" if only_sums else "all"
    return f"""#include "{stage['file']}"

#include "host/backends/stage.hpp"

namespace tenfold::inline TENFOLD_BACKEND {{

[[maybe_unused]] static const bool is_registered =
    register_stage<{stage['name']}::stage, operators::{operators}, {types}>();

}}  // namespace tenfold::inline TENFOLD_BACKEND
"""


def unit_of_own(kernel):
    """The same of a reader's own kernel, as host/own/own_kernel.cpp and host/CMakeLists.txt have it. What it
    asks for as shared memory is told in variables, see `shared_bytes_of_own`."""
    file, name = pathlib.Path(kernel).resolve(), pathlib.Path(kernel).stem
    return f"""#undef NDEBUG
#include <cassert>

#include "{file}"

#include "host/backends/stage.hpp"

TENFOLD_REGISTER_STAGE({name}, {name}::stage, "{file}")

""" + "".join(
        f'extern "C" __device__ unsigned {SHARED_BYTES}{block} = '
        f"tenfold::{name}::stage::dynamic_shared_bytes({{{block}, 4, 4, 4}});\n" for block in OWN_BLOCKS)


def shared_bytes_of_own(code, block):
    """The dynamic shared memory of such a kernel, for the types that it is built for, which have four bytes."""
    return int.from_bytes(code.content(code.symbols[f"{SHARED_BYTES}{block}"], 4), "little")


def compile_unit(command, architecture, text, program, flags, output):
    """@param program tenfold, in whose build folder lies what CMake generates of headers"""
    source = pathlib.Path(output).with_suffix(".hip")
    source.write_text(text, encoding="utf-8")
    kernels = os.environ.get("TENFOLD_SOURCE", ROOT)  # as `tenfold isa` has it
    done = subprocess.run([*command, *FLAGS, *flags, f"--offload-arch={architecture}", f"-I{kernels}", f"-I{ROOT}",
                           f"-I{pathlib.Path(program).resolve().parent / 'generated'}", source, "-o", output],
                          capture_output=True, text=True)
    if done.returncode == 0:
        return
    errors = [line for line in done.stderr.splitlines() if "error:" in line] or [done.stderr.strip()]
    if any(words in line for words in UNKNOWN_GPU for line in errors):
        raise Skipped(f"{command[0]} cannot compile for {architecture}: {errors[0].partition(';')[0]}")
    raise Failure(f"{command[0]} does not compile this for {architecture}: {errors[0]}")
