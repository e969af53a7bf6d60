"""Drawings and plots."""

import re

from blocks.sources import ROOT, name_of


def image(name, to_images="images/"):
    """A picture of docs/images/ with what it says of itself; `to_images` leads there."""
    text = (ROOT / "docs" / "images" / f"{name}.svg").read_text(encoding="utf-8")
    found = re.search(r"<desc[^>]*>(.*?)</desc>", text, re.DOTALL)
    words = " ".join(found[1].split()) if found else name
    return f"![{words.replace('[', '(').replace(']', ')')}]({to_images}{name}.svg)"


def drawing(stage):
    """What the first block of a stage does, on the page of the stage."""
    return image(f"{stage:02d}_{name_of(stage)}", "../images/")
