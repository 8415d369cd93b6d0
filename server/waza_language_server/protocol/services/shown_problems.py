"""Problems as a client shows them, serialized: pushed, or returned to clients that ask for them."""

from __future__ import annotations

import json
from heapq import nsmallest
from typing import TYPE_CHECKING

from lsprotocol import types

from waza_engine.checkpoint import checkpoint
from waza_language_server.protocol.services.schedule import Diagnostics
from waza_language_server.schema.catalog import LINE_KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from waza_language_server.analysis.problem import Problem
    from waza_language_server.project.document import Document
    from waza_language_server.project.index import Project
    from waza_language_server.protocol.connection import ClientConnection
    from waza_language_server.protocol.services.schedule import Publish
    from waza_language_server.protocol.services.session import Session
    from waza_language_server.protocol.services.workspace_problems import WorkspaceProblems

MOST_SHOWN = 1_000
"""Problems of one document; editors show no more, and each costs them and the wire."""
_WRITTEN_AT_ONCE = 16
_SYNTAX_OF_JSON = frozenset({"json-syntax", "duplicate-key"})


def client_diagnostics(
    client: ClientConnection, session: Session, need_types: Callable[[], None]
) -> Diagnostics:
    """Return the problems of the open documents.

    ``need_types`` is called when a document names a grader type that the catalog does not know.
    """
    publish = None if client.abilities.pulls_diagnostics else _publisher(client, session)
    return Diagnostics(session, publish, need_types, client.turns)


def client_workspace_problems(client: ClientConnection, session: Session) -> WorkspaceProblems[str]:
    """Return the problems of the suite files that are not open, as JSON."""
    from waza_language_server.protocol.services.workspace_problems import WorkspaceProblems

    return WorkspaceProblems(
        session,
        lambda document, found: diagnostics_as_json(client, session, document, found, session.project),
    )


def _publisher(client: ClientConnection, session: Session) -> Publish:
    """Return the function that sends problems to a client that does not ask for them."""

    def publish(uri: str, document: Document | None, problems: tuple[Problem, ...]) -> None:
        shown = "[]"
        if document is not None:
            shown = as_list(diagnostics_as_json(client, session, document, problems, session.project))
        params = f'"uri":{json.dumps(uri)},"diagnostics":{shown}'
        if document is not None and client.abilities.versions_diagnostics:
            params += f',"version":{document.version}'
        client.protocol.push_json(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, f"{{{params}}}")

    return publish


def diagnostics_as_json(
    client: ClientConnection,
    session: Session,
    document: Document,
    problems: tuple[Problem, ...],
    project: Project,
) -> list[str]:
    """Return the problems as the client shows them, each as JSON; the last of too many counts the others.

    The most severe are shown.
    """
    from waza_language_server.protocol.lsp_conversion import Converter

    convert = Converter(document, session.encoding, client.abilities)
    if client.options.reports_json_syntax and document.tree.is_json and document.kind not in LINE_KINDS:
        problems = tuple(problem for problem in problems if problem.code not in _SYNTAX_OF_JSON)
    shown, more = _shown(problems)
    found: list[str] = []
    for problem in shown:
        diagnostic = convert.diagnostic(problem, project)
        if len(found) + 1 == len(shown):
            diagnostic.message += more
        found.append(client.protocol.to_json(diagnostic))
        if not len(found) % _WRITTEN_AT_ONCE:
            checkpoint()
    return found


def as_list(items: Iterable[str]) -> str:
    """Return a JSON list of items that are serialized already."""
    return f"[{','.join(items)}]"


def _rank(problem: Problem) -> int:
    # With the first file that has so many.
    from waza_language_server.analysis.problem import SEVERITIES

    return SEVERITIES.index(problem.severity)


def _shown(problems: tuple[Problem, ...]) -> tuple[tuple[Problem, ...], str]:
    """Return the problems that are shown, and the message of the last of them about the others."""
    if len(problems) <= MOST_SHOWN:
        return problems, ""
    gravest = nsmallest(MOST_SHOWN, enumerate(problems), key=lambda each: _rank(each[1]))
    shown = tuple(problem for _, problem in sorted(gravest, key=lambda each: each[0]))
    left = len(problems) - MOST_SHOWN
    return shown, f"\n{left:,} more problems are not shown; `waza-language-server check` lists them all."
