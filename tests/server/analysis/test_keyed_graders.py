"""Graders below their name or their type: what the key is gets said, and the fix writes it beside them."""

from __future__ import annotations

import pytest

from tests.server.analysis.drawing import TASK, fixed, graders, problems
from waza_language_server.syntax.tried_edits import apply


@pytest.mark.parametrize(
    ("written", "right"),
    [
        (
            "  - my_check: {type: text, config: {contains: [a]}}\n",
            "  - {name: my_check, type: text, config: {contains: [a]}}\n",
        ),
        (
            "  - my_check: # why\n      type: text\n      config: {contains: [a]}\n",
            "  -   name: my_check # why\n      type: text\n      config: {contains: [a]}\n",
        ),
        ("  - text: {contains: [a]}\n", "  - {type: text, config: {contains: [a]}}\n"),
        (
            "  - text:\n      contains: [a]\n      contains_cs: [B]\n",
            "  - type: text\n    config:\n      contains: [a]\n      contains_cs: [B]\n",
        ),
        (
            "  - text:\n      name: b\n      config: {contains: [a]}\n",
            "  -   type: text\n      name: b\n      config: {contains: [a]}\n",
        ),
        ("  [{text: {contains: [a]}}]\n", "  [{type: text, config: {contains: [a]}}]\n"),
        (
            "  [{b: {type: text, config: {contains: [a]}}}]\n",
            "  [{name: b, type: text, config: {contains: [a]}}]\n",
        ),
    ],
)
def test_the_key_of_a_grader_becomes_its_name_or_type(written: str, right: str) -> None:
    text = graders(written)
    (problem,) = problems(text)
    assert problem.code == "missing-grader-type"
    assert not any(fix.preferred for fix in problem.fixes)
    after = fixed(text, "missing-grader-type")
    assert after == graders(right)
    assert {each.code for each in problems(after)} <= {"recommended-key"}


def test_the_message_says_what_the_key_is() -> None:
    (problem,) = problems(graders("  - text: {contains: [a]}\n"))
    assert problem.message == (
        "`text` is the type of this grader; write `type: text`, with its options below `config`."
    )
    (problem,) = problems(graders("  - b: {type: text, config: {contains: [a]}}\n"))
    assert problem.message == "`b` is the name of this grader; write `name: b` beside the keys below it."


@pytest.mark.parametrize("written", ["text: {patterns: [a]}", "b: {contains: [a]}", "text: {}", "text: [a]"])
def test_another_key_alone_is_no_name_and_no_type(written: str) -> None:
    messages = [problem.message for problem in problems(graders(f"  - {written}\n"))]
    assert not any("of this grader; write" in message for message in messages)


@pytest.mark.parametrize(
    ("written", "right"),
    [
        ("graders: {text: {contains: [a]}}\n", "graders: [{type: text, config: {contains: [a]}}]\n"),
        (
            "graders:\n  text: {contains: [a]}\n  b: {type: text, config: {contains: [b]}}\n",
            "graders:\n  - {type: text, config: {contains: [a]}}\n"
            "  - {name: b, type: text, config: {contains: [b]}}\n",
        ),
    ],
)
def test_a_mapping_of_graders_by_type_becomes_a_list(written: str, right: str) -> None:
    assert fixed(TASK + written, "wrong-type") == TASK + right


def test_a_type_above_a_block_is_not_made_a_name() -> None:
    text = TASK + "graders:\n  text:\n    contains: [a]\n"
    (problem,) = problems(text)
    assert problem.code == "wrong-type"
    assert "name: text" not in apply(text, problem.fixes[0].edits)


def test_a_name_with_nothing_behind_it() -> None:
    right = graders("  - name: my_check\n    type: text\n    config: {contains: [a]}\n")
    text = right.replace("name: my_check", "my_check:")
    (problem,) = problems(text)
    assert problem.message == "This grader has no key `my_check`; did you mean `name: my_check`?"
    assert fixed(text, "unknown-key") == right


def test_a_type_with_nothing_behind_it() -> None:
    right = graders("  - type: text\n    name: a\n    config: {contains: [a]}\n")
    text = right.replace("type: text", "text:")
    (problem,) = problems(text)
    assert problem.message == "`text` is the type of this grader; write `type: text`."
    assert fixed(text, "missing-grader-type") == right


@pytest.mark.parametrize(
    "entry",
    [
        "  - my_check:\n    name: x\n    type: text\n    config: {contains: [a]}\n",
        "  - type: text\n    my_check:\n    config: {contains: [a]}\n",
        "  - weihgt:\n    type: text\n    name: x\n    config: {contains: [a]}\n",
    ],
)
def test_another_key_with_nothing_behind_it_is_no_name(entry: str) -> None:
    assert not any("name: " in fix.title for each in problems(graders(entry)) for fix in each.fixes)


@pytest.mark.parametrize(
    ("written", "right"),
    [
        (
            "  text: # why\n    # below\n    name: b\n    config:\n      contains: [a]\n",
            "  - type: text # why\n    # below\n    name: b\n    config:\n      contains: [a]\n",
        ),
        (
            "  text:\n    contains: [a]\n\n    not_contains:\n    - b\n"
            "  code:\n    assertions: [len(output) > 1]\n",
            "  - type: text\n    config:\n      contains: [a]\n\n      not_contains:\n      - b\n"
            "  - type: code\n    config:\n      assertions: [len(output) > 1]\n",
        ),
        ("  text:\n      contains: [a]\n", "  - type: text\n    config:\n      contains: [a]\n"),
    ],
)
def test_a_mapping_by_types_over_several_lines_becomes_a_list(written: str, right: str) -> None:
    [problem] = problems(graders(written))
    [fix] = problem.fixes
    assert not fix.preferred
    assert apply(graders(written), fix.edits) == graders(right)
    assert {each.code for each in problems(graders(right))} <= {"recommended-key"}
