"""One pass through a suite: hooks, tasks, triggers. A baseline run makes two, with skills and without."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from waza_engine.graders.judging.judges import JudgedConfig
from waza_engine.results.conclusion import DECIDING, decides, trigger_verdict
from waza_engine.results.metrics import FIGURES, follows_from_tasks, metric_value
from waza_engine.results.record import (
    ArrivedAnswer,
    MetricOutcome,
    TaskOutcome,
    TrialOutcome,
    TriggerOutcome,
    UnjudgedAnswer,
)
from waza_engine.results.reports.descriptions import describe_misclassification
from waza_engine.runs.agent.agent_skills import suite_skills, task_skills
from waza_engine.runs.agent.allowed_tools import GRADER_NAME as AGENT_TOOLS
from waza_engine.runs.agent.command_mocks import SERVING, mocked_programs
from waza_engine.runs.agent.setup import agent_setup
from waza_engine.runs.events.stream import EventStream
from waza_engine.runs.limits.budget import Reservation, unpriced_models
from waza_engine.runs.limits.cancellation import CancelledRunError
from waza_engine.runs.loading.suite_on_disk import Suite, SuiteError, SuiteTask
from waza_engine.runs.passes.caching import TaskCache
from waza_engine.runs.passes.task_runs import TaskRunner, budget_for
from waza_engine.runs.settings.options import without_skills
from waza_engine.runs.settings.table import Budget
from waza_engine.runs.trials.backend import BackendFactory, TrialBackend
from waza_engine.runs.trials.context import RunContext, TriggerRequest
from waza_engine.runs.trials.hooks import run_hooks
from waza_engine.runs.trials.selection import SelectedTask, without_comparisons
from waza_engine.runs.trials.triggers import chosen_prompts, is_lost, run_triggers, trigger_tests_of
from waza_engine.scoring.cost import Spending, tokens_of, total_cost
from waza_engine.scoring.trigger_scores import TriggerMetrics, trigger_metrics
from waza_engine.spec.eval_file import Metric
from waza_engine.spec.trigger_tests import TriggerPrompt

_PROMPTS = "(trigger prompts)"
"""All of them have one price."""


@dataclass(frozen=True, slots=True)
class Pass:
    """The suite, tasks and trigger prompts of one pass."""

    suite: Suite
    tasks: tuple[SelectedTask, ...]
    triggers: bool = False
    baseline: bool = False


@dataclass(slots=True)
class Findings:
    """The results so far; one thread adds to them. ``duration_ms`` is the pass's wall clock.

    ``unjudged`` are the answers so far to trigger prompts without a result, by prompt; each prompt has its
    own thread.
    """

    tasks: dict[int, TaskOutcome] = field(default_factory=dict[int, TaskOutcome])
    triggers: list[TriggerOutcome] = field(default_factory=list[TriggerOutcome])
    trigger_metrics: TriggerMetrics | None = None
    metrics: list[MetricOutcome] = field(default_factory=list[MetricOutcome])
    unjudged: dict[str, list[UnjudgedAnswer]] = field(default_factory=dict[str, list[UnjudgedAnswer]])
    duration_ms: int = 0

    @property
    def in_order(self) -> list[TaskOutcome]:
        """The tasks as the suite lists them."""
        return [self.tasks[position] for position in sorted(self.tasks)]


@dataclass(frozen=True, slots=True)
class Handling:
    """How the tasks of a pass are executed and stored.

    ``on_task`` is called with each finished task, and returns it in the form that stays in memory.
    ``on_trial`` is called with each finished or answered trial of an active task, ``on_trigger`` with the
    result of each trigger prompt, ``on_asked`` and ``on_sent`` when a paid agent is asked in a trial or gets
    a trigger prompt; all but ``on_task`` from any thread. ``earlier`` are the reused trials of a pass by task
    id, ``earlier_triggers`` the reused trigger prompts.
    """

    backend: BackendFactory
    cache: TaskCache | None
    on_task: Callable[[TaskOutcome, bool], TaskOutcome]
    on_trial: Callable[[str, TrialOutcome, bool], None]
    on_trigger: Callable[[TriggerOutcome], None]
    on_asked: Callable[[str, int, bool], None]
    on_sent: Callable[[str], None]
    earlier: Callable[[bool], Mapping[str, Sequence[TrialOutcome]]] = lambda baseline: {}
    earlier_triggers: Sequence[TriggerOutcome] = ()


def run_pass(chosen: Pass, context: RunContext, handling: Handling, findings: Findings) -> None:
    """Execute a pass. Its results stay in ``findings``, even if it raises.

    Raises ``HookError``, ``SuiteError``, ``SuiteFileError`` and ``CancelledRunError``.
    """
    started = time.monotonic()
    suite, hooks, cancellation = chosen.suite, chosen.suite.spec.hooks, context.cancellation
    try:
        _warn(context, run_hooks(hooks.before_run, suite.directory, cancellation))
        _run_tasks(chosen, context, handling, findings)
    finally:
        findings.duration_ms = round((time.monotonic() - started) * 1000)
        findings.metrics = suite_metrics(suite.spec.metrics, findings.in_order, findings.trigger_metrics)
        if not cancellation.requested:
            _warn(context, run_hooks(hooks.after_run, suite.directory, cancellation, may_fail=True))


def outputs_of(findings: Findings) -> dict[str, list[str]]:
    """Return the agent's answers by task id, one string per trial that has an answer."""
    return {
        task.id: [trial.output for trial in task.trials if trial.output]
        for task in findings.tasks.values()
        if any(trial.output for trial in task.trials)
    }


def _run_tasks(chosen: Pass, context: RunContext, handling: Handling, findings: Findings) -> None:
    suite, tasks = chosen.suite, chosen.tasks
    with agent_setup(suite, suite.spec.config.model, lambda text: _warn(context, [text])) as agent:
        context = context.of_pass(suite, agent, baseline=chosen.baseline)
        backend = handling.backend(tasks, context)
        runner = TaskRunner(
            tasks,
            context,
            backend,
            handling.cache,
            lambda task_id, trial: handling.on_trial(task_id, trial, chosen.baseline),
            lambda task_id, trial: handling.on_asked(task_id, trial, chosen.baseline),
            handling.earlier(chosen.baseline),
        )
        try:
            try:
                for position, outcome in runner.run():
                    findings.tasks[position] = outcome
                    findings.tasks[position] = handling.on_task(outcome, chosen.baseline)
            except (CancelledRunError, SuiteError):
                findings.tasks.update(runner.unfinished(findings.tasks))
                raise
            if chosen.triggers:
                _try_triggers(context, backend, findings, handling)
        finally:
            backend.close()


def _try_triggers(context: RunContext, backend: TrialBackend, findings: Findings, handling: Handling) -> None:
    """Try the trigger prompts; if the limit cuts them short, metrics of the first ones alone are dropped."""
    asked = context.settings.prompts
    tests = chosen_prompts(trigger_tests_of(context.suite), asked, context.suite)
    if tests is None or context.executor.refuses():
        return
    suite, stream, prices = context.suite, context.progress.stream, _PromptPrices(context)
    first = TriggerRequest(
        context.settings,
        prompt="",
        should_trigger=True,
        confidence="",
        skill=tests.skill,
        repetitions=suite.spec.config.trials_per_task if suite.is_trigger_list else 1,
        file=suite.file_of(suite.tasks[0]) if suite.tasks else "",
        commands=mocked_programs(suite) if suite.spec.config.executor in SERVING else (),
    )

    def attempt(prompt: TriggerPrompt, should_trigger: bool) -> TriggerOutcome:
        text = prompt.prompt
        budget = prices.reserve(text)
        stream.send("started", prompt=text, should_trigger=should_trigger)
        request = replace(
            first, prompt=text, should_trigger=should_trigger, confidence=prompt.confidence, budget=budget
        )
        return backend.try_prompt(request, lambda: sent(text), lambda answer: arrived(text, answer))

    def sent(prompt: str) -> None:
        if context.executor.costs:
            findings.unjudged.setdefault(prompt, [])
            handling.on_sent(prompt)

    def arrived(prompt: str, answer: ArrivedAnswer) -> None:
        prices.arrived(prompt, answer)
        if answer.unjudged.text:
            findings.unjudged.setdefault(prompt, []).append(answer.unjudged)

    def tell(found: TriggerOutcome, line: str) -> None:
        prices.settle(found.prompt, lost=is_lost(found))
        # One that the limit cut off was sent, or was not.
        if not found.error or found.error != context.executor.reason:
            findings.unjudged.pop(found.prompt, None)
            handling.on_trigger(found)
        _tell_trigger(stream, found, line)

    with prices:
        for found in run_triggers(tests, attempt, tell, backend.prompts, handling.earlier_triggers):
            findings.triggers.append(found)
    reason = context.executor.reason
    tried = findings.triggers
    findings.triggers = [found for found in tried if not reason or found.error != reason]
    # Metrics need all prompts.
    if len(findings.triggers) == len(tried) and not asked:
        findings.trigger_metrics = trigger_metrics(tried)


class _PromptPrices:
    """The reserved prices of active trigger prompts. Each prompt is tried in its own thread."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._meter = context.executor.meter
        self._reserved: dict[str, Reservation] = {}
        self._spent: dict[str, list[ArrivedAnswer]] = {}

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_error: object) -> None:
        for prompt in tuple(self._reserved):
            self.settle(prompt)

    def reserve(self, prompt: str) -> Budget:
        """Wait until a prompt fits into the limits, or is refused; return its budget."""
        if not self._context.executor.costs:
            return Budget()
        reservation = self._meter.reserve_when_it_fits(_PROMPTS, self._context.cancellation)
        if reservation is None:
            return Budget()
        # A prompt may be written twice.
        if self._reserved.setdefault(prompt, reservation) is not reservation:
            reservation.settle()
        return budget_for(reservation, self._context.settings.budget)

    def arrived(self, prompt: str, answer: ArrivedAnswer) -> None:
        """Count an answer."""
        self._spent.setdefault(prompt, []).append(answer)

    def settle(self, prompt: str, *, lost: bool = False) -> None:
        """Release the reserved price of a prompt; that of a ``lost`` one stays reserved."""
        answers = self._spent.pop(prompt, ())
        cost = total_cost(answer.cost for answer in answers if answer.cost is not None)
        self._meter.prices.add(_PROMPTS, Spending(sum(tokens_of(answer.usage) for answer in answers), cost))
        if reservation := self._reserved.pop(prompt, None):
            reservation.settle(lost=lost)


def _tell_trigger(stream: EventStream, found: TriggerOutcome, line: str) -> None:
    verdict = trigger_verdict(found)
    stream.send("output", message=line)
    stream.send(
        "tried",
        prompt=found.prompt,
        should_trigger=found.should_trigger,
        status=verdict,
        message=None if verdict == "passed" else describe_misclassification(found),
    )


def _warn(context: RunContext, warnings: Sequence[str]) -> None:
    for warning in warnings:
        context.progress.stream.send("output", message=f"warning: {warning}")


def suite_metrics(
    asked: Iterable[Metric], tasks: Sequence[TaskOutcome], triggers: TriggerMetrics | None
) -> list[MetricOutcome]:
    """Return the known metrics that can be computed, under the names that the suite writes.

    Of two metrics with one name the first counts.
    """
    found: dict[str, MetricOutcome] = {}
    for metric in asked:
        if decides(metric.name):
            value = None if triggers is None else triggers.accuracy
        else:
            value = metric_value(metric.name, tasks) if follows_from_tasks(metric.name) else None
        if value is not None and metric.name not in found:
            outcome = MetricOutcome(metric.name, value, metric.threshold, True, metric.weight)
            found[metric.name] = replace(outcome, passed=outcome.reached)
    return list(found.values())


def unknown_metrics(asked: Iterable[Metric]) -> list[str]:
    """Return a warning for each metric that cannot be computed."""
    listed = ", ".join(f"`{name}`" for name in (DECIDING, *FIGURES))
    return [
        f"the metric `{name}` is not known and not computed; known are {listed}"
        for name in dict.fromkeys(metric.name for metric in asked if metric.name)
        if not decides(name) and not follows_from_tasks(name)
    ]


def untested_metrics(asked: Iterable[Metric]) -> list[str]:
    """Return a warning when ``trigger_accuracy`` has a threshold and there are no trigger prompts."""
    return [
        f"`{metric.name}` is not computed, and its threshold decides nothing: "
        "there is no `trigger_tests.yaml` beside the eval file"
        for metric in asked
        if decides(metric.name) and metric.threshold > 0
    ][:1]


def judge_models(suite: Suite, tasks: Sequence[SelectedTask]) -> tuple[str, ...]:
    """Return the models that judge in a run, each once; the default of the executor is ``""``."""
    config = suite.spec.config
    default = config.judge_model or config.model
    models = [
        built.grader.config.model or default
        for task in tasks
        if task.trial is not None
        for built in task.trial.all_graders
        if built.grader is not None and isinstance(built.grader.config, JudgedConfig)
    ]
    return tuple(dict.fromkeys(models))


def check_prices(budget: Budget, model: str, judges: Sequence[str]) -> list[str]:
    """Return a warning for models without a price, when their cost is limited by their tokens at least.

    Raises ``SuiteError`` when nothing limits it: a limit that cannot be kept is worse than none.
    """
    unpriced = unpriced_models(budget, (model, *judges))
    if not unpriced:
        return []
    names = ", ".join(f"`{name}`" for name in unpriced)
    if budget.max_tokens is None:
        what = f"The price of {names} is not known, so `--max-cost` cannot be kept"
        raise SuiteError(f"{what}; limit the tokens with --max-tokens.")
    return [f"the price of {names} is not known: only --max-tokens limits it"]


def baseline_pass(suite: Suite, tasks: Sequence[SelectedTask]) -> tuple[Pass | None, list[str]]:
    """Return the pass without skills when the suite wants a baseline, and a warning when it has no skills."""
    if not suite.spec.baseline:
        return None, []
    found = suite_skills(suite)
    specs = [task.trial.spec for task in tasks if task.trial is not None]
    if not found.directories and not any(task_skills(suite, spec, found).directories for spec in specs):
        return None, ["`baseline` needs skills, and none is found in `skill_directories`: it is left out"]
    return pass_without_skills(suite, tasks), []


def pass_without_skills(suite: Suite, tasks: Sequence[SelectedTask]) -> Pass:
    """Return the pass that runs some tasks of a suite without skills."""
    bare = without_skills(suite)
    by_path = {(task.path, task.id): task for task in bare.tasks}
    chosen = [_without_skills(task, by_path[task.source.path, task.source.id]) for task in tasks]
    return Pass(bare, without_comparisons(chosen), baseline=True)


def _without_skills(task: SelectedTask, source: SuiteTask) -> SelectedTask:
    if task.trial is None or source.task is None:
        return task
    # The tool grader of an agent file applies to that agent, which a baseline does not have.
    graders = tuple(built for built in task.trial.graders if built.name != AGENT_TOOLS)
    return SelectedTask(source, replace(task.trial, spec=source.task, graders=graders, tool_policy=""))
