#!/usr/bin/env python3
"""Puts C++20's constraints into words: constraints.py FOLDER

Breathe 4.34 passes over what Doxygen's XML says of them, and Sphinx 5.3 cannot parse all of them in a
signature. So they go into the description of the function, class or concept that they belong to.
"""

import pathlib
import sys
import xml.etree.ElementTree as xml


def text_of(element):
    return "".join(element.itertext()).strip()


def prepend(description, *parts):
    paragraph = xml.Element("para")
    paragraph.extend(parts)
    description.insert(0, paragraph)


def element(name, text, tail=None):
    made = xml.Element(name)
    made.text, made.tail = text, tail
    return made


def put_into_words(root):
    """Returns whether there was anything to put into words."""
    constrained = root.findall(".//requiresclause/..")
    for each in constrained:
        clause = text_of(each.find("requiresclause"))
        prepend(each.find("detaileddescription"), element("emphasis", "Requires", " "),
                element("computeroutput", clause))
    concepts = root.findall("compounddef[@kind='concept']")
    for each in concepts:
        name = text_of(each.find("compoundname"))
        definition = text_of(each.find("initializer")).replace(name, name.rpartition("::")[2]).replace("=  ", "= ")
        prepend(each.find("detaileddescription"), element("verbatim", definition))
    return bool(constrained or concepts)


if __name__ == "__main__":
    for path in sorted(pathlib.Path(sys.argv[1]).glob("*.xml")):
        tree = xml.parse(path)
        if put_into_words(tree.getroot()):
            tree.write(path, encoding="utf-8", xml_declaration=True)
