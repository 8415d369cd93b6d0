"""The real Copilot agent, with a scripted model in place of a real one."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.agents.copilot import cache_folder, installed_copilot
from tests.scripted_model import ModelRequest, Reply, ScriptedModel
from waza_engine.executors.copilot_sdk import CopilotExecutor
from waza_engine.executors.executor import ExecutorSettings
from waza_engine.spec.eval_config import EvalConfig

StartAgent = Callable[..., CopilotExecutor]


@pytest.fixture(scope="session")
def copilot_program() -> Path:
    return installed_copilot()


@pytest.fixture
def agent_home(copilot_program: Path, tmp_path: Path) -> Iterator[Path]:
    """An environment in which the agent finds itself, and nothing of the person who runs the tests."""
    with _home(copilot_program, tmp_path) as home:
        yield home


@pytest.fixture
def start_agent(agent_home: Path, tmp_path: Path) -> Iterator[StartAgent]:
    """Make executors for the model at an address; all are closed after the test."""
    assert agent_home
    with ExitStack() as closing:

        def start(base_url: str = "", **provider: str) -> CopilotExecutor:
            executor = _executor(tmp_path, base_url, **provider)
            closing.callback(executor.close)
            return executor

        yield start


@dataclass(frozen=True, slots=True)
class SharedAgent:
    """One running agent for tests that leave it as it was; each gives its model a script."""

    executor: CopilotExecutor
    model: ScriptedModel

    def scripted(self, *script: Reply | Callable[[ModelRequest], Reply]) -> ScriptedModel:
        replies = [reply for reply in script if not callable(reply)]
        functions = [reply for reply in script if callable(reply)]
        self.model.follow(functions[0] if functions else replies)
        return self.model


@pytest.fixture(scope="module")
def agent(copilot_program: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedAgent]:
    folder = tmp_path_factory.mktemp("agent")
    model = ScriptedModel(())
    with _home(copilot_program, folder):
        executor = _executor(folder, model.base_url)
        yield SharedAgent(executor, model)
        executor.close()
    model.close()


@contextmanager
def _home(program: Path, folder: Path) -> Generator[Path]:
    home = folder / "copilot-home"
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if name.startswith("COPILOT_") or name in ("GH_TOKEN", "GITHUB_TOKEN"):
                patch.delenv(name)
        patch.setenv("COPILOT_CLI_PATH", str(program))
        patch.setenv("COPILOT_CACHE_HOME", str(cache_folder() / "cache"))
        patch.setenv("COPILOT_HOME", str(home))
        patch.setenv("COPILOT_AUTO_UPDATE", "false")
        yield home


def _executor(folder: Path, base_url: str = "", **provider: str) -> CopilotExecutor:
    config: dict[str, object] = {"trials_per_task": 1, "timeout_seconds": 60, "executor": "copilot-sdk"}
    if base_url:
        config["provider"] = {"base_url": base_url, **provider}
    return CopilotExecutor(ExecutorSettings(folder, EvalConfig.model_validate(config)))


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
