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

    def test_words_lead_to_the_glossary(self):
        for page in [ROOT / "docs/introduction.md", *STAGES]:
            with self.subTest(page=page.name):
                self.assertTrue("glossary.md#" in page.read_text(encoding="utf-8"), "no link")

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
