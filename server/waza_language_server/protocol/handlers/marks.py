"""The verdicts of lines and files, for clients that draw them themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from waza_language_server.features.scores.marks import file_marks as marks_of_files
from waza_language_server.features.scores.marks import marks as marks_in
from waza_language_server.features.scores.marks import marks_of
from waza_language_server.project.uris import uri_of
from waza_language_server.protocol.handlers.inlay_hint import hints_of_skill
from waza_language_server.text.labels import label

if TYPE_CHECKING:
    from collections.abc import Iterable

    from waza_language_server.features.scores.marks import Mark
    from waza_language_server.project.document import Document
    from waza_language_server.project.skill_file import SkillFile
    from waza_language_server.protocol.own_requests import FileMarksParams, MarksParams
    from waza_language_server.protocol.server import WazaServer


def marks(ls: WazaServer, params: MarksParams) -> list[dict[str, Any]] | None:
    """Return ``line``, ``state``, ``stale`` and ``isTest`` of each line of a document that is judged."""

    def find(document: Document) -> list[dict[str, Any]]:
        return _answers(marks_in(document, ls.session.workspace))

    def find_of_skill(skill: SkillFile) -> list[dict[str, Any]]:
        return _answers(marks_of(hints_of_skill(ls, skill), skill.lines))

    return ls.diagnostics.answer(params.text_document.uri, find, find_of_skill)


def _answers(found: Iterable[Mark]) -> list[dict[str, Any]]:
    return [
        {"line": mark.line, "state": mark.state, "stale": mark.stale, "isTest": mark.is_test}
        for mark in found
    ]


async def file_marks(ls: WazaServer, _params: FileMarksParams) -> list[dict[str, Any]]:
    """Return ``uri``, ``state`` and ``reason`` of each file whose last run did not pass."""
    found = await ls.diagnostics.of_workspace(marks_of_files)
    return [{"uri": uri_of(mark.path), "state": mark.state, "reason": label(mark.reason)} for mark in found]
