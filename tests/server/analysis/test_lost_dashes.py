"""Lists whose items lack their dashes: one problem, and a fix that gives every item its own."""

from __future__ import annotations

import pytest

from tests.server.analysis.drawing import EVAL, graders, problems
from waza_language_server.syntax.tried_edits import apply

FIRST = "type: text\n    name: a\n    config: {contains: [a]}\n"
SECOND = "type: text\n    name: b\n    config: {contains: [b]}\n"


def _option(text: str) -> str:
    return graders(f"  - type: text\n    name: x\n    config:\n      contains:\n{text}")


def test_graders_without_any_dash_become_items() -> None:
    text = graders(f"    {FIRST}    {SECOND}")
    found = problems(text)
    [fix] = [fix for problem in found for fix in problem.fixes if fix.preferred]
    assert fix.title == "Insert the dashes"
    after = apply(text, fix.edits)
    assert after == graders(f"  - {FIRST}  - {SECOND}")
    assert not problems(after)


def test_a_key_that_stands_twice_elsewhere_is_no_item() -> None:
    found = problems(EVAL.replace("  executor: mock\n", "  executor: mock\n  trials_per_task: 1\n"), "eval")
    assert [problem.code for problem in found] == ["duplicate-key"]
    assert [fix.title for fix in found[0].fixes] == ["Delete the repeated line"]


@pytest.mark.parametrize(
    ("rows", "meant"),
    [
        ("      one\n      two words\n", "      - one\n      - two words\n"),
        ('        "one"\n        "two words"\n', '        - "one"\n        - "two words"\n'),
        ("        one\n        two words\n", "        - one\n        - two words\n"),
        ("        one\n        [two] words\n", "        - one\n        - '[two] words'\n"),
    ],
)
def test_texts_without_dashes_become_items(rows: str, meant: str) -> None:
    [problem] = problems(_option(rows))
    [fix] = problem.fixes
    assert not fix.preferred
    assert apply(_option(rows), fix.edits) == _option(meant)
    assert not problems(_option(meant))


def test_lines_of_a_text_are_no_items() -> None:
    text = "id: t\nname: T\ndescription:\n  one\n  two\ninputs:\n  prompt: Go\n"
    assert not problems(text)
