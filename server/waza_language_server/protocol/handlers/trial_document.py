"""A recorded trial as a text to read, with what its graders find in it as they are written now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from waza_language_server.project.runnable_id import RunnableId
from waza_language_server.protocol.handlers.run_requests import FAILED, refused
from waza_language_server.protocol.own_requests import TRIAL_DOCUMENT
from waza_language_server.text.line_index import LineIndex

if TYPE_CHECKING:
    from waza_language_server.protocol.own_requests import TrialDocumentParams
    from waza_language_server.protocol.server import WazaServer

_KINDS = {"✓": "found", "✗": "forbidden", "≈": "near"}


async def trial_document(ls: WazaServer, params: TrialDocumentParams) -> dict[str, Any]:
    """Return the ``text``, and its ``marks``: a ``range``, the ``kind`` and in ``words`` which rule it is."""
    try:
        target = RunnableId.parse(params.id)
    except ValueError:
        target = None
    if target is None or target.task is None:
        raise refused(f"The `id` of {TRIAL_DOCUMENT} must be that of a task.")
    found = await ls.live.trial(target.suite, target.task, params.trial)
    if found is None:
        name = target.suite.name
        raise refused(f"The trial can be read while {name} is open and its graders are judged live.", FAILED)
    lines = LineIndex(found["text"])

    def place(offset: int) -> dict[str, int]:
        line, character = lines.position(offset, ls.session.encoding)
        return {"line": line, "character": character}

    marks = [
        {
            "range": {"start": place(mark["start"]), "end": place(mark["end"])},
            "kind": _KINDS.get(mark["words"][:1], "found"),
            "words": mark["words"],
        }
        for mark in found["marks"]
    ]
    return {"text": found["text"], "marks": marks}
