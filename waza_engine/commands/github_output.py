"""A run as GitHub Actions shows it: annotations on standard output, the summary of the step in its file."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias, cast

from waza_engine.boundary import path_in_repository
from waza_engine.files import opened_to_append, read_text
from waza_engine.masking import masked, masked_across
from waza_engine.results.codec.run_documents import run_of
from waza_engine.results.conclusion import conclude
from waza_engine.results.json_values import Block
from waza_engine.results.reports.github import SourceLocation, github_annotations
from waza_engine.results.reports.markdown_report import markdown_report
from waza_engine.results.writing.store import clear_errors
from waza_engine.runs.loading.suite_on_disk import Suite, SuiteError, load_suite
from waza_engine.runs.trials.triggers import trigger_file
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.json_reader import parse_json
from waza_engine.spec.reading.yaml_reader import YamlFile, read_yaml_file
from waza_engine.spec.reading.yaml_reader import read_text as read_suite_text
from waza_engine.vocabulary import EXPECTED_LISTS, checkpoint_grader

_LEVELS = 4
_TASK_LISTS = ("tasks", "evals", "stimuli")
_LONGEST_LIST = 10_000_000

_Location: TypeAlias = "tuple[str | int, ...]"


def github_report(document: Block, suite: Path | None, *, fail_under: float | None = None) -> bytes:
    """Return the annotations of a result document in the current layout, and write the summary of the step.

    ``suite`` is the eval file, None when it is not known. The summary goes to the end of the file that
    ``$GITHUB_STEP_SUMMARY`` names, if any. Raises ``ResultsError``.
    """
    document = masked_across(document)
    run = run_of(document)
    found = conclude(run, fail_under=fail_under)
    eval_file = path_in_repository(suite) if suite is not None else run.header.eval_file
    places = SuiteLocations(suite, eval_file)
    written = _Written(run.header.run_id)
    summary = markdown_report(document, fail_under=fail_under)
    if written.is_new(summary) and append_summary(summary):
        written.add(summary)
    lines = [line for line in github_annotations(found, eval_file, places) if written.is_new(line)]
    written.add(*lines)
    return masked("".join(lines)).encode("utf-8", "replace")


class _Written:
    """Remembers the output of earlier commands of the same job about a run, so that it is not repeated.

    ``$RUNNER_TEMP`` is emptied before each job, so that the list of digests in it is about this one alone.
    """

    def __init__(self, run_id: str) -> None:
        folder = os.environ.get("RUNNER_TEMP")
        self._file = (
            Path(folder, "waza-annotations.txt") if folder and os.environ.get("GITHUB_ACTIONS") else None
        )
        self._run_id = run_id
        self._digests: set[str] = set()
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._digests = set(read_text(self._file, _LONGEST_LIST).split())

    def is_new(self, text: str) -> bool:
        """Return whether this was not written yet."""
        return self._digest(text) not in self._digests

    def add(self, *texts: str) -> None:
        """Remember what was written; where that is not possible, a later command writes it again."""
        if self._file is not None and texts:
            with contextlib.suppress(OSError), opened_to_append(self._file) as file:
                file.write("".join(f"{self._digest(text)}\n" for text in texts).encode())

    def _digest(self, text: str) -> str:
        return sha256(f"{self._run_id}\0{text}".encode("utf-8", "replace")).hexdigest()


def append_summary(markdown: str) -> bool:
    """Add Markdown to the summary of the step; return False where there is none. Raises ``ResultsError``."""
    name = os.environ.get("GITHUB_STEP_SUMMARY")
    if not name:
        return False
    with clear_errors(Path(name)), opened_to_append(Path(name)) as summary:
        summary.write(f"{masked(markdown)}\n".encode("utf-8", "replace"))
    return True


def suite_of_record(record: Path, eval_file: str) -> Path | None:
    """Return the eval file above a result file, None when it is not there (any more)."""
    name = Path(eval_file).name
    for folder in record.resolve().parents[:_LEVELS]:
        if name and (folder / name).is_file():
            return folder / name
    return None


class SuiteLocations:
    """The source locations of tasks, their graders and trigger prompts; the suite where unknown."""

    def __init__(self, suite: Path | None, eval_file: str) -> None:
        self._eval_file = eval_file
        self._read: dict[Path, YamlFile | int] = {}
        self._suite: Suite | None = None
        if suite is not None:
            try:
                self._suite = load_suite(suite)
            except (SuiteError, SuiteFileError):
                self._suite = None

    def of(self, task: str, grader: str) -> SourceLocation:
        """Return the place of a task, or of a grader that it has itself or shares with the others."""
        if self._suite is None:
            return SourceLocation(self._eval_file)
        found = next((each for each in self._suite.tasks if each.id == task), None)
        path, names = (self._suite.path, {task}) if found is None else (found.path, {task, found.name})
        own = self._yaml(path)
        if isinstance(own, int):
            return SourceLocation(path_in_repository(path), own)
        if grader:
            for file, place in ((own, path), (self._yaml(self._suite.path), self._suite.path)):
                if isinstance(file, YamlFile) and (line := _judging_line(file, grader, names)):
                    return SourceLocation(path_in_repository(place), line)
        # A task in the suite itself, or the id in its own file.
        location = next((location for location, _ in _placed_tasks(own, names)), ("id",))
        return SourceLocation(path_in_repository(path), own.line_of(location))

    def of_prompt(self, text: str, *, should_trigger: bool) -> SourceLocation:
        """Return the location of a trigger prompt in the file next to the suite."""
        path = trigger_file(self._suite) if self._suite is not None else None
        file = self._yaml(path) if path is not None and path.is_file() else None
        if path is None or not isinstance(file, YamlFile):
            return SourceLocation(self._eval_file)
        key = "should_trigger_prompts" if should_trigger else "should_not_trigger_prompts"
        listed = _entries({"evals": file.value} if isinstance(file.value, list) else file.value, "evals", ())
        for location, entry in (*_entries(file.value, key, ()), *listed):
            if text in (entry.get("prompt"), entry.get("query")):
                at = location[1:] if isinstance(file.value, list) else location
                return SourceLocation(path_in_repository(path), file.line_of(at))
        return SourceLocation(path_in_repository(path), 1)

    def _yaml(self, path: Path) -> YamlFile | int:
        """Return a file, or the line from which on it cannot be read: 0 when it is not YAML."""
        if path not in self._read:
            try:
                self._read[path] = (
                    read_yaml_file(path)
                    if path.suffix in (".yaml", ".yml")
                    else parse_json(read_suite_text(path), path)
                    if path.suffix == ".json"
                    else 0
                )
            except SuiteFileError as error:
                self._read[path] = error.line
        return self._read[path]


def _judging_line(file: YamlFile, name: str, task_names: Collection[str]) -> int:
    """Return the line of a task's grader by name, 0 when a file has none.

    A grader without a name has that of its type; one of a checkpoint is named by its turn.
    """
    for location, block in (*_placed_tasks(file, task_names), ((), file.value)):
        for place, found in _judging(block, location):
            if found == name:
                return file.line_of(place)
    return 0


def _judging(block: object, location: _Location) -> Iterator[tuple[_Location, str]]:
    """Yield the graders of a task, or all of a suite, with the name under which each is recorded."""
    for place, entry in _entries(block, "graders", location):
        yield place, str(entry.get("name") or entry.get("type"))
    for place, checkpoint in _entries(block, "checkpoints", location):
        for inner, entry in _entries(checkpoint, "graders", place):
            name = str(entry.get("name") or entry.get("type"))
            yield inner, checkpoint_grader(name, cast("int", checkpoint.get("after_turn")))
    expected: object = cast("Block", block).get("expected") if isinstance(block, Mapping) else None
    if isinstance(expected, Mapping):
        for key in EXPECTED_LISTS:
            if key in expected:
                yield (*location, "expected", key), f"_{key}"


def _placed_tasks(file: YamlFile, names: Collection[str]) -> Iterator[tuple[_Location, Block]]:
    """Yield the tasks of these ids or names that are written in the suite itself."""
    for location, entry in (each for key in _TASK_LISTS for each in _entries(file.value, key, ())):
        if str(entry.get("id")) in names or entry.get("name") in names:
            yield location, entry


def _entries(value: object, key: str, location: _Location) -> Iterator[tuple[_Location, Block]]:
    """Yield the blocks of a list of a document with where they are."""
    found = cast("Block", value).get(key) if isinstance(value, Mapping) else None
    entries = cast("list[object]", found) if isinstance(found, list) else []
    for position, entry in enumerate(entries):
        if isinstance(entry, Mapping):
            yield (*location, key, position), cast("Block", entry)
