"""The runnables of a document, for clients that show them elsewhere than in lenses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from waza_engine.checkpoint import collect
from waza_language_server.features.runnables.runnables import runnables as runnables_of
from waza_language_server.features.runnables.runnables import suites_run_from
from waza_language_server.protocol.convert import Converter

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from waza_language_server.project.document import Document
    from waza_language_server.project.skill_file import SkillFile
    from waza_language_server.protocol.own_requests import RunnablesParams, SuiteStateParams
    from waza_language_server.protocol.server import WazaServer


def runnables(ls: WazaServer, params: RunnablesParams) -> list[dict[str, Any]] | None:
    """Return what can be run: ``id``, ``kind``, ``label``, ``range`` and the id of the ``parent`` of each."""

    def find(document: Document) -> list[dict[str, Any]]:
        convert = Converter(document, ls.session.encoding, ls.abilities)
        found = runnables_of(document, ls.session.workspace)
        return collect(map(convert.runnable, found))

    def find_of_skill(skill: SkillFile) -> list[dict[str, Any]]:
        from waza_language_server.features.runnables.skill_suites import skill_runnables

        suites = ls.session.suites_of_skills.of(skill, ls.session.project)
        convert = Converter(skill, ls.session.encoding, ls.abilities)
        return list(map(convert.runnable, skill_runnables(suites)))

    return ls.diagnostics.answer(params.text_document.uri, find, find_of_skill)


def suite_state(ls: WazaServer, params: SuiteStateParams) -> dict[str, bool] | None:
    """Return whether a document ``canRun`` and whether a run of it is ``recorded``."""

    def find(document: Document) -> dict[str, bool]:
        return _state(ls, suites_run_from(document, ls.session.workspace))

    def find_of_skill(skill: SkillFile) -> dict[str, bool]:
        suites = ls.session.suites_of_skills.of(skill, ls.session.project)
        return _state(ls, (suite.path for suite in suites))

    return ls.diagnostics.answer(params.text_document.uri, find, find_of_skill)


def _state(ls: WazaServer, suites: Iterable[Path]) -> dict[str, bool]:
    can_run = recorded = False
    for suite in suites:
        can_run = True
        recorded = recorded or ls.session.project.scores.results(suite) is not None
    return {"canRun": can_run, "recorded": recorded}
