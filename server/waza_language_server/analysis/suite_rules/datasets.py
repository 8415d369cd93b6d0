"""The table that ``tasks_from`` names: problems that keep a run from finding its prompts."""

from __future__ import annotations

import os
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint
from waza_engine.counting import counted
from waza_engine.files import printable
from waza_engine.spec.harness_files import ROW_SUFFIXES
from waza_engine.spec.reading.csv_table import TableError, read_table
from waza_language_server.analysis.file_rules.prompt_lines import repeated_ids
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import FileView, Found, SuiteView
from waza_language_server.analysis.schema_rules.structure import structure_of_file
from waza_language_server.analysis.text_rules.syntax import syntax_faults
from waza_language_server.project.search_folders import is_plain
from waza_language_server.project.suite_file import scalar_text
from waza_language_server.project.uris import path_of
from waza_language_server.schema.catalog import Catalog
from waza_language_server.syntax.json_lines import lines_of, parse_json_lines
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.tree import Tree

if TYPE_CHECKING:
    from waza_language_server.project.workspace import Workspace

CODE = "unusable-dataset"


def datasets(view: SuiteView) -> Found:
    """Yield the reason why a run rejects the dataset of an eval file."""
    document, path, root = view.document, path_of(view.document.uri), view.document.tree.root
    node = root.get("tasks_from") if root is not None and document.kind == "eval" else None
    written = scalar_text(node)
    if node is None or path is None or not written or "\0" in written:
        return
    if not Path(os.path.normpath(path.parent / written)).is_relative_to(path.parent):
        message = f"`{printable(written)}` is not in the folder of the suite; move the dataset there."
        yield Problem(CODE, node.span, message)
        return
    if not is_plain(written):
        return
    text = view.workspace.project.text(path.parent / written)
    if text.absent:
        yield Problem(CODE, node.span, f"There is no file `{printable(written)}`, so no task can be run.")
    if not text.known:
        return
    checkpoint()
    if written.lower().endswith(ROW_SUFFIXES):
        faults = _faults_of_prompts(view.workspace, path.parent / written)
        for first in faults[:1]:
            more = f"; {counted(len(faults) - 1, 'more error')} below it" if len(faults) > 1 else ""
            yield Problem(CODE, node.span, f"{printable(written)}, {first.rstrip('.')}{more}.")
        if not faults:
            yield from _range_after(root, sum(1 for _ in lines_of(text.value)), "line")
        return
    try:
        table = read_table(text.value.removeprefix("\ufeff"))
    except TableError as fault:
        message = f"{printable(written)}, line {fault.line}: {fault.message}."
        yield Problem(CODE, node.span, message)
        return
    if not table.rows:
        yield Problem(CODE, node.span, f"{printable(written)} has only a header, so no task can be run.")
    else:
        yield from _range_after(root, len(table.rows), "row")


def _range_after(root: Node | None, count: int, item: str) -> Found:
    """Yield a `range` that starts after the last item of a dataset."""
    node = root.get("range") if root is not None else None
    match node.target.to_python() if node is not None else None:
        case [int(first), int(last)] if node is not None and count < first <= last:
            message = f"`range` starts at {item} {first} of {count}, so no task can be run."
            yield Problem(CODE, node.target.items[0].span, message)
        case _:
            return


def _faults_of_prompts(workspace: Workspace, path: Path) -> tuple[str, ...]:
    """Return why a run refuses a file of prompts: the errors that the editor shows in it."""
    project, catalog = workspace.project, workspace.catalog
    opened = project.documents.get(path)
    if opened is not None and opened.kind == "prompts":
        return _errors_in(opened.tree, catalog)
    return project.disk.derived(
        path, "errors of prompts", lambda text: _errors_in(parse_json_lines(text.value), catalog)
    )


def _errors_in(tree: Tree, catalog: Catalog) -> tuple[str, ...]:
    if tree.root is None and not tree.errors:
        return ("line 1: the dataset has no tasks; write one JSON object a line",)
    view = FileView(tree, "prompts", catalog)
    found = chain(syntax_faults(tree), structure_of_file(view), repeated_ids(view))
    errors = sorted((each.span.start, each.message) for each in found if each.severity == "error")
    return tuple(f"line {tree.text.count(chr(10), 0, start) + 1}: {message}" for start, message in errors)
