"""Documents are opened, edited, saved and closed."""

from __future__ import annotations

import json
from math import inf
from typing import TYPE_CHECKING

from lsprotocol import types

from waza_language_server.project.uris import path_of
from waza_language_server.protocol.messages import UNVERSIONED, WrittenAnswer
from waza_language_server.protocol.services.shown_problems import as_list, diagnostics_as_json

if TYPE_CHECKING:
    from pathlib import Path

    from waza_language_server.protocol.server import WazaServer
    from waza_language_server.protocol.services.session import Change


def did_open(ls: WazaServer, params: types.DidOpenTextDocumentParams) -> None:
    """Take a new document."""
    item = params.text_document
    ls.session.open(item.uri, str(item.language_id), item.version, item.text)
    ls.diagnostics.edited(item.uri)
    ls.turns.later(f"scores of {item.uri}", lambda: _scores(ls, item.uri))


def did_change(ls: WazaServer, params: types.DidChangeTextDocumentParams) -> None:
    """Take edits, in parts or as a whole text."""
    document = params.text_document
    version = document.version
    if version == UNVERSIONED:
        version = (ls.session.version(document.uri) or 0) + 1
    ls.session.change(document.uri, version, [_change(change) for change in params.content_changes])
    ls.diagnostics.edited(document.uri)
    if ls.grades_live:
        ls.live.edited()


def did_save(ls: WazaServer, params: types.DidSaveTextDocumentParams) -> None:
    """Take the text for finished; its content may have become that of another tool."""
    was_typing = ls.session.saved(params.text_document.uri)
    if was_typing:
        ls.refresh.ask_for_problems()
    ls.diagnostics.edited(params.text_document.uri)
    if ls.grades_live:
        ls.live.edited(anyway=True)
    ls.changes.closed_files_changed(_paths(params.text_document.uri))
    ls.changes.costs_changed()
    if ls.existing_service("affected"):
        ls.refresh.ask_for_lenses()


def did_close(ls: WazaServer, params: types.DidCloseTextDocumentParams) -> None:
    """Forget a document."""
    ls.session.close(params.text_document.uri)
    ls.diagnostics.closed(params.text_document.uri)
    ls.sent_tokens.forget(params.text_document.uri)
    ls.pending_hints.forget(params.text_document.uri)
    if ls.grades_live:
        ls.live.edited()
    ls.changes.closed_files_changed(_paths(params.text_document.uri))


def _paths(uri: str) -> list[Path]:
    path = path_of(uri)
    return [path] if path is not None else []


def _scores(ls: WazaServer, uri: str) -> None:
    ls.changes.read_scores(uri)
    if ls.grades_live:
        ls.live.edited()


def _change(change: types.TextDocumentContentChangeEvent) -> Change:
    from waza_language_server.protocol.services.session import Change

    if isinstance(change, types.TextDocumentContentChangePartial):
        start, end = change.range.start, change.range.end
        return Change(change.text, (start.line, start.character, end.line, end.character))
    return Change(change.text)


async def pull(
    ls: WazaServer, params: types.DocumentDiagnosticParams
) -> types.RelatedUnchangedDocumentDiagnosticReport | WrittenAnswer:
    """Answer with the problems of a document, or that they are those of the last time."""
    uri = params.text_document.uri
    newest = await ls.diagnostics.newest_problems(uri)
    items = (
        "[]" if newest is None else as_list(diagnostics_as_json(ls, ls.session, *newest, ls.session.project))
    )
    result_id = f"{hash(items):x}"
    if params.previous_result_id == result_id:
        return types.RelatedUnchangedDocumentDiagnosticReport(result_id)
    return WrittenAnswer(f'{{"kind":"full","resultId":"{result_id}","items":{items}}}')


async def pull_workspace(ls: WazaServer, params: types.WorkspaceDiagnosticParams) -> WrittenAnswer:
    """Answer with the changed problems of files that are not open."""
    previous = {known.uri: known.value for known in params.previous_result_ids}
    # Files that were checked before a change are cached: it ends however often it begins again.
    while not await ls.diagnostics.compute(ls.workspace_problems.judge_some, most_restarts=inf):
        await ls.turns.give_way()
    found = ls.workspace_problems.reports(previous)
    reports = (
        f'{{"kind":"full","uri":{json.dumps(each.uri)},"version":null,'
        f'"resultId":"{each.result_id}","items":{as_list(each.items)}}}'
        for each in found
    )
    return WrittenAnswer(f'{{"items":{as_list(reports)}}}')
