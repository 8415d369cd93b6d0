"""``textDocument/hover``: what an item means, and what it matched in the recorded trials."""

from __future__ import annotations

from collections.abc import Coroutine
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from waza_language_server.documentation import documentation_folder
from waza_language_server.features.hover import hover as feature
from waza_language_server.project.document_scores import PATIENCE_SECONDS
from waza_language_server.project.uris import path_of
from waza_language_server.protocol.lsp_conversion import Converter

if TYPE_CHECKING:
    from typing import Any

    from lsprotocol import types

    from waza_language_server.project.document import Document
    from waza_language_server.project.graded_rule import Rule
    from waza_language_server.protocol.server import WazaServer

Found = tuple["Document", feature.Hover | None, "Rule | None"]


def hover(
    ls: WazaServer, params: types.HoverParams
) -> types.Hover | Coroutine[Any, Any, types.Hover | None] | None:
    """Return the explanation of the item at a position.

    For a rule with live verdicts, the engine reports what it matched.
    """

    def explain(document: Document) -> Found:
        offset = Converter(document, ls.session.encoding, ls.abilities).offset(params.position)
        found = feature.hover(
            document,
            ls.session.workspace,
            offset,
            documentation=documentation_folder(),
            patience=PATIENCE_SECONDS,
            prices=ls.model_prices,
        )
        if found is not None and found.text == feature.STILL_READING:
            uri = document.uri
            ls.turns.later(f"scores of {uri}", lambda: ls.changes.read_scores(uri))
        return document, found, _rule(ls, document, offset)

    answered = ls.diagnostics.answer(params.text_document.uri, explain)
    if answered is None:
        return None
    document, found, rule = answered
    if rule is not None:
        return _with_reason(ls, document, found, rule)
    return _converted(ls, document, found)


def _converted(ls: WazaServer, document: Document, found: feature.Hover | None) -> types.Hover | None:
    convert = Converter(document, ls.session.encoding, ls.abilities)
    return None if found is None else convert.hover(found)


def _rule(ls: WazaServer, document: Document, offset: int) -> Rule | None:
    """Return the rule at an offset when it can be judged live."""
    if not ls.grades_live:
        return None
    from waza_language_server.project.graded_rule import rule_under

    return rule_under(document, offset)


async def _with_reason(
    ls: WazaServer, document: Document, found: feature.Hover | None, rule: Rule
) -> types.Hover | None:
    """Add the matches of the rule in the recorded trials to the explanation of its value."""
    from waza_language_server.features.scores.live_text import TrialLocation, why_text

    path = path_of(document.uri)
    for suite in ls.session.project.suites_of(path) if path is not None else ():
        explained = await ls.live.explain(suite.path, rule)
        if explained is None or not ls.session.is_current(document):
            continue
        text = why_text(explained.answer, explained.recorded, datetime.now(UTC))
        if text:
            most = explained.answer["most"]
            place = TrialLocation(suite.path, str(most["task"]), int(most["trial"]), bool(most["passed"]))
            link = Converter(document, ls.session.encoding, ls.abilities).trial_link(place)
            text = "\n\n".join(part for part in (text, link) if part)
        if text and found is None:
            found = feature.Hover(rule.span, text)
        elif text and found is not None:
            found = replace(found, text=f"{text}\n\n---\n\n{found.text}")
        break
    return _converted(ls, document, found)
