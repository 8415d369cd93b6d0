"""Rules on recorded trials: explained on hover, and repaired by fixes that are tried before they are offered.

Grader types propose fixes; only those that re-grading confirms are offered.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextvars import copy_context
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, cast

from waza_engine.graders.base import GraderError
from waza_engine.graders.matching.patterns import PatternError, current_workers
from waza_engine.lab.explaining import explain_text
from waza_engine.lab.insight import Explanation, FileProposal, Proposal, RulePath, insight_of
from waza_engine.lab.live.live_session import LiveSession
from waza_engine.lab.live.work import LentTrials, LiveTrial, built_in
from waza_engine.lab.proposing import propose_texts
from waza_engine.results.record import TrialOutcome, Validation
from waza_engine.runs.grading.graders import BuiltGrader, grade_expected, grade_here
from waza_engine.runs.grading.recorded_verdicts import without_workspace
from waza_engine.runs.regrading.regrade import NO_WORKSPACE
from waza_engine.spec.expected import Expected
from waza_engine.spec.grader_entry import GraderEntry

SECONDS = 0.7
"""The time limit for trials; one that has begun is finished."""
MOST_TRIALS = 200


@dataclass(frozen=True, slots=True)
class ExplainedTrial:
    """The result of a rule in one trial, from 1, of a task; ``passed`` is that of the rule."""

    task: str
    trial: int
    passed: bool
    met: Explanation


@dataclass(frozen=True, slots=True)
class ExplainedRule:
    """The results of a rule in the evaluated trials; ``most`` is the most informative one.

    That is the trial with the worst failure, or else the one with the best pass.
    """

    trials: Sequence[ExplainedTrial]
    total: int
    most: ExplainedTrial


def explained(
    session: LiveSession, grader: str, path: RulePath, task: str | None = None
) -> ExplainedRule | None:
    """Explain a rule of a grader with the session's open files; None when there is nothing to explain.

    ``path`` leads from its config to the rule, or from ``expected`` for a list of that. Raises
    ``SuiteFileError``, ``SuiteError`` and ``RecordingError``.
    """
    return copy_context().run(_explain_rule, session, grader, path, task)


def verdict_of(trial: LiveTrial) -> Validation | None:
    """Return a grader's current verdict on a trial; None when it cannot be judged here."""
    if trial.built is None:
        return next(iter(grade_expected(trial.written.spec.expected, trial.context, (trial.grader,))), None)
    built = (
        trial.built if trial.context.workspace is not None else without_workspace(trial.built, NO_WORKSPACE)
    )
    verdict = grade_here(built, trial.context)
    return verdict if verdict.status == "graded" else None


def passes_rule(verdict: Validation, path: RulePath) -> bool:
    """Return whether the checks of a rule passed: those at its path, above it or below it."""
    checks = [check for check in verdict.checks if check.path[: len(path)] == path[: len(check.path)]]
    return all(check.passed for check in checks) if checks else verdict.passed


def _explain_rule(
    session: LiveSession, grader: str, path: RulePath, task: str | None
) -> ExplainedRule | None:
    found: list[ExplainedTrial] = []
    latest = time.monotonic() + SECONDS
    with session.trials_of(grader, task) as at_hand:
        current_workers.set(at_hand.workers.patterns)
        for trial in at_hand.trials[:MOST_TRIALS]:
            if at_hand.superseded():
                return None
            met = _explain_trial(trial, path)
            verdict = verdict_of(trial) if met is not None else None
            if met is not None and verdict is not None:
                passed = passes_rule(verdict, path)
                found.append(ExplainedTrial(trial.task, trial.recorded.position, passed, met))
            if time.monotonic() > latest:
                break
        total = len(at_hand.trials)
    if not found:
        return None
    return ExplainedRule(found, total, max(found, key=lambda one: (not one.passed, one.met.weight)))


def _explain_trial(trial: LiveTrial, path: RulePath) -> Explanation | None:
    if trial.built is None:
        return _explain_expectation(trial.written.spec.expected, path, trial.context.output)
    grader = trial.built.grader
    if grader is None or (grader.needs_workspace and trial.context.workspace is None):
        return None
    try:
        return insight_of(grader).explain(trial.context, path)
    except (GraderError, PatternError) as error:
        return Explanation("error", (str(error),))
    except IndexError:
        # The open file has another shape than the requested rule.
        return None


@dataclass(frozen=True, slots=True)
class ReadTrial:
    """``judged`` are the names of the current verdicts; the others were recorded at ``started``.

    ``title`` is the name of its task, ``prompt`` that of the suite now.
    """

    title: str
    prompt: str
    outcome: TrialOutcome
    judged: Collection[str]
    started: datetime


def read_trial(session: LiveSession, task: str, number: int) -> ReadTrial | None:
    """Return a trial, from 1, of the task with this key.

    None when no grader of it is evaluated live, or a newer edit waits. Raises ``SuiteFileError``,
    ``SuiteError`` and ``RecordingError``.
    """
    return copy_context().run(_read_trial, session, task, number)


def _read_trial(session: LiveSession, task: str, number: int) -> ReadTrial | None:
    with session.trials_of(None, task) as at_hand:
        current_workers.set(at_hand.workers.patterns)
        trials = [trial for trial in at_hand.trials if trial.recorded.position == number]
        verdicts: dict[str, Validation | None] = {}
        for trial in trials:
            verdicts[trial.grader] = verdict_of(trial)
            if at_hand.superseded():
                # Its workers may have been ended, so their last results are not reliable.
                return None
        started = session.recording().header.started
    if not trials:
        return None
    first, judged = trials[0], {name: one for name, one in verdicts.items() if one is not None}
    outcome = first.recorded.outcome
    outcome = replace(outcome, validations={**(outcome.validations or {}), **judged})
    return ReadTrial(
        first.context.task_name or task, first.context.prompt, outcome, frozenset(judged), started
    )


def _explain_expectation(expected: Expected, path: RulePath, output: str) -> Explanation | None:
    """Explain one string of a list, or the whole list of strings of which one must occur."""
    match path:
        case ("output_contains" | "output_not_contains" | "output_contains_any" as key, int(index)):
            texts: Sequence[str] = getattr(expected, key)
            return explain_text(texts[index], output) if index < len(texts) else None
        case _:
            return None


MOST_OFFERED = 6
MOST_TRIED = 2_000
MOST_VERDICTS = 4_000
"""The most evaluations of proposals, best first: a count, so that a busy machine offers the same fixes."""
MOST_READ = 300
MOST_READ_CHARACTERS = 1_000_000
"""Of the answers that proposals are made of, those that fail first; they are tried on all."""


@dataclass(frozen=True, slots=True)
class Passes:
    """Of some trials: how many the whole grader passes, and of how many the rule alone holds."""

    grader: int
    rule: int


@dataclass(frozen=True, slots=True)
class RecordedFix:
    """A change with which more recorded trials pass: the counts before and after, of ``trials``.

    No trial that passed fails with it.
    """

    proposal: Proposal | FileProposal
    before: Passes
    after: Passes
    trials: int


Verdicts = Sequence[tuple[bool, bool]]
"""By trial: whether the grader passes, and whether the rule does."""


def recorded_fixes(
    session: LiveSession, grader: str, path: RulePath, task: str | None = None
) -> list[RecordedFix]:
    """Return changes with which a rule passes on more of the trials, the most helpful first.

    Arguments and errors are those of ``explained``.
    """
    return copy_context().run(_recorded_fixes, session, grader, path, task)


def _recorded_fixes(session: LiveSession, grader: str, path: RulePath, task: str | None) -> list[RecordedFix]:
    found: list[RecordedFix] = []
    with session.trials_of(grader, task) as at_hand:
        current_workers.set(at_hand.workers.patterns)
        # Files that are gone leave some without a verdict.
        judged = _judged(at_hand, path)
        trials = [trial for trial, _ in judged]
        before = [verdict for _, verdict in judged]
        if len({repr(trial.built and trial.built.entry) for trial in trials}) > 1:
            # Tasks have their own graders of this name: a change of one does not affect the others.
            return []
        if all(rule for _, rule in before):
            return []
        proposals = _proposals(_read_first(judged), path)
        for proposal in proposals[: max(1, MOST_VERDICTS // len(trials))]:
            after = _verdicts(at_hand, trials, proposal, path)
            if at_hand.superseded():
                break
            if after is not None and _helps(before, after):
                found.append(RecordedFix(proposal, _counted(before), _counted(after), len(trials)))
    found.sort(key=lambda fix: (-fix.after.grader, -fix.after.rule))
    return found[:MOST_OFFERED]


def _read_first(judged: Sequence[tuple[LiveTrial, tuple[bool, bool]]]) -> list[LiveTrial]:
    found: list[LiveTrial] = []
    characters = 0
    for trial, _ in sorted(judged, key=lambda one: one[1])[:MOST_READ]:
        characters += len(trial.context.output)
        if found and characters > MOST_READ_CHARACTERS:
            break
        found.append(trial)
    return found


def _proposals(trials: Sequence[LiveTrial], path: RulePath) -> Sequence[Proposal | FileProposal]:
    first = trials[0]
    contexts = [trial.context for trial in trials]
    if first.built is None:
        outputs = [context.output for context in contexts]
        return list(_propose_expectations(first.written.spec.expected, path, outputs))
    grader = first.built.grader
    if grader is None:
        return []
    try:
        return list(insight_of(grader).propose(contexts, path))
    except (GraderError, PatternError, IndexError):
        return []


def _changed(trial: LiveTrial, proposal: Proposal | FileProposal) -> LiveTrial | None:
    """Return a trial as the grader sees it with a proposal; None when that cannot be built."""
    if isinstance(proposal, FileProposal):
        files = trial.context.files.overlaid({proposal.file: proposal.text})
        return replace(trial, context=replace(trial.context, files=files))
    if trial.built is None:
        expected = trial.written.spec.expected
        key = str(proposal.path[0])
        lists = _with({key: getattr(expected, key)}, proposal.path, proposal.value)
        changed = expected.model_copy(update={key: tuple(lists[key])})
        spec = trial.written.spec.model_copy(update={"expected": changed})
        return replace(trial, written=replace(trial.written, spec=spec))
    entry = _changed_entry(trial.built.entry, proposal)
    try:
        return replace(trial, built=BuiltGrader(trial.built.name, entry, built_in(entry)))
    except GraderError:
        return None


def _changed_entry(entry: GraderEntry, proposal: Proposal) -> GraderEntry:
    """Return a grader entry with the value of a proposal at its place."""
    return entry.model_copy(update={"config": _with(entry.config, proposal.path, proposal.value)})


def _with(block: Any, path: RulePath, value: Any) -> Any:
    if not path:
        return value
    step, *rest = path
    if isinstance(step, int):
        items = list(cast("Sequence[Any]", block))
        items[step] = _with(items[step], tuple(rest), value)
        return items
    entries = dict(cast("Mapping[str, Any]", block))
    entries[step] = _with(entries.get(step), tuple(rest), value)
    return entries


def _judged(at_hand: LentTrials[LiveTrial], path: RulePath) -> list[tuple[LiveTrial, tuple[bool, bool]]]:
    """Return the trials that can be judged, with their results; none when a newer edit waits."""
    found: list[tuple[LiveTrial, tuple[bool, bool]]] = []
    for trial in at_hand.trials if len(at_hand.trials) <= MOST_TRIED else ():
        if at_hand.superseded():
            return []
        verdict = verdict_of(trial)
        if verdict is not None:
            found.append((trial, (verdict.passed, passes_rule(verdict, path))))
    return found


def _verdicts(
    at_hand: LentTrials[LiveTrial],
    trials: Sequence[LiveTrial],
    proposal: Proposal | FileProposal,
    path: RulePath,
) -> Verdicts | None:
    """Return a grader's verdicts on trials with a proposal; None when one cannot be computed."""
    found: list[tuple[bool, bool]] = []
    for trial in trials:
        if at_hand.superseded():
            return None
        changed = _changed(trial, proposal)
        verdict = verdict_of(changed) if changed is not None else None
        if verdict is None:
            return None
        found.append((verdict.passed, passes_rule(verdict, path)))
    return found


def _counted(verdicts: Verdicts) -> Passes:
    return Passes(sum(grader for grader, _ in verdicts), sum(rule for _, rule in verdicts))


def _helps(before: Verdicts, after: Verdicts) -> bool:
    """Return whether more trials pass, or else the rule on more, and none that passed fails."""
    pairs = list(zip(before, after, strict=True))
    return after != before and all(new[0] >= old[0] and new[1] >= old[1] for old, new in pairs)


def _propose_expectations(expected: Expected, path: RulePath, outputs: Sequence[str]) -> Iterator[Proposal]:
    """Propose strings for the lists, as they occur in the answers."""
    match path:
        case ("output_contains" | "output_contains_any" as key, int(index)):
            texts: Sequence[str] = getattr(expected, key)
            if index < len(texts):
                yield from propose_texts(path, texts[index], outputs)
        case _:
            pass
