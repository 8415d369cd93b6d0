"""The runs of this server: what their start, events and end change in hints, lenses and marks."""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from waza_engine.results.reading.journals import begun, goes_on
from waza_language_server.engine.run_request import text_of_glob
from waza_language_server.engine.runs import Runs
from waza_language_server.project.active_runs import ActiveRun
from waza_language_server.protocol.services.run_events import send_run_event

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from waza_engine.results.json_values import Block
    from waza_language_server.engine.runs import Event, Run
    from waza_language_server.protocol.connection import ClientConnection
    from waza_language_server.protocol.services.changes import Changes
    from waza_language_server.protocol.services.refresh import RefreshRequests
    from waza_language_server.protocol.services.session import Session


TRIALS_DRAWN_AFTER_SECONDS = 0.3


def client_runs(
    client: ClientConnection, session: Session, changes: Changes, refresh: RefreshRequests
) -> Runs:
    """Return the runs of the engine that the client has chosen."""
    shown = _ShownRuns(client, session, changes, refresh)
    return Runs(
        client.options.interpreter or sys.executable,
        on_change=shown.change,
        on_event=shown.note,
        may_start=lambda: client.trusted,
    )


class _ShownRuns:
    def __init__(
        self, client: ClientConnection, session: Session, changes: Changes, refresh: RefreshRequests
    ) -> None:
        self._client = client
        self._session = session
        self._changes = changes
        self._refresh = refresh
        self._redraw: asyncio.TimerHandle | None = None
        """The timer of the next refresh of the marks of running tasks."""

    def change(self, run: Run) -> None:
        """Draw lenses and scores again: a run has started, or has ended with results of its own."""
        scores = self._session.project.scores
        if run.outcome is None:
            chosen = _chosen(run, "tasks"), _chosen(run, "prompts")
            scores.active_runs.begin(run, ActiveRun(run.target, run.asked, *chosen))
        else:
            scores.active_runs.end(run)
            if run.outcome.results_file is None and run.was_refused:
                self._note_refusal(run, run.outcome.message or "the run did not begin")
        self._changes.scores_changed()

    def note(self, run: Run, event: Event) -> None:
        """Forward an event, and redraw the progress of its run; changes at nearly the same time together."""
        if (
            self._session.project.scores.active_runs.note(run, event, datetime.now(UTC))
            and self._redraw is None
        ):
            loop = asyncio.get_running_loop()
            self._redraw = loop.call_later(TRIALS_DRAWN_AFTER_SECONDS, self._draw)
        for token in tuple(run.tokens):
            send_run_event(self._client, self._session, run.target, event, token)

    def _draw(self) -> None:
        self._redraw = None
        self._refresh.ask_for_hints()
        self._refresh.ask_for_marks(files=False)

    def _note_refusal(self, run: Run, why: str) -> None:
        tasks = _chosen(run, "tasks")
        if tasks is None and _chosen(run, "prompts") is not None:
            tasks = frozenset[str]()
        # The hint is drawn on that file's own line, so drop the path prefix.
        reason = why.removeprefix(f"{run.target.suite}: ")
        self._session.project.scores.refused.note(run.target, reason, tasks)


def _chosen(run: Run, key: Literal["tasks", "prompts"]) -> frozenset[str] | None:
    """Return the tasks or the prompts that the run of a suite is limited to, None without such a limit."""
    patterns: list[str] | None = run.options.get(key)
    return None if patterns is None else frozenset(map(text_of_glob, patterns))


LOOK_EVERY_SECONDS = 2.0
"""How often processes are polled; all tasks that have finished meanwhile are reported together."""
_MOST_KNOWN = 100


class ExternalRuns:
    """The journals that were seen to grow; ``changed`` is called when they say something else than before."""

    def __init__(self, changed: Callable[[], None], every_seconds: float = LOOK_EVERY_SECONDS) -> None:
        self._changed = changed
        self._every_seconds = every_seconds
        self._writers: dict[Path, Block] = {}
        self._has_news = False
        self._timer: asyncio.TimerHandle | None = None

    def saw(self, journal: Path) -> None:
        """Take notice that a journal was made, has grown or is gone."""
        self._has_news = True
        writer = begun(journal)
        if writer is None:
            self._writers.pop(journal, None)
        elif len(self._writers) < _MOST_KNOWN:
            self._writers[journal] = writer
        self._look_soon()

    def _look_soon(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._every_seconds, self._look)

    def _look(self) -> None:
        self._timer = None
        for journal, writer in list(self._writers.items()):
            if not journal.exists() or not goes_on(writer):
                del self._writers[journal]
                self._has_news = True
        if self._has_news:
            self._has_news = False
            self._changed()
        if self._writers:
            self._look_soon()
