"""Squiggles: pushed to clients that wait for them, given to clients that ask."""

from __future__ import annotations

from heapq import nsmallest
from typing import TYPE_CHECKING

from lsprotocol import types

from waza_engine.steps import finished, in_steps
from waza_language_server.protocol.convert import Converter
from waza_language_server.syntax.beginning import CHARACTERS as BEGINNING

if TYPE_CHECKING:
    from waza_engine.steps import Steps
    from waza_language_server.analysis.problem import Problem
    from waza_language_server.project.document import Document
    from waza_language_server.protocol.server import WazaServer
    from waza_language_server.protocol.services.schedule import Publish

MOST_SHOWN = 1_000
"""Problems of one document; editors show no more, and each costs them and the wire."""
_ORDER = {"error": 0, "warning": 1, "information": 2, "hint": 3}


def publisher(ls: WazaServer) -> Publish:
    """Return what sends problems, with pauses, to a client that does not ask for them."""

    def publish(uri: str, document: Document | None, problems: tuple[Problem, ...]) -> Steps[None]:
        version = document.version if document is not None and ls.abilities.versions_diagnostics else None
        diagnostics = [] if document is None else (yield from converted(ls, document, problems))
        ls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, diagnostics, version))

    return publish


async def pull(ls: WazaServer, params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
    """Answer with the problems of a document, or that they are those of the last time."""
    newest = await ls.diagnostics.newest_problems(params.text_document.uri)
    diagnostics = [] if newest is None else finished(converted(ls, *newest))
    result_id = f"{hash(repr(diagnostics)):x}"
    if params.previous_result_id == result_id:
        return types.RelatedUnchangedDocumentDiagnosticReport(result_id)
    return types.RelatedFullDocumentDiagnosticReport(diagnostics, result_id=result_id)


async def pull_workspace(
    ls: WazaServer, params: types.WorkspaceDiagnosticParams
) -> types.WorkspaceDiagnosticReport:
    """Answer with what is new of the problems of files that are not open."""
    previous = {known.uri: known.value for known in params.previous_result_ids}
    found = await ls.diagnostics.worked_out(ls.workspace_problems.reports(previous))
    full = types.WorkspaceFullDocumentDiagnosticReport
    return types.WorkspaceDiagnosticReport(
        [full(uri=each.uri, items=each.items, result_id=each.result_id) for each in found]
    )


def _rank(problem: Problem) -> int:
    return -1 if problem.span.end <= BEGINNING else _ORDER[problem.severity]


def converted(
    ls: WazaServer, document: Document, problems: tuple[Problem, ...]
) -> Steps[list[types.Diagnostic]]:
    """Return the problems as the client shows them, the gravest of too many; the last tells of the others.

    Those at the beginning are among them: they may have been shown before the others were known.
    """
    shown = problems
    if len(problems) > MOST_SHOWN:
        gravest = nsmallest(MOST_SHOWN, enumerate(problems), key=lambda each: _rank(each[1]))
        shown = tuple(problem for _, problem in sorted(gravest, key=lambda each: each[0]))
    convert = Converter(document, ls.session.encoding, ls.abilities)
    diagnostics = yield from in_steps(convert.diagnostic(problem, ls.session.project) for problem in shown)
    if len(problems) > len(shown):
        left = len(problems) - len(shown)
        diagnostics[
            -1
        ].message += f"\n{left:,} more problems are not shown; `waza-language-server check` lists them all."
    return diagnostics
