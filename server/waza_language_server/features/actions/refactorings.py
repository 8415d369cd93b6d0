"""Refactorings of the selection, each validated before it is offered: it must cause no problem.

Architecture invariant: modules that create such edits do not validate them; this one validates all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint
from waza_language_server.analysis.trial import Trials
from waza_language_server.features.actions.rewriting_values import rewritten_values
from waza_language_server.features.actions.sorting import sorted_parts

if TYPE_CHECKING:
    from waza_language_server.analysis.problem import Problem
    from waza_language_server.features.actions.code_actions import CodeAction
    from waza_language_server.project.document import Document
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.text.span import Span


def refactorings(
    document: Document, workspace: Workspace, selected: Span, problems: Sequence[Problem]
) -> tuple[CodeAction, ...]:
    """Return the other ways to write the value, the grader or the tasks at the start of a selection.

    ``problems`` are those of this version of the document. A change is offered when the whole document,
    diagnosed again, has no problem that it does not have now.
    """
    found = list(rewritten_values(document, workspace, selected))
    checkpoint()
    found += sorted_parts(document, workspace, selected)
    trials = Trials(document, workspace, problems)
    offered: list[CodeAction] = []
    for action in found:
        edits = [edit for file in action.change.files for edit in file.edits]
        if trials.bring_nothing(edits):
            offered.append(action)
        checkpoint()
    return tuple(offered)
