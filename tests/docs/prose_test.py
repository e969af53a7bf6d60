"""That the tutorial keeps short, and that its words are explained.

Prose is what stands outside code, tables, headings and the links at a page's end. Answers of exercises count.
"""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
STAGES = sorted((ROOT / "docs/stages").glob("*.md"))
NO_PROSE = re.compile(r"""^\ *<!--\ weave:.*?<!--\ /weave\ -->$  # blocks of other files
                        | ^\ *(`{3,}).*?^\ *\1\ *$
                        | <!--.*?-->
                        | ^\ *\|.*?$
                        | ^\#.*?$
                        | ^\[[^\]]+\]:.*?$
                        | ^---$.*\Z
                        | </?\w+>
                        | (?<=\])\([^)]*\)  # where links lead""", re.MULTILINE | re.DOTALL | re.VERBOSE)


def words_of(text):
    return [word for word in NO_PROSE.sub("", text).split() if re.search(r"\w", word)]


def words_explained():
    """The words of the glossary that are of GPUs, each with its section."""
    text = (ROOT / "docs/glossary.md").read_text(encoding="utf-8").partition("\n## Sums")[0]
    for section in text.split("\n## ")[1:]:
        for words in re.findall(r"^\| (?!here)(\w[^|]*?) \|", section, re.MULTILINE):
            yield from ((word, section.partition("\n")[0].lower().replace(" ", "-")) for word in words.split(", "))


def uses_word(text, word):
    """In the page's own words: neither in code nor in what is woven."""
    own = NO_PROSE.sub(" ", re.sub(r"<!--=.*?<!--/-->|(?<!`)`[^`\n]+`", "", text, flags=re.DOTALL))
    return re.search(rf"\b{word}(s|es)?\b", " ".join(own.split()), re.IGNORECASE) is not None


class Prose(unittest.TestCase):
    def test_a_page_reads_in_ten_minutes(self):
        self.assertEqual(len(STAGES), 10)
        for page in STAGES:
            with self.subTest(page=page.name):
                count = len(words_of(page.read_text(encoding="utf-8")))
                self.assertTrue(550 <= count <= 680, f"{count} words of prose")

    def test_the_readme_is_read(self):
        count = len(words_of((ROOT / "README.md").read_text(encoding="utf-8")))
        self.assertTrue(500 <= count <= 700, f"{count} words of prose")

    def test_only_prose_counts(self):
        text = ("# Heading\n\nOne [two](not/this.md), <!--= len(\"no\") -->3<!--/--> four.\n<!-- weave: idea(1) -->\nno\n"
                "<!-- /weave -->\n```\nno\n```\n| no | no |\n\n1. five\n\n   <details><summary>Six</summary>\n\n"
                "   seven\n\n   </details>\n\n---\n\n[no](no.md)\n\n[no]: no.md\n")
        self.assertEqual(words_of(text), ["One", "[two],", "3", "four.", "1.", "five", "Six", "seven"])

    def test_words_lead_to_the_glossary_where_they_first_come(self):
        pages = {page.name: page.read_text(encoding="utf-8") for page in [ROOT / "docs/introduction.md", *STAGES]}
        uses = [(word, section, next((name for name, text in pages.items() if uses_word(text, word)), None))
                for word, section in words_explained()]
        self.assertGreater(sum(page is not None for _, _, page in uses), 25)
        for word, section, page in uses:
            with self.subTest(word=word, page=page):
                links = re.findall(rf"\[([^\]]*)\]\([./]*glossary\.md#{section}\)", pages.get(page, ""))
                self.assertTrue(page is None or any(uses_word(link, word) for link in links), f"no link to #{section}")

    def test_the_glossary_has_the_words_that_readers_search(self):
        text = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
        explained = re.findall(r"^\| ([^|]+?) \|", text, re.MULTILINE)
        for word in ("coalescing", "occupancy", "deterministic", "warp", "lane", "block", "grid", "shared memory",
                     "multiprocessor", "register", "bank conflict", "divergence", "shuffle", "latency hiding",
                     "bytes in flight"):
            with self.subTest(word=word):
                self.assertIn(word, explained)


if __name__ == "__main__":
    unittest.main()
