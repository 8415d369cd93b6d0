"""The last run of a suite or a task as a page to read; the engine makes it of the record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from waza_language_server.engine.process import EngineError
from waza_language_server.project.runnable_id import RunnableId
from waza_language_server.protocol.handlers.run_requests import FAILED, refused

if TYPE_CHECKING:
    from waza_language_server.protocol.own_requests import ResultDocumentParams
    from waza_language_server.protocol.server import WazaServer

_WITHIN_SECONDS = 30.0


async def result_document(ls: WazaServer, params: ResultDocumentParams) -> dict[str, Any]:
    """Return the newest record of what an id names as ``markdown``."""
    if not ls.trusted:
        raise refused("Nothing of an untrusted workspace is read by the engine; trust it first.", FAILED)
    try:
        target = RunnableId.parse(params.id)
    except ValueError:
        raise refused("The `id` of waza/resultDocument must be that of a suite or a task.") from None
    question = {"path": str(target.suite)} | ({} if target.task is None else {"task": target.task})
    try:
        answer = await ls.runs.ask("result.page", question, _WITHIN_SECONDS)
    except EngineError as error:
        raise refused(str(error), FAILED) from None
    return {
        "markdown": answer["markdown"],
        "resultsFile": answer["record"],
        "workspaces": answer["workspaces"],
    }
