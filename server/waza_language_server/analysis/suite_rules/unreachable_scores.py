"""Thresholds of metrics that no run of the suite reaches, because nothing is scored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import Found, SuiteView
from waza_language_server.analysis.value_rules.thresholds import number_of
from waza_language_server.project.suite_file import word
from waza_language_server.project.uris import path_of

if TYPE_CHECKING:
    from waza_engine.steps import Steps
    from waza_language_server.project.index import Project
    from waza_language_server.project.suites import Suite

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
        limit = number_of(node) if node is not None and word(name) == _SCORED else None
        if node is None or limit is None or not 0 < limit <= 1:
            continue
        # Tools of an agent file are graded, too, and it may be in one of these.
        if root.get("config", "skill_directories") is not None:
            return
        project = view.workspace.project
        if not (yield from _is_nothing_graded(project, project.suite(path))):
            return
        message = (
            "No task here has graders or anything expected, so every score is 0 and this is never reached; "
            "the run passes all the same."
        )
        yield Problem("threshold-out-of-reach", node.target.span, message, "information")


def _is_nothing_graded(project: Project, suite: Suite) -> Steps[bool]:
    """Return whether no task of a suite is graded; False if the tasks are not all known."""
    paths = project.task_paths(suite)
    if not paths.known or suite.outline.inline_tasks or suite.outline.tasks_from:
        return False
    for path in paths.value[:MOST_TASKS]:
        yield
        yield from project.read_tree_in_steps(path)
        tree = project.tree(path)
        root = tree.root
        if tree.errors or root is None or any(root.get(key) is not None for key in _SCORING):
            return False
    return len(paths.value) <= MOST_TASKS
