"""Quick fixes of the problems under the cursor or in the selection, and all safe fixes together.

Clients without lenses get the commands of the lenses here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from waza_language_server.features.actions.code_actions import (
    code_actions,
    fix_all,
    fixed,
    fixes_at,
    most_tried,
    not_tried,
)
from waza_language_server.features.actions.extract_task import extract_task
from waza_language_server.protocol.convert import Converter
from waza_language_server.protocol.edit_conversion import FileConverter
from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from waza_language_server.analysis.problem import Problem
    from waza_language_server.features.actions.code_actions import CodeAction
    from waza_language_server.features.runnables.code_lens import CodeLens
    from waza_language_server.project.document import Document
    from waza_language_server.protocol.server import WazaServer

RUNS = "waza.run"
"""The kind of the actions that are the lenses of the items around the cursor."""


async def code_action(ls: WazaServer, params: types.CodeActionParams) -> list[types.CodeAction] | None:
    """Return the fixes of the problems that the range touches, the safe ones first.

    A newer text makes the work pointless, and nothing is answered. The action that applies all safe fixes is
    only made when it is requested by its kind.
    """
    document = ls.session.document(params.text_document.uri)
    if document is None or not ls.abilities.knows_code_actions:
        return None
    asked = _asked(params.context.only)
    quick = params.context.only is None or _wants(types.CodeActionKind.QuickFix.value, asked)
    everything = _wants(types.CodeActionKind.SourceFixAll.value, asked)
    extract = params.context.only is None or _wants(types.CodeActionKind.RefactorExtract.value, asked)
    extract = extract and ls.abilities.creates_files
    rewrite = params.context.only is None or _wants(types.CodeActionKind.RefactorRewrite.value, asked)
    inline = params.context.only is None or _wants(types.CodeActionKind.RefactorInline.value, asked)
    inline = inline and ls.abilities.deletes_files
    move = params.context.only is None or _wants(types.CodeActionKind.RefactorMove.value, asked)
    if not (quick or everything or extract or inline or move or rewrite):
        return []
    convert = Converter(document, ls.session.encoding, ls.abilities)
    span = Span(convert.offset(params.range.start), convert.offset(params.range.end))
    problems = await ls.diagnostics.problems_of(document)
    workspace = ls.session.workspace
    found: list[CodeAction] = []
    if problems is not None and quick:
        found += await _quick_fixes(ls, document, span, problems, params.context)
    if quick and ls.judges_live:
        from waza_language_server.protocol.handlers.recorded_fixes import recorded_fixes

        found += await recorded_fixes(ls, document, span)
    if problems is not None and everything:
        found += await _all_safe_fixes(ls, document, problems)
    if extract:
        action = await ls.diagnostics.on_snapshot(document, lambda: extract_task(document, workspace, span))
        found += [action] if action is not None else []
    if inline:
        from waza_language_server.features.actions.inline_task import inline_task

        action = await ls.diagnostics.on_snapshot(document, lambda: inline_task(document, workspace, span))
        found += [action] if action is not None else []
    if move:
        from waza_language_server.features.actions.move_grader import moved_grader

        found += (
            await ls.diagnostics.on_snapshot(document, lambda: moved_grader(document, workspace, span)) or ()
        )
    if problems is not None and rewrite:
        from waza_language_server.features.actions.refactorings import refactorings

        found += (
            await ls.diagnostics.on_snapshot(
                document, lambda: refactorings(document, workspace, span, problems)
            )
            or ()
        )
    runs: Sequence[CodeLens] = ()
    chosen = params.context.trigger_kind != types.CodeActionTriggerKind.Automatic
    chosen = chosen and (params.context.only is None or _wants(RUNS, asked))
    if chosen and not ls.abilities.shows_code_lenses:
        from waza_language_server.protocol.handlers.code_lens import lenses_around

        runs = await ls.diagnostics.on_snapshot(document, lambda: lenses_around(ls, document, span)) or ()
    if not ls.session.is_current(document):
        return None
    actions = await ls.diagnostics.on_snapshot(document, lambda: _converted(ls, document, found))
    return None if actions is None else [*actions, *(convert.run_action(lens, RUNS) for lens in runs)]


async def _quick_fixes(
    ls: WazaServer,
    document: Document,
    span: Span,
    problems: Sequence[Problem],
    context: types.CodeActionContext,
) -> Sequence[CodeAction]:
    """Return the fixes of a menu; tell the user who opens one that lacks some."""
    is_opened = context.trigger_kind != types.CodeActionTriggerKind.Automatic
    most = most_tried(document)
    if is_opened and len(fixes_at(span, problems)) > most:
        text = f"The menu has the first {most} fixes; select fewer lines for the others."
        ls.tell_once(f"menu of {document.uri}", types.MessageType.Info, text)
    workspace = ls.session.workspace
    return (
        await ls.diagnostics.on_snapshot(document, lambda: code_actions(document, workspace, span, problems))
        or ()
    )


async def _all_safe_fixes(
    ls: WazaServer, document: Document, problems: Sequence[Problem]
) -> Sequence[CodeAction]:
    workspace = ls.session.workspace
    found = await ls.diagnostics.on_snapshot(document, lambda: fixed(document, workspace, problems))
    if found is None:
        return ()
    if found.untried:
        ls.tell(types.MessageType.Warning, not_tried(found.untried))
    action = fix_all(document, found)
    return () if action is None else (action,)


def _converted(ls: WazaServer, document: Document, found: Sequence[CodeAction]) -> list[types.CodeAction]:
    """Return actions as the client takes them."""
    convert = Converter(document, ls.session.encoding, ls.abilities)
    files = FileConverter(ls.session, ls.abilities)
    actions: list[types.CodeAction] = []
    for action in found:
        if any(map(files.shows_others, action.change.files)):
            continue
        edit = files.workspace_edit(action.change)
        actions.append(convert.code_action(action, edit, ls.session.project))
    return actions


def _asked(kinds: Sequence[types.CodeActionKind | str] | None) -> list[str]:
    return [str(getattr(kind, "value", kind)) for kind in kinds or ()]


def _wants(kind: str, asked: Sequence[str]) -> bool:
    """Return whether a kind or a parent was requested: "source" is above "source.fixAll", "" above all."""
    return any(other == "" or kind == other or kind.startswith(f"{other}.") for other in asked)
