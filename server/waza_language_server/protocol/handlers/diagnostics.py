"""Diagnostics for clients that ask for them; to others ``services/shown_problems.py`` pushes them."""

from __future__ import annotations

import json
from math import inf
from typing import TYPE_CHECKING

from lsprotocol import types

from waza_language_server.protocol.messages import WrittenAnswer
from waza_language_server.protocol.services.shown_problems import as_list, written

if TYPE_CHECKING:
    from waza_language_server.protocol.server import WazaServer


async def pull(
    ls: WazaServer, params: types.DocumentDiagnosticParams
) -> types.RelatedUnchangedDocumentDiagnosticReport | WrittenAnswer:
    """Answer with the problems of a document, or that they are those of the last time."""
    uri = params.text_document.uri
    items = await _written_now(ls, uri)
    result_id = f"{hash(items):x}"
    if params.previous_result_id == result_id:
        return types.RelatedUnchangedDocumentDiagnosticReport(result_id)
    return WrittenAnswer(f'{{"kind":"full","resultId":"{result_id}","items":{items}}}')


async def _written_now(ls: WazaServer, uri: str) -> str:
    """Return the list of the problems of the newest text of a document."""
    newest = await ls.diagnostics.newest_problems(uri)
    return "[]" if newest is None else as_list(written(ls, *newest, ls.session.project))


async def pull_workspace(ls: WazaServer, params: types.WorkspaceDiagnosticParams) -> WrittenAnswer:
    """Answer with the changed problems of files that are not open."""
    previous = {known.uri: known.value for known in params.previous_result_ids}
    # Files that were checked before a change are cached: it ends however often it begins again.
    while not await ls.diagnostics.worked_out(ls.workspace_problems.judge_some, most_restarts=inf):
        await ls.turns.give_way()
    found = ls.workspace_problems.reports(previous)
    reports = (
        f'{{"kind":"full","uri":{json.dumps(each.uri)},"version":null,'
        f'"resultId":"{each.result_id}","items":{as_list(each.items)}}}'
        for each in found
    )
    return WrittenAnswer(f'{{"items":{as_list(reports)}}}')
