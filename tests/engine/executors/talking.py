"""Talking to the executor ``openai`` in tests."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import StartModel
from tests.scripted_model import ModelRequest, Reply, ScriptedModel
from waza_engine.executors.executor import (
    ExecutionRequest,
    ExecutionResponse,
    ExecutorError,
    ExecutorSettings,
)
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


class Talk:
    """Carries out single turns in a workspace, each with a model of its own."""

    def __init__(self, start: StartModel, workspace: Path) -> None:
        self._start, self._workspace = start, workspace
        self.model: ScriptedModel

    def __call__(
        self,
        prompt: str,
        *script: Reply | Callable[[ModelRequest], Reply],
        api_key: str = "",
        streams: bool = True,
        **options: Any,
    ) -> ExecutionResponse:
        """Return the response to a prompt, to which the model answers as its script says."""
        self.model = self._start(*script, api_key=api_key, streams=streams)
        return ask_once(self.model, prompt, self._workspace, **options)

    @property
    def requests(self) -> list[ModelRequest]:
        return self.model.requests

    def failure(self, *script: Reply | Callable[[ModelRequest], Reply], **options: Any) -> ExecutorError:
        with pytest.raises(ExecutorError) as caught:
            self("Hello", *script, **options)
        return caught.value


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
