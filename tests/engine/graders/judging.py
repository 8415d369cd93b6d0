"""A judge in a test: the real executor ``openai`` and a scripted model behind a real loopback server."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.engine.graders.grading import grade
from tests.scripted_model import Answer, Call, ScriptedModel, call
from waza_engine.executors.executor import Executor, ExecutorSettings
from waza_engine.executors.openai import OpenAIExecutor
from waza_engine.graders.base import Verdict
from waza_engine.runs.grading.judging import ExecutorJudge
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.spec.eval_config import EvalConfig, Provider


def passes(description: str = "", reason: str = "") -> Call:
    return call("set_waza_grade_pass", **_said(description, reason))


def fails(description: str = "", reason: str = "") -> Call:
    return call("set_waza_grade_fail", **_said(description, reason))


def verdicts(*calls: Call) -> tuple[Answer, str]:
    """Return the two answers of a judge that calls tools and then ends."""
    return Answer(calls=calls), "I am done."


def winner(letter: str, magnitude: str = "slightly-better", reasoning: str = "") -> Call:
    return call("set_pairwise_winner", winner=letter, magnitude=magnitude, reasoning=reasoning)


def executor_at(model: ScriptedModel) -> OpenAIExecutor:
    config = EvalConfig(
        trials_per_task=1,
        timeout_seconds=20,
        executor="openai",
        provider=Provider(base_url=model.base_url),
    )
    return OpenAIExecutor(ExecutorSettings(Path(), config))


@contextmanager
def judge_at(
    model: ScriptedModel, cancellation: RunCancellation | None = None, *, shared: bool = True
) -> Generator[ExecutorJudge]:
    executor: Executor = executor_at(model)
    try:
        yield ExecutorJudge(executor, "test-model", cancellation or RunCancellation(), shared)
    finally:
        executor.close()


def judged(model: ScriptedModel, type_name: str, config: dict[str, Any], **context: Any) -> Verdict:
    """Grade with the scripted model as the judge."""
    with judge_at(model) as judge:
        return grade(type_name, config, judge=judge, **{"prompt": "Do it", "output": "Done", **context})


def _said(description: str, reason: str) -> dict[str, str]:
    given = {"description": description, "reason": reason}
    return {key: text for key, text in given.items() if text}
