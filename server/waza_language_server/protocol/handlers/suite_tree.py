"""The tree of suites, tasks and graders for clients with a test explorer, and what of it is stale."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from waza_language_server.features.runnables.suite_tree import TreeItem, children, suites
from waza_language_server.features.scores.stale_results import Shown
from waza_language_server.features.scores.stale_results import stale_results as stale_results_of
from waza_language_server.project.runnable_id import RunnableId
from waza_language_server.protocol.edit_conversion import FileConverter
from waza_language_server.protocol.handlers.run_requests import refused
from waza_language_server.text.labels import label

if TYPE_CHECKING:
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.protocol.own_requests import StaleResultsParams, TestsParams
    from waza_language_server.protocol.server import WazaServer


async def tests(ls: WazaServer, params: TestsParams) -> list[dict[str, Any]]:
    """Return the suites of the open folders, or the children of an item that was returned before."""
    try:
        parent = None if params.parent is None else RunnableId.parse(params.parent)
    except ValueError:
        raise refused("The `parent` of waza/tests must be the id of a suite or a task.") from None

    def find(workspace: Workspace) -> tuple[TreeItem, ...]:
        project = workspace.project
        return suites(project) if parent is None else children(project, parent)

    found = await ls.diagnostics.of_workspace(find)
    files = FileConverter(ls.session, ls.abilities)
    return [_document(item, files) for item in found]


async def stale_results(ls: WazaServer, params: StaleResultsParams) -> list[dict[str, Any]]:
    """Return ``id``, ``words`` and ``whole`` of each item of a suite with a result that may not hold."""
    try:
        asked = RunnableId.parse(params.id)
    except ValueError:
        asked = None
    if asked is None or asked.kind != "suite":
        raise refused("The `id` of waza/staleResults must be that of a suite.")
    suite = asked.suite
    shown = _shown(params)
    found = await ls.diagnostics.of_workspace(
        lambda workspace: stale_results_of(workspace.project, suite, shown)
    )
    return [{"id": str(each.id), "words": label(each.words), "whole": each.whole} for each in found]


def _shown(params: StaleResultsParams) -> Shown | None:
    if params.since is None:
        return None
    try:
        since = datetime.fromisoformat(params.since)
    except ValueError:
        raise refused("The `since` of waza/staleResults must be a time as ISO 8601 has it.") from None
    return Shown(
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
