"""The rules of axe-core for accessible pages, where `npm install --prefix tests/docs` has brought it."""

import pathlib

SCRIPT = pathlib.Path(__file__).parent / "node_modules/axe-core/axe.min.js"
MISSING = "there is no axe-core: npm install --prefix tests/docs"


def violations(browser, frame=0):
    """What a page does against the rules, in a line for each."""
    browser.value_of(SCRIPT.read_text(), frame)
    return browser.value_of("""axe.run(document, {iframes: false, resultTypes: ['violations']}).then(({violations}) => violations.map(
        ({id, nodes}) => `${id}, ${nodes.length} times: ${nodes[0].html.slice(0, 160)}`))""", frame)
