"""The tree and the grid of the introduction."""

from drawing.canvas import CELL, COLUMN, LANE, LEAST_SHADE, LEFT, MOST_SHADE, WIDTH, Canvas
from drawing.steps import Drawing
from drawing.traced import Block

DIGITS = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3]


def tree_levels(block):
    """Of each level of the tree in shared memory, the cells (left, right, into) of each fold."""
    for epoch in range(block.epochs):
        folds = []
        for row in block.rows_of(epoch):
            for level in row:
                if level and level.writes and level.writes[0]["array"] == "shared":
                    folds += folds_of(block, level)
        if folds:
            yield folds


def folds_of(block, level):
    read = {}
    for step in level.reads:
        if step["array"] == "shared":
            for lane, indices in block.indices(step).items():
                read.setdefault(lane, []).append(indices[0])
    into = block.indices(level.writes[0])
    return [(min(cells), max(cells), into[lane][0]) for lane, cells in read.items()]


def draw_tree(document):
    block, canvas = Block(document["context"], document["launches"][0]), Canvas()
    levels = list(tree_levels(block))
    counts = [len(each) for each in levels]
    title = f"A sum of {block.threads} elements: {sum(counts)} additions in {len(levels)} steps"
    canvas.head(title, 50)
    canvas.label(canvas.y + 14.5, "elements")
    nodes = {}
    for i in range(block.threads):
        nodes[i] = (LEFT + COLUMN * (i + 0.5), canvas.y + CELL, DIGITS[i % len(DIGITS)])
        canvas.cell(nodes[i][0], canvas.y, nodes[i][2], shade=LEAST_SHADE)
    for step, level in enumerate(levels, 1):
        canvas.y += 62
        draw_tree_level(canvas, step, level, nodes)
    canvas.y += 38
    return canvas.svg(title, f"A binary tree. Each step adds pairs of what the step before left, "
                      f"{', '.join(map(str, counts))} pairs at once.")


def draw_tree_level(canvas, step, folds, nodes):
    radius, y = 13, canvas.y
    for left, right, into in folds:
        x = (nodes[left][0] + nodes[right][0]) / 2
        for child in (left, right):
            canvas.curve(nodes[child][0], nodes[child][1], x, y, "line0")
        nodes[into] = (x, y + radius, nodes[left][2] + nodes[right][2])
        canvas.circle(x, y, radius, "warp0")
        canvas.text(x, y + 4.5, nodes[into][2], "on", 12.5)
    canvas.label(y + 4.5, f"step {step}", "muted")
    additions = f"{len(folds)} addition{'s' if len(folds) > 1 else ''}"
    canvas.text(WIDTH - 12, y + 4.5, additions, "muted", 11, "end")


def draw_grid(document):
    """How launches, blocks, warps and lanes share the work."""
    context, launches = document["context"], document["launches"]
    block, canvas = Block(context, launches[0]), Canvas()
    title = f"How a grid of {launches[0]['blocks']} blocks folds {context['n']} elements"
    canvas.head(title, 50)
    draw_in(canvas, launches[0]["blocks"], context["n"])
    for i, launch in enumerate(launches, 1):
        draw_blocks(canvas, i, launch["blocks"])
    canvas.y += 40
    draw_close_up(canvas, block)
    canvas.y += 22
    share = context["n"] // launches[0]["blocks"]
    return canvas.svg(title, f"Each block folds {share} elements into one partial; a second launch,"
                      f" of one block, folds the partials. A block has {block.threads} threads in "
                      f"{len(block.warps)} warps of {block.warp_size} lanes, and shared memory of "
                      "its own.")


def middles_of_blocks(blocks, share):
    return [(LEFT + WIDTH) / 2 - 5 + share * (each - (blocks - 1) / 2) for each in range(blocks)]


def share_of_block(blocks):
    """Four blocks take all the room there is."""
    return (WIDTH - LEFT - 30) / max(4, blocks)


def draw_in(canvas, blocks, n):
    share = share_of_block(blocks)
    width = share - 8
    canvas.label(canvas.y + 14.5, "in")
    for middle in middles_of_blocks(blocks, share):
        canvas.group(middle, canvas.y, width, n // blocks)
        for x in (middle - width / 2, middle + width / 2):
            canvas.line(x, canvas.y + CELL + 2, x, canvas.y + CELL + 24, "blockline")
    canvas.y += CELL


def draw_blocks(canvas, i, blocks):
    """The blocks of a launch, and the partials that come out of them."""
    share, y = share_of_block(blocks), canvas.y + 24
    width = share - 8
    canvas.label(y + 20, f"launch {i}")
    canvas.label(y + 74.5, "partials" if blocks > 1 else "sum")
    places = zip(middles_of_blocks(blocks, share), middles_of_blocks(blocks, COLUMN))
    for each, (middle, partial) in enumerate(places):
        canvas.rect(middle - width / 2, y, width, 32, "block", 6)
        canvas.text(middle, y + 20.5, f"block {each}", "on", 13)
        canvas.curve(middle, y + 32, partial, y + 60, "blockline")
        canvas.cell(partial, y + 60, shade=0.4 if blocks > 1 else MOST_SHADE)
        if blocks > 1:
            canvas.line(partial, y + 60 + CELL, partial, y + 60 + CELL + 24, "blockline")
    canvas.y = y + 60 + CELL


def draw_close_up(canvas, block):
    """One block with its warps, their lanes and its shared memory."""
    drawing = Drawing(block)
    first, last = drawing.block_span()
    begin, end = first - 8, last + 8
    canvas.rect(begin, canvas.y, end - begin, 132, "frame", 8)
    canvas.text(begin, canvas.y - 9, f"block 0 of launch 1, closer: {block.threads} threads",
                "text", 13, "start")
    for warp in block.warps:
        canvas.text(sum(drawing.span(warp)) / 2, canvas.y + 23,
                    f"warp {warp}: {block.warp_size} lanes", f"warp{warp % 2}", 13, weight=600)
        for thread in range(warp * block.warp_size, (warp + 1) * block.warp_size):
            x = drawing.x(thread)
            canvas.circle(x, canvas.y + 46, LANE / 2, f"warp{warp % 2}")
            canvas.text(x, canvas.y + 50.2, thread, "on", 12)
            canvas.line(x, canvas.y + 46, x, canvas.y + 84, f"line{warp % 2}")
            canvas.cell(x, canvas.y + 80)
    canvas.text((begin + end) / 2, canvas.y + 120, "shared memory, for all threads of the block",
                "muted", 12)
    canvas.y += 132
