"""The first completion, carried out before anybody asks for one: what it loads and compiles is there then."""

from __future__ import annotations

import logging
from importlib import import_module
from typing import TYPE_CHECKING

from lsprotocol import types

if TYPE_CHECKING:
    from waza_language_server.protocol.server import WazaServer

log = logging.getLogger(__name__)

_MODULES = (
    *("project.workspace", "features.hover.shape_text", "features.completion.item", "syntax.cursor"),
    *("embedded.languages", "features.completion.complete", "protocol.handlers.completion"),
    "protocol.services.model_prices",
)
"""What the first completion needs."""
_BEGUN = "graders:\n  - type: text\n    "


def rehearse_completion(ls: WazaServer) -> None:
    """Complete a key of a grader in a file that is not there; nothing is sent.

    Where that fails, as in a damaged installation, so will the first completion, and nothing else.
    """
    try:
        _complete(ls)
    except Exception:
        log.exception("What completes could not be loaded.")


def _complete(ls: WazaServer) -> None:
    for module in _MODULES:
        import_module(f"waza_language_server.{module}")
    from waza_language_server.features.completion.complete import complete
    from waza_language_server.project.document import Document
    from waza_language_server.project.index import Project
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.protocol.convert import Converter
    from waza_language_server.schema.catalog import default_catalog

    document = Document("untitled:rehearsal", 0, _BEGUN, "eval")
    found = complete(document, Workspace(Project(), default_catalog()), len(_BEGUN))
    answer = Converter(document, "utf-16", ls.abilities).completions(found)
    where = {"textDocument": {"uri": document.uri}, "position": {"line": 2, "character": 4}}
    ls.protocol.rehearse(types.TEXT_DOCUMENT_COMPLETION, where, answer)
