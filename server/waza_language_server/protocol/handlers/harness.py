"""``waza.harness``: ask an agent, grade and review with the files of agent-eval-harness.

A client gets ``{status, file, message}`` when it has ended: ``file`` is what was written, next to the file
that was read. The adapter and the grader are those of the suite that names the file, or those near it; the
user chooses among several.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from waza_engine.counting import counted
from waza_language_server.engine.process import EngineError
from waza_language_server.engine.runs import RunKey, RunOutcome
from waza_language_server.features.runnables.row_lenses import HARNESS, TRIALS, programs_for
from waza_language_server.project.runnable_id import RunnableId
from waza_language_server.project.uris import path_of, uri_of
from waza_language_server.protocol.messages import REQUEST_FAILED, refused
from waza_language_server.protocol.services.run_requests import (
    confirm_outside_suite,
    only_argument,
    require_trust,
)
from waza_language_server.text.label_escaping import message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from waza_language_server.protocol.server import WazaServer

WITHIN_SECONDS = 24 * 3600.0
_ASKS_AN_AGENT = ("capture", "trials")
_NEEDS_A_GRADER = ("validate-refs", "grade")
_WITHOUT = "Without a grader"
_KEYS = frozenset({"command", "file", "prompt", "wait"})


async def harness(ls: WazaServer, arguments: Sequence[object], token: types.ProgressToken | None) -> Any:
    """Carry a command of a lens out; nothing is asked or graded that was not clicked."""
    given = only_argument(arguments)
    command, uri, prompt = (given.get(key) for key in ("command", "file", "prompt"))
    path = path_of(uri) if isinstance(uri, str) else None
    is_known = command in (*_ASKS_AN_AGENT, *_NEEDS_A_GRADER, "calibrate") and given.keys() <= _KEYS
    if path is None or not is_known or not isinstance(prompt, str | None):
        raise refused(f"{HARNESS} needs a `command`, the URI of a `file`, and may have the id of a `prompt`.")
    require_trust(ls, "Agents and graders are programs, so nothing runs in an untrusted workspace")
    if path in ls.session.unsaved(path.parent):
        raise refused(f"{path.name} has unsaved changes; save it first.", REQUEST_FAILED)
    await confirm_outside_suite(ls, ls.session, path)
    request = await _request(ls, str(command), path, prompt)
    if request is None:
        return {"status": "canceled", "file": None, "message": None}
    work = _carried_out(ls, path, request, token)
    if given.get("wait") is False:
        ls.in_background(work)
        return {"status": "started", "file": None, "message": None}
    return await work


async def _request(ls: WazaServer, command: str, path: Path, prompt: str | None) -> dict[str, Any] | None:
    """Return the parameters for the engine, None if the user declines to choose."""
    programs = await ls.diagnostics.compute(lambda: programs_for(path, ls.session.project))
    request: dict[str, Any] = {"command": command, "file": str(path), "work": str(uuid4())}
    if prompt:
        request["ids"] = [prompt]
    if command == "trials":
        request["trials"] = TRIALS
    if command in _ASKS_AN_AGENT:
        if not programs.adapters:
            raise refused(
                f"No adapter is near {path.name}: it is a JSON file that says how to start the agent. "
                "Put one into the same folder.",
                REQUEST_FAILED,
            )
        adapter = await _chosen(ls, "Which adapter drives the agent?", path, programs.adapters)
        if adapter is None:
            return None
        request["adapter"] = str(adapter)
    if command in _NEEDS_A_GRADER and not programs.graders:
        raise refused(f"No grader is near {path.name}; put its file into a folder `graders`.", REQUEST_FAILED)
    if command != "calibrate" and programs.graders:
        more = () if command in _NEEDS_A_GRADER else (_WITHOUT,)
        grader = await _chosen(ls, "Which grader judges the answers?", path, programs.graders, more)
        if grader is None:
            return None
        if isinstance(grader, Path):
            request["grader"] = str(grader)
    return request


async def _chosen(
    ls: WazaServer, question: str, path: Path, files: Sequence[Path], more: Sequence[str] = ()
) -> Path | str | None:
    """Return the only file, or what the user chooses among the files and some more words."""
    if len(files) == 1:
        return files[0]
    if not ls.abilities.asks_the_user:
        named = ", ".join(file.name for file in files)
        raise refused(f"There are several such files near {path.name} ({named}); leave one.", REQUEST_FAILED)
    known = {_from(path.parent, file): file for file in files}
    answer = await ls.ask_user(types.MessageType.Info, question, (*known, *more))
    return answer if answer in more else known.get(answer or "")


def _from(folder: Path, file: Path) -> str:
    return Path(os.path.relpath(file, folder)).as_posix()


async def _carried_out(
    ls: WazaServer, path: Path, request: dict[str, Any], token: types.ProgressToken | None
) -> dict[str, Any]:
    prompt = next(iter(request.get("ids", ())), None)
    name = f"{request['command']} {prompt or path.name}"
    key = RunKey.of(RunnableId(path, prompt), request)
    bar = ls.progress_bars.bar(key, name, token)
    opening = asyncio.create_task(bar.open())
    work = asyncio.create_task(ls.runs.ask("harness.run", request, WITHIN_SECONDS))
    ls.harness_work[key] = work
    outcome = RunOutcome("canceled")
    try:
        answer = dict(await work)
        outcome = RunOutcome("completed" if answer["status"] == "completed" else "canceled")
    except asyncio.CancelledError:
        with suppress(EngineError):
            await asyncio.shield(ls.runs.ask("harness.cancel", {"work": request["work"]}, 2.0))
        return {"status": "canceled", "file": None, "message": None}
    except EngineError as error:
        outcome = RunOutcome("error", message=str(error))
        ls.show_message(types.MessageType.Error, str(error))
        return {"status": "error", "file": None, "message": str(error)}
    finally:
        ls.harness_work.pop(key, None)
        opening.cancel()
        bar.close(outcome)
    if answer["total"]:
        kind = types.MessageType.Info if answer["passed"] == answer["total"] else types.MessageType.Warning
        ls.show_message(
            kind, message(f"{name}: {answer['passed']} of {counted(answer['total'], 'answer')} passed")
        )
    ls.changes.files_changed()
    if answer["file"] is not None and ls.abilities.shows_documents:
        with suppress(JsonRpcException):
            await ls.window_show_document_async(types.ShowDocumentParams(uri_of(Path(answer["file"]))))
    return {"status": answer["status"], "file": answer["file"], "message": None}
