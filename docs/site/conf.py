"""How Sphinx builds the site, from the folder that stage.py has laid out."""

import html
import os
import pathlib
import sys
import textwrap

from docutils import nodes
from sphinx.domains.cpp import CPPDomain

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))

project = "tenfold"
html_title = "tenfold"
copyright = "the tenfold authors"

extensions = ["myst_parser", "breathe", "debian_furo", "searched_words"]
root_doc = "index"

# Markdown, as a repository browser reads it.
myst_heading_anchors = 4
myst_enable_extensions = ["html_image"]
myst_ref_domains = ["std"]
smartquotes_action = "q"  # and no dashes: options begin with two

breathe_projects = {"tenfold": os.environ["TENFOLD_DOXYGEN_XML"]}
breathe_default_project = "tenfold"
breathe_default_members = ("members", "undoc-members")
breathe_show_include = False
primary_domain = "cpp"
highlight_language = "text"

# Every name in a signature must lead somewhere, but for namespaces, which have no page in Sphinx, and
# what the compiler brings along.
nitpicky = True
nitpick_ignore_regex = [("cpp:identifier", "uint64_t|::uint3"), ("cpp:identifier", r"tenfold(::simt|::gpu)?|column_tiles|detail(::.*)?|loaded_vector<.*>|narrow_float<T>"), ("cpp:identifier", r"__builtin_\w+")]

html_theme = "furo"
html_favicon = str(HERE / "favicon.svg")
html_static_path = ["static", *filter(None, [os.environ.get("TENFOLD_PROGRAM_PAGES")])]
html_css_files = ["site.css"]
html_js_files = [("site.js", {"defer": "defer"})]
templates_path = [str(HERE / "templates")]
html_search_scorer = str(HERE / "scorer.js")
html_use_index = False  # no page leads to it; the search finds names
html_copy_source = False
html_show_sphinx = False
pygments_style = "default"
pygments_dark_style = "github-dark"


def name_lines(app, doctree):
    """Gives the lines of a source file names, so that links can lead to them."""
    env = app.env
    if not env.docname.startswith("source/"):
        return
    labels = env.get_domain("std").anonlabels
    for listing in doctree.findall(nodes.literal_block):
        if listing.get("linenos"):
            listing.setdefault("highlight_args", {})["linespans"] = "L"
            for line in range(1, listing.rawsource.count("\n") + 2):
                labels[f"{env.doc2path(env.docname, base=False)}#L{line}"] = (env.docname, f"L-{line}")


def link_drawings(app, doctree):
    """Lets a drawing lead to itself, where a phone shows it as large as one likes: Sphinx links pictures
    that have a width."""
    for image in doctree.findall(nodes.image):
        image.setdefault("width", "auto")


def describe(app, pagename, templatename, context, doctree):
    """Tells search engines what a page is about: its title and its first words."""
    title = doctree and next(doctree.findall(nodes.title), None)
    paragraph = doctree and next(doctree.findall(nodes.paragraph), None)
    if title and paragraph:
        words = f"{title.astext()}. {paragraph.astext().partition(' · ')[0]}"
        shown = html.escape(textwrap.shorten(words, 160))
        context["metatags"] += f'<meta name="description" content="{shown}" />'


# Sphinx 5 brings them for extensions that are older than itself.
UNUSED_SCRIPTS = ("jquery.js", "underscore.js", "_sphinx_javascript_frameworks_compat.js")


def leave_out_scripts(app, pagename, templatename, context, doctree):
    context["script_files"] = [script for script in context["script_files"]
                               if str(script).rpartition("/")[2] not in UNUSED_SCRIPTS]


def remove_scripts(app, exception):
    for script in UNUSED_SCRIPTS:
        (pathlib.Path(app.outdir) / "_static" / script).unlink(missing_ok=True)


class SearchedCpp(CPPDomain):
    """C++ whose parameters are not found in the place of what takes them."""

    def get_objects(self):
        return (found for found in super().get_objects() if found[2] not in ("functionParam", "templateParam"))


def setup(app):
    app.add_domain(SearchedCpp, override=True)
    app.connect("doctree-read", name_lines)
    app.connect("doctree-read", link_drawings)
    app.connect("html-page-context", describe)
    app.connect("html-page-context", leave_out_scripts)
    app.connect("build-finished", remove_scripts)
