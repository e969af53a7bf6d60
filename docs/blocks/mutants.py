"""Who finds the mutants of the kernels, as tests/emulator/plant recorded it."""

import pathlib

from blocks.results import results
from scripts.common import table

# What is found, in words.
JUDGES = {"emulator": lambda _: "wrong bits", "checker": lambda kind: kind.replace("_", " "),
          "codegen": lambda test: f"`{test.partition('.')[2]}`"}
NOTHING, NOT_ASKED = "—", "not asked"


def _cell(found, in_words):
    """What was found, and on which architectures, if not on all that were looked at."""
    if found is None:
        return NOT_ASKED
    by_architecture = found if isinstance(found, dict) else {"": found}
    shown = [name for name, each in by_architecture.items() if each]
    words = ", ".join(dict.fromkeys(in_words(each) for name in shown for each in by_architecture[name]))
    return words + (f" ({', '.join(shown)})" if 0 < len(shown) < len(by_architecture) else "") or NOTHING


def _cells():
    return [{judge: _cell(mutant[judge], in_words) for judge, in_words in JUDGES.items()}
            for mutant in results("amd-mutants.json")["mutants"].values()]


def mutants_found(by=None):
    """How many mutants there are, or are found by "emulator", "checker" or "codegen"."""
    return sum(by is None or cells[by] not in (NOTHING, NOT_ASKED) for cells in _cells())


def mutants_table():
    """All of them, in the order of their list."""
    rows = []
    for mutant, cells in zip(results("amd-mutants.json")["mutants"].values(), _cells()):
        file = pathlib.PurePath(mutant["file"])
        rows.append([mutant["kind"], f"{mutant['what']}: [{file.name}](../{file})",
                     ", ".join(mutant["architectures"]), *cells.values()])
    return table(["kind", "fault", "on", "emulator", "`tenfold check`", "codegen tests"], rows, right=False)


def mutants_recorded_with():
    """The compiler and the commit of the emulator."""
    recorded = results("amd-mutants.json")
    return f"{recorded['compiler']}, tinygrad {recorded['emulator'][:12]}"
