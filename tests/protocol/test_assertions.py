"""The measured expressions through the real server: flagged, and repaired."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.protocol.editor import applied, editing, edits_of, write_suite
from tests.server.analysis.assertion_expressions import CONTEXT, MEANINGS, MEASURED
from tests.server.analysis.interpreters import evaluate, interpreters
from waza_language_server.syntax.tree import parse

pytestmark = pytest.mark.check

REFUSED = {"SyntaxError", "IndentationError", "NameError"}
ABOUT_NAMES = {
    "assertion-syntax",
    "assertion-statement",
    "assertion-unknown-name",
    "assertion-vanishing-name",
}
HEAD = """\
name: expressions
skill: any
config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}
tasks: ["tasks/*.yaml"]
graders:
  - type: code
    name: expressions
    config:
      assertions:
"""
FIRST_LINE = HEAD.count("\n")
TASK = "id: one\nname: One\ninputs:\n  prompt: Say hello\n"


def suite_text(expressions: list[str]) -> str:
    """Return an eval file with one expression a line."""
    return HEAD + "".join(f"        - {json.dumps(text, ensure_ascii=False)}\n" for text in expressions)


def assertions_in(text: str) -> list[str]:
    """Return the expressions of the first grader of an eval file."""
    root = parse(text).root
    assertions = root.get("graders", 0, "config", "assertions") if root else None
    return [item.value for item in assertions.items] if assertions else []


@pytest.mark.skipif("3.11" not in interpreters(), reason="no Python 3.11 at hand")
async def test_exactly_the_expressions_that_python_3_11_refuses_are_flagged(tmp_path: Path) -> None:
    (outcomes,) = evaluate(interpreters()["3.11"], [MEASURED], CONTEXT)
    refused = [text for text, outcome in zip(MEASURED, outcomes, strict=True) if outcome.error in REFUSED]
    path = write_suite(tmp_path, suite_text(MEASURED), one=TASK)
    async with editing(tmp_path) as editor:
        problems = await editor.problems(editor.open(path))
    about_names = [
        problem
        for problem in problems
        if problem.code in ABOUT_NAMES
        or (problem.code == "assertion-javascript" and not problem.message.startswith("`."))
    ]
    flagged = sorted({problem.range.start.line - FIRST_LINE for problem in about_names})
    assert [MEASURED[line] for line in flagged] == refused


async def test_every_offered_fix_means_what_the_author_meant(tmp_path: Path) -> None:
    """The repaired assertions are as true, with few builtins, as the original with all of them."""
    repaired: list[tuple[str, list[str]]] = []
    async with editing(tmp_path) as editor:
        for number, expression in enumerate(MEASURED):
            text = suite_text([expression])
            uri = editor.open(write_suite(tmp_path / str(number), text, one=TASK))
            texts = [applied(text, edits_of(action, uri)) for action in await editor.actions(uri, FIRST_LINE)]
            repaired.extend((expression, assertions_in(fixed)) for fixed in texts)
    assert len(repaired) >= 15
    for python in interpreters().values():
        got = evaluate(python, [fixed for _, fixed in repaired], CONTEXT)
        meanings = [MEANINGS.get(original, [original]) for original, _ in repaired]
        wanted = evaluate(python, meanings, CONTEXT, full_builtins=True)
        for (original, fixed), outcome, meant in zip(repaired, got, wanted, strict=True):
            assert not [one.error for one in outcome if one.error in REFUSED], (original, fixed)
            assert all(one.truth for one in outcome) == all(one.truth for one in meant), (original, fixed)
