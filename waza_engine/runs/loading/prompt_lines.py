"""Tasks from ``prompts.jsonl``: one a line, in the agent-eval-harness's form."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from waza_engine.boundary import suite_boundary
from waza_engine.spec.explain import location_of, sentence
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.json_reader import json_fault
from waza_engine.spec.reading.suite_files import DISK, SuiteFiles
from waza_engine.spec.reading.yaml_reader import read_text
from waza_engine.spec.task_file import TaskFile, TaskInputs
from waza_engine.spec.trigger_tests import PromptLine

SUFFIXES = (".jsonl", ".ndjson")
_OLDER_HINT = "expected"


def prompt_tasks(path: Path, files: SuiteFiles = DISK) -> tuple[list[TaskFile], list[str]]:
    """Return the tasks of a file in order, and warnings about parts without effect.

    Lines are counted as an editor counts them, from 1; blank ones are skipped. Raises ``SuiteFileError`` for
    the first line that is not a prompt, and for a duplicate id: results are joined by it.
    """
    tasks: list[TaskFile] = []
    warnings: list[str] = []
    lines_of: dict[str, int] = {}
    for number, line in _lines(path, files):
        prompt = _prompt(path, number, line, warnings)
        if prompt.id in lines_of:
            message = f"the id `{prompt.id}` is taken by line {lines_of[prompt.id]}; each line needs its own"
            raise SuiteFileError(path, number, message)
        lines_of[prompt.id] = number
        tasks.append(_task(prompt))
    return tasks, warnings


def _lines(path: Path, files: SuiteFiles) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(
        read_text(path, within=suite_boundary(path.parent), files=files).split("\n"), 1
    ):
        if line.strip():
            yield number, line


def _prompt(path: Path, number: int, line: str, warnings: list[str]) -> PromptLine:
    try:
        value: object = json.loads(line)
    except json.JSONDecodeError as error:
        raise SuiteFileError(path, number, json_fault(error, line)) from None
    except (RecursionError, ValueError):
        raise SuiteFileError(path, number, "the JSON cannot be read: it is nested too deeply") from None
    if not isinstance(value, dict):
        raise SuiteFileError(path, number, 'the line must be a JSON object: `{"id": "…", "input": "…"}`')
    block = cast("dict[str, Any]", value)
    if _OLDER_HINT in block and "hint" not in block:
        warnings.append(f"{path}:{number}: `expected` is the older name of `hint`; write `hint`")
        block["hint"] = block.pop(_OLDER_HINT)
    ignored: list[str] = []
    try:
        prompt = PromptLine.model_validate(block, context={"warnings": ignored})
    except ValidationError as error:
        raise SuiteFileError(path, number, _all_findings(error, block)) from None
    warnings += [f"{path}:{number}: {warning}" for warning in ignored]
    return prompt


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


def _task(prompt: PromptLine) -> TaskFile:
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
