"""The executor ``replay``: the answers of an earlier run, so graders can be tried out without an agent.

A task's trial gets the record of the task's trial with the same number: its output, transcript, tool calls,
skill invocations, usage and duration, and the files of its workspace while they exist. Nothing is spent. A
conversation is cut at the user's messages in the transcript; if it cannot be cut, all of it comes with the
first turn, and every later turn has the last output.
"""

from __future__ import annotations

import itertools
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from waza_engine.counting import counted
from waza_engine.executors.base import (
    Cancellation,
    ExecutionRequest,
    ExecutionResponse,
    ExecutorError,
    ExecutorSettings,
)
from waza_engine.executors.recorded_answers import load_answers, workspace_of
from waza_engine.executors.registry import register
from waza_engine.files import copy_file, is_named, special_names
from waza_engine.results.record import TrialOutcome
from waza_engine.spec.loading import load_trigger_tests
from waza_engine.spec.problems import SuiteFileError
from waza_engine.vocabulary import SkillInvocation, ToolCall

_SESSION = re.compile(r"replay-(\d+)-(\d+)")
_FOLLOW_UP = re.compile(r"follow-up (\d+)(?:/\d+)?: ")
_CHECKPOINT = "the checkpoint after turn "
_MOST_FILES = 20_000


@register
class ReplayExecutor:
    """Answers with recorded turns."""

    name = "replay"
    answers_triggers = False
    has_model = False
    costs = False
    reports_cost = False
    library = ""

    def __init__(self, settings: ExecutorSettings) -> None:
        directory = settings.suite_directory
        self._answers = load_answers(settings.config.recording, directory, settings.eval_file)
        self._tested = _tested_skill(directory / "trigger_tests.yaml")
        newest = self._answers.first()
        trials = [trial for of in newest.trials.values() for trial in of.values()] if newest else []
        self.warnings: tuple[str, ...] = ()
        if trials and all(workspace_of(trial) is None for trial in trials):
            self.warnings = (
                f"{self._answers.name}: no workspace of the recorded trials is left, so graders of files see "
                "what the task starts with",
            )

    def execute(self, request: ExecutionRequest, cancellation: Cancellation) -> ExecutionResponse:
        """Return the recorded turn. Raises ``ExecutorError`` when there is none."""
        del cancellation
        if not request.task_id:
            return self._trigger(request)
        trial = self._answers.trial(request.task_id, request.trial)
        turn, start = _position(request.session)
        if turn == 1 and (kept := workspace_of(trial)) is not None:
            _restore(kept, request.workspace)
        return _answer(trial, turn, start, request)

    def close(self) -> None:
        """Do nothing: nothing was started."""

    def _trigger(self, request: ExecutionRequest) -> ExecutionResponse:
        recorded, skill = self._answers.trigger(request.prompt)
        if recorded.error:
            raise ExecutorError(recorded.error)
        names = dict.fromkeys(name for name in (self._tested, request.skill or skill) if name)
        skills = [SkillInvocation(name) for name in names] if recorded.triggered else []
        return ExecutionResponse(recorded.output, skill_invocations=skills, duration_ms=0)


def _answer(trial: TrialOutcome, turn: int, start: int, request: ExecutionRequest) -> ExecutionResponse:
    events = trial.events
    failing, why = _failure(trial)
    if turn > 1 and start >= len(events):
        return _after_the_end(trial, turn, failing, why, request)
    if why and failing == turn and not trial.validations:
        raise ExecutorError(why)
    end = _end_of_turn(events, start) if request.follow_ups else len(events)
    calls, skills = _done_in(trial, start, end)
    return ExecutionResponse(
        output=trial.output if end == len(events) else _said(events[start:end]),
        session=f"replay-{turn}-{end}",
        events=tuple(events[start:end]),
        tool_calls=calls,
        skill_invocations=skills,
        usage=trial.usage if turn == 1 else None,
        error=why if why and failing == turn else None,
        duration_ms=trial.duration_ms if turn == 1 else 0,
    )


def _after_the_end(
    trial: TrialOutcome, turn: int, failing: int, why: str, request: ExecutionRequest
) -> ExecutionResponse:
    """Return a turn without content: the record has all of the trial in the turns before it."""
    if why and failing <= turn:
        raise ExecutorError(why)
    turns = len(_starts(trial.events))
    if turns:
        count = counted(turns, "turn")
        raise ExecutorError(
            f"trial {trial.number} of `{request.task_id}` was recorded with {count}, not with {turn}; "
            "record it again"
        )
    return ExecutionResponse(trial.output, session=f"replay-{turn}-{len(trial.events)}", duration_ms=0)


def _position(session: str | None) -> tuple[int, int]:
    """Return which turn it is (from 1), and where its events start."""
    found = _SESSION.fullmatch(session or "")
    return (int(found[1]) + 1, int(found[2])) if found else (1, 0)


def _starts(events: Sequence[Mapping[str, Any]]) -> list[int]:
    return [position for position, event in enumerate(events) if event.get("type") == "user.message"]


def _end_of_turn(events: Sequence[Mapping[str, Any]], start: int) -> int:
    """Return where the next turn starts: at the second message of the user from here."""
    following = (position for position in _starts(events) if position >= start)
    return next(itertools.islice(following, 1, None), len(events))


def _done_in(
    trial: TrialOutcome, start: int, end: int
) -> tuple[tuple[ToolCall, ...], tuple[SkillInvocation, ...]]:
    """Return the calls and skills of a range of events; those in no event belong to the beginning."""
    events = trial.events
    places: dict[str, int] = {}
    for position, event in enumerate(events):
        if event.get("type") == "tool.execution_start":
            places.setdefault(str(event.get("tool_call_id")), position)
    skills = trial.skill_invocations
    invoked = [position for position, event in enumerate(events) if event.get("type") == "skill.invoked"]
    if len(invoked) != len(skills):
        invoked = [0] * len(skills)
    stretch = range(start, max(end, 1))
    return (
        tuple(call for call in trial.tool_calls or () if places.get(call.id, 0) in stretch),
        tuple(skill for skill, position in zip(skills, invoked, strict=True) if position in stretch),
    )


def _said(events: Sequence[Mapping[str, Any]]) -> str:
    texts = [event.get("content") for event in events if event.get("type") == "assistant.message"]
    return "\n".join(text for text in texts if isinstance(text, str) and text)


def _failure(trial: TrialOutcome) -> tuple[int, str]:
    """Return the turn that broke and why, (0, "") when none did. A checkpoint speaks for itself again."""
    if not trial.error or trial.error.startswith(_CHECKPOINT):
        return 0, ""
    found = _FOLLOW_UP.match(trial.error)
    return (int(found[1]) + 1, trial.error[found.end() :]) if found else (1, trial.error)


def _restore(kept: Path, workspace: Path) -> None:
    """Make the workspace look as it was kept. Links are copied as links. Raises ``ExecutorError``."""
    try:
        if workspace.resolve().is_relative_to(kept.resolve()):
            raise ExecutorError(f"the recorded workspace {kept} is no workspace of a trial")
        if sum(1 for _ in itertools.islice(kept.rglob("*"), _MOST_FILES + 1)) > _MOST_FILES:
            raise ExecutorError(f"the recorded workspace {kept} has more than {_MOST_FILES} files")
        for entry in workspace.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()
        shutil.copytree(
            kept, workspace, ignore=special_names, copy_function=copy_file, symlinks=True, dirs_exist_ok=True
        )
    except (OSError, shutil.Error) as error:
        why = getattr(error, "strerror", None) or "some of its files cannot be read"
        raise ExecutorError(f"the recorded workspace {kept} cannot be copied: {why}") from None


def _tested_skill(path: Path) -> str:
    """Return the skill of the trigger prompts, "" when there are none."""
    try:
        return load_trigger_tests(path)[0].skill if is_named(path) else ""
    except SuiteFileError:
        return ""
