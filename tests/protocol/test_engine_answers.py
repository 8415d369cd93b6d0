"""Answers of an engine that is too slow or older than the server."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from waza_language_server.engine.process import EngineError
from waza_language_server.protocol.handlers.results import result_document
from waza_language_server.protocol.own_requests import ResultDocumentParams
from waza_language_server.protocol.services.live import LiveSessions

SUITE = Path("/suites/eval.yaml")


@pytest.mark.parametrize(
    ("method", "is_told"), [("live.fixes", True), ("live.graders", True), ("live.trial", False)]
)
async def test_a_menu_without_the_fixes_of_the_engine_says_so(method: str, is_told: bool) -> None:
    told: list[str] = []

    async def ask(*_: object) -> Any:
        raise EngineError("The engine did not answer within 30 seconds.")

    def show_message_once(_topic: str, _kind: object, text: str) -> None:
        told.append(text)

    client: Any = SimpleNamespace(show_message_once=show_message_once)
    runs: Any = SimpleNamespace(ask=ask)
    unused: Any = None
    sessions: Any = LiveSessions(client, unused, unused, unused, runs, unused)
    sessions._sessions[SUITE, SUITE] = SimpleNamespace(name="one")
    assert [answer async for answer in sessions._answers(method, SUITE, {})] == []
    assert told == (
        ["Fixes from recorded answers are not offered. The engine did not answer within 30 seconds."]
        if is_told
        else []
    )


async def test_an_older_engine_of_the_chosen_interpreter_still_has_its_page_shown(tmp_path: Path) -> None:
    record = str(tmp_path / "run.json")

    async def ask(_method: str, _question: dict[str, str], _seconds: float) -> dict[str, str]:
        return {"markdown": "# told", "record": record}

    def results(_suite: Path) -> None:
        return None

    scores = SimpleNamespace(results=results)
    session = SimpleNamespace(project=SimpleNamespace(scores=scores))
    server: Any = SimpleNamespace(trusted=True, runs=SimpleNamespace(ask=ask), session=session)
    page = await result_document(server, ResultDocumentParams(id=str(tmp_path / "eval.yaml")))
    assert page == {
        "markdown": "# told",
        "resultsFile": record,
        "goesOn": False,
        "regraded": False,
        "waits": False,
        "workspaces": [],
        "answered": [],
        "tasks": [],
    }
