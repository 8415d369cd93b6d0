"""Talking to the executor ``openai`` in tests."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.scripted_model import ScriptedModel
from waza_engine.executors.executor import ExecutionRequest, ExecutionResponse, ExecutorSettings
from waza_engine.executors.openai import OpenAIExecutor
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.spec.eval_config import EvalConfig


@contextmanager
def openai_executor(base_url: str = "", **config: Any) -> Generator[OpenAIExecutor]:
    """Give an executor that is closed afterwards; with a base URL as its provider."""
    if base_url:
        config["provider"] = {"base_url": base_url, **config.get("provider", {})}
    executor = OpenAIExecutor(settings(**config))
    try:
        yield executor
    finally:
        executor.close()


def settings(**config: Any) -> ExecutorSettings:
    block = {"trials_per_task": 1, "timeout_seconds": 20, "executor": "openai", **config}
    return ExecutorSettings(Path(), EvalConfig.model_validate(block))


def ask(
    executor: OpenAIExecutor,
    prompt: str,
    workspace: Path,
    cancellation: RunCancellation | None = None,
    **request: Any,
) -> ExecutionResponse:
    """Carry out one turn."""
    given: dict[str, Any] = {"model": "test-model", "timeout_seconds": 120.0, **request}
    return executor.execute(ExecutionRequest(prompt, workspace, **given), cancellation or RunCancellation())


def ask_once(
    model: ScriptedModel,
    prompt: str,
    workspace: Path,
    cancellation: RunCancellation | None = None,
    *,
    workspace_tools: Sequence[str] = (),
    provider: Mapping[str, Any] | None = None,
    **request: Any,
) -> ExecutionResponse:
    """Carry out one turn with an executor of its own."""
    config = {"workspace_tools": list(workspace_tools), "provider": provider or {}}
    with openai_executor(model.base_url, **config) as executor:
        return ask(executor, prompt, workspace, cancellation, **request)


def kinds(response: ExecutionResponse) -> list[str]:
    """The types of the events, in order."""
    return [str(event["type"]) for event in response.events]


def result_of(response: ExecutionResponse, position: int = 0) -> str:
    """The text that a tool call gave back."""
    result: Mapping[str, Any] = response.tool_calls[position].result
    return str(result["content"])


def write_skill(folder: Path, name: str, description: str = "Explains.", body: str = "Do it well.") -> Path:
    """Write ``folder/name/SKILL.md`` and return ``folder``."""
    (folder / name).mkdir(parents=True)
    text = f"---\nname: {name}\ndescription: {description}\n---\n{body}\n"
    (folder / name / "SKILL.md").write_text(text, "utf-8")
    return folder
