"""What the engine asks of an agent, and what it gets back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from waza_engine.graders.judging.judge import AgentTool
from waza_engine.spec.eval_config import EvalConfig
from waza_engine.vocabulary import PaidAnswer, SkillInvocation, ToolCall, Usage


class ExecutorError(Exception):
    """The executor cannot work at all, or not for this prompt; the text is for the author of the suite.

    ``transient`` is true for what may go away by itself: a rate limit, a broken connection. ``remediation``
    is what to do, in a clause, where that is something else than to correct the suite.
    """

    def __init__(self, message: str, *, transient: bool = False, remediation: str = "") -> None:
        super().__init__(message)
        self.transient = transient
        self.remediation = remediation


@dataclass(frozen=True, slots=True)
class ExecutorSettings:
    """What an executor is made of. Relative paths in ``config`` start at ``suite_directory``.

    ``eval_file`` is the name of the eval file there, "" when it is not known.
    """

    suite_directory: Path
    config: EvalConfig
    eval_file: str = ""


class Cancellation(Protocol):
    """Whether the run was cancelled, and a way to be told at once."""

    @property
    def requested(self) -> bool:
        """Whether it is time to stop."""
        ...

    def on_request(self, stop: Callable[[], None]) -> Callable[[], None]:
        """Call ``stop`` when the run is cancelled (at once if it is).

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
    """Programs that stand for others: the ``folder`` that must come first on the ``PATH``.

    ``session`` is where the answers of one trial are, None outside of trials.
    """

    folder: Path
    session: Path | None = None


def unwatched(_: ToolCall) -> None:
    """Nobody looks at the turn while it goes on."""


def unpaid(_: PaidAnswer) -> None:
    """Keep nothing: nobody pays for the answers of this turn."""


@dataclass(frozen=True, slots=True)
class ExecutionRequest:
    """One turn of a conversation. ``session`` continues an earlier one.

    ``timeout_seconds`` holds for this call alone; ``first_event_timeout_seconds`` of 0 is off.

    ``workspace`` is the directory in which the agent works, starting in ``workdir`` below it; ``files`` says
    what ``inputs.files`` put there. ``skill_directories`` are existing folders of skills, or skills.
    ``instructions`` are added to what the agent is told about itself (the body of the skill under test, the
    list of skills, instruction files). ``mcp_servers`` holds their configuration by name, mocks included.
    ``tools`` are offered besides the agent's own. A session that is ``ephemeral`` is deleted afterwards.
    With ``stop_at_skill`` the turn ends as soon as this skill is invoked, which is no error.
    ``task_id`` and ``trial`` (from 1) say what the call is for, empty and 0 for triggers and judges;
    ``follow_ups`` says how many more prompts of the same conversation are sure to come. ``commands`` are the
    programs that are mocked for it. ``watch`` gets every tool call as it begins, from any thread.

    ``paid`` gets every answer of a model when it has arrived, from any thread and before the turn goes on: it
    is paid for, and nobody else has it when the process is killed.
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
    watch: Callable[[ToolCall], None] = unwatched
    paid: Callable[[PaidAnswer], None] = unpaid

    def stops_after(self, invoked: Iterable[SkillInvocation]) -> bool:
        """Return whether the skill is among the invoked ones that ends the turn."""
        return bool(self.stop_at_skill) and any(skill.is_of(self.stop_at_skill) for skill in invoked)


@dataclass(frozen=True, slots=True)
class ExecutionResponse:
    """What one turn left behind. ``error`` is set when the agent gave up; its output so far is kept.

    ``transient`` is true for an error that may go away by itself, as that of an ``ExecutorError``.
    ``events`` are transcript entries as upstream writes them. ``usage`` is None when the executor
    reports none. ``duration_ms`` is how long the agent took, None when the caller's clock is right.
    ``cut`` is true when a limit of tokens ended the last answer in its middle, as far as that is known.
    ``refusal`` is what the model said in the field with which it refuses to answer.
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


class Executor(Protocol):
    """Carries out prompts. ``execute`` is called from several threads at the same time.

    ``answers_triggers`` is true for an executor that has no skills to call and answers every trigger prompt
    rightly by definition. ``has_model`` is true when a model answers, which can judge and reply; it honours
    ``tools`` then. ``costs`` is true when its answers may cost money; where it is false, the usage that it
    reports was paid for another time. ``reports_cost`` is true when it says itself what its answers cost.
    ``library`` is the package that does its work, whose version the results tell; "" without one.
    ``warnings`` says what in its files has no effect, one sentence each.
    """

    name: str
    answers_triggers: bool
    has_model: bool
    costs: bool
    reports_cost: bool
    library: str
    warnings: tuple[str, ...]

    def execute(self, request: ExecutionRequest, cancellation: Cancellation) -> ExecutionResponse:
        """Carry out one turn; return early when cancelled.

        Raises ``ExecutorError`` when there is no answer at all.
        """
        ...

    def close(self) -> None:
        """End everything that was started; can be called twice and from another thread."""
        ...


def blindness_to_skills(executor: Executor) -> str:
    """Return why an executor cannot tell which skills the agent uses, "" when it can."""
    return getattr(executor, "blind_to_skills", "")


@runtime_checkable
class Reaching(Protocol):
    """An executor that can find out before a run whether those answer whom it asks, at no cost."""

    def reach(self) -> None:
        """Return within seconds; raise ``ExecutorError`` when nobody answers, or the key is refused."""
        ...
