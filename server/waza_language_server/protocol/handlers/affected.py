"""The tasks that changed since their newest results, and the run of only these."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from waza_language_server.engine.process import EngineError
from waza_language_server.engine.run_request import literal_glob
from waza_language_server.project.runnable_id import RunnableId
from waza_language_server.project.suite_files import suite_title
from waza_language_server.protocol.handlers.run_requests import FAILED, refused
from waza_language_server.protocol.own_requests import AFFECTED
from waza_language_server.text.labels import message

if TYPE_CHECKING:
    from waza_language_server.protocol.handlers.run_requests import RunRequest
    from waza_language_server.protocol.own_requests import AffectedParams
    from waza_language_server.protocol.server import WazaServer

_UNTRUSTED = "Suites execute code, so nothing of an untrusted workspace is looked at; trust it first."


async def affected(ls: WazaServer, params: AffectedParams) -> dict[str, Any]:
    """Return the ids of the changed items of a suite as ``items``, and its number of tasks as ``of``."""
    try:
        target = RunnableId.parse(params.id)
    except ValueError:
        raise refused(f"The `id` of {AFFECTED} must be that of a suite.") from None
    if not ls.trusted:
        raise refused(_UNTRUSTED, FAILED)
    try:
        found = await ls.affected.of_suite(target.suite)
    except EngineError as error:
        raise refused(str(error), FAILED) from None
    return {"items": found.items(target.suite), "of": found.of}


async def affected_request(ls: WazaServer, request: RunRequest) -> RunRequest | None:
    """Return the request to run the changed tasks of a suite; None, and a message, if there are none."""
    target = request.target
    if target.kind != "suite" or "tasks" in request.options:
        raise refused("waza.runAffected takes the id of a suite.")
    if not ls.trusted:
        raise refused(_UNTRUSTED, FAILED)
    try:
        found = await ls.affected.of_suite(target.suite, request.options)
    except EngineError as error:
        raise refused(str(error), FAILED) from None
    if not found.tasks:
        title = suite_title(ls.session.project, target.suite)
        said = f"Nothing to run: no task of {title} has changed since its newest result."
        ls.tell(types.MessageType.Info, message(said))
        return None
    if len(found.tasks) == found.of:
        return request
    tasks = [literal_glob(task) for task in found.tasks]
    return replace(request, options={**request.options, "tasks": tasks})
