"""Scores at line ends, from the last results.

Results that take long to read are read in the background, followed by a refresh request to the client: until
then there are no hints rather than old ones. A client without refresh support waits for them.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from waza_engine.checkpoint import collect, within
from waza_language_server.features.scores.inlay_hints import fitted, inlay_hints
from waza_language_server.project.document_scores import (
    PATIENCE_SECONDS,
    read_scores,
    scores,
)
from waza_language_server.protocol.asking_again import ask_for_hints
from waza_language_server.protocol.convert import Converter
from waza_language_server.protocol.handlers.run_requests import is_at_home
from waza_language_server.text.span import Span

log = logging.getLogger(__name__)

if TYPE_CHECKING:
    from lsprotocol import types

    from waza_language_server.features.scores.inlay_hints import InlayHint
    from waza_language_server.project.document import Document
    from waza_language_server.project.skill_file import SkillFile
    from waza_language_server.protocol.server import WazaServer


def inlay_hint(ls: WazaServer, params: types.InlayHintParams) -> list[types.InlayHint] | None:
    """Return the scores in the part of a document that the client shows."""
    wanted = ls.options.hints

    def find(document: Document) -> list[types.InlayHint]:
        if not _read_soon(ls, document):
            return []
        convert = Converter(document, ls.session.encoding, ls.abilities)
        shown = Span(convert.offset(params.range.start), convert.offset(params.range.end))
        if "history" in wanted:
            _look_at_histories(ls, document)
        hints = inlay_hints(document, ls.session.workspace, shown)
        kept = fitted([hint for hint in hints if hint.kind in wanted], document.lines)
        return collect(convert.inlay_hints(kept))

    def find_of_skill(skill: SkillFile) -> list[types.InlayHint]:
        convert = Converter(skill, ls.session.encoding, ls.abilities)
        shown = Span(convert.offset(params.range.start), convert.offset(params.range.end))
        hints = hints_of_skill(ls, skill)
        if "requirement" in wanted:
            hints += _hints_of_requirements(ls, skill)
        kept = [hint for hint in hints if hint.kind in wanted and shown.contains(hint.offset)]
        return list(convert.inlay_hints(fitted(kept, skill.lines)))

    if not wanted.enabled:
        return []
    return ls.diagnostics.answer(params.text_document.uri, find, find_of_skill)


def hints_of_skill(ls: WazaServer, skill: SkillFile) -> tuple[InlayHint, ...]:
    """Return the hints of a ``SKILL.md``, its results read."""
    from waza_language_server.features.runnables.skill_suites import skill_hints

    suites = ls.session.suites_of_skills.of(skill, ls.session.project)
    return skill_hints(skill, suites, ls.session.workspace)


def _hints_of_requirements(ls: WazaServer, skill: SkillFile) -> tuple[InlayHint, ...]:
    from waza_language_server.features.scores.requirement_hints import requirement_hints

    suites = ls.session.suites_of_skills.of(skill, ls.session.project)
    return requirement_hints(skill, suites, ls.session.project)


def prepare(ls: WazaServer, uri: str) -> None:
    """Read the results of the suites of an open document, so that its scores are known when asked for."""
    with ls.turns.reading(uri):
        document = ls.session.read(uri)
    if document is not None:
        read_scores(document, ls.session.project)


def _look_at_histories(ls: WazaServer, document: Document) -> None:
    for suite, newest in scores(document, ls.session.project).suites:
        if ls.histories.is_due(suite, newest) and is_at_home(ls, suite):
            ls.histories.ask(suite, newest)


def _read_soon(ls: WazaServer, document: Document) -> bool:
    """Return whether the results of a document are read; if not, a refresh request follows when they are."""
    uri = document.uri
    if not ls.abilities.refreshes_inlay_hints or ls.hints_to_come.get(uri) == "read":
        # This is the request after a refresh: wait for the results, or refresh requests would never end.
        ls.hints_to_come.pop(uri, None)
        return True
    if uri in ls.hints_to_come:
        return False
    if within(lambda: read_scores(document, ls.session.project), PATIENCE_SECONDS):
        return True
    ls.hints_to_come[uri] = "reading"
    ls.turns.later(f"scores shown in {uri}", lambda: _read_on(ls, uri))
    return False


def _read_on(ls: WazaServer, uri: str) -> None:
    try:
        prepare(ls, uri)
    except Exception:
        log.exception("The results of %s could not be read.", uri)
    if ls.session.text(uri) is None:
        # It was closed: nothing shows its hints.
        ls.hints_to_come.pop(uri, None)
        return
    ls.hints_to_come[uri] = "read"
    ask_for_hints(ls)
