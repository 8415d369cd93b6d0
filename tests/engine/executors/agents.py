"""Agents made of a few lines of Python, and adapters that drive them."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any

from waza_engine.executors.command import CommandExecutor
from waza_engine.executors.executor import ExecutionRequest, ExecutionResponse, ExecutorSettings
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.spec.eval_config import EvalConfig

PRELUDE = """
import json, os, signal, subprocess, sys, time
def say(**event): print(json.dumps(event), flush=True)
"""
MESSAGE = {
    "match": {"path": "$.type", "value": "text"},
    "emitAs": "message",
    "extract": {"content": "$.text"},
}
THOUGHT = {
    "match": {"path": "$.type", "value": "think"},
    "emitAs": "thought",
    "extract": {"content": "$.text"},
}
PLAN = {"match": {"path": "$.type", "value": "plan"}, "emitAs": "plan", "extract": {"content": "$.steps"}}
TOOL = {
    "match": {"path": "$.type", "value": "tool"},
    "emitAs": "tool_call",
    "extract": {
        "title": "$.name",
        "status": "$.status",
        "id": "$.id",
        "input": "$.input",
        "output": "$.output",
        "error": "$.error",
    },
}
RESULT = {"matchPath": "$.type", "matchValue": "result", "contentPath": "$.content"}


def adapter(**keys: Any) -> dict[str, Any]:
    """Return the keys of an adapter whose agent says `text`, `think`, `plan`, `tool` and `result`."""
    return {
        "version": 1,
        "name": "fake",
        "command": [sys.executable, "./agent.py"],
        "sessionMode": "stream",
        "prompt": {"flag": "-p"},
        "output": {"flag": "", "value": ""},
        "outputEvents": [MESSAGE, THOUGHT, PLAN, TOOL],
        "result": RESULT,
        **keys,
    }


def write_agent(directory: Path, script: str, **keys: Any) -> Path:
    """Write an agent and its adapter; return the adapter's path."""
    (directory / "agent.py").write_text(PRELUDE + dedent(script), "utf-8")
    path = directory / "adapter.json"
    path.write_text(json.dumps(adapter(**keys)), "utf-8")
    return path


def executor_of(directory: Path, script: str = "", **keys: Any) -> CommandExecutor:
    return load(write_agent(directory, script, **keys))


def load(path: Path, **config: Any) -> CommandExecutor:
    values = {
        "trials_per_task": 1,
        "timeout_seconds": 20,
        "executor": "command",
        "adapter": path.name,
        **config,
    }
    return CommandExecutor(ExecutorSettings(path.parent, EvalConfig.model_validate(values)))


def ask(executor: CommandExecutor, directory: Path, prompt: str = "Hi", **options: Any) -> ExecutionResponse:
    """Carry out one turn in a workspace below the directory."""
    workspace = directory / "workspace"
    workspace.mkdir(exist_ok=True)
    request = replace(ExecutionRequest(prompt, workspace, timeout_seconds=20), **options)
    return executor.execute(request, RunCancellation())


def answer(directory: Path, script: str, **keys: Any) -> ExecutionResponse:
    """Return what an agent answers to `Hi`."""
    return ask(executor_of(directory, script, **keys), directory)


def types(response: ExecutionResponse) -> list[str]:
    """Return the kinds of events between the prompt and the end of the process."""
    found = [str(event["type"]) for event in response.events]
    assert (found[0], found[-1]) == ("user.message", "session.shutdown")
    return found[1:-1]
