"""Graders whose verdict says nothing: too weak, never read, a score out of reach."""

from __future__ import annotations

from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint
from waza_engine.files import printable
from waza_engine.later_patterns import compiled_later
from waza_engine.vocabulary import EXPECTED_LISTS
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import Found, SuiteView
from waza_language_server.analysis.suite_rules.grader_files import files_needed
from waza_language_server.analysis.suite_rules.named_files import items_of
from waza_language_server.analysis.value_rules.vacuous import number_of
from waza_language_server.project.search_folders import bases_of_run, found_at
from waza_language_server.project.suite_file import GraderEntry, SuiteFile, rule_at, scalar_text, task_id
from waza_language_server.project.uris import path_of
from waza_language_server.syntax.edits import insert_entry, replace_scalar
from waza_language_server.text.edit import Fix, Related

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from waza_language_server.project.index import Project
    from waza_language_server.project.regraded_answers import Strength, Strengths
    from waza_language_server.project.suites import Suite
    from waza_language_server.syntax.nodes import Node


def weak_graders(view: SuiteView) -> Found:
    """Yield the names of weak graders, keys of weak lists of ``expected``, and redundant checks.

    Nothing without results of mutation testing.
    """
    document, project = view.document, view.workspace.project
    path = path_of(document.uri)
    if path is None or not project.asked_for_scores or project.scores.strengths.empty:
        return
    strengths = project.scores.strengths
    suites = [suite.path for suite in project.suites_of(path)]
    if not strengths.has_any(suites):
        return
    own = task_id(document.tree.root, path) if document.kind == "task" else ""
    for grader in SuiteFile(document.tree).graders():
        checkpoint()
        if not grader.recorded_as:
            continue
        place = grader.task.id if grader.task is not None else own
        found = strengths.of(suites, place, grader.recorded_as, grader.node.to_python())
        if found is not None:
            yield from _problems(grader, found)
    root = document.tree.root
    if document.kind == "task" and root is not None:
        yield from _of_expected(root, own, strengths, suites)
    for task in SuiteFile(document.tree).tasks() if document.kind == "eval" else ():
        checkpoint()
        yield from _of_expected(task.node, task.id, strengths, suites)


def _problems(grader: GraderEntry, found: Strength) -> Found:
    name = grader.node.get("name") or grader.node.get("type")
    if name is not None:
        yield from _weak(name, found)
    yield from _weak_checks(grader.node, found)


def _of_expected(task: Node, place: str, strengths: Strengths, suites: Sequence[Path]) -> Found:
    """Yield the key of each weak list in ``expected``, and each string in one that decides nothing."""
    expected = task.get("expected")
    for key in EXPECTED_LISTS if expected is not None else ():
        listed = expected.entry(key) if expected is not None else None
        if expected is None or listed is None:
            continue
        found = strengths.of_expected(suites, place, key, listed.value.to_python())
        if found is not None:
            yield from _weak(listed.key, found)
            yield from _weak_checks(expected, found)


def _weak(head: Node, found: Strength) -> Found:
    if found.finding:
        related = tuple(Related(head.span, f"It passed on: {kind}.") for kind in found.passed_on)
        yield Problem("weak-grader", head.span, found.finding, "information", related=related)
    if found.rejected:
        related = tuple(Related(head.span, message) for message in found.rejected[1:])
        yield Problem("weak-grader", head.span, found.rejected[0], "information", related=related)


def _weak_checks(entry: Node, found: Strength) -> Found:
    for check in found.weak_checks:
        node = rule_at(entry, check.path, found.entry)
        if node is not None:
            yield Problem("weak-grader", node.span, check.message, "information")


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
    for grader in view.graders.of_types((_TYPE,)):
        checkpoint()
        config, command = grader.get("config"), grader.get("config", "command")
        protocol = grader.get("config", "protocol")
        if config is None or command is None:
            continue
        if scalar_text(protocol) not in (None, "exit-code"):
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
            f"`{printable(command.target.value)}` prints `{verdict['key']}`, but without `protocol` only its "
            f"exit code counts, and that is 0; exit with 1, or set `protocol: {kind}` and print a `score`."
        )
        yield Problem("unread-verdict", command.target.span, message, "information", fixes)


def _source(view: SuiteView, grader: Node) -> str:
    """Return the source of a program if it is in the grader or in one script, else ""."""
    command = PurePath(scalar_text(grader.get("config", "command")) or "").name
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


_SCORED = "behavior_quality"
_SCORING = ("graders", "expected", "checkpoints")
MOST_TASKS = 500
"""Tasks of a suite that are searched for graders; the search ends at the first one that has some."""


def scores_without_graders(view: SuiteView) -> Found:
    """Yield the threshold of ``behavior_quality`` if no trial is graded: the mean score is 0 then."""
    root, path = view.document.tree.root, path_of(view.document.uri)
    metrics = root.get("metrics") if root is not None and view.document.kind == "eval" else None
    if metrics is None or path is None or root is None or root.get("graders") is not None:
        return
    for metric in metrics.target.each_item():
        name, node = metric.target.get("name"), metric.target.get("threshold")
        limit = number_of(node) if node is not None and scalar_text(name) == _SCORED else None
        if node is None or limit is None or not 0 < limit <= 1:
            continue
        # Tools of an agent file are graded, too, and it may be in one of these.
        if root.get("config", "skill_directories") is not None:
            return
        project = view.workspace.project
        if not _is_nothing_graded(project, project.suite(path)):
            return
        message = (
            "No task here has graders or anything expected, so every score is 0 and never reaches this "
            "threshold; the run passes anyway."
        )
        yield Problem("threshold-out-of-reach", node.target.span, message, "information")


def _is_nothing_graded(project: Project, suite: Suite) -> bool:
    """Return whether no task of a suite is graded; False if the tasks are not all known."""
    paths = project.task_paths(suite)
    if not paths.known or suite.outline.inline_tasks or suite.outline.tasks_from:
        return False
    for path in paths.value[:MOST_TASKS]:
        checkpoint()
        tree = project.tree(path)
        root = tree.root
        if tree.errors or root is None or any(root.get(key) is not None for key in _SCORING):
            return False
    return len(paths.value) <= MOST_TASKS
