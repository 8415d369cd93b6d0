"""Grade recorded trials again (``waza.regrade``) or measure how strong graders are (``waza.strength``).

No agent and no judge model runs.

The text that is open in the editor is used. The verdicts are shown as regraded and stored nowhere.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from waza_engine.results.json_values import Block, block_of, blocks_by_name, blocks_of
from waza_language_server.engine.process import EngineError
from waza_language_server.engine.run_request import literal_glob
from waza_language_server.project.regraded_answers import regraded_suite, regraded_tasks, strength_summary
from waza_language_server.project.values_of_suites import entries as written_entries
from waza_language_server.protocol.messages import REQUEST_FAILED, refused
from waza_language_server.protocol.services.live_sources import records_of
from waza_language_server.protocol.services.run_events import send_run_event
from waza_language_server.protocol.services.run_requests import (
    confirm_outside_suite,
    require_trust,
    run_request,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterator, Mapping, Sequence
    from pathlib import Path

    from waza_engine.results.reading.scores import RunResult, TaskResult
    from waza_language_server.engine.runs import Event
    from waza_language_server.project.recorded_values import Values
    from waza_language_server.project.runnable_id import RunnableId
    from waza_language_server.protocol.server import WazaServer


ANSWER_WITHIN_SECONDS = 600.0
_KINDS = {"passed": "passed", "failed": "failed", "errored": "errored"}
"""The events that close a task, by its verdict."""


async def regrade(ls: WazaServer, arguments: Sequence[object], _token: object) -> dict[str, Any]:
    """Grade the last records of a suite, a task or a grader again; answer how many tasks were graded."""
    target = run_request("waza.regrade", arguments).target
    require_trust(ls, "Graders execute code, so nothing is graded in an untrusted workspace")
    if target.kind == "prompt":
        raise refused("A trigger prompt has no grader, so there is nothing to grade again.")
    run = ls.session.project.scores.results(target.suite)
    records = {} if run is None else records_of(run, target)
    if not records:
        raise refused("There is no recorded answer to grade again; run it first.", REQUEST_FAILED)
    await confirm_outside_suite(ls, ls.session, target.suite)
    # Read the open documents first: the entries come from them.
    overlays = ls.session.texts()
    entries = await ls.diagnostics.compute(lambda: written_entries(ls.session.project, target.suite))
    graded = 0
    for record, tasks in records.items():
        request: dict[str, Any] = {"record": str(record), "suite": str(target.suite), "overlays": overlays}
        if target.task is not None:
            request["task"] = literal_glob(target.task)
        if target.grader is not None:
            request["graders"] = _asked_with(ls, target, tasks, entries)
        try:
            answer = await ls.runs.ask("grader.grade", request, ANSWER_WITHIN_SECONDS)
        except EngineError as error:
            ls.show_message(types.MessageType.Error, f"{error}")
            return {"status": "error", "tasks": graded, "message": str(error)}
        regraded, now = ls.session.project.scores.regraded, datetime.now(UTC)
        found = dict(regraded_tasks(answer, tasks, entries, now))
        for task, one in found.items():
            regraded.add(target.suite, task, one)
            regraded.note_asked(target.suite, task, one, entries, now, whole=target.grader is None)
        if target.kind == "suite" and (whole := _whole_run(run, record, tasks)) is not None:
            regraded.note_suite(target.suite, regraded_suite(answer, whole, found, entries, now))
        graded += len(found)
        asked = {task: regraded.asked(target.suite, tasks[task]) for task in found}
        # Other graders may have judged before, which the engine does not know.
        concluded = {task for task, one in asked.items() if one is not None and one.concluded is found[task]}
        for event in _events(answer, tasks, concluded):
            send_run_event(ls, ls.session, target, {**event, "regraded": True})
    ls.session.project.scores.refused.forget(target.suite)
    ls.changes.scores_changed()
    return {"status": "completed", "tasks": graded, "message": None}


def _asked_with(
    ls: WazaServer, target: RunnableId, tasks: Mapping[str, TaskResult], entries: Values
) -> list[str]:
    """Return the requested grader, and those that were graded again one by one before.

    The verdict of a task needs the results of all of them for the current text.
    """
    known = (ls.session.project.scores.regraded.asked(target.suite, task) for task in tasks.values())
    before = {name for one in known if one is not None and not one.whole for name in one.graders}
    written = {name for _, name in entries}
    return sorted({target.grader or ""} | (before & written))


def _whole_run(run: RunResult | None, record: Path, tasks: Collection[str]) -> RunResult | None:
    """Return the last run of the whole suite if a record is its and has the last answer of each task."""
    whole = run.whole if run is not None else None
    if whole is None or whole.origin is None or whole.origin.results != record:
        return None
    return whole if all(task.id in tasks or not task.trials for task in whole.tasks.values()) else None


def _events(answer: Block, asked: Container[str], concluded: Container[str]) -> Iterator[Event]:
    """Yield the results as events of a run: those of the graders, and the verdict of each task.

    The event of a task that only some graders have judged again says that it is ``concluded`` with the
    recorded results of the others.
    """
    for task, found in blocks_by_name(answer, "tasks").items():
        if task not in asked:
            continue
        for grader, verdict in blocks_by_name(found, "graders").items():
            if verdict.get("origin") == "recorded":
                kept = f"{grader}: as recorded, because judging it again is not free"
                yield {"kind": "output", "task": task, "grader": grader, "message": kept}
            # A grader that waits for a person has no score.
            score = () if verdict.get("status") == "pending" else ("score",)
            yield {
                "kind": "graded",
                "task": task,
                "trial": 1,
                "grader": grader,
                "message": verdict.get("feedback"),
                **{key: verdict[key] for key in (*score, "passed", "status", "failures") if key in verdict},
            }
        of_all = block_of(block_of(found, "with_recorded"), "conclusion")
        is_whole = bool(of_all) and task in concluded
        conclusion = of_all if is_whole else block_of(found, "conclusion")
        kind = _KINDS.get(str(conclusion.get("verdict")), "skipped")
        closing: Event = {"kind": kind, "task": task, "conclusion": conclusion}
        yield {**closing, "with_recorded": True} if is_whole else closing
    yield {"kind": "ended", "status": "completed", "conclusion": block_of(answer, "conclusion")}


MEASURED_WITHIN_SECONDS = 600.0


async def measure(ls: WazaServer, arguments: Sequence[object], _token: object) -> dict[str, Any]:
    """Measure the graders of a suite with its newest record; answer how many were."""
    suite = run_request("waza.strength", arguments).target.suite
    require_trust(ls, "Graders execute code, so nothing is measured in an untrusted workspace")
    if ls.session.project.scores.results(suite) is None:
        raise refused(
            "There is no recorded answer to measure graders with; run the suite first.", REQUEST_FAILED
        )
    await confirm_outside_suite(ls, ls.session, suite)
    overlays = ls.session.texts()
    entries = await ls.diagnostics.compute(lambda: written_entries(ls.session.project, suite))
    request: dict[str, Any] = {"record": str(suite), "suite": str(suite), "overlays": overlays}
    try:
        answer = await ls.runs.ask("grader.strength", request, MEASURED_WITHIN_SECONDS)
    except EngineError as error:
        ls.show_message(types.MessageType.Error, f"{error}")
        return {"status": "error", "graders": 0, "weak": 0, "message": str(error)}
    count = ls.session.project.scores.strengths.take(suite, answer, entries)
    measured = blocks_of(answer.get("graders"))
    weak = sum(1 for grader in measured if grader.get("finding"))
    ls.changes.problems_changed()
    words = strength_summary(measured)
    return {"status": "completed", "graders": count, "weak": weak, "words": words, "message": None}
