"""Texts in double quotes with backslashes that escape nothing, and what is offered for them."""

import pytest
import yaml

from tests.server.analysis.drawing import TASK, problems
from waza_language_server.analysis.problem import Problem
from waza_language_server.syntax.tried_edits import apply


def _task(lists: str) -> str:
    return f"{TASK}graders:\n  - type: text\n    name: x\n    config:\n      contains: {lists}\n"


def _problem(text: str) -> Problem:
    [problem] = problems(text)
    assert problem.code == "yaml-escape"
    return problem


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r'["a \d "x" b"]', r"""['a \d "x" b']"""),
        (r'["\w+\"x", "\d", "c"]', r"""['\w+"x', '\d', "c"]"""),
        (r'["\\b", "\d\\"]', r"""["\\b", '\d\']"""),
        ('\n        - "a\\d" # see "x"', "\n        - 'a\\d' # see \"x\""),
        ('\n        - "a \\d "x" b"', "\n        - 'a \\d \"x\" b'"),
        (r'["C:\Users\new\temp\q", "\s"]', r"['C:\Users\new\temp\q', '\s']"),
    ],
)
def test_all_texts_of_a_list_are_put_in_single_quotes(written: str, meant: str) -> None:
    problem = _problem(_task(written))
    [fix] = [fix for fix in problem.fixes if fix.preferred]
    assert apply(_task(written), fix.edits) == _task(meant)
    assert not problems(_task(meant))


@pytest.mark.parametrize(
    "written",
    [
        r'["a \d "x", "y" b", c]',  # Which quotes end a text is not clear.
        r'["b\n\w"]',  # A line break may be meant.
        r'["\\server\share"]',  # Two backslashes may be meant.
        '\n        - "a\\d\n          b"',
    ],
)
def test_nothing_is_sure_where_another_meaning_is_as_likely(written: str) -> None:
    assert not [fix for fix in _problem(_task(written)).fixes if fix.preferred]


def test_every_backslash_of_a_windows_path_is_doubled() -> None:
    text = _task(r'["C:\Users\new\temp\"]'.replace('\\"]', '"]'))
    fix = next(fix for fix in _problem(text).fixes if fix.title == "Double the backslashes")
    loaded = yaml.safe_load(apply(text, fix.edits))
    assert loaded["graders"][0]["config"]["contains"] == [r"C:\Users\new\temp"]


def test_backslashes_are_not_doubled_where_a_quote_still_ends_the_text() -> None:
    assert [fix.title for fix in _problem(_task(r'["a \d "x" b"]')).fixes] == [
        "Use single quotes, which keep backslashes as they are"
    ]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ('""error" not in output"', "'\"error\" not in output'"),
        ('"len(output) > 0 and "x" in output"', "'len(output) > 0 and \"x\" in output'"),
        ('"x" in output or "y" in output', '\'"x" in output or "y" in output\''),
    ],
)
def test_the_quotes_around_a_text_are_told_from_those_inside(written: str, meant: str) -> None:
    text, right = (
        f"{TASK}graders:\n  - type: code\n    name: x\n    config:\n      assertions:\n        - {each}\n"
        for each in (written, meant)
    )
    [problem] = problems(text)
    [fix] = problem.fixes
    assert not fix.preferred
    assert apply(text, fix.edits) == right
    assert not problems(right)
