"""Thresholds that no run can reach are marked, those that every run reaches are weak."""

from pathlib import Path

import pytest

from tests.server.analysis.drawing import EVAL, graders, problems, problems_in
from tests.server.project.files import put

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


def found(folder: Path, evaluation: str, task: str = TASK) -> list[str]:
    put(folder, "tasks/one.yaml", task)
    return [
        evaluation[problem.span.start : problem.span.end]
        for problem in problems_in(folder, "eval.yaml", evaluation, "eval")
        if problem.code == "threshold-out-of-reach"
    ]


def test_where_nothing_is_graded_no_score_is_reached(tmp_path: Path) -> None:
    assert found(tmp_path, EVAL + METRIC) == ["0.8"]


@pytest.mark.parametrize(
    ("evaluation", "task"),
    [
        (EVAL + METRIC + "graders: [{type: text, name: a, config: {contains: [a]}}]\n", TASK),
        (EVAL + METRIC, TASK + "expected: {output_contains: [a]}\n"),
        (EVAL + METRIC, TASK + "graders: [{type: text, name: a, config: {contains: [a]}}]\n"),
        (EVAL + METRIC, TASK + "name: 'open\n"),
        (EVAL + METRIC.replace("0.8", "0"), TASK),
        (EVAL + METRIC.replace("behavior_quality", "task_completion"), TASK),
        (EVAL.replace("tasks/*", "none/*") + METRIC, TASK),
        (EVAL.replace("model: m", "model: m\n  skill_directories: [.]") + METRIC, TASK),
    ],
)
def test_what_can_be_reached_is_not_marked(tmp_path: Path, evaluation: str, task: str) -> None:
    assert found(tmp_path, evaluation, task) == []
