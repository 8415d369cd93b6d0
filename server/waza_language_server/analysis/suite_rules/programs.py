"""Programs of graders that are not on PATH: the graders fail whatever the agent answers."""

from __future__ import annotations

from functools import partial
from json import dumps
from typing import TYPE_CHECKING

from waza_engine.files import shown
from waza_engine.later_patterns import compiled_later
from waza_engine.spec.program_files import MODULE_RUNTIMES, MODULE_SUFFIXES, is_path, words_of
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import Found, SuiteView
from waza_language_server.analysis.suite_rules.named_files import hooks_may_make
from waza_language_server.project.suite_file import word
from waza_language_server.project.uris import path_of
from waza_language_server.schema.locate import grader_type
from waza_language_server.syntax.placed_text import inserted
from waza_language_server.syntax.tried_edits import checked, entries_of
from waza_language_server.text.edit import Edit, Edits, Fix

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from waza_engine.steps import Steps
    from waza_language_server.syntax.nodes import Node
    from waza_language_server.syntax.tree import Tree

_WITH_PROGRAMS = ("program", "inline")
_SHELL = compiled_later(r"\A(?:[|<>;]|&&|\d?>)|\$[A-Za-z({]|[|;]\Z")
"""Syntax that only a shell understands."""


def missing_programs(view: SuiteView) -> Found:
    """Yield the programs and interpreters of grader entries that are not installed on this computer."""
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
            if node is not None and (words := words_of(command)) and not is_there(command):
                yield _with_arguments(view.document.tree, node, words)
            elif node is not None and command and not is_path(command) and not is_there(command):
                message = f"There is no program `{shown(command)}` on PATH, so this grader fails."
                yield Problem("missing-program", node.target.span, message, "warning")
        elif kind == "inline":
            node = grader.get("config", "grader")
            is_module = (word(node) or "").endswith(MODULE_SUFFIXES)
            if node is not None and is_module and not any(map(is_there, MODULE_RUNTIMES)):
                message = "A module needs bun or Node.js, and neither is on PATH, so this grader fails."
                yield Problem("missing-program", node.target.span, message, "warning")


def _with_arguments(tree: Tree, command: Node, words: Sequence[str]) -> Problem:
    """Return the problem of a program written as a shell command line, as other tools accept it."""
    program, *arguments = words
    message = f"The whole of `{shown(command.target.value)}` is taken for the name of a program, so this "
    fixes: tuple[Fix, ...] = ()
    if any(_SHELL.search(word) for word in words):
        message += "grader fails; no shell reads it."
        new = "sh", ["-c", command.target.value]
        title = "Have it run by `sh`"
    else:
        message += "grader fails; its arguments belong in `args`."
        new = program, arguments
        title = "Move the arguments into `args`"
    if command.parent is not None and command.parent.get("args") is None:
        fixes = (Fix(title, partial(_divided, tree, command, *new)),)
    return Problem("missing-program", command.target.span, message, "warning", fixes)


def _divided(tree: Tree, command: Node, program: str, arguments: Sequence[str]) -> Steps[Edits]:
    config = command.parent
    entry = config.entry("command") if config is not None else None
    if config is None or entry is None or command.target is not command:
        return ()
    listed = inserted(tree, config, f"args: {dumps(arguments, ensure_ascii=False)}", entry)
    edits = Edit(command.span, program), *listed
    new = {"command": program, "args": list(arguments)}
    return (yield from checked(tree, edits, config.path, lambda old: {**entries_of(old), **new}))
