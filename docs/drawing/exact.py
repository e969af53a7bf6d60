"""The windows of the exact sum."""

from drawing.canvas import CELL, LEFT, WIDTH, Canvas

WINDOW, WINDOWS, DIGITS, WORD, ROOM = 41, 2, 24, 16, 10  # bits
BITS = WINDOW * WINDOWS + ROOM


def draw_windows():
    """Of f32: from the highest bit, on the left, to the lowest that the windows hold."""
    canvas = Canvas()
    canvas.head("What becomes of an f32", 54)
    bit = (WIDTH - LEFT - 14) / BITS

    def bar(high, low, style, text, text_style="on"):
        x, width = LEFT + (BITS - high) * bit, (high - low) * bit
        canvas.rect(x, canvas.y, width, CELL, style)
        canvas.text(x + width / 2, canvas.y + 14.5, text, text_style, 11)

    def row(label):
        canvas.y += CELL + 16
        canvas.label(canvas.y + 14.5, label)

    canvas.y -= CELL + 16
    top = WINDOW * WINDOWS - 1
    for label, low in ("largest", top - DIGITS), ("any", WINDOW - DIGITS // 2 + 2), ("smallest", 0):
        row(label)
        high = low + DIGITS
        cut = min(max(WINDOW, low), high)
        if high > cut:
            bar(high, cut, "warp0", f"{high - cut} bits")
        if cut > low:
            bar(cut, low, "warp1", f"{cut - low} bits")
    for window in range(WINDOWS - 1, -1, -1):
        row(f"window {window}")
        low = window * WINDOW
        bar(low + WINDOW + ROOM, low + WINDOW, "idle", "room", "muted")
        bar(low + WINDOW, low, f"warp{WINDOWS - 1 - window}", f"{WINDOW} bits of a double")
    row("integer")
    lowest = -7  # a window may lie anywhere
    for low in range(lowest, BITS, WORD):
        high = min(low + WORD, BITS)
        bar(high, max(low, 0), "cell", f"{WORD} bits" if high - max(low, 0) == WORD else "", "text")
    canvas.y += CELL + 16
    return canvas.svg("What becomes of an f32", "Elements of 24 bits, from the largest that two windows hold to the "
                      "smallest. One that lies across the border of the windows is cut into two parts. Each window "
                      "is a double of 41 bits with room for 10 more, for the sum of 1024 elements. At the end both "
                      "are added to an integer, words of 16 bits.")
