"""Runs of suites: the commands of the lenses, and what a client asks before a run.

``waza.run`` takes the id of a runnable, ``{id, workDoneToken?, wait?}``, and is answered when the run has
ended, with ``{status, resultsFile, message}``; with ``wait: false`` when it has begun, for clients that give
a command few seconds. It is cancelled by cancelling the request, by the client's progress bar, or by
``waza.cancel`` with the same id (without one: everything). The files on disk are run: saving them is up
to the client, and the server warns the user once about unsaved changes.

Architecture invariant: nothing runs that was not requested. An invalid argument is rejected and never means
"everything", since a run may cost money; suites outside the open folders run after a question.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from waza_engine.results.json_values import text_of
from waza_language_server.engine.process import EngineError
from waza_language_server.engine.run_request import literal_glob
from waza_language_server.engine.runs import RunKey, RunOutcome
from waza_language_server.features.runnables.code_lens import RUN_AFFECTED
from waza_language_server.project.document import Document
from waza_language_server.project.nearby import Nearby
from waza_language_server.project.suite_files import suite_title
from waza_language_server.project.uris import uri_of
from waza_language_server.protocol.messages import REQUEST_FAILED, refused
from waza_language_server.protocol.own_requests import AFFECTED, MODELS
from waza_language_server.protocol.services.run_requests import (
    confirm_cost,
    confirm_errors,
    confirm_outside_suite,
    require_trust,
    run_request,
    target_of,
)
from waza_language_server.text.label_escaping import label, message

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from waza_language_server.engine.runs import Run
    from waza_language_server.project.runnable_id import RunnableId
    from waza_language_server.protocol.own_requests import ItemParams
    from waza_language_server.protocol.server import WazaServer
    from waza_language_server.protocol.services.affected import AffectedSuite
    from waza_language_server.protocol.services.run_requests import RunRequest


async def run(
    ls: WazaServer, arguments: Sequence[object], token: types.ProgressToken | None
) -> dict[str, Any]:
    """Run a suite, a task, a grader or a trigger prompt."""
    return await _run(ls, run_request("waza.run", arguments), token)


async def run_affected(
    ls: WazaServer, arguments: Sequence[object], token: types.ProgressToken | None
) -> dict[str, Any]:
    """Run the changed tasks of a suite; the user gets a message if there are none."""
    request = run_request(RUN_AFFECTED, arguments)
    target = request.target
    if target.kind != "suite" or "tasks" in request.options:
        raise refused("waza.runAffected takes the id of a suite.")
    found = await _changed(ls, target.suite, request.options)
    if not found.tasks:
        title = suite_title(ls.session.project, target.suite)
        text = f"Nothing to run: no task of {title} has changed since its newest result."
        ls.show_message(types.MessageType.Info, message(text))
        return {"status": "completed", "resultsFile": None, "message": None}
    if len(found.tasks) < found.of:
        tasks = [literal_glob(task) for task in found.tasks]
        request = replace(request, options={**request.options, "tasks": tasks})
    return await _run(ls, request, token)


async def cancel(ls: WazaServer, arguments: Sequence[object], _token: object) -> dict[str, int]:
    """Cancel the runs of an item; without an argument all runs."""
    everything = tuple(arguments) in ((), (None,))
    target = None if everything else run_request("waza.cancel", arguments).target
    runs = [run for run in ls.runs.active if target is None or run.target == target]
    harness = [work for key, work in ls.harness_work.items() if target is None or key.target == target]
    for work in harness:
        work.cancel()
    await _cancel_all(ls, runs)
    return {"canceled": len(runs) + len(harness)}


async def restart_engine(ls: WazaServer, arguments: Sequence[object], _token: object) -> None:
    """End all engine processes; the next request starts one."""
    if arguments:
        raise refused("waza.restartEngine takes no arguments.")
    await ls.runs.restart_engine()
    ls.plug_in_types.forget()


async def progress_cancelled(ls: WazaServer, params: types.WorkDoneProgressCancelParams) -> None:
    """Cancel the run whose progress bar was cancelled."""
    key = ls.progress_bars.run_of(params.token)
    if key in ls.harness_work:
        ls.harness_work[key].cancel()
    await _cancel_all(ls, [run for run in ls.runs.active if run.key == key])


async def affected(ls: WazaServer, params: ItemParams) -> dict[str, Any]:
    """Return the ids of the changed items of a suite as ``items``, and its number of tasks as ``of``."""
    suite = target_of(params.id, AFFECTED).suite
    found = await _changed(ls, suite)
    return {"items": found.items(suite), "of": found.of}


async def models(ls: WazaServer, params: ItemParams) -> list[dict[str, str]]:
    """Return ``{name, words}`` of each model that a run of a suite may ask, once, the nearest first."""
    from waza_language_server.features.hover.model_prices import known_models

    suite = target_of(params.id, MODELS).suite
    listed = await ls.model_prices.listed_in_time()
    project, uri = ls.session.project, uri_of(suite)
    document = ls.session.document(uri) or Document(uri, 0, project.disk.text(suite).value, "eval")
    found: dict[str, str] = {}
    for model in known_models(Nearby(project, document), listed):
        found.setdefault(model.name, model.words)
    return [{"name": name, "words": words} for name, words in found.items()]


async def _changed(ls: WazaServer, suite: Path, options: Mapping[str, Any] | None = None) -> AffectedSuite:
    require_trust(ls, "Suites execute code, so nothing of an untrusted workspace is looked at")
    try:
        return await ls.affected.of_suite(suite, options)
    except EngineError as error:
        raise refused(str(error), REQUEST_FAILED) from None


async def _run(ls: WazaServer, request: RunRequest, token: types.ProgressToken | None) -> dict[str, Any]:
    target, token = request.target, request.token or token
    require_trust(ls, "Suites execute code, so nothing runs in an untrusted workspace")
    if not target.suite.is_file():
        raise refused(f"There is no eval file {target.suite}; save it before it runs.", REQUEST_FAILED)
    await confirm_outside_suite(ls, ls.session, target.suite)
    may_run = await confirm_errors(ls, ls.session, ls.diagnostics, target)
    confirmed = await confirm_cost(ls, ls.estimates, request) if may_run else None
    if confirmed is None:
        return {"status": "canceled", "resultsFile": None, "message": None}
    unsaved = ls.session.unsaved(target.suite.parent)
    if unsaved:
        names = ", ".join(path.name for path in unsaved)
        text = f"The run uses the files on disk; unsaved changes in {names} are not part of it."
        ls.show_message_once("unsaved", types.MessageType.Info, text)
    if request.waits:
        return await _carried_out(ls, confirmed, token)
    ls.in_background(_carried_out(ls, confirmed, token))
    return {"status": "started", "resultsFile": None, "message": None}


async def _carried_out(
    ls: WazaServer, request: RunRequest, token: types.ProgressToken | None
) -> dict[str, Any]:
    key = RunKey.of(request.target, request.options)
    bar = ls.progress_bars.bar(key, _named(ls, request.target), token)
    opening = asyncio.create_task(bar.open())
    outcome = RunOutcome("canceled")
    try:
        outcome = await ls.runs.run(request.target, bar.report, request.options, token)
    finally:
        opening.cancel()
        bar.close(outcome)
    if not ls.options.run_events:
        _tell_end(ls, request.target, outcome)
    return {"status": outcome.status, "resultsFile": outcome.results_file, "message": outcome.message}


def _tell_end(ls: WazaServer, target: RunnableId, outcome: RunOutcome) -> None:
    """Say how a run ended to who sees none of its events."""
    if outcome.status == "error":
        why = outcome.message or "The engine gave no reason."
        ls.show_message(types.MessageType.Error, f"The run did not finish: {why}")
    elif outcome.status != "canceled":
        passed = outcome.conclusion.get("verdict") == "passed"
        kind = types.MessageType.Info if passed else types.MessageType.Warning
        ls.show_message(
            kind, f"{_named(ls, target)}: {text_of(outcome.conclusion.get('words')) or outcome.status}"
        )


def _named(ls: WazaServer, target: RunnableId) -> str:
    names = (suite_title(ls.session.project, target.suite), target.task, target.grader, target.prompt)
    return " › ".join(label(name) for name in names if name)


async def _cancel_all(ls: WazaServer, runs: list[Run]) -> None:
    await asyncio.gather(*(ls.runs.cancel(run) for run in runs))
