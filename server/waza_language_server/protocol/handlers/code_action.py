"""Quick fixes of the problems under the cursor or in the selection, and all safe fixes at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from waza_language_server.features.code_actions import code_actions, fix_all
from waza_language_server.protocol.convert import Converter
from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from waza_language_server.protocol.server import WazaServer


def code_action(ls: WazaServer, params: types.CodeActionParams) -> list[types.CodeAction] | None:
    """Return the fixes of the problems that the range touches, the safe ones first.

    The action that applies all safe fixes is only made when it is asked for by its kind.
    """
    document = ls.session.document(params.text_document.uri)
    if document is None or not ls.abilities.knows_code_actions:
        return None
    convert = Converter(document, ls.session.encoding, ls.abilities)
    problems = ls.diagnostics.problems(document)
    project = ls.session.project
    asked = _asked(params.context.only)
    found: list[types.CodeAction] = []
    if params.context.only is None or _wants(types.CodeActionKind.QuickFix, asked):
        span = Span(convert.offset(params.range.start), convert.offset(params.range.end))
        actions = code_actions(document, project, span, problems)
        found += [convert.code_action(action, project) for action in actions]
    if _wants(types.CodeActionKind.SourceFixAll, asked):
        action = fix_all(document, project, problems)
        found += [convert.code_action(action, project)] if action is not None else []
    return found


def _asked(kinds: Sequence[types.CodeActionKind | str] | None) -> list[str]:
    return [str(getattr(kind, "value", kind)) for kind in kinds or ()]


def _wants(kind: types.CodeActionKind, asked: Sequence[str]) -> bool:
    """Whether a kind or one above it was asked for; "source" is above "source.fixAll", "" above all."""
    return any(other == "" or kind.value == other or kind.value.startswith(f"{other}.") for other in asked)
