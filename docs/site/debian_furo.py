"""Debian 12 ships Furo unbundled: its script imports another, which a page opened as a file may not; its
style sheet imports a path of Debian's web servers, and has lost the rules for readers whose system is dark.
This puts the three right in the built site. The Furo of other sources passes unchanged."""

import pathlib
import re

SERVED = pathlib.Path("/usr/share/javascript")  # as /javascript


def bundle_script(script):
    text = script.read_text()
    line = re.match(r'import (\w+) from "\./([\w.-]+)";\n', text)
    if line:
        script.write_text((script.parent / line[2]).read_text() + text[line.end():])


def with_imports(text):
    def served(line):
        return (SERVED / line[1]).read_text()
    return re.sub(r"@import url\(/javascript/([^)]+)\);", served, text)


def with_dark_system(text):
    dark = re.search(r'body\[data-theme="dark"\] \{([^}]*)\}', text)
    if "prefers-color-scheme" in text or not dark:
        return text
    return (text + "\n@media screen and (prefers-color-scheme: dark) {\n"
            f'  body:not([data-theme="light"]) {{{dark[1]}}}\n}}\n')


def mend(app, exception):
    static = pathlib.Path(app.outdir) / "_static"
    if exception or app.builder.format != "html" or not static.exists():
        return
    bundle_script(static / "scripts/furo.js")
    style = static / "styles/furo.css"
    text = style.read_text()
    mended = with_dark_system(with_imports(text))
    if mended != text:
        style.write_text(mended)


def setup(app):
    app.connect("build-finished", mend)
