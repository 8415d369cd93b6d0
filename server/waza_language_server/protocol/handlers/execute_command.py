"""The commands of the lenses: run, cancel, restart the engine.

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
import logging
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal
from uuid import uuid4

from lsprotocol import types

from waza_engine.results.json_values import text_of
from waza_language_server.engine.run_request import text_of_glob
from waza_language_server.engine.runs import RunKey, RunOutcome, RunProgress
from waza_language_server.features.runnables.code_lens import REVIEW, RUN_AFFECTED
from waza_language_server.features.runnables.test_bed import TEST_BED
from waza_language_server.project.going_runs import GoingRun
from waza_language_server.project.suite_files import suite_title
from waza_language_server.protocol.asking_again import ask_for_hints, ask_for_marks
from waza_language_server.protocol.handlers.grader_types import forget_types
from waza_language_server.protocol.handlers.making import MAKING, make
from waza_language_server.protocol.handlers.new_graders import NEW_GRADER_FROM_TEXT, new_grader_from_text
from waza_language_server.protocol.handlers.regrade import regrade
from waza_language_server.protocol.handlers.reviews import review
from waza_language_server.protocol.handlers.run_requests import (
    FAILED,
    confirm_cost,
    confirm_errors,
    confirm_place,
    refused,
    run_request,
)
from waza_language_server.protocol.handlers.strength import measure
from waza_language_server.protocol.handlers.test_bed import choose_bed
from waza_language_server.protocol.handlers.watched_files import refresh_scores
from waza_language_server.protocol.messages import is_identifier
from waza_language_server.text.labels import label, message

if TYPE_CHECKING:
    from waza_language_server.engine.runs import Event, Run
    from waza_language_server.project.runnable_id import RunnableId
    from waza_language_server.protocol.handlers.run_requests import RunRequest
    from waza_language_server.protocol.server import WazaServer

CREATE_WITHIN_SECONDS = 2.0
REPORT_EVERY_SECONDS = 0.05
TRIALS_DRAWN_AFTER_SECONDS = 0.3

log = logging.getLogger(__name__)


async def execute(ls: WazaServer, params: types.ExecuteCommandParams) -> Any:
    """Carry out a command."""
    arguments = tuple(params.arguments or ())
    if params.command == "waza.run":
        request = run_request(params.command, arguments)
        return await _run(ls, request, request.token or params.work_done_token)
    if params.command == RUN_AFFECTED:
        return await _run_affected(ls, arguments, params.work_done_token)
    if params.command == "waza.regrade":
        return await regrade(ls, run_request(params.command, arguments).target)
    if params.command == "waza.strength":
        return await measure(ls, run_request(params.command, arguments).target)
    if params.command == REVIEW:
        return await review(ls, arguments)
    if params.command == TEST_BED:
        return await choose_bed(ls, arguments)
    if params.command == "waza.cancel":
        everything = arguments in ((), (None,))
        target = None if everything else run_request(params.command, arguments).target
        return await _cancel(ls, target)
    if params.command == "waza.restartEngine":
        if arguments:
            raise refused("waza.restartEngine takes no arguments.")
        await ls.runs.restart_engine()
        forget_types(ls)
        return None
    if params.command == NEW_GRADER_FROM_TEXT:
        return await new_grader_from_text(ls, arguments)
    if params.command in MAKING:
        return await make(ls, params.command, arguments)
    raise refused(f"There is no command {params.command:.100}.")


async def progress_cancelled(ls: WazaServer, params: types.WorkDoneProgressCancelParams) -> None:
    """Cancel the run whose progress bar was cancelled."""
    key = ls.progress_bars.get(params.token) if is_identifier(params.token) else None
    await _cancel_all(ls, [run for run in ls.runs.active if run.key == key])


def show_run(ls: WazaServer, run: Run) -> None:
    """Draw lenses and scores again: a run has started, or has ended with results of its own."""
    going = ls.session.project.scores.going
    if run.outcome is None:
        going.begin(run, GoingRun(run.target, run.asked, _chosen(run, "tasks"), _chosen(run, "prompts")))
    else:
        going.end(run)
    if run.outcome is not None and run.outcome.results_file is not None:
        ls.session.project.scores.forget()
    elif run.was_refused and run.outcome is not None:
        _note_refusal(ls, run, run.outcome.message or "the run did not begin")
    refresh_scores(ls)


def note_event(ls: WazaServer, run: Run, event: Event) -> None:
    """Redraw the progress of a run; changes at nearly the same time are drawn together."""
    if not ls.session.project.scores.going.note(run, event, datetime.now(UTC)):
        return
    if ls.news_of_trials is None:
        loop = asyncio.get_running_loop()
        ls.news_of_trials = loop.call_later(TRIALS_DRAWN_AFTER_SECONDS, _draw_trials, ls)


def _draw_trials(ls: WazaServer) -> None:
    ls.news_of_trials = None
    ask_for_hints(ls)
    ask_for_marks(ls, files=False)


def _chosen(run: Run, key: Literal["tasks", "prompts"]) -> frozenset[str] | None:
    """Return the tasks or the prompts that the run of a suite is limited to, None without such a limit."""
    patterns: list[str] | None = run.options.get(key)
    return None if patterns is None else frozenset(map(text_of_glob, patterns))


def _note_refusal(ls: WazaServer, run: Run, why: str) -> None:
    tasks = _chosen(run, "tasks")
    if tasks is None and _chosen(run, "prompts") is not None:
        tasks = frozenset[str]()
    # The hint is drawn on that file's own line, so drop the path prefix.
    reason = why.removeprefix(f"{run.target.suite}: ")
    ls.session.project.scores.refused.note(run.target, reason, tasks)


async def _run(ls: WazaServer, request: RunRequest, token: types.ProgressToken | None) -> dict[str, Any]:
    target = request.target
    if not ls.trusted:
        raise refused(
            "Suites execute code, so nothing runs in an untrusted workspace; trust it first.", FAILED
        )
    if not target.suite.is_file():
        raise refused(f"There is no eval file {target.suite}; save it before it runs.", FAILED)
    await confirm_place(ls, target.suite)
    confirmed = await confirm_cost(ls, request) if await confirm_errors(ls, target) else None
    if confirmed is None:
        return {"status": "canceled", "resultsFile": None, "message": None}
    unsaved = ls.session.unsaved(target.suite.parent)
    if unsaved:
        names = ", ".join(path.name for path in unsaved)
        text = f"The run uses the files on disk; unsaved changes in {names} are not part of it."
        ls.tell_once("unsaved", types.MessageType.Info, text)
    if request.waits:
        return await _carried_out(ls, confirmed, token)
    run = asyncio.create_task(_carried_out(ls, confirmed, token))
    ls.runs_in_background.add(run)
    run.add_done_callback(ls.runs_in_background.discard)
    return {"status": "started", "resultsFile": None, "message": None}


async def _carried_out(
    ls: WazaServer, request: RunRequest, token: types.ProgressToken | None
) -> dict[str, Any]:
    bar = _ProgressBar(ls, RunKey.of(request.target, request.options), token)
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
        ls.tell(types.MessageType.Error, f"The run did not finish: {why}")
    elif outcome.status != "canceled":
        passed = outcome.conclusion.get("verdict") == "passed"
        kind = types.MessageType.Info if passed else types.MessageType.Warning
        ls.tell(kind, f"{_named(ls, target)}: {text_of(outcome.conclusion.get('words')) or outcome.status}")


def _named(ls: WazaServer, target: RunnableId) -> str:
    names = (suite_title(ls.session.project, target.suite), target.task, target.grader, target.prompt)
    return " › ".join(label(name) for name in names if name)


async def _run_affected(
    ls: WazaServer, arguments: tuple[object, ...], token: types.ProgressToken | None
) -> dict[str, Any]:
    from waza_language_server.protocol.handlers.affected import affected_request

    request = await affected_request(ls, run_request(RUN_AFFECTED, arguments))
    if request is None:
        return {"status": "completed", "resultsFile": None, "message": None}
    return await _run(ls, request, request.token or token)


async def _cancel(ls: WazaServer, target: RunnableId | None) -> dict[str, int]:
    runs = [run for run in ls.runs.active if target is None or run.target == target]
    await _cancel_all(ls, runs)
    return {"canceled": len(runs)}


async def _cancel_all(ls: WazaServer, runs: list[Run]) -> None:
    await asyncio.gather(*(ls.runs.cancel(run) for run in runs))


class _ProgressBar:
    """The progress bar of one run: with the client's own token, else with one of ours, else none."""

    def __init__(self, ls: WazaServer, run: RunKey, token: types.ProgressToken | None) -> None:
        self._ls = ls
        self._run = run
        self._given = token
        self._token: types.ProgressToken | None = None
        self._latest: RunProgress | None = None
        self._reported_at = 0.0
        self._later: asyncio.TimerHandle | None = None

    async def open(self) -> None:
        """Show the bar; a client that does not answer goes without."""
        if self._given is not None:
            self._begin(self._given)
        elif self._ls.abilities.shows_progress:
            # Text, not a number: some clients accept no other tokens from servers.
            token = f"waza-run-{uuid4()}"
            created = asyncio.ensure_future(
                self._ls.window_work_done_progress_create_async(types.WorkDoneProgressCreateParams(token))
            )
            done, _ = await asyncio.wait([created], timeout=CREATE_WITHIN_SECONDS)
            if done and created.exception() is None:
                self._begin(token)

    def report(self, progress: RunProgress) -> None:
        """Show how far the run is; of reports in quick succession the last one is shown."""
        self._latest = progress
        if self._token is None or self._later is not None:
            return
        wait = self._reported_at + REPORT_EVERY_SECONDS - time.monotonic()
        if wait <= 0:
            self._show()
        else:
            # This may be the last event for minutes: an agent has begun to work.
            self._later = asyncio.get_running_loop().call_later(wait, self._show)

    def close(self, outcome: RunOutcome) -> None:
        """Take the bar away."""
        if self._later is not None:
            self._later.cancel()
        if self._token is not None:
            self._ls.progress_bars.pop(self._token, None)
            self._send(types.WorkDoneProgressEnd(message=outcome.status))
            self._token = None

    def _show(self) -> None:
        self._later = None
        self._reported_at = time.monotonic()
        if self._latest is not None:
            words, percentage = _words(self._latest), self._latest.percentage
            self._send(types.WorkDoneProgressReport(message=words, percentage=percentage, cancellable=True))

    def _begin(self, token: types.ProgressToken) -> None:
        self._token = token
        self._ls.progress_bars[token] = self._run
        self._send(
            types.WorkDoneProgressBegin(
                title=message(f"Waza: {_named(self._ls, self._run.target)}"),
                cancellable=True,
                message=_words(self._latest) if self._latest else "starting",
                percentage=0,
            )
        )

    def _send(
        self, value: types.WorkDoneProgressBegin | types.WorkDoneProgressReport | types.WorkDoneProgressEnd
    ) -> None:
        assert self._token is not None
        self._ls.progress(types.ProgressParams(token=self._token, value=value))


def _words(progress: RunProgress) -> str:
    counted = f"{progress.completed}/{progress.total}" if progress.total else ""
    return message(label(" · ".join(part for part in (counted, progress.message) if part)))
