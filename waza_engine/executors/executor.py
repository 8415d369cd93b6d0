"""The interface between the engine and an agent: requests and responses."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from waza_engine.executors.command_shim import SESSION_VARIABLE
from waza_engine.graders.judge import AgentTool
from waza_engine.spec.eval_config import EvalConfig
from waza_engine.vocabulary import PaidAnswer, SkillInvocation, ToolCall, Usage


class ExecutorError(Exception):
    """The executor cannot work at all, or not for this prompt; the message is for the author of the suite.

    ``transient`` is true for errors that may go away by themselves: a rate limit, a broken connection.
    ``remediation`` is what to do, in a clause, unless that is to correct the suite.
    """

    def __init__(self, message: str, *, transient: bool = False, remediation: str = "") -> None:
        super().__init__(message)
        self.transient = transient
        self.remediation = remediation


@dataclass(frozen=True, slots=True)
class ExecutorSettings:
    """The settings of an executor. Relative paths in ``config`` start at ``suite_directory``.

    ``eval_file`` is the name of the eval file there, "" if unknown. ``adapter_file`` is an adapter that a
    person has named; it takes the place of the one in ``config``, and only a request limits its turns.
    """

    suite_directory: Path
    config: EvalConfig
    eval_file: str = ""
    adapter_file: Path | None = None


class Cancellation(Protocol):
    """The cancellation of a run: its state, and callbacks."""

    @property
    def requested(self) -> bool:
        """Return whether the run should stop."""
        ...

    def on_request(self, stop: Callable[[], None]) -> Callable[[], None]:
        """Call ``stop`` when the run is cancelled (immediately if it already is).

        Return a function that withdraws this.
        """
        ...


@dataclass(frozen=True, slots=True)
class WorkspaceFile:
    """A file that was put into the workspace for the task: its path as written, and where it lies now."""

    path: str
    place: Path


@dataclass(frozen=True, slots=True)
class MockedCommands:
    """Mocks of programs: the ``folder`` that must come first on the ``PATH``.

    ``session`` is the directory of one trial's answers, None outside of trials.
    """

    folder: Path
    session: Path | None = None


def ignore(*_: object) -> None:
    """Do nothing: nobody listens."""


@dataclass(frozen=True, slots=True)
class ExecutionRequest:
    """One turn of a conversation. ``session`` continues an earlier one.

    ``timeout_seconds`` applies to this call alone; ``first_event_timeout_seconds`` of 0 is off.

    ``workspace`` is the directory in which the agent works, starting in ``workdir`` below it; ``files`` are
    those that ``inputs.files`` put there. ``skill_directories`` are existing folders of skills, or skills.
    ``instructions`` are added to the agent's system message (the body of the skill under test, the list of
    skills, instruction files). ``mcp_servers`` holds their configuration by name, mocks included. ``tools``
    are offered besides the agent's own. A session that is ``ephemeral`` is deleted afterwards. With
    ``stop_at_skill`` the turn ends as soon as this skill is invoked, which is no error. ``task_id`` and
    ``trial`` (from 1) identify the trial, empty and 0 for triggers and judges; ``follow_ups`` says how many
    more prompts of the same conversation are sure to come. ``commands`` are the programs that are mocked for
    it.

    ``on_tool_call`` gets every tool call as it begins, from any thread; ``on_line`` gets every line that a
    command-line agent writes. ``on_prepared`` is called when the agent's own files, such as skills, are in
    the workspace, and ``on_prompt`` right before the agent gets the prompt. ``on_answer`` gets every answer
    of a model when it has arrived, from any thread and before the turn goes on: it is paid for, and would be
    lost if the process is killed.
    """

    prompt: str
    workspace: Path
    workdir: str = ""
    task_name: str = ""
    task_description: str = ""
    context: Mapping[str, Any] = field(default_factory=dict[str, Any])
    files: Sequence[WorkspaceFile] = ()
    model: str = ""
    skill: str = ""
    skill_directories: Sequence[Path] = ()
    timeout_seconds: float = 300.0
    first_event_timeout_seconds: float = 0.0
    session: str | None = None
    instructions: str = ""
    mcp_servers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    tools: Sequence[AgentTool] = ()
    reasoning_effort: str = ""
    ephemeral: bool = False
    stop_at_skill: str = ""
    task_id: str = ""
    trial: int = 0
    follow_ups: int = 0
    commands: MockedCommands | None = None
    on_prepared: Callable[[], None] = ignore
    on_tool_call: Callable[[ToolCall], None] = ignore
    on_line: Callable[[str], None] = ignore
    on_answer: Callable[[PaidAnswer], None] = ignore
    on_prompt: Callable[[], None] = ignore

    def stops_after(self, invoked: Iterable[SkillInvocation]) -> bool:
        """Return whether the skill is among the invoked ones that ends the turn."""
        return bool(self.stop_at_skill) and any(skill.is_of(self.stop_at_skill) for skill in invoked)


@dataclass(frozen=True, slots=True)
class ExecutionResponse:
    """The result of one turn. ``error`` is set when the agent gave up; its output so far is kept.

    ``transient`` is true for an error that may go away by itself, as that of an ``ExecutorError``. ``events``
    are transcript entries as upstream writes them. ``usage`` is None when the executor reports none.
    ``duration_ms`` is how long the agent took, None when the caller's clock is right. ``cut`` is true when a
    token limit ended the last answer in its middle, as far as that is known. ``refusal`` is the model's text
    in the field with which it refuses to answer. ``knows_files`` is false when the workspace does not have
    the files that the agent left.
    """

    output: str
    session: str = ""
    events: Sequence[Mapping[str, Any]] = ()
    tool_calls: Sequence[ToolCall] = ()
    skill_invocations: Sequence[SkillInvocation] = ()
    usage: Usage | None = None
    error: str | None = None
    transient: bool = False
    duration_ms: int | None = None
    cut: bool = False
    refusal: str = ""
    knows_files: bool = True


class Executor(Protocol):
    """Executes prompts. ``execute`` is called from several threads at the same time.

    ``answers_triggers`` is true for an executor that has no skills to call and answers every trigger prompt
    correctly by definition. ``has_model`` is true when a model answers, which can judge and reply; it
    supports ``tools`` then. ``costs`` is true when its answers may cost money; where it is false, the usage
    that it reports was paid for another time. ``reports_cost`` is true when it reports the cost of its
    answers. ``library`` is the package that does its work, whose version is stored in the results; "" without
    one. ``warnings`` are the parts of its files without effect, one sentence each.
    """

    name: str
    answers_triggers: bool = False
    has_model: bool = False
    costs: bool = True
    reports_cost: bool = False
    library: str = ""
    warnings: tuple[str, ...] = ()

    def execute(self, request: ExecutionRequest, cancellation: Cancellation) -> ExecutionResponse:
        """Execute one turn; return early when cancelled.

        Raises ``ExecutorError`` when there is no answer at all.
        """
        ...

    def close(self) -> None:
        """End everything that was started; can be called twice and from another thread."""
        ...


def blindness_to_skills(executor: Executor) -> str:
    """Return why an executor cannot report the agent's use of skills, "" when it can."""
    return getattr(executor, "blind_to_skills", "")


def why_single_turn(executor: Executor) -> str:
    """Return why an executor cannot continue a conversation and what to write, "" when it can."""
    return getattr(executor, "single_turn", "")


@runtime_checkable
class Reaching(Protocol):
    """An executor that can find out before a run whether those answer whom it asks, at no cost."""

    def reach(self) -> None:
        """Return within seconds; raise ``ExecutorError`` when nothing answers, or the key is rejected."""
        ...


def environment_with(commands: MockedCommands | None, inherited: Mapping[str, str]) -> dict[str, str]:
    """Return the variables to set besides those inherited, so that mocked programs are found first."""
    if commands is None:
        return {}
    name = next((name for name in inherited if name.upper() == "PATH"), "PATH")
    known = [inherited[name]] if inherited.get(name) else []
    changed = {name: os.pathsep.join([str(commands.folder), *known])}
    return changed if commands.session is None else {**changed, SESSION_VARIABLE: str(commands.session)}
