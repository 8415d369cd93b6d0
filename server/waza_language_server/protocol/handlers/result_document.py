"""The last run of a suite or a task as a page to read; the engine makes it of the record."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from waza_language_server.engine.process import EngineError
from waza_language_server.features.scores.verdict_labels import waits
from waza_language_server.project.runnable_id import RunnableId
from waza_language_server.protocol.handlers.run_requests import FAILED, refused
from waza_language_server.protocol.own_requests import RECORDED_RUNS, RESULT_DOCUMENT

if TYPE_CHECKING:
    from waza_engine.results.reading.scores import TaskResult
    from waza_language_server.protocol.own_requests import RecordedRunsParams, ResultDocumentParams
    from waza_language_server.protocol.server import WazaServer

_WITHIN_SECONDS = 30.0


async def result_document(ls: WazaServer, params: ResultDocumentParams) -> dict[str, Any]:
    """Return the newest record of the item with an id, or the requested one, as ``markdown``."""
    target = _target(ls, params.id, RESULT_DOCUMENT)
    question = _question(target)
    if params.record is not None:
        known = (await _ask(ls, "result.runs", question))["runs"]
        if all(run["record"] != params.record for run in known):
            raise refused(f"{params.record:.300} is no recorded run of {target.suite}.")
        question |= {"path": params.record, "suite": str(target.suite)}
        if params.since is not None:
            if all(run["record"] != params.since for run in known):
                raise refused(f"{params.since:.300} is no recorded run of {target.suite}.")
            question["since"] = params.since
    answer = await _ask(ls, "result.page", question)
    return {
        "markdown": answer["markdown"],
        "resultsFile": answer["record"],
        # The chosen interpreter may have an older engine, which does not send these keys.
        "goesOn": answer.get("goes_on") is True,
        "regraded": _is_regraded(ls, target, Path(answer["record"])),
        "waits": any(map(waits, _tasks_of(ls, target, Path(answer["record"])))),
        "workspaces": answer.get("workspaces", []),
        "answered": answer.get("answered", []),
        "tasks": answer.get("tasks", []),
    }


def _is_regraded(ls: WazaServer, target: RunnableId, record: Path) -> bool:
    """Return whether answers of a record were graded again: marks show that, and the record does not."""
    scores = ls.session.project.scores
    tasks = _tasks_of(ls, target, record)
    return any(scores.regraded.asked(target.suite, task) is not None for task in tasks)


def _tasks_of(ls: WazaServer, target: RunnableId, record: Path) -> list[TaskResult]:
    """Return the tasks whose newest answers are those of a record."""
    run = ls.session.project.scores.results(target.suite)
    return [
        task
        for task in (run.tasks.values() if run is not None else ())
        if target.task in (None, task.id) and task.origin is not None and task.origin.results == record
    ]


async def recorded_runs(ls: WazaServer, params: RecordedRunsParams) -> list[dict[str, Any]]:
    """Return the recorded runs of the item with an id, the newest first."""
    answer = await _ask(ls, "result.runs", _question(_target(ls, params.id, RECORDED_RUNS)))
    return [
        {
            "resultsFile": run["record"],
            "timestamp": run["timestamp"],
            "verdict": run["verdict"],
            "part": run.get("part", ""),
        }
        for run in answer["runs"]
    ]


def _target(ls: WazaServer, written: str, request: str) -> RunnableId:
    if not ls.trusted:
        raise refused("Nothing of an untrusted workspace is read by the engine; trust it first.", FAILED)
    try:
        return RunnableId.parse(written)
    except ValueError:
        raise refused(f"The `id` of {request} must be that of a suite or a task.") from None


def _question(target: RunnableId) -> dict[str, str]:
    return {"path": str(target.suite)} | ({} if target.task is None else {"task": target.task})


async def _ask(ls: WazaServer, method: str, question: dict[str, str]) -> Any:
    try:
        return await ls.runs.ask(method, question, _WITHIN_SECONDS)
    except EngineError as error:
        raise refused(str(error), FAILED) from None
