"""The table that ``tasks_from`` names: what keeps a run from finding the prompts in it."""

from __future__ import annotations

import os
from pathlib import Path

from waza_engine.files import shown
from waza_engine.spec.reading.csv_table import TableError, read_table
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import Found, SuiteView
from waza_language_server.project.places import is_plain
from waza_language_server.project.suite_file import word
from waza_language_server.project.uris import path_of

CODE = "unusable-dataset"
_LINES = (".jsonl", ".ndjson")


def datasets(view: SuiteView) -> Found:
    """Yield why a run refuses the CSV file of an eval file."""
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
    if not text.known or written.lower().endswith(_LINES):
        return
    yield None
    try:
        read_table(text.value.removeprefix("\ufeff"))
    except TableError as fault:
        message = f"{shown(written)}, line {fault.line}: {fault.message}."
        yield Problem(CODE, node.span, message)
