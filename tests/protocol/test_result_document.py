"""The page of a record, asked of engines that tell less than today's."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from waza_language_server.protocol.handlers.result_document import result_document
from waza_language_server.protocol.own_requests import ResultDocumentParams

pytestmark = pytest.mark.check


@pytest.mark.asyncio
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
