"""What the time of a call is, by the mode that a recording names."""

# The one that a program meets first.
MODES = {"after-producer": "a call after a kernel that wrote its input",
         "in-graph": "the same in a replayed graph",
         "back-to-back": "calls back to back in a stream, data in no cache"}
# The same in the heads of tables.
HEADS = {"after-producer": "after a kernel", "in-graph": "in a graph, after a kernel",
         "back-to-back": "back to back in a stream"}


def modes_of(rows):
    """The modes that something was measured in, in the order of the above."""
    return sorted({row.get("mode") for row in rows} & set(MODES), key=list(MODES).index)
