"""Fixes of a rule that the engine derives from the recorded trials and validates on them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from waza_engine.files import FileError, read_bytes, text_of
from waza_language_server.features.actions.recorded_fixes import file_fix
from waza_language_server.features.actions.recorded_fixes import recorded_fixes as feature
from waza_language_server.project.disk import MAX_BYTES
from waza_language_server.project.rules import rule_under
from waza_language_server.project.uris import path_of, uri_of

if TYPE_CHECKING:
    from waza_language_server.features.actions.code_actions import CodeAction
    from waza_language_server.project.document import Document
    from waza_language_server.project.rules import Rule
    from waza_language_server.protocol.server import WazaServer
    from waza_language_server.text.span import Span


async def recorded_fixes(ls: WazaServer, document: Document, span: Span) -> list[CodeAction]:
    """Return the fixes of the rule at the start of a span; none when the text has changed meanwhile."""
    path, rule = path_of(document.uri), _rule_of(document, span)
    if path is None or rule is None:
        return []
    for suite in ls.session.project.suites_of(path):
        fixes = await ls.live.fixes(suite.path, rule)
        if fixes and ls.session.is_current(document):
            found = await ls.diagnostics.on_snapshot(document, partial(feature, document, rule, fixes)) or []
            files = [_of_file(ls, fix) for fix in fixes if "file" in fix]
            return [*found, *(fix for fix in files if fix is not None)]
    return []


def _rule_of(document: Document, span: Span) -> Rule | None:
    """Return the rule at the start of a span, or the one that begins on its line."""
    found = rule_under(document, span.start)
    if found is not None and found.node.kind == "scalar":
        return found
    line = document.text.find("\n", span.start)
    rest = document.text[span.start : line if line >= 0 else None]
    begins = len(rest) - len(rest.lstrip(" -"))
    return rule_under(document, span.start + begins) if rest.strip() else found


def _of_file(ls: WazaServer, fix: Mapping[str, Any]) -> CodeAction | None:
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
