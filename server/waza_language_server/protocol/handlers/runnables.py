"""What can be run in a document, for clients that show it elsewhere than in lenses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from waza_engine.steps import in_steps
from waza_language_server.features.runnables import runnables_in_steps
from waza_language_server.protocol.convert import Converter

if TYPE_CHECKING:
    from waza_engine.steps import Steps
    from waza_language_server.project.document import Document
    from waza_language_server.protocol.own_requests import RunnablesParams
    from waza_language_server.protocol.server import WazaServer
    from waza_language_server.protocol.services.schedule import Answer


def runnables(ls: WazaServer, params: RunnablesParams) -> Answer[list[dict[str, Any]]]:
    """Return what can be run: ``id``, ``kind``, ``label``, ``range`` and the id of the ``parent`` of each."""

    def find(document: Document) -> Steps[list[dict[str, Any]]]:
        convert = Converter(document, ls.session.encoding, ls.abilities)
        found = yield from runnables_in_steps(document, ls.session.workspace)
        return (yield from in_steps(map(convert.runnable, found)))

    return ls.diagnostics.answer(params.text_document.uri, find)
