"""Lets a search for a word of the glossary, in any of its columns, lead to the line that explains it."""

import re

from docutils import nodes
from sphinx import addnodes

# What readers also type, by the word that the glossary has for it.
ALSO_TYPED = {
    "atomic": ["atomics"],
    "coalescing": ["coalesced", "uncoalesced"],
    "deterministic": ["determinism", "nondeterministic", "reproducible", "bitwise identical"],
    "grid-stride loop": ["grid stride loop"],
    "Kahan": ["compensated summation"],
    "latency hiding": ["hide latency"],
    "race": ["race condition"],
    "shared memory": ["smem"],
    "shuffle": ["warp shuffle", "shfl"],
    "unrolling": ["loop unrolling", "unroll"],
    "vector load": ["vectorised load"],
}


def words_of(cells):
    """The words that a line of the glossary explains, without what qualifies them."""
    for cell in cells:
        for words in re.split(r"[,;:()]|\bor\b", cell.astext()):
            if words := words.strip():
                yield words
                yield from ALSO_TYPED.get(words, [])


def add_words(app, doctree):
    if app.env.docname != "glossary":
        return
    for line in doctree.findall(nodes.row):
        cells = list(line.findall(nodes.entry))
        if isinstance(line.parent, nodes.tbody):
            name = nodes.make_id("word-" + cells[0].astext())
            line["ids"].append(name)
            names = [cells[0], *cells[2:]]  # the second explains them
            index = addnodes.index(entries=[("single", word, name, "", None) for word in words_of(names)])
            doctree.append(index)


def setup(app):
    app.connect("doctree-read", add_words)
