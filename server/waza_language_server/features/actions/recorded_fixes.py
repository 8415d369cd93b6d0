"""Fixes that the engine derived from recorded trials and validated, as edits of a document.

They loosen the requirements for an agent, so none of them is preferred, and none is among the safe fixes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from waza_engine.counting import counted
from waza_language_server.features.actions.code_actions import CodeAction
from waza_language_server.project.uris import uri_of
from waza_language_server.syntax.author_style import line_break
from waza_language_server.syntax.edits import insert_entry, replace_scalar
from waza_language_server.syntax.frames import column_of
from waza_language_server.syntax.scalar_writing import write_block, write_flow
from waza_language_server.syntax.tried_edits import reads
from waza_language_server.text.edit import Edit, Edits, FileCreation
from waza_language_server.text.span import Span
from waza_language_server.text.workspace_edit import FileEdit, WorkspaceEdit

if TYPE_CHECKING:
    from pathlib import Path

    from waza_language_server.project.document import Document
    from waza_language_server.project.graded_rule import Rule
    from waza_language_server.syntax.nodes import Node


def recorded_fixes(document: Document, rule: Rule, fixes: Sequence[Mapping[str, Any]]) -> list[CodeAction]:
    """Return the fixes of ``live.fixes`` that set values, as edits of the document with the rule."""
    found: list[CodeAction] = []
    for fix in fixes:
        if "path" not in fix:
            continue
        edits = _edits(document, rule, tuple(fix["path"]), fix["value"])
        if edits:
            change = WorkspaceEdit((FileEdit(document.uri, document.text, edits),))
            found.append(CodeAction(title_of(fix), "quickfix", change, ()))
    return found


def file_fix(fix: Mapping[str, Any], file: Path, text: str | None) -> CodeAction:
    """Return a fix of ``live.fixes`` that writes a file; ``text`` is its content, None without one."""
    uri = uri_of(file)
    if text is None:
        change = WorkspaceEdit(creations=(FileCreation(uri, fix["text"]),))
    else:
        change = WorkspaceEdit((FileEdit(uri, text, (Edit(Span(0, len(text)), fix["text"]),)),))
    return CodeAction(title_of(fix), "quickfix", change, ())


def title_of(fix: Mapping[str, Any]) -> str:
    """Return the title of a fix, with the number of recorded trials on which it helps.

    The new value comes last: editors cut a long title off.
    """
    trials, before, after = fix["trials"], fix["before"], fix["after"]
    if after["grader"] > before["grader"]:
        helps = f"passes on {after['grader']} of {counted(trials, 'recorded trial')}, now {before['grader']}"
    else:
        helps = (
            f"this holds on {after['rule']} of {counted(trials, 'recorded trial')}, now {before['rule']}; "
            f"the grader still passes on {after['grader']}"
        )
    does, colon, written = fix["words"].replace("`", "").partition(": ")
    return f"{does} ({helps}){colon}{written}"


def _edits(document: Document, rule: Rule, path: tuple[str | int, ...], value: Any) -> Edits:
    tree, config = document.tree, _config_of(rule)
    node = config.get(*path) if config is not None else None
    if config is None or tree.errors:
        return ()
    if node is None:
        holder = config.get(*path[:-1]) if path[:-1] else config
        if holder is None or not isinstance(path[-1], str):
            return ()
        return insert_entry(tree, holder, path[-1], write_flow(value))
    if node.kind == "scalar" and not isinstance(value, Mapping | list):
        written = value if isinstance(value, str) else write_flow(value)
        return replace_scalar(tree, node, written)
    source = document.text[node.span.start : node.span.end]
    if node.kind not in {"sequence", "mapping"} or "#" in source:
        # The edit would delete a comment.
        return ()
    column = column_of(document.text, node.span.start)
    block = write_block(value, column, line_break(document.text))
    edits = (Edit(node.span, write_flow(value) if node.style == "flow" else block),)
    good = reads(tree, edits, node.path, lambda new: new.to_python() == value)
    return edits if good else ()


def _config_of(rule: Rule) -> Node | None:
    """Return the node that the path of a rule starts at."""
    node: Node | None = rule.node
    for _ in rule.path:
        node = node.parent if node is not None else None
    return node
