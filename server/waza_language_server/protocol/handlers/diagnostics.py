"""Squiggles: pushed to clients that wait for them, given to clients that ask."""

from __future__ import annotations

import json
from heapq import nsmallest
from math import inf
from typing import TYPE_CHECKING

from lsprotocol import types

from waza_engine.checkpoint import checkpoint
from waza_language_server.protocol.messages import WrittenAnswer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from waza_language_server.analysis.problem import Problem
    from waza_language_server.project.document import Document
    from waza_language_server.project.index import Project
    from waza_language_server.protocol.server import WazaServer
    from waza_language_server.protocol.services.schedule import Publish

MOST_SHOWN = 1_000
"""Problems of one document; editors show no more, and each costs them and the wire."""
_WRITTEN_AT_ONCE = 16


def publisher(ls: WazaServer) -> Publish:
    """Return what sends problems to a client that does not ask for them."""

    def publish(uri: str, document: Document | None, problems: tuple[Problem, ...]) -> None:
        shown = "[]"
        if document is not None:
            shown = as_list(written(ls, document, problems, ls.session.project))
        params = f'"uri":{json.dumps(uri)},"diagnostics":{shown}'
        if document is not None and ls.abilities.versions_diagnostics:
            params += f',"version":{document.version}'
        ls.protocol.push_written(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, f"{{{params}}}")

    return publish


def written(ls: WazaServer, document: Document, problems: tuple[Problem, ...], project: Project) -> list[str]:
    """Return the problems as the client shows them, each as JSON; the last of too many counts the others.

    The most severe are shown.
    """
    from waza_language_server.protocol.convert import Converter

    convert = Converter(document, ls.session.encoding, ls.abilities)
    if document.tree.is_json and ls.options.reports_json_syntax:
        problems = tuple(problem for problem in problems if problem.code not in _SYNTAX_OF_JSON)
    shown, more = _shown(problems)
    found: list[str] = []
    for problem in shown:
        diagnostic = convert.diagnostic(problem, project)
        if len(found) + 1 == len(shown):
            diagnostic.message += more
        found.append(ls.protocol.written(diagnostic))
        if not len(found) % _WRITTEN_AT_ONCE:
            checkpoint()
    return found


def as_list(items: Iterable[str]) -> str:
    """Return a JSON list of items that are serialized already."""
    return f"[{','.join(items)}]"


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


def _rank(problem: Problem) -> int:
    # With the first file that has so many.
    from waza_language_server.analysis.problem import SEVERITIES

    return SEVERITIES.index(problem.severity)


_SYNTAX_OF_JSON = frozenset({"json-syntax", "duplicate-key"})


def _shown(problems: tuple[Problem, ...]) -> tuple[tuple[Problem, ...], str]:
    """Return the problems that are shown, and the message of the last of them about the others."""
    if len(problems) <= MOST_SHOWN:
        return problems, ""
    gravest = nsmallest(MOST_SHOWN, enumerate(problems), key=lambda each: _rank(each[1]))
    shown = tuple(problem for _, problem in sorted(gravest, key=lambda each: each[0]))
    left = len(problems) - MOST_SHOWN
    return shown, f"\n{left:,} more problems are not shown; `waza-language-server check` lists them all."
