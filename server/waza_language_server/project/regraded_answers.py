"""Convert the engine's answers about regraded trials to the values of ``regraded.py``."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from waza_engine.counting import counted
from waza_engine.frozen import frozen
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
    texts_of,
    whole,
)
from waza_engine.vocabulary import grader_label
from waza_language_server.project.regraded import Regraded, RegradedSuite, RegradedTask, entry_of

if TYPE_CHECKING:
    from waza_engine.results.reading.scores import CheckResult, GraderResult, RunResult, TaskResult
    from waza_engine.spec.reading.scalars import Json
    from waza_language_server.project.recorded_values import Values


def live_task(
    grader: str,
    block: Block,
    then: TaskResult,
    entries: Values,
    at: datetime,
    baseline: datetime | None = None,
) -> RegradedTask | None:
    """Return the result of a grader on a task in ``live.verdicts``; None if it was not judged.

    ``baseline`` is the start of the run that was chosen for it.
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
    verdict = Regraded(
        result, entry, at, live=True, failing=failing, baseline=baseline, read=read, recorded=recorded
    )
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
        verdicts = blocks_by_name(task, "graders")
        live = {grader: one for grader, one in verdicts.items() if text_of(one.get("origin")) == "live"}
        graders = {
            grader: Regraded(
                _result(grader, one, then), entries.get((name, grader), entries.get(("", grader))), at
            )
            for grader, one in live.items()
        }
        of_all = block_of(task, "with_recorded")
        numbers = of_all or task
        known = verdicts.keys() | then.graders.keys() if of_all else verdicts.keys()
        yield (
            name,
            RegradedTask(
                timestamp=then.timestamp,
                status=text_of(numbers.get("status")),
                score=number(numbers.get("avg_score")),
                passed_trials=whole(numbers.get("passed_trials")),
                error=text_of(numbers.get("error")),
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


def _result(name: str, block: Block, then: TaskResult) -> GraderResult:
    from waza_engine.results.reading.scores import GraderResult

    recorded = then.graders.get(name)
    origin = then.origin if recorded is None else recorded.origin
    return GraderResult(
        name=name,
        type=text_of(block.get("type")),
        status=text_of(block.get("status")),
        score=number(block.get("score")),
        passed=block.get("passed") is True,
        scores=tuple(map(number, items_of(block.get("scores")))),
        passes=tuple(passed is True for passed in items_of(block.get("passes"))),
        feedback=text_of(block.get("feedback")),
        checks=tuple(map(_check, blocks_of(block.get("checks")))),
        timestamp=then.timestamp if recorded is None else recorded.timestamp,
        origin=origin,
    )


def _check(block: Block) -> CheckResult:
    from waza_engine.results.reading.scores import CheckResult

    return CheckResult(
        path_of(block.get("path")),
        block.get("passed") is True,
        whole(block.get("passed_trials")),
        whole(block.get("trials")),
        text_of(block.get("message")),
    )


@frozen()
class WeakCheck:
    """A check that decides nothing, and why, in a sentence; ``path`` leads to it from the config."""

    path: tuple[str | int, ...]
    message: str


@frozen()
class Strength:
    """The mutation score of one grader; ``entry`` is the grader entry that was measured.

    For a list of ``expected``, ``entry`` is the block with that list alone.

    It noticed ``caught`` of ``tried`` mutations of ``trials`` recorded trials; it noticed no mutation of the
    kinds in ``missed``. ``finding`` says in a sentence why it is weak, "" if it is not; ``not_measured`` why
    there is no score. ``weak_checks`` are those of its checks that decide nothing; ``rejected`` are
    sentences about answers known to be good on which it fails.
    """

    entry: Json
    trials: int
    caught: int
    tried: int
    missed: tuple[str, ...]
    finding: str
    not_measured: str
    passed_on: tuple[str, ...]
    weak_checks: tuple[WeakCheck, ...]
    rejected: tuple[str, ...] = ()


def strength_summary(measured: Sequence[Block]) -> str:
    """Return in one line what measuring graders found, in the figures that the hover of each tells."""
    weak = [text_of(each.get("name")) for each in measured if each.get("finding")]
    known = [each for each in measured if not each.get("finding") and whole(each.get("tried"))]
    shares = sorted(
        (whole(each.get("caught")) / whole(each.get("tried")), text_of(each.get("name"))) for each in known
    )
    parts = (
        [f"{len(weak)} {'decides' if len(weak) == 1 else 'decide'} nothing (marked in the file)"]
        if weak
        else []
    )
    if shares:
        (least, name), (most, _) = shares[0], shares[-1]
        span = f"{least:.0%}" if f"{least:.0%}" == f"{most:.0%}" else f"{least:.0%} to {most:.0%}"
        others = "the others notice" if weak else "they notice" if len(shares) > 1 else "it notices"
        parts.append(
            f"{others} {span} of the changes, `{grader_label(name)}` the fewest"
            if least < most
            else f"{others} {span} of the changes"
        )
    return ", ".join([f"{counted(len(measured), 'grader')} measured", *parts]) + "."


class Strengths:
    """The last measurement of each suite."""

    def __init__(self) -> None:
        self._suites: dict[Path, Mapping[tuple[str, str], Strength]] = {}

    def take(self, suite: Path, answer: Block, entries: Mapping[tuple[str, str], Json]) -> int:
        """Store the engine's answer to ``grader.strength``; return the number of graders in it.

        ``entries`` are the measured grader entries, by task and name, those of the suite at ``""``,
        and the expectations of a task at ``//expected``.
        """
        found: dict[tuple[str, str], Strength] = {}
        for block in blocks_of(answer.get("graders")):
            name = text_of(block.get("name"))
            for task in texts_of(block.get("tasks")):
                if block.get("type") == "expected":
                    entry = _expected(entries.get((task, "//expected")), name)
                    if entry is not None:
                        found[task, name] = _strength(block, entry)
                    continue
                place = task if (task, name) in entries else ""
                if (place, name) in entries:
                    found[place, name] = _strength(block, entries[place, name])
        self._suites[suite] = found
        return len(found)

    def of(self, suites: Sequence[Path], task: str, name: str, entry: Json) -> Strength | None:
        """Return the score of a grader as it is written; ``task`` is "" for one of the suite."""
        for suite in suites:
            found = self._suites.get(suite, {}).get((task, name))
            if found is not None and found.entry == entry:
                return found
        return None

    def of_expected(self, suites: Sequence[Path], task: str, key: str, listed: Json) -> Strength | None:
        """Return the score of a list of ``expected`` as it is written."""
        return self.of(suites, task, f"_{key}", {key: listed})

    @property
    def empty(self) -> bool:
        """Return whether nothing was measured at all."""
        return not self._suites

    def has_any(self, suites: Sequence[Path]) -> bool:
        """Return whether anything was measured of one of these suites."""
        return any(suite in self._suites for suite in suites)


def _strength(block: Block, entry: Json) -> Strength:
    kinds = blocks_by_name(block, "kinds")
    return Strength(
        entry=entry,
        trials=whole(block.get("trials")),
        caught=whole(block.get("caught")),
        tried=whole(block.get("tried")),
        missed=tuple(kind for kind, counts in kinds.items() if not whole(counts.get("caught"))),
        finding=text_of(block.get("message")),
        not_measured=text_of(block.get("not_measured")),
        passed_on=texts_of(block.get("passed_on")),
        weak_checks=tuple(
            WeakCheck(path_of(check.get("path")), text_of(check.get("message")))
            for check in blocks_of(block.get("weak_checks"))
        ),
        rejected=tuple(text_of(each.get("message")) for each in blocks_of(block.get("rejected_references"))),
    )


def _expected(block: Json, name: str) -> Json:
    """Return the list that is graded under a name, inside its block, None if it does not exist."""
    key = name.removeprefix("_")
    return {key: block[key]} if isinstance(block, dict) and key in block else None
