"""Grade recorded answers again as suites are edited: send open texts to the engine, receive verdicts.

The engine has a session for each result file of a suite that has an open document. Each edit is sent a moment
later; the engine aborts its work on older text. A verdict belongs to the text that was sent with its update,
never to a later text.

Architecture invariant: nothing here blocks the loop, and nothing is started in an untrusted workspace.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from waza_engine.spec.reading.scalars import Json
from waza_language_server.engine.process import EngineError
from waza_language_server.project.regraded import PENDING_AFTER_SECONDS
from waza_language_server.project.regraded_answers import live_task
from waza_language_server.project.runnable_id import RunnableId
from waza_language_server.project.uris import path_of
from waza_language_server.project.values_of_suites import entries as written_entries
from waza_language_server.protocol.services.live_sources import LiveBaselines, records_of
from waza_language_server.protocol.services.watching import LiveFiles, is_watched

if TYPE_CHECKING:
    from waza_engine.results.reading.scores import TaskResult
    from waza_language_server.engine.runs import Runs
    from waza_language_server.project.graded_rule import Rule
    from waza_language_server.protocol.connection import ClientConnection
    from waza_language_server.protocol.services.refresh import RefreshRequests
    from waza_language_server.protocol.services.schedule import Diagnostics
    from waza_language_server.protocol.services.session import Session

DEBOUNCE_SECONDS = 0.01
OPEN_WITHIN_SECONDS = 60.0
ANSWER_WITHIN_SECONDS = 120.0
EXPLAIN_WITHIN_SECONDS = 8.0
"""Longer than one assertion may take."""
FIXES_WITHIN_SECONDS = 30.0
"""The other quick fixes wait for these; a menu that has to do without them says so."""
_OFFERING = ("live.fixes", "live.graders")
"""Requests whose answers are offered: if one fails, the user gets a message instead of a shorter list."""

log = logging.getLogger(__name__)

Entries = Mapping[tuple[str, str], Json]
Key = tuple[Path, Path]
"""Of a session: its eval file and its result file."""


@dataclass(frozen=True, slots=True)
class Explained:
    """The answer to ``live.explain``, and when the trials were recorded."""

    answer: Mapping[str, Any]
    recorded: datetime


@dataclass(eq=False)
class _Session:
    """A result file that the engine holds, and what it was sent. ``name`` is "" until it is open.

    ``number`` is that of the newest update, ``answered`` of the newest that was judged.
    ``entries`` are the grader entries as they were written at the updates that are not answered yet.
    ``files`` are the other files than tasks and eval file that the verdicts depend on.
    """

    tasks: Mapping[str, TaskResult]
    name: str = ""
    sent: dict[str, str] = field(default_factory=dict[str, str])
    number: int = 0
    answered: int = 0
    entries: dict[int, Entries] = field(default_factory=dict[int, Entries])
    files: Sequence[Path] = ()
    started: datetime | None = None
    """When its run began, if it was chosen; None for the newest answers."""


class LiveSessions:
    """The live sessions of one server."""

    def __init__(
        self,
        client: ClientConnection,
        session: Session,
        diagnostics: Diagnostics,
        refresh: RefreshRequests,
        runs: Runs,
        baselines: LiveBaselines,
    ) -> None:
        self._client = client
        self._session = session
        self._diagnostics = diagnostics
        self._refresh_requests = refresh
        self._runs = runs
        self._baselines = baselines
        self._sessions: dict[Key, _Session] = {}
        self._due: asyncio.TimerHandle | None = None
        self._sending = asyncio.Lock()
        """Held while texts are sent: the engine takes the updates of a session in their order."""
        self._waits_to_send = False
        self._anyway = False
        self._refresh: asyncio.TimerHandle | None = None
        self.files = LiveFiles(client, self.edited)
        runs.on_verdicts = self._take

    def edited(self, *, anyway: bool = False) -> None:
        """Grade the open texts soon; with ``anyway`` also if none of them has changed."""
        self._anyway = self._anyway or anyway
        if self._due is None:
            self._due = asyncio.get_running_loop().call_later(DEBOUNCE_SECONDS, self._send_soon)

    async def explain(self, suite: Path, rule: Rule) -> Explained | None:
        """Return what a rule of a suite matched in the recorded trials, None if unknown.

        The engine is asked about the texts that are open now.
        """
        async for session, answer in self._answers("live.explain", suite, _question(rule)):
            if answer.get("trials"):
                recorded = session.started or max(task.timestamp for task in session.tasks.values())
                return Explained(answer, recorded)
        return None

    async def fixes(self, suite: Path, rule: Rule) -> list[Mapping[str, Any]]:
        """Return what would let a rule pass on more of the recorded trials, as the engine has tried it."""
        if not any(self._fails(key[0], one, rule) for key, one in self._sessions.items() if key[0] == suite):
            return []
        async for _, answer in self._answers("live.fixes", suite, _question(rule), FIXES_WITHIN_SECONDS):
            if answer.get("fixes"):
                return answer["fixes"]
        return []

    async def trial(self, suite: Path, task: str, number: int) -> Mapping[str, Any] | None:
        """Return the text of a recorded trial with its marks, as ``live.trial`` answers; None without any."""
        question = {"task": task, "trial": number}
        async for _, answer in self._answers("live.trial", suite, question):
            if answer.get("text"):
                return answer
        return None

    async def graders(self, suite: Path, task: str, trial: int, text: str) -> list[Mapping[str, Any]]:
        """Return the graders that a text of a recorded trial can become, as ``live.graders`` answers."""
        question = {"task": task, "trial": trial, "text": text}
        async for _, answer in self._answers("live.graders", suite, question):
            if answer.get("graders"):
                return answer["graders"]
        return []

    def _fails(self, suite: Path, session: _Session, rule: Rule) -> bool:
        """Return whether a grader fails a trial, as far as it was judged live."""
        regraded = self._session.project.scores.regraded
        tasks = (task for task in session.tasks.values() if rule.task in (None, task.id))
        verdicts = (regraded.of(suite, task, rule.grader) for task in tasks)
        return any(one is not None and one.live and one.failing for one in verdicts)

    async def _answers(
        self,
        method: str,
        suite: Path,
        question: Mapping[str, Any],
        seconds: float = EXPLAIN_WITHIN_SECONDS,
    ) -> AsyncIterator[tuple[_Session, Mapping[str, Any]]]:
        """Yield the answers to a question for each result file of a suite, by the texts open now."""
        if self._due is not None or self._sending.locked():
            if self._due is not None:
                self._due.cancel()
                self._due = None
            await self._send_all()
            # The texts are sent first: the engine takes messages in their order.
            await asyncio.sleep(0)
        for key, session in tuple(self._sessions.items()):
            if key[0] != suite or not session.name:
                continue
            try:
                asked = {"session": session.name, **question}
                yield session, await self._runs.ask(method, asked, seconds)
            except EngineError as error:
                log.info("%s was not answered: %s", method, error)
                if method in _OFFERING:
                    text = f"Fixes from recorded answers are not offered. {error}"
                    self._client.show_message_once("recorded fixes", types.MessageType.Warning, text)

    def change_baseline(self, suite: Path) -> None:
        """Grade a suite on the newly chosen trials; verdicts on others are dropped."""
        for key in tuple(self._sessions):
            if key[0] == suite:
                self._end(key)
        self._tell()
        self.edited()

    def start_again(self) -> None:
        """Forget all that was judged: the settings have changed."""
        for key in tuple(self._sessions):
            self._end(key)
        self._tell()
        if self._client.grades_live:
            self.edited()

    def _send_soon(self) -> None:
        self._due = None
        if not self._waits_to_send:
            self._waits_to_send = True
            self._client.in_background(self._send_all())

    async def _send_all(self) -> None:
        async with self._sending:
            self._waits_to_send = False
            anyway, self._anyway = self._anyway, False
            if self._client.grades_live:
                wanted = await self._diagnostics.compute(self._wanted)
                # Meanwhile it may have been switched off.
                if self._client.grades_live:
                    await self._send_to(wanted, anyway=anyway)

    async def _send_to(self, wanted: Mapping[Key, Mapping[str, TaskResult]], *, anyway: bool) -> None:
        for key in tuple(self._sessions):
            if key not in wanted:
                self._end(key)
        for key, tasks in wanted.items():
            session = self._sessions.get(key)
            if session is None:
                session = self._sessions[key] = _Session(tasks)
                self._client.in_background(self._open(key, session))
            else:
                session.tasks = tasks
                if session.name:
                    await self._send(key, session, anyway=anyway)

    def _wanted(self) -> dict[Key, Mapping[str, TaskResult]]:
        """Return the result files with the newest answers among the open ones, with their tasks."""
        project = self._session.project
        found: dict[Key, Mapping[str, TaskResult]] = {}
        for document in self._session.documents:
            path = path_of(document.uri)
            if path is None or document.kind not in {"eval", "task", "vally_eval"}:
                continue
            for suite in project.suites_of(path):
                run = project.scores.results(suite.path)
                if run is None or not self._session.is_in_open_folders(suite.path):
                    continue
                baseline = self._baselines.of(suite.path)
                records = records_of(run, RunnableId(suite.path))
                if baseline.record is not None:
                    # Its verdicts are shown together with those of the last answers.
                    tasks = {task.id: task for task in run.tasks.values() if task.trials}
                    records = {baseline.record: tasks} if baseline.record.is_file() else {}
                found |= {(suite.path, record): tasks for record, tasks in records.items()}
        return found

    async def _open(self, key: Key, session: _Session) -> None:
        suite, record = key
        assertions = self._client.options.live != "no assertions"
        request: dict[str, Any] = {"record": str(record), "suite": str(suite), "assertions": assertions}
        baseline = self._baselines.of(suite)
        request |= {} if baseline.trial is None else {"trial": baseline.trial}
        try:
            answer = await self._runs.ask("live.open", request, OPEN_WITHIN_SECONDS)
        except EngineError as error:
            log.info("The run %s cannot be evaluated live: %s", record, error)
            return
        session.name = str(answer["session"])
        session.started = None if baseline.is_default else datetime.fromisoformat(str(answer["started"]))
        if self._sessions.get(key) is session:
            async with self._sending:
                await self._send(key, session, anyway=True)
        else:
            await self._close(session)

    async def _send(self, key: Key, session: _Session, *, anyway: bool) -> None:
        # Take texts and entries from the same snapshot: the user may type meanwhile.
        texts, project = self._session.texts(), self._session.project
        changes: dict[str, str | None] = {
            path: text for path, text in texts.items() if session.sent.get(path) != text
        }
        changes |= {path: None for path in session.sent if path not in texts}
        if not changes and not anyway:
            return
        entries = await self._diagnostics.compute(lambda: written_entries(project, key[0]))
        if self._sessions.get(key) is session:
            session.sent = texts
            session.number += 1
            session.entries[session.number] = entries
            self._session.project.scores.regraded.note_edit(key[0])
            asyncio.get_running_loop().call_later(PENDING_AFTER_SECONDS, self._tell_if_behind, key[0])
            self._client.in_background(self._ask(key, session, session.number, changes))

    async def _ask(self, key: Key, session: _Session, number: int, changes: Mapping[str, str | None]) -> None:
        request = {"session": session.name, "overlays": changes}
        try:
            answer = await self._runs.ask("live.update", request, ANSWER_WITHIN_SECONDS)
        except EngineError as error:
            log.info("Graders are not evaluated live any more: %s", error)
            if self._sessions.get(key) is session:
                self._end(key)
                self._tell()
            return
        entries = session.entries.pop(number, {})
        if number == session.number:
            self._session.project.scores.regraded.note_answer(key[0])
        # The engine judges in turn, but its answers may overtake each other.
        if answer["status"] == "judged" and self._sessions.get(key) is session and number > session.answered:
            session.answered = number
            session.files = [Path(str(path)) for path in answer.get("files", ())]
            self._watch()
            # Verdicts the engine did not resend are still valid for the current text.
            silent = answer.get("silent", {})
            judged = [task for task in session.tasks if task not in silent]
            self._session.project.scores.regraded.hold(key[0], entries, judged)
            self._tell()

    def _watch(self) -> None:
        files = {path for session in self._sessions.values() for path in session.files}
        self.files.watch(path for path in files if not is_watched(path))

    def _take(self, verdicts: Mapping[str, Any]) -> None:
        """Take the verdicts of a grader on some tasks, and send a refresh request for hints."""
        name, number, grader = verdicts.get("session"), verdicts["update"], str(verdicts["grader"])
        key, session = next(
            ((key, one) for key, one in self._sessions.items() if one.name == name), (None, None)
        )
        if key is None or session is None or number not in session.entries:
            return
        regraded, now = self._session.project.scores.regraded, datetime.now(UTC)
        for task, block in verdicts["tasks"].items():
            then = session.tasks.get(task)
            if then is None:
                continue
            found = live_task(grader, block, then, session.entries[number], now, session.started)
            if found is not None:
                regraded.add(key[0], task, found)
            else:
                regraded.drop(key[0], task, grader)
        self._tell()

    def _tell_if_behind(self, suite: Path) -> None:
        if self._session.project.scores.regraded.behind(suite) == "long":
            self._tell()

    def _end(self, key: Key) -> None:
        session = self._sessions.pop(key)
        self._session.project.scores.regraded.note_answer(key[0])
        self._watch()
        self._session.project.scores.regraded.forget_live(key[0], session.tasks)
        if session.name:
            self._client.in_background(self._close(session))

    async def _close(self, session: _Session) -> None:
        try:
            await self._runs.ask("live.close", {"session": session.name}, OPEN_WITHIN_SECONDS)
        except EngineError as error:
            log.info("A live session could not be closed: %s", error)

    def _tell(self) -> None:
        """Send a refresh request for hints, one for all answers in one turn of the loop."""
        if self._refresh is None:
            self._refresh = asyncio.get_running_loop().call_later(0, self._refresh_now)

    def _refresh_now(self) -> None:
        self._refresh = None
        self._refresh_requests.ask_for_hints()
        # The marks of files show their last run, which live verdicts do not change.
        self._refresh_requests.ask_for_marks(files=False)


def _question(rule: Rule) -> dict[str, Any]:
    question = {"grader": rule.grader, "path": list(rule.path)}
    return question if rule.task is None else question | {"task": rule.task}
