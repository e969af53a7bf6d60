"""Whether the documentation leads where it says, in a repository browser and as a site.

site_test.py [CLASS...], with the built site in TENFOLD_SITE for those that look at it.
"""

import html.parser
import os
import pathlib
import re
import sys
import unittest
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs/site"))
import axe  # noqa: E402
import chromium  # noqa: E402
import markdown  # noqa: E402
import stage_pages  # noqa: E402

SITE = pathlib.Path(os.environ.get("TENFOLD_SITE", "no site was built")).resolve()
HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(.*?)[ \t]*#*[ \t]*$", re.MULTILINE)
NO_CHROMIUM = "there is no Chromium"
HAS_PLAYERS = (SITE / "_static/players").exists()
NO_PLAYERS = "the site was built where no program observes kernels"


def is_remote(address):
    return re.match(r"[a-z][a-z0-9+.-]*:|//", address) is not None


def markdown_pages():
    docs = sorted(page for page in (ROOT / "docs").rglob("*.md") if "site" not in page.relative_to(ROOT / "docs").parts)
    return [ROOT / "README.md", ROOT / "kernels/pitfalls/README.md", *docs]


def has_exact_name(path):
    """Whether the file is there by this very name, also where file names know no case."""
    return path.exists() and (path == ROOT or path.name in os.listdir(path.parent))


def anchors(text):
    """The names that headings have in a repository browser."""
    taken = {}
    for heading in HEADING.findall(markdown.without_fences(markdown.COMMENT.sub("", text))):
        words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        slug = re.sub(r"[^\w\- ]", "", words.strip().lower()).replace(" ", "-")
        count = taken.get(slug, 0)
        taken[slug] = count + 1
        yield f"{slug}-{count}" if count else slug


def has_anchor(path, anchor):
    if path.suffix == ".md":
        return anchor in anchors(path.read_text())
    lines = re.fullmatch(r"L(\d+)(?:-L(\d+))?", anchor)
    if not lines or not path.is_file():
        return False
    count = len(path.read_text().splitlines())
    return all(1 <= int(line) <= count for line in lines.groups() if line)


def dead_markdown_links(page, text):
    for target, _, _ in markdown.links(text):
        if is_remote(target):
            continue
        name, _, anchor = urllib.parse.unquote(target).partition("#")
        path = pathlib.Path(os.path.normpath(page.parent / name))
        if not name:
            is_there = anchor in anchors(text)
        elif ROOT not in [path, *path.parents] or not has_exact_name(path):
            is_there = False
        else:
            is_there = not anchor or has_anchor(path, anchor)
        if not is_there:
            yield target


class MarkdownTest(unittest.TestCase):
    """The pages as a repository browser shows them."""

    def test_every_link_leads_somewhere(self):
        for page in markdown_pages():
            with self.subTest(page=str(page.relative_to(ROOT))):
                self.assertEqual([], list(dead_markdown_links(page, page.read_text())))

    def test_dead_links_are_found(self):
        page = ROOT / "docs/index.md"
        text = ("[a](nowhere.md) [b](#nowhere) [c](../README.md#nowhere) ![d](images/nowhere.svg)\n"
                "[e](../kernels/01_naive.hpp#L100000) [f](../../outside.md) [g](../readme.md)\n"
                "[r]: nowhere.md\n<img src=\"nowhere.png\">\n")
        self.assertEqual(9, len(list(dead_markdown_links(page, text))))

    def test_live_links_are_not_found(self):
        page = ROOT / "docs/index.md"
        text = ("# A `word`, and more\n[a](../README.md) [b](#a-word-and-more) [c](../kernels) [d](https://x.org/y)\n"
                "[e](../kernels/01_naive.hpp#L1-L2) `[f](nowhere)`\n```\n[g](nowhere)\n```\n<!-- [h](nowhere) -->\n")
        self.assertEqual([], list(dead_markdown_links(page, text)))


    def test_comments_vanish_from_prose_alone(self):
        for text, expected in (("a <!--= b -->1<!--/--> c", "a 1 c"),
                               ("| <!--= a -->1<!--/--> | 2 |\n<!-- /weave -->\nb", "| 1 | 2 |\n\nb"),
                               ("- a\n  <!-- weave: b(\n  c) -->\n  d", "- a\n\n\n  d"),
                               ("`<!-- a -->`\n```\n<!-- b -->\n```\n", "`<!-- a -->`\n```\n<!-- b -->\n```\n"),
                               ("<!--= f(\"`a`\") -->`b`<!--/-->", "`b`")):
            with self.subTest(text=text):
                self.assertEqual(expected, markdown.without_comments(text))

    def test_the_marked_lines_of_a_kernel_are_those_that_the_diff_adds(self):
        for stage in stage_pages.STAGES[1:]:
            text = stage_pages.DIFF.search((ROOT / "docs" / stage_pages.page_of(stage)).read_text())[0]
            added = re.findall(r"^\+ +(?!#include|namespace)(.*)$", text, re.MULTILINE)
            kernel = stage_pages.kernel_lines(stage)
            marked = [kernel[place - 1].strip() for place in stage_pages.changed_lines(stage)]
            with self.subTest(stage=stage):
                self.assertEqual(added, [re.sub(" *//.*", "", line) for line in marked])


class Page(html.parser.HTMLParser):
    """What a page of the site links to, loads and calls by a name."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.names, self.comments = [], [], set(), []
        self.is_in_article = False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        value = dict(attributes)
        self.names.update(filter(None, (value.get("id"), value.get("name") if tag == "a" else None)))
        self.is_in_article |= tag == "article"
        if tag == "a" and "href" in value:
            self.links.append(value["href"])
        if tag == "link":  # style sheets are loaded, other pages are named
            (self.loads if value.get("rel") in ("stylesheet", "icon") else self.links).append(value["href"])
        if tag in ("img", "script", "iframe", "source", "object") and ("src" in value or "data" in value):
            self.loads.append(value.get("src") or value.get("data"))

    handle_startendtag = handle_starttag

    def handle_endtag(self, tag):
        self.is_in_article &= tag != "article"

    def handle_comment(self, text):
        if self.is_in_article:
            self.comments.append(text)


def paths_of_pages(site):
    return [path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]


def built_pages(site):
    return {path: Page(path.read_text()) for path in paths_of_pages(site)}


def dead_links(pages):
    for path, page in pages.items():
        for link in page.links + page.loads:
            address = urllib.parse.urlsplit(link)
            if address.scheme or address.netloc:
                continue
            target = pathlib.Path(os.path.normpath(path.parent / urllib.parse.unquote(address.path))) if address.path else path
            if not target.is_file():
                yield f"{path}: {link} is not there"
            elif address.fragment and target in pages:
                if urllib.parse.unquote(address.fragment) not in pages[target].names:
                    yield f"{path}: {link} has no such anchor"


def luminance(colour):
    """Of a colour "#rrggbb", as the Web Content Accessibility Guidelines define it."""
    shares = (int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5))
    linear = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return sum(weight * share for weight, share in zip((0.2126, 0.7152, 0.0722), linear))


def contrast(one, other):
    darker, lighter = sorted(map(luminance, (one, other)))
    return (lighter + 0.05) / (darker + 0.05)


CONTRAST = 4.5  # what the guidelines ask for at level AA


def pale_tokens(style, selector):
    """The tokens of code that stand out too little from their ground, or from that of a marked line."""
    colour = r"#(?:[0-9a-fA-F]{6})"
    rules = dict(re.findall(rf"^{re.escape(selector)} ?(\.\w+)? {{([^}}]*)}}", style, re.MULTILINE))
    grounds = [re.search(rf"background(?:-color)?: ({colour})", rules[name])[1] for name in ("", ".hll")]
    for name, rule in rules.items():
        ink = re.search(rf"(?<!-)color: ({colour})", rule)
        own = re.search(rf"background-color: ({colour})", rule)
        if ink and name != ".w":  # of blanks nothing is seen
            for ground in [own[1]] if own else grounds:
                if contrast(ink[1], ground) < CONTRAST:
                    yield f"{selector} {name} {ink[1]} on {ground}: {contrast(ink[1], ground):.2f}"


class SiteTest(unittest.TestCase):
    """The pages as they were built."""

    @classmethod
    def setUpClass(cls):
        cls.pages = built_pages(SITE)

    def test_every_page_of_the_documentation_is_there(self):
        for page in markdown_pages():
            if ROOT / "docs" in page.parents:
                self.assertIn(SITE / page.relative_to(ROOT / "docs").with_suffix(".html"), self.pages)

    def test_every_link_leads_somewhere(self):
        self.assertEqual([], list(dead_links(self.pages)))

    def test_the_reference_shows_what_it_names(self):
        for path in (ROOT / "docs/api").glob("*.md"):
            names = " ".join(self.pages[SITE / "api" / f"{path.stem}.html"].names)
            for name in re.findall(r"^```\{doxygen(?!file|group)\w+\} (?:\w+::)*(\w+)", path.read_text(), re.MULTILINE):
                self.assertIn(f"{len(name)}{name}", names, path)
        names = self.pages[SITE / "api/kernels.html"].names
        self.assertEqual(2, sum(name.startswith("_CPPv4") and "13static_switch" in name for name in names))

    def test_dead_links_are_found(self):
        path = SITE / "index.html"
        page = Page("<a href='nowhere.html'></a><a href='#nowhere'></a><img src='nowhere.svg'><a href='#there' id='there'></a>")
        self.assertEqual(3, len(list(dead_links({path: page}))))

    def test_nothing_is_loaded_from_elsewhere(self):
        for path, page in self.pages.items():
            self.assertEqual([], [load for load in page.loads if is_remote(load)], path)
        for style in SITE.rglob("*.css"):
            self.assertNotRegex(style.read_text(), r"(@import\s+[\"']|url\([\"']?)(https?:)?/", style)

    def test_a_stage_has_its_place_on_the_ladder_and_its_kernel(self):
        for stage in stage_pages.STAGES:
            path = SITE / pathlib.Path(stage_pages.page_of(stage)).with_suffix(".html")
            text = path.read_text()
            here = re.findall(r'<nav class="ladder".*?aria-current="page"[^>]*>(\d+)<.*?</nav>', text, re.DOTALL)
            with self.subTest(stage=stage):
                self.assertEqual([str(stage)], here)
                self.assertIn(stage_pages.reached(stage), text)
                marked = len(stage_pages.changed_lines(stage)) if stage > 1 else 0
                self.assertEqual(marked, text.count('<span class="hll">'))

    def players(self, page):
        """The players that a page leads to, by their names."""
        return {pathlib.Path(link).stem for link in self.pages[SITE / page].links if "_static/players/" in link}

    @unittest.skipUnless(HAS_PLAYERS, NO_PLAYERS)
    def test_every_stage_and_pitfall_has_its_player(self):
        for stage in stage_pages.STAGES:
            page = pathlib.Path(stage_pages.page_of(stage)).with_suffix(".html")
            self.assertEqual({page.stem}, self.players(page))
        pitfalls = {path.stem for path in (ROOT / "kernels/pitfalls").glob("*.hpp")}
        self.assertEqual(pitfalls, self.players("pitfalls.html"))
        self.assertEqual(pitfalls, self.players("pitfalls-found.html"))

    def test_previous_and_next_are_there_once(self):
        for path in SITE.glob("stages/*.html"):
            article = re.search(r"<article.*</article>", path.read_text(), re.DOTALL)[0]
            self.assertNotIn(">Contents<", article, path)

    def test_the_front_page_does_not_repeat_the_sidebar(self):
        article = re.search(r"<article.*</article>", (SITE / "index.html").read_text(), re.DOTALL)[0]
        self.assertNotIn("<li>", article)
        self.assertIn("ladder-h200.svg", article)
        self.assertIn('href="introduction.html"', article)

    def test_every_drawing_leads_to_itself(self):
        for path, page in self.pages.items():
            for drawing in filter(re.compile(r".*_images/.*\.svg").match, page.loads):
                self.assertIn(drawing, page.links, path)

    def test_a_page_says_what_it_is_about(self):
        descriptions = set()
        pages = [page for page in markdown_pages() if ROOT / "docs" in page.parents]
        for page in pages:
            text = (SITE / page.relative_to(ROOT / "docs").with_suffix(".html")).read_text()
            descriptions.update(re.findall(r'<meta name="description" content="([^"]{20,180})"', text))
        self.assertEqual(len(pages), len(descriptions))

    def test_no_script_is_loaded_in_vain(self):
        for path, page in self.pages.items():
            self.assertEqual([], [load for load in page.loads if re.search("jquery|underscore|frameworks", load)], path)

    def test_code_stands_out_from_its_ground(self):
        style = "".join((SITE / "_static" / name).read_text() + "\n" for name in ("pygments.css", "site.css"))
        style = re.sub(r"^ +", "", style, flags=re.MULTILINE)
        for selector in (".highlight", 'body[data-theme="dark"] .highlight'):
            self.assertEqual([], list(pale_tokens(style, selector)))

    def test_pale_code_is_found(self):
        self.assertAlmostEqual(21, contrast("#000000", "#ffffff"))
        style = (".highlight { background: #f8f8f8; }\n.highlight .hll { background-color: #ffffcc }\n"
                 ".highlight .gi { color: #00A000 } /* Generic.Inserted */\n.highlight .w { color: #bbbbbb }\n"
                 ".highlight .err { color: #ffffff; background-color: #000000 }\n")
        self.assertEqual(2, len(list(pale_tokens(style, ".highlight"))))

    def test_marks_of_scripts_are_gone(self):
        for path, page in self.pages.items():
            self.assertEqual([], page.comments, path)


@unittest.skipUnless(chromium.find(), NO_CHROMIUM)
class BrowserTest(chromium.QuietPages, unittest.TestCase):
    """The pages as a reader sees them who opened the files."""

    PHONE = chromium.PHONE

    def setUp(self):  # in a window as it comes, so narrow that the header for phones is seen too
        self.browser.start_over()

    def tearDown(self):
        # A search fetches the pages that it found, to show their words; a browser does not let files do so.
        self.browser.errors = [error for error in self.browser.errors if "Failed to fetch" not in error]
        super().tearDown()

    def open(self, page):
        self.browser.open(f"{SITE.as_uri()}/{page}")

    def brightness(self):
        colour = self.browser.value_of("getComputedStyle(document.body).backgroundColor")
        return sum(map(int, re.findall(r"\d+", colour)[:3])) / 3

    def found(self, words):
        """The first pages that a search finds."""
        self.open("search.html?q=" + urllib.parse.quote(words))
        self.browser.wait_for("document.querySelector('.search-summary')?.innerText.includes('found')")
        found = self.browser.value_of("[...document.querySelectorAll('#search-results li a')].map(a => a.href)")
        return [address.removeprefix(SITE.as_uri() + "/") for address in found[:2]]

    def test_search_finds_what_is_there(self):
        self.assertTrue(self.found("shuffle_down")[0].endswith("shuffle_downE1T1TjPKci"))

    def test_search_finds_the_words_of_readers(self):
        for words, expected in (("coalescing", ["glossary.html#word-coalescing", "stages/04_first_op_on_load.html"]),
                                ("uncoalesced", ["glossary.html#word-coalescing"]),
                                ("occupancy", ["glossary.html#word-occupancy", "stages/09_items_per_thread.html"]),
                                ("deterministic", ["glossary.html#word-deterministic", "accuracy.html"]),
                                ("reproducible", ["glossary.html#word-deterministic", "exact.html"]),
                                ("warp shuffle", ["glossary.html#word-shuffle", "stages/07_warp_shuffle.html"]),
                                ("bank conflict", ["glossary.html#word-bank-conflict",
                                                   "stages/03_no_bank_conflicts.html#stage-3-no-bank-conflicts"]),
                                ("latency hiding", ["glossary.html#word-latency-hiding",
                                                    "stages/09_items_per_thread.html"]),
                                ("compute unit", ["glossary.html#word-multiprocessor", "amd.html"])):
            with self.subTest(words=words):
                self.assertEqual(expected, self.found(words))

    def test_search_does_not_find_what_is_not(self):
        self.open("search.html?q=hovercraft")
        self.browser.wait_for("document.querySelector('#search-results .search-summary').innerText.includes('did not match')")
        self.assertEqual(0, self.browser.value_of("document.querySelectorAll('#search-results li').length"))

    def test_no_page_is_wider_than_a_phone_and_text_stands_out_from_its_ground(self):
        """In one go, for to open a page takes longer than to look at it."""
        widest = "Math.max(...[...document.querySelectorAll('html, article, :has(article)')].map(e => e.scrollWidth))"
        for page in (str(path.relative_to(SITE)) for path in paths_of_pages(SITE)):
            self.browser.resize(*self.PHONE)
            self.open(page)
            with self.subTest(page=page):
                self.assertLessEqual(self.browser.value_of(widest), self.PHONE[0])
            if page.startswith("source/") and page != "source/kernels/01_naive.hpp.html":
                continue
            self.browser.call("Emulation.clearDeviceMetricsOverride")
            self.browser.wait_for(f"innerWidth > {self.PHONE[0]}")
            for scheme in ("dark", "light"):
                self.browser.prefer(scheme)
                with self.subTest(scheme=scheme, page=page):
                    self.assertEqual(scheme == "dark", self.brightness() < 128)
                    self.assertEqual([], self.browser.value_of(chromium.PALE))

    def copied(self, page, block):
        """What the button of a page's first such block copies."""
        self.open(page)
        self.browser.value_of("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
        self.browser.value_of(f"document.querySelector('{block} .copy').click()")
        return self.browser.value_of("window.copied")

    def test_a_button_copies_code(self):
        kernel = (ROOT / "kernels/01_naive.hpp").read_text()
        self.assertEqual(kernel, self.copied("source/kernels/01_naive.hpp.html", ".highlight-cpp"))
        self.assertEqual("./tenfold profile 3 --warp 32\n", self.copied("source/README.html", ".highlight-console"))
        self.assertIn("./tenfold ladder ", self.copied("index.html", ".highlight-text"))

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            self.browser.call("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                              windowsVirtualKeyCode={"Tab": 9, "Enter": 13}[key], text={"Enter": "\r"}.get(key, ""))

    def test_the_first_link_leads_past_the_sidebar(self):
        self.open("stages/01_naive.html")
        self.press("Tab")
        self.press("Enter")
        self.browser.wait_for("document.activeElement.matches('article')")

    def test_the_keyboard_reaches_what_scrolls_sideways(self):
        self.browser.resize(*self.PHONE)
        self.open("stages/10_two_pass.html")
        wide = ("[...document.querySelectorAll('article *')].filter(e => e.scrollWidth > e.clientWidth && e.checkVisibility()"
                " && ['auto', 'scroll'].includes(getComputedStyle(e).overflowX))")
        self.assertLess(2, self.browser.value_of(f"{wide}.length"))
        self.browser.wait_for(f"{wide}.every(e => e.tabIndex === 0)")

    def test_a_tap_opens_a_drawing_at_its_own_size(self):
        self.browser.resize(*self.PHONE)
        self.open("beyond.html")
        self.browser.value_of("document.querySelector('article a > img').click()")
        self.browser.wait_for("document.querySelector('dialog[open] img').width > innerWidth")
        self.browser.value_of("document.querySelector('dialog button').click()")
        self.assertFalse(self.browser.value_of("document.querySelector('dialog').open"))

    def open_in(self, page, system, choice):
        """Opens a page where the system asks for a theme and the reader chose one."""
        self.browser.prefer(system)
        self.open(page)
        self.browser.value_of(f"localStorage.setItem('theme', '{choice}')")
        self.open(page)

    THEMES = (("light", "auto", False), ("dark", "auto", True), ("dark", "light", False), ("light", "dark", True))

    def test_the_dark_is_the_readers_choice(self):
        for system, choice, is_dark in self.THEMES:
            self.open_in("index.html", system, choice)
            with self.subTest(system=system, choice=choice):
                self.assertEqual(is_dark, self.brightness() < 128)

    @unittest.skipUnless(axe.SCRIPT.exists(), axe.MISSING)
    def test_pages_keep_the_rules_for_access(self):
        # One of each kind: all would take two minutes.
        for page in ("index", "search", "introduction", "stages/03_no_bank_conflicts", "pitfalls", "comparing-gpus", "rows",
                     "glossary", "api/reducer", "source/kernels/01_naive.hpp"):
            self.open(f"{page}.html")
            with self.subTest(page=page):
                self.assertEqual([], axe.violations(self.browser))

    def test_pale_text_is_found(self):
        self.open("index.html")
        self.browser.value_of("document.querySelector('article p').style.color = '#999'")
        self.assertNotEqual([], self.browser.value_of(chromium.PALE))

    def test_drawings_follow_the_readers_choice(self):
        drawn = (path.relative_to(SITE) for path in paths_of_pages(SITE)
                 if any(load.endswith(".svg") for load in Page(path.read_text()).loads))
        page = next(drawn, None) or self.skipTest("no page has a drawing")
        pictures = {False: set(), True: set()}
        for system, choice, is_dark in self.THEMES:
            self.open_in(page, system, choice)
            pictures[is_dark].add(self.browser.picture("article img[src$='.svg']"))
        self.assertEqual([1, 1], list(map(len, pictures.values())))
        self.assertNotEqual(pictures[False], pictures[True])

    @unittest.skipUnless(HAS_PLAYERS, NO_PLAYERS)
    def test_a_page_plays_its_stage_once_the_reader_comes_to_it(self):
        for stage in stage_pages.STAGES:
            page = pathlib.Path(stage_pages.page_of(stage)).with_suffix(".html")
            self.open(page)
            self.assertTrue(self.browser.value_of("""!document.querySelector('.player iframe').src
                || document.querySelector('.player').getBoundingClientRect().top <= innerHeight + 300"""), page)
            self.browser.value_of("document.querySelector('.player').scrollIntoView({behavior: 'instant'})")
            self.browser.wait_for("document.querySelector('.player iframe').src")
            for warp in (8, 32, 64):
                self.browser.wait_for(f"""[...document.querySelectorAll('.views label')].some(label =>
                    label.innerText === 'warps of {warp}' && !label.click())""", frame=1)
                self.browser.wait_for(f"document.querySelector('.about').innerText.includes(' of {warp} lanes')", frame=1)
            self.browser.value_of("document.querySelector('[title^=\"Go to the end\"]').click()", frame=1)
            self.browser.wait_for("document.querySelector('.caption').innerText.includes(' f32 is ')", frame=1)

    @unittest.skipUnless(HAS_PLAYERS, NO_PLAYERS)
    def test_a_player_follows_the_theme_of_its_page_and_an_address_that_names_a_step(self):
        self.browser.prefer("light")
        self.open("stages/03_no_bank_conflicts.html#step=17")
        self.browser.wait_for("document.querySelector('.caption')?.innerText.startsWith('Step 17 of 28.')", frame=1)
        for choice, ground in (("dark", "rgb(19, 20, 23)"), ("light", "rgb(255, 255, 255)")):
            self.browser.value_of(f"document.body.dataset.theme = '{choice}'")
            self.browser.wait_for(f"getComputedStyle(document.body).backgroundColor === '{ground}'", frame=1)

    @unittest.skipUnless(HAS_PLAYERS, NO_PLAYERS)
    def test_print_shows_the_drawing_and_the_screen_the_player(self):
        shown = "['.still', '.player'].map(each => document.querySelector(each).checkVisibility())"
        self.open("stages/03_no_bank_conflicts.html")
        self.assertEqual([False, True], self.browser.value_of(shown))
        self.browser.call("Emulation.setEmulatedMedia", media="print")
        self.assertEqual([True, False], self.browser.value_of(shown))

    def test_a_click_changes_the_theme(self):
        self.open("index.html")
        self.browser.value_of("document.querySelector('button.theme-toggle').click()")
        self.assertEqual("dark", self.browser.value_of("document.body.dataset.theme"))

    def test_pages_run_without_errors_and_ask_nobody(self):
        for page in ("index.html", "search.html", "api/kernels.html"):
            self.open(page)
        self.assertEqual([], self.browser.errors)
        self.assertEqual([], [url for url in self.browser.requests if not re.match("file:|data:|about:", url)])


if __name__ == "__main__":
    unittest.main(verbosity=2)  # so that CTest reads why tests were skipped
