"""Quick fixes of the problems under the cursor or in the selection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from waza_language_server.protocol.convert import Converter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from waza_language_server.protocol.server import WazaServer


def code_action(ls: WazaServer, params: types.CodeActionParams) -> list[types.CodeAction] | None:
    """Return the fixes of the problems that the range touches, the safe ones first."""
    document = ls.session.document(params.text_document.uri)
    if document is None or not ls.abilities.knows_code_actions or not _wants_fixes(params.context.only):
        return None
    convert = Converter(document, ls.session.encoding, ls.abilities)
    start, end = convert.offset(params.range.start), convert.offset(params.range.end)
    found = [
        (problem, fix)
        for problem in ls.diagnostics.problems(document)
        if problem.span.start <= end and start <= problem.span.end
        for fix in problem.fixes
    ]
    found.sort(key=lambda pair: not pair[1].preferred)
    return [convert.code_action(problem, fix, ls.session.project) for problem, fix in found]


def _wants_fixes(kinds: Sequence[types.CodeActionKind | str] | None) -> bool:
    if kinds is None:
        return True
    wanted = types.CodeActionKind.QuickFix.value
    # A client that asks for a kind asks for the kinds below it too; "" stands for all.
    asked = (str(getattr(kind, "value", kind)) for kind in kinds)
    return any(kind == "" or wanted == kind or wanted.startswith(f"{kind}.") for kind in asked)
