"""The executors that a suite may name, and their properties without loading them. Light."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from waza_engine.frozen import frozen


@frozen()
class ExecutorKind:
    """The properties of an executor without loading it; ``executors/executor.py`` has the rest.

    ``what`` describes it in the documentation of the key. In a new suite ``note`` is the comment after its
    name and ``keys`` are the lines that it needs there; with ``skills_in_new_suites`` new tasks require that
    the skill was invoked. ``replays`` is true when its answers are those of an earlier run, ``costs`` when a
    call of it costs, ``has_model`` when it can judge, as the executor declares itself, and ``asks_nobody``
    when it never asks the model that a suite names.
    """

    what: str
    note: str = ""
    keys: tuple[str, ...] = ()
    skills_in_new_suites: bool = False
    replays: bool = False
    costs: bool = False
    has_model: bool = False
    asks_nobody: bool = False


EXECUTORS: Mapping[str, ExecutorKind] = MappingProxyType(
    {
        "mock": ExecutorKind(
            "no agent, no key, no cost. It answers `Mock response for: <prompt>` and calls no "
            "tools; good for trying out a suite.",
            note="answers without an agent and without cost; `copilot-sdk` asks a real one",
            asks_nobody=True,
        ),
        "copilot-sdk": ExecutorKind(
            "the GitHub Copilot agent, with skills, tools and MCP servers.",
            skills_in_new_suites=True,
            costs=True,
            has_model=True,
        ),
        "openai": ExecutorKind(
            "any server that speaks OpenAI's chat completions; tools with `workspace_tools`.",
            costs=True,
            has_model=True,
        ),
        "command": ExecutorKind(
            "any agent with a command line, described by the file in `adapter`.",
            keys=("adapter: adapters/agent.json  # how to start your agent",),
            costs=True,
        ),
        "replay": ExecutorKind("the answers of an earlier run, from the file in `recording`.", replays=True),
    }
)
"""Every executor and its properties, in the order in which they are offered."""


def replays(executor: str) -> bool:
    """Return whether the answers of an executor are those of an earlier run; false for an unknown one."""
    return executor in EXECUTORS and EXECUTORS[executor].replays


def asks_nobody(executor: str) -> bool:
    """Return whether the answers of an executor do not come from an agent."""
    return executor in EXECUTORS and EXECUTORS[executor].asks_nobody


def asked_model(executor: str, model: str) -> str:
    """Return the model of a run, "" when its executor asks none: a mock's answer comes from no model."""
    return "" if asks_nobody(executor) else model
