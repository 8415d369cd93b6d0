"""A grader to start from: the example of its type under a name of its own, or a grader file."""

from __future__ import annotations

import textwrap
from pathlib import Path

from waza_engine.graders.base import GraderError
from waza_engine.graders.registry import create, grader_type
from waza_engine.runs.loading.discovery import eval_file_of, suite_of_task
from waza_engine.runs.loading.suite_on_disk import SuiteError
from waza_engine.runs.trials.triggers import FILE_NAME as TRIGGER_FILE
from waza_engine.scaffold.composing import load_yaml, to_yaml, with_item
from waza_engine.scaffold.file_changes import (
    ScaffoldError,
    free_name,
    mark_executable,
    original_text,
    restored,
    slug,
    write_files,
)
from waza_engine.scaffold.grader_patterns import EXECUTABLE, grader_source
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.scalars import Json
from waza_engine.spec.reading.yaml_reader import parse_yaml

_FOLDER = "graders"
"""The folder of grader files, next to the eval file."""


def grader_entry(type_name: str, name: str = "", file: str = "") -> str:
    """Return the YAML of a grader, a list item from column 0; ``file`` is the one of an ``inline`` grader.

    Raises ``ScaffoldError`` for a type that is not known.
    """
    try:
        grader = grader_type(type_name)
    except GraderError as error:
        raise ScaffoldError(f"{error}.") from None
    example = textwrap.dedent(grader.example).strip() + "\n"
    entry = _changed(example, name, file) if name or file else example
    create(_entry(entry))
    return entry


def with_grader(file: Path, type_name: str, name: str = "", grader_file: str = "") -> tuple[Path, bytes, str]:
    """Return an eval or task file, its content with one more grader, and the grader's name.

    A directory means its eval file. ``grader_file`` is the file of an ``inline`` grader.

    Without ``name`` that is the one of the example, with a number when the file has one of that name. Raises
    ``ScaffoldError``; nothing is written.
    """
    try:
        path = eval_file_of(file)
        text, mark = original_text(path)
        found = parse_yaml(text, path).value
    except (SuiteFileError, SuiteError) as error:
        raise ScaffoldError(f"{str(error).rstrip('.')}.") from None
    if path.stem == Path(TRIGGER_FILE).stem:
        raise ScaffoldError(f"{path} holds trigger tests, which have no graders; take the eval file.")
    taken = _names(found)
    if name in taken:
        raise ScaffoldError(f"{path} has a grader `{name}` already.", "Choose another --name.")
    chosen = name or free_name(str(_entry(grader_entry(type_name))["name"]), taken)
    item = grader_entry(type_name, chosen, grader_file)
    extended = with_item(text, "graders", item, path)
    if extended is None:
        raise ScaffoldError(
            f"`graders` of {path} is written in a way that cannot be extended safely.",
            "Leave --to out and paste what is printed.",
        )
    return path, restored(extended, mark), chosen


def grader_file(to: Path | None, name: str, language: str) -> Path:
    """Return the place of a new grader file, from where the graders of an eval or task file name it.

    Without one that is the working directory. Raises ``ScaffoldError``.
    """
    try:
        path = Path("eval.yaml") if to is None else eval_file_of(to)
        task = suite_of_task(path)
    except SuiteError as error:
        raise ScaffoldError(f"{str(error).rstrip('.')}.") from None
    suite = path if task is None else task[0]
    return suite.parent / _FOLDER / f"{slug(name, 'grader')}.{language}"


def write_grader_file(file: Path, kind: str, *, force: bool) -> None:
    """Write a grader file of a kind. Raises ``ScaffoldError``; nothing is written then."""
    language = file.suffix[1:]
    write_files(file.parent, {file.name: grader_source(kind, language)}, force=force)
    if language in EXECUTABLE:
        mark_executable(file)


def _entry(item: str) -> dict[str, Json]:
    entries = parse_yaml(item, Path("example.yaml")).value
    assert isinstance(entries, list)
    entry = entries[0]
    assert isinstance(entry, dict)
    return entry


def _changed(example: str, name: str, file: str) -> str:
    entries = load_yaml(example)
    entries[0]["name"] = name or entries[0]["name"]
    if file:
        entries[0]["config"]["grader"] = file
    return to_yaml(entries)


def _names(document: Json) -> set[str]:
    graders = document.get("graders") if isinstance(document, dict) else None
    entries = graders if isinstance(graders, list) else []
    return {str(entry.get("name") or entry.get("type")) for entry in entries if isinstance(entry, dict)}
