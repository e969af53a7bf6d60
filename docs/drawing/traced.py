"""The block of a launch that `tenfold trace` tells of."""

import collections
import difflib
import itertools


def lanes_of(steps):
    return {lane["lane"] for step in steps for lane in step["lanes"]}


READS = ("read", "bulk_read")
MEETINGS = ("vote", "warp_barrier", "block_barrier")

# What a level does, by the spaces that it reads from and writes to.
DEEDS = {
    ("global", None): "load",
    ("global", "shared"): "load",
    ("global", "global"): "load, store",
    ("shared", None): "read",
    ("shared", "shared"): "fold",
    ("shared", "global"): "store",
    (None, "shared"): "write",
    (None, "global"): "store",
}


class Level:
    """What a warp does at once: reads of one array or a shuffle, then writes to one array. Where warps
    or lanes meet, that alone."""

    def __init__(self):
        self.reads, self.writes, self.shuffle, self.meeting = [], [], None, None

    def steps(self):
        return self.reads + [step for step in (self.shuffle, self.meeting) if step] + self.writes

    def kind(self):
        return (bool(self.shuffle), self.meeting and self.meeting["action"], self.steps()[0]["line"])

    def takes(self, step):
        """Whether the step goes on with this level."""
        if self.meeting or step["action"] in ("shuffle", *MEETINGS):
            return False
        is_read = step["action"] in READS
        if is_read and (self.shuffle or self.writes):
            return False
        return all(each["array"] == step["array"] for each in (self.reads if is_read else self.writes))

    def add(self, step):
        if step["action"] in READS:
            self.reads.append(step)
        elif step["action"] == "shuffle":
            self.shuffle = step
        elif step["action"] in MEETINGS:
            self.meeting = step
        else:
            self.writes.append(step)

    def turns(self):
        return max(step.get("wavefronts", 1) for step in self.steps())

    def lanes(self):
        return lanes_of(self.steps())

    def deed(self, arrays):
        if self.shuffle:
            return "shuffle"
        if any(step["action"] == "atomic" for step in self.writes):
            return "atomic"
        return DEEDS[tuple(arrays[steps[0]["array"]]["space"] if steps else None
                           for steps in (self.reads, self.writes))]


def levels_of(steps):
    levels = []
    for step in steps:
        if not levels or not levels[-1].takes(step):
            levels.append(Level())
        levels[-1].add(step)
    return levels


def align(rows, levels):
    """Gives each row one more warp's level of the same kind; None stands where there is none."""
    warps = len(rows[0]) if rows else 1
    kinds = [next(filter(None, row)).kind() for row in rows]
    matcher = difflib.SequenceMatcher(None, kinds, [level.kind() for level in levels], autojunk=False)
    aligned = []
    for tag, i, i_end, j, j_end in matcher.get_opcodes():
        if tag == "equal":
            aligned += [(*row, level) for row, level in zip(rows[i:i_end], levels[j:j_end])]
        else:
            aligned += [(*row, None) for row in rows[i:i_end]]
            aligned += [(*[None] * warps, level) for level in levels[j:j_end]]
    return aligned


def goes_on(shuffle, following):
    """Whether each lane sends, in the shuffle that follows, the sum of what it sent and got."""
    sent = {lane["lane"]: lane["value"] for lane in shuffle["lanes"]}
    folded = {lane["lane"]: lane["value"] + sent.get(lane["source"], 0)
              for lane in shuffle["lanes"]}
    return all(folded.get(lane["lane"], lane["value"]) == lane["value"]
               for lane in following["lanes"])


def count_rounds(rows):
    """How often the shuffles that the rows begin with repeat, and how many rows a round has."""
    shuffles = [[level and level.shuffle and [(lane["value"], lane["source"])
                                              for lane in level.shuffle["lanes"]]
                 for level in row] for row in rows]
    for length in range(1, len(rows) // 2 + 1):
        first = shuffles[:length]
        if not all(any(row) for row in first):
            break
        rounds = 1
        while shuffles[rounds * length:(rounds + 1) * length] == first:
            rounds += 1
        if rounds > 1:
            return rounds, length
    return 1, 1


def mark_useful(steps):
    """Tells each shuffle of a warp which lanes' results come to be written, going backwards.

    A run of shuffles folds for the lanes that write next."""
    writing, wanted, following = set(), set(), None
    for step in reversed(steps):
        lanes = lanes_of([step])
        if step["action"] == "shuffle":
            if following is None or not goes_on(step, following):
                wanted = writing
            step["useful"] = wanted & lanes
            wanted = wanted | {lane["source"] for lane in step["lanes"] if lane["lane"] in wanted}
            step["sent"] = wanted & lanes
            following = step
        elif step["action"] in ("write", "atomic"):
            writing, following = lanes, None


class Block:
    """The traced block of a launch."""

    def __init__(self, context, launch):
        self.context = context
        self.threads, self.warp_size = context["block"], context["warp"]
        self.warps = range(self.threads // self.warp_size)
        self.arrays = {each["name"]: each for each in launch["arrays"]}
        self.steps = launch["steps"]
        for warp in self.warps:
            mark_useful(self.steps_of(warp))
        self.epochs = 1 + max((step["epoch"] for step in self.steps), default=0)
        self.widths = {name: self.widest_run(name) for name in self.arrays}
        # Flags are narrower than an element, and blocks count themselves in what is atomic.
        atomics = {step["array"] for step in self.steps if step["action"] == "atomic"}
        self.counters = atomics | {name for name, array in self.arrays.items() if array["element_bytes"] != 4}

    def steps_of(self, warp, epoch=None):
        return [step for step in self.steps
                if step["warp"] == warp and epoch in (None, step["epoch"])]

    def rows_of(self, epoch):
        """Rows of levels, one of each warp."""
        rows = []
        for warp in self.warps:
            levels = levels_of([step for step in self.steps_of(warp, epoch)
                                if step["action"] != "block_barrier"])
            rows = align(rows, levels) if warp else [(level,) for level in levels]
        return rows

    def indices(self, step):
        """Of each lane, the elements that it touches."""
        count = max(1, step["bytes"] // self.arrays[step["array"]]["element_bytes"])
        return {lane["lane"]: range(lane["index"], lane["index"] + count)
                for lane in step["lanes"]}

    def widest_run(self, name):
        """Neighbours in global memory that one lane reads in a level: they make a group."""
        if self.arrays[name]["space"] == "shared":
            return 1
        widest = 1
        for warp in self.warps:
            for level in levels_of(self.steps_of(warp)):
                touched = {}
                for step in level.reads:
                    if step["array"] == name:
                        for lane, indices in self.indices(step).items():
                            touched.setdefault(lane, set()).update(indices)
                widest = max([widest, *map(longest_run, touched.values())])
        return widest

    def touched(self, name, steps=None):
        return {index for step in (self.steps if steps is None else steps) if step.get("array") == name
                for indices in self.indices(step).values() for index in indices}

    def bank(self, name, index):
        """Of an element, or the first of those that it lies in."""
        return index * self.arrays[name]["element_bytes"] // 4 % self.context["banks"]

    def shares_banks(self, name):
        """Whether two of an array's elements lie in one bank, and not in one word of it."""
        array = self.arrays[name]
        size = array["elements"] * array["element_bytes"] // 4
        return array["space"] == "shared" and size > self.context["banks"]

    def meeting(self, step):
        """Elements that lie in one bank with others that the step touches."""
        if step.get("wavefronts", 1) == 1:
            return set()
        touched = self.touched(step["array"], [step])
        banks = collections.Counter(self.bank(step["array"], index) for index in touched)
        return {index for index in touched if banks[self.bank(step["array"], index)] > 1}


def longest_run(indices):
    runs = itertools.groupby(enumerate(sorted(indices)), lambda pair: pair[1] - pair[0])
    return max(len(list(run)) for _, run in runs)


def by_array(steps):
    names = dict.fromkeys(step["array"] for step in steps)
    return {name: [step for step in steps if step["array"] == name] for name in names}
