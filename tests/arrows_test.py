"""Whether includes point down only: a room of the house knows those below it, and none above."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent

# From the ground up. A file that is listed by its name has a floor of its own, not that of its folder.
FLOORS = ["common", "kernels", "host/error.hpp", "host/text", "host/simt", "host/runtime", "host/ranks", "host/reduce", "host",
          "host/data", "host/backends", "host/c", "host/isa", "host/own", "host/measure", "host/observe", "host/cli"]
# Beside each other on top of the house: none of them includes another.
ROOFS = ["bench", "examples"]
GENERATED = re.compile(r"^own|^tenfold_\w+\.hpp$|[@{]")


def floor_of(file):
    """How high a file stands: the longest name in FLOORS that it begins with."""
    for name in sorted(FLOORS, key=len, reverse=True):
        if file == name or file.startswith(name + "/"):
            return FLOORS.index(name)
    return len(FLOORS) if file.split("/")[0] in ROOFS else None


def points_up(file, included):
    """Why an include must not be, or nothing."""
    here, there = floor_of(file), floor_of(included)
    if there is None:
        return f"{file} includes {included}, which is in no room of the house"
    if there > here or (there == here == len(FLOORS) and file.split("/")[0] != included.split("/")[0]):
        return f"{file} includes {included}, which is above it"
    return None


def sources():
    return [str(path.relative_to(ROOT)) for top in ("common", "kernels", "host", *ROOFS)
            for path in (ROOT / top).rglob("*") if re.search(r"\.(hpp|cpp|inl|in|cu|hip)$", path.name)]


class Arrows(unittest.TestCase):
    def test_point_down_only(self):
        found, count = [], 0
        for file in sources():
            for included in re.findall(r'#include "([^"]+)"', (ROOT / file).read_text(encoding="utf-8")):
                if GENERATED.search(included):
                    continue
                count += 1
                found += filter(None, [points_up(file, included)])
        self.assertEqual(found, [])
        self.assertGreater(count, 500)

    def test_that_point_up_are_seen(self):
        for file, included in [("common/gpu.hpp", "kernels/10_two_pass.hpp"), ("host/reduce/best.hpp", "host/cli/options.hpp"),
                               ("host/measure/result.hpp", "bench/options.hpp"), ("host/cli/main.cpp", "bench/options.hpp"),
                               ("host/simt/executor.hpp", "host/reducer.hpp"), ("host/cli/main.cpp", "nowhere.hpp"),
                               ("bench/duel.cpp", "examples/gcd.hpp")]:
            self.assertIsNotNone(points_up(file, included), file)
        for file, included in [("host/cli/main.cpp", "host/error.hpp"), ("host/reducer.hpp", "kernels/10_two_pass.hpp"),
                               ("bench/duel.cpp", "bench/options.hpp")]:
            self.assertIsNone(points_up(file, included), file)

    def test_every_room_has_its_floor(self):
        rooms = {file.rsplit("/", 1)[0] for file in sources()}
        self.assertEqual([room for room in rooms if floor_of(room + "/x") is None], [])


if __name__ == "__main__":
    unittest.main()
