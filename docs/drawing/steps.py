"""What a block does, step by step.

Time runs downwards. A row of a drawing is a level: reads of one array, or a shuffle, and the writes
that follow. The value in a cell is the number of elements that it holds.
"""

import collections
import math

from drawing.canvas import CELL, COLUMN, LANE, LEAST_SHADE, LEFT, MOST_SHADE, WIDTH, Canvas
from drawing.traced import Block, by_array, count_rounds

GAP, NOTES = 14, 541
BANK = 14  # the height of its number
READ_SPACE, SHUFFLE_SPACE, WRITE_SPACE = 40, 30, 24


class Drawing:
    """Writes a block from top to bottom."""

    def __init__(self, block):
        self.block, self.canvas = block, Canvas()
        self.memory = {}  # (array, index): value
        self.shown = None  # of the last rows of cells, (array, group): (x, top, bottom)
        self.signs = {"works", "cell"}  # what the legend has to explain
        self.told = []  # sentences of the description
        self.numbered = set()  # arrays whose banks have been numbered
        values = (lane.get("value", 0) for step in block.steps for lane in step["lanes"])
        self.most = max(filter(self.is_count, values))

    def is_count(self, value):
        return 0 <= value <= self.block.context["n"]

    def x(self, column):
        return LEFT + COLUMN * (column + 0.5) + GAP * (column // self.block.warp_size)

    def span(self, warp):
        first = warp * self.block.warp_size
        return self.x(first) - COLUMN / 2, self.x(first + self.block.warp_size - 1) + COLUMN / 2

    def block_span(self):
        return self.span(0)[0], self.span(self.block.warps[-1])[1]

    # -- rows of cells

    def show_value(self, x, value, radius=3, is_useful=True):
        """A cell with what it holds; None: it is not known what."""
        style, shade = "text" if value else "faint", None
        if value is not None and not self.is_count(value):
            value, style = "?", "alarm"
            self.signs.add("rubbish")
        elif value:
            share = math.log2(value) / math.log2(self.most) if self.most > 1 else 0
            shade = LEAST_SHADE + (MOST_SHADE - LEAST_SHADE) * share
        if is_useful:
            self.canvas.cell(x, self.canvas.y, value, style, radius=radius, shade=shade)
        else:
            self.canvas.cell(x, self.canvas.y, value, "faint", "idle", radius=radius)

    def group(self, name, index):
        return index // self.block.widths[name]

    def by_lane(self, name, steps):
        """Places each group above the lane that reads it."""
        places, rows = {}, collections.Counter()
        for step in steps:
            for lane, indices in self.block.indices(step).items():
                column = step["warp"] * self.block.warp_size + lane
                for index in indices:
                    group = self.group(name, index)
                    if group not in places:
                        places[group] = rows[column], column
                        rows[column] += 1
        return places

    def places_of(self, name, steps):
        """Where an array's groups stand: of shared memory all, else the rows that are touched.

        By address, unless that takes several rows with lines across them."""
        array, threads = self.block.arrays[name], self.block.threads
        if array["space"] == "shared":
            return {group: divmod(group, threads) for group in range(1 + max(self.block.touched(name)))}
        touched = {self.group(name, index) for index in self.block.touched(name, steps)}
        rows = {group // threads for group in touched}
        lanes = self.by_lane(name, steps)
        if len(rows) > 1 and any(column != group % threads for group, (_, column) in lanes.items()):
            return lanes
        end = -(-array["elements"] // self.block.widths[name])
        return {group: divmod(group, threads) for group in range(end) if group // threads in rows}

    def show_memory(self, name, steps):
        places = self.places_of(name, steps)
        rows = sorted({row for row, _ in places.values()})
        has_banks = self.block.shares_banks(name) and name not in self.numbered
        height = CELL + (BANK if has_banks else 0)
        self.shown = {}
        for row in rows:
            groups = {column: group for group, (of, column) in places.items() if of == row}
            self.show_labels(name, groups, len(rows) > 1)
            for column, group in groups.items():
                self.show_group(name, group, self.x(column))
                self.shown[name, group] = (self.x(column), self.canvas.y, self.canvas.y + height)
            if has_banks:
                self.number_banks(name, groups)
            self.canvas.y += height + 4
        self.canvas.y -= 4
        # A row that is written may not be all.
        array = self.block.arrays[name]
        if name != "in" and len(places) < array["elements"] and array["space"] == "global":
            self.note(self.canvas.y - 5.5, f"of {array['elements']}", "text")

    def note(self, y, text, style="muted"):
        """What stands right of a row."""
        self.canvas.text(NOTES, y, text, style, 11, "start")

    def number_banks(self, name, groups):
        self.numbered.add(name)
        y = self.canvas.y + CELL + 11
        self.canvas.label(y, "bank", "muted", 10)
        for column, group in groups.items():
            self.canvas.text(self.x(column), y, self.block.bank(name, group), "muted", 10)

    def show_labels(self, name, groups, is_one_of_many):
        """Left the row's first element, right where the second warp's elements are elsewhere."""
        width, y = self.block.widths[name], self.canvas.y + 14.5
        columns = sorted(groups)
        jumps = [after for before, after in zip(columns, columns[1:])
                 if groups[after] != groups[before] + 1]
        has_order = is_one_of_many and len(jumps) < 2
        label = f"{name}[{groups[columns[0]] * width}]" if has_order else name
        self.canvas.label(y, label, size=12 if len(label) < 9 else 10.5)
        if has_order and jumps:
            self.note(y, f"{name}[{groups[jumps[0]] * width}]", "text")

    def show_group(self, name, group, x):
        width = self.block.widths[name]
        first = group * width
        count = min(width, self.block.arrays[name]["elements"] - first)
        value = self.memory.get((name, first))
        if count > 1:
            self.canvas.group(x, self.canvas.y, COLUMN - 4, count)
            self.signs.add("group")
        elif name in self.block.counters and value is not None:
            self.canvas.cell(x, self.canvas.y, value)
        else:
            self.show_value(x, value)

    def is_shown(self, name, steps):
        return self.shown is not None and all(
            (name, self.group(name, index)) in self.shown
            for index in self.block.touched(name, steps))

    def show_registers(self, row):
        """The values that lanes send, each above its lane."""
        self.canvas.label(self.canvas.y + 14.5, "registers")
        for level in row:
            for lane in level.shuffle["lanes"] if level and level.shuffle else []:
                self.show_value(self.x(lane["thread"]), lane["value"], 9, lane["lane"] in level.shuffle["sent"])
        self.canvas.y += CELL

    # -- lines

    def draw_access(self, step, lanes):
        """Lines between cells that are shown and lanes, of which the top is told."""
        meeting, warp = self.block.meeting(step), step["warp"]
        if meeting:
            self.signs.add("turns")
        for lane, indices in self.block.indices(step).items():
            x = self.x(warp * self.block.warp_size + lane)
            groups = {}  # of each the first index
            for index in indices:
                groups.setdefault(self.group(step["array"], index), index)
            for group, index in groups.items():
                at, top, bottom = self.shown[step["array"], group]
                style = "turn" if index in meeting else f"line{warp % 2}"
                if top < lanes:
                    self.canvas.curve(at, bottom, x, lanes, style)
                else:
                    self.canvas.curve(x, lanes + LANE, at, top, style)

    def draw_shuffle(self, warp, step, registers, lanes):
        for lane in step["lanes"]:
            if lane["lane"] not in step["useful"]:
                continue
            x = self.x(lane["thread"])
            source = self.x(warp * self.block.warp_size + lane["source"])
            self.canvas.curve(x, registers + CELL, x, lanes, f"line{warp % 2}")
            if source != x:
                self.canvas.curve(source, registers + CELL, x + 5, lanes, f"line{warp % 2}", True)

    # -- lanes

    def draw_lanes(self, row, epoch, rest):
        y = self.canvas.y
        for warp, level in enumerate(row):
            if level is None:
                self.draw_absent_warp(warp, epoch, rest[warp], y)
            else:
                self.draw_warp(warp, level, y)
        self.canvas.y += LANE
        levels = [each for each in row if each]
        self.canvas.label(y + 14, levels[0].deed(self.block.arrays), "muted", 11)
        working = sum(len(each.lanes()) for each in levels)
        turns = max(each.turns() for each in levels)
        self.note(y + (14 if turns == 1 else 7), f"{working} lane{'s' if working > 1 else ''}")
        if turns > 1:
            self.note(y + 22, f"{turns} turns", "alarm")

    def draw_warp(self, warp, level, y):
        working = level.lanes()
        useful = level.shuffle["useful"] if level.shuffle else working
        for lane in range(self.block.warp_size):
            thread = warp * self.block.warp_size + lane
            x = self.x(thread)
            if lane in working and lane in useful:
                self.canvas.circle(x, y + LANE / 2, LANE / 2, f"warp{warp % 2}")
                self.canvas.text(x, y + 14.2, thread, "on", 12)
            else:
                style = f"unused{warp % 2}" if lane in working else "idle"
                self.canvas.circle(x, y + LANE / 2, LANE / 2 - 0.5, style)
                self.canvas.text(x, y + 14.2, thread, "faint", 12)
                self.signs.add(style.rstrip("01"))

    def draw_absent_warp(self, warp, epoch, has_more, y):
        begin, end = self.span(warp)
        self.canvas.rect(begin + 2, y, end - begin - 4, LANE, "away", 10)
        if not has_more:
            waits = any(step["warp"] == warp and step["epoch"] >= epoch for step in self.block.steps)
            state = "waits" if waits else "is done"
            self.canvas.text((begin + end) / 2, y + 14, f"warp {warp} {state}", "muted", 12)

    # -- rows

    def draw_row(self, row, epoch, rest):
        levels, canvas = [each for each in row if each], self.canvas
        reads = [step for each in levels for step in each.reads]
        for step in reads:
            self.learn(step)
        for name, of_array in by_array(reads).items():
            if not self.is_shown(name, of_array):
                canvas.y += 8
                self.show_memory(name, of_array)
        registers = None
        if any(each.shuffle for each in levels):
            canvas.y += 6
            registers = canvas.y
            self.show_registers(row)
        canvas.y += READ_SPACE if reads else WRITE_SPACE if registers is None else SHUFFLE_SPACE
        lanes = canvas.y
        for warp, level in enumerate(row):
            for step in level.reads if level else []:
                self.draw_access(step, lanes)
            if level and level.shuffle:
                self.draw_shuffle(warp, level.shuffle, registers, lanes)
        self.draw_lanes(row, epoch, rest)
        self.shown = None
        self.draw_writes(row, lanes)
        self.tell(row)

    def draw_writes(self, row, lanes):
        writes = [step for level in row if level for step in level.writes]
        for step in writes:
            self.learn(step)
        for name, of_array in by_array(writes).items():
            self.canvas.y += WRITE_SPACE
            self.show_memory(name, of_array)
            for step in of_array:
                self.draw_access(step, lanes)

    def learn(self, step):
        if step["bytes"] <= self.block.arrays[step["array"]]["element_bytes"]:
            for lane in step["lanes"]:
                self.memory[step["array"], lane["index"]] = lane["value"]

    def draw_meeting(self, row):
        """A warp's barrier, under it alone."""
        for warp, level in enumerate(row):
            if level:
                is_barrier = level.meeting["action"] == "warp_barrier"
                self.draw_barrier(*self.span(warp), "dashed", "warp barrier" if is_barrier else "warp votes")
        self.canvas.y += 12

    def draw_block_barrier(self):
        self.draw_barrier(*self.block_span(), "rule", "block barrier")
        self.canvas.y += 12
        self.told.append("Block barrier.")

    def draw_barrier(self, begin, end, style, sign):
        self.canvas.line(begin, self.canvas.y + 9, end, self.canvas.y + 9, style)
        self.signs.add(sign)

    def tell(self, row):
        for warp, level in enumerate(row):
            if level is None:
                continue
            count = len(level.lanes())
            lanes, ending = ("lanes", "") if count > 1 else ("lane", "s")
            what = [f"read{ending} {level.reads[0]['array']}"] if level.reads else []
            what += [f"shuffle{ending}"] if level.shuffle else []
            what += [f"write{ending} {level.writes[0]['array']}"] if level.writes else []
            turns = f", in {level.turns()} turns" if level.turns() > 1 else ""
            self.told.append(f"{count} {lanes} of warp {warp} {' and '.join(what)}{turns}.")

    def draw_note(self, text):
        self.canvas.y += 20
        self.canvas.text(sum(self.block_span()) / 2, self.canvas.y, text, "muted", 12)
        self.canvas.y += 2

    def draw_epoch(self, epoch):
        rows = self.block.rows_of(epoch)
        while rows:
            rounds, length = count_rounds(rows)
            if rounds > 1:
                self.draw_note(f"{rounds} rounds of {length} shuffle{'s' if length > 1 else ''},"
                               " of which the last is drawn")
                rows = rows[(rounds - 1) * length:]
            rest = [any(row[warp] for row in rows) for warp in self.block.warps]
            row = rows.pop(0)
            if next(filter(None, row)).meeting:
                self.draw_meeting(row)
            else:
                self.draw_row(row, epoch, rest)
        if any(step["action"] == "block_barrier" and step["epoch"] == epoch for step in self.block.steps):
            self.draw_block_barrier()

    def draw_head(self, title, subtitle):
        canvas = self.canvas
        canvas.head(title, 74)
        canvas.text(16, 47, subtitle, "muted", 12.5, "start")
        for warp in self.block.warps:
            canvas.text(sum(self.span(warp)) / 2, canvas.y, f"warp {warp}", f"warp{warp % 2}", 13, weight=600)
        canvas.y += 2

    def draw_later_launches(self, launches):
        for i, launch in enumerate(launches, 2):
            self.canvas.y += 26
            size = next(each["elements"] for each in launch["arrays"] if each["name"] == "in")
            who = "1 block folds" if launch["blocks"] == 1 else f"{launch['blocks']} blocks fold"
            self.canvas.text(LEFT, self.canvas.y, f"Then launch {i}: {who} the {size} partials.",
                             "text", 13, "start")
            self.canvas.y += 2

    # -- the legend

    def draw_legend(self):
        self.canvas.y += 22
        x = 16
        for sign, text in LEGEND.items():
            if sign not in self.signs:
                continue
            text = text.format(banks=self.block.context["banks"])
            width = 36 + 6.6 * len(text)
            if x + width > WIDTH - 10:
                x = 16
                self.canvas.y += 22
            self.draw_sign(sign, x, self.canvas.y)
            self.canvas.text(x + 30, self.canvas.y + 14, text, "muted", 12, "start")
            x += width + 6
        self.canvas.y += 34

    def draw_sign(self, sign, x, y):
        canvas = self.canvas
        lanes = {"works": "warp0", "idle": "idle", "unused": "unused0"}
        lines = {"block barrier": "rule", "warp barrier": "dashed", "warp votes": "dashed"}
        if sign in lanes:
            canvas.circle(x + 12, y + 10, 8, lanes[sign])
        elif sign in lines:
            canvas.line(x, y + 10, x + 24, y + 10, lines[sign])
        elif sign == "turns":
            canvas.line(x + 2, y + 10, x + 22, y + 10, "turn")
        elif sign == "group":
            canvas.group(x + 12, y, COLUMN - 4, 4)
        elif sign == "rubbish":
            canvas.cell(x + 12, y, "?", "alarm")
        else:
            canvas.cell(x + 12, y, 4, shade=0.4)


LEGEND = {
    "works": "a lane that works",
    "idle": "a lane that is idle",
    "unused": "takes part, its result is not used",
    "cell": "how many elements a value holds",
    "rubbish": "no sum of elements",
    "group": "a lane's neighbouring elements",
    "block barrier": "the whole block waits",
    "warp barrier": "a warp waits",
    "warp votes": "a warp votes",
    "turns": "lanes meet in a bank and take turns: cells {banks} apart share one",
}


def draw_block(document):
    context, launch = document["context"], document["launches"][0]
    block = Block(context, launch)
    drawing = Drawing(block)
    name = context["stage_name"]
    title = name if context["stage"] > 1000 else f"Stage {context['stage']}: {name}"
    of = f"block {launch['block']} of {launch['blocks']}" if launch["blocks"] > 1 else "one block"
    subtitle = (f"{of}: {context['block']} threads, warps of {context['warp']} lanes,"
                f" {context['banks']} banks of shared memory; {context['n']} elements")
    drawing.draw_head(title, subtitle)
    for epoch in range(block.epochs):
        drawing.draw_epoch(epoch)
    drawing.draw_later_launches(document["launches"][1:])
    drawing.draw_legend()
    return drawing.canvas.svg(f"{title}, step by step",
                              f"{subtitle[0].upper()}{subtitle[1:]}. " + " ".join(drawing.told))
