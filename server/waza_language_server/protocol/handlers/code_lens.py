"""Lenses above what can be run; the lens of a run that goes on cancels it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from waza_engine.steps import in_steps
from waza_language_server.features.code_lens import code_lenses_in_steps
from waza_language_server.protocol.convert import Converter

if TYPE_CHECKING:
    from lsprotocol import types

    from waza_engine.steps import Steps
    from waza_language_server.project.document import Document
    from waza_language_server.protocol.server import WazaServer
    from waza_language_server.protocol.services.schedule import Answer


def code_lens(ls: WazaServer, params: types.CodeLensParams) -> Answer[list[types.CodeLens]]:
    """Return the lenses of a document."""

    def find(document: Document) -> Steps[list[types.CodeLens]]:
        running = {run.target for run in ls.active_runs}
        convert = Converter(document, ls.session.encoding, ls.abilities)
        lenses = yield from code_lenses_in_steps(document, ls.session.workspace, running)
        return (yield from in_steps(map(convert.code_lens, lenses)))

    return ls.diagnostics.answer(params.text_document.uri, find)
