#!/usr/bin/env python3
"""Lays out what Sphinx reads: stage.py FOLDER [BY_PROGRAM]

The pages of docs/ go there as they are, but for comments, which only scripts read. What they link
to elsewhere in the repository becomes a page below source/, and the links lead there: a Markdown
file as it is, any other with its text, a folder with the names in it. BY_PROGRAM holds what
program_pages.py had written, to which pages lead.
"""

import os
import pathlib
import re
import sys

import markdown
import stage_pages

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
IMAGES = {".svg", ".png", ".jpg"}
LARGEST_LISTING = 60_000  # bytes; a larger file can be downloaded
ORPHAN = "---\norphan: true\n---\n"  # of what no table of contents names
ONE_HEADING = "---\nhide-toc: true\n---\n"
# The links to the pages before and after, which Sphinx has of its own.
NEIGHBOURS = re.compile(r"^---\n\n[^\n]*\[Contents\]\([^\n]*\n", re.MULTILINE)
LANGUAGES = {".hpp": "cpp", ".cpp": "cpp", ".inl": "cpp", ".cu": "cuda", ".py": "python",
             ".cmake": "cmake", ".json": "json", ".sh": "bash"}


def with_contents(text):
    """The page whose lists of pages, each under its heading, are the contents: Sphinx's own stand in
    their place, which it shows beside every page."""
    parts = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    for i, part in enumerate(parts):
        caption, _, body = part.removeprefix("## ").partition("\n")
        entries = re.findall(r"^- \[[^\]]*\]\(([^)#:]+)\.md\)$", body, re.MULTILINE)
        if entries and len(entries) == len(body.split("\n- ")) - 1:
            parts[i] = "\n".join(["```{toctree}", ":hidden:", f":caption: {caption}", "", *entries, "```", "", ""])
    return "".join(parts)


def language_of(path):
    if path.name == "CMakeLists.txt":
        return "cmake"
    told = re.match("#!.*(python|bash)", path.read_text())
    return LANGUAGES.get(path.suffix) or (told[1] if told else "text")


def is_listed(path):
    """Whether a file is shown as text."""
    return path.stat().st_size <= LARGEST_LISTING


def front_page(path):
    """What a repository browser shows of a folder, if anything."""
    return next((page for page in (path / "README.md", path / "index.md") if page.exists()), path)


def with_links_to_players(text):
    """The page of pitfalls, each of which leads to what plays it: where its lines are shown, and in the table."""
    def link(name, words):
        return f'<a href="_static/players/{name}.html">{words}</a>'

    text = re.sub(r'<!-- weave: pitfall\("(\w+)"\) -->.*?<!-- /weave -->',
                  lambda shown: f"{shown[0]}\n\n{link(shown[1], 'See it happen, step by step')}\n", text, flags=re.DOTALL)
    return re.sub(r"^\| \[(\w+)\]\(\.\./kernels/pitfalls/\w+\.hpp\)",
                  lambda row: f"{row[0]} {link(row[1], 'play')}", text, flags=re.MULTILINE)


def with_compare_page(text):
    """The page on comparing, which does so at the end of the section that tells how."""
    begin = text.index("\n## Compare\n")
    end = text.index("\n## ", begin + 1)
    page = ('<div class="player" data-title="Compare results"><a href="_static/compare.html">Compare results in the '
            "browser</a></div>")
    return f"{text[:end]}\n{page}\n{text[end:]}"


class Site:
    def __init__(self, folder, has_program_pages):
        self.folder, self.has_program_pages = folder, has_program_pages
        self.written = set()
        self.linked = []  # what still needs a page

    def place_of(self, path):
        """Where the page of a file or folder of the repository is laid out."""
        path = front_page(path)
        if path in self.own_pages or (DOCS in path.parents and path.suffix in IMAGES):
            return self.folder / path.relative_to(DOCS)
        place = self.folder / "source" / path.relative_to(ROOT)
        if path.is_dir():
            return place / "index.md"
        if path.suffix == ".md" or not is_listed(path):
            return place
        return place.with_name(place.name + ".md")

    def write(self, place, content):
        self.written.add(place)
        place.parent.mkdir(parents=True, exist_ok=True)
        if not place.exists() or place.read_bytes() != content:  # Sphinx reads anew what is newer
            place.write_bytes(content)

    def link(self, path, place):
        """The link to the page of `path` on the page at `place`."""
        self.linked.append(path)
        return os.path.relpath(self.place_of(path), place.parent)

    def redirect(self, text, path, place):
        """The text of the page at `path`, with links that lead to pages of the site."""
        redirected, end = [], 0
        for target, start, stop in markdown.links(text):
            name, mark, anchor = target.partition("#")
            linked = pathlib.Path(os.path.normpath(path.parent / name))
            is_remote = re.match(r"[a-z][a-z0-9+.-]*:", target)
            if not name or is_remote or not linked.exists() or ROOT not in [linked, *linked.parents]:
                continue
            redirected += [text[end:start], self.link(linked, place) + mark + anchor]
            end = stop
        return "".join(redirected) + text[end:]

    def lay_out_markdown(self, path, place):
        text = path.read_text()
        if self.has_program_pages and path in (DOCS / "pitfalls.md", DOCS / "pitfalls-found.md"):
            text = with_links_to_players(text)
        if self.has_program_pages and path == DOCS / "comparing-gpus.md":
            text = with_compare_page(text)
        text = markdown.without_comments(text)
        front = "" if path in self.own_pages else ORPHAN
        if path == DOCS / "index.md":
            front, text = ONE_HEADING, with_contents(text)
        text = self.redirect(NEIGHBOURS.sub("", text), path, place)
        if path.parent == DOCS / "stages":
            text = stage_pages.with_additions(text, int(path.name[:2]), self.has_program_pages)
        self.write(place, (front + text).encode())

    def lay_out_listing(self, path, place):
        name = path.relative_to(ROOT)
        text = (f"{ORPHAN}# {name}\n\n```{{literalinclude}} {os.path.relpath(path, place.parent)}\n"
                f":language: {language_of(path)}\n:linenos:\n```\n")
        self.write(place, text.encode())

    def lay_out_folder(self, path, place):
        lines = [ORPHAN, f"# {path.relative_to(ROOT)}/\n", "\n"]
        for entry in sorted(path.iterdir()):
            if entry.is_dir() and entry.name != "__pycache__":
                lines.append(f"- {entry.name}/\n")
            elif entry.is_file():
                lines.append(f"- [{entry.name}]({self.link(entry, place)})\n")
        self.write(place, "".join(lines).encode())

    def lay_out(self, path):
        path, place = front_page(path), self.place_of(path)
        if place in self.written:
            return
        if path.is_dir():
            self.lay_out_folder(path, place)
        elif path.suffix == ".md":
            self.lay_out_markdown(path, place)
        elif path.suffix in IMAGES or not is_listed(path):
            self.write(place, path.read_bytes())
        else:
            self.lay_out_listing(path, place)

    def lay_out_all(self):
        self.own_pages = {path for path in DOCS.rglob("*.md") if DOCS / "site" not in path.parents}
        self.linked = sorted(self.own_pages)
        while self.linked:
            self.lay_out(self.linked.pop())
        for place in self.folder.rglob("*"):
            if place.is_file() and place not in self.written:
                place.unlink()


if __name__ == "__main__":
    Site(pathlib.Path(sys.argv[1]).resolve(), len(sys.argv) > 2).lay_out_all()
