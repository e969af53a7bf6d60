"""The mutants of tests/emulator/plant, and what is recorded of them: it needs no emulator."""

import importlib.machinery
import pathlib
import sys
import tempfile
import unittest

from mutants import KINDS, MUTANTS

sys.dont_write_bytecode = True
plant = importlib.machinery.SourceFileLoader("plant", str(pathlib.Path(__file__).with_name("plant"))).load_module()


class Mutants(unittest.TestCase):
    def test_each_can_be_planted_in_a_copy(self):
        for mutant in MUTANTS:
            with self.subTest(mutant=mutant.name), tempfile.TemporaryDirectory() as folder:
                plant.planted(mutant, pathlib.Path(folder))
                original, changed = (plant.read(root / mutant.file) for root in (plant.ROOT, pathlib.Path(folder)))
                self.assertEqual(changed.count(mutant.old), int(mutant.old in mutant.new))
                self.assertEqual(len(changed) - len(original), len(mutant.new) - len(mutant.old))

    def test_there_are_some_of_each_kind(self):
        self.assertGreaterEqual(len(MUTANTS), 20)
        self.assertEqual(list(dict.fromkeys(each.kind for each in MUTANTS)), KINDS)


class Recording(unittest.TestCase):
    recorded = plant.read_json(plant.FILE)["mutants"]

    def test_is_of_these_mutants(self):
        words = {name: {key: each[key] for key in MUTANTS[0]._fields} for name, each in self.recorded.items()}
        self.assertEqual(words, {each.name: each._asdict() for each in MUTANTS},
                         "run tests/emulator/plant with the names of those that differ, then docs/weave docs/amd.md")

    def test_somebody_finds_each(self):
        self.assertEqual([name for name, each in self.recorded.items() if not plant.is_found(each)], [])


if __name__ == "__main__":
    unittest.main()
