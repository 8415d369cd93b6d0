"""Create a task from a record: the same prompt and files, expecting the recorded behaviour.

Nothing is invented: the prompt is the recorded one, tools are those that were called, and the required string
is part of the recorded answer. It is a draft: only its author knows which of that a good answer needs.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from waza_engine.masking import masked
from waza_engine.results.inputs import digest_of, inputs_of
from waza_engine.results.reading.missing_results import describe_missing_results
from waza_engine.results.reading.newest_scores import latest_results
from waza_engine.results.reading.recordings import (
    RecordedTask,
    RecordedTrial,
    Recording,
    RecordingError,
    read_recording,
)
from waza_engine.runs.agent.trial_workspace import WorkspaceError, prompt_of
from waza_engine.runs.loading.suite_on_disk import SuiteError, SuiteTask, load_suite
from waza_engine.scaffold.composing import load_yaml, string_node, to_yaml, value_of_key, with_item
from waza_engine.scaffold.file_changes import (
    ScaffoldError,
    as_beside,
    free_name,
    original_text,
    restored,
    write_content,
    write_files,
)
from waza_engine.scaffold.task import TaskLocation, unused_task_path
from waza_engine.spec.loading import canonical_task
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.suite_reader import DISK, SuiteFiles
from waza_engine.spec.reading.yaml_reader import parse_yaml
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
            raise ScaffoldError(describe_missing_results(f"The task `{task}`", suite.parent, "run it first"))
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
    place = unused_task_path(identifier, suite)
    recorded = next((one for one in recording.tasks if one.id == task), None)
    if recorded is None:
        raise ScaffoldError(f"{recording.path} holds no task `{task}`.")
    chosen = _trial(recorded, trial)
    files = _files_then(recording, place.suite)
    source = _source(files, place.suite, task)
    assert source.task is not None
    path = place.listed
    asked = next(_recorded_prompts(chosen.outcome.events), "") or _prompt(source, source.task)
    kept = _carried_over(source, identifier, masked(asked), files)
    text = as_beside(place.suite, _text(source, chosen, _origin(recording, task, chosen), place, kept))
    if place.file is not None:
        return SavedTask(path, text)
    return SavedTask(path, text, (place.suite, _eval_file_with(place.suite, path)))


def _trial(task: RecordedTask, wanted: int | None) -> RecordedTrial:
    answered = [trial for trial in task.trials if trial.gradable]
    if wanted is not None:
        answered = [trial for trial in answered if trial.outcome.number == wanted]
    if not answered:
        which = "no trial" if wanted is None else f"no trial {wanted}"
        raise ScaffoldError(f"The task `{task.id}` has {which} with a recorded answer.")
    return next((trial for trial in answered if trial.outcome.status == "passed"), answered[0])


def _source(files: SuiteFiles, suite: Path, task: str) -> SuiteTask:
    try:
        found = load_suite(suite, disabled=True, files=files)
    except (SuiteFileError, SuiteError) as error:
        raise ScaffoldError(f"{str(error).rstrip('.')}.") from None
    source = next((one for one in found.tasks if one.id == task and one.task is not None), None)
    if source is None:
        raise ScaffoldError(f"{suite} has no task `{task}` any more, and the record does not hold it.")
    return source


def _files_then(recording: Recording, suite: Path) -> SuiteFiles:
    """Return the files as they were when the run was recorded, as far as the record has their text."""
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


def _text(source: SuiteTask, trial: RecordedTrial, origin: str, place: TaskLocation, kept: Any) -> str:
    """Return the new task: ``kept`` of the source, and what was recorded."""
    outcome = trial.outcome
    line = _literal(outcome.output)
    tools = list(dict.fromkeys(call.name for call in outcome.tool_calls or () if call.name.strip()))
    if not line and not tools:
        raise ScaffoldError(f"The recorded answer of `{source.id}` says nothing and calls no tool.")
    recorded: dict[str, Any] = {}
    if line:
        recorded["expected"] = {"output_contains": [line]}
    if tools:
        name = free_name("uses_the_tools", place.graders)
        recorded["graders"] = [{"type": "behavior", "name": name, "config": {"required_tools": tools}}]
    note = f"# {origin}\n# Keep what a good answer must do, and leave out the rest.\n"
    return f"{to_yaml(kept).rstrip()}\n\n{note}{to_yaml(recorded)}"


def _carried_over(source: SuiteTask, identifier: str, prompt: str, files: SuiteFiles) -> Any:
    """Return the keys of a task that its copy keeps, with the comments that the file has about them."""
    assert source.task is not None
    model = source.task.model_dump(mode="json", exclude_unset=True, include=_CARRIED_OVER)
    inputs: dict[str, Any] = {"prompt": prompt, **model.pop("inputs", {})}
    inputs.pop("prompt_file", None)
    plain: dict[str, Any] = {"id": identifier, "name": identifier, "inputs": {**inputs, "prompt": prompt}}
    plain |= model
    try:
        commented = load_yaml(_carried_over_lines(source, files))
        commented["inputs"].fa.set_block_style()
        commented["inputs"].pop("prompt_file", None)
        commented["inputs"]["prompt"] = string_node(prompt)
        for place, key in enumerate(("id", "name")):
            if key not in commented:
                commented.insert(place, key, "")
            commented[key] = string_node(identifier)
        again = parse_yaml(to_yaml(commented), source.path).value
        if _task_of(again) == _task_of(plain):
            return commented
    except (yaml.YAMLError, SuiteFileError, OSError, ValueError, KeyError, AttributeError, TypeError):
        pass  # a row of a dataset, or YAML that the other reader takes differently
    return plain


def _task_of(data: object) -> TaskFile:
    return canonical_task(TaskFile.model_validate(data))


def _carried_over_lines(source: SuiteTask, files: SuiteFiles) -> str:
    """Return the lines of the keys that are kept, each with the comments above it, from column 0.

    Raises ``ValueError`` when the task is not a block of keys.
    """
    text = files.text_of(source.path, _LONGEST_BYTES)
    task = _task_node(yaml.compose(text, Loader=yaml.SafeLoader), source.id)
    if task is None or task.flow_style:
        raise ValueError(source.path)
    lines, column = text.splitlines(), task.start_mark.column
    # A file may begin with comments; those above an item of a list are about the whole item.
    first = task.start_mark.line if column else 0
    pairs: list[tuple[yaml.Node, yaml.Node]] = task.value
    starts = [_with_comments(lines, key.start_mark.line, first) for key, _ in pairs]
    end = task.end_mark.line
    ends = [*starts[1:], len(lines) if end >= len(lines) - 1 else _with_comments(lines, end, starts[-1])]
    kept = [
        line
        for (key, _), start, end in zip(pairs, starts, ends, strict=True)
        if key.value in {"id", "name", *_CARRIED_OVER}
        for line in lines[start:end]
    ]
    # The dash of an item is on its first line.
    return "\n".join(line[:column].replace("-", " ").lstrip() + line[column:] for line in kept)


def _with_comments(lines: Sequence[str], line: int, first: int) -> int:
    """Return where the comments and blank lines above a line begin."""
    while line > first and lines[line - 1].lstrip()[:1] in ("", "#"):
        line -= 1
    return line


def _task_node(root: yaml.Node | None, identifier: str) -> yaml.MappingNode | None:
    """Return the node of a task file, or of the task of that id in an eval file."""
    if not isinstance(root, yaml.MappingNode):
        return None
    tasks = value_of_key(root, "tasks")
    if not isinstance(tasks, yaml.SequenceNode):
        return root
    items = [item for item in tasks.value if isinstance(item, yaml.MappingNode)]
    named = ((item, value_of_key(item, "id")) for item in items)
    return next((item for item, name in named if name is not None and name.value == identifier), None)


def _recorded_prompts(events: Any) -> Iterator[str]:
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
    return " ".join(f"Recorded in trial {trial.outcome.number} of {task}, {day}{by}.".split())


def _eval_file_with(eval_file: Path, path: Path) -> bytes:
    """Return the eval file with the task in its list."""
    name = Path(os.path.relpath(path, eval_file.parent)).as_posix()
    try:
        text, mark = original_text(eval_file)
        extended = with_item(text, "tasks", to_yaml([name]), eval_file)
    except SuiteFileError as error:
        raise ScaffoldError(f"{str(error).rstrip('.')}.") from None
    if extended is None:
        raise ScaffoldError(f"`tasks` of {eval_file} cannot be extended; add `- {name}` to it first.")
    return restored(extended, mark)
