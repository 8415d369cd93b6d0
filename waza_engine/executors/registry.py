"""The executors by name. Each is imported when it is asked for: an agent's library costs start-up time."""

from __future__ import annotations

import importlib
from typing import cast

from waza_engine.executors.base import Executor, ExecutorError, ExecutorSettings

_CLASSES = {
    "command": ("command", "CommandExecutor"),
    "copilot-sdk": ("copilot_sdk", "CopilotExecutor"),
    "mock": ("mock", "MockExecutor"),
    "openai": ("openai_chat", "OpenAIExecutor"),
    "replay": ("replay", "ReplayExecutor"),
}


def create_executor(name: str, settings: ExecutorSettings) -> Executor:
    """Return a new executor. Raises ``ExecutorError`` for a name that is unknown or not to be had here."""
    if name not in _CLASSES:
        known = ", ".join(f"`{known}`" for known in _CLASSES)
        raise ExecutorError(f"`{name}` is not an executor; write one of {known}")
    module, class_name = _CLASSES[name]
    try:
        made = getattr(importlib.import_module(f"waza_engine.executors.{module}"), class_name)
    except ImportError as error:
        raise ExecutorError(f"the executor `{name}` cannot be loaded: {error}") from None
    return cast("Executor", made(settings))
