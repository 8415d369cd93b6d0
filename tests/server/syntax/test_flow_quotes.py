"""Items of a list in brackets that need quotes: each is named, and one fix makes the whole list readable."""

from __future__ import annotations

import pytest

from waza_language_server.syntax.tree import parse
from waza_language_server.syntax.tried_edits import apply

QUOTE = "A quote in this text ends it; double the quote, or put other ones around the text."
BRACKET = "A bracket in this text begins a list or a mapping; put the text in quotes."


@pytest.mark.parametrize(
    ("written", "message", "values"),
    [
        ("['it's', b]", QUOTE, ["it's", "b"]),
        ("['don't', 'can''t', 'won't']", QUOTE, ["don't", "can't", "won't"]),
        ('["say "hello" now"]', QUOTE, ['say "hello" now']),
        ("['it's',\n  b]", QUOTE, ["it's", "b"]),
        ("[^a, [0-9]+, b]", BRACKET, ["^a", "[0-9]+", "b"]),
        (r"[^a[0-9], '[0-9]+', \d{2,3}x]", BRACKET, ["^a[0-9]", "[0-9]+", r"\d{2,3}x"]),
    ],
)
def test_the_fix_keeps_every_item(written: str, message: str, values: list[str]) -> None:
    tree = parse(f"tags: {written}\n")
    (fault,) = tree.errors
    assert fault.message == message
    (fix,) = fault.fixes
    assert not fix.preferred
    after = parse(apply(tree.text, fix.edits))
    assert after.errors == ()
    assert after.root is not None
    assert after.root.to_python() == {"tags": values}


def test_a_list_within_other_brackets() -> None:
    tree = parse("config: {contains: ['it's', \"b\"], tags: [x]}\n")
    after = parse(apply(tree.text, tree.errors[0].fixes[0].edits))
    assert after.root is not None
    assert after.root.to_python() == {"config": {"contains": ["it's", "b"], "tags": ["x"]}}


@pytest.mark.parametrize(
    "written", ["[a: b c: d]", "[{a: b c: d}]", "[a, [b c: d e: f]]", "['a\\n'b', c: d: e]"]
)
def test_what_may_be_keys_is_not_made_text(written: str) -> None:
    (fault,) = parse(f"tags: {written}\n").errors
    assert fault.message not in {QUOTE, BRACKET}


def test_a_missing_comma_is_no_quote_too_many() -> None:
    (fault,) = parse('tags: ["a" "b"]\n').errors
    assert fault.message == "A comma is missing in front of this."
