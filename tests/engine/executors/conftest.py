"""What tests of executors share: no settings of the person who runs them, and single turns with a model."""

import os
from pathlib import Path

import pytest

from tests.conftest import StartModel
from tests.engine.executors.talking import Talk


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*os.environ]:
        if name.startswith(("OPENAI_", "COPILOT_")):
            monkeypatch.delenv(name)


@pytest.fixture
def talk(scripted_model: StartModel, tmp_path: Path) -> Talk:
    return Talk(scripted_model, tmp_path)
