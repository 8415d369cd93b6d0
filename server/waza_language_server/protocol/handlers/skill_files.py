"""Clients hand over ``SKILL.md`` files as well: their lenses run the suites that test the skill.

They are asked for after the introduction, and for these features alone. A client that is told of features
once takes them for all files that it hands over, and nobody wants another formatter in Markdown.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from waza_language_server.project.suite_files import SKILL_NAME

if TYPE_CHECKING:
    from waza_language_server.protocol.server import WazaServer

_SELECTOR = (types.TextDocumentFilterPattern(pattern=f"**/{SKILL_NAME}", scheme="file"),)

log = logging.getLogger(__name__)


async def take_skill_files(ls: WazaServer) -> None:
    """Ask the client for the text of skill files, their lenses and their hints."""
    plain = types.TextDocumentRegistrationOptions(_SELECTOR)
    changes = types.TextDocumentChangeRegistrationOptions(
        types.TextDocumentSyncKind.Incremental, document_selector=_SELECTOR
    )
    wanted = {
        types.TEXT_DOCUMENT_DID_OPEN: plain,
        types.TEXT_DOCUMENT_DID_CHANGE: changes,
        types.TEXT_DOCUMENT_DID_SAVE: types.TextDocumentSaveRegistrationOptions(_SELECTOR),
        types.TEXT_DOCUMENT_DID_CLOSE: plain,
        types.TEXT_DOCUMENT_CODE_LENS: types.CodeLensRegistrationOptions(_SELECTOR),
        types.TEXT_DOCUMENT_INLAY_HINT: types.InlayHintRegistrationOptions(document_selector=_SELECTOR),
    }
    registrations = [
        types.Registration(f"waza-skills {method}", method, options) for method, options in wanted.items()
    ]
    try:
        await ls.client_register_capability_async(types.RegistrationParams(registrations))
    except JsonRpcException as error:
        log.warning("The client does not hand over skill files: %s", error.message)
