#!/usr/bin/env python3
"""Whether the program knows the commands that the pages tell a reader to type.

TENFOLD_PROGRAM names the program. Verbs of the wrapper, which builds first, are left out.
"""

import functools
import os
import pathlib
import re
import shlex
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
OF_THE_WRAPPER = {"test", "docs"}
FENCE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^ *(?:\$ )?\./tenfold +(?!-)(.*)$", re.MULTILINE)
INLINE = re.compile(r"`\./tenfold +(?!-)([^`]*)`")


def commands_in(text):
    """The words of each command, in fences and in the middle of sentences."""
    found = [c for fence in FENCE.findall(text) for c in COMMAND.findall(fence)]
    for command in found + INLINE.findall(FENCE.sub("", text)):
        words = shlex.split(command, comments=True)
        for end in ("|", "&&", ">", "<"):
            words = words[:words.index(end)] if end in words else words
        yield words


@functools.cache
def help_of(verb):
    done = subprocess.run([os.environ["TENFOLD_PROGRAM"], verb, "--help"], capture_output=True,
                          text=True)
    # Asked of a verb that is none, the program tells of all.
    return done.stdout if f"tenfold {verb} " in done.stdout else None


class CommandsTest(unittest.TestCase):
    def test_are_known(self):
        pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
        count = 0
        for page in pages:
            for verb, *words in commands_in(page.read_text(encoding="utf-8")):
                if verb in OF_THE_WRAPPER or not verb.islower():
                    continue
                with self.subTest(page=page.name, verb=verb):
                    self.assertIsNotNone(help_of(verb), f"there is no verb '{verb}'")
                for option in (word.partition("=")[0] for word in words if word.startswith("--")):
                    with self.subTest(page=page.name, verb=verb, option=option):
                        self.assertRegex(help_of(verb) or "", rf"{option}\b")
                count += 1
        self.assertGreater(count, 50)


if __name__ == "__main__":
    unittest.main()
