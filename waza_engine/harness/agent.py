"""Ask the agent of an adapter: the engine's executor, budget and process limits, and the answer as a row."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from waza_engine.boundary import Boundary, FileError
from waza_engine.executors.executor import (
    ExecutionRequest,
    ExecutionResponse,
    Executor,
    ExecutorError,
    ExecutorSettings,
    why_single_turn,
)
from waza_engine.executors.executor_types import create_executor
from waza_engine.files import make_folder, read_bytes
from waza_engine.graders.base import GradingContext
from waza_engine.graders.programs.input import trajectory
from waza_engine.harness.rows import HarnessError, Prompt
from waza_engine.processes.scope import ProcessScope, current_scope
from waza_engine.results.json_values import Json
from waza_engine.runs.limits.budget import Meter
from waza_engine.runs.limits.cancellation import CancelledRunError, RunCancellation
from waza_engine.runs.settings.table import Budget
from waza_engine.runs.trials.conversation import Conversation, FollowUps, converse
from waza_engine.scoring.cost import Spending, cost_of, tokens_of
from waza_engine.spec.adapter import AdapterFile
from waza_engine.spec.eval_config import EvalConfig
from waza_engine.spec.loading import load_adapter_file
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.yaml_reader import MAX_BYTES
from waza_engine.vocabulary import CANCELLED

DEFAULT_MILLISECONDS = 60_000.0
_UNUSABLE_IN_NAMES = re.compile(r'[<>:"/\\|?*\0]')
_LONGEST_NAME = 200
_RICH = {"thought", "tool_call", "plan"}


class StoppedError(Exception):
    """The prompt was not answered because the run was cancelled or has reached its budget."""


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """How an agent is asked. ``timeout`` of a turn is in milliseconds.

    Each prompt has a directory of its own in ``workspaces``; without one all work in ``cwd``.
    """

    adapter: Path
    cwd: Path
    timeout: float | None = None
    workspaces: Path | None = None
    budget: Budget = field(default_factory=Budget)


@contextmanager
def opened_agent(options: AgentOptions) -> Generator[Agent]:
    """Give an agent; everything that is started meanwhile ends with it. Raises ``HarnessError``."""
    agent, programs = Agent(options), ProcessScope()
    # Programs that grade belong to it, too.
    before = current_scope.set(programs)
    agent.cancellation.on_request(programs.close)
    try:
        yield agent
    finally:
        agent.close()
        programs.close()
        current_scope.reset(before)


def load_adapter(path: Path) -> tuple[AdapterFile, Sequence[str]]:
    """Return an adapter, and its parts without effect. Raises ``HarnessError``."""
    try:
        adapter, warnings = load_adapter_file(path)
    except SuiteFileError as error:
        raise HarnessError(f"{str(error).rstrip('.')}.") from None
    return adapter, [str(warning) for warning in warnings]


def milliseconds() -> int:
    """Return the time in milliseconds since 1970."""
    return round(time.time() * 1000)


class Agent:
    """The agent of an adapter; ``ask`` may be called from several threads.

    ``cancellation`` ends all that runs. ``warnings`` are the parts of the adapter without effect.
    """

    def __init__(self, options: AgentOptions) -> None:
        """Read the adapter. Raises ``HarnessError`` when it cannot be used."""
        self._options = options
        self.adapter, self.warnings = load_adapter(options.adapter)
        self.digest = _digest_of_file(options.adapter)
        self.cancellation = RunCancellation()
        self._meter = Meter(options.budget)
        self._broken = ""
        self._executor: Executor | None = None
        # Relative paths in an adapter start at its own folder, or where the command was started.
        config = EvalConfig(trials_per_task=1, timeout_seconds=1, executor="command")
        settings = ExecutorSettings(Path.cwd(), config, adapter_file=options.adapter)
        try:
            self._executor = executor = create_executor("command", settings)
            self.warnings = executor.warnings
            self.cancellation.on_request(executor.close)
        except ExecutorError as error:
            self._broken = str(error)
            self.warnings = (*self.warnings, self._broken)

    def check(self, prompts: Sequence[Prompt]) -> None:
        """Raise ``HarnessError`` for the first prompt that would be paid for in vain."""
        single = "" if self._executor is None else why_single_turn(self._executor)
        for prompt in prompts:
            if not all(turn.strip() for turn in prompt.turns):
                raise HarnessError(f"The prompt `{prompt.id}` is empty; write what the agent is asked.")
            if single and len(prompt.turns) > 1:
                raise HarnessError(f"The prompt `{prompt.id}` has several turns: {single}.")

    @property
    def limit(self) -> str:
        """Return the limit of the budget that was reached, "" if none was."""
        return self._meter.reason

    @property
    def is_stopped(self) -> bool:
        """Return whether no further prompt should be asked."""
        return self.cancellation.requested or bool(self.limit)

    def digest_of(self, prompt: Prompt) -> str:
        """Return what decides the answer: the prompt and the adapter."""
        content = repr((prompt.id, prompt.input, self.digest)).encode("utf-8", "replace")
        return hashlib.sha256(content).hexdigest()[:16]

    def facts_of(self, directory: Path | None) -> Json:
        """Return the metadata on a workspace, nothing when the agent has none of its own."""
        return {"workspaceDir": str(directory.absolute())} if directory and self._options.workspaces else {}

    @property
    def base_facts(self) -> Json:
        """Return the metadata on the folder of the workspaces."""
        return self.facts_of(self._options.workspaces)

    def close(self) -> None:
        """End everything that was started."""
        if self._executor is not None:
            self._executor.close()

    def directory_for(self, name: str) -> Path:
        """Return the directory in which the agent works on a prompt. Raises ``HarnessError``."""
        base = self._options.workspaces
        if base is None:
            return self._options.cwd
        folder = base / f"prompt-{_UNUSABLE_IN_NAMES.sub('_', name)[:_LONGEST_NAME]}"
        try:
            make_folder(base)
            make_folder(folder, within=Boundary.around(base, name="the folder of the workspaces"))
        except OSError as error:
            raise HarnessError(f"The workspace {folder} cannot be made: {error.strerror or error}.") from None
        return folder.absolute()

    def carry(self, spent: Spending) -> None:
        """Count what an earlier process has spent, so that a limit holds for both together."""
        self._meter.carry(spent)

    def ask(self, prompt: Prompt, name: str, *, heard: Callable[[str], None]) -> tuple[Json, Spending]:
        """Ask all turns of a prompt; return its answer, a row without prompt and score, and what it cost.

        ``name`` is that of its workspace, ``heard`` gets every line of the agent. A limit that is reached
        does not end it: its answer would be lost, and paid for. Raises ``StoppedError``, and ``HarnessError``
        when the workspace cannot be made.
        """
        directory = self.directory_for(name)
        started = milliseconds()
        talk = self._talk(prompt, directory, heard)
        answer = answer_of(prompt, talk, started, milliseconds(), self.facts_of(directory))
        return answer, Spending(tokens_of(talk.usage), cost_of(talk.usage))

    @property
    def milliseconds(self) -> float | None:
        """Return the time limit of a turn: the option, else that of the adapter."""
        return self._options.timeout or self.adapter.timeout

    def execute(self, request: ExecutionRequest, cancellation: RunCancellation) -> ExecutionResponse:
        """Execute one turn, outside of any budget. Raises ``ExecutorError``."""
        if self._executor is None:
            raise ExecutorError(self._broken)
        return self._executor.execute(request, cancellation)

    def _talk(self, prompt: Prompt, directory: Path, heard: Callable[[str], None]) -> Conversation:
        if self._executor is None:
            return Conversation(error=self._broken)
        if not prompt.turns:
            return Conversation()
        limit = self._options.timeout or prompt.timeout or self.milliseconds or DEFAULT_MILLISECONDS
        first, *further = prompt.turns
        request = ExecutionRequest(
            first, directory, timeout_seconds=limit / 1000, on_line=heard, task_id=prompt.id
        )
        try:
            talk = converse(
                self._executor, request, FollowUps(further), (), _no_checkpoint, self.cancellation
            )
        except CancelledRunError:
            raise StoppedError from None
        self._meter.count(talk.usage, cost_of(talk.usage), must_report=not talk.error)
        if talk.interrupted or talk.error == CANCELLED:
            raise StoppedError
        return talk


def _no_checkpoint(*_: object) -> Any:
    raise AssertionError("a conversation of the harness has no checkpoints")


def answer_of(prompt: Prompt, talk: Conversation, started: int, ended: int, facts: Json) -> Json:
    """Return a conversation as a row without prompt and score; ``facts`` are its metadata.

    ``started`` and ``ended`` are milliseconds since 1970.
    """
    context = GradingContext(transcript=talk.events, tool_calls=talk.tool_calls)
    steps = [relative_step(step, started) for step in trajectory(context)]
    end = _last_end(talk.events)
    timed_out = end.get("timed_out") is True
    usage = talk.usage
    tokens = {} if usage is None else {"inputTokens": usage.input_tokens, "outputTokens": usage.output_tokens}
    first = {"firstResponse": steps[0]["timestamp"]} if steps else {}
    # A turn that was too slow says so in the metadata, as agent-eval-harness does.
    errors = {"errors": [talk.error]} if talk.error and not timed_out else {}
    failed = any(step.get("status") == "failed" for step in steps)
    return {
        "output": talk.output or "\n".join(step["content"] for step in steps if step["type"] == "message"),
        "trajectory": steps,
        "metadata": {
            "trajectoryRichness": _richness(steps),
            "turnCount": len(prompt.turns),
            **facts,
            **_exit_facts(end),
        },
        "timing": {
            "start": started,
            "end": ended,
            **first,
            "sessionCreation": 0,
            "total": ended - started,
            **tokens,
        },
        "toolErrors": failed or timed_out or (bool(talk.error) and not end),
        **errors,
    }


def relative_step(step: Json, started: int) -> Json:
    """Return a step with its time since the start, and without arguments that are not known."""
    known = {key: value for key, value in step.items() if (key, value) != ("input", {})}
    return {**known, "timestamp": max(0, step["timestamp"] - started) if step["timestamp"] else 0}


def _last_end(events: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    ends = [event for event in events if event.get("type") == "session.shutdown"]
    return ends[-1] if ends else {}


def _exit_facts(end: Mapping[str, Any]) -> Json:
    if not end:
        return {}
    timed_out = end.get("timed_out") is True
    return {
        "exitCode": end.get("exit_code"),
        **({"signal": "SIGTERM"} if timed_out else {}),
        "timedOut": timed_out,
    }


def _richness(steps: Sequence[Json]) -> str:
    kinds = {step["type"] for step in steps}
    if kinds & _RICH:
        return "full"
    return "messages-only" if kinds else "minimal"


def _digest_of_file(path: Path) -> str:
    try:
        return hashlib.sha256(read_bytes(path, MAX_BYTES)).hexdigest()[:16]
    except FileError as error:
        raise HarnessError(f"{path} cannot be read: {error.why}.") from None
