"""Whether results may pass beside those of a baseline: upstream's ``gate``, with its object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from waza_engine.markdown import sentence
from waza_engine.results.codec.runs import run_of
from waza_engine.results.conclusion import Conclusion, conclude
from waza_engine.results.json_values import Json, block_of, given, number
from waza_engine.results.reading.recordings import Recording
from waza_engine.results.task_conclusion import TaskConclusion, trial_changes
from waza_engine.scoring.paired import SIGNIFICANT, paired_p

Policy = Literal["allow", "warn", "fail"]
PASSED, REGRESSED, GOLDEN_FAILED, NOT_GATED = 0, 1, 2, 3


@dataclass(frozen=True, slots=True)
class GateLimits:
    """What may change: the pass rate by so many percentage points, and the tasks that come and go."""

    most_regression: float = 0.0
    golden_must_pass: bool = False
    new_tasks: Policy = "allow"
    removed_tasks: Policy = "warn"


@dataclass(slots=True)
class _Issues:
    warnings: list[Json] = field(default_factory=list[Json])
    failures: list[Json] = field(default_factory=list[Json])

    def tell(self, policy: Policy, kind: str, message: str, task: TaskConclusion | None = None) -> None:
        """Keep an issue as a policy says."""
        if policy == "allow":
            return
        about = {} if task is None else {"task_id": task.id, **given(task_name=task.name)}
        found = {"kind": kind, "severity": "error" if policy == "fail" else "warning", "message": message}
        (self.failures if policy == "fail" else self.warnings).append({**found, **about})


def gate(baseline: Recording, current: Recording, limits: GateLimits) -> Json:
    """Return upstream's object of a gate; ``exit_code`` is 0, 1 for a regression, 2 for a golden task.

    Rates are 0..1, a regression is in percentage points. A task that broke, or did not run, has not passed; a
    run that did not come to its end never passes the gate.
    """
    then, now = conclude(run_of(baseline.document)), conclude(run_of(current.document))
    rates = [_rate(recording, found) for recording, found in ((baseline, then), (current, now))]
    regression = max(0.0, (rates[0] - rates[1]) * 100)
    issues = _Issues()
    if now.verdict in ("interrupted", "limited", "broken", "unjudged"):
        issues.tell("fail", "incomplete", f"the current run is no whole run: {now.reasons[0].words}")
    if regression > limits.most_regression + 1e-9:
        most = limits.most_regression
        said = f"the pass rate fell by {regression:.2f} percentage points, more than {most:.2f}"
        issues.tell("fail", "regression", f"{said} ({_chance(then, now)})")
    before, after = _by_id(then), _by_id(now)
    new = [after[name] for name in sorted(after.keys() - before.keys())]
    removed = [before[name] for name in sorted(before.keys() - after.keys())]
    for task in new:
        issues.tell(limits.new_tasks, "new_task", f"task `{task.id}` is only in the current results", task)
    for task in removed:
        words = f"task `{task.id}` is only in the results of the baseline"
        issues.tell(limits.removed_tasks, "removed_task", words, task)
    golden = [
        after[name]
        for name in sorted(after)
        if limits.golden_must_pass and after[name].task.golden and after[name].verdict != "passed"
    ]
    for task in golden:
        words = f"golden task `{task.id}` did not pass: {task.verdict}"
        issues.tell("fail", "golden_failure", words, task)
    code = GOLDEN_FAILED if golden else REGRESSED if issues.failures else PASSED
    return {
        "passed": code == PASSED,
        "exit_code": code,
        "verdict": {PASSED: "pass", REGRESSED: "fail", GOLDEN_FAILED: "golden-failure"}[code],
        "baseline_file": str(baseline.path),
        "current_file": str(current.path),
        "baseline_success_rate": rates[0],
        "current_success_rate": rates[1],
        "regression_pct": regression,
        "max_regression_pct": limits.most_regression,
        "golden_must_pass": limits.golden_must_pass,
        **given(
            golden_failures=[_task(task) for task in golden],
            new_tasks=[_task(task) for task in new],
            removed_tasks=[_task(task) for task in removed],
            warnings=issues.warnings,
            failures=issues.failures,
        ),
        "baseline_task_count": len(then.tasks),
        "current_task_count": len(now.tasks),
        "baseline_judged_count": _judged(then),
        "current_judged_count": _judged(now),
        "new_task_policy": limits.new_tasks,
        "removed_task_policy": limits.removed_tasks,
        **given(
            baseline_model=baseline.header.model,
            current_model=current.header.model,
            baseline_runs_per_test=baseline.header.trials_per_task,
            current_runs_per_test=current.header.trials_per_task,
        ),
        "baseline_aggregate_score": _score(baseline),
        "current_aggregate_score": _score(current),
    }


def chance(then: Mapping[str, TaskConclusion], now: Mapping[str, TaskConclusion]) -> float:
    """Return the p-value of the paired test over the trials of the tasks that both have."""
    return paired_p([step for name in now if name in then for step in trial_changes(then[name], now[name])])


def _chance(then: Conclusion, now: Conclusion) -> str:
    p = chance(_by_id(then), _by_id(now))
    return f"p = {p:.2g}" + ("" if p <= SIGNIFICANT else ", which may be chance")


def _rate(recording: Recording, found: Conclusion) -> float:
    written = block_of(recording.document, "summary").get("success_rate")
    if isinstance(written, int | float) and not isinstance(written, bool):
        return number(written)
    judged = _judged(found)
    return found.counts.passed / judged if judged else 0.0


def _judged(found: Conclusion) -> int:
    """Return of how many tasks the pass rate is: not of those that were skipped or did not run."""
    return found.counts.passed + found.counts.failed + found.counts.errored


def _score(recording: Recording) -> float:
    return number(block_of(recording.document, "summary").get("aggregate_score"))


def _by_id(found: Conclusion) -> dict[str, TaskConclusion]:
    return {task.id: task for task in found.tasks}


def _task(task: TaskConclusion) -> dict[str, Any]:
    figures = task.task.statistics
    return {
        "task_id": task.id,
        "display_name": task.name,
        **given(golden=task.task.golden),
        "status": task.task.status,
        "pass_rate": 0.0 if figures is None else figures.pass_rate,
    }


def gate_markdown(found: Json) -> str:
    """Return a gate as Markdown; what comes from files stands in code."""
    most = found["max_regression_pct"]
    lines = [
        f"## {'✅' if found['passed'] else '❌'} Gate: {'PASS' if found['passed'] else 'FAIL'}",
        "",
        "| | Baseline | Current |",
        "|---|--:|--:|",
        f"| Pass rate | {found['baseline_success_rate']:.1%} | {found['current_success_rate']:.1%} |",
        f"| Score | {found['baseline_aggregate_score']:.4f} | {found['current_aggregate_score']:.4f} |",
        f"| Tasks | {found['baseline_task_count']} | {found['current_task_count']} |",
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
