"""Runnables, for clients that show them elsewhere than in lenses: of a document, and as a tree of tests."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from waza_engine.checkpoint import collect
from waza_language_server.features.runnables.runnables import runnables as runnables_of
from waza_language_server.features.runnables.runnables import suites_run_from
from waza_language_server.project.runnable_id import RunnableId
from waza_language_server.protocol.lsp_conversion import Converter
from waza_language_server.protocol.messages import refused
from waza_language_server.protocol.own_requests import STALE_RESULTS
from waza_language_server.protocol.services.edit_conversion import FileConverter
from waza_language_server.protocol.services.run_requests import target_of
from waza_language_server.text.label_escaping import label

if TYPE_CHECKING:
    from collections.abc import Iterable

    from waza_language_server.features.runnables.runnables import TreeItem
    from waza_language_server.features.scores.stale_results import DisplayedResults
    from waza_language_server.project.document import Document, DocumentKind
    from waza_language_server.project.skill_file import SkillFile
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.protocol.own_requests import (
        RunnablesParams,
        StaleResultsParams,
        SuiteStateParams,
        TestsParams,
    )
    from waza_language_server.protocol.server import WazaServer


def runnables(ls: WazaServer, params: RunnablesParams) -> list[dict[str, Any]] | None:
    """Return what can be run: ``id``, ``kind``, ``label``, ``range`` and the id of the ``parent`` of each."""

    def find(document: Document) -> list[dict[str, Any]]:
        convert = Converter(document, ls.session.encoding, ls.abilities)
        found = runnables_of(document, ls.session.workspace)
        return collect(map(convert.runnable, found))

    def find_of_skill(skill: SkillFile) -> list[dict[str, Any]]:
        from waza_language_server.features.runnables.skill_suites import skill_runnables

        suites = ls.session.suites_of_skills.of(skill, ls.session.project)
        convert = Converter(skill, ls.session.encoding, ls.abilities)
        return list(map(convert.runnable, skill_runnables(suites)))

    return ls.diagnostics.answer(params.text_document.uri, find, find_of_skill)


def suite_state(ls: WazaServer, params: SuiteStateParams) -> dict[str, bool | str] | None:
    """Return the ``kind`` of a document, whether it ``canRun`` and whether a run of it is ``recorded``."""

    def find(document: Document) -> dict[str, bool | str]:
        return _state(ls, document.kind, suites_run_from(document, ls.session.workspace))

    def find_of_skill(skill: SkillFile) -> dict[str, bool | str]:
        suites = ls.session.suites_of_skills.of(skill, ls.session.project)
        return _state(ls, "skill", (suite.path for suite in suites))

    return ls.diagnostics.answer(params.text_document.uri, find, find_of_skill)


def _state(ls: WazaServer, kind: DocumentKind, suites: Iterable[Path]) -> dict[str, bool | str]:
    can_run = recorded = False
    for suite in suites:
        can_run = True
        recorded = recorded or ls.session.project.scores.results(suite) is not None
    return {"kind": kind, "canRun": can_run, "recorded": recorded}


async def tests(ls: WazaServer, params: TestsParams) -> list[dict[str, Any]]:
    """Return the suites of the open folders, or the children of an item that was returned before."""
    from waza_language_server.features.runnables.runnables import children, suites

    try:
        parent = None if params.parent is None else RunnableId.parse(params.parent)
    except ValueError:
        raise refused("The `parent` of waza/tests must be the id of a suite or a task.") from None

    def find(workspace: Workspace) -> tuple[TreeItem, ...]:
        project = workspace.project
        return suites(project) if parent is None else children(project, parent)

    found = await ls.diagnostics.answer_for_workspace(find)
    files = FileConverter(ls.session, ls.abilities)
    return [_document(item, files) for item in found]


async def stale_results(ls: WazaServer, params: StaleResultsParams) -> list[dict[str, Any]]:
    """Return ``id``, ``words`` and ``whole`` of each item of a suite with a result that may not hold."""
    from waza_language_server.features.scores.stale_results import stale_results as stale_results_of

    target, shown = target_of(params.id, STALE_RESULTS), _shown(params)
    if target.kind != "suite":
        raise refused(f"The `id` of {STALE_RESULTS} must be that of a suite.")
    found = await ls.diagnostics.answer_for_workspace(
        lambda workspace: stale_results_of(workspace.project, target.suite, shown)
    )
    return [{"id": str(each.id), "words": label(each.words), "whole": each.whole} for each in found]


def _shown(params: StaleResultsParams) -> DisplayedResults | None:
    from waza_language_server.features.scores.stale_results import DisplayedResults

    if params.since is None:
        return None
    try:
        since = datetime.fromisoformat(params.since)
    except ValueError:
        raise refused("The `since` of waza/staleResults must be a time as ISO 8601 has it.") from None
    return DisplayedResults(
        since if since.tzinfo is not None else since.astimezone(), frozenset(map(Path, params.results))
    )


def _document(item: TreeItem, files: FileConverter) -> dict[str, Any]:
    # Edits while a large workspace is read do not discard its tree.
    location = files.location_then(item.place)
    return {
        "id": item.id,
        "runs": item.runs,
        "kind": item.kind,
        "label": label(item.label),
        "hasChildren": item.has_children,
        "uri": location.uri,
        "range": location.range,
    }
