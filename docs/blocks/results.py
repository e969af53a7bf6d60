"""What was measured and recorded."""

import functools
import json

from blocks.sources import ROOT


@functools.cache
def results(file):
    """A file of docs/results/."""
    return json.loads((ROOT / "docs" / "results" / file).read_text(encoding="utf-8"))
