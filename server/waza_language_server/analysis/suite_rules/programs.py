"""Programs that graders start and that are not on PATH: they fail whatever the agent answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from waza_engine.files import shown
from waza_engine.spec.program_files import MODULE_RUNTIMES, MODULE_SUFFIXES, is_path
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import Found, SuiteView
from waza_language_server.analysis.suite_rules.named_files import hooks_may_make
from waza_language_server.project.suite_file import word
from waza_language_server.project.uris import path_of
from waza_language_server.schema.locate import grader_type

if TYPE_CHECKING:
    from collections.abc import Iterable

    from waza_language_server.syntax.nodes import Node

_WITH_PROGRAMS = ("program", "inline")


def missing_programs(view: SuiteView) -> Found:
    """Yield the programs of grader entries, and what runs their files, that this computer does not have."""
    yield from missing_programs_of(view, (yield from view.graders.of_types(_WITH_PROGRAMS)))


def missing_programs_of(view: SuiteView, graders: Iterable[Node]) -> Found:
    """Yield the same of some graders."""
    known: dict[str, bool] = {}
    path, project = path_of(view.document.uri), view.workspace.project
    suites = project.suites_of(path) if path is not None else ()
    if any(hooks_may_make(project.tree(suite.path).root) for suite in suites):
        return

    def is_there(program: str) -> bool:
        if program not in known:
            known[program] = project.disk.has_program(program)
        return known[program]

    for grader in graders:
        yield None
        kind = grader_type(grader)
        if kind == "program":
            node = grader.get("config", "command")
            command = word(node) or ""
            if node is not None and command and not is_path(command) and not is_there(command):
                message = f"There is no program `{shown(command)}` on PATH, so this grader fails."
                yield Problem("missing-program", node.target.span, message, "warning")
        elif kind == "inline":
            node = grader.get("config", "grader")
            is_module = (word(node) or "").endswith(MODULE_SUFFIXES)
            if node is not None and is_module and not any(map(is_there, MODULE_RUNTIMES)):
                message = "A module needs bun or Node.js, and neither is on PATH, so this grader fails."
                yield Problem("missing-program", node.target.span, message, "warning")
