"""Graders that call a model, in a suite whose executor has none."""

from __future__ import annotations

from waza_engine.spec.executors import EXECUTORS
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import Found, SuiteView
from waza_language_server.project.suite_file import word
from waza_language_server.schema.locate import grader_type
from waza_language_server.spelling import listed


def nobody_to_judge(view: SuiteView) -> Found:
    """Yield the executor of an eval file that does not support the judge models of its graders."""
    root = view.document.tree.root
    node = root.get("config", "executor") if root is not None and view.document.kind == "eval" else None
    executor = word(node) or ""
    if node is None or executor not in EXECUTORS or EXECUTORS[executor].has_model:
        return
    catalog = view.workspace.catalog
    types = yield from view.graders.counted(grader_type)
    asking = {
        name
        for name in types.by_value
        if name and (shape := catalog.grader(name)) is not None and shape.asks_model
    }
    judged = yield from view.graders.of_types(asking)
    names = tuple(dict.fromkeys(word(grader.get("name")) or grader_type(grader) for grader in judged))
    if names:
        message = (
            f"The executor `{executor}` has no model, so nobody judges for {listed(names, 'and')} "
            "unless `--judge-executor` names one."
        )
        yield Problem("nobody-judges", node.target.span, message, "information")
