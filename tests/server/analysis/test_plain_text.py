"""Text over several lines with a colon in it: one problem that names the cause, and a block instead."""

from __future__ import annotations

import pytest
import yaml

from tests.server.analysis.drawing import fixed, problems

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
