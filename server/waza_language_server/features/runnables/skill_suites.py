"""The suites that test a skill, shown in its ``SKILL.md``: lenses to run them, and their verdicts.

Without a suite, a lens offers to create one, as in an empty eval file.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint
from waza_engine.spec.foreign_evals import foreign_eval_in
from waza_language_server.features.new_suite import NEW_SUITE, title_of_offer
from waza_language_server.features.runnables.code_lens import (
    Affected,
    CodeLens,
    Expected,
    lenses_of,
    nothing_affected,
    nothing_expected,
)
from waza_language_server.features.runnables.runnables import MAX_SUITES, Runnable
from waza_language_server.features.scores.inlay_hints import InlayHint
from waza_language_server.features.scores.verdict_hints import suite_verdict
from waza_language_server.project.document_scores import read_scores
from waza_language_server.project.runnable_id import RunnableId
from waza_language_server.project.suites_of_skills import eval_document
from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from waza_language_server.project.skill_file import SkillFile
    from waza_language_server.project.suites import Suite
    from waza_language_server.project.workspace import Workspace

_TOP = Span(0, 0)
_WHAT = "evals of this skill"
_NAMES = ("evals/evals.json", "evals.json", "evals/eval.yaml", "eval.yaml")


def skill_runnables(suites: tuple[Suite, ...]) -> tuple[Runnable, ...]:
    """Return the nearest of the suites that test a ``SKILL.md``, as runnables."""
    return tuple(
        Runnable(RunnableId(suite.path), _TOP, suite.outline.name or suite.folder.name, _TOP)
        for suite in suites[:MAX_SUITES]
    )


def skill_lenses(
    skill: SkillFile,
    suites: tuple[Suite, ...],
    workspace: Workspace,
    running: Collection[RunnableId] = (),
    run_with: str | None = None,
    expected: Expected = nothing_expected,
    affected: Affected = nothing_affected,
) -> tuple[CodeLens, ...]:
    """Return the lenses at the top of a ``SKILL.md``; the parameters are those of ``code_lenses``."""
    found = skill_runnables(suites) or _other_evals(skill, workspace)
    if not found:
        return (CodeLens(_TOP, title_of_offer(skill.name), NEW_SUITE, {"skill": skill.uri}, "newSuite"),)
    return lenses_of(found, workspace, running, run_with, expected, affected, _WHAT)


def _other_evals(skill: SkillFile, workspace: Workspace) -> tuple[Runnable, ...]:
    """Return the eval files of other tools in the folder of a skill that can be run."""
    found: list[Runnable] = []
    for name in _NAMES:
        path = skill.path.parent / name
        text = workspace.project.text(path)
        evals = foreign_eval_in(text.value, path) if text.state == "known" else None
        if evals is not None and evals.runs:
            found.append(Runnable(RunnableId(path), _TOP, name, _TOP))
    return tuple(found[:MAX_SUITES])


def skill_hints(skill: SkillFile, suites: tuple[Suite, ...], workspace: Workspace) -> tuple[InlayHint, ...]:
    """Return the verdict of the last run of each of these suites, for the end of the first line."""
    end = skill.lines.line_span(0).end
    hints: list[InlayHint] = []
    for suite in suites[:MAX_SUITES]:
        checkpoint()
        document = eval_document(workspace.project, suite)
        scores = read_scores(document, workspace.project)
        verdict = suite_verdict(document, scores, None)
        if verdict is not None:
            where = f" in {suite.folder.name}/{suite.path.name}" if len(suites) > 1 else ""
            hints.append(InlayHint(end, verdict.label + where, verdict.tooltip, verdict.changes, "skill"))
    return tuple(hints)
