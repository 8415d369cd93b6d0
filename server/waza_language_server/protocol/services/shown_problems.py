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
    from collections.abc import Iterable

    from waza_language_server.analysis.problem import Problem
    from waza_language_server.project.document import Document
    from waza_language_server.project.index import Project
    from waza_language_server.protocol.server import WazaServer
    from waza_language_server.protocol.services.schedule import Publish
    from waza_language_server.protocol.services.workspace_problems import WorkspaceProblems

MOST_SHOWN = 1_000
"""Problems of one document; editors show no more, and each costs them and the wire."""
_WRITTEN_AT_ONCE = 16
_SYNTAX_OF_JSON = frozenset({"json-syntax", "duplicate-key"})


def diagnostics(ls: WazaServer) -> Diagnostics:
    """Return the problems of the open documents."""

    def need_types() -> None:
        ls.plug_in_types.need()

    publish = None if ls.abilities.pulls_diagnostics else _publisher(ls)
    return Diagnostics(ls.session, publish, need_types, ls.turns)


def workspace_problems(ls: WazaServer) -> WorkspaceProblems[str]:
    """Return the problems of the suite files that are not open, as JSON."""
    from waza_language_server.protocol.services.workspace_problems import WorkspaceProblems

    return WorkspaceProblems(
        ls.session, lambda document, found: written(ls, document, found, ls.session.project)
    )


def _publisher(ls: WazaServer) -> Publish:
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
    if ls.options.reports_json_syntax and document.tree.is_json and document.kind not in LINE_KINDS:
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
