"""Runs of suites, tasks and graders: start, follow, cancel.

Every run ends as completed, failed, canceled or with an error. If a cancelled run does not end within a
second and a half, its engine is killed; the next run starts a new one. Concurrent runs have an engine each,
so that killing one ends no other. Their number is limited; further runs wait for their turn.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import textwrap
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from waza_engine.counting import counted
from waza_engine.frozen import frozen
from waza_engine.number_formats import format_score
from waza_engine.results.json_values import block_of
from waza_engine.terminal import visible
from waza_engine.vocabulary import grader_label
from waza_language_server.engine.process import EngineError, EngineProcess
from waza_language_server.engine.run_request import request_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from waza_engine.results.json_values import Block
    from waza_language_server.project.runnable_id import RunnableId

_SHOWN_CHARACTERS = 60


@frozen()
class RunProgress:
    """The progress of a run: finished grader verdicts or trials, their total, and the current activity."""

    completed: int
    total: int
    message: str

    @property
    def percentage(self) -> int | None:
        """0 to 100, or None while the total is unknown."""
        return None if self.total <= 0 else min(100, 100 * self.completed // self.total)


def advanced(progress: RunProgress, event: Mapping[str, Any]) -> RunProgress:
    """Return the progress of a run after an event."""
    completed, total = event.get("completed"), event.get("total")
    return RunProgress(
        completed if isinstance(completed, int) else progress.completed,
        total if isinstance(total, int) else progress.total,
        _describe(event) or progress.message,
    )


def _describe(event: Mapping[str, Any]) -> str:
    kind, prompt = event.get("kind"), event.get("prompt")
    if isinstance(prompt, str):
        shown = textwrap.shorten(prompt, _SHOWN_CHARACTERS, placeholder=" …")
        return visible(shown) if kind == "started" else ""
    names = [grader_label(str(event[key])) for key in ("task", "grader") if event.get(key)]
    if kind == "graded" and isinstance(event.get("score"), int | float):
        names.append(format_score(event["score"]))
    elif kind in ("passed", "failed", "errored", "pending", "skipped"):
        names.append(str(kind))
    return " · ".join(names)


CANCEL_GRACE_SECONDS = 1.5
STOP_GRACE_SECONDS = 0.5
CLOSE_GRACE_SECONDS = 0.9
MOST_AT_ONCE = max(4, os.cpu_count() or 1)
"""Concurrent runs: an agent mostly waits for its model, but each engine needs memory."""

log = logging.getLogger(__name__)

RunStatus = Literal["completed", "failed", "canceled", "error"]
Event = dict[str, Any]


@frozen()
class RunOutcome:
    """How a run ended. ``message`` explains an error; ``results_file`` is None if nothing was written.

    ``conclusion`` is that of the engine, empty without one.
    """

    status: RunStatus
    results_file: str | None = None
    message: str | None = None
    conclusion: Block = field(default_factory=dict[str, Any])


Listener = Callable[[RunProgress], None]
Options = Mapping[str, Any]
"""The options of a run, named as in ``eval.run``."""


@frozen()
class RunKey:
    """A target with its options: a second request for the same key joins the active run."""

    target: RunnableId
    options: str

    @staticmethod
    def of(target: RunnableId, options: Options) -> RunKey:
        """Return the key of a run with these options."""
        return RunKey(target, json.dumps(dict(options), sort_keys=True, default=str))


@dataclass(eq=False)
class Run:
    """A run. ``tokens`` are the progress tokens of the requests that started or joined it."""

    target: RunnableId
    options: Options = field(default_factory=dict[str, Any])
    tokens: list[str | int | None] = field(default_factory=list[str | int | None])
    listeners: list[Listener] = field(default_factory=list["Listener"])
    asked: datetime = field(default_factory=lambda: datetime.now(UTC))
    """When the run was requested; its results are newer."""
    run_id: str | None = None
    cancelling: bool = False
    waits: bool = False
    """True if it has not begun because other runs are active."""
    ended: bool = False
    """True if its last event has come."""
    engine: EngineProcess | None = None
    work: asyncio.Task[RunOutcome] | None = None
    outcome: RunOutcome | None = None
    """How it ended, once it has."""

    @property
    def was_refused(self) -> bool:
        """Return whether it ended with an error before anything ran, so that no record mentions it."""
        if self.outcome is None or self.outcome.status != "error" or self.outcome.results_file is not None:
            return False
        # One whose engine was killed has a journal.
        return self.run_id is None or self.ended

    @property
    def key(self) -> RunKey:
        """The target and options that were requested."""
        return RunKey.of(self.target, self.options)


class Runs:
    """All runs of one server, and their engine; concurrent runs have engines of their own."""

    def __init__(
        self,
        interpreter: str,
        *,
        on_change: Callable[[Run], None],
        on_event: Callable[[Run, Event], None] = lambda _run, _event: None,
        arguments: Sequence[str] = ("-P", "-m", "waza_engine", "serve"),
        most_at_once: int = MOST_AT_ONCE,
        may_start: Callable[[], bool] = lambda: True,
    ) -> None:
        """``on_change`` is called when a run starts and when it has ended, ``on_event`` with each event.

        ``may_start`` is called before each start of an engine, whatever it is for.
        """
        self._may_start = may_start
        self._interpreter = interpreter
        self._arguments = arguments
        self._on_change = on_change
        self._report = on_event
        self._engine: EngineProcess | None = None
        self._engines: set[EngineProcess] = set()
        """The engine, and those before it that have not ended yet."""
        self._closed = False
        self._starting = asyncio.Lock()
        self._turns = asyncio.Semaphore(most_at_once)
        self._waiting = RunProgress(0, 0, f"waits for one of {counted(most_at_once, 'other run')} to end")
        self._active: dict[RunKey, Run] = {}
        self._stopping: set[asyncio.Task[None]] = set()
        self.on_verdicts: Callable[[Event], None] = lambda _verdicts: None
        """Called with what live sessions judge."""
        self._events: dict[tuple[EngineProcess, str], asyncio.Queue[Event | EngineError]] = defaultdict(
            asyncio.Queue
        )

    @property
    def active(self) -> tuple[Run, ...]:
        """The runs that have not ended, oldest first."""
        return tuple(self._active.values())

    async def run(
        self,
        target: RunnableId,
        on_progress: Listener,
        options: Options | None = None,
        token: str | int | None = None,
    ) -> RunOutcome:
        """Run the target and return its outcome; never raises for errors of the engine.

        A target that is already running with the same options is joined, not run twice; from then on its
        events are reported with the ``token`` of each caller. Cancelling the caller cancels the run.
        """
        key = RunKey.of(target, options or {})
        run = self._active.get(key)
        if run is None:
            run = Run(target, options or {}, [token])
            self._active[key] = run
            run.work = asyncio.create_task(self._execute(run))
            self._on_change(run)
        elif token is not None and token not in run.tokens:
            run.tokens.append(token)
        run.listeners.append(on_progress)
        if run.waits:
            on_progress(self._waiting)
        assert run.work is not None
        try:
            return await asyncio.shield(run.work)
        except asyncio.CancelledError:
            await self.cancel(run)
            raise
        finally:
            run.listeners.remove(on_progress)

    async def cancel(self, run: Run) -> None:
        """End a run within two seconds, by force if need be; returns when it has ended."""
        if run.work is None or run.work.done():
            return
        if not run.cancelling:
            run.cancelling = True
            if run.waits:
                run.work.cancel()
            await self._request_cancel(run)
        done, _ = await asyncio.wait([run.work], timeout=CANCEL_GRACE_SECONDS)
        if not done and run.engine is not None:
            log.warning("The run did not stop when asked; the engine is ended.")
            await run.engine.kill()
        if not run.work.done():
            run.work.cancel()
            await asyncio.wait([run.work])

    @property
    def has_engine(self) -> bool:
        """Return whether the engine was started; this does not start it."""
        return self._engine is not None

    async def ask(self, method: str, params: dict[str, Any], within_seconds: float) -> Any:
        """Ask the engine, which is started if need be, for something that runs nothing of a suite.

        Raises ``EngineError`` when it cannot be started, refuses, or does not answer in time.
        """
        engine = await self._running_engine()
        try:
            return await asyncio.wait_for(engine.request(method, params), within_seconds)
        except TimeoutError:
            raise EngineError(f"The engine did not answer within {within_seconds:g} seconds.") from None

    async def restart_engine(self) -> None:
        """End all engines; their runs end with an error, and the next run starts a new one."""
        await asyncio.gather(*(engine.kill() for engine in tuple(self._engines)))

    def use_interpreter(self, interpreter: str) -> None:
        """Use another interpreter for the runs that start from now on."""
        self._interpreter = interpreter

    async def close(self) -> None:
        """End every run and engine, and start no more; takes little more than a second.

        An engine whose input ends cancels its runs by itself, and writes their results.
        """
        self._closed = True
        for run in self.active:
            run.cancelling = True
        await asyncio.gather(*(engine.stop(CLOSE_GRACE_SECONDS) for engine in tuple(self._engines)))
        works = [run.work for run in self.active if run.work is not None]
        if works:
            await asyncio.wait(works)

    def kill_now(self) -> None:
        """End the engine without waiting: for the end of the server. May be called in any thread."""
        self._closed = True
        for engine in tuple(self._engines):
            engine.kill_now()

    async def _request_cancel(self, run: Run) -> None:
        if run.engine is None or run.run_id is None:
            return
        try:
            await asyncio.wait_for(
                run.engine.request("run.cancel", {"run_id": run.run_id}), timeout=CANCEL_GRACE_SECONDS / 2
            )
        except (EngineError, TimeoutError) as error:
            log.info("The engine did not confirm the cancel: %s", error)

    async def _execute(self, run: Run) -> RunOutcome:
        try:
            self._report_waiting(run)
            if run.cancelling:
                raise asyncio.CancelledError
            async with self._turns:
                run.waits = False
                outcome = await self._follow(run)
        except EngineError as error:
            outcome = RunOutcome("error", message=str(error))
        except asyncio.CancelledError:
            outcome = RunOutcome("canceled")
        finally:
            self._active.pop(run.key, None)
            if run.engine is not None and run.run_id is not None:
                self._events.pop((run.engine, run.run_id), None)
            self._stop_unless_needed(run.engine)
        if run.cancelling and outcome.status == "error":
            outcome = RunOutcome("canceled", outcome.results_file)
        if run.run_id is not None and not run.ended and not self._closed:
            # Listeners wait for an end event, and a dead engine sends none.
            self._report(run, _interrupted(run.run_id, outcome))
        run.outcome = outcome
        self._on_change(run)
        return outcome

    def _report_waiting(self, run: Run) -> None:
        run.waits = self._turns.locked()
        if run.waits:
            self._report(run, {"kind": "waits", "message": self._waiting.message})
            for listener in tuple(run.listeners):
                listener(self._waiting)

    async def _follow(self, run: Run) -> RunOutcome:
        engine = await self._engine_for(run)
        if run.cancelling:
            return RunOutcome("canceled")
        answer = await engine.request("eval.run", {**request_of(run.target), **run.options})
        run.run_id = str(answer["run_id"])
        events = self._events[engine, run.run_id]
        if engine.exit_reason is not None:
            # The engine ended right after its answer, before its run was known here.
            events.put_nowait(EngineError(engine.exit_reason))
        if run.cancelling:
            await self._request_cancel(run)
        progress = RunProgress(0, 0, "starting")
        while True:
            event = await events.get()
            if isinstance(event, EngineError):
                raise event
            run.ended = event.get("kind") == "ended"
            self._report(run, event)
            if run.ended:
                return _outcome_of(event)
            progress = advanced(progress, event)
            for listener in tuple(run.listeners):
                listener(progress)

    async def _engine_for(self, run: Run) -> EngineProcess:
        """Return the engine of a new run: the shared one, or a new one if another run is active."""
        engine = await self._running_engine()
        if any(other.engine is engine for other in self.active):
            engine = self._started()
        run.engine = engine
        return engine

    def _stop_unless_needed(self, engine: EngineProcess | None) -> None:
        """End an engine that was started for a concurrent run; the shared one stays for the next run."""
        if engine is None or engine is self._engine or engine not in self._engines:
            return
        stopping = asyncio.create_task(engine.stop(STOP_GRACE_SECONDS))
        self._stopping.add(stopping)
        stopping.add_done_callback(self._stopping.discard)

    async def _running_engine(self) -> EngineProcess:
        async with self._starting:
            idle = all(run.engine is None for run in self.active)
            if self._engine is not None and self._engine.interpreter != self._interpreter and idle:
                await self._engine.stop(STOP_GRACE_SECONDS)
            if self._closed:
                raise EngineError("The server is shutting down.")
            if self._engine is None or self._engine.pid is None:
                self._engine = self._started()
            return self._engine

    def _started(self) -> EngineProcess:
        if not self._may_start():
            raise EngineError("No engine is started in an untrusted workspace.")

        def receive(event: Event) -> None:
            self._events[engine, str(event.get("run_id"))].put_nowait(event)

        engine = EngineProcess(
            self._interpreter,
            on_event=receive,
            on_exit=self._on_exit,
            on_verdicts=self._take_verdicts,
            arguments=self._arguments,
        )
        engine.start()
        self._engines.add(engine)
        return engine

    def _take_verdicts(self, verdicts: Event) -> None:
        # The listener for live verdicts may register after the engine was started for something else.
        self.on_verdicts(verdicts)

    def _on_exit(self, engine: EngineProcess, reason: str) -> None:
        self._engines.discard(engine)
        if self._engine is engine:
            self._engine = None
        for run in self.active:
            if run.engine is engine and run.run_id is not None:
                self._events[engine, run.run_id].put_nowait(EngineError(reason))


def _outcome_of(event: Event) -> RunOutcome:
    status = event.get("status")
    known: RunStatus = status if status in ("completed", "failed", "canceled") else "error"
    conclusion = block_of(event, "conclusion")
    return RunOutcome(known, event.get("results_file"), event.get("message"), conclusion)


def _interrupted(run_id: str, outcome: RunOutcome) -> Event:
    """Return the last event of a run whose engine ended before it; the journal has its finished tasks."""
    message = (outcome.message or "").rstrip(".")
    why = f": {message[:1].lower()}{message[1:]}" if message else ""
    reason = f"the run was interrupted{why}; what was finished is kept"
    conclusion = {"verdict": "interrupted", "words": reason, "reasons": [reason]}
    return {"run_id": run_id, "kind": "ended", "status": outcome.status, "conclusion": conclusion}
