"""Quick fixes of the problems under the cursor or in the selection, and all safe fixes together.

Clients without lenses get the commands of the lenses here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from waza_engine.files import FileError, read_bytes, text_of
from waza_language_server.features.actions.code_actions import (
    code_actions,
    fix_all,
    fixed,
    fixes_at,
    most_tried,
    not_tried,
)
from waza_language_server.project.disk import MAX_BYTES
from waza_language_server.project.uris import path_of, uri_of
from waza_language_server.protocol.lsp_conversion import Converter
from waza_language_server.protocol.services.edit_conversion import FileConverter
from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from waza_language_server.analysis.problem import Problem
    from waza_language_server.features.actions.code_actions import CodeAction
    from waza_language_server.features.runnables.code_lens import CodeLens
    from waza_language_server.project.document import Document
    from waza_language_server.project.graded_rule import Rule
    from waza_language_server.protocol.server import WazaServer

_REFACTORINGS = (
    types.CodeActionKind.RefactorExtract,
    types.CodeActionKind.RefactorInline,
    types.CodeActionKind.RefactorMove,
    types.CodeActionKind.RefactorRewrite,
)
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
    only = params.context.only
    quick = _wants(types.CodeActionKind.QuickFix, only)
    everything = _wants(types.CodeActionKind.SourceFixAll, only, unasked=False)
    if not (quick or everything or any(_wants(kind, only) for kind in _REFACTORINGS)):
        return []
    convert = Converter(document, ls.session.encoding, ls.abilities)
    span = Span(convert.offset(params.range.start), convert.offset(params.range.end))
    problems = await ls.diagnostics.problems_of(document)
    found: list[CodeAction] = []
    if problems is not None and quick:
        found += await _quick_fixes(ls, document, span, problems, params.context)
    if quick and ls.grades_live:
        found += await _recorded_fixes(ls, document, span)
    if problems is not None and everything:
        found += await _all_safe_fixes(ls, document, problems)
    found += await _refactorings(ls, document, span, problems, only)
    commands: list[types.CodeAction] = []
    if _wants(types.CodeActionKind.RefactorRewrite, only):
        commands += await _conversions(ls, document, span)
    chosen = params.context.trigger_kind != types.CodeActionTriggerKind.Automatic and _wants(RUNS, only)
    if chosen and not ls.abilities.shows_code_lenses:
        runs = await ls.diagnostics.on_snapshot(document, lambda: _lenses_around(ls, document, span))
        commands += (convert.run_action(lens, RUNS) for lens in runs or ())
    if not ls.session.is_current(document):
        return None
    actions = await ls.diagnostics.on_snapshot(document, lambda: _converted(ls, document, found))
    return None if actions is None else [*actions, *commands]


def _wants(
    kind: types.CodeActionKind | str,
    only: Sequence[types.CodeActionKind | str] | None,
    *,
    unasked: bool = True,
) -> bool:
    """Return whether a kind or a parent was requested: "source" is above "source.fixAll", "" above all.

    Without any request it is offered if ``unasked``.
    """
    if only is None:
        return unasked
    name, *asked = (str(getattr(each, "value", each)) for each in (kind, *only))
    return any(other in ("", name) or name.startswith(f"{other}.") for other in asked)


async def _refactorings(
    ls: WazaServer,
    document: Document,
    span: Span,
    problems: Sequence[Problem] | None,
    only: Sequence[types.CodeActionKind | str] | None,
) -> list[CodeAction]:
    from waza_language_server.features.actions.inline_task import extract_task, inline_task
    from waza_language_server.features.actions.move_grader import moved_grader
    from waza_language_server.features.actions.refactorings import refactorings

    workspace = ls.session.workspace
    makers: list[Callable[[], Sequence[CodeAction] | CodeAction | None]] = []
    if ls.abilities.creates_files and _wants(types.CodeActionKind.RefactorExtract, only):
        makers.append(lambda: extract_task(document, workspace, span))
    if ls.abilities.deletes_files and _wants(types.CodeActionKind.RefactorInline, only):
        makers.append(lambda: inline_task(document, workspace, span))
    if _wants(types.CodeActionKind.RefactorMove, only):
        makers.append(lambda: moved_grader(document, workspace, span))
    if problems is not None and _wants(types.CodeActionKind.RefactorRewrite, only):
        makers.append(lambda: refactorings(document, workspace, span, problems))
    found: list[CodeAction] = []
    for make in makers:
        made = await ls.diagnostics.on_snapshot(document, make)
        found += () if made is None else made if isinstance(made, Sequence) else (made,)
    return found


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
        ls.show_message_once(f"menu of {document.uri}", types.MessageType.Info, text)
    workspace = ls.session.workspace
    return (
        await ls.diagnostics.on_snapshot(
            document,
            lambda: code_actions(
                document, workspace, span, problems, creates_files=ls.abilities.creates_files
            ),
        )
        or ()
    )


async def _conversions(ls: WazaServer, document: Document, span: Span) -> list[types.CodeAction]:
    """Return the conversions of an eval file, which the engine does."""
    from waza_language_server.features.actions.suite_conversions import TITLES, suite_conversions

    workspace = ls.session.workspace
    offered = await ls.diagnostics.on_snapshot(
        document, lambda: suite_conversions(document, workspace, span) if ls.trusted else ()
    )
    kind, path = types.CodeActionKind.RefactorRewrite, str(path_of(document.uri))
    commands = {
        to: types.Command(TITLES[to], "waza.convert", arguments=[{"path": path, "to": to}])
        for to in offered or ()
    }
    return [types.CodeAction(TITLES[to], kind, command=command) for to, command in commands.items()]


async def _all_safe_fixes(
    ls: WazaServer, document: Document, problems: Sequence[Problem]
) -> Sequence[CodeAction]:
    workspace = ls.session.workspace
    found = await ls.diagnostics.on_snapshot(document, lambda: fixed(document, workspace, problems))
    if found is None:
        return ()
    if found.untried:
        ls.show_message(types.MessageType.Warning, not_tried(found.untried))
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


def _lenses_around(ls: WazaServer, document: Document, span: Span) -> Sequence[CodeLens]:
    """Return the lenses of the items around a selection."""
    from waza_language_server.features.runnables.code_lens import lenses_around

    if not ls.options.lens.enabled:
        return ()
    running, expected = {run.target for run in ls.active_runs}, ls.estimates.for_lenses
    affected = ls.affected.for_lenses
    lenses = lenses_around(document, ls.session.workspace, span, running, expected, affected)
    return [lens for lens in lenses if lens.kind in ls.options.lens]


async def _recorded_fixes(ls: WazaServer, document: Document, span: Span) -> list[CodeAction]:
    """Return the fixes of the rule at the start of a span; none when the text has changed meanwhile."""
    from waza_language_server.features.actions.recorded_fixes import recorded_fixes

    path, rule = path_of(document.uri), _rule_of(document, span)
    if path is None or rule is None:
        return []
    for suite in ls.session.project.suites_of(path):
        fixes = await ls.live.fixes(suite.path, rule)
        if fixes and ls.session.is_current(document):
            found = (
                await ls.diagnostics.on_snapshot(document, partial(recorded_fixes, document, rule, fixes))
                or []
            )
            files = [_of_file(ls, fix) for fix in fixes if "file" in fix]
            return [*found, *(fix for fix in files if fix is not None)]
    return []


def _rule_of(document: Document, span: Span) -> Rule | None:
    """Return the rule at the start of a span, or the one that begins on its line."""
    from waza_language_server.project.graded_rule import rule_under

    found = rule_under(document, span.start)
    if found is not None and found.node.kind == "scalar":
        return found
    line = document.text.find("\n", span.start)
    rest = document.text[span.start : line if line >= 0 else None]
    begins = len(rest) - len(rest.lstrip(" -"))
    return rule_under(document, span.start + begins) if rest.strip() else found


def _of_file(ls: WazaServer, fix: Mapping[str, Any]) -> CodeAction | None:
    from waza_language_server.features.actions.recorded_fixes import file_fix

    file = Path(fix["file"])
    open_text = ls.session.text(uri_of(file))
    if open_text is not None:
        return file_fix(fix, file, open_text)
    if not file.exists():
        return file_fix(fix, file, None) if ls.abilities.creates_files else None
    try:
        text = text_of(read_bytes(file, MAX_BYTES))
    except FileError:
        return None
    return file_fix(fix, file, text)
