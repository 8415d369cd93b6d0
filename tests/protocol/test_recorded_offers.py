"""What the engine should have offered, and did not in time, does not go missing without a word."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from waza_language_server.engine.process import EngineError
from waza_language_server.protocol.handlers import live
from waza_language_server.protocol.handlers.live import LiveSessions

SUITE = Path("/suites/eval.yaml")


def no_files(_server: object) -> None:
    """Stand for the files of a suite, which nobody looks at."""


@pytest.mark.parametrize(
    ("method", "is_told"), [("live.fixes", True), ("live.graders", True), ("live.trial", False)]
)
async def test_a_menu_without_the_fixes_of_the_engine_says_so(
    method: str, is_told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []

    async def ask(*_: object) -> Any:
        raise EngineError("The engine did not answer within 30 seconds.")

    def tell_once(_topic: str, _kind: object, text: str) -> None:
        told.append(text)

    server: Any = SimpleNamespace(runs=SimpleNamespace(ask=ask), tell_once=tell_once)
    monkeypatch.setattr(live, "LiveFiles", no_files)
    sessions: Any = LiveSessions(server)
    sessions._sessions[SUITE, SUITE] = SimpleNamespace(name="one")
    assert [answer async for answer in sessions._answers(method, SUITE, {})] == []
    assert told == (
        ["What recorded answers suggest is not offered. The engine did not answer within 30 seconds."]
        if is_told
        else []
    )
