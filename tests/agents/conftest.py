"""The real Copilot agent, with a scripted model in place of a real one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.agents.copilot import cache_folder, installed_copilot
from waza_engine.executors.base import ExecutorSettings
from waza_engine.executors.copilot_sdk import CopilotExecutor
from waza_engine.spec.eval_config import EvalConfig

StartAgent = Callable[..., CopilotExecutor]


@pytest.fixture(scope="session")
def copilot_program() -> Path:
    return installed_copilot()


@pytest.fixture
def agent_home(copilot_program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment in which the agent finds itself, and nothing of the person who runs the tests."""
    for name in os.environ:
        if name.startswith("COPILOT_") or name in ("GH_TOKEN", "GITHUB_TOKEN"):
            monkeypatch.delenv(name)
    home = tmp_path / "copilot-home"
    monkeypatch.setenv("COPILOT_CLI_PATH", str(copilot_program))
    monkeypatch.setenv("COPILOT_CACHE_HOME", str(cache_folder() / "cache"))
    monkeypatch.setenv("COPILOT_HOME", str(home))
    monkeypatch.setenv("COPILOT_AUTO_UPDATE", "false")
    return home


@pytest.fixture
def start_agent(agent_home: Path, tmp_path: Path) -> Iterator[StartAgent]:
    """Make executors for the model at an address; all are closed after the test."""
    assert agent_home
    with ExitStack() as closing:

        def start(base_url: str = "", **provider: str) -> CopilotExecutor:
            config: dict[str, object] = {
                "trials_per_task": 1,
                "timeout_seconds": 60,
                "executor": "copilot-sdk",
            }
            if base_url:
                config["provider"] = {"base_url": base_url, **provider}
            executor = CopilotExecutor(ExecutorSettings(tmp_path, EvalConfig.model_validate(config)))
            closing.callback(executor.close)
            return executor

        yield start


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "factorial.py").write_text("def factorial(n):\n    return 1\n", "utf-8")
    return folder


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    """A folder with one skill, ``greeter``."""
    folder = tmp_path / "skills" / "greeter"
    folder.mkdir(parents=True)
    text = "---\nname: greeter\ndescription: Greets people by name.\n---\n\nSay hello, then the name.\n"
    (folder / "SKILL.md").write_text(text, "utf-8")
    return folder.parent
