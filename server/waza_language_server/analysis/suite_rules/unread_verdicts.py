"""Programs that print a verdict as JSON where only their exit code counts, and that exit with 0."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING

from waza_engine.files import shown
from waza_engine.later_patterns import compiled_later
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import Found, SuiteView
from waza_language_server.analysis.suite_rules.grader_files import files_needed
from waza_language_server.analysis.suite_rules.skills import items_of
from waza_language_server.project.places import bases_of_run, found_at
from waza_language_server.project.suite_file import word
from waza_language_server.project.uris import path_of
from waza_language_server.schema.locate import grader_type
from waza_language_server.syntax.edits import insert_entry, replace_scalar
from waza_language_server.text.edit import Fix

if TYPE_CHECKING:
    from waza_language_server.syntax.nodes import Node

_TYPE = "program"
_VERDICT = compiled_later(r"""\\?["'](?P<key>passed|pass)\\?["']\s*:\s*(?!true\b|True\b)\S""")
_PRINTS = compiled_later(r"\b(?:json\.dumps?|JSON\.stringify|print|echo|printf|console\.log)\b")
_DECIDES = compiled_later(r"\b(?:exit|_exit|exitCode|quit|abort|raise|throw|assert)\b")
_SHELL_PRINTS = compiled_later(r"(?:echo|printf)\b[^\n;&|]*\Z")
_SUFFIXES = frozenset({".py", ".js", ".mjs", ".cjs", ".ts"})
_SHELLS = frozenset({"bash", "sh", "zsh"})
_LONGEST = 100_000


def unread_verdicts(view: SuiteView) -> Found:
    """Yield the commands of graders that print whether they passed, which nothing reads."""
    yield from unread_verdicts_of(view, (yield from view.graders.of_types((_TYPE,))))


def unread_verdicts_of(view: SuiteView, graders: Iterable[Node]) -> Found:
    """Yield the same of some graders."""
    for grader in graders:
        yield None
        config, command = grader.get("config"), grader.get("config", "command")
        protocol = grader.get("config", "protocol")
        if grader_type(grader) != _TYPE or config is None or command is None:
            continue
        if word(protocol) not in (None, "exit-code"):
            continue
        source = _source(view, grader)
        verdict = _VERDICT.search(source)
        if verdict is None or not _PRINTS.search(source) or _DECIDES.search(source):
            continue
        kind = "harness-json" if verdict["key"] == "pass" else "waza-json"
        tree = view.document.tree
        repair = (
            partial(insert_entry, tree, config.target, "protocol", kind)
            if protocol is None
            else partial(replace_scalar, tree, protocol.target, kind)
        )
        fixes = (Fix(f"Set `protocol: {kind}`", repair),) if "score" in source else ()
        message = (
            f"`{shown(command.target.value)}` prints `{verdict['key']}`, but without `protocol` only its "
            f"exit code counts, and that is 0; exit with 1, or set `protocol: {kind}` and print a `score`."
        )
        yield Problem("unread-verdict", command.target.span, message, "information", fixes)


def _source(view: SuiteView, grader: Node) -> str:
    """Return the source of a program if it is in the grader or in one script, else ""."""
    command = PurePath(word(grader.get("config", "command")) or "").name
    arguments = [item.value for item in items_of(grader.get("config", "args"))]
    if len(arguments) == 2 and arguments[0] in ("-c", "-e"):
        is_plain = command not in _SHELLS or _SHELL_PRINTS.search(arguments[1].strip()) is not None
        return arguments[1] if is_plain else ""
    path, project = path_of(view.document.uri), view.workspace.project
    for needed in files_needed(grader):
        for suite in project.suites_of(path) if path is not None else ():
            bases = bases_of_run(project, suite.folder)
            place = next(found_at(project, suite.folder, bases, needed.node.value.strip(), "file"), None)
            if place is not None and place.suffix in _SUFFIXES:
                text = project.text(place)
                return text.value[:_LONGEST] if text.known else ""
    return ""
