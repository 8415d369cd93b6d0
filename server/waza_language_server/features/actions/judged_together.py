"""Check whether an edit of several files causes a problem: diagnose all of them before and after it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from waza_language_server.analysis.diagnose import diagnose

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.project.workspace import Workspace


def bring_nothing(workspace: Workspace, before: Sequence[Document], after: Sequence[Document]) -> bool:
    """Say whether files have no problem of a kind, after a change, that they did not have before it.

    A file that the change takes away is only in ``before``.
    """
    known: Counter[str] = Counter()
    for each in before:
        problems = diagnose(each, workspace)
        known.update(problem.code for problem in problems)
    for each in after:
        workspace = workspace.with_document(each)
    found: Counter[str] = Counter()
    for each in after:
        problems = diagnose(each, workspace)
        found.update(problem.code for problem in problems)
    return not found - known
