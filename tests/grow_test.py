"""Whether the house grows in few places: a stage, an element type, an operator and a verb are added to a
copy of the tree, each where its list says, and the copy is built and used.

    tests/grow_test.py [--keep FOLDER]
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

STAGE_LINE = r'(STAGE\(\d+, [^\n\\]*")\)\n'  # the last of them
VERB = '''#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "host/cli/commands.hpp"

namespace tenfold::cli {

void add_greet_verb(CLI::App& app, action& chosen) {
  app.add_subcommand("greet", "greets")->callback([&chosen] {
    chosen = [] {
      fmt::print("good morning\\n");
      return exit_code::success;
    };
  });
}

}  // namespace tenfold::cli
'''
OPERATOR = '''
template <std::integral T>
struct bit_xnor {
  static constexpr bool commutes = true;
  __host__ __device__ constexpr T identity() const { return static_cast<T>(~T(0)); }
  __host__ __device__ constexpr T operator()(T a, T b) const { return static_cast<T>(~(a ^ b)); }
};
'''


class Tree:
    """The copy, and the files of it that each addition takes."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.touched = {}
        listed = subprocess.run(["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others",
                                 "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
        for name in filter(None, listed.split("\0")):
            if (ROOT / name).is_file():
                (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.folder / name)

    def add(self, what, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")
        self.touched.setdefault(what, set()).add(name)

    def change(self, what, name, pattern, replacement):
        text, count = re.subn(pattern, replacement, (self.folder / name).read_text(encoding="utf-8"))
        if count != 1:
            sys.exit(f"{name}: {count} places look like {pattern!r}, where one was expected")
        self.add(what, name, text)

    def run(self, *arguments):
        """What `./tenfold ARGUMENTS` prints."""
        done = subprocess.run(["./tenfold", "--preset", "simt", *arguments], cwd=self.folder, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL)
        if done.returncode:
            sys.exit(f"./tenfold {' '.join(arguments)} ends with {done.returncode}:\n{done.stdout}{done.stderr}")
        print(f"./tenfold {' '.join(arguments)}", flush=True)
        return done.stdout


def grow(tree):
    kernel = (tree.folder / "kernels/beyond/11_single_pass.hpp").read_text(encoding="utf-8")
    catalogue = (tree.folder / "host/reduce/catalogue.hpp").read_text(encoding="utf-8")
    number = 1 + max(map(int, re.findall(r"STAGE\((\d+),", catalogue)))
    tree.add("stage", f"kernels/beyond/{number}_grown.hpp", kernel.replace("::single_pass", "::grown"))
    tree.change("stage", "host/reduce/catalogue.hpp", STAGE_LINE,
                rf'\1) \\\n  STAGE({number}, grown, false, "as stage 11")\n')
    tree.change("element type", "host/reduce/element.hpp", r"(TYPE\(u8, std::uint8_t\)\s*\\\n)",
                r"\1  TYPE(i16, std::int16_t) \\\n")
    tree.change("element type", "cmake/Stages.cmake", r"(set\(narrow i8_u8) (f16_bf16\))", r"\1 i16 \2")
    tree.change("element type", "host/data/npy.cpp", r'(\{"u1", element_type::u8\},)', r'\1 {"i2", element_type::i16},')
    tree.change("operator", "common/operators.hpp", r"(struct bit_xor \{(?:.*\n)*?\};\n)", lambda m: m.group(1) + OPERATOR)
    tree.change("operator", "host/reduce/operator_list.hpp", r"(OPERATOR\(bit_xor\)\s*\\\n)", r"\1  OPERATOR(bit_xnor) \\\n")
    tree.change("verb", "host/cli/commands.hpp", r"(VERB\(completion\))\n", r"\1 \\\n  VERB(greet)\n")
    tree.add("verb", "host/cli/browsing/greet_command.cpp", VERB)


def expect(text, *parts):
    for part in parts:
        if part not in text:
            sys.exit(f"'{part}' is not in:\n{text}")


def expect_one_rebuilt(tree):
    """A ladder after an edit of one stage compiles the kernels of that stage alone."""
    def built():
        objects = (tree.folder / "build/simt/host/CMakeFiles").glob("tenfold_simt_*.dir/**/*.o")
        return {each.name: each.stat().st_mtime_ns for each in objects}

    tree.run("ladder", "--n", "1000")
    before, name = built(), "kernels/03_no_bank_conflicts.hpp"
    tree.change("edit", name, r"(#pragma once\n)", r"\1// edited\n")
    tree.run("ladder", "--n", "1000")
    after = built()
    anew = {each for each in after if after[each] != before.get(each)}
    print(f"after an edit of {name}: {', '.join(sorted(anew))}")
    if not anew or any(not each.startswith("03_") for each in anew):
        sys.exit("these are not the kernels of stage 3 alone")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--keep", metavar="FOLDER", help="where the copy goes, to be looked at; it is kept")
    kept = parser.parse_args().keep
    with tempfile.TemporaryDirectory() as scratch:
        tree = Tree(kept or scratch)
        grow(tree)
        for what, most in (("stage", 2), ("element type", 3), ("operator", 3), ("verb", 2)):
            places = sorted(tree.touched[what])
            print(f"{what}: {', '.join(places)}")
            if len(places) > most:
                sys.exit(f"that is more than {most} places")
        expect(tree.run("greet"), "good morning")
        expect(tree.run("--help"), "greets")
        expect(tree.run("list"), "  grown ", "i16")
        expect(tree.run("run", "grown", "--n", "1000"), "right")
        expect(tree.run("run", "10", "--type", "i16", "--n", "1000"), "right", "i16")
        expect(tree.run("run", "1", "--op", "bit_xnor", "--type", "u32", "--n", "1000"), "right")
        expect_one_rebuilt(tree)


if __name__ == "__main__":
    os.environ["TENFOLD_SKIP_SETUP"] = "1"
    main()
