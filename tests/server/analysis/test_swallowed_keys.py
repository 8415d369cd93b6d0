"""Keys that a text has swallowed, switches and anchors without a value, signs of other languages, notes."""

from __future__ import annotations

import pytest

from tests.server.analysis.drawing import EVAL, TASK, graders, problems
from waza_language_server.analysis.problem import Problem
from waza_language_server.syntax.tried_edits import apply

JUDGE = "  - type: prompt\n    name: a\n    config:\n      prompt: |\n        Is it polite?\n"


def _only(text: str, code: str) -> Problem:
    [problem] = [
        each for each in problems(text, "eval" if text.startswith("name") else "task") if each.code == code
    ]
    return problem


def test_a_key_at_the_end_of_a_text_is_told_and_set() -> None:
    text = graders(f"{JUDGE}        model: gpt-4o\n")
    problem = _only(text, "yaml-indentation")
    assert problem.severity == "information"
    assert problem.message == (
        "This line is a part of the text of `prompt`, so `model` is not set; indent it by 6 spaces to set it."
    )
    assert apply(text, problem.fixes[0].edits) == graders(f"{JUDGE}      model: gpt-4o\n")


def test_a_switch_of_the_task_at_the_end_of_its_prompt_is_told() -> None:
    text = TASK.replace("Go", "|\n    Go there.\n    enabled: false")
    problem = _only(text, "yaml-indentation")
    assert problem.message.endswith("so `enabled` is not set; write it at the margin to set it.")
    assert "\nenabled: false\n" in apply(text, problem.fixes[0].edits)


@pytest.mark.parametrize(
    "last",
    [
        "model: the newest one",  # words, none of a model's name
        "colour: blue",  # no key of the grader
        "prompt: 1",  # there already
        "Set this for me:\n        continue_session: true",  # a text about such lines
        "name: x\n        continue_session: true",
        "The switch enabled: true",
    ],
)
def test_a_text_about_keys_is_left_alone(last: str) -> None:
    found = problems(graders(f"{JUDGE}        {last}\n"))
    assert not any(problem.code == "yaml-indentation" for problem in found)


def test_a_block_at_the_end_of_a_text_is_told_though_it_may_be_meant() -> None:
    text = TASK.replace("Go", "|\n    Go there.\n    graders:\n      - type: text\n        name: a")
    problem = _only(text, "yaml-indentation")
    assert problem.severity == "information"
    assert not problem.fixes[0].preferred
    assert "\ngraders:\n  - type: text\n    name: a\n" in apply(text, problem.fixes[0].edits)


def test_a_text_that_is_nothing_but_such_a_line_is_left_alone() -> None:
    text = TASK.replace("Go", "|\n    enabled: false")
    assert not any(problem.code == "yaml-indentation" for problem in problems(text))


def test_a_switch_without_a_value_is_told() -> None:
    text = EVAL.replace("  model: m\n", "  fail_fast:\n  model: m\n")
    problem = _only(text, "empty-value")
    assert problem.severity == "information"
    assert problem.message == "`fail_fast` has no value, as if it were not there; write `true` or `false`."
    assert [apply(text, fix.edits) for fix in problem.fixes] == [
        text.replace("fail_fast:", f"fail_fast: {each}") for each in ("true", "false")
    ]


@pytest.mark.parametrize(("key", "word"), [("judge_model", "gpt-4o"), ("parallel", "true")])
def test_an_anchor_without_a_value_is_told(key: str, word: str) -> None:
    text = EVAL.replace("  model: m\n", f"  model: m\n  {key}: &{word}\n")
    problem = _only(text, "unlikely-value")
    assert problem.message == f"`&{word}` names a value for YAML, and there is none; write `{word}`."
    assert apply(text, problem.fixes[0].edits) == text.replace("&", "")
    assert not any(each.code == "empty-value" for each in problems(text, "eval"))


def test_an_anchor_that_is_used_or_has_a_value_is_left_alone() -> None:
    used = EVAL.replace("  model: m\n", "  judge_model: &none\n  model: *none\n")
    valued = EVAL.replace("  model: m\n", "  model: &m m\n")
    for text in (used, valued):
        assert not any("names a value for YAML" in problem.message for problem in problems(text, "eval"))


@pytest.mark.parametrize(
    ("before", "after"),
    [("name: demo", "name: demo;"), ("skill: demo", "skill: demo,"), ("model: m", "model: m;")],
)
def test_a_sign_behind_a_name_is_told(before: str, after: str) -> None:
    text = EVAL.replace(before, after)
    problem = _only(text, "unlikely-value")
    word = "semicolon" if after[-1] == ";" else "comma"
    assert problem.message.startswith(f"The {word} is a part of `")
    assert apply(text, problem.fixes[0].edits) == EVAL


def test_a_semicolon_in_a_sentence_is_left_alone() -> None:
    text = EVAL.replace("name: demo", "name: demo of this; and\ndescription: for(;;) {};")
    assert not any(problem.code == "unlikely-value" for problem in problems(text, "eval"))


def test_a_note_among_graders_becomes_a_comment() -> None:
    text = graders(f"  - TODO\n{JUDGE}")
    problem = _only(text, "wrong-type")
    assert [fix.title for fix in problem.fixes] == ["Turn the item into a comment"]
    assert apply(text, problem.fixes[0].edits) == text.replace("- TODO", "# - TODO")
