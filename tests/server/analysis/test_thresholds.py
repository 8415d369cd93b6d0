"""Thresholds that no run can reach are marked, those that every run reaches are weak."""

import pytest

from tests.server.analysis.drawing import graders, problems

TRIGGER = "  - {{type: trigger, name: t, config: {{skill_path: s, mode: {}, threshold: {}}}}}\n"
METRIC = "metrics:\n  - {name: behavior_quality, weight: 1, threshold: 0.8}\n"
TASK = "id: t\nname: T\ninputs: {prompt: Go}\n"


@pytest.mark.parametrize(
    ("mode", "threshold", "codes"),
    [
        ("negative", "0", ["threshold-out-of-reach"]),
        ("negative", "0.0", ["threshold-out-of-reach"]),
        ("positive", "0", ["weak-grader"]),
        ("negative", "0.1", []),
        ("positive", "1", []),
        ("negative", "false", ["wrong-type"]),
    ],
)
def test_a_relevance_is_never_below_nothing(mode: str, threshold: str, codes: list[str]) -> None:
    assert [problem.code for problem in problems(graders(TRIGGER.format(mode, threshold)))] == codes
