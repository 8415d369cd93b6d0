"""Fail when results regress against a baseline: upstream's ``gate``, with its object."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from waza_engine.counting import counted
from waza_engine.markdown import code, sentence
from waza_engine.number_formats import format_above, format_below, format_score, format_share, reaches
from waza_engine.results.codec.run_documents import run_of
from waza_engine.results.conclusion import (
    Conclusion,
    TriggerConclusion,
    chosen_parts,
    conclude,
    describe_misclassified,
)
from waza_engine.results.conclusion_descriptions import PROMPTS, TASKS, WHOLE_RUN
from waza_engine.results.json_values import Json, block_of, nonempty, number
from waza_engine.results.reading.recordings import Recording
from waza_engine.results.reports.descriptions import describe_repeated_trials
from waza_engine.results.task_conclusion import TaskConclusion, tasks_by_name, trial_changes
from waza_engine.scoring.statistics import SIGNIFICANT, mean, paired_p

Policy = Literal["allow", "warn", "fail"]
PASSED, REGRESSED, GOLDEN_FAILED, NOT_GATED = 0, 1, 2, 3


@dataclass(frozen=True, slots=True)
class GateLimits:
    """The allowed changes: the pass rate by so many percentage points, and added or removed tasks.

    ``least_triggers`` is the share of trigger prompts, 0..1, that must be classified correctly now, and
    ``least_pass_exp_k`` the least mean pass^k of the tasks.
    """

    most_regression: float = 0.0
    golden_must_pass: bool = False
    new_tasks: Policy = "allow"
    removed_tasks: Policy = "warn"
    least_triggers: float | None = None
    least_pass_exp_k: float | None = None


@dataclass(slots=True)
class _Issues:
    warnings: list[Json] = field(default_factory=list[Json])
    failures: list[Json] = field(default_factory=list[Json])

    def add(self, policy: Policy, kind: str, message: str, task: TaskConclusion | None = None) -> None:
        """Store an issue according to a policy."""
        if policy == "allow":
            return
        about = {} if task is None else {"task_id": task.id, **nonempty(task_name=task.name)}
        found = {"kind": kind, "severity": "error" if policy == "fail" else "warning", "message": message}
        (self.failures if policy == "fail" else self.warnings).append({**found, **about})


def gate(baseline: Recording, current: Recording, limits: GateLimits) -> Json:
    """Return upstream's object of a gate; ``exit_code`` is 0, 1 for a regression, 2 for a golden task.

    Rates are 0..1, a regression is in percentage points. A task that broke, or did not run, has not passed;
    an unfinished run never passes the gate, nor does one without graders if the baseline's tasks were judged.
    """
    then, now = conclude(run_of(baseline.document)), conclude(run_of(current.document))
    rates = [_rate(recording, found) for recording, found in ((baseline, then), (current, now))]
    regression = max(0.0, (rates[0] - rates[1]) * 100)
    issues = _Issues()
    if now.tasks and all(task.was_not_judged for task in now.tasks):
        # Upstream lets such a run pass, although no answer was graded. It is worse if answers were before.
        why = next((reason.words for reason in now.reasons if reason.about == TASKS), "no task was judged")
        issues.add("fail" if then.counts.judged else "warn", "unjudged", f"in the current run {why}")
    elif now.verdict in ("interrupted", "limited", "broken") or (now.verdict == "unjudged" and not now.part):
        issues.add("fail", "incomplete", f"the current run is no whole run: {now.reasons[0].words}")
    elif errors := [reason.words for reason in now.reasons if reason.kind == "errored"]:
        issues.add("fail", "errored", f"the current run is in error: {errors[0]}")
    _check_doubts(issues, then, now, baseline, current)
    if regression > limits.most_regression + 1e-9:
        fell, most = format_above(regression, limits.most_regression)
        message = f"the pass rate fell by {fell} percentage points, more than {most}"
        issues.add("fail", "regression", f"{message} ({_chance(then, now)})")
    _check_score(issues, then, now, limits)
    _check_prompts(issues, then, now, limits)
    if limits.least_pass_exp_k is not None:
        _check_pass_exp_k(issues, now, limits.least_pass_exp_k)
    before, after = tasks_by_name(then.tasks), tasks_by_name(now.tasks)
    new = [after[name] for name in sorted(after.keys() - before.keys())]
    removed = [before[name] for name in sorted(before.keys() - after.keys())]
    for task in new:
        issues.add(limits.new_tasks, "new_task", f"task `{task.id}` is only in the current results", task)
    for task in removed:
        words = f"task `{task.id}` is only in the results of the baseline"
        issues.add(limits.removed_tasks, "removed_task", words, task)
    judged_before = {name for name, task in before.items() if task.judged}
    for name, task in after.items():
        # It has no grader any more, as if it were removed; a run of only such tasks is reported above.
        if name in judged_before and task.was_not_judged and now.counts.judged:
            words = f"task `{task.id}` was judged in the baseline; now {task.reason}"
            issues.add(limits.removed_tasks, "unjudged", words, task)
    golden = _check_golden(issues, then, now) if limits.golden_must_pass else []
    exit_code = GOLDEN_FAILED if golden else REGRESSED if issues.failures else PASSED
    return {
        "passed": exit_code == PASSED,
        "exit_code": exit_code,
        "verdict": {PASSED: "pass", REGRESSED: "fail", GOLDEN_FAILED: "golden-failure"}[exit_code],
        "baseline_file": str(baseline.path),
        "current_file": str(current.path),
        "baseline_success_rate": rates[0],
        "current_success_rate": rates[1],
        "regression_pct": regression,
        "max_regression_pct": limits.most_regression,
        "golden_must_pass": limits.golden_must_pass,
        **nonempty(
            golden_failures=golden,
            new_tasks=[_task(task) for task in new],
            removed_tasks=[_task(task) for task in removed],
            warnings=issues.warnings,
            failures=issues.failures,
        ),
        "baseline_task_count": len(then.tasks),
        "current_task_count": len(now.tasks),
        "baseline_judged_count": then.counts.judged,
        "current_judged_count": now.counts.judged,
        **nonempty(
            baseline_triggers=then.triggers and then.triggers.counts,
            current_triggers=now.triggers and now.triggers.counts,
        ),
        **nonempty(
            baseline_estimates=describe_repeated_trials(then), current_estimates=describe_repeated_trials(now)
        ),
        "new_task_policy": limits.new_tasks,
        "removed_task_policy": limits.removed_tasks,
        **nonempty(
            baseline_model=baseline.header.model,
            current_model=current.header.model,
            baseline_asked_model=baseline.header.asked_model,
            current_asked_model=current.header.asked_model,
            baseline_runs_per_test=baseline.header.trials_per_task,
            current_runs_per_test=current.header.trials_per_task,
        ),
        "baseline_aggregate_score": then.score,
        "current_aggregate_score": now.score,
    }


def _check_golden(issues: _Issues, then: Conclusion, now: Conclusion) -> list[Json]:
    """Report and return the golden tasks that did not pass, or that only the baseline has.

    Two tasks may have one id: each of them must pass. A task that is not golden any more counts as others do.
    One without a grader passes if it had none in the baseline either.
    """
    failed = list[Json]()
    judged_before = {task.id for task in then.tasks if task.judged}
    for task in _golden(now):
        if task.has_no_grader and task.id not in judged_before:
            issues.add("warn", "unjudged", f"golden task `{task.id}`: {task.reason}", task)
        elif task.verdict != "passed" and not task.passes_part:
            issues.add(
                "fail", "golden_failure", f"golden task `{task.id}` did not pass: {task.verdict}", task
            )
            failed.append(_task(task))
    ids = {task.id for task in now.tasks}
    for task in _golden(then):
        if task.id not in ids:
            words = f"golden task `{task.id}` is missing in the current results"
            issues.add("fail", "golden_failure", words, task)
            failed.append({**_task(task), "status": "n/a", "pass_rate": 0.0})
    return failed


def _golden(found: Conclusion) -> list[TaskConclusion]:
    return sorted((task for task in found.tasks if task.task.golden), key=lambda task: task.id)


def chance(then: Mapping[str, TaskConclusion], now: Mapping[str, TaskConclusion]) -> float:
    """Return the p-value of the paired test over the trials of the tasks that both have."""
    return paired_p([step for name in now if name in then for step in trial_changes(then[name], now[name])])


def _chance(then: Conclusion, now: Conclusion) -> str:
    p = chance(tasks_by_name(then.tasks), tasks_by_name(now.tasks))
    return f"p = {p:.2g}" + ("" if p <= SIGNIFICANT else ", which may be chance")


def _check_score(issues: _Issues, then: Conclusion, now: Conclusion, limits: GateLimits) -> None:
    """Report a mean score that fell by more than chance: answers can get worse and all tasks still pass.

    Only tasks that both runs scored count, each once. The pass rate's limit holds for the score too.
    """
    before, after = tasks_by_name(then.tasks), tasks_by_name(now.tasks)
    both = [(before[name], task) for name, task in after.items() if name in before]
    scores = [(old.score, new.score) for old, new in both if old.scored and new.scored]
    p = paired_p([new - old for old, new in scores])
    old, new = (mean([pair[side] for pair in scores]) for side in (0, 1))
    if p <= SIGNIFICANT and (old - new) * 100 > limits.most_regression + 1e-9:
        shown = f"{format_score(old, 4)} to {format_score(new, 4)}"
        issues.add(
            "fail",
            "score",
            f"the mean score of {counted(len(scores), 'task')} fell from {shown} (p = {p:.2g})",
        )


def _check_doubts(
    issues: _Issues, then: Conclusion, now: Conclusion, baseline: Recording, current: Recording
) -> None:
    """Warn where a pass means little: a bad baseline, a partial run, or a run that fails by itself."""
    if words := _baseline_words(then):
        issues.add("warn", "incomplete_baseline", words)
    for words, recording in (("the baseline", baseline), ("the current run", current)):
        run = run_of(recording.document)
        for part in chosen_parts(run):
            issues.add("warn", "partial", f"{words} is a part of its suite: {part}")
    for reason in now.reasons:
        if reason.about not in (TASKS, PROMPTS, WHOLE_RUN):
            issues.add("warn", "no_pass", f"the current run is no pass by itself: {reason.words}")


def _baseline_words(then: Conclusion) -> str:
    """Return why a baseline is too bad to compare with, "" when it is not."""
    if then.verdict in ("interrupted", "limited", "broken"):
        return f"the baseline is no whole run: {then.reasons[0].words}"
    if then.tasks and then.counts.errored == then.counts.judged > 0:
        return f"no answer of the baseline was judged: {then.reasons[0].words}"
    return ""


def _rate(recording: Recording, found: Conclusion) -> float:
    written = number(block_of(recording.document, "summary").get("success_rate"))
    # Tasks that chosen graders let pass count as they are written; the gate warns of such a run.
    return written if found.part else found.counts.pass_rate(written)


def _check_pass_exp_k(issues: _Issues, now: Conclusion, least: float) -> None:
    """Report that the mean pass^k of the tasks with several trials is too low, or that there are none."""
    found = now.pass_estimates
    if found is None:
        issues.add("fail", "pass_exp_k", "pass^k is not known: no task of the current run has several trials")
    elif not reaches(found.pass_exp_k.mean, least):
        shown, wanted = format_below(found.pass_exp_k.mean, least)
        issues.add("fail", "pass_exp_k", f"pass^k is {shown}, below {wanted} ({found.words})")


def _check_prompts(issues: _Issues, then: Conclusion, now: Conclusion, limits: GateLimits) -> None:
    """Report when fewer trigger prompts were correct, as for tasks, or when some were added or removed."""
    share = 0.0 if now.triggers is None else now.triggers.share
    if limits.least_triggers is not None and not reaches(share, limits.least_triggers):
        share_words, least = format_below(share, limits.least_triggers)
        tried = (
            "no trigger prompt was tried" if now.triggers is None else describe_misclassified(now.triggers)
        )
        issues.add("fail", "trigger_share", f"{tried}: {share_words} classified correctly, below {least}")
    if now.triggers is None or then.triggers is None:
        if then.triggers is not None:
            words = f"{counted(then.triggers.total, 'trigger prompt')} of the baseline: none was tried now"
            issues.add(limits.removed_tasks, "removed_trigger_prompts", words)
        elif now.triggers is not None:
            words = f"the baseline tried no trigger prompts; there are {now.triggers.total} now"
            issues.add(limits.new_tasks, "new_trigger_prompts", words)
        return
    fell = (then.triggers.share - now.triggers.share) * 100
    if fell > limits.most_regression + 1e-9:
        rates = f"{_right(then.triggers)} before, {_right(now.triggers)} now"
        issues.add("fail", "trigger_regression", f"fewer trigger prompts were answered rightly: {rates}")


def _right(found: TriggerConclusion) -> str:
    return f"{found.right} of {found.total}"


def _task(task: TaskConclusion) -> dict[str, Any]:
    numbers = task.task.statistics
    return {
        "task_id": task.id,
        "display_name": task.name,
        **nonempty(golden=task.task.golden),
        "status": task.task.status,
        "pass_rate": 0.0 if numbers is None else numbers.pass_rate,
    }


def describe_prompt_counts(found: Json, name: str) -> str:
    """Return how many trigger prompts a run (``baseline`` or ``current``) answered rightly."""
    tried = found.get(f"{name}_triggers")
    if not tried:
        return ""
    total = sum(tried.values())
    return f"{tried['right']} of {counted(total, 'trigger prompt')} right"


def _figure(found: Json, key: str, shown: Callable[[float], str]) -> str:
    """Return the cells of a number that only runs with a judged task have."""
    return " | ".join(
        shown(found[f"{name}_{key}"]) if found[f"{name}_judged_count"] else "none judged"
        for name in ("baseline", "current")
    )


def _row(title: str, *cells: str) -> list[str]:
    """Return a row of the table, none when all of its cells are empty."""
    return [f"| {title} | {' | '.join(cell or 'none' for cell in cells)} |"] if any(cells) else []


def gate_markdown(found: Json, suite: str = "") -> str:
    """Return a gate as Markdown, of one of several suites by its path; text from files is shown as code."""
    most = found["max_regression_pct"]
    lines = [
        f"## {'✅' if found['passed'] else '❌'} Gate{f' of {code(suite)}' if suite else ''}: "
        f"{'PASS' if found['passed'] else 'FAIL'}",
        "",
        "| | Baseline | Current |",
        "|---|--:|--:|",
        f"| Pass rate | {_figure(found, 'success_rate', lambda rate: format_share(rate, 1))} |",
        f"| Score | {_figure(found, 'aggregate_score', lambda score: format_score(score, 4))} |",
        f"| Tasks | {found['baseline_task_count']} | {found['current_task_count']} |",
        *_row("Trigger prompts", *(describe_prompt_counts(found, name) for name in ("baseline", "current"))),
        *_row("Estimates", *(found.get(f"{name}_estimates", "") for name in ("baseline", "current"))),
        "",
        f"- Regression: {found['regression_pct']:.2f} percentage points, at most {most:.2f}",
        f"- New tasks: {len(found.get('new_tasks', ()))} ({found['new_task_policy']})",
        f"- Removed tasks: {len(found.get('removed_tasks', ()))} ({found['removed_task_policy']})",
    ]
    for title in ("failures", "warnings"):
        issues: Sequence[Json] = found.get(title, ())
        if issues:
            lines += [
                "",
                f"### {title.title()}",
                "",
                *(f"- {sentence(issue['message'])}" for issue in issues),
            ]
    return "\n".join(lines) + "\n"
