"""The executor ``command``: any agent with a command line, driven as an adapter file describes it.

A program is started for every turn, without a shell, in the task's workspace. Its output becomes the
transcript while it runs; ``docs/compatibility.md`` lists the differences from the agent-eval-harness.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import tempfile
import threading
from collections.abc import Generator
from pathlib import Path

from waza_engine.boundary import FileError, suite_boundary
from waza_engine.counting import in_seconds
from waza_engine.executors.adapter.checks import adapter_warnings, tells_tool_calls
from waza_engine.executors.adapter.command_line import (
    PastTurn,
    arguments_of,
    mcp_document,
    prepare_workdir,
    prompt_of,
    resolved_command,
)
from waza_engine.executors.adapter.process import AgentLimits, Ended, run_agent
from waza_engine.executors.adapter.turn import LineSink, TextSink, Turn, usage_of_figures
from waza_engine.executors.base import (
    Cancellation,
    ExecutionRequest,
    ExecutionResponse,
    ExecutorError,
    ExecutorSettings,
)
from waza_engine.executors.chat.skill_tool import names_by_folder
from waza_engine.executors.mocked_commands import environment_with
from waza_engine.executors.registry import register
from waza_engine.masking import keep_settings_secret
from waza_engine.processes.scope import ProcessScope
from waza_engine.spec.loading import load_adapter_file
from waza_engine.spec.problems import SuiteFileError
from waza_engine.vocabulary import CANCELLED, Usage

_BLIND = (
    "the adapter {} reports no tool calls, so nothing tells which skills the agent uses; map its tool calls "
    'in `outputEvents` (`"emitAs": "tool_call"`)'
)
_UNNAMED = "command-session-"
_SHOWN = 500


@register
class CommandExecutor:
    """Drives the command line of an agent. ``warnings`` name parts of its adapter file without effect."""

    name = "command"
    answers_triggers = False
    has_model = False
    costs = True
    library = ""

    def __init__(self, settings: ExecutorSettings) -> None:
        written = settings.config.adapter
        if not written:
            raise ExecutorError(
                "`config.adapter` is missing; name the JSON file that describes the agent's command line, "
                "such as `adapters/claude.json`"
            )
        self._suite = settings.suite_directory
        within = suite_boundary(self._suite)
        try:
            path = _told_plainly(within.first(written, [self._suite / written], "config.adapter"))
        except FileError as error:
            raise ExecutorError(error.why) from None
        if not path.exists():
            raise ExecutorError(
                f"there is no {path}, which `config.adapter` names; copy one from the project's "
                "`examples/adapters`, or describe your agent's command line as docs/executors.md says"
            )
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
        self.warnings = (*map(str, found), *adapter_warnings(path, self._adapter, settings.config.model))
        self.blind_to_skills = "" if tells_tool_calls(self._adapter) else _BLIND.format(path.name)
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
            watch=request.watch,
            paid=request.paid,
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
            session=self._remembered(request, history, turn),
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
        own = (adapter.timeout or 0) / 1000
        seconds = min(own, request.timeout_seconds) if own > 0 else request.timeout_seconds
        if request.session is None:
            workdir.mkdir(parents=True, exist_ok=True)
            prepare_workdir(adapter, request, workdir, self._suite)
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
                "the suite has MCP servers, and the adapter does not say how the agent is told of them; give "
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
            raise ExecutorError(
                "the agent cannot continue its session; give `resume` in the adapter, or write "
                '`"sessionMode": "iterative"`'
            )
        if session.startswith(_UNNAMED):
            raise ExecutorError(
                f"the agent did not name its session at `{self._adapter.resume.session_id_path}`, so it "
                "cannot be continued; correct `resume.sessionIdPath` in the adapter"
            )
        return ()

    def _remembered(self, request: ExecutionRequest, history: tuple[PastTurn, ...], turn: Turn) -> str:
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
        said = ended.stderr.strip()[-_SHOWN:] or turn.noise
        if ended.exit_code not in (0, None):
            return f"the agent ended with exit code {ended.exit_code}" + (f": {said}" if said else "")
        if turn.matched or is_text:
            return ""
        said = said or turn.unmatched
        began = f"; it wrote: {said}" if said else ""
        return f"nothing that the agent wrote fits the adapter{began}"


def _usage(turn: Turn, model: str) -> Usage | None:
    turns = int(turn.usage.get("turns", 0)) or max(1, len(turn.messages))
    return usage_of_figures(turn.usage, model, turns)


def _not_started(program: str, error: OSError | ValueError) -> str:
    if isinstance(error, OSError) and error.errno == errno.E2BIG:
        return 'the prompt is too long for an argument; write `"prompt": {"stdin": true}` in the adapter'
    if isinstance(error, ValueError):
        return "the prompt holds a NUL character, which no argument can; take it out"
    if isinstance(error, FileNotFoundError):
        return f"the program `{program}` is gone"
    if error.errno == errno.ECANCELED:
        return CANCELLED
    if error.errno == errno.ENOEXEC:
        return f"`{program}` is no program: its first line must name one, such as `#!/usr/bin/env python3`"
    return f"the program `{program}` cannot be started: {error.strerror or 'unknown reason'}"


def _told_plainly(path: Path) -> Path:
    """Return a path without the `..` that was written, if that leads to the same file."""
    plain = Path(os.path.normpath(path))
    try:
        return plain if plain.resolve() == path.resolve() else path
    except (OSError, RuntimeError):
        return path
