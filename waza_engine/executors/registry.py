"""The executors by name."""

from __future__ import annotations

from waza_engine.executors.base import Executor, ExecutorError
from waza_engine.executors.mock import MockExecutor


def create_executor(name: str) -> Executor:
    """Return a new executor. Raises ``ExecutorError`` for a name that is unknown or not to be had here."""
    if name == "mock":
        return MockExecutor()
    if name == "copilot-sdk":
        raise ExecutorError("the executor `copilot-sdk` is not available yet; use `mock` (`--executor mock`)")
    raise ExecutorError(f"`{name}` is not an executor; write `mock`")
