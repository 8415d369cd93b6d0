"""The runs of all public suites, graded again: deterministic graders say what they said in the run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.runs.recorded_runs import records, rewritten
from tests.shared_corpus import needs_corpus, writable_suites
from waza_engine.commands.regraded import TaskReport, graded
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.loading.suite import SuiteError
from waza_engine.runs.regrading import RegradeRequest, prepare_regrading
from waza_engine.runs.resident import ResidentSuites
from waza_engine.runs.run import prepare
from waza_engine.runs.settings.table import RunSettings
from waza_engine.spec.problems import SuiteFileError

pytestmark = needs_corpus

# These look at files of the workspace, which is gone with its trial.
NEED_A_WORKSPACE = ("file", "diff", "program", "script")


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[TaskReport]]:
    before = Path.cwd()
    found: list[TaskReport] = []
    with writable_suites(tmp_path_factory.mktemp("regraded")) as copies:
        for record in records():
            os.chdir(copies / record["snapshot"])
            found += regraded(copies / record["snapshot"] / record["path"])
        os.chdir(before)
        yield found


def regraded(suite: Path) -> list[TaskReport]:
    suite.write_text(rewritten(suite.read_text("utf-8")), "utf-8")
    try:
        prepared = prepare(RunSettings(suite))
    except (SuiteFileError, SuiteError):
        return []
    report = prepared.run(lambda _: None, RunCancellation())
    assert report.results_file is not None
    with ResidentSuites() as suites:
        regrading = prepare_regrading(RegradeRequest(report.results_file), suites)
        assert regrading.suite.path == suite.absolute()
        return graded(regrading, RunCancellation())


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
    assert equal > 450


def test_every_task_has_the_status_of_the_run(reports: list[TaskReport]) -> None:
    compared = 0
    for report in reports:
        if not any(grader.type in NEED_A_WORKSPACE for grader in report.now.graders.values()):
            assert report.now.status == report.recorded.status, report.now.id
            compared += 1
    assert compared > 150
