"""Wrong signs in brackets: each is named where it stands, and its fix gives the list that was meant."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from waza_language_server.syntax.tree import parse
from waza_language_server.syntax.tried_edits import apply


def _repaired(text: str) -> tuple[str, list[Any]]:
    """Return the marked part of a text with one fault, and what each of its fixes makes of the value."""
    (fault,) = parse(text).errors
    values: list[Any] = []
    for fix in fault.fixes:
        after = apply(text, fix.edits)
        assert parse(after).errors == ()
        values.append(yaml.safe_load(after)["a"])
    return text[fault.span.start : fault.span.end], values


@pytest.mark.parametrize(
    ("written", "marked", "meant"),
    [
        ('["x";"y"]', ";", ["x", "y"]),
        ("['x' | 'y' | 'z']", "|", ["x", "y", "z"]),
        ("[x,, y]", ",", ["x", "y"]),
        ("[x, y)", ")", ["x", "y"]),
        ("['x', 'y'}", "}", ["x", "y"]),
        ("{k: [x, y}", "}", {"k": ["x", "y"]}),
        ('["x", "y]', '"y', ["x", "y"]),
        ("['x, 'y']", "'x", ["x", "y"]),
        ("{k: some words m: [x]}", "m", {"k": "some words", "m": ["x"]}),
    ],
)
def test_the_sign_that_is_meant(written: str, marked: str, meant: Any) -> None:
    assert _repaired(f"a: {written}\n") == (marked, [meant])


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("'Isn't it?'", "Isn't it?"),
        ("'the users' log'", "the users' log"),
        ("'can''t and don't'", "can't and don't"),
        ("'one' or 'two'", "'one' or 'two'"),
        ("'It''s one' of two", "'It's one' of two"),
        ('"say ("hi")"', 'say ("hi")'),
        ('"""some words"""', "some words"),
    ],
)
def test_a_text_whose_quotes_end_too_early_is_kept_as_it_was_meant(written: str, meant: str) -> None:
    assert _repaired(f"a: {written}\n")[1] == [meant]


def test_texts_with_commas_between_them_may_be_a_list() -> None:
    assert _repaired('a: "x", "y" # both\n')[1] == [["x", "y"], '"x", "y"']


def test_a_comma_behind_a_value_is_found_in_front_of_a_comment() -> None:
    assert _repaired('a: "x",  # why\n') == (",", ["x"])


@pytest.mark.parametrize(
    ("written", "marked", "meant"),
    [
        ("[*.yaml]", "*.yaml", ["*.yaml"]),
        ("[x, **/*.md, *-a.csv ]", "**/*.md", ["x", "**/*.md", "*-a.csv"]),
        ("[ * ]", "*", ["*"]),
        ("{k: *.md, m: x}", "*.md", {"k": "*.md", "m": "x"}),
        ("[b-*.md, # c\n  *a.md]", "*a.md", ["b-*.md", "*a.md"]),
    ],
)
def test_a_pattern_that_is_taken_for_an_alias_is_put_in_quotes(written: str, marked: str, meant: Any) -> None:
    assert _repaired(f"a: {written}\n") == (marked, [meant])


def test_two_aliases_without_a_comma_are_no_text() -> None:
    faults = parse("x: &x 1\na: [*x *x]\n").errors
    assert faults
    assert not [fix for fault in faults for fix in fault.fixes if "quotes" in fix.title]
