"""Items that begin with a text whose key is not written: the key that they need is offered."""

from __future__ import annotations

import pytest

from tests.server.analysis.drawing import EVAL, graders, problems
from waza_language_server.project.document import DocumentKind
from waza_language_server.syntax.tried_edits import apply

TRIGGERS = "skill: s\nshould_trigger_prompts:\n  - prompt: a\n  - {}\n    reason: y\n  - prompt: c\n"


@pytest.mark.parametrize("written", ["Do it", '"Do it"', "'Do it, please'", "Go"])
def test_the_prompt_of_an_item(written: str) -> None:
    text = TRIGGERS.format(written)
    [problem] = problems(text, "trigger_tests")
    assert text[problem.span.start : problem.span.end] == written
    [fix] = problem.fixes
    assert apply(text, fix.edits) == TRIGGERS.format(f"prompt: {written}")


def test_a_text_with_a_colon_is_no_key() -> None:
    text = TRIGGERS.format("Do it: now")
    [problem] = problems(text, "trigger_tests")
    assert problem.code == "unknown-key"
    [fix] = problem.fixes
    assert apply(text, fix.edits) == TRIGGERS.format("prompt: 'Do it: now'")


HOOK = EVAL + "hooks:\n  before_run:\n    - {}\n      error_on_fail: true\n"
GRADER = graders("  - {}\n    name: a\n    config: {{contains: [x]}}\n")


@pytest.mark.parametrize(
    ("text", "kind", "written", "key"),
    [(HOOK, "eval", "bash run.sh", "command"), (GRADER, "task", "text", "type")],
)
def test_what_other_items_need(text: str, kind: DocumentKind, written: str, key: str) -> None:
    wrong = text.format(written)
    [problem] = problems(wrong, kind)
    assert [apply(wrong, fix.edits) for fix in problem.fixes] == [text.format(f"{key}: {written}")]


def test_a_key_that_is_begun_is_no_text() -> None:
    [problem] = problems(GRADER.format("ty"))
    assert problem.fixes == ()
