"""Runs of public suites, asked again: graded, measured, and judged while they are edited."""

from collections.abc import Iterator

import pytest

from tests.corpus.recorded import RecordedSuite, recorded_suites
from tests.live.equality import Compared, compare_recorded
from tests.shared_corpus import needs_corpus
from waza_engine.commands.regraded import TaskReport, graded
from waza_engine.commands.strength import measure_graders
from waza_engine.lab.measuring import GraderStrength
from waza_engine.runs.limits.cancellation import RunCancellation

pytestmark = [pytest.mark.check, needs_corpus]

# These look at files of the workspace, and may change them.
NEED_A_WORKSPACE = ("file", "diff", "program", "script")
# Read by hand: `len([t for t in transcript if …]) >= 0`.
CANNOT_FAIL = {"tool_call_validation"}
EDITED_SUITES = 10
# `test_recorded_runs.py` runs all of them.
EACH = 2


@pytest.fixture(scope="module")
def suites(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[RecordedSuite]]:
    with recorded_suites(tmp_path_factory.mktemp("recorded"), every=EACH) as found:
        yield found


@pytest.fixture(scope="module")
def reports(suites: list[RecordedSuite]) -> list[TaskReport]:
    found: list[TaskReport] = []
    for suite in suites:
        with suite.regrading() as regrading:
            assert regrading.suite.path == suite.path.absolute()
            found += graded(regrading, RunCancellation())
    return found


@pytest.fixture(scope="module")
def strengths(suites: list[RecordedSuite]) -> list[GraderStrength]:
    found: list[GraderStrength] = []
    for suite in suites:
        with suite.regrading() as regrading:
            found += measure_graders(regrading, RunCancellation())
    return found


def test_every_grader_scores_as_in_the_run(reports: list[TaskReport]) -> None:
    equal, different = 0, list[str]()
    for report in reports:
        assert list(report.now.graders) == list(report.recorded.graders), report.now.id
        for name, now in report.now.graders.items():
            then = report.recorded.graders[name]
            if now.type in NEED_A_WORKSPACE:
                continue
            said = (now.status, now.score, now.passed, now.feedback, now.checks)
            if said == (then.status, then.score, then.passed, then.feedback, then.checks):
                equal += 1
            else:
                different.append(f"{report.now.id} {name}: {then} {now}")
    assert different == []
    assert equal > 350


def test_every_task_has_the_status_of_the_run(reports: list[TaskReport]) -> None:
    compared = 0
    for report in reports:
        if not any(grader.type in NEED_A_WORKSPACE for grader in report.now.graders.values()):
            assert report.now.status == report.recorded.status, report.now.id
            compared += 1
    assert compared > 110


def test_only_graders_that_cannot_fail_are_called_weak(strengths: list[GraderStrength]) -> None:
    assert {each.name for each in strengths if each.finding} == CANNOT_FAIL
    assert [(each.name, each.weak_checks) for each in strengths if each.weak_checks] == []


def test_graders_of_files_are_measured_where_these_were_kept(strengths: list[GraderStrength]) -> None:
    of_files = [each for each in strengths if each.type in ("file", "diff")]
    assert sum(not each.not_measured for each in of_files) >= 10
    assert sum(each.strength is not None for each in of_files) >= 5


def test_most_graders_that_pass_have_a_strength(strengths: list[GraderStrength]) -> None:
    assert sum(each.strength is not None for each in strengths) > 110


def test_what_is_told_while_they_are_edited_is_what_grading_them_says(suites: list[RecordedSuite]) -> None:
    found = Compared()
    for seed, suite in enumerate(suites[:: len(suites) // EDITED_SUITES]):
        found += compare_recorded(suite, seed, edits=4)
    assert found.readable > 30
    assert found.verdicts > 150
