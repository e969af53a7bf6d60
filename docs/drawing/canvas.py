"""SVG, and what all drawings are made of."""

import math
from xml.sax.saxutils import escape

WIDTH, LEFT, COLUMN = 600, 72, 28
CELL, LANE = 20, 20  # heights
LEAST_SHADE, MOST_SHADE = 0.12, 0.8  # of a value of one element, of a value of all
VALUE_SIZES = {1: 12, 2: 12, 3: 10.5, 4: 9}  # of the digits in a cell
FONT = "system-ui, sans-serif"

# Of each class, its style on a light page, then what differs on a dark one.
STYLES = {
    "card": ("fill:#ffffff;stroke:#d0d7de", "fill:#0d1117;stroke:#30363d"),
    "text": ("fill:#1f2328", "fill:#e6edf3"),
    "muted": ("fill:#59636e", "fill:#9198a1"),
    "alarm": ("fill:#cf222e;font-weight:600", "fill:#ff7b72"),
    "warp0": ("fill:#0969da", "fill:#58a6ff"),
    "warp1": ("fill:#8250df", "fill:#bc8cff"),
    "line0": ("fill:none;stroke-width:1.6;stroke:#0969da", "stroke:#58a6ff"),
    "line1": ("fill:none;stroke-width:1.6;stroke:#8250df", "stroke:#bc8cff"),
    "turn": ("fill:none;stroke-width:1.8;stroke:#cf222e", "stroke:#ff7b72"),
    "on": ("fill:#ffffff;font-weight:600", "fill:#0d1117"),
    "idle": ("fill:#f0f2f4;stroke:#d0d7de", "fill:#161b22;stroke:#30363d"),
    "unused0": ("fill:#f0f2f4;stroke:#0969da", "fill:#161b22;stroke:#58a6ff"),
    "unused1": ("fill:#f0f2f4;stroke:#8250df", "fill:#161b22;stroke:#bc8cff"),
    "faint": ("fill:#6e7781", "fill:#848d97"),
    "away": ("fill:none;stroke:#d0d7de;stroke-dasharray:3 3", "stroke:#3d444d"),
    "cell": ("fill:#ffffff;stroke:#8c959f", "fill:#0d1117;stroke:#6e7681"),
    "block": ("fill:#1a7f37", "fill:#3fb950"),
    "blockline": ("fill:none;stroke-width:1.6;stroke:#1a7f37", "stroke:#3fb950"),
    "frame": ("fill:none;stroke-width:1.6;stroke:#1a7f37", "stroke:#3fb950"),
    "divider": ("fill:none;stroke:#8c959f", "stroke:#6e7681"),
    "held": ("fill:#f0a020", "fill:#d08700"),
    "rule": ("stroke:#1f2328;stroke-width:2.5", "stroke:#e6edf3"),
    "dashed": ("stroke:#1f2328;stroke-width:2;stroke-dasharray:6 4", "stroke:#e6edf3"),
}


def number(x):
    return f"{x:.1f}".rstrip("0").rstrip(".")


class Canvas:
    """Lines lie under all else, so that they may run from centre to centre."""

    def __init__(self):
        self.under, self.over = [], []
        self.y = 0

    def text(self, x, y, text, style="text", size=13, anchor="middle", weight=None):
        bold = f' font-weight="{weight}"' if weight else ""
        self.over.append(f'<text class="{style}" x="{number(x)}" y="{number(y)}" font-size="{size}"'
                         f' text-anchor="{anchor}"{bold}>{escape(str(text))}</text>')

    def line(self, x1, y1, x2, y2, style):
        self.under.append(f'<path class="{style}" d="M{number(x1)} {number(y1)}'
                          f'L{number(x2)} {number(y2)}"/>')

    def curve(self, x1, y1, x2, y2, style, head=False):
        """Leaves and arrives upright, so that it runs through nothing beside its ends."""
        bend = (y2 - y1) * (0.55 if x1 != x2 else 0)
        arrow = ' marker-end="url(#head)"' if head else ""
        self.under.append(f'<path class="{style}" d="M{number(x1)} {number(y1)}'
                          f'C{number(x1)} {number(y1 + bend)} {number(x2)} {number(y2 - bend)}'
                          f' {number(x2)} {number(y2)}"{arrow}/>')

    def divider(self, x, y, height):
        self.over.append(f'<path class="divider" d="M{number(x)} {number(y)}v{number(height)}"/>')

    def rect(self, x, y, width, height, style, radius=3, opacity=None):
        shade = f' fill-opacity="{number(opacity)}"' if opacity is not None else ""
        self.over.append(f'<rect class="{style}" x="{number(x)}" y="{number(y)}"'
                         f' width="{number(width)}" height="{number(height)}"'
                         f' rx="{radius}"{shade}/>')

    def label(self, y, text, style="text", size=12):
        """What stands left of a row."""
        self.text(LEFT - 6, y, text, style, size, "end")

    def head(self, title, y):
        self.text(16, 28, title, "text", 17, "start", 600)
        self.y = y

    def circle(self, x, y, radius, style):
        self.over.append(f'<circle class="{style}" cx="{number(x)}" cy="{number(y)}"'
                         f' r="{radius}"/>')

    def cell(self, x, y, value=None, style="text", box="cell", width=COLUMN - 4, radius=3, shade=None):
        """A box with its value in the middle."""
        self.rect(x - width / 2, y, width, CELL, box, radius)
        if shade is not None:
            self.rect(x - width / 2, y, width, CELL, "held", radius, shade)
        if value is not None:
            self.text(x, y + 14.5, value, style, VALUE_SIZES.get(len(str(value)), 8))

    def group(self, x, y, width, count):
        """Cells that are too narrow for their values."""
        self.cell(x, y, width=width, shade=LEAST_SHADE)
        for i in range(1, count):
            self.divider(x + width * (i / count - 0.5), y, CELL)

    def svg(self, title, description):
        height = math.ceil(self.y)
        light = "".join(f".{name}{{{style}}}" for name, (style, _) in STYLES.items())
        dark = "".join(f".{name}{{{style}}}" for name, (_, style) in STYLES.items())
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="720"'
            f' height="{number(height * 720 / WIDTH)}" role="img" aria-labelledby="title desc"'
            f' font-family="{FONT}">',
            f'<title id="title">{escape(title)}</title>',
            f'<desc id="desc">{escape(description)}</desc>',
            f"<style>{light}@media (prefers-color-scheme: dark){{{dark}}}</style>",
            '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6"'
            ' markerHeight="6" orient="auto-start-reverse"><path class="muted" d="M0 0L8 4L0 8z"/>'
            "</marker></defs>",
            f'<rect class="card" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}"'
            ' rx="8"/>',
            *self.under, *self.over, "</svg>", ""])
