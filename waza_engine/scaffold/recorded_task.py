"""Create a task from a record: the same prompt and files, expecting the recorded behaviour.

Nothing is invented: the prompt is the recorded one, tools are those that were called, and the required string
is part of the recorded answer. It is a draft: only its author knows which of that a good answer needs.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from waza_engine.masking import masked
from waza_engine.results.inputs import digest_of, inputs_of
from waza_engine.results.reading.newest_scores import latest_results
from waza_engine.results.reading.recordings import (
    RecordedTask,
    RecordedTrial,
    Recording,
    RecordingError,
    no_results_words,
    read_recording,
)
from waza_engine.runs.agent.workspace import WorkspaceError, prompt_of
from waza_engine.runs.loading.suite import SuiteError, SuiteTask, load_suite
from waza_engine.scaffold.files import (
    ScaffoldError,
    as_beside,
    free_name,
    original_text,
    restored,
    scalar,
    write_content,
    write_files,
)
from waza_engine.scaffold.task import TaskPlace, free_place
from waza_engine.scaffold.yaml_lists import with_item
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.suite_files import DISK, SuiteFiles
from waza_engine.spec.task_file import TaskFile

_LONGEST_BYTES = 1_000_000
_LONGEST_LINE = 100
# These keys decide how the task is executed, not how its answer is judged.
_CARRIED_OVER = {
    "inputs",
    "context_dir",
    "timeout_seconds",
    "first_event_timeout_seconds",
    "skill_directories",
    "instruction_files",
    "command_mocks",
    "requirements",
}


@dataclass(frozen=True, slots=True)
class SavedTask:
    """A new task: its file and content, and the changed eval file if no pattern matches the task."""

    path: Path
    text: str
    eval_file: tuple[Path, bytes] | None = None


def save_recorded(
    suite: Path, task: str, identifier: str, record: Path | None = None, trial: int | None = None
) -> list[Path]:
    """Write a task made of a recorded one and return the files that were written; all of them, or none.

    Without ``record`` it is the newest that has the task. Raises ``ScaffoldError``.
    """
    made = recorded_task(_recording(suite, task, record), suite, task, identifier, trial)
    files = write_files(made.path.parent, {made.path.name: made.text}, force=False)
    if made.eval_file is None:
        return files
    try:
        write_content(*made.eval_file)
    except ScaffoldError:
        with contextlib.suppress(OSError):
            made.path.unlink()
        raise
    return [*files, made.eval_file[0]]


def _recording(suite: Path, task: str, record: Path | None) -> Recording:
    if record is None:
        recorded = latest_results(suite.parent, eval_file=suite.name)
        found = None if recorded is None else recorded.tasks.get(task)
        if found is None or found.origin is None:
            raise ScaffoldError(no_results_words(f"The task `{task}`", suite.parent, "run it first"))
        record = found.origin.results
    try:
        return read_recording(record)
    except RecordingError as error:
        raise ScaffoldError(str(error)) from None


def recorded_task(
    recording: Recording, suite: Path, task: str, identifier: str, trial: int | None = None
) -> SavedTask:
    """Return a new task of a suite, made of a trial of a recorded one; nothing is written.

    Without ``trial`` it is the first that passed, else the first with an answer. Raises ``ScaffoldError``.
    """
    place = free_place(identifier, suite)
    recorded = next((one for one in recording.tasks if one.id == task), None)
    if recorded is None:
        raise ScaffoldError(f"{recording.path} holds no task `{task}`.")
    chosen = _trial(recorded, trial)
    source = _source(recording, place.suite, task)
    path = place.listed
    text = as_beside(place.suite, _text(source, chosen, identifier, _origin(recording, task, chosen), place))
    if place.file is not None:
        return SavedTask(path, text)
    return SavedTask(path, text, (place.suite, _listed(place.suite, path)))


def _trial(task: RecordedTask, wanted: int | None) -> RecordedTrial:
    answered = [trial for trial in task.trials if trial.gradable]
    if wanted is not None:
        answered = [trial for trial in answered if trial.outcome.number == wanted]
    if not answered:
        which = "no trial" if wanted is None else f"no trial {wanted}"
        raise ScaffoldError(f"The task `{task.id}` has {which} with a recorded answer.")
    return next((trial for trial in answered if trial.outcome.status == "passed"), answered[0])


def _source(recording: Recording, suite: Path, task: str) -> SuiteTask:
    """Return the task as it was when it was recorded, as far as the record has its text."""
    try:
        found = load_suite(suite, disabled=True, files=_files_then(recording, suite))
    except (SuiteFileError, SuiteError) as error:
        raise ScaffoldError(f"{str(error).rstrip('.')}.") from None
    source = next((one for one in found.tasks if one.id == task and one.task is not None), None)
    if source is None:
        raise ScaffoldError(f"{suite} has no task `{task}` any more, and the record does not hold it.")
    return source


def _files_then(recording: Recording, suite: Path) -> SuiteFiles:
    inputs = inputs_of(recording.path, recording.header.inputs)
    digests = {file.path: file.sha256 for file in inputs.files}
    then: dict[Path, str] = {}
    for name, text in inputs.texts.items():
        path = suite.parent / name
        if path.suffix in (".yaml", ".yml"):
            try:
                same = digest_of(DISK.bytes_of(path, _LONGEST_BYTES)) == digests.get(name)
            except OSError:
                same = False
            if not same:
                then[path] = text
    return DISK.overlaid(then)


def _text(source: SuiteTask, trial: RecordedTrial, identifier: str, origin: str, place: TaskPlace) -> str:
    assert source.task is not None
    outcome = trial.outcome
    written = source.task.model_dump(mode="json", exclude_unset=True, include=_CARRIED_OVER)
    inputs: dict[str, Any] = dict(written.pop("inputs", {}))
    inputs.pop("prompt_file", None)
    asked = next(_asked(outcome.events), "") or _prompt(source, source.task)
    block = {"inputs": {"prompt": masked(asked), **_without(inputs, "prompt")}, **written}
    line = _literal(outcome.output)
    tools = list(dict.fromkeys(call.name for call in outcome.tool_calls or () if call.name.strip()))
    if not line and not tools:
        raise ScaffoldError(f"The recorded answer of `{source.id}` says nothing and calls no tool.")
    parts = [f"id: {scalar(identifier)}\nname: {scalar(identifier)}\n", _yaml(block), f"# {origin}\n"]
    parts[-1] += "# Keep what a good answer must do, and leave out the rest.\n"
    if line:
        parts[-1] += _yaml({"expected": {"output_contains": [line]}})
    if tools:
        grader = {
            "type": "behavior",
            "name": free_name("uses_the_tools", place.graders),
            "config": {"required_tools": tools},
        }
        parts[-1] += _yaml({"graders": [grader]})
    return "\n".join(parts)


def _asked(events: Any) -> Iterator[str]:
    """Yield the agent's prompts, as far as they are recorded."""
    for event in events:
        content = event.get("content")
        if event.get("type") == "user.message" and isinstance(content, str) and content.strip():
            yield content


def _prompt(source: SuiteTask, task: TaskFile) -> str:
    try:
        return prompt_of(task, source.path)
    except WorkspaceError as error:
        raise ScaffoldError(f"{error}.") from None


def _literal(output: str) -> str:
    """Return the beginning of the first usable line of an answer, "" when there is none."""
    for line in output.splitlines():
        text = line.strip()
        if any(character.isalnum() for character in text) and masked(text) == text:
            short = text[: _LONGEST_LINE + 1]
            return text if len(text) <= _LONGEST_LINE else short.rpartition(" ")[0] or short[:-1]
    return ""


def _origin(recording: Recording, task: str, trial: RecordedTrial) -> str:
    header = recording.header
    day = header.started.date().isoformat()
    by = f" by {header.executor}" if header.executor else ""
    return " ".join(f"Recorded in trial {trial.outcome.number} of {scalar(task)}, {day}{by}.".split())


def _listed(eval_file: Path, path: Path) -> bytes:
    """Return the eval file with the task in its list."""
    name = Path(os.path.relpath(path, eval_file.parent)).as_posix()
    try:
        text, mark = original_text(eval_file)
        extended = with_item(text, "tasks", f"- {scalar(name)}\n", eval_file)
    except SuiteFileError as error:
        raise ScaffoldError(f"{str(error).rstrip('.')}.") from None
    if extended is None:
        raise ScaffoldError(f"`tasks` of {eval_file} cannot be extended; add `- {name}` to it first.")
    return restored(extended, mark)


def _without(block: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in block.items() if name != key}


def _yaml(value: object) -> str:
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=100)
