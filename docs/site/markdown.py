"""The little of Markdown that the site and its tests look at: code, comments, links."""

import re

# Code between fences; one that is never closed goes on to the end.
FENCED = re.compile(r"^[ \t>]*(?P<fence>(?P<mark>[`~])(?P=mark){2,})(?!(?P=mark)).*?"
                    r"(?:^[ \t>]*(?P=fence)(?P=mark)*[ \t>]*$|\Z)", re.MULTILINE | re.DOTALL)
CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)((?:[^\n]|\n(?!\s*\n))+?)(?<!`)\1(?!`)")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
LINK = re.compile(r"\]\((<[^>\n]*>|(?:[^()\s]|\([^()\s]*\))+)(?=[\s)])"
                  r"|^ {0,3}\[[^\]\n]+\]:\s+(\S+)"
                  r"|<(?:a|img)\b[^>]*?\b(?:href|src)=[\"']([^\"']*)[\"']", re.MULTILINE)


def blank(text):
    """As many characters on as many lines, none of which means anything."""
    return re.sub(r"[^\n]", " ", text)


def without_fences(text):
    """The text, blank where it is a fenced block of code."""
    return FENCED.sub(lambda code: blank(code[0]), text)


def prose(text):
    """The text, blank where it is code; every character stays where it was."""
    return CODE_SPAN.sub(lambda span: blank(span[0]), without_fences(text))


def without_comments(text):
    """The text without its HTML comments. One that has a line to itself leaves an empty line: it
    parted what is above from what is below."""
    kept, end = [], 0
    for comment in COMMENT.finditer(prose(text)):
        kept.append(text[end:comment.start()])
        kept.append("\n" * comment[0].count("\n"))
        end = comment.end()
    return re.sub(r"^[ \t]+$", "", "".join(kept) + text[end:], flags=re.MULTILINE)


def links(text):
    """The targets of links and images, each with where it begins and ends."""
    for link in LINK.finditer(COMMENT.sub(lambda comment: blank(comment[0]), prose(text))):
        group = link.lastindex
        target, start, end = link[group], link.start(group), link.end(group)
        if target.startswith("<"):
            target, start, end = target[1:-1], start + 1, end - 1
        yield target, start, end
