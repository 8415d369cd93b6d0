"""The first completion, carried out before anybody asks for one: what it loads and compiles is there then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from waza_language_server.protocol.loading import FOR_COMPLETION, load

if TYPE_CHECKING:
    from waza_engine.steps import Steps
    from waza_language_server.protocol.server import WazaServer

COMPLETION_REHEARSED = "completion"
"""The name of this among the work that nobody waits for."""
_BEGUN = "graders:\n  - type: text\n    "


def rehearse_completion(ls: WazaServer) -> Steps[None]:
    """Complete a key of a grader in a file that is not there, with pauses; nothing is sent."""
    yield from load(FOR_COMPLETION)
    from waza_language_server.features.completion import complete
    from waza_language_server.project.document import Document
    from waza_language_server.project.index import Project
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.protocol.convert import Converter

    document = Document("untitled:rehearsal", 0, _BEGUN, "eval")
    found = complete(document, Workspace(Project(), ls.session.workspace.catalog), len(_BEGUN))
    yield
    answer = Converter(document, ls.session.encoding, ls.abilities).completions(found)
    yield
    where = {"textDocument": {"uri": document.uri}, "position": {"line": 2, "character": 4}}
    yield from ls.protocol.rehearse(types.TEXT_DOCUMENT_COMPLETION, where, answer)
