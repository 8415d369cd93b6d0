"""What the engine says of whom it cannot ask: the extension finds the buttons of a message in these words.

``reasons.json`` holds them; its tests say there which buttons each has.
"""

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.conftest import StartModel
from tests.engine.executors.talking import ask, openai_executor, settings
from tests.engine.graders.grading import grade
from waza_engine.executors import executor_types
from waza_engine.executors.copilot.runtime import Runtime
from waza_engine.executors.executor import ExecutorError
from waza_engine.executors.openai import OpenAIExecutor
from waza_engine.graders.base import GraderError

REASONS = Path(__file__).parents[3] / "vscode-extension" / "test" / "reasons.json"
OPENAI = {"base_url": "https://api.openai.com/v1"}


@pytest.fixture(autouse=True)
def no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LLM_SECRET", raising=False)


def without_packages() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(executor_types, "missing_packages", lambda: ("openai",))
        executor_types.create_executor("openai", settings())


def without_login() -> None:
    async def status() -> Any:
        return SimpleNamespace(isAuthenticated=False)

    runtime = SimpleNamespace(
        client=SimpleNamespace(get_auth_status=status), _program=SimpleNamespace(path="/a b/copilot")
    )
    asyncio.run(Runtime._check_login(cast("Any", runtime)))


def test_reasons(scripted_model: StartModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = scripted_model("never", api_key="right-key").base_url

    def asked(provider: dict[str, Any] | None = None) -> None:
        with openai_executor(base, **({"provider": provider} if provider else {})) as executor:
            ask(executor, "Hello", tmp_path)

    def wrong_key() -> None:
        monkeypatch.setenv("LLM_SECRET", "wrong-key")
        asked({"api_key_env": "LLM_SECRET"})

    ways: list[Callable[[], Any]] = [
        without_packages,
        without_login,
        lambda: OpenAIExecutor(settings()),
        lambda: OpenAIExecutor(settings(provider={**OPENAI, "api_key_env": "LLM_SECRET"})),
        wrong_key,
        asked,
        lambda: grade("prompt", {"prompt": "Is it good?"}),
    ]
    said: list[str] = []
    for way in ways:
        with pytest.raises((ExecutorError, GraderError)) as caught:
            way()
        said.append(re.sub(r"`127\.0\.0\.1:\d+`", "`127.0.0.1`", str(caught.value)))
    assert said == [each["reason"] for each in json.loads(REASONS.read_text("utf-8"))]
