"""The table that ``tasks_from`` names: problems that keep a run from finding its prompts."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from waza_engine.checkpoint import checkpoint
from waza_engine.files import shown
from waza_engine.spec.reading.csv_table import TableError, read_table
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import NODES_AT_ONCE, Found, SuiteView
from waza_language_server.project.places import is_plain
from waza_language_server.project.suite_file import word
from waza_language_server.project.uris import path_of

CODE = "unusable-dataset"
_LINES = (".jsonl", ".ndjson")


def datasets(view: SuiteView) -> Found:
    """Yield the reason why a run rejects the dataset of an eval file."""
    document, path, root = view.document, path_of(view.document.uri), view.document.tree.root
    node = root.get("tasks_from") if root is not None and document.kind == "eval" else None
    written = word(node) if node is not None else None
    if node is None or path is None or not written or "\0" in written:
        return
    if not Path(os.path.normpath(path.parent / written)).is_relative_to(path.parent):
        message = f"`{shown(written)}` is not in the folder of the suite; move the dataset there."
        yield Problem(CODE, node.span, message)
        return
    if not is_plain(written):
        return
    text = view.workspace.project.text(path.parent / written)
    if text.absent:
        yield Problem(CODE, node.span, f"There is no file `{shown(written)}`, so no task can be run.")
    if not text.known:
        return
    checkpoint()
    if written.lower().endswith(_LINES):
        for fault in _faults_of_lines(text.value.removeprefix("\ufeff")):
            yield Problem(CODE, node.span, f"{shown(written)}, {fault}.")
        return
    try:
        read_table(text.value.removeprefix("\ufeff"))
    except TableError as fault:
        message = f"{shown(written)}, line {fault.line}: {fault.message}."
        yield Problem(CODE, node.span, message)


def _faults_of_lines(text: str) -> Iterator[str]:
    """Yield the first reason why a run rejects a file of prompts."""
    first: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not number % NODES_AT_ONCE:
            checkpoint()
        fault = _fault_of(line, first, number) if line.strip() else ""
        if fault:
            yield f"line {number}: {fault}"
            return
    if not first:
        yield "line 1: the dataset has no tasks; write one JSON object a line"


def _fault_of(line: str, first: dict[str, int], number: int) -> str:
    try:
        value: object = json.loads(line)
    except json.JSONDecodeError as error:
        return f"the line is not JSON; look at column {error.colno}"
    except (RecursionError, ValueError):
        return "the JSON cannot be read: it is nested too deeply"
    if not isinstance(value, dict):
        return 'the line must be a JSON object: `{"id": "…", "input": "…"}`'
    block = cast("dict[str, object]", value)
    name, prompt = block.get("id"), block.get("input")
    turns = cast("list[object]", prompt) if isinstance(prompt, list) else [prompt]
    if not isinstance(name, str):
        return "`id` must be a string, and each line needs one"
    if not turns or not all(isinstance(turn, str) and turn.strip() for turn in turns):
        return "`input` must be a string that is not blank, or a list of such strings"
    if name in first:
        return f"the id `{name}` is taken by line {first[name]}; each line needs its own"
    first[name] = number
    return ""
