"""A sign of print where keys or a list are due is named, with the plain one as the fix."""

from __future__ import annotations

import pytest

from tests.server.analysis.drawing import TASK, drawn, fixed, problems
from waza_language_server.syntax.tried_edits import apply


def test_bullets_where_a_list_is_due() -> None:
    text = TASK + "tags:\n  • a\n  • b\n"
    assert (
        drawn(text, fixes=True)
        == """
⋯
  • a
  ^^^ error wrong-type: `tags` must be a list, not text: a list item starts with `-`, not with `•`.
    = fix: Write `-` for `•`
"""
    )
    assert fixed(text, "wrong-type") == TASK + "tags:\n  - a\n  - b\n"


@pytest.mark.parametrize(
    ("item", "meant"), [("•b", "- b"), ("•", "-"), ("•\u00a0b", "- b"), ("•  b", "-  b")]
)
def test_a_bullet_takes_no_more_than_one_blank_with_it(item: str, meant: str) -> None:
    text = TASK + f"tags:\n  • a\n  {item}\n  • c\n"
    assert fixed(text, "wrong-type") == TASK + f"tags:\n  - a\n  {meant}\n  - c\n"


def test_a_bullet_before_a_mapping() -> None:
    text = TASK + "expected:\n  outcomes:\n    – type: task_completed\n"
    assert fixed(text, "wrong-type") == text.replace("–", "-")


def test_another_sign_than_a_colon_behind_every_key() -> None:
    text = TASK.replace(": ", "：").replace(":\n", "：\n")
    assert fixed(text, "wrong-type") == TASK


def test_another_blank_behind_the_colon_of_a_list_item() -> None:
    text = TASK + "expected:\n  outcomes:\n    - type:\u00a0task_completed\n"
    assert fixed(text, "wrong-type") == text.replace("\u00a0", " ")


def test_slashes_for_a_comment() -> None:
    text = TASK + "tags: // note\n  - a\n"
    assert fixed(text, "wrong-type") == TASK + "tags: # note\n  - a\n"


@pytest.mark.parametrize("count", [1, 2])
def test_other_blanks_before_keys(count: int) -> None:
    text = "id: t\nname: T\ninputs:\n" + "\u00a0 prompt: a\n" + "\u00a0 context: {a: b}\n" * (count - 1)
    indented = [problem for problem in problems(text) if problem.code == "yaml-indentation"]
    assert len(indented) == count
    assert fixed(text, "yaml-indentation") == text.replace("\u00a0", " ", 1)


def test_other_blanks_before_an_item() -> None:
    text = TASK + "tags:\n  - a\n\u00a0 - b\nhint: c\n"
    assert fixed(text, "yaml-indentation") == text.replace("\u00a0", " ")


def test_signs_of_print_in_prose_are_prose() -> None:
    text = TASK.replace("Go", "|\n    – one： two\n    • three = four") + "description: – a： b // c\n"
    assert problems(text) == ()


@pytest.mark.parametrize("sign", ["--", "+"])
@pytest.mark.parametrize("rest", ["", "\n    - b", "\n    {sign} b"])
def test_a_list_that_begins_with_another_sign_keeps_no_part_of_it(sign: str, rest: str) -> None:
    rest = rest.format(sign=sign)
    text = f"{TASK}expected:\n  output_contains:\n    {sign} a{rest}\n"
    [problem] = problems(text)
    assert problem.message.endswith(f"a list item starts with `-`, not with `{sign}`.")
    [fix] = problem.fixes
    assert apply(text, fix.edits) == text.replace(f"{sign} ", "- ")
    assert not fix.preferred


def test_a_text_in_backquotes_has_quotes_instead_unless_they_are_meant() -> None:
    text = TASK.replace("prompt: Go", "prompt: `Go on`")
    [problem] = problems(text)
    assert [fix.title for fix in problem.fixes] == [
        "Write quotes for the backquotes",
        "Put the value in quotes",
    ]
    assert apply(text, problem.fixes[0].edits) == TASK.replace("prompt: Go", "prompt: 'Go on'")
    assert not [fix for fix in problem.fixes if fix.preferred]
