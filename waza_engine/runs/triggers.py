"""Trigger prompts: does the skill start for the right prompts, and only for them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from waza_engine.executors.base import Cancellation, ExecutionRequest, Executor, ExecutorError
from waza_engine.results.outcomes import MetricOutcome, TriggerOutcome
from waza_engine.runs.conversation import execute
from waza_engine.runs.suite import Suite
from waza_engine.scoring.triggers import TriggerMetrics
from waza_engine.spec.loading import load_trigger_tests
from waza_engine.spec.trigger_tests import TriggerPrompt, TriggerTests

FILE_NAME = "trigger_tests.yaml"
METRIC = "trigger_accuracy"


def trigger_tests_of(suite: Suite) -> TriggerTests | None:
    """Return the trigger prompts beside the eval file, None without a file. Raises ``SuiteFileError``."""
    path = suite.directory / FILE_NAME
    return load_trigger_tests(path)[0] if path.is_file() else None


def run_triggers(
    tests: TriggerTests, suite: Suite, executor: Executor, model: str, cancellation: Cancellation
) -> Iterator[TriggerOutcome]:
    """Yield what happened to each prompt. Raises ``CancelledRunError``."""
    for should, prompts in ((True, tests.should_trigger_prompts), (False, tests.should_not_trigger_prompts)):
        for prompt in prompts:
            yield _tried(prompt, should, tests.skill, suite, executor, model, cancellation)


def metrics_of(suite: Suite, found: TriggerMetrics | None) -> list[MetricOutcome]:
    """Return the suite's ``trigger_accuracy`` metric, when it asks for it and prompts were tried."""
    if found is None:
        return []
    return [
        MetricOutcome(
            name=METRIC,
            value=found.accuracy,
            threshold=metric.threshold,
            passed=metric.threshold <= 0 or found.accuracy >= metric.threshold,
            weight=metric.weight,
        )
        for metric in suite.spec.metrics
        if metric.name == METRIC
    ][:1]


def _tried(
    prompt: TriggerPrompt,
    should: bool,
    skill: str,
    suite: Suite,
    executor: Executor,
    model: str,
    cancellation: Cancellation,
) -> TriggerOutcome:
    with tempfile.TemporaryDirectory(prefix="waza-", ignore_cleanup_errors=True) as directory:
        request = ExecutionRequest(
            prompt=prompt.prompt,
            workspace=Path(directory),
            model=model,
            skill=suite.spec.skill,
            skill_directories=[suite.directory / path for path in suite.spec.config.skill_directories],
            timeout_seconds=float(suite.spec.config.timeout_seconds),
        )
        try:
            response = execute(executor, request, cancellation)
        except ExecutorError as error:
            return TriggerOutcome(
                prompt=prompt.prompt,
                should_trigger=should,
                did_trigger=not should,
                confidence=prompt.confidence,
                error=str(error),
            )
    invoked = any(invocation.name == skill for invocation in response.skill_invocations)
    return TriggerOutcome(
        prompt=prompt.prompt,
        should_trigger=should,
        did_trigger=should if executor.answers_triggers else invoked,
        confidence=prompt.confidence,
        output=response.output,
        error=response.error or "",
    )
