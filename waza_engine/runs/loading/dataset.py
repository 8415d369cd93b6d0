"""Tasks from one file (``tasks_from`` and ``range``): the rows of a CSV file, or the lines of a JSONL file.

In a CSV file the columns ``id``, ``name`` and ``prompt`` make the task; every column and every input of the
suite is a value in the prompt. A row without an id is called by its number in the
file, so it keeps its name when ``range`` changes.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from waza_engine.boundary import suite_boundary
from waza_engine.counting import counted, in_seconds
from waza_engine.runs.loading.templates import TemplateData, TemplateError, render
from waza_engine.spec.eval_file import EvalFile
from waza_engine.spec.explain import location_of, sentence
from waza_engine.spec.harness_files import ROW_SUFFIXES
from waza_engine.spec.limits import MILLISECONDS
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.csv_table import Row, TableError, read_table
from waza_engine.spec.reading.json_reader import parse_json
from waza_engine.spec.reading.suite_reader import DISK, SuiteFiles
from waza_engine.spec.reading.yaml_reader import read_text
from waza_engine.spec.task_file import TaskFile, TaskInputs
from waza_engine.spec.trigger_tests import PromptLine

ItemT = TypeVar("ItemT")


@dataclass(frozen=True, slots=True)
class DatasetTask:
    """A row as a task; ``task`` is None when its prompt cannot be filled in, and ``error`` says why."""

    id: str
    name: str
    task: TaskFile | None
    error: str = ""


@dataclass(frozen=True, slots=True)
class Dataset:
    """The chosen rows of a file. ``warnings`` name parts without effect."""

    path: Path
    tasks: Sequence[DatasetTask]
    warnings: Sequence[str]


def load_dataset(eval_path: Path, spec: EvalFile, files: SuiteFiles = DISK) -> Dataset:
    """Return the tasks of ``tasks_from`` that lie in ``range``.

    Raises ``SuiteFileError`` for a file outside the suite's directory, or one that is not a table.
    """
    path = _place(eval_path, spec.tasks_from)
    warnings = [f"{eval_path}: `tasks` has no effect next to `tasks_from`"] if spec.tasks else []
    if path.suffix.lower() in ROW_SUFFIXES:
        found, complaints = prompt_tasks(path, files)
        prompts = _chosen(found, spec, path, "line", "; write one JSON object a line")
        tasks = [DatasetTask(task.id, task.name, task) for task in prompts]
        return Dataset(path, tasks, [*warnings, *complaints])
    chosen = _chosen(_rows(path, warnings, files), spec, path, "row", ", only a header")
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    fields = {"JobID": f"run-{int(time.time())}", "Iteration": 0, "Attempt": 0, "Timestamp": now}
    return Dataset(path, [_task(path, row, spec.inputs, fields) for row in chosen], warnings)


def _chosen(items: Sequence[ItemT], spec: EvalFile, path: Path, item: str, empty: str) -> Sequence[ItemT]:
    """Return the items that lie in ``range``, which counts from 1. Raises ``SuiteFileError``."""
    first, last = spec.range if len(spec.range) == 2 else (0, 0)
    chosen = items[first - 1 : last] if first > 0 else items
    if not chosen:
        asked = f"; `range` starts at {item} {first} of {len(items)}" if items else empty
        raise SuiteFileError(path, 1, f"the dataset has no tasks{asked}")
    return chosen


def _place(eval_path: Path, written: str) -> Path:
    directory = eval_path.parent
    try:
        path = directory / written
        inside = path.resolve().is_relative_to(directory.resolve())
    except (OSError, RuntimeError, ValueError):
        inside = False
    if not inside:
        message = f"`tasks_from`: `{written}` does not lie inside {directory}; move the dataset there"
        raise SuiteFileError(eval_path, 1, message)
    return directory / written


def _rows(path: Path, warnings: list[str], files: SuiteFiles) -> Sequence[Row]:
    try:
        table = read_table(read_text(path, within=suite_boundary(path.parent), files=files))
    except TableError as fault:
        raise SuiteFileError(path, fault.line, fault.message) from None
    warnings += [f"{path}:{line}: {warning}" for line, warning in table.warnings]
    return table.rows


def _task(path: Path, row: Row, inputs: Mapping[str, str], fields: Mapping[str, str | int]) -> DatasetTask:
    cells = row.cells
    name = cells.get("name") or f"row-{row.number}"
    identifier = cells.get("id") or name
    data = TemplateData({"TaskName": name, **fields}, {**inputs, **cells})
    try:
        prompt = render(cells["prompt"], data)
        why = "" if prompt.strip() else "nothing is left of it with the values of this row"
    except TemplateError as error:
        prompt, why = "", str(error)
    if why:
        message = f"{path}:{row.line}: the prompt cannot be filled in: {why}."
        return DatasetTask(identifier, name, None, message)
    return DatasetTask(identifier, name, TaskFile(id=identifier, name=name, inputs=TaskInputs(prompt=prompt)))


_OLDER_HINT = "expected"
_MOST_LINES_NAMED = 10
_HALF = re.compile(r"\\u[dD][89a-fA-F]")


def prompt_tasks(path: Path, files: SuiteFiles = DISK) -> tuple[list[TaskFile], list[str]]:
    """Return the tasks of a file in order, and warnings about parts without effect.

    Lines are counted as an editor counts them, from 1; blank ones are skipped. Raises ``SuiteFileError`` that
    names the lines that are not prompts or have the id of another line: results are joined by it.
    """
    tasks: list[TaskFile] = []
    warnings: list[str] = []
    lines_of: dict[str, int] = {}
    faults: list[tuple[int, str]] = []
    for number, line in _lines(path, files):
        prompt = _prompt(path, number, line, warnings)
        if isinstance(prompt, str):
            faults.append((number, prompt))
        elif (first := lines_of.setdefault(prompt.id, number)) != number:
            faults.append((number, f"the id `{prompt.id}` is taken by line {first}; each line needs its own"))
        else:
            tasks.append(task_of_line(prompt))
    if faults:
        raise SuiteFileError(path, faults[0][0], _listed(faults))
    return tasks, warnings


def _listed(faults: Sequence[tuple[int, str]]) -> str:
    """Return the first faults as one sentence; the line of the first one is known."""
    (_, first), *others = faults[:_MOST_LINES_NAMED]
    more = len(faults) - _MOST_LINES_NAMED
    last = [f"and in {counted(more, 'more line')}"] if more > 0 else []
    return "; ".join((first, *(f"line {number}: {message}" for number, message in others), *last))


def _lines(path: Path, files: SuiteFiles) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(
        read_text(path, within=suite_boundary(path.parent), files=files).split("\n"), 1
    ):
        if line.strip():
            yield number, line


def _prompt(path: Path, number: int, line: str, warnings: list[str]) -> PromptLine | str:
    """Return the prompt in a line, or why there is none."""
    try:
        block = parse_json(line, path).value
    except SuiteFileError as error:
        return error.message
    if not isinstance(block, dict):
        return 'the line must be a JSON object: `{"id": "…", "input": "…"}`'
    if _HALF.search(line) and not _is_text(block):
        return "a `\\u` escape is half of a character; write the character itself, or both halves"
    if isinstance(block.get(_OLDER_HINT), str) and "hint" not in block:
        warnings.append(f"{path}:{number}: `expected` is the older name of `hint`; write `hint`")
        block["hint"] = block.pop(_OLDER_HINT)
    ignored: list[str] = []
    try:
        prompt = PromptLine.model_validate(block, context={"warnings": ignored})
    except ValidationError as error:
        return _all_findings(error, block)
    if prompt.timeout is not None and prompt.timeout < MILLISECONDS:
        ignored.append(_about_timeout(prompt.timeout))
    warnings += [f"{path}:{number}: {warning}" for warning in ignored]
    return prompt


def _is_text(value: object) -> bool:
    """Return whether all strings in a value of JSON can be written to a file."""
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _about_timeout(timeout: float) -> str:
    if timeout <= 0:
        return "`timeout` has no effect: it is not greater than 0"
    return f"`timeout` is in milliseconds; write `{timeout * MILLISECONDS:g}` for {in_seconds(timeout)}"


def _all_findings(error: ValidationError, block: Mapping[str, Any]) -> str:
    """Return every finding, one for each key: that of each form of `input` is only half the truth."""
    found: dict[str, str] = {}
    for finding in error.errors(include_url=False):
        location = location_of(finding, block)
        key = str(location[0]) if location else ""
        found[key] = sentence(finding, location, as_json=True)
    if "input" in found and "input" in block:
        found["input"] = "`input` must be a string that is not blank, or a list of such strings"
    return "; ".join(found.values())


def task_of_line(prompt: PromptLine) -> TaskFile:
    """Return a prompt as a task; its category is a tag."""
    first, *further = (prompt.input,) if isinstance(prompt.input, str) else prompt.input
    category = prompt.metadata.get("category")
    timeout_ms = prompt.timeout or 0
    return TaskFile(
        id=prompt.id,
        name=prompt.id,
        tags=(category,) if isinstance(category, str) and category else (),
        timeout_seconds=max(1, math.ceil(timeout_ms / 1000)) if timeout_ms > 0 else None,
        hint=prompt.hint,
        reference=prompt.reference,
        metadata=prompt.metadata,
        inputs=TaskInputs(prompt=first, follow_up_prompts=tuple(further)),
    )
