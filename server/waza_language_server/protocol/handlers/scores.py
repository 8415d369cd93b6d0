"""Scores from the last results: hints at line ends, and marks for clients that draw the same themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from waza_engine.checkpoint import collect
from waza_language_server.features.scores.inlay_hints import inlay_hints, shortened_hints
from waza_language_server.project.document_scores import scores
from waza_language_server.project.uris import uri_of
from waza_language_server.protocol.lsp_conversion import Converter
from waza_language_server.text.label_escaping import label
from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lsprotocol import types

    from waza_language_server.features.scores.inlay_hints import InlayHint
    from waza_language_server.features.scores.marks import Mark
    from waza_language_server.project.document import Document
    from waza_language_server.project.skill_file import SkillFile
    from waza_language_server.protocol.own_requests import FileMarksParams, MarksParams
    from waza_language_server.protocol.server import WazaServer


def inlay_hint(ls: WazaServer, params: types.InlayHintParams) -> list[types.InlayHint] | None:
    """Return the scores in the part of a document that the client shows."""
    wanted = ls.options.hints

    def find(document: Document) -> list[types.InlayHint]:
        if not ls.pending_hints.are_read(document):
            return []
        convert = Converter(document, ls.session.encoding, ls.abilities)
        shown = Span(convert.offset(params.range.start), convert.offset(params.range.end))
        if "history" in wanted:
            _look_at_histories(ls, document)
        hints = inlay_hints(document, ls.session.workspace, shown)
        kept = shortened_hints([hint for hint in hints if hint.kind in wanted], document.lines)
        return collect(convert.inlay_hints(kept))

    def find_of_skill(skill: SkillFile) -> list[types.InlayHint]:
        convert = Converter(skill, ls.session.encoding, ls.abilities)
        shown = Span(convert.offset(params.range.start), convert.offset(params.range.end))
        hints = _hints_of_skill(ls, skill)
        if "requirement" in wanted:
            from waza_language_server.features.scores.requirement_hints import requirement_hints

            suites = ls.session.suites_of_skills.of(skill, ls.session.project)
            hints += requirement_hints(skill, suites, ls.session.project)
        kept = [hint for hint in hints if hint.kind in wanted and shown.contains(hint.offset)]
        return list(convert.inlay_hints(shortened_hints(kept, skill.lines)))

    if not wanted.enabled:
        return []
    return ls.diagnostics.answer(params.text_document.uri, find, find_of_skill)


def _hints_of_skill(ls: WazaServer, skill: SkillFile) -> tuple[InlayHint, ...]:
    """Return the hints of a ``SKILL.md``, its results read."""
    from waza_language_server.features.runnables.skill_suites import skill_hints

    suites = ls.session.suites_of_skills.of(skill, ls.session.project)
    return skill_hints(skill, suites, ls.session.workspace)


def _look_at_histories(ls: WazaServer, document: Document) -> None:
    for suite, newest in scores(document, ls.session.project).suites:
        if ls.histories.is_due(suite, newest) and ls.session.is_in_open_folders(suite):
            ls.histories.ask(suite, newest)


def marks(ls: WazaServer, params: MarksParams) -> list[dict[str, Any]] | None:
    """Return ``line``, ``state``, ``stale`` and ``isTest`` of each line of a document that is judged."""
    from waza_language_server.features.scores.marks import marks as marks_in
    from waza_language_server.features.scores.marks import marks_of

    def find(document: Document) -> list[dict[str, Any]]:
        return _answers(marks_in(document, ls.session.workspace))

    def find_of_skill(skill: SkillFile) -> list[dict[str, Any]]:
        return _answers(marks_of(_hints_of_skill(ls, skill), skill.lines))

    return ls.diagnostics.answer(params.text_document.uri, find, find_of_skill)


def _answers(found: Iterable[Mark]) -> list[dict[str, Any]]:
    return [
        {"line": mark.line, "state": mark.state, "stale": mark.stale, "isTest": mark.is_test}
        for mark in found
    ]


async def file_marks(ls: WazaServer, _params: FileMarksParams) -> list[dict[str, Any]]:
    """Return ``uri``, ``state`` and ``reason`` of each file whose last run did not pass."""
    from waza_language_server.features.scores.marks import file_marks as marks_of_files

    found = await ls.diagnostics.answer_for_workspace(marks_of_files)
    return [{"uri": uri_of(mark.path), "state": mark.state, "reason": label(mark.reason)} for mark in found]
