"""The executor ``command``: any agent with a command line, driven as an adapter file describes it.

A program is started for every turn, without a shell, in the task's workspace. Its output becomes the
transcript while it runs; ``docs/compatibility.md`` lists the differences from the agent-eval-harness.

It ends with its children: when it has answered, at its time limit, or when the run is cancelled. It is asked
to end first and killed two seconds later at the latest.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal, TypeAlias

from waza_engine.boundary import Boundary, FileError, suite_boundary
from waza_engine.counting import in_seconds
from waza_engine.executors.adapter.agent_command import (
    PastTurn,
    arguments_of,
    mcp_document,
    prepare_workdir,
    prompt_of,
    resolved_command,
)
from waza_engine.executors.adapter.command_turn import LineSink, TextSink, Turn, usage_of_numbers
from waza_engine.executors.adapter.output_lines import is_path
from waza_engine.executors.chat.agent_tools import names_by_folder
from waza_engine.executors.executor import (
    Cancellation,
    ExecutionRequest,
    ExecutionResponse,
    Executor,
    ExecutorError,
    ExecutorSettings,
    environment_with,
)
from waza_engine.executors.executor_types import register
from waza_engine.masking import keep_settings_secret
from waza_engine.processes.programs import start_program
from waza_engine.processes.scope import ProcessScope
from waza_engine.processes.trees import end_trees
from waza_engine.spec.adapter import AdapterFile
from waza_engine.spec.harness_files import PLACEHOLDERS
from waza_engine.spec.loading import load_adapter_file
from waza_engine.spec.problems import SuiteFileError
from waza_engine.vocabulary import CANCELLED, Usage


def adapter_warnings(path: Path, adapter: AdapterFile, model: str) -> Iterator[str]:
    """Yield warnings about parts of an adapter file without effect, one sentence each."""
    for place, written in _paths(adapter):
        if written and not is_path(written):
            yield f"{path}: {place} is `{written}`, which leads nowhere; a path starts with `$.`"
    if adapter.extensions.event_matching == "first":
        seen: list[tuple[str, str]] = []
        for position, mapping in enumerate(adapter.output_events):
            key = (mapping.match.path, mapping.match.value)
            if mapping.when is None and (key in seen or (key[0], "*") in seen):
                place = f"`outputEvents[{position}]`"
                yield f"{path}: {place} has no effect: one before it fits the same events"
            if mapping.when is None:
                seen.append(key)
    template, resume = adapter.history_template, adapter.resume
    written = template.turn_format if template is not None and adapter.session_mode == "iterative" else ""
    if written.strip() and not any(placeholder in written for placeholder in PLACEHOLDERS):
        words = " nor ".join(f"`{placeholder}`" for placeholder in PLACEHOLDERS)
        yield f"{path}: `historyTemplate` has neither {words}, so past turns are lost"
    is_read = adapter.session_mode == "stream" and adapter.extensions.honor_session_id_path
    if resume is not None and is_read and "[*]" in resume.session_id_path:
        yield f"{path}: `resume.sessionIdPath` leads to a list, which names no session"
    if model and not adapter.extensions.model_flag:
        yield f"{path}: `config.model` has no effect: there is no `model_flag` in `x-waza`"
    if adapter.prompt.stdin_format == "json":
        yield f"{path}: `prompt.stdinFormat` has no effect: the prompt is sent as text"


def continues_sessions(adapter: AdapterFile) -> bool:
    """Return whether an agent can be asked a second turn."""
    return adapter.session_mode == "iterative" or adapter.resume is not None


def reports_tool_calls(adapter: AdapterFile) -> bool:
    """Return whether an adapter's events report tool calls."""
    if adapter.extensions.output_mode == "text":
        return False
    passes_on = adapter.output_mode == "passthrough" and adapter.passthrough_type_map is not None
    return passes_on or any(mapping.emit_as == "tool_call" for mapping in adapter.output_events)


def _paths(adapter: AdapterFile) -> Iterator[tuple[str, str]]:
    for position, mapping in enumerate(adapter.output_events):
        where = f"outputEvents[{position}]"
        yield f"`{where}.match.path`", mapping.match.path
        if mapping.when is not None:
            yield f"`{where}.when.path`", mapping.when.path
        for name in type(mapping.extract).model_fields:
            yield f"`{where}.extract.{name}`", getattr(mapping.extract, name)
    if adapter.resume is not None and adapter.extensions.honor_session_id_path:
        yield "`resume.sessionIdPath`", adapter.resume.session_id_path
    if adapter.result is not None:
        yield "`result.matchPath`", adapter.result.match_path
        yield "`result.contentPath`", adapter.result.content_path


ENDING_SECONDS = 1.2
_LINGERING_SECONDS = 2.0
_PIPE_SECONDS = 1.0
_STDERR_BYTES = 8192
_CHUNK_BYTES = 65536


Sink: TypeAlias = LineSink | TextSink
"""Reads the output of a program. Its methods are never called at the same time."""


@dataclass(frozen=True, slots=True)
class AgentLimits:
    """Time limits of a program in seconds: for all of it, and for its first output (0 is no limit)."""

    seconds: float
    first_output_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended. ``exit_code`` is None when it had to be killed; a signal N counts as 128 + N.

    ``how``: it ``finished`` its output or had written enough, it exceeded its time (``late``), it was
    ``silent`` for too long, or the run was ``cancelled``. ``stderr`` is the end of its standard error.
    """

    how: Literal["finished", "late", "silent", "cancelled"]
    exit_code: int | None
    stderr: str


def run_agent(
    command: Sequence[str],
    sink: Sink,
    *,
    cwd: Path,
    environment: Mapping[str, str],
    stdin: str | None,
    limits: AgentLimits,
    cancellation: Cancellation,
    scope: ProcessScope,
) -> Ended:
    """Run a program until it has answered or must end; it and its children have ended on return.

    Raises ``OSError`` and ``ValueError`` when it cannot be started.
    """
    process = scope.start(lambda: start_program(command, cwd, environment, stdin))
    with scope.holding(process, ENDING_SECONDS):
        return _Run(process, sink).until_it_ends(limits, cancellation)


class _Run:
    def __init__(self, process: subprocess.Popen[bytes], sink: Sink) -> None:
        assert process.stdout is not None
        assert process.stderr is not None
        self._process = process
        self._sink = sink
        self._lock = threading.Lock()
        self._enough = False
        self._closed = False
        self._began = threading.Event()
        self._done = threading.Event()
        self._stderr = bytearray()
        self._threads = [
            threading.Thread(target=self._read, args=(process.stdout,), daemon=True),
            threading.Thread(target=self._read_errors, args=(process.stderr,), daemon=True),
        ]
        for thread in (*self._threads, threading.Thread(target=self._watch, daemon=True)):
            thread.start()

    def until_it_ends(self, limits: AgentLimits, cancellation: Cancellation) -> Ended:
        withdraw = cancellation.on_request(self._wake)
        deadline = time.monotonic() + limits.seconds
        try:
            how = self._wait(limits, deadline, cancellation)
            if how == "finished" and (self._sink.lets_it_finish or not self._enough):
                # An agent that has answered may still save its session.
                linger = min(_LINGERING_SECONDS, max(0.5, deadline - time.monotonic()))
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(linger)
            if cancellation.requested:
                how = "cancelled"
        finally:
            withdraw()
            killed = self._process.poll() is None
            end_trees({self._process: ENDING_SECONDS})
        for thread in self._threads:
            thread.join(_PIPE_SECONDS)
        with self._lock:
            if not self._closed and not self._enough:
                self._sink.end()
            self._closed = True
        code = self._process.returncode
        if killed and how == "finished":
            code = None
        stderr = bytes(self._stderr).decode("utf-8", "replace")
        return Ended(how, 128 - code if code is not None and code < 0 else code, stderr)

    def _wait(
        self, limits: AgentLimits, deadline: float, cancellation: Cancellation
    ) -> Literal["finished", "late", "silent", "cancelled"]:
        first = limits.first_output_seconds
        if 0 < first < limits.seconds and not self._began.wait(first) and not cancellation.requested:
            return "silent"
        self._done.wait(max(0.0, deadline - time.monotonic()))
        if cancellation.requested:
            return "cancelled"
        return "finished" if self._done.is_set() else "late"

    def _wake(self) -> None:
        self._began.set()
        self._done.set()

    def _read(self, stream: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError), stream:
            while chunk := os.read(stream.fileno(), _CHUNK_BYTES):
                self._began.set()
                with self._lock:
                    if not self._closed and not self._enough:
                        self._enough = self._sink.feed(chunk)
                        if self._enough:
                            self._done.set()
        self._wake()

    def _read_errors(self, stream: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError), stream:
            while chunk := os.read(stream.fileno(), _CHUNK_BYTES):
                self._stderr += chunk
                del self._stderr[:-_STDERR_BYTES]

    def _watch(self) -> None:
        # A child of the program may hold its output open after it has ended.
        self._process.wait()
        self._threads[0].join(_PIPE_SECONDS)
        self._wake()


_BLIND = (
    "the adapter {} reports no tool calls, so the skills that the agent uses are unknown; map its tool calls "
    'in `outputEvents` (`"emitAs": "tool_call"`)'
)
_SINGLE_TURN = (
    "the agent cannot continue its session; give `resume` in the adapter, or write "
    '`"sessionMode": "iterative"`'
)
_UNNAMED = "command-session-"
_SHOWN = 500


@register
class CommandExecutor(Executor):
    """Drives the command line of an agent. ``warnings`` name parts of its adapter file without effect."""

    name = "command"

    def __init__(self, settings: ExecutorSettings) -> None:
        self._suite = settings.suite_directory
        path, within = settings.adapter_file, None
        if path is None:
            within = suite_boundary(self._suite)
            path = _adapter_path(settings, within)
        try:
            self._adapter, found = load_adapter_file(path, within=within)
        except SuiteFileError as error:
            raise ExecutorError(str(error)) from None
        self._environment = {**os.environ, **self._adapter.extensions.env}
        keep_settings_secret(self._adapter.extensions.env)
        try:
            self._command = resolved_command(
                self._adapter.command, (path.parent, self._suite), self._environment.get("PATH")
            )
        except ExecutorError as error:
            raise ExecutorError(f"{path}: {error}") from None
        self._limit_note = f"`timeout` of {path.name}"
        self._own_seconds = 0.0 if settings.adapter_file else (self._adapter.timeout or 0) / 1000
        self.warnings = (*map(str, found), *adapter_warnings(path, self._adapter, settings.config.model))
        self.single_turn = "" if continues_sessions(self._adapter) else _SINGLE_TURN
        self.blind_to_skills = "" if reports_tool_calls(self._adapter) else _BLIND.format(path.name)
        usage = self._adapter.extensions.usage
        self.reports_cost = usage is not None and bool(usage.cost_usd)
        self._scope = ProcessScope()
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._histories: dict[str, tuple[PastTurn, ...]] = {}

    def execute(self, request: ExecutionRequest, cancellation: Cancellation) -> ExecutionResponse:
        """Execute one turn. Raises ``ExecutorError`` when the program cannot be started."""
        history = self._history(request.session)
        turn = Turn(
            self._adapter,
            new_id=lambda: f"call-{next(self._numbers)}",
            follow_up=f"-{next(self._numbers)}" if request.session else "",
            ends=request.stops_after,
            skill_names=(
                names_by_folder(request.skill_directories)
                if self._adapter.extensions.skills_directory
                else {}
            ),
            on_tool_call=request.on_tool_call,
            on_line=request.on_line,
            on_answer=request.on_answer,
            model=request.model,
        )
        turn.note("user.message", content=request.prompt)
        ended, limit_note = self._run(request, history, turn, cancellation)
        error = self._error(turn, ended, request, limit_note)
        if turn.answer and not turn.messages:
            turn.say(turn.answer)
        if error:
            turn.note("session.error", content=error)
        turn.note("session.shutdown", exit_code=ended.exit_code, timed_out=ended.how in ("late", "silent"))
        turn.close()
        return ExecutionResponse(
            output=turn.output,
            session=self._store_history(request, history, turn),
            events=turn.events,
            tool_calls=turn.tool_calls,
            skill_invocations=tuple(turn.skills),
            usage=_usage(turn, request.model),
            error=error or None,
        )

    def close(self) -> None:
        """End the programs that still run."""
        self._scope.close()

    def _run(
        self, request: ExecutionRequest, history: tuple[PastTurn, ...], turn: Turn, cancellation: Cancellation
    ) -> tuple[Ended, str]:
        adapter = self._adapter
        workdir = request.workspace / request.workdir
        prompt = prompt_of(adapter, request, history, first=request.session is None)
        sink = TextSink(turn) if adapter.extensions.output_mode == "text" else LineSink(turn)
        own = self._own_seconds
        seconds = min(own, request.timeout_seconds) if own > 0 else request.timeout_seconds
        if request.session is None:
            workdir.mkdir(parents=True, exist_ok=True)
            prepare_workdir(adapter, request, workdir, self._suite)
            request.on_prepared()
        with self._mcp_config(request) as mcp_config:
            arguments = arguments_of(
                adapter,
                self._command,
                request,
                prompt,
                workdir=workdir,
                session=request.session,
                mcp_config=mcp_config,
            )
            try:
                ended = run_agent(
                    arguments,
                    sink,
                    cwd=workdir,
                    environment={
                        **self._environment,
                        **environment_with(request.commands, self._environment),
                        "PWD": str(workdir),
                    },
                    stdin=f"{prompt}\n" if adapter.prompt.stdin else None,
                    limits=AgentLimits(seconds, request.first_event_timeout_seconds),
                    cancellation=cancellation,
                    scope=self._scope,
                )
            except (OSError, ValueError) as error:
                raise ExecutorError(_not_started(self._command[0], error)) from None
        return ended, f"{in_seconds(seconds)}" + (f" ({self._limit_note})" if seconds == own else "")

    @contextlib.contextmanager
    def _mcp_config(self, request: ExecutionRequest) -> Generator[Path | None]:
        """Give the agent its MCP servers in a file outside the workspace, deleted after the turn."""
        extensions = self._adapter.extensions
        if request.mcp_servers and not (extensions.mcp_config_flag or extensions.mcp_config_file):
            raise ExecutorError(
                "the suite has MCP servers, and the adapter does not say how to pass them to the agent; give "
                "`mcp_config_flag` or `mcp_config_file` in `x-waza`"
            )
        if not request.mcp_servers or not extensions.mcp_config_flag:
            yield None
            return
        with tempfile.TemporaryDirectory(prefix="waza-mcp-", ignore_cleanup_errors=True) as directory:
            file = Path(directory) / "mcp.json"
            file.write_text(mcp_document(request.mcp_servers), "utf-8")
            yield file

    def _history(self, session: str | None) -> tuple[PastTurn, ...]:
        if session is None:
            return ()
        if self._adapter.session_mode == "iterative":
            with self._lock:
                return self._histories.get(session, ())
        if self._adapter.resume is None:
            raise ExecutorError(_SINGLE_TURN)
        if session.startswith(_UNNAMED):
            raise ExecutorError(
                f"the agent did not name its session at `{self._adapter.resume.session_id_path}`, so it "
                "cannot be continued; correct `resume.sessionIdPath` in the adapter"
            )
        return ()

    def _store_history(self, request: ExecutionRequest, history: tuple[PastTurn, ...], turn: Turn) -> str:
        """Store the conversation, and return its name for the next turn."""
        named = "" if self._adapter.session_mode == "iterative" else turn.session
        session = named or request.session or f"{_UNNAMED}{next(self._numbers)}"
        if self._adapter.session_mode == "iterative" and not request.ephemeral:
            with self._lock:
                self._histories[session] = (*history, PastTurn(request.prompt, turn.output))
        return session

    def _error(self, turn: Turn, ended: Ended, request: ExecutionRequest, limit_note: str) -> str:
        match ended.how:
            case "late":
                return f"the agent did not answer within {limit_note}"
            case "silent":
                return f"the agent wrote nothing within {in_seconds(request.first_event_timeout_seconds)}"
            case "cancelled":
                return CANCELLED
            case "finished":
                pass
        if turn.trouble:
            return turn.trouble
        if turn.failed:
            return f"the agent reports an error: {turn.output[:_SHOWN] or 'it does not say which'}"
        is_text = self._adapter.extensions.output_mode == "text"
        answered = turn.answer is not None and not is_text
        if answered or request.stops_after(turn.skills):
            return ""
        output = ended.stderr.strip()[-_SHOWN:] or turn.noise
        if ended.exit_code not in (0, None):
            return f"the agent ended with exit code {ended.exit_code}" + (f": {output}" if output else "")
        if turn.matched or is_text:
            return ""
        output = output or turn.unmatched
        began = f"; it wrote: {output}" if output else ""
        return f"nothing that the agent wrote fits the adapter{began}"


def _adapter_path(settings: ExecutorSettings, within: Boundary) -> Path:
    """Return the adapter file that a suite names. Raises ``ExecutorError``."""
    written, suite = settings.config.adapter, settings.suite_directory
    if not written:
        raise ExecutorError(
            "`config.adapter` is missing; name the JSON file that describes the agent's command line, "
            "such as `adapters/claude.json`"
        )
    try:
        path = _without_parents(within.first(written, [suite / written], "config.adapter"))
    except FileError as error:
        raise ExecutorError(error.why) from None
    if not path.exists():
        raise ExecutorError(
            f"there is no {path}, which `config.adapter` names; copy one from the project's "
            "`examples/adapters`, or describe your agent's command line as docs/executors.md says"
        )
    return path


def _usage(turn: Turn, model: str) -> Usage | None:
    turns = int(turn.usage.get("turns", 0)) or max(1, len(turn.messages))
    return usage_of_numbers(turn.usage, model, turns)


def _not_started(program: str, error: OSError | ValueError) -> str:
    if isinstance(error, OSError) and error.errno == errno.E2BIG:
        return 'the prompt is too long for an argument; write `"prompt": {"stdin": true}` in the adapter'
    if isinstance(error, UnicodeError):
        return "the prompt holds half of a surrogate pair, which is no character; take it out"
    if isinstance(error, ValueError):
        return "the prompt holds a NUL character, which no argument can; take it out"
    if isinstance(error, FileNotFoundError):
        return f"the program `{program}` is gone"
    if error.errno == errno.ECANCELED:
        return CANCELLED
    if error.errno == errno.ENOEXEC:
        return f"`{program}` is no program: its first line must name one, such as `#!/usr/bin/env python3`"
    return f"the program `{program}` cannot be started: {error.strerror or 'unknown reason'}"


def _without_parents(path: Path) -> Path:
    """Return a path without the `..` that was written, if that leads to the same file."""
    plain = Path(os.path.normpath(path))
    try:
        return plain if plain.resolve() == path.resolve() else path
    except (OSError, RuntimeError):
        return path
