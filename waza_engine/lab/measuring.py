"""Mutation scores of a recorded run's graders: which changes of its answers they notice, and which not.

Graders that decide by the record are evaluated again on changed trials, those that look at files on changed
copies, if the workspace of a trial was kept. A judge, a program and a person are never asked: their mutation
score is not measured, and the report says so.

A grader is weak when it passed on every recorded trial and on all of their mutations, including those with
strings that it names. One that failed on all of it is weak only where the record contradicts it: where the
other graders passed, because failing a non-answer proves nothing; for files it is never reported, because no
mutation satisfies all their rules at once.

The ``reference`` of a task, an answer known to be good, is graded like a recorded one by graders of answers
alone: one that fails on it is reported, and one that passes on no other answer is measured with it.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, Literal

from waza_engine.counting import counted
from waza_engine.executors.executor import Cancellation
from waza_engine.graders.base import Grader, GraderConfig, GradingContext, Verdict
from waza_engine.graders.matching.strings import shortened
from waza_engine.lab.insight import Evidence, insight_of
from waza_engine.lab.mutations import (
    FilesError,
    Kind,
    Mutation,
    copied,
    file_mutations,
    mutations,
    planted,
    runaway,
    seen_files,
)
from waza_engine.lab.samples import MOST_SAMPLES, Samples, samples_of
from waza_engine.results.reading.recordings import RecordedTrial
from waza_engine.results.record import Validation
from waza_engine.runs.grading.graders import BuiltGrader, grade, grade_expected
from waza_engine.runs.regrading.regrade import GradableTask
from waza_engine.runs.trials.trial import TrialTask
from waza_engine.spec.expected import Expected
from waza_engine.spec.grader_entry import GraderEntry
from waza_engine.vocabulary import grader_label

TYPE = "expected"
MOST_TRIALS = 40
"""The most recorded trials that a grader is evaluated on."""
MOST_CHANGED = 4
"""Recorded trials that are changed for a grader."""
_LEAST_TRIED = 2
_NOTHING = ("nothing at all", "the answer emptied", "no file at all")
NO_FILES = "the files of the agent were not kept (`--keep-workspace`)"
NO_EVIDENCE = "nothing that the agent does decides it"
_ADDS = ("a runaway agent", "what the grader names", "errors happened")

Finding = Literal["", "never fails", "never passes"]


@dataclass(frozen=True, slots=True)
class WeakCheck:
    """A check of a grader that passed on everything; ``path`` leads to it from the grader's config.

    ``of_file``: on everything in which its file could be read.
    """

    path: tuple[str | int, ...]
    tried: int
    of_file: bool = False


@dataclass(frozen=True, slots=True)
class RejectedReference:
    """The task whose ``reference``, an answer known to be good, a grader failed, and the feedback."""

    task: str
    feedback: str


@dataclass(frozen=True, slots=True)
class GraderStrength:
    """The results for one grader, as it is written for some tasks.

    Of ``tried`` changes that could matter to it, it noticed ``caught``, by kind in ``kinds`` (caught, tried).
    ``trials`` were recorded and ``passed`` of them pass. It was evaluated on ``asked`` changes in all, of
    ``asked_kinds``. ``not_measured`` says why there are no numbers.
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
    rejected: tuple[RejectedReference, ...] = ()
    not_measured: str = ""

    @property
    def strength(self) -> float | None:
        """Return the share of changes that it noticed, None if none was tried."""
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
    references: list[tuple[str, GradingContext]] = field(default_factory=list[tuple[str, GradingContext]])


@dataclass(frozen=True, slots=True)
class _Evaluated:
    mutation: Mutation
    verdict: Validation


def measure(
    tasks: Sequence[GradableTask], cancellation: Cancellation, seed: int = 0
) -> Iterator[GraderStrength]:
    """Yield the strength of each grader, in the order of the suite.

    The same ``seed`` makes the same changes. Raises ``CancelledRunError``.
    """
    for subject in _subjects(tasks):
        why = why_not_measured(subject.built)
        if why or not subject.trials:
            yield _unmeasured(subject, why or "no trial of it has an answer")
        else:
            yield _measure(subject, cancellation, seed)


def _subjects(tasks: Sequence[GradableTask]) -> list[_Subject]:
    found: dict[tuple[str, str, str], _Subject] = {}
    for task in tasks:
        for built in chain(task.task.graders, built_expectations(task.task)):
            key = (built.name, built.entry.type, built.entry.model_dump_json())
            subject = found.setdefault(key, _Subject(built))
            subject.tasks.append(task.recorded.id)
            subject.trials += task.trials
            reference = reference_of(task) if reads_answers_alone(built) else None
            if reference is not None:
                subject.references.append((task.recorded.id, reference))
    for subject in found.values():
        own = set(subject.tasks)
        if len(own) == 1:
            subject.others = [
                context for task in tasks if task.recorded.id not in own for _, context in task.trials
            ]
    return list(found.values())


def why_not_measured(built: BuiltGrader) -> str:
    """Return why a grader is never evaluated on a change, one clause; "" if it is."""
    grader = built.grader
    if grader is None:
        return built.error
    if grader.judged:
        return "a model judges"
    if grader.reviewed:
        return "a person judges"
    if grader.runs_program:
        return "a program judges"
    reads = insight_of(grader).reads()
    if reads is None:
        return "its type does not say what it reads"
    if grader.writes_files:
        return "it writes snapshots"
    if not reads - {"prompt"}:
        return NO_EVIDENCE
    return ""


def _measure(subject: _Subject, cancellation: Cancellation, seed: int) -> GraderStrength:
    built, rng = subject.built, random.Random(f"{seed} {subject.built.name} {subject.tasks}")
    trials = subject.trials
    if reads_files(built):
        trials = [(trial, context) for trial, context in trials if context.workspace is not None]
        if not trials:
            return _unmeasured(subject, NO_FILES)
    if len(trials) > MOST_TRIALS:
        trials = [trials[at] for at in sorted(rng.sample(range(len(trials)), MOST_TRIALS))]
    recorded = [(trial, context, _verdict(built, context, cancellation)) for trial, context in trials]
    broken = next((verdict.feedback for *_, verdict in recorded if verdict.status == "error"), "")
    if broken:
        return _unmeasured(subject, broken)
    passing = [context for _, context, verdict in recorded if verdict.passed]
    good, rejected = _of_references(subject, cancellation)
    changed = (passing or good or [context for _, context, _ in recorded])[:MOST_CHANGED]
    try:
        asked, complete = _evaluate_changes(subject, changed, rng, cancellation)
    except FilesError as error:
        return _unmeasured(subject, str(error))
    kinds = _kinds(asked) if passing or good else {}
    finding: Finding = ""
    enough = len(asked) >= _LEAST_TRIED
    if len(passing) == len(recorded):
        if enough and complete and not rejected and all(each.verdict.passed for each in asked):
            finding = "never fails"
    elif not (passing or good or reads_files(built)) and enough and not any(e.verdict.passed for e in asked):
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
        rejected=rejected,
    )


def _of_references(
    subject: _Subject, cancellation: Cancellation
) -> tuple[list[GradingContext], tuple[RejectedReference, ...]]:
    """Return the references that a grader passes, and those that it fails."""
    good: list[GradingContext] = []
    rejected: list[RejectedReference] = []
    for task, context in subject.references[:MOST_TRIALS]:
        verdict = _verdict(subject.built, context, cancellation)
        if verdict.passed:
            good.append(context)
        elif verdict.status == "graded":
            rejected.append(RejectedReference(task, verdict.feedback))
    return good, tuple(rejected)


def reference_of(task: GradableTask) -> GradingContext | None:
    """Return the reference of a task as if it had been answered, without any session; None without one."""
    for _, context in task.trials:
        if context.reference is not None and context.reference.strip():
            return replace(
                context,
                output=context.reference,
                transcript=(),
                tool_calls=(),
                skill_invocations=(),
                usage=None,
                duration_ms=0,
                workspace=None,
            )
    return None


def reads_answers_alone(built: BuiltGrader) -> bool:
    """Return whether the answer alone decides a grader's verdict, regardless of calls."""
    reads = (
        insight_of(built.grader).reads() if built.grader is not None and not why_not_measured(built) else None
    )
    return reads is not None and reads <= {"answer", "json", "prompt"}


def _unmeasured(subject: _Subject, why: str) -> GraderStrength:
    built = subject.built
    return GraderStrength(built.name, built.entry.type, tuple(subject.tasks), not_measured=why)


def reads_files(built: BuiltGrader) -> bool:
    """Return whether the agent's files decide a grader's verdict."""
    return built.grader is not None and "files" in (insight_of(built.grader).reads() or ())


def _evaluate_changes(
    subject: _Subject, changed: Sequence[GradingContext], rng: random.Random, cancellation: Cancellation
) -> tuple[list[_Evaluated], bool]:
    """Return the grader's verdicts on changed trials, and whether all strings that it names are covered.

    Raises ``FilesError`` when it looks at files that cannot be copied.
    """
    built = subject.built
    assert built.grader is not None
    reads: frozenset[Evidence] = insight_of(built.grader).reads() or frozenset()
    asked: list[_Evaluated] = []
    complete = True
    files = _Files(subject, cancellation) if "files" in reads else None
    for number, context in enumerate(changed):
        samples = insight_of(built.grader).samples(context) or samples_of(
            built.grader.config.model_dump(exclude_defaults=True)
        )
        complete = complete and samples.complete
        # Large mutations are costly, and have the same verdict whatever the original was.
        large = () if number else runaway(context)
        changes = chain(mutations(context, subject.others, rng), planted(context, samples.texts), large)
        verdicts = _verdicts_on(built, reads, changes, cancellation)
        asked += verdicts
        if files is not None:
            with TemporaryDirectory(prefix="waza-strength-") as folder:
                asked += files.asked(context, samples.texts, rng, Path(folder))
    return asked, complete


def _verdicts_on(
    built: BuiltGrader, reads: frozenset[Evidence], changes: Iterable[Mutation], cancellation: Cancellation
) -> Iterator[_Evaluated]:
    """Yield a grader's verdicts on the changes that touch its inputs."""
    for mutation in changes:
        if mutation.touches & reads:
            verdict = _verdict(built, mutation.context, cancellation)
            if verdict.status == "graded":
                yield _Evaluated(mutation, verdict)


class _Files:
    """Asks a grader about changed copies of the files that it looks at."""

    def __init__(self, subject: _Subject, cancellation: Cancellation) -> None:
        assert subject.built.grader is not None
        self._built, self._grader, self._cancellation = subject.built, subject.built.grader, cancellation
        self._others = [
            seen_files(self._grader, other.workspace)
            for other in subject.others[:MOST_CHANGED]
            if other.workspace is not None
        ]

    def asked(
        self, context: GradingContext, texts: Sequence[str], rng: random.Random, folder: Path
    ) -> list[_Evaluated]:
        """Return the grader's verdicts on the changes. Raises ``FilesError``."""
        assert context.workspace is not None
        seen = seen_files(self._grader, context.workspace)
        same = _verdict(self._built, copied(context, seen.held, folder / "same"), self._cancellation)
        before = _verdict(self._built, context, self._cancellation)
        if [check.passed for check in same.checks] != [check.passed for check in before.checks]:
            raise FilesError("a copy of its files is not graded as they are")
        changes = file_mutations(context, seen, self._others, texts, rng, folder)
        return list(_verdicts_on(self._built, frozenset({"files"}), changes, self._cancellation))


def _verdict(built: BuiltGrader, context: GradingContext, cancellation: Cancellation) -> Validation:
    return next(iter(grade((built,), context, cancellation)))


def _kinds(asked: Sequence[_Evaluated]) -> dict[str, tuple[int, int]]:
    """Return, by kind, how many changes were noticed of how many that could matter.

    A grader that passes on an empty trial is only affected by additions, and only to what it reads; for one
    that requires something it is the other way round.
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


def _weak_checks(recorded: Sequence[Validation], asked: Sequence[_Evaluated]) -> tuple[WeakCheck, ...]:
    """Return the checks that passed on everything, for a grader with several.

    If a file cannot be read its other checks fail with it, which does not count for them.
    """
    changed = [each.verdict for each in asked]
    paths = dict.fromkeys(check.path for verdict in (*recorded, *changed) for check in verdict.checks)
    if len(paths) < _LEAST_TRIED:
        return ()
    failed: set[tuple[str | int, ...]] = set()
    tried: Counter[tuple[str | int, ...]] = Counter()
    unread: set[tuple[str | int, ...]] = set()
    for number, verdict in enumerate((*recorded, *changed)):
        of = {check.path: check.passed for check in verdict.checks}
        for path, passed in of.items():
            if len(path) > 2 and not passed and of.get((*path[:2], "path")) is False and path[2] != "path":
                unread.add(path)
                continue
            tried[path] += number >= len(recorded)
            if not passed:
                failed.add(path)
    return tuple(
        WeakCheck(path, tried[path], path in unread)
        for path in paths
        if path not in failed and tried[path] >= _LEAST_TRIED
    )


def _contradicted(recorded: Sequence[tuple[RecordedTrial, Validation]]) -> bool:
    """Return whether a grader failed where all others passed, in more than one answered trial."""
    times = 0
    for trial, verdict in recorded:
        if trial.outcome.usage is None and not trial.outcome.tool_calls:
            continue
        others = [other for other in (trial.outcome.validations or {}).values() if other.name != verdict.name]
        times += bool(others) and all(other.passed for other in others)
    return times >= _LEAST_TRIED


Document = dict[str, Any]


def strength_document(found: Sequence[GraderStrength]) -> list[Document]:
    """Return an object for each grader.

    ``strength`` is 0..1, null if unknown; ``finding`` is null, ``never fails`` or ``never passes``;
    ``not_measured`` replaces the numbers, and says why.
    """
    return [_grader(each) for each in found]


def weak_check_sentence(check: WeakCheck) -> str:
    """Return in one sentence why a check that passes on everything is weak."""
    where = " in which its file could be read" if check.of_file else ""
    return (
        f"This passes on every recorded trial and on all {check.tried} changes of them{where}, so it decides "
        "nothing; the other rules beside it do."
    )


def rejected_sentence(found: GraderStrength, rejected: RejectedReference) -> str:
    """Return in one sentence that a grader fails a reference that is known to be good."""
    why = shortened(rejected.feedback.rstrip("."))
    return (
        f"`{grader_label(found.name)}` fails on the reference of the task `{rejected.task}`, "
        f"an answer known to be good: {why}."
    )


def finding_sentence(found: GraderStrength) -> str:
    """Return in one sentence why a grader is weak and how that is known, "" for all others."""
    name = grader_label(found.name)
    trials = f"{counted(found.trials, 'recorded trial')}"
    if found.finding == "never fails":
        return (
            f"`{name}` passes on everything: on {trials} and on all {found.asked} changes of them "
            f"({', '.join(found.asked_kinds)})."
        )
    if found.finding == "never passes":
        return (
            f"`{name}` fails on everything: on {trials}, where other graders passed, and on all "
            f"{found.asked} changes of them, what it names included."
        )
    return ""


def _grader(found: GraderStrength) -> Document:
    named: Document = {"name": found.name, "type": found.type, "tasks": list(found.tasks)}
    if found.not_measured:
        return {**named, "strength": None, "finding": None, "not_measured": found.not_measured}
    return {
        **named,
        "strength": found.strength,
        "trials": found.trials,
        "passed": found.passed,
        "caught": found.caught,
        "tried": found.tried,
        "kinds": {kind: {"caught": caught, "tried": tried} for kind, (caught, tried) in found.kinds.items()},
        "finding": found.finding or None,
        **({"message": finding_sentence(found)} if found.finding else {}),
        "passed_on": list(found.asked_kinds) if found.finding == "never fails" else [],
        "asked": found.asked,
        "weak_checks": [
            {"path": list(check.path), "tried": check.tried, "message": weak_check_sentence(check)}
            for check in found.weak_checks
        ],
        "rejected_references": [
            {"task": each.task, "message": rejected_sentence(found, each)} for each in found.rejected
        ],
    }


class _List(GraderConfig):
    """The list itself is in ``expected``."""


class _Expectation(Grader[_List]):
    """One list of ``expected``."""

    type = TYPE
    title = "Expectation"
    config_model: ClassVar = _List
    example = ""
    evidence: ClassVar = frozenset[Evidence]({"answer"})

    def __init__(self, name: str, expected: Expected) -> None:
        super().__init__(name, _List())
        self._expected = expected

    def samples(self, context: GradingContext) -> Samples:
        """Return the strings of the list, which are not patterns."""
        del context
        texts = tuple(_texts(self.name, self._expected))
        return Samples(texts[:MOST_SAMPLES], len(texts) <= MOST_SAMPLES)

    def grade(self, context: GradingContext) -> Verdict:
        """Compare the answer with the strings of the list."""
        (found,) = grade_expected(self._expected, context, (self.name,))
        return Verdict(found.score, found.passed, found.feedback, checks=found.checks)


def built_expectations(task: TrialTask) -> Iterator[BuiltGrader]:
    """Yield the lists of ``expected`` that a task has, each as a grader with the name of its verdict."""
    expected = task.spec.expected
    for name in task.expected_names if task.grade_expected else ():
        entry = GraderEntry(name=name, type=TYPE, config={_key(name): list(_texts(name, expected))})
        yield BuiltGrader(name, entry, _Expectation(name, expected))


def _texts(name: str, expected: Expected) -> Sequence[str]:
    return getattr(expected, _key(name))


def _key(name: str) -> str:
    return name.removeprefix("_")
