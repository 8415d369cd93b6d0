"""Keys, values and forms that Vally refuses, or does not know, in the version that a file is for.

A comment chooses the version (``# vally: 0.16``), in the file or in the nearest ``.vally.yaml``; else the
nearest ``package.json`` with Vally among its dependencies. Without a choice it is the newest version that
takes everything in the file. Forms that newer ones refuse are then hints: no working file has errors.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath
from typing import Any, Literal, cast

from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_engine.spec.vally.versions import (
    NEWEST,
    Change,
    change_of,
    chosen_version,
    detected_version,
    has_unit,
    is_slug,
    milliseconds_of,
    slug_of,
    written_duration,
)
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import Found, SuiteView
from waza_language_server.project.claim import VALLY_PROJECT_NAMES
from waza_language_server.project.document import Document
from waza_language_server.project.suites import folders_above
from waza_language_server.project.uris import path_of
from waza_language_server.project.workspace import Workspace
from waza_language_server.schema.catalog import Catalog
from waza_language_server.schema.locate import located_below, type_node
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.edits import delete_entry, insert_entry, replace_scalar
from waza_language_server.syntax.nodes import Entry, Node
from waza_language_server.syntax.tree import Tree
from waza_language_server.text.edit import Edit, Edits, Fix
from waza_language_server.text.span import Span

CODE = "vally-version"
_PACKAGES = ("@microsoft/vally-cli", "@microsoft/vally")
_DEPENDENCIES = ("devDependencies", "dependencies")
_RELEASE = compiled_later(r"[\^~>=v\s]*0\.([0-9]{1,3})(?:\.|$)")


@frozen()
class Use:
    """Something in a file that not every version takes, and how to write it for newer ones."""

    change: Change
    span: Span
    shown: str
    what: Literal["key", "value", "type", "form"]
    fixes: tuple[Fix, ...] = ()


def versions(view: SuiteView) -> Found:
    """Yield what the version of a file refuses or does not know, and hints at what newer ones refuse."""
    found = list(_uses(view.document, view.workspace.catalog.vally))
    chosen = _chosen(view.document, view.workspace)
    version = chosen or detected_version(use.change for use in found)
    for use in found:
        row = use.change
        if row.until is not None and version >= row.until:
            yield Problem(CODE, use.span, _refused(use), "error", use.fixes)
        elif row.until is not None and row.until <= NEWEST:
            yield Problem(CODE, use.span, _refused(use), "information", use.fixes, tag="deprecated")
        elif version < row.since:
            subject = use.shown[:1].upper() + use.shown[1:]
            message = f"{subject} needs Vally 0.{row.since}; this file is for 0.{version}."
            yield Problem(CODE, use.span, message, "error" if use.what == "type" else "warning")


def as_of_version(document: Document, workspace: Workspace, found: Found) -> Found:
    """Yield problems adapted to the version of their file: since 0.17 unknown keys of stimuli are errors."""
    row, version = _form("an unknown key of a stimulus"), 0
    for problem in found:
        if problem.code != "unknown-key" or not _is_of_stimulus(document.tree, problem.span):
            yield problem
            continue
        version = version or _chosen(document, workspace) or _detected(document, workspace, row)
        severity = problem.severity if row.is_taken_by(version) else "error"
        message = problem.message.replace("no effect.", f"no effect, and Vally 0.{row.until} refuses it.")
        yield replace(problem, severity=severity, message=message)


def _detected(document: Document, workspace: Workspace, more: Change) -> int:
    used = [use.change for use in _uses(document, workspace.catalog.vally)]
    return detected_version([*used, more])


def _refused(use: Use) -> str:
    instead = f"; write `{use.change.instead}`" if use.change.instead else ""
    titles = [f"; {fix.title[:1].lower()}{fix.title[1:]}" for fix in use.fixes]
    return (
        f"Vally 0.{use.change.until} and newer refuse {use.shown}{''.join([instead] if instead else titles)}."
    )


def _is_of_stimulus(tree: Tree, span: Span) -> bool:
    node = tree.root.at(span.start) if tree.root is not None else None
    path = node.path if node is not None else ()
    return len(path) == 2 and path[0] == "stimuli"


def _chosen(document: Document, workspace: Workspace) -> int | None:
    """Return the version that is written somewhere; one newer than all known counts as the newest."""
    version = chosen_version(document.text)
    path = path_of(document.uri)
    project = workspace.project
    for folder in folders_above(path) if path is not None and version is None else ():
        for name in project.disk.holding(folder, (*VALLY_PROJECT_NAMES, "package.json")):
            text = project.text(folder / name)
            read = _of_package if name == "package.json" else chosen_version
            version = version or (read(text.value) if text.known else None)
        if version is not None:
            break
    return None if version is None else min(version, NEWEST)


def _of_package(text: str) -> int | None:
    try:
        package: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    for key in _DEPENDENCIES:
        for name in _PACKAGES:
            if found := _RELEASE.match(str(_value(_value(package, key), name))):
                return int(found[1])
    return None


def _value(block: object, key: str) -> object:
    return cast("dict[str, object]", block).get(key) if isinstance(block, dict) else None


def _uses(document: Document, catalog: Catalog) -> Iterator[Use]:
    tree = document.tree
    if tree.root is None:
        return
    for node, shape in located_below(tree.root, catalog.document(document.kind), catalog):
        if node.kind == "mapping":
            yield from _of_mapping(tree, node, shape)
        elif node.kind == "scalar" and len(node.span):
            yield from _of_scalar(tree, node, shape)


def _of_mapping(tree: Tree, node: Node, shape: Shape) -> Iterator[Use]:
    if shape.kind == "grader" and (change := _change(shape.versions)) is not None:
        written = type_node(node)
        if written is not None:
            yield Use(change, written.span, f"the grader type `{written.value}`", "type")
    for entry in node.entries:
        known = shape.below.get(entry.key.value)
        if known is None:
            continue
        if (change := _change(known.versions)) is not None:
            fixes = tuple(_rewritten(tree, node, entry, change.instead))
            yield Use(change, entry.key.span, f"`{entry.key.value}`", "key", fixes)
        if entry.key.value == "executor" and entry.value.target.kind == "mapping":
            yield Use(_form("an executor as a block"), entry.key.span, "`executor` as a block", "form")
    source = node.entry("src")
    expected = shape.below.get("dest")
    if source is not None and expected is not None and node.entry("dest") is None:
        name = PurePosixPath(source.value.target.value).name or "."
        edits = partial(insert_entry, tree, node, "dest", name, source)
        yield _used_form("a file without `dest`", source.key.span, f"Insert `dest: {name}`", edits)


def _of_scalar(tree: Tree, node: Node, shape: Shape) -> Iterator[Use]:
    known = cast("dict[str, Any]", shape.schema.get("x-waza-value-versions", {}))
    if (change := _change(known.get(node.value, {}))) is not None:
        yield Use(change, node.span, f"`{node.value}`", "value")
    if shape.kind == "duration" and not has_unit(node.value):
        value = f"{node.value.strip()}s"
        edits = partial(replace_scalar, tree, node, value)
        yield _used_form("a duration without a unit", node.span, f"Write `{value}`", edits)
    if shape.kind == "vally.slug" and not is_slug(node.value) and (slug := slug_of(node.value)):
        edits = partial(replace_scalar, tree, node, slug)
        yield _used_form("a grader name that is no slug", node.span, f"Rename to `{slug}`", edits)


def _rewritten(tree: Tree, mapping: Node, entry: Entry, instead: str) -> Iterator[Fix]:
    """Yield the fix that writes an older key in its newer form, or deletes it."""
    key, value = entry.key.value, entry.value
    if not instead:
        if key == "output_delivery":
            yield Fix(f"Delete `{key}`", partial(delete_entry, tree, entry), preferred=True)
    elif mapping.entry(instead) is not None:
        return
    elif key.endswith("_ms") and value.kind == "scalar":
        milliseconds = milliseconds_of(f"{value.value.strip()}ms")
        if milliseconds is not None:
            duration = written_duration(milliseconds)
            edits = (Edit(entry.key.span, instead), Edit(value.span, duration))
            yield Fix(f"Change to `{instead}: {duration}`", edits, preferred=True)
    else:
        yield Fix(f"Rename to `{instead}`", (Edit(entry.key.span, instead),), preferred=True)


def _used_form(name: str, span: Span, title: str, edits: Callable[[], Edits]) -> Use:
    return Use(_form(name), span, name, "form", (Fix(title, edits, preferred=True),))


def _form(name: str) -> Change:
    return change_of("form", name) or Change("form", name)


def _change(row: Mapping[str, Any]) -> Change | None:
    """Return the row that a schema carries."""
    if not row:
        return None
    return Change("", "", row.get("since", 0), row.get("until"), row.get("instead", ""))
