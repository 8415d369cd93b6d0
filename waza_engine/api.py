"""Check, run and grade suites from Python: ``from waza_engine import check, grade, load_suite, run``.

``docs/python.md`` shows how. Nothing is printed; errors are ``SuiteFileError``, ``SuiteError`` and
``ResultsError``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypedDict, Unpack

from waza_engine.commands.regraded import conclusion_of, graded
from waza_engine.commands.result_arguments import record_of
from waza_engine.executors.executor import ignore
from waza_engine.processes.programs import run_bounded
from waza_engine.results.conclusion import Conclusion, RunVerdict, conclude
from waza_engine.results.reading.recordings import RecordingError
from waza_engine.results.task_conclusion import TaskConclusion
from waza_engine.results.writing.store import ResultsError
from waza_engine.runs.events.stream import RunEvent
from waza_engine.runs.limits.budget import Meter
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.loading.discovery import eval_file_of
from waza_engine.runs.loading.suite_on_disk import Suite, SuiteError
from waza_engine.runs.loading.suite_on_disk import load_suite as load_eval_file
from waza_engine.runs.preparing import prepare
from waza_engine.runs.regrading.regrade import RegradeRequest, prepare_regrading
from waza_engine.runs.regrading.resident import ResidentSuites
from waza_engine.runs.settings.table import RunSettings
from waza_engine.spec.problems import SuiteFileError

__all__ = [
    "Finding",
    "Options",
    "Result",
    "ResultsError",
    "Suite",
    "SuiteError",
    "SuiteFileError",
    "check",
    "grade",
    "load_suite",
    "run",
]

PathLike: TypeAlias = "str | Path"
_LISTS = {"tasks", "tags", "graders"}
_CHECK_SECONDS = 600.0
_CHECK_BYTES = 64_000_000


class Options(TypedDict, total=False):
    """The options of ``run``; each overrides the suite, as the option of the command line does."""

    tasks: Sequence[str]
    tags: Sequence[str]
    graders: Sequence[str]
    executor: str
    model: str
    judge_model: str
    judge_executor: str
    trials: int
    workers: int
    timeout_seconds: int
    fail_fast: bool
    max_cost_usd: float
    max_tokens: int
    cache: bool


@dataclass(frozen=True, slots=True)
class Result:
    """How a run ended. ``record`` is its result file, None if it could not be written."""

    conclusion: Conclusion
    record: Path | None

    @property
    def verdict(self) -> RunVerdict:
        """Return the verdict, such as ``passed``, ``failed`` or ``errored``."""
        return self.conclusion.verdict

    @property
    def passed(self) -> bool:
        """Return whether something was judged, and nothing failed."""
        return self.conclusion.good

    @property
    def score(self) -> float:
        """Return the mean of the weighted scores of the tasks, 0 to 1."""
        return self.conclusion.score

    @property
    def tasks(self) -> tuple[TaskConclusion, ...]:
        """Return the tasks, each with its verdict, its reason and its graders."""
        return self.conclusion.tasks


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem in a suite file. Lines and columns are 0-based, and columns count UTF-16 code units."""

    path: Path
    line: int
    column: int
    severity: Literal["error", "warning", "information", "hint"]
    code: str
    message: str


def load_suite(path: PathLike) -> Suite:
    """Return the suite of an eval file, or of a directory that has one suite.

    Raises ``SuiteFileError`` for a file that cannot be used, ``SuiteError`` for a suite without tasks.
    """
    return load_eval_file(eval_file_of(Path(path)))


def run(
    suite: PathLike | Suite,
    *,
    listener: Callable[[RunEvent], None] | None = None,
    **options: Unpack[Options],
) -> Result:
    """Run a suite with the executor that it names, write its record, and return the result.

    An agent and judges may cost money, and graders may start programs. ``listener`` gets each event of the
    run, from the threads of the run. Raises ``SuiteFileError`` or ``SuiteError`` for a suite that cannot run,
    and for options that select nothing.
    """
    given: dict[str, Any] = {**options}
    for name in _LISTS & given.keys():
        given[name] = (given[name],) if isinstance(given[name], str) else tuple(given[name])
    settings = RunSettings(_eval_file(suite), **given)
    prepared = prepare(settings, Meter(settings.budget))
    report = prepared.run(listener or ignore, RunCancellation())
    return Result(conclude(report.outcome, fail_under=settings.fail_under), report.results_file)


def grade(
    suite: PathLike | Suite | Result,
    *,
    tasks: Sequence[str] = (),
    graders: Sequence[str] = (),
    judge_executor: str | None = None,
) -> Result:
    """Grade the newest record of a suite, or a result, again with the suite as it is now.

    No agent is run. Judges keep their recorded verdicts without a ``judge_executor``. Raises
    ``SuiteFileError``, ``SuiteError``, or ``ResultsError`` for a record that cannot be graded.
    """
    try:
        record = (
            suite.record if isinstance(suite, Result) else record_of(_eval_file(suite), advice="run it first")
        )
        if record is None:
            raise ResultsError("The result was not written to a file, so it cannot be graded again.")
        with ResidentSuites() as suites:
            request = RegradeRequest(record, None, tasks, graders, judge_executor=judge_executor)
            regrading = prepare_regrading(request, suites)
            reports = graded(regrading, RunCancellation())
            return Result(conclusion_of(regrading, reports), record)
    except RecordingError as error:
        raise ResultsError(str(error)) from error


def check(*paths: PathLike) -> list[Finding]:
    """Return the problems that an editor shows in the suite files at or below the paths.

    Raises ``SuiteError`` if a path does not exist, or no file of a suite is there.
    """
    done = run_bounded(
        [sys.executable, "-P", "-m", "waza_language_server", "check", "--format", "json", *map(str, paths)],
        stdin="",
        timeout_seconds=_CHECK_SECONDS,
        cwd=Path.cwd(),
        environment={},
        limit_bytes=_CHECK_BYTES,
    )
    if done.exit_code not in (0, 1):
        raise SuiteError(done.stderr.strip() or "The suites could not be checked.")
    return [_finding(found) for found in json.loads(done.stdout)]


def _finding(found: dict[str, Any]) -> Finding:
    start = found["range"]["start"]
    return Finding(
        Path(found["path"]),
        start["line"],
        start["character"],
        found["severity"],
        found["code"],
        found["message"],
    )


def _eval_file(suite: PathLike | Suite) -> Path:
    return suite.path if isinstance(suite, Suite) else eval_file_of(Path(suite))
