"""Text over several lines with a colon in it: one problem that names the cause, and a block instead."""

from __future__ import annotations

import pytest
import yaml

from tests.server.analysis.drawing import EVAL, fixed, problems
from waza_language_server.syntax.tried_edits import apply

HEAD = "id: t\nname: T\ninputs:\n  prompt: "


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("Do this: first\n    then that: go\n    and end\n", "Do this: first then that: go and end"),
        ("Do this: first\n    and end\n", "Do this: first and end"),
        ("Do it\n    and then that: go\n    and end\n", "Do it and then that: go and end"),
        (
            "Do this: first\n\n    Second part\n      further in\ntags: [a]\n",
            "Do this: first\nSecond part further in",
        ),
    ],
)
def test_one_problem_names_the_cause_and_the_block_means_the_same(written: str, value: str) -> None:
    text = HEAD + written
    (problem,) = problems(text)
    assert problem.code == "yaml-syntax"
    assert "has `: ` in it" in problem.message
    assert text[problem.span.start : problem.span.end] == written.splitlines()[0]
    repaired = fixed(text, "yaml-syntax")
    assert problems(repaired) == ()
    assert yaml.safe_load(repaired)["inputs"]["prompt"] == value


def test_text_in_a_grader_becomes_a_block_too() -> None:
    text = "id: t\nname: T\ninputs:\n  prompt: Go\ngraders:\n  - type: prompt\n    name: g\n    config:\n"
    text += "      prompt: Judge this: well\n        or not: badly\n      model: m\n"
    repaired = fixed(text, "yaml-syntax")
    assert yaml.safe_load(repaired)["graders"][0]["config"] == {
        "prompt": "Judge this: well or not: badly",
        "model": "m",
    }


def test_a_key_too_far_to_the_right_stays_a_key() -> None:
    text = HEAD + "Do it\n    files:\n      - path: a\n"
    assert all("has `: ` in it" not in problem.message for problem in problems(text))


def test_a_line_that_stands_twice_is_deleted_once() -> None:
    text = "id: t\nname: T\nname: T\ninputs:\n  prompt: Go\n"
    assert fixed(text, "duplicate-key") == "id: t\nname: T\ninputs:\n  prompt: Go\n"


@pytest.mark.parametrize("second", ["name: U\n", "name: T\n  on\n", "name:\n"])
def test_a_key_with_another_value_is_left_to_the_author(second: str) -> None:
    (problem, *_) = problems(f"id: t\nname: T\n{second}inputs:\n  prompt: Go\n")
    found = [(fix.title, fix.preferred) for fix in problem.fixes if fix.edits]
    assert found == [("Keep the first `name`", False), ("Keep this one", False)]


def test_a_sign_and_a_percentage_are_read_as_the_number_that_is_meant() -> None:
    assert "timeout_seconds: 60" in fixed(EVAL.replace(": 60", ": -60"), "out-of-range", "eval")
    text = EVAL + "metrics:\n- {name: a, weight: 1, threshold: 80}\n"
    assert "threshold: 0.8" in fixed(text, "out-of-range", "eval")


@pytest.mark.parametrize(
    ("key", "written", "meant"),
    [
        ("timeout_seconds", "-1234567", "1234567"),
        ("threshold", "12.3456789", "0.123456789"),
        ("threshold", "1e1", "0.1"),
        ("threshold", "0x40", "0.64"),
    ],
)
def test_of_a_number_that_is_meant_otherwise_every_digit_stays(key: str, written: str, meant: str) -> None:
    text = EVAL + "metrics:\n- {name: a, weight: 1, threshold: 1}\n"
    text = text.replace(f"{key}: {60 if key == 'timeout_seconds' else 1}", f"{key}: {written}")
    assert f"{key}: {meant}\n" in fixed(text, "out-of-range", "eval").replace("}", "")


def test_a_dash_without_a_blank_before_a_key_is_the_cause() -> None:
    text = HEAD + "Go\ngraders:\n  -name: g\n    type: text\n    config: {contains: [a]}\n"
    assert fixed(text, "yaml-syntax") == text.replace("-name", "- name")


@pytest.mark.parametrize("by", [1, 2, 4])
def test_keys_with_a_text_below_them_are_no_text(by: int) -> None:
    right = EVAL.replace(
        "tasks: [",
        "graders:\n  - type: prompt\n    name: tone\n    config:\n      model: gpt-4o\n      prompt: |\n"
        "        Look at this.\n        If it names: a date, pass.\ntasks: [",
    )
    for key in ("    config:", "      prompt: |"):
        wrong = right.replace(key, " " * by + key, 1)
        found = problems(wrong, "eval")
        assert found
        assert not any("`: ` in it" in problem.message for problem in found)
        assert right in {apply(wrong, fix.edits) for problem in found for fix in problem.fixes}


def test_keys_too_far_to_the_right_do_not_become_text_unasked() -> None:
    [problem] = problems(f"{HEAD}Fix: the bug\n    files:\n      - path: a\n")
    assert [fix.preferred for fix in problem.fixes] == [False]


def test_a_word_with_a_capital_before_a_colon_may_begin_a_sentence() -> None:
    text = f"{HEAD}Look at it.\n    Answer: yes or no\n"
    [problem] = problems(text)
    assert "`: ` in it" in problem.message
    assert [fix.preferred for fix in problem.fixes] == [False]
    after = text.replace("prompt: Look", "prompt: >-\n    Look")
    assert apply(text, problem.fixes[0].edits) == after
    assert not any(
        "`: ` in it" in each.message
        for each in problems(f"{HEAD}Go\n  environment:\n    A: b\n      Cd: e\n")
    )
