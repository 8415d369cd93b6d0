"""Graders that cannot decide by themselves: people and judges."""

from typing import Any

import pytest

from tests.engine.graders.grading import grade, refused
from waza_engine.graders.registry import create


@pytest.mark.parametrize(
    ("type_name", "config", "status"),
    [
        ("human", {"instructions": "Look", "criteria": ["a"]}, "pending"),
        ("human", None, "pending"),
        ("human_calibration", {"calibrate_grader": "judge"}, "calibration_pending"),
    ],
)
def test_people_have_not_decided_yet(type_name: str, config: dict[str, Any] | None, status: str) -> None:
    verdict = grade(type_name, config, output="x" * 2000)
    assert (verdict.status, verdict.passed, verdict.details["status"]) == ("pending", False, status)
    assert verdict.feedback.startswith("Pending: ")
    assert len(verdict.details.get("output_preview", "")) <= 500


@pytest.mark.parametrize(
    ("type_name", "config"),
    [
        ("prompt", {"prompt": "Is it good?", "model": "m", "continue_session": True}),
        ("prompt", {"rubric": "Rate it from 1 to 5", "threshold": 0.5, "score_type": "raw"}),
        ("prompt", {"prompt": "Also this", "rubric": "helpfulness"}),
        ("llm", {"rubric": "Rate it"}),
        ("llm", None),
        ("llm_comparison", {"reference": "this"}),
    ],
)
def test_judges_never_guess(type_name: str, config: dict[str, Any] | None) -> None:
    with refused("it needs a model to judge", "`--judge-executor`"):
        grade(type_name, config)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({}, ["nothing to check", "`prompt`, `rubric` or `criteria`"]),
        ({"prompt": ""}, ["nothing to check"]),
        ({"rubric": "Rate it.", "threshold": 2}, ["`config.threshold` must be 1 or less"]),
        ({"prompt": "p", "mode": "both"}, ["`config.mode` is `both`"]),
    ],
)
def test_judges_that_cannot_be_asked(config: dict[str, Any], words: list[str]) -> None:
    with refused(*words):
        grade("prompt", config)


def test_a_comparison_without_a_reference_is_an_error() -> None:
    with refused("`config.reference` is missing"):
        grade("llm_comparison", {})


@pytest.mark.parametrize(
    ("config", "without_effect"),
    [
        ({"prompt": "p", "threshold": 0.5, "score_type": "raw"}, ["`threshold`", "`score_type`"]),
        ({"rubric": "Rate it.", "response_format": "json", "continue_session": True}, []),
        ({"rubric": "Rate it.", "threshold": 0.5, "continue_session": False, "prompt": ""}, []),
        ({"prompt": "p", "threshold": None}, []),
    ],
)
def test_what_belongs_to_a_rating_has_no_effect_on_a_verdict(
    config: dict[str, Any], without_effect: list[str]
) -> None:
    warnings = create({"type": "prompt", "name": "judge", "config": config}).warnings
    assert [warning.partition(" has no effect next to ")[0] for warning in warnings] == without_effect
