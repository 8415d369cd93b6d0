"""How strong the graders of a recorded run are: which changes of its answers they notice, and which none.

The graders that decide by what is recorded are asked again about changed trials. A judge, a program and a
person are never asked, nor is what looks at files: the strength of those is not measured, and that is said.

A grader is weak when it passed on every recorded trial and on everything that they were changed into, what it
names itself included. One that failed on all of it is weak only where the record contradicts it: where
the other graders passed, for an answer that is no answer proves nothing.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Literal

from waza_engine.executors.base import Cancellation
from waza_engine.graders.base import Evidence, GradingContext
from waza_engine.graders.matching.samples import samples_of
from waza_engine.results.reading.recordings import RecordedTrial
from waza_engine.results.record import Validation
from waza_engine.runs.grading.graders import BuiltGrader, grade
from waza_engine.runs.regrading.regrade import GradableTask
from waza_engine.strength.expected import built_expectations
from waza_engine.strength.mutations import Kind, Mutation, mutations, planted, runaway

MOST_TRIALS = 40
"""Recorded trials that a grader is asked about."""
MOST_CHANGED = 4
"""Recorded trials that are changed for a grader."""
_LEAST_TRIED = 2
_NOTHING = ("nothing at all", "the answer emptied")
_ADDS = ("a runaway agent", "what the grader names", "errors happened")

Finding = Literal["", "never fails", "never passes"]


@dataclass(frozen=True, slots=True)
class WeakCheck:
    """A check of a grader that passed on everything; ``path`` leads to it from the grader's config."""

    path: tuple[str | int, ...]
    tried: int


@dataclass(frozen=True, slots=True)
class GraderStrength:
    """What was found out about one grader, as it is written for some tasks.

    Of ``tried`` changes that could matter to it, it noticed ``caught``, by kind in ``kinds`` (caught, tried).
    ``trials`` were recorded and ``passed`` of them pass. It was asked about ``asked`` changes in all, of
    ``asked_kinds``. ``not_measured`` says why there are no figures.
    """

    name: str
    type: str
    tasks: tuple[str, ...]
    trials: int = 0
    passed: int = 0
    caught: int = 0
    tried: int = 0
    kinds: Mapping[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    finding: Finding = ""
    asked: int = 0
    asked_kinds: tuple[Kind, ...] = ()
    weak_checks: tuple[WeakCheck, ...] = ()
    not_measured: str = ""

    @property
    def strength(self) -> float | None:
        """The share of changes that it noticed, None when there is none to tell."""
        return self.caught / self.tried if self.tried else None


@dataclass(slots=True)
class _Subject:
    """A grader entry, with the trials of the tasks that it grades; trials of other tasks are the others."""

    built: BuiltGrader
    tasks: list[str] = field(default_factory=list[str])
    trials: list[tuple[RecordedTrial, GradingContext]] = field(
        default_factory=list[tuple[RecordedTrial, GradingContext]]
    )
    others: list[GradingContext] = field(default_factory=list[GradingContext])


@dataclass(frozen=True, slots=True)
class _Asked:
    mutation: Mutation
    verdict: Validation


def measure(
    tasks: Sequence[GradableTask], cancellation: Cancellation, seed: int = 0
) -> Iterator[GraderStrength]:
    """Yield the strength of each grader, in the order of the suite.

    The same ``seed`` makes the same changes. Raises ``CancelledRunError``.
    """
    for subject in _subjects(tasks):
        why = _not_measured(subject.built)
        if why or not subject.trials:
            why = why or "no trial of it has an answer"
            yield GraderStrength(
                subject.built.name, subject.built.entry.type, tuple(subject.tasks), not_measured=why
            )
        else:
            yield _measured(subject, cancellation, seed)


def _subjects(tasks: Sequence[GradableTask]) -> list[_Subject]:
    found: dict[tuple[str, str, str], _Subject] = {}
    for task in tasks:
        for built in chain(task.task.graders, built_expectations(task.task)):
            key = (built.name, built.entry.type, built.entry.model_dump_json())
            subject = found.setdefault(key, _Subject(built))
            subject.tasks.append(task.recorded.id)
            subject.trials += task.trials
    for subject in found.values():
        own = set(subject.tasks)
        if len(own) == 1:
            subject.others = [
                context for task in tasks if task.recorded.id not in own for _, context in task.trials
            ]
    return list(found.values())


def _not_measured(built: BuiltGrader) -> str:
    grader = built.grader
    if grader is None:
        return built.error
    if grader.judged:
        return "a model judges"
    if grader.reviewed:
        return "a person judges"
    if grader.runs_program:
        return "a program judges"
    reads = grader.reads()
    if reads is None:
        return "its type does not say what it reads"
    if "files" in reads:
        return "it looks at files"
    if not reads - {"prompt"}:
        return "nothing that the agent does decides it"
    return ""


def _measured(subject: _Subject, cancellation: Cancellation, seed: int) -> GraderStrength:
    built, rng = subject.built, random.Random(f"{seed} {subject.built.name} {subject.tasks}")
    trials = subject.trials
    if len(trials) > MOST_TRIALS:
        trials = [trials[at] for at in sorted(rng.sample(range(len(trials)), MOST_TRIALS))]
    recorded = [(trial, context, _verdict(built, context, cancellation)) for trial, context in trials]
    broken = next((verdict.feedback for *_, verdict in recorded if verdict.status == "error"), "")
    if broken:
        return GraderStrength(built.name, built.entry.type, tuple(subject.tasks), not_measured=broken)
    passing = [context for _, context, verdict in recorded if verdict.passed]
    changed = (passing or [context for _, context, _ in recorded])[:MOST_CHANGED]
    asked, complete = _asked(subject, changed, rng, cancellation)
    kinds = _kinds(asked) if passing else {}
    finding: Finding = ""
    enough = len(asked) >= _LEAST_TRIED
    if len(passing) == len(recorded):
        if enough and complete and all(each.verdict.passed for each in asked):
            finding = "never fails"
    elif not passing and enough and not any(each.verdict.passed for each in asked):
        verdicts = [(trial, verdict) for trial, _, verdict in recorded]
        if _contradicted(verdicts):
            finding = "never passes"
    return GraderStrength(
        name=built.name,
        type=built.entry.type,
        tasks=tuple(subject.tasks),
        trials=len(recorded),
        passed=len(passing),
        caught=sum(caught for caught, _ in kinds.values()),
        tried=sum(tried for _, tried in kinds.values()),
        kinds=kinds,
        finding=finding,
        asked=len(asked),
        asked_kinds=tuple(dict.fromkeys(each.mutation.kind for each in asked)),
        weak_checks=()
        if finding or not complete or not enough
        else _weak_checks([verdict for *_, verdict in recorded], asked),
    )


def _asked(
    subject: _Subject, changed: Sequence[GradingContext], rng: random.Random, cancellation: Cancellation
) -> tuple[list[_Asked], bool]:
    """Return what the grader says of changed trials, and whether all that it names is among them."""
    built = subject.built
    assert built.grader is not None
    reads: frozenset[Evidence] = built.grader.reads() or frozenset()
    asked: list[_Asked] = []
    complete = True
    for number, context in enumerate(changed):
        samples = built.grader.samples(context) or samples_of(
            built.grader.config.model_dump(exclude_defaults=True)
        )
        complete = complete and samples.complete
        # What is that large costs, and comes out the same whatever was there before.
        large = () if number else runaway(context)
        changes = chain(mutations(context, subject.others, rng), planted(context, samples.texts), large)
        for mutation in changes:
            if mutation.touches & reads:
                verdict = _verdict(built, mutation.context, cancellation)
                if verdict.status == "graded":
                    asked.append(_Asked(mutation, verdict))
    return asked, complete


def _verdict(built: BuiltGrader, context: GradingContext, cancellation: Cancellation) -> Validation:
    return next(iter(grade((built,), context, cancellation)))


def _kinds(asked: Sequence[_Asked]) -> dict[str, tuple[int, int]]:
    """Return, by kind, how many changes were noticed of how many that could matter.

    To a grader that passes on nothing at all it does not matter what is taken away, only what is added, and
    of that what it looks at; to one that wants something it is the other way round.
    """
    forbids = all(each.verdict.passed for each in asked if each.mutation.kind in _NOTHING)
    caught: Counter[str] = Counter()
    tried: Counter[str] = Counter()
    for each in asked:
        kind = each.mutation.kind
        if (kind in _ADDS) == forbids:
            tried[kind] += 1
            caught[kind] += not each.verdict.passed
    looked_at = {kind: (caught[kind], count) for kind, count in tried.items() if caught[kind] or not forbids}
    return looked_at or {kind: (0, count) for kind, count in tried.items()}


def _weak_checks(recorded: Sequence[Validation], asked: Sequence[_Asked]) -> tuple[WeakCheck, ...]:
    """Return the checks of a grader of several that passed on everything."""
    verdicts = [*recorded, *(each.verdict for each in asked)]
    failed = {check.path for verdict in verdicts for check in verdict.checks if not check.passed}
    paths = dict.fromkeys(check.path for verdict in verdicts for check in verdict.checks)
    if len(paths) < _LEAST_TRIED:
        return ()
    return tuple(WeakCheck(path, len(asked)) for path in paths if path not in failed)


def _contradicted(recorded: Sequence[tuple[RecordedTrial, Validation]]) -> bool:
    """Tell whether a grader failed where all others passed, in more than one trial that an agent answered."""
    times = 0
    for trial, verdict in recorded:
        if trial.outcome.usage is None and not trial.outcome.tool_calls:
            continue
        said = [other for other in (trial.outcome.validations or {}).values() if other.name != verdict.name]
        times += bool(said) and all(other.passed for other in said)
    return times >= _LEAST_TRIED
