"""The executor ``replay``: the answers of an earlier run, so graders can be tried out without an agent.

A task's trial gets the record of the task's trial with the same number: its output, transcript, tool calls,
skill invocations, usage and duration, and the files of its workspace while they exist. Nothing is spent. A
conversation is cut at the user's messages in the transcript; if it cannot be cut, all of it comes with the
first turn, and every later turn has the last output.

Result files are those of this engine and of upstream, captures and trials
(``results/reading/recordings.py``). A transcript file holds the last trial of one task, a snapshot one trial.
"""

from __future__ import annotations

import itertools
import re
import shutil
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from waza_engine.boundary import FileError, suite_boundary
from waza_engine.counting import counted
from waza_engine.executors.adapter.output_lines import find
from waza_engine.executors.executor import (
    Cancellation,
    ExecutionRequest,
    ExecutionResponse,
    Executor,
    ExecutorError,
    ExecutorSettings,
)
from waza_engine.executors.executor_types import register
from waza_engine.files import copy_file, is_named, special_names
from waza_engine.results.attachments import with_attachments
from waza_engine.results.codec.run_documents import trigger_of
from waza_engine.results.codec.trials import trial_of
from waza_engine.results.json_values import Block, block_of, blocks_of, moment
from waza_engine.results.reading.captures import OF_ROWS
from waza_engine.results.reading.formats import read_document
from waza_engine.results.reading.recordings import RecordingError, read_recording
from waza_engine.results.record import TrialOutcome, TriggerOutcome
from waza_engine.results.result_file_names import results_directory
from waza_engine.spec.executors import replays
from waza_engine.spec.loading import load_trigger_tests
from waza_engine.spec.problems import SuiteFileError
from waza_engine.user_state import known_workspace
from waza_engine.vocabulary import SkillInvocation, ToolCall

_MOST_LISTED = 200
_UPSTREAM = ("results.json", "result.json")
_CAMEL = re.compile(r"(?<=[a-z0-9])([A-Z])")


@dataclass(frozen=True, slots=True)
class RecordedFile:
    """The content of one file: trials by task and number, and trigger prompts. ``skill`` was tested.

    A trial that was stopped has no answer and is not among them; ``cut_short`` are the tasks that had one.
    ``single`` marks a file that holds one trial of several, which are in other files next to it; ``of_rows``
    one of captures or trials, which have no files of the agent.
    """

    path: Path
    trials: Mapping[str, Mapping[int, TrialOutcome]]
    triggers: Mapping[str, TriggerOutcome] = field(default_factory=dict[str, TriggerOutcome])
    skill: str = ""
    executor: str = ""
    eval_file: str = ""
    single: bool = False
    cut_short: frozenset[str] = frozenset()
    of_rows: bool = False


class RecordedAnswers:
    """Recorded answers, the newest first. Files are read when they are needed."""

    def __init__(self, files: Iterator[RecordedFile], name: str) -> None:
        self._waiting = files
        self._read: list[RecordedFile] = []
        self._lock = threading.Lock()
        self.name = name

    def trial(self, task: str, number: int) -> TrialOutcome:
        """Return a trial of the newest recording that has the task, to its end if any has.

        Raises ``ExecutorError``.
        """
        with self._lock:
            found = self._trials(task, number, cut_short=False) or self._trials(task, number, cut_short=True)
        if not found:
            raise ExecutorError(f"{self.name} has no answer to the task `{task}`; record it again")
        if number not in found:
            count = counted(len(found), "trial")
            raise ExecutorError(
                f"{self.name} has {count} of the task `{task}`, and none with the number {number}; run with "
                f"`--trials {max(found)}`, or record it again"
            )
        return found[number]

    def trigger(self, prompt: str) -> tuple[TriggerOutcome, str]:
        """Return the recorded result of a trigger prompt, and the tested skill.

        Raises ``ExecutorError``.
        """
        with self._lock:
            for file in self._files():
                if prompt in file.triggers:
                    return file.triggers[prompt], file.skill
        raise ExecutorError(f"{self.name} has no result of this trigger prompt; record it again")

    def first(self) -> RecordedFile | None:
        """Return the newest file, None when there is none."""
        with self._lock:
            return next(self._files(), None)

    def _trials(self, task: str, number: int, *, cut_short: bool) -> Mapping[int, TrialOutcome]:
        found: dict[int, TrialOutcome] = {}
        for file in self._files():
            trials = file.trials.get(task)
            if trials and (task in file.cut_short) is cut_short and not (found and not file.single):
                found = {**trials, **found}
            if found and (number in found or not file.single):
                break
        return found

    def _files(self) -> Iterator[RecordedFile]:
        position = 0
        while True:
            while position < len(self._read):
                yield self._read[position]
                position += 1
            following = next(self._waiting, None)
            if following is None:
                return
            self._read.append(following)


def load_answers(recording: str, suite_directory: Path, eval_file: str) -> RecordedAnswers:
    """Return the answers of ``config.recording``, or of the newest results of the suite without one.

    Raises ``ExecutorError`` when there is no such file, or nothing in it.
    """
    if not recording:
        files = _newest(suite_directory, eval_file)
        answers = RecordedAnswers(files, "the newest results of this suite")
        if answers.first() is None:
            raise ExecutorError(
                "this suite has no results to replay; run it first, or name a file in `config.recording`"
            )
        return answers
    within = suite_boundary(suite_directory)
    try:
        path = within.first(recording, [suite_directory / recording], "config.recording")
    except FileError as error:
        raise ExecutorError(error.why) from None
    if path.is_dir():
        places = _newest_first(filter(within.holds, path.rglob("*.json")))
        files = (file for place in places if (file := _file_or_none(place)) is not None)
    else:
        try:
            files = iter([_file(path)])
        except RecordingError as error:
            raise ExecutorError(f"`config.recording`: {str(error).rstrip('.')}") from None
    answers = RecordedAnswers(files, f"`{recording}`")
    if answers.first() is None:
        raise ExecutorError(f"`config.recording`: there is no recording in the directory {path}")
    return answers


def workspace_of(trial: TrialOutcome) -> Path | None:
    """Return the workspace that was kept by this engine, None when it no longer exists."""
    return known_workspace(trial.workspace)


def _newest(suite_directory: Path, eval_file: str) -> Iterator[RecordedFile]:
    places = [*results_directory(suite_directory).glob("*.json")]
    places += [*(suite_directory / "results").rglob("*.json")]
    places += [place for name in _UPSTREAM if (place := suite_directory / name).is_file()]
    for place in _newest_first(filter(suite_boundary(suite_directory).holds, places)):
        file = _file_or_none(place)
        if file is None or (eval_file and file.eval_file not in ("", eval_file)):
            continue
        # A replay adds nothing to its source.
        if not replays(file.executor):
            yield file


def _newest_first(places: Iterator[Path]) -> list[Path]:
    """Return the newest files, the newest first."""
    dated: list[tuple[float, str, Path]] = []
    for place in places:
        try:
            if place.is_file() and not place.name.startswith("."):
                dated.append((place.stat().st_mtime, place.name, place))
        except OSError:
            continue
    return [place for *_, place in sorted(dated, reverse=True)[:_MOST_LISTED]]


def _file_or_none(path: Path) -> RecordedFile | None:
    try:
        return _file(path)
    except RecordingError:
        return None


def _file(path: Path) -> RecordedFile:
    document = read_document(path) if path.is_file() else None
    if document is not None and isinstance(document.get("task_id"), str) and "tasks" not in document:
        return _transcript(path, with_attachments(document, path))
    if document is not None and document.get("kind") == "task-snapshot":
        return snapshot_in(path, document)
    recording = read_recording(path)
    header = recording.header
    outcomes = {task.id: [trial.outcome for trial in task.trials] for task in recording.tasks}
    return RecordedFile(
        path,
        {
            task: {trial.number: trial for trial in trials if not trial.stopped}
            for task, trials in outcomes.items()
        },
        {
            trigger.prompt: trigger
            for trigger in map(
                trigger_of, blocks_of(with_attachments(recording.document.get("trigger_results"), path))
            )
        },
        header.skill,
        header.executor,
        recording.eval_file,
        cut_short=frozenset(
            task for task, trials in outcomes.items() if any(each.stopped for each in trials)
        ),
        of_rows=OF_ROWS in header.settings,
    )


def _transcript(path: Path, document: Block) -> RecordedFile:
    """Return the last trial: the transcript of a file is that of all trials, one after the other."""
    listed = document.get("transcript")
    events = cast("list[Any]", listed) if isinstance(listed, list) else []
    prompt = document.get("prompt")
    starts = [
        position
        for position, event in enumerate(events)
        if isinstance(event, Mapping)
        and cast("Block", event).get("type") == "user.message"
        and cast("Block", event).get("content") == prompt
    ]
    run = {
        "run_number": 1,
        "status": document.get("status"),
        "final_output": document.get("final_output"),
        "transcript": events[starts[-1] :] if starts else events,
        "session_digest": document.get("session"),
        "validations": document.get("validations"),
        "duration_ms": document.get("duration_ms") if len(starts) < 2 else _duration_ms(events[starts[-1] :]),
        "error_msg": document.get("error_msg"),
    }
    return _single(path, str(document.get("task_id")), run)


def snapshot_in(path: Path, document: Block) -> RecordedFile:
    """Return the one trial of a file of upstream's whose ``kind`` is ``task-snapshot``."""
    task, result = block_of(document, "task"), block_of(document, "result")
    listed = document.get("toolEvents")
    events = cast("list[Any]", listed) if isinstance(listed, list) else []
    nothing: Block = {}
    run: Block = {
        "run_number": task.get("runNumber"),
        "status": result.get("status"),
        "final_output": result.get("finalOutput"),
        "tool_events": [
            {_CAMEL.sub(r"_\1", key).lower(): value for key, value in cast("Block", event).items()}
            for event in events
            if isinstance(event, Mapping)
        ],
        "session_digest": nothing,
        "validations": result.get("validations"),
        "duration_ms": result.get("durationMs"),
        "error_msg": result.get("errorMsg"),
    }
    return replace(_single(path, str(task.get("testId") or ""), run), single=True)


def _single(path: Path, task: str, run: Block) -> RecordedFile:
    trial = trial_of(run, 1)
    trial = replace(trial, skill_invocations=_skills_of(trial))
    return RecordedFile(path, {task: {trial.number: trial}})


def _skills_of(trial: TrialOutcome) -> list[SkillInvocation]:
    """Return the skills of a file that does not list them: from its events, else from its tool calls."""
    named = [
        SkillInvocation(str(event["name"]), str(event.get("path") or ""))
        for event in trial.events
        if event.get("type") == "skill.invoked" and event.get("name")
    ]
    return named or [
        SkillInvocation(str(call.arguments["skill"]))
        for call in trial.tool_calls or ()
        if call.name == "skill" and call.arguments.get("skill")
    ]


def _duration_ms(events: Sequence[Any]) -> int:
    times = [moment(found) for event in events if isinstance(found := find("$.timestamp", event), str)]
    return round((max(times) - min(times)).total_seconds() * 1000) if times else 0


_SESSION = re.compile(r"replay-(\d+)-(\d+)")
_FOLLOW_UP = re.compile(r"follow-up (\d+)(?:/\d+)?: ")
_CHECKPOINT = "the checkpoint after turn "
_MOST_FILES = 20_000


@register
class ReplayExecutor(Executor):
    """Answers with recorded turns."""

    name = "replay"
    costs = False

    def __init__(self, settings: ExecutorSettings) -> None:
        directory = settings.suite_directory
        self._answers = load_answers(settings.config.recording, directory, settings.eval_file)
        self._tested = _tested_skill(directory / "trigger_tests.yaml")
        newest = self._answers.first()
        trials = [trial for of in newest.trials.values() for trial in of.values()] if newest else []
        self.warnings: tuple[str, ...] = ()
        self._of_rows = newest is not None and newest.of_rows
        if trials and not self._of_rows and all(workspace_of(trial) is None for trial in trials):
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
        return replace(_answer(trial, turn, start, request), knows_files=not self._of_rows)

    def close(self) -> None:
        """Do nothing: nothing was started."""

    def _trigger(self, request: ExecutionRequest) -> ExecutionResponse:
        recorded, skill = self._answers.trigger(request.prompt)
        if recorded.error:
            raise ExecutorError(recorded.error)
        names = dict.fromkeys(name for name in (self._tested, request.skill or skill) if name)
        skills = [SkillInvocation(name) for name in names] if recorded.did_trigger else []
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
        output=trial.output if end == len(events) else _messages(events[start:end]),
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


def _messages(events: Sequence[Mapping[str, Any]]) -> str:
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
