"""Records to read: a run as a page, one of its trials, and a file as it was; the engine writes the pages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from waza_engine.vocabulary import grader_label
from waza_language_server.features.runnables.code_lens import REVIEW
from waza_language_server.features.scores.verdict_labels import waits
from waza_language_server.project.runnable_id import RunnableId
from waza_language_server.protocol.messages import REQUEST_FAILED, refused
from waza_language_server.protocol.own_requests import RECORDED_RUNS, RESULT_DOCUMENT, REVIEWS, TRIAL_DOCUMENT
from waza_language_server.protocol.services.run_requests import (
    ask_engine,
    only_argument,
    require_trust,
    run_request,
    target_of,
    task_of,
)
from waza_language_server.text.label_escaping import label, message
from waza_language_server.text.line_index import LineIndex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from waza_engine.results.reading.scores import TaskResult
    from waza_language_server.project.runnable_id import RunnableId
    from waza_language_server.protocol.own_requests import (
        ItemParams,
        RecordedTextParams,
        ResultDocumentParams,
        TrialDocumentParams,
    )
    from waza_language_server.protocol.server import WazaServer


_KINDS = {"✓": "found", "✗": "forbidden", "≈": "near"}


async def result_document(ls: WazaServer, params: ResultDocumentParams) -> dict[str, Any]:
    """Return the newest record of the item with an id, or the requested one, as ``markdown``."""
    target = _target(ls, params.id, RESULT_DOCUMENT)
    question = _question(target)
    if params.record is not None:
        known = (await ask_engine(ls.runs, "result.runs", question))["runs"]
        if all(run["record"] != params.record for run in known):
            raise refused(f"{params.record:.300} is no recorded run of {target.suite}.")
        question |= {"path": params.record, "suite": str(target.suite)}
        if params.since is not None:
            if all(run["record"] != params.since for run in known):
                raise refused(f"{params.since:.300} is no recorded run of {target.suite}.")
            question["since"] = params.since
    answer = await ask_engine(ls.runs, "result.page", question)
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


async def recorded_runs(ls: WazaServer, params: ItemParams) -> list[dict[str, Any]]:
    """Return the recorded runs of the item with an id, the newest first."""
    answer = await ask_engine(ls.runs, "result.runs", _question(_target(ls, params.id, RECORDED_RUNS)))
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
    require_trust(ls, "Nothing of an untrusted workspace is read by the engine")
    return target_of(written, request, "a suite or a task")


def _question(target: RunnableId) -> dict[str, str]:
    return {"path": str(target.suite)} | ({} if target.task is None else {"task": target.task})


async def trial_document(ls: WazaServer, params: TrialDocumentParams) -> dict[str, Any]:
    """Return the ``text`` of a recorded trial, and its ``marks``.

    A mark has a ``range``, the ``kind``, and in ``words`` which rule it is.
    """
    target, task = task_of(params.id, TRIAL_DOCUMENT)
    found = await ls.live.trial(target.suite, task, params.trial)
    if found is None:
        name = target.suite.name
        raise refused(
            f"The trial can be read while {name} is open and its graders are judged live.", REQUEST_FAILED
        )
    lines = LineIndex(found["text"])

    def place(offset: int) -> dict[str, int]:
        line, character = lines.position(offset, ls.session.encoding)
        return {"line": line, "character": character}

    marks = [
        {
            "range": {"start": place(mark["start"]), "end": place(mark["end"])},
            "kind": _KINDS.get(mark["words"][:1], "found"),
            "words": mark["words"],
        }
        for mark in found["marks"]
    ]
    return {"text": found["text"], "marks": marks}


def recorded_text(ls: WazaServer, params: RecordedTextParams) -> str | None:
    """Return the text of a file when a run began, credentials masked; None when the run kept none."""
    from waza_engine.results.reading.newest_scores import results_of

    run = results_of(Path(params.results))
    if run is None or run.origin is None:
        return None
    return ls.session.project.scores.inputs.text_then(run.origin, params.path)


PASSED, FAILED_IT = "Passed", "Failed"
_ASKED_CHARACTERS = 600
"""Of an answer in a question: more of it would hide the buttons."""
_SAID = ("passed", "score", "comment")


async def reviews(ls: WazaServer, params: ItemParams) -> list[dict[str, Any]]:
    """Return the answers of a suite, a task or a grader that wait for a person."""
    return await _waiting(ls, target_of(params.id, REVIEWS, "a suite, a task or a grader"))


async def review(ls: WazaServer, arguments: Sequence[object], _token: object) -> dict[str, Any]:
    """Record a person's verdict on an answer; return the updated answer, null if the person gives none.

    The argument is ``{id, trial?, results?, passed?, score?, comment?}``, with ``suite``, ``task`` and
    ``grader`` in place of an unknown id. Without ``passed`` the user is asked about the first pending answer.
    """
    given = only_argument(arguments)
    verdict = {key: value for key in _SAID if (value := given.pop(key, None)) not in (None, "")}
    which = {"path": given.pop("results", None), "trial": given.pop("trial", None)}
    target = run_request(REVIEW, [given]).target
    if "passed" not in verdict:
        if verdict:
            raise refused(f"{REVIEW} needs `passed` beside a score or a comment.")
        waiting = await _waiting(ls, target)
        if not waiting:
            raise refused("Nothing waits for a review there.", REQUEST_FAILED)
        first = waiting[0]
        passed = await _asked(ls, first)
        if passed is None:
            return {"item": None}
        verdict = {"passed": passed}
        which = {"path": first["results"], "trial": first["trial"]}
        target = RunnableId(target.suite, first["task"], first["grader"])
    answer = await _ask(ls, "review.add", target, {**which, **verdict})
    ls.changes.scores_changed()
    return {"item": answer["item"]}


async def _waiting(ls: WazaServer, target: RunnableId) -> list[dict[str, Any]]:
    if ls.session.project.scores.results(target.suite) is None:
        return []
    items = (await _ask(ls, "review.list", target, {}))["items"]
    return [{**item, "id": str(RunnableId(target.suite, item["task"], item["grader"]))} for item in items]


async def _ask(ls: WazaServer, method: str, target: RunnableId, given: dict[str, object]) -> dict[str, Any]:
    require_trust(ls, "Nothing is reviewed in an untrusted workspace")
    request = {"task": target.task, "grader": target.grader, **given}
    request["path"] = str(request.get("path") or target.suite)
    return await ask_engine(
        ls.runs, method, {key: value for key, value in request.items() if value is not None}
    )


async def _asked(ls: WazaServer, waiting: dict[str, Any]) -> bool | None:
    """Ask whether an answer passes; None if the user does not say."""
    if not ls.abilities.asks_the_user:
        raise refused(f"{REVIEW} needs `passed` in this editor.", REQUEST_FAILED)
    which = f"{label(waiting['task'])}, trial {waiting['trial']}, {label(grader_label(waiting['grader']))}"
    output: str = waiting["output"]
    shown = output if len(output) <= _ASKED_CHARACTERS else f"{output[:_ASKED_CHARACTERS]}…"
    question = message(f"{which}: {waiting['instructions'] or 'does it pass?'}\n\n{shown}")
    answer = await ls.ask_user(types.MessageType.Info, question, [PASSED, FAILED_IT])
    return None if answer is None else answer == PASSED
