"""What was measured and recorded."""

import functools

from scripts.common import RESULTS, read_json

GPU = "h200"  # of whose results the pages tell


@functools.cache
def results(file):
    """A file of docs/results/."""
    return read_json(RESULTS / file)
