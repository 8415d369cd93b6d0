"""Squiggles: pushed to clients that wait for them, given to clients that ask."""

from __future__ import annotations

import json
from heapq import nsmallest
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from waza_engine.steps import finished, in_steps

if TYPE_CHECKING:
    from waza_engine.steps import Steps
    from waza_language_server.analysis.problem import Problem
    from waza_language_server.project.document import Document
    from waza_language_server.project.index import Project
    from waza_language_server.protocol.server import WazaServer
    from waza_language_server.protocol.services.schedule import Publish
    from waza_language_server.protocol.services.written_problems import WrittenProblems

MOST_SHOWN = 1_000
"""Problems of one document; editors show no more, and each costs them and the wire."""
_WRITTEN_AT_ONCE = 16


def publisher(ls: WazaServer) -> Publish:
    """Return what sends problems, with pauses, to a client that does not ask for them."""
    from waza_language_server.protocol.services.written_problems import WrittenProblems

    known = WrittenProblems(ls.protocol.as_json)

    def publish(uri: str, document: Document | None, problems: tuple[Problem, ...]) -> Steps[None]:
        written = [] if document is None else (yield from _written(ls, known, document, problems))
        if document is not None and ls.kept_problems.shows(uri):
            found = json.loads(f"[{','.join(written)}]")
            yield
            if ls.kept_problems.confirm(uri, document.version, found):
                return
        params = f'"uri":{json.dumps(uri)},"diagnostics":[{",".join(written)}]'
        if document is not None and ls.abilities.versions_diagnostics:
            params += f',"version":{document.version}'
        ls.protocol.push_written(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, f"{{{params}}}")

    return publish


def _written(
    ls: WazaServer, known: WrittenProblems, document: Document, problems: tuple[Problem, ...]
) -> Steps[list[str]]:
    from waza_language_server.protocol.convert import Converter

    convert, project = Converter(document, ls.session.encoding, ls.abilities), ls.session.project
    shown, more = _shown(problems)
    written: list[str] = []
    for problem in shown:
        is_last = len(written) + 1 == len(shown)
        written.append(known.written(problem, convert, project, more if is_last else ""))
        if not len(written) % _WRITTEN_AT_ONCE:
            yield
    return written


async def pull(ls: WazaServer, params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
    """Answer with the problems of a document, or that they are those of the last time."""
    uri = params.text_document.uri
    if (kept := _kept(ls, uri)) is not None:
        ls.in_background(_confirm(ls, uri))
        result_id = f"{hash(repr(kept)):x}"
        if params.previous_result_id == result_id:
            return types.RelatedUnchangedDocumentDiagnosticReport(result_id)
        shown = ls.protocol.from_json(kept, list[types.Diagnostic])
        return types.RelatedFullDocumentDiagnosticReport(shown, result_id=result_id)
    newest = await ls.diagnostics.newest_problems(uri)
    diagnostics = [] if newest is None else finished(converted(ls, *newest))
    result_id = f"{hash(repr(diagnostics)):x}"
    if params.previous_result_id == result_id:
        return types.RelatedUnchangedDocumentDiagnosticReport(result_id)
    return types.RelatedFullDocumentDiagnosticReport(diagnostics, result_id=result_id)


def _kept(ls: WazaServer, uri: str) -> Any:
    """Return what was kept of a document that was just opened, if it still holds beside what else is open."""
    if not ls.kept_problems.shows(uri):
        return None
    early = next((item for item in ls.opened_early if item.uri == uri), None)
    if early is not None:
        return ls.kept_problems.take(uri, early.version, early.text)
    version, text = ls.session.version(uri), ls.session.text(uri)
    return None if version is None or text is None else ls.kept_problems.take(uri, version, text)


async def _confirm(ls: WazaServer, uri: str) -> None:
    """Let the client ask again when the analysis says something else than what was kept."""
    newest = await ls.diagnostics.newest_problems(uri)
    if newest is None or not ls.kept_problems.shows(uri):
        return
    found = ls.protocol.as_json(finished(converted(ls, *newest)))
    if not ls.kept_problems.confirm(uri, newest[0].version, found):
        ls.workspace_diagnostic_refresh(None)


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
    # With the first file that has so many.
    from waza_language_server.analysis.problem import SEVERITIES
    from waza_language_server.syntax.beginning import CHARACTERS

    return -1 if problem.span.end <= CHARACTERS else SEVERITIES.index(problem.severity)


def converted(
    ls: WazaServer, document: Document, problems: tuple[Problem, ...]
) -> Steps[list[types.Diagnostic]]:
    """Return the problems as the client shows them, the gravest of too many; the last tells of the others.

    Those at the beginning are among them: they may have been shown before the others were known.
    """
    return converted_in(ls, document, problems, ls.session.project)


def converted_in(
    ls: WazaServer, document: Document, problems: tuple[Problem, ...], project: Project
) -> Steps[list[types.Diagnostic]]:
    """Do the same beside other files than those of the session."""
    from waza_language_server.protocol.convert import Converter

    shown, more = _shown(problems)
    convert = Converter(document, ls.session.encoding, ls.abilities)
    diagnostics = yield from in_steps(convert.diagnostic(problem, project) for problem in shown)
    if more:
        diagnostics[-1].message += more
    return diagnostics


def _shown(problems: tuple[Problem, ...]) -> tuple[tuple[Problem, ...], str]:
    """Return the problems that are shown, and what the last of them says of the others."""
    if len(problems) <= MOST_SHOWN:
        return problems, ""
    gravest = nsmallest(MOST_SHOWN, enumerate(problems), key=lambda each: _rank(each[1]))
    shown = tuple(problem for _, problem in sorted(gravest, key=lambda each: each[0]))
    left = len(problems) - MOST_SHOWN
    return shown, f"\n{left:,} more problems are not shown; `waza-language-server check` lists them all."
