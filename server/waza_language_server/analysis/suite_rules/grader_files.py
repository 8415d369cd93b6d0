"""The files that graders of each type need, where a run searches them, and what happens without them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from waza_engine.checkpoint import checkpoint
from waza_engine.frozen import frozen
from waza_engine.spec.program_files import example_rubric, is_path, is_rubric_path, script_of, split_command
from waza_engine.spec.reading.grader_packages import (
    LOCK_NAME,
    GraderPackageError,
    Read,
    packaged_entry,
    refuse_javascript,
)
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import Found, SuiteView
from waza_language_server.analysis.schema_rules.plain_values import entry_value
from waza_language_server.project.claim import SKILL_NAME
from waza_language_server.project.suite_file import scalar_text
from waza_language_server.project.uris import path_of
from waza_language_server.schema.locate import grader_type
from waza_language_server.syntax.nodes import listed_in

if TYPE_CHECKING:
    from waza_language_server.project.index import Project
    from waza_language_server.schema.catalog import Catalog
    from waza_language_server.syntax.nodes import Node


STOPS = "a run with an agent stops before it begins"
_ABOVE = "next to the eval file or in a folder above it"


@frozen()
class NeededFile:
    """A path that a grader names, and the folder that it is relative to.

    With ``folder`` None a run searches it like every path of a suite, ``with_fixtures`` also among the files
    of its tasks; "" is the folder of the eval file alone, and any other ``folder`` is below each searched
    one. ``so`` describes the consequence if it is missing; ``inside`` is a file that it must contain if it is
    a folder.
    """

    node: Node
    where: str = _ABOVE
    so: str = STOPS
    kind: Literal["file", "folder"] | None = "file"
    folder: str | None = None
    with_fixtures: bool = False
    inside: str = ""


def files_needed(grader: Node) -> Iterator[NeededFile]:
    """Yield the files that a grader entry needs next to the suite."""
    of_type = _NEEDED.get(grader_type(grader) or "")
    if of_type is not None:
        yield from of_type(grader)


def _script(grader: Node) -> Iterator[NeededFile]:
    node = grader.get("config", "script") or grader.get("script")
    if node is not None and scalar_text(node):
        yield NeededFile(node.target)


def _inline(grader: Node) -> Iterator[NeededFile]:
    node = grader.get("config", "grader")
    if node is not None and scalar_text(node):
        yield NeededFile(node.target)


def _program(grader: Node) -> Iterator[NeededFile]:
    """Yield the script that a program should run, or the program itself if it is a path."""
    command = grader.get("config", "command")
    if command is None or not scalar_text(command):
        return
    if is_path(command.target.value) and not split_command(command.target.value):
        yield NeededFile(command.target)
        return
    arguments = list(listed_in(grader.get("config", "args")))
    texts = [argument.value if argument.kind == "scalar" else "" for argument in arguments]
    if script_of(command.target.value, texts) and scalar_text(arguments[0]):
        yield NeededFile(arguments[0])


def _rubric(grader: Node) -> Iterator[NeededFile]:
    node = grader.get("config", "rubric") or grader.get("rubric")
    written = scalar_text(node) or ""
    # Upstream's examples come with the engine.
    if node is not None and is_rubric_path(written) and not example_rubric(written):
        yield NeededFile(node.target)


def _schema(grader: Node) -> Iterator[NeededFile]:
    node = grader.get("config", "schema_file")
    if node is not None and scalar_text(node) and grader.get("config", "schema") is None:
        yield NeededFile(node.target, "beside the eval file", folder="")


def _skill(grader: Node) -> Iterator[NeededFile]:
    node = grader.get("config", "skill_path")
    if node is not None and scalar_text(node):
        yield NeededFile(node.target, kind=None, inside=SKILL_NAME)


def _snapshots(grader: Node) -> Iterator[NeededFile]:
    switch, folder = grader.get("config", "update_snapshots"), grader.get("config", "context_dir")
    if switch is not None and (scalar_text(switch) or "").lower() != "false":
        return
    written = scalar_text(folder)
    where = _ABOVE if written is None else "in the `context_dir` of the grader"
    so = "the check fails, whatever the agent writes"
    for expected in listed_in(grader.get("config", "expected_files")):
        node = expected.get("snapshot")
        if node is not None and scalar_text(node):
            yield NeededFile(node.target, where, so, folder=written, with_fixtures=True)


_NEEDED: Mapping[str, Callable[[Node], Iterator[NeededFile]]] = MappingProxyType(
    {
        "script": _script,
        "inline": _inline,
        "program": _program,
        "prompt": _rubric,
        "llm": _rubric,
        "json_schema": _schema,
        "trigger": _skill,
        "diff": _snapshots,
    }
)
"""The files that graders of a type need."""
TYPES_WITH_FILES = _NEEDED.keys()


def packages(view: SuiteView) -> Found:
    """Yield each ``ref`` that a run rejects."""
    path, project = path_of(view.document.uri), view.workspace.project
    for grader in view.graders:
        node = _reference(grader)
        if node is None:
            continue
        checkpoint()
        span = node.span
        if view.document.kind != "eval" or grader.path[0] != "graders":
            message = "`ref` is for graders of the eval file; move this grader there, or give it a `type`."
            yield Problem("grader-package", span, message)
        elif path is not None:
            try:
                entry = packaged_entry(node.value, path, *_sources(project, path))
                _check_type(grader, entry["type"], view.workspace.catalog)
                own = grader.get("config", "language")
                config = entry.get("config") if own is None else {"language": entry_value(own.target)}
                refuse_javascript(entry["type"], config)
            except GraderPackageError as error:
                text = str(error)
                yield Problem("grader-package", span, f"{text[0].upper()}{text[1:]}.")


def _reference(grader: Node) -> Node | None:
    node = grader.get("ref")
    return node.target if node is not None and scalar_text(node) else None


def _check_type(grader: Node, packaged: str, catalog: Catalog) -> None:
    written = scalar_text(grader.get("type"))
    if written not in (None, "null", "~", packaged):
        raise GraderPackageError(
            f"the grader of the package is of type `{packaged}`, not `{written}`; leave `type` out"
        )
    shape = catalog.grader(packaged)
    if shape is not None and shape.runs_program:
        raise GraderPackageError(
            f"the grader of the package is of type `{packaged}`, which runs programs; "
            "write such a grader into the suite itself"
        )


def _sources(project: Project, path: Path) -> tuple[object, Read]:
    """Return the lock file's content, or None, and a function that reads files of packages."""

    def read(place: Path) -> object:
        tree = project.tree(place)
        if tree.errors:
            raise GraderPackageError(f"`{place.name}` cannot be read: {tree.errors[0].message}")
        return entry_value(tree.root.target) if tree.root is not None else None

    lock = path.parent / LOCK_NAME
    is_file = (lock.name, False) in project.disk.alike(lock.parent, lock.name)
    return read(lock) if is_file else None, read
