"""Convert the engine's answers about regraded trials to the values of ``regraded.py``."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from waza_engine.results.json_values import (
    Block,
    block_of,
    blocks_by_name,
    blocks_of,
    items_of,
    number,
    path_of,
    record_of,
    text_of,
    whole,
)
from waza_language_server.project.regraded import Regraded, RegradedSuite, RegradedTask, entry_of

if TYPE_CHECKING:
    from waza_engine.results.reading.scores import CheckResult, GraderResult, RunResult, TaskResult
    from waza_language_server.project.recorded_values import Values


def live_task(
    grader: str,
    block: Block,
    then: TaskResult,
    entries: Values,
    at: datetime,
    bed: datetime | None = None,
) -> RegradedTask | None:
    """Return the result of a grader on a task in ``live.verdicts``; None if it was not judged.

    ``bed`` is the start of the run that was chosen for it.
    """
    if text_of(block.get("origin")) != "live":
        return None
    result = _result(grader, block, then)
    failing = tuple(
        trial
        for each in blocks_of(block.get("trials"))
        if each.get("passed") is not True and isinstance(trial := each.get("trial"), int)
    )
    entry = entry_of(entries, then.id, grader, result.type)
    written = block_of(block, "read")
    read = {Path(os.path.normpath(path)): text_of(written.get(path)) for path in written}
    recorded = then.graders.get(grader)
    verdict = Regraded(result, entry, at, live=True, failing=failing, bed=bed, read=read, recorded=recorded)
    return RegradedTask(then.timestamp, then.status, then.score, then.passed_trials, "", {grader: verdict})


def regraded_tasks(
    answer: Block, recorded: Mapping[str, TaskResult], entries: Values, at: datetime
) -> Iterator[tuple[str, RegradedTask]]:
    """Yield the results in an answer to ``grader.grade``, task by task, with the entries that graded.

    ``entries`` are by task and name, those of the suite at the task ``""``.
    """
    for name, task in blocks_by_name(answer, "tasks").items():
        then = recorded.get(name)
        if then is None:
            continue
        said = blocks_by_name(task, "graders")
        live = {grader: one for grader, one in said.items() if text_of(one.get("origin")) == "live"}
        graders = {
            grader: Regraded(
                _result(grader, one, then), entries.get((name, grader), entries.get(("", grader))), at
            )
            for grader, one in live.items()
        }
        of_all = block_of(task, "with_recorded")
        figures = of_all or task
        known = said.keys() | then.graders.keys() if of_all else said.keys()
        yield (
            name,
            RegradedTask(
                timestamp=then.timestamp,
                status=text_of(figures.get("status")),
                score=number(figures.get("avg_score")),
                passed_trials=whole(figures.get("passed_trials")),
                error=text_of(figures.get("error")),
                graders=graders,
                kept=frozenset(known - live.keys()),
            ),
        )


def regraded_suite(
    answer: Block, run: RunResult, tasks: Mapping[str, RegradedTask], entries: Values, at: datetime
) -> RegradedSuite:
    """Return the result of an entire run in an answer; ``tasks`` are those of ``regraded_tasks``."""
    from waza_engine.results.record import MetricOutcome

    conclusion = block_of(answer, "conclusion")
    metrics = (record_of(MetricOutcome, metric) for metric in blocks_of(answer.get("metrics")))
    return RegradedSuite(
        timestamp=run.timestamp,
        tasks=tasks,
        verdict=text_of(conclusion.get("verdict")),
        reasons=tuple(map(text_of, items_of(conclusion.get("reasons")))),
        metrics=tuple(metrics),
        entries=entries,
        at=at,
    )


def _result(name: str, said: Block, then: TaskResult) -> GraderResult:
    from waza_engine.results.reading.scores import GraderResult

    recorded = then.graders.get(name)
    origin = then.origin if recorded is None else recorded.origin
    return GraderResult(
        name=name,
        type=text_of(said.get("type")),
        status=text_of(said.get("status")),
        score=number(said.get("score")),
        passed=said.get("passed") is True,
        scores=tuple(map(number, items_of(said.get("scores")))),
        passes=tuple(passed is True for passed in items_of(said.get("passes"))),
        feedback=text_of(said.get("feedback")),
        checks=tuple(map(_check, blocks_of(said.get("checks")))),
        timestamp=then.timestamp if recorded is None else recorded.timestamp,
        origin=origin,
    )


def _check(said: Block) -> CheckResult:
    from waza_engine.results.reading.scores import CheckResult

    return CheckResult(
        path_of(said.get("path")),
        said.get("passed") is True,
        whole(said.get("passed_trials")),
        whole(said.get("trials")),
        text_of(said.get("message")),
    )
