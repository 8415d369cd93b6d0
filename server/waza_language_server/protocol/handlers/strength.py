"""``waza.strength``: which changes of the recorded answers the graders notice, measured when asked.

Assertions are evaluated, so the workspace must be trusted; no agent, judge or program is started, nothing is
written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types

from waza_engine.results.json_values import blocks_of
from waza_language_server.engine.process import EngineError
from waza_language_server.project.recorded_values import entries as written_entries
from waza_language_server.project.strengths import strength_summary
from waza_language_server.protocol.services.run_requests import (
    FAILED,
    confirm_place,
    refused,
    require_trust,
    run_request,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from waza_language_server.protocol.server import WazaServer

ANSWER_WITHIN_SECONDS = 600.0


async def measure(ls: WazaServer, arguments: Sequence[object], _token: object) -> dict[str, Any]:
    """Measure the graders of a suite with its newest record; answer how many were."""
    suite = run_request("waza.strength", arguments).target.suite
    require_trust(ls, "Graders execute code, so nothing is measured in an untrusted workspace")
    if ls.session.project.scores.results(suite) is None:
        raise refused("There is no recorded answer to measure graders with; run the suite first.", FAILED)
    await confirm_place(ls, suite)
    overlays = ls.session.texts()
    entries = await ls.diagnostics.worked_out(lambda: written_entries(ls.session.project, suite))
    request: dict[str, Any] = {"record": str(suite), "suite": str(suite), "overlays": overlays}
    try:
        answer = await ls.runs.ask("grader.strength", request, ANSWER_WITHIN_SECONDS)
    except EngineError as error:
        ls.tell(types.MessageType.Error, f"{error}")
        return {"status": "error", "graders": 0, "weak": 0, "message": str(error)}
    count = ls.session.project.scores.strengths.take(suite, answer, entries)
    measured = blocks_of(answer.get("graders"))
    weak = sum(1 for grader in measured if grader.get("finding"))
    ls.refresh.problems_changed()
    words = strength_summary(measured)
    return {"status": "completed", "graders": count, "weak": weak, "words": words, "message": None}
