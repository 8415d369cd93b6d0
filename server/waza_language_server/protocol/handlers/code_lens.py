"""Lenses above what can be run; the lens of a run that goes on cancels it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from waza_language_server.features.code_lens import code_lenses
from waza_language_server.protocol.convert import Converter

if TYPE_CHECKING:
    from waza_language_server.protocol.server import WazaServer


def code_lens(ls: WazaServer, params: types.CodeLensParams) -> list[types.CodeLens] | None:
    """Return the lenses of a document."""
    document = ls.session.document(params.text_document.uri)
    if document is None:
        return None
    running = {(run.target.suite, run.target.task, run.target.grader) for run in ls.active_runs}
    convert = Converter(document, ls.session.encoding, ls.abilities)
    return [convert.code_lens(lens) for lens in code_lenses(document, ls.session.project, running)]
