"""Graders of public suites, measured with runs of the mock: only those that cannot fail are called weak."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.runs.recorded_runs import records, rewritten
from tests.shared_corpus import needs_corpus, writable_suites
from waza_engine.commands.strength import measured
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.loading.suite import SuiteError
from waza_engine.runs.regrading import RegradeRequest, prepare_regrading
from waza_engine.runs.resident import ResidentSuites
from waza_engine.runs.run import prepare
from waza_engine.runs.settings.table import RunSettings
from waza_engine.spec.problems import SuiteFileError
from waza_engine.strength.measuring import GraderStrength

pytestmark = needs_corpus

# Read by hand: `len([t for t in transcript if …]) >= 0`, in both.
CANNOT_FAIL = {"tool_usage", "tool_call_validation"}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[GraderStrength]]:
    before = Path.cwd()
    every: list[GraderStrength] = []
    with writable_suites(tmp_path_factory.mktemp("measured")) as copies:
        for record in records():
            os.chdir(copies / record["snapshot"])
            every += _measured(copies / record["snapshot"] / record["path"])
        os.chdir(before)
        yield every


def _measured(suite: Path) -> list[GraderStrength]:
    suite.write_text(rewritten(suite.read_text("utf-8")), "utf-8")
    try:
        prepared = prepare(RunSettings(suite, trials=1))
    except (SuiteFileError, SuiteError):
        return []
    report = prepared.run(lambda _: None, RunCancellation())
    assert report.results_file is not None
    cancellation = RunCancellation()
    with ResidentSuites() as suites:
        return measured(prepare_regrading(RegradeRequest(report.results_file), suites), cancellation)


def test_only_graders_that_cannot_fail_are_called_weak(found: list[GraderStrength]) -> None:
    assert {each.name for each in found if each.finding} == CANNOT_FAIL
    assert [(each.name, each.weak_checks) for each in found if each.weak_checks] == []


def test_most_graders_that_pass_have_a_strength(found: list[GraderStrength]) -> None:
    assert sum(each.strength is not None for each in found) > 140
