"""A running server, a fresh one and the engine agree after any runs, and nothing turns green unproved."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.server.verdicts.sequences import TASKS, Run, carry_out, sequences

PASSES = {"a": "passed", "b": "passed"}
B = frozenset("b")
FAILS = {"a": "passed", "b": "failed"}


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)
@given(sequences())
def test_living_fresh_and_recorded_verdicts_agree(runs: list[Run]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        carry_out(runs, Path(directory) / "suite")


def a_run(kind: str, says: object, **more: object) -> Run:
    known: dict[str, object] = {
        "tasks": frozenset(TASKS[:1]),
        "graders": frozenset("a"),
        "reached": 1,
        **more,
    }
    return Run(kind, dict.fromkeys(TASKS, says), **known)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "runs",
    [
        pytest.param([a_run("whole", FAILS), a_run("graders", PASSES)], id="a passing grader"),
        pytest.param(
            [a_run("whole", PASSES), a_run("graders", FAILS, graders=frozenset("b"))], id="a failing one"
        ),
        pytest.param(
            [a_run("whole", FAILS), a_run("graders", None), a_run("graders", PASSES)], id="a broken one"
        ),
        pytest.param([a_run("graders", PASSES)], id="a grader alone"),
        pytest.param([a_run("whole", FAILS), a_run("limited", PASSES)], id="a limit"),
        pytest.param([a_run("limited", PASSES), a_run("tasks", PASSES)], id="a part after a limit"),
        pytest.param([a_run("whole", FAILS), a_run("interrupted", PASSES)], id="an end"),
        pytest.param([a_run("whole", FAILS), a_run("answers", PASSES)], id="answers alone"),
        pytest.param([a_run("whole", FAILS), a_run("regrade", PASSES)], id="graded again"),
    ],
)
def test_no_suite_turns_green_without_evidence_of_each_grader(runs: list[Run], tmp_path: Path) -> None:
    carry_out(runs, tmp_path / "suite")
