"""Lenses of prompts and captures: *Run*, *Trials 5* and *Check reference*, *Grade again* and *Calibrate*.

Prompts that a suite names run as tasks of that suite. Others run with an adapter and are graded by a grader
file, as in ``waza-engine harness``; the server finds these files or lets the user choose them.

Lenses depend on the text alone; a click checks the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from waza_engine.counting import counted
from waza_engine.frozen import frozen
from waza_engine.spec.program_files import MODULE_SUFFIXES
from waza_language_server.features.rows.row_verdicts import failures, id_of, records
from waza_language_server.features.runnables.code_lens import RUN, CodeLens
from waza_language_server.features.runnables.runnables import MOST_LENSES, suites_asking
from waza_language_server.project.runnable_id import RunnableId
from waza_language_server.project.search_folders import bases_of_run, found_at
from waza_language_server.project.suite_file import SuiteFile, scalar_text
from waza_language_server.project.uris import path_of
from waza_language_server.schema.locate import grader_type
from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.project.index import Project
    from waza_language_server.syntax.nodes import Node

HARNESS = "waza.harness"
TRIALS = 5
Command = Literal["capture", "trials", "validate-refs", "grade", "calibrate"]
_GRADER_SUFFIXES = (*MODULE_SUFFIXES, ".py", ".sh")
_FOLDERS = ("graders", "adapters")


def row_lenses(document: Document, project: Project) -> Iterator[CodeLens]:
    """Yield the lenses of a file of prompts or captures."""
    first = next(records(document), None)
    if first is None or path_of(document.uri) is None:
        return
    top = _start(first)
    if document.kind == "captures":
        yield _lens(document, top, "↻ Grade again", "grade")
        if failed := failures(document):
            yield _lens(document, top, f"Calibrate {counted(failed, 'failure')}", "calibrate")
    elif document.kind == "prompts":
        is_named = next(suites_asking(document, project), None) is not None
        listed = list(islice(records(document), MOST_LENSES + 1))
        rows = listed if len(listed) <= MOST_LENSES else [None]
        for row in rows:
            place = top if row is None else _start(row)
            name = "" if row is None else id_of(row)
            if row is not None and not name:
                continue
            if not is_named:
                yield _lens(document, place, "▶ Run", "capture", name)
                yield _lens(document, place, f"▶ Trials {TRIALS}", "trials", name)
            if row is None or row.get("reference") is not None:
                yield _lens(document, place, "Check reference", "validate-refs", name)


def trials_lenses(lenses: tuple[CodeLens, ...]) -> Iterator[CodeLens]:
    """Yield the lenses that run tasks several times, for those that run them once."""
    for lens in lenses:
        if lens.command == RUN and RunnableId.parse(lens.argument["id"]).task is not None:
            argument = {**lens.argument, "options": {"trials": TRIALS}}
            yield CodeLens(lens.span, f"▶ Trials {TRIALS}", RUN, argument)


@frozen()
class Programs:
    """The files that a click on a file of rows may use, the likeliest first."""

    adapters: tuple[Path, ...]
    graders: tuple[Path, ...]


def programs_for(path: Path, project: Project) -> Programs:
    """Return the adapters and graders for a file: those of the suites that name it, then those near it."""
    adapters: dict[Path, None] = {}
    graders: dict[Path, None] = {}
    for suite in project.suites_that_name(path):
        adapters |= dict.fromkeys(suite.named("adapter"))
        bases = bases_of_run(project, suite.folder)
        for grader in SuiteFile(project.tree(suite.path)).graders():
            named = scalar_text(grader.node.get("config", "grader"))
            if grader_type(grader.node) == "inline" and named:
                found = found_at(project, suite.folder, bases, named, "file")
                graders |= dict.fromkeys(place for place in found if place is not None)
    for folder in (path.parent, *(path.parent / name for name in _FOLDERS)):
        for name, is_folder in project.disk.names(folder).value:
            file = folder / name
            if is_folder:
                continue
            if file.suffix == ".json" and project.claim(file) == "adapter":
                adapters[file] = None
            elif file.suffix in _GRADER_SUFFIXES and (folder.name == "graders" or "grader" in file.stem):
                graders[file] = None
    return Programs(tuple(adapters), tuple(graders))


def _lens(document: Document, span: Span, title: str, command: Command, name: str = "") -> CodeLens:
    ids = {"prompt": name} if name else {}
    return CodeLens(span, title, HARNESS, {"command": command, "file": document.uri, **ids})


def _start(record: Node) -> Span:
    return Span(record.span.start, record.span.start)
