"""A run as GitHub Actions shows it: annotations on standard output, the summary of the step in its file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

from waza_engine.files import opened_to_append
from waza_engine.masking import masked
from waza_engine.results.codec.runs import run_of
from waza_engine.results.conclusion import conclude
from waza_engine.results.json_values import Block
from waza_engine.results.reports.github import Place, github_annotations
from waza_engine.results.reports.markdown import markdown_report
from waza_engine.results.writing.store import clear_errors
from waza_engine.runs.loading.suite import Suite, SuiteError, load_suite
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.yaml_reader import YamlFile, read_yaml_file

_LEVELS = 4


def github_report(document: Block, suite: Path | None, *, fail_under: float | None = None) -> bytes:
    """Return the annotations of a result document in today's layout, and write the summary of the step.

    ``suite`` is the eval file, None when it is not known. The summary goes to the end of the file that
    ``$GITHUB_STEP_SUMMARY`` names, if any. Raises ``ResultsError``.
    """
    run = run_of(document)
    found = conclude(run, fail_under=fail_under)
    eval_file = _shown(suite) if suite is not None else run.header.eval_file
    places = _Places(suite, eval_file)
    append_summary(markdown_report(document, fail_under=fail_under))
    return masked("".join(github_annotations(found, eval_file, places.of))).encode("utf-8", "replace")


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


class _Places:
    """Where tasks and graders are written; what cannot be read is at the top of the suite."""

    def __init__(self, suite: Path | None, eval_file: str) -> None:
        self._eval_file = eval_file
        self._read: dict[Path, YamlFile | None] = {}
        self._suite: Suite | None = None
        if suite is not None:
            try:
                self._suite = load_suite(suite)
            except (SuiteError, SuiteFileError):
                self._suite = None

    def of(self, task: str, grader: str) -> Place:
        """Return the place of a task, or of a grader that it has itself or shares with the others."""
        if self._suite is None:
            return Place(self._eval_file)
        path = next((found.path for found in self._suite.tasks if found.id == task), self._suite.path)
        own = self._yaml(path)
        if grader and own is not None:
            for file, place in ((own, path), (self._yaml(self._suite.path), self._suite.path)):
                if file is not None and (line := _grader_line(file, grader, task)):
                    return Place(_shown(place), line)
        return Place(_shown(path), 1 if own is None else _task_line(own, task))

    def _yaml(self, path: Path) -> YamlFile | None:
        if path not in self._read:
            try:
                self._read[path] = read_yaml_file(path) if path.suffix in (".yaml", ".yml") else None
            except SuiteFileError:
                self._read[path] = None
        return self._read[path]


def _task_line(file: YamlFile, task: str) -> int:
    """Return the line of a task that is written in the suite itself, or that of its id in its own file."""
    for location, entry in _entries(file.value, "tasks", ()):
        if task in (entry.get("id"), entry.get("name")):
            return file.line_of(location)
    return file.line_of(("id",))


def _grader_line(file: YamlFile, grader: str, task: str) -> int:
    """Return the line of a grader of a file, 0 when it has none of this name (or of this type, unnamed)."""
    written = [
        found
        for location, entry in _entries(file.value, "tasks", ())
        if task in (entry.get("id"), entry.get("name"))
        for found in _entries(entry, "graders", location)
    ]
    for location, entry in (*written, *_entries(file.value, "graders", ())):
        if grader == (entry.get("name") or entry.get("type")):
            return file.line_of(location)
    return 0


def _entries(
    value: object, key: str, location: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], Block]]:
    """Yield the blocks of a list of a document with where they are."""
    found = cast("Block", value).get(key) if isinstance(value, Mapping) else None
    entries = cast("list[object]", found) if isinstance(found, list) else []
    for position, entry in enumerate(entries):
        if isinstance(entry, Mapping):
            yield (*location, key, position), cast("Block", entry)


def _shown(path: Path) -> str:
    """Return a path as GitHub knows it: below the repository, or below the folder of the start."""
    place = path.resolve()
    for root in (os.environ.get("GITHUB_WORKSPACE"), os.curdir):
        if root and place.is_relative_to(Path(root).resolve()):
            return place.relative_to(Path(root).resolve()).as_posix()
    return place.as_posix()
