"""The conclusion of a run: the one place that decides whether it passed, for every report. Light.

A verdict on answers is separate from errors around them: nothing without a verdict has failed, and nothing
without a verdict has passed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from waza_engine.counting import counted
from waza_engine.number_formats import format_below, format_percent, reaches
from waza_engine.results.conclusion_descriptions import (
    BASELINE,
    PROMPTS,
    SCORE,
    SKILLS,
    TASKS,
    WHOLE_RUN,
    WHOLE_SUITE,
    Counts,
    Reason,
    describe_counts,
    describe_end,
    describe_graders_run,
    describe_other_counts,
    describe_prompts,
)
from waza_engine.results.json_values import block_of, number_or_none, texts_of
from waza_engine.results.record import MetricOutcome, RunHeader, RunOutcome, RunStatus, TriggerOutcome
from waza_engine.results.task_conclusion import (
    TaskConclusion,
    TaskVerdict,
    conclude_task,
    in_part,
    tasks_by_name,
    trial_changes,
)
from waza_engine.scoring.impact import compared_rates, improves
from waza_engine.scoring.pass_estimates import MeanPassEstimates, PassEstimates, mean_pass_estimates
from waza_engine.scoring.statistics import SIGNIFICANT, mean, paired_p
from waza_engine.scoring.trigger_scores import trigger_metrics
from waza_engine.vocabulary import grader_label


@dataclass(frozen=True, slots=True)
class TriggerConclusion:
    """The results of the trigger prompts: correct, misclassified, or errors. Rates are 0..1.

    ``mistakes`` are the misclassified ones, ``broken`` those that could not be tried, if the record has them.
    """

    right: int
    wrong: int
    errored: int
    accuracy: float
    f1: float
    mistakes: tuple[TriggerOutcome, ...] = ()
    broken: tuple[TriggerOutcome, ...] = ()

    @property
    def total(self) -> int:
        """Return how many prompts there are."""
        return self.right + self.wrong + self.errored

    @property
    def counts(self) -> dict[str, int]:
        """Return the number of prompts with each result, as JSON."""
        return {"right": self.right, "wrong": self.wrong, "errored": self.errored}

    @property
    def share(self) -> float:
        """Return the share of all prompts with a correct answer, 0..1; untried ones are not correct."""
        return self.right / self.total if self.total else 0.0


def conclude_triggers(run: RunOutcome) -> TriggerConclusion | None:
    """Return the conclusion from a run's trigger prompts; None if it has none."""
    found = run.trigger_metrics
    if found is None and run.header.settings.get("prompts") and run.status in ("completed", "failed"):
        # Those of the chosen prompts, which the record does not store as those of the suite.
        found = trigger_metrics(run.triggers)
    if found is None:
        return None
    if run.triggers:
        broken = tuple(trigger for trigger in run.triggers if trigger_verdict(trigger) == "errored")
        wrong = tuple(trigger for trigger in run.triggers if trigger_verdict(trigger) == "failed")
        right = len(run.triggers) - len(wrong) - len(broken)
        return TriggerConclusion(right, len(wrong), len(broken), found.accuracy, found.f1, wrong, broken)
    # Prompts that could not be tried are counted there as misclassified.
    wrong_answers = max(0, found.false_positives + found.false_negatives - found.errors)
    right = found.true_positives + found.true_negatives
    return TriggerConclusion(right, wrong_answers, found.errors, found.accuracy, found.f1)


def trigger_verdict(trigger: TriggerOutcome) -> Literal["passed", "failed", "errored"]:
    """Return the result of a trigger prompt: ``errored`` when it could not be tried."""
    if trigger.error:
        return "errored"
    return "passed" if trigger.did_trigger == trigger.should_trigger else "failed"


@dataclass(frozen=True, slots=True)
class BaselineConclusion:
    """The run compared with one without skills, over the tasks judged in both.

    ``worth_it`` is None when there are none. ``errored`` is how many have no verdict without skills because
    something broke.
    """

    words: str
    worth_it: bool | None
    errored: int = 0


def conclude_baseline(
    tasks: Sequence[TaskConclusion], baseline: RunOutcome, *, regraded: bool = False
) -> BaselineConclusion:
    """Return how the tasks compare with the run without skills; tasks without a verdict are skipped.

    ``regraded`` says that the tasks were graded again since; those without skills never are.
    """
    concluded = [conclude_task(task) for task in baseline.tasks]
    errored = sum(task.verdict == "errored" for task in concluded)
    with_skills, without = (
        {name: task for name, task in tasks_by_name(found).items() if task.judged}
        for found in (tasks, concluded)
    )
    found = compared_rates(
        {name: task.verdict for name, task in with_skills.items()},
        {name: task.verdict for name, task in without.items()},
    )
    if found is None:
        return BaselineConclusion(
            "with skills and without cannot be compared: no task was judged both times", None, errored
        )
    p = paired_p(
        [
            difference
            for name, task in with_skills.items()
            if name in without
            for difference in trial_changes(without[name], task)
        ]
    )
    every = found.tasks == len(tasks)
    which = "tasks" if every else f"{counted(found.tasks, 'task')} judged both times, of {len(tasks)},"
    rates = (
        f"{_percent(found.with_skills)} of the {which} pass with skills, {_percent(found.baseline)} without"
        f"{' (those were not graded again)' if regraded else ''}"
    )
    return BaselineConclusion(
        f"{rates}: {_difference_words(found.with_skills - found.baseline, found.baseline, p)}",
        improves(found.with_skills, found.baseline),
        errored,
    )


def _difference_words(difference: float, baseline: float, p: float) -> str:
    if difference == 0:
        return "there is nothing to improve" if baseline == 1 else "the skills do not help"
    if p > SIGNIFICANT:
        return f"too few trials to tell this from chance (p = {p:.2g})"
    return f"the skills {'help' if difference > 0 else 'do harm'} (p = {p:.2g})"


def _percent(rate: float) -> str:
    return f"{format_percent(rate)} %"


RunVerdict = Literal["passed", "failed", "errored", "unjudged", "limited", "interrupted", "broken"]
"""The verdicts of a run.

``errored``: no verdict is "failed", but something broke. ``unjudged``: there is no verdict at all.
``limited``, ``interrupted``, ``broken``: it was ended by a limit of cost or tokens, it was ended by a person,
it could not run (to its end, or a task of it not at all).
"""

EXIT_CODES: Mapping[RunVerdict, int] = {
    "passed": 0,
    "unjudged": 0,
    "failed": 1,
    "broken": 2,
    "limited": 3,
    "errored": 4,
    "interrupted": 130,
}
NOT_RUN, INTERRUPTED = EXIT_CODES["broken"], EXIT_CODES["interrupted"]
WORST_LAST = tuple(
    EXIT_CODES[verdict] for verdict in ("passed", "errored", "failed", "limited", "broken", "interrupted")
)
"""The exit codes in the order of severity: of several suites, the last one counts."""
_STATUSES: Mapping[RunVerdict, RunStatus] = {
    "passed": "completed",
    "unjudged": "completed",
    "failed": "failed",
    "errored": "failed",
    "broken": "failed",
    "limited": "error",
    "interrupted": "canceled",
}
DECIDING = "trigger_accuracy"


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The conclusion of a run. ``reasons`` say why it did not pass, ``notes`` what else is worth knowing.

    ``score`` is the mean of the weighted task scores, 0..1, ``plain_score`` that without weights.
    ``repeated`` are the estimates of the tasks with several trials. ``part`` says how many graders were run,
    "" for all of them: a task that passed only some of its graders has no verdict, and is skipped.
    """

    verdict: RunVerdict
    reasons: tuple[Reason, ...]
    notes: tuple[str, ...]
    counts: Counts
    tasks: tuple[TaskConclusion, ...]
    score: float
    triggers: TriggerConclusion | None
    baseline: BaselineConclusion | None
    repeated: tuple[PassEstimates, ...]
    part: str = ""
    plain_score: float = 0.0

    @property
    def exit_code(self) -> int:
        """The exit code of a command that ran it."""
        return EXIT_CODES[self.verdict]

    @property
    def status(self) -> RunStatus:
        """Return the verdict of a complete run as a status of the record.

        A task that could not be loaded makes a run incomplete, and is no reason to stop it.
        """
        return _STATUSES[self.verdict]

    @property
    def scored(self) -> bool:
        """Return whether any task counts with its score; if not, the run has no score."""
        return any(task.scored for task in self.tasks)

    @property
    def pass_estimates(self) -> MeanPassEstimates | None:
        """Return the chances that one, or each, of as many new trials passes; None without several trials."""
        return mean_pass_estimates(self.repeated)

    @property
    def good(self) -> bool:
        """Return whether something was judged, and nothing speaks against the run."""
        return self.verdict == "passed"

    @property
    def words(self) -> str:
        """Return how it ended, in one line: ``2 of 3 tasks passed, 1 failed``; errors and stops first."""
        tried = self.triggers
        unusable = _unusable(self.tasks)  # tasks that cannot run are why the run is broken
        others = [task for task in self.tasks if task.verdict == "errored" and task not in unusable]
        broken = [task.reason for task in (*unusable, *others)]
        if tried is not None:
            broken += [trigger.error for trigger in tried.broken]
        results = [self._tasks] if self.counts.total else []
        results += [self._prompts] if self._prompts else []
        # The number of graders that were run comes before the results of tasks.
        reasons = () if self.part and self.verdict == "unjudged" else self.reasons
        return describe_end(self.verdict, reasons, self.counts, results, broken)

    @property
    def results(self) -> str:
        """Return the number of tasks with each result; in a run of trigger prompts alone, of these."""
        return self._tasks if self.counts.total else self._prompts or "no task was run"

    @property
    def _tasks(self) -> str:
        if not self.part:
            return describe_counts(self.counts)
        passed = sum(task.passes_part for task in self.tasks)
        others = replace(self.counts, skipped=self.counts.skipped - passed)
        by = f"{self.part}; {passed} of {counted(self.counts.total, 'task')} passed there"
        return ", ".join([by, *filter(None, describe_other_counts(others))])

    @property
    def _prompts(self) -> str:
        tried = self.triggers
        return describe_prompts(tried.right, tried.wrong, tried.errored) if tried is not None else ""

    def document(self) -> dict[str, Any]:
        """Return it as JSON, without its tasks."""
        tried = self.triggers
        return {
            "verdict": self.verdict,
            "words": self.words,
            "exit_code": self.exit_code,
            "tasks": asdict(self.counts),
            **({"triggers": tried.counts} if tried is not None else {}),
            **({"estimates": estimates.words} if (estimates := self.pass_estimates) is not None else {}),
            "reasons": [reason.words for reason in self.reasons],
            "counted_reasons": [reason.words for reason in self.reasons if reason.is_counted],
            "notes": list(self.notes),
        }


def conclude(
    run: RunOutcome, *, fail_under: float | None = None, tasks: Sequence[TaskConclusion] | None = None
) -> Conclusion:
    """Return the conclusion of a run; ``fail_under`` is the least score, 0..1, with which it passes.

    The run's own ``fail_under`` applies too. ``tasks`` are the conclusions of its tasks, if the caller has
    them already.
    """
    if tasks is None:
        tasks = [conclude_task(task, run.header.executor) for task in run.tasks]
    tasks = tuple(tasks)
    counts = _counts(tasks)
    triggers = conclude_triggers(run)
    baseline = (
        None if run.baseline is None else conclude_baseline(tasks, run.baseline, regraded=run.header.regraded)
    )
    failures, breakages = (
        list(_failures(counts, run, triggers, baseline)),
        list(_breakages(counts, run, triggers, baseline)),
    )
    failures += _below(_least_score(run, fail_under), run, tasks)
    suite_notes: tuple[str, ...] = ()
    match run.suite_conclusion:
        case ("failed", words):
            failures.append(Reason(words, "failed", WHOLE_SUITE))
        case ("errored", words):
            breakages.append(Reason(words, "errored", WHOLE_SUITE))
        case (_, words):
            suite_notes = (words,) if words else ()
    verdict = _verdict(run, tasks, triggers, failed=bool(failures), errored=bool(breakages))
    ending = list(_ending(verdict, run, tasks))
    part = ""
    repeated = tuple(task.estimates for task in tasks if task.scored and task.estimates is not None)
    if run.header.graders and run.header.leaves_graders_out:
        part = describe_graders_run(len(run.header.graders), run.header.graders_of)
        tasks = tuple(in_part(task, part) for task in tasks)
        counts = _counts(tasks)
        if verdict == "passed":
            verdict = "unjudged"
            ending = [Reason(part, "unjudged", TASKS, is_counted=True)]
    if verdict == "passed" and run.status == "failed":
        # An older file that does not say why: a run that did not pass then does not pass now.
        verdict, failures = "failed", [Reason("the run was recorded as failed", "failed", WHOLE_RUN)]
    return Conclusion(
        verdict=verdict,
        reasons=(*ending, *failures, *breakages),
        notes=(
            *chosen_parts(run),
            *_cut_prompts(run, triggers),
            *_misclassified(triggers, failures),
            *_waiting(verdict, tasks),
            *_notes(counts, tasks, run.metrics, baseline, failures),
            *suite_notes,
        ),
        counts=counts,
        tasks=tasks,
        score=run.summary.weighted_score,
        plain_score=run.summary.aggregate_score,
        triggers=triggers,
        baseline=baseline,
        repeated=repeated,
        part=part,
    )


def decides(metric: str) -> bool:
    """Return whether missing its threshold fails a run; all other metrics are informative."""
    return metric == DECIDING


def describe_missed_metric(metric: MetricOutcome) -> str:
    """Return how a metric fell short: ``trigger_accuracy is 0.50, below 0.9``."""
    value, threshold = format_below(metric.value, metric.threshold)
    return f"{metric.name} is {value}, below {threshold}"


def _verdict(
    run: RunOutcome,
    tasks: Sequence[TaskConclusion],
    triggers: TriggerConclusion | None,
    *,
    failed: bool,
    errored: bool,
) -> RunVerdict:
    if run.status == "canceled":
        return "interrupted"
    if run.limit:
        return "limited"
    if run.status == "error" or _unusable(tasks):
        return "broken"
    if failed:
        return "failed"
    if errored:
        return "errored"
    judged = any(task.judged for task in tasks) or (triggers is not None and triggers.right > 0)
    return "passed" if judged else "unjudged"


def _unusable(tasks: Sequence[TaskConclusion]) -> list[TaskConclusion]:
    """Return the tasks that could not be loaded: a mistake in the suite, not a failure of a dependency."""
    return [task for task in tasks if task.task.status == "error" and not task.task.trials]


def _ending(verdict: RunVerdict, run: RunOutcome, tasks: Sequence[TaskConclusion]) -> Iterator[Reason]:
    match verdict:
        case "interrupted":
            message = run.message or "the run was interrupted; what was finished is kept"
            yield Reason(message, "errored", WHOLE_RUN)
        case "limited":
            yield Reason(run.message or f"{run.limit}; what was finished is kept", "errored", WHOLE_RUN)
        case "broken" if run.status == "error":
            yield Reason(run.message or "the run did not come to its end", "errored", WHOLE_RUN)
        case "unjudged":
            why = ", ".join(filter(None, [_waiting_words(tasks), _without_graders(tasks)]))
            yield Reason(f"nothing was judged{f': {why}' if why else ''}", "unjudged", TASKS)
        case _:
            pass
    if unusable := _unusable(tasks):
        yield Reason(f"{counted(len(unusable), 'task')} could not be run", "errored", TASKS)


def _waiting_words(tasks: Sequence[TaskConclusion]) -> str:
    """Return how many tasks wait for people, "" when none does."""
    count = sum(task.waits for task in tasks)
    return f"{counted(count, 'task')} {'waits' if count == 1 else 'wait'} for a review" if count else ""


def _without_graders(tasks: Sequence[TaskConclusion]) -> str:
    """Return how many tasks have no grader that judges their answers, "" when all have one."""
    count = sum(task.has_no_grader for task in tasks)
    what = "required grader" if any(task.has_no_grader and task.graders for task in tasks) else "grader"
    if count and count == len(tasks):
        return f"there is no {what}"
    return f"{counted(count, 'task')} {'has' if count == 1 else 'have'} no {what}" if count else ""


def _failures(
    counts: Counts,
    run: RunOutcome,
    triggers: TriggerConclusion | None,
    baseline: BaselineConclusion | None,
) -> Iterator[Reason]:
    """Yield the verdicts and metrics that fail the run."""
    if counts.failed and number_or_none(run.header.settings.get("pass_score")) is None:
        yield Reason(f"{counted(counts.failed, 'task')} failed", "failed", TASKS, is_counted=True)
    least = number_or_none(run.header.settings.get("fail_under_trigger"))
    if triggers is not None and triggers.wrong and run.header.settings.get("prompts"):
        words = f"{triggers.wrong} of {counted(triggers.total, 'trigger prompt')} answered wrongly"
        yield Reason(words, "failed", PROMPTS)
    elif least is not None and (triggers is None or not reaches(triggers.share, least)):
        share, wanted = format_below(0.0 if triggers is None else triggers.share, least)
        tried = "no trigger prompt was tried" if triggers is None else describe_misclassified(triggers)
        yield Reason(f"{tried}: {share} classified correctly, below {wanted}", "failed", PROMPTS)
    for metric in run.metrics:
        if not metric.passed and decides(metric.name) and not _only_broke(metric, run, triggers):
            yield Reason(describe_missed_metric(metric), "failed", metric.name)
    if baseline is not None and baseline.worth_it is False:
        yield Reason(baseline.words, "failed", SKILLS)


def describe_misclassified(triggers: TriggerConclusion) -> str:
    """Return how many trigger prompts were misclassified: ``3 of 3 trigger prompts misclassified``."""
    return f"{triggers.wrong} of {counted(triggers.total, 'trigger prompt')} misclassified"


def _misclassified(triggers: TriggerConclusion | None, failures: Sequence[Reason]) -> Iterator[str]:
    """Yield a note about misclassified trigger prompts that do not fail the run; upstream passes it, too."""
    if (
        triggers is not None
        and triggers.wrong
        and not {each.about for each in failures} & {PROMPTS, DECIDING}
    ):
        yield f"{describe_misclassified(triggers)}; `--fail-under-trigger` or a threshold makes it a failure"


def _breakages(
    counts: Counts,
    run: RunOutcome,
    triggers: TriggerConclusion | None,
    baseline: BaselineConclusion | None,
) -> Iterator[Reason]:
    """Yield the reasons why parts of the run have no verdict: something broke."""
    if counts.errored:
        yield Reason(f"{counted(counts.errored, 'task')} in error", "errored", TASKS, is_counted=True)
    if baseline is not None and baseline.errored:
        yield Reason(f"{counted(baseline.errored, 'task')} in error without skills", "errored", BASELINE)
    if triggers is not None and triggers.errored:
        words = f"{triggers.errored} of {counted(triggers.total, 'trigger prompt')} could not be tried"
        yield Reason(words, "errored", PROMPTS)
    for metric in run.metrics:
        if not metric.passed and decides(metric.name) and _only_broke(metric, run, triggers):
            yield Reason(describe_missed_metric(metric), "errored", metric.name)


def _only_broke(metric: MetricOutcome, run: RunOutcome, triggers: TriggerConclusion | None) -> bool:
    """Return whether a trigger metric is missed only because of prompts that could not be tried."""
    if triggers is None or not triggers.errored:
        return False
    if not triggers.wrong:
        return True
    tried = [trigger for trigger in run.triggers if not trigger.error]
    weights = [0.5 if trigger.confidence == "medium" else 1.0 for trigger in tried]
    right = sum(
        weight
        for trigger, weight in zip(tried, weights, strict=True)
        if trigger.did_trigger == trigger.should_trigger
    )
    return bool(tried) and reaches(right / sum(weights), metric.threshold)


def _least_score(run: RunOutcome, wanted: float | None) -> float | None:
    """Return the score below which the run fails: the highest of the current and the recorded limits."""
    asked = [number_or_none(run.header.settings.get(key)) for key in ("fail_under", "pass_score")]
    return max((least for least in (wanted, *asked) if least is not None), default=None)


def _below(fail_under: float | None, run: RunOutcome, tasks: Sequence[TaskConclusion]) -> Iterator[Reason]:
    """Yield the reason that the score is too low; errors do not lower it."""
    if fail_under is None:
        return
    judged = [task.score for task in tasks if task.judged]
    errored = any(task.verdict == "errored" for task in tasks)
    if not judged and not errored:
        words = f"there is no score, for nothing was judged; at least {fail_under:g} is wanted"
        yield Reason(words, "failed", SCORE)
    elif judged and not reaches(mean(judged) if errored else run.summary.weighted_score, fail_under):
        score, least = format_below(run.summary.weighted_score, fail_under)
        yield Reason(f"the score is {score}, below {least}", "failed", SCORE)


def _cut_prompts(run: RunOutcome, triggers: TriggerConclusion | None) -> Iterator[str]:
    """Yield a note when the run ended during its trigger prompts: a part of them gives no metric."""
    if run.triggers and triggers is None:
        count = counted(len(run.triggers), "trigger prompt")
        wrong = sum(trigger_verdict(trigger) == "failed" for trigger in run.triggers)
        of_them = f", {wrong} of them answered wrongly" if wrong else ""
        yield f"the run ended after {count}{of_them}: there is no verdict of all of them"


def _waiting(verdict: RunVerdict, tasks: Sequence[TaskConclusion]) -> Iterator[str]:
    """Yield notes about tasks that wait for a review or have no graders, if anything was judged."""
    if verdict == "unjudged":
        return
    if words := _waiting_words(tasks):
        yield words
    if count := sum(task.may_yet_fail for task in tasks):
        yield f"{counted(count, 'task')} passed so far, and a review is still to come"
    if words := _without_graders(tasks):
        yield f"{words}: nothing was judged there, and the score counts that as 0"


def _notes(
    counts: Counts,
    tasks: Sequence[TaskConclusion],
    metrics: Sequence[MetricOutcome],
    baseline: BaselineConclusion | None,
    failures: Sequence[Reason],
) -> Iterator[str]:
    if doubted := sum(task.task.doubted for task in tasks):
        words = "is recorded as passed, which a verdict contradicts: that"
        if doubted > 1:
            words = "are recorded as passed, which verdicts contradict: these"
        yield f"{counted(doubted, 'task')} {words} count{'s' if doubted == 1 else ''}"
    if counts.flaky:
        yield f"{counted(counts.flaky, 'task')} flaky: some trials passed, some failed"
    for metric in metrics:
        if not metric.passed and not decides(metric.name):
            yield describe_missed_metric(metric)
    if baseline is not None and all(baseline.words != failure.words for failure in failures):
        yield baseline.words


def _counts(tasks: Sequence[TaskConclusion]) -> Counts:
    verdicts: list[TaskVerdict] = [task.verdict for task in tasks]
    return Counts(
        total=len(tasks),
        passed=verdicts.count("passed"),
        failed=verdicts.count("failed"),
        errored=verdicts.count("errored"),
        skipped=verdicts.count("skipped"),
        lost=verdicts.count("lost"),
        not_run=verdicts.count("not run"),
        flaky=sum(task.flaky for task in tasks),
    )


_MOST_NAMES = 3


def part_of(header: RunHeader) -> str:
    """Return the part in few words, "" for the whole suite: ``the grader `says` of the task `one` alone``."""
    parts = [
        _named(map(grader_label, header.graders), "grader"),
        _named(header.tasks, "task"),
        _named(texts_of(header.settings.get("tags")), "tag"),
    ]
    affected = block_of(header.settings, "affected")
    if affected and not header.tasks and affected.get("tasks") != affected.get("of"):
        parts.append(f"what changed since `{header.settings.get('changed_since')}`")
    if shard := block_of(header.settings, "shard"):
        parts.append(f"shard {shard.get('number')} of {shard.get('of')}")
    parts.append("chosen trigger prompts" if header.settings.get("prompts") else "")
    description = " of ".join(filter(None, parts))
    return f"{description} alone" if description else ""


def leaves_tasks_out(header: RunHeader) -> bool:
    """Return whether only some tasks of the suite were chosen to run."""
    return bool(part_of(replace(header, graders=())))


def chosen_parts(run: RunOutcome) -> Iterator[str]:
    """Yield a sentence about each choice that left out a part of the suite."""
    header, settings = run.header, run.header.settings
    for whose, patterns in (
        ("that match", header.tasks),
        ("with the tag", texts_of(settings.get("tags"))),
    ):
        if patterns:
            yield f"only tasks {whose} {', '.join(f'`{pattern}`' for pattern in patterns)} were selected"
    if names := header.graders:
        asked = ", ".join(f"`{grader_label(name)}`" for name in names)
        graders, verb = ("grader", "was") if len(names) == 1 else ("graders", "were")
        yield f"only the {graders} {asked} {verb} run: no verdict of the suite"
    if shard := block_of(settings, "shard"):
        counts = f"{len(run.tasks)} of {counted(len(texts_of(shard.get('tasks'))), 'task')}"
        yield f"only shard {shard.get('number')} of {shard.get('of')} was run: {counts}"
    if settings.get("prompts"):
        yield "only some trigger prompts were selected: no verdict of all of them"
    commit, affected = settings.get("changed_since"), block_of(settings, "affected")
    if commit and affected:
        counts = f"{affected.get('tasks')} of {counted(int(affected.get('of') or 0), 'task')}"
        yield f"only what changed since {commit} was run: it affects {counts}"


def _named(names: Iterable[str], what: str) -> str:
    """Return some names of one kind, beyond three their number; "" without any."""
    known = list(names)
    if len(known) > _MOST_NAMES:
        return counted(len(known), what)
    listed = ", ".join(f"`{name}`" for name in known)
    return f"the {what if len(known) == 1 else f'{what}s'} {listed}" if known else ""
