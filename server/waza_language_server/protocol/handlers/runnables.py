"""The runnables of a document, for clients that show them elsewhere than in lenses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from waza_engine.steps import in_steps
from waza_language_server.features.runnables.runnables import runnables_in_steps, suites_run_from
from waza_language_server.protocol.convert import Converter

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from waza_engine.steps import Steps
    from waza_language_server.project.document import Document
    from waza_language_server.project.skill_file import SkillFile
    from waza_language_server.protocol.own_requests import RunnablesParams, SuiteStateParams
    from waza_language_server.protocol.server import WazaServer
    from waza_language_server.protocol.services.schedule import Answer


def runnables(ls: WazaServer, params: RunnablesParams) -> Answer[list[dict[str, Any]]]:
    """Return what can be run: ``id``, ``kind``, ``label``, ``range`` and the id of the ``parent`` of each."""

    def find(document: Document) -> Steps[list[dict[str, Any]]]:
        convert = Converter(document, ls.session.encoding, ls.abilities)
        found = yield from runnables_in_steps(document, ls.session.workspace)
        return (yield from in_steps(map(convert.runnable, found)))

    def find_of_skill(skill: SkillFile) -> Steps[list[dict[str, Any]]]:
        from waza_language_server.features.runnables.skill_suites import skill_runnables

        suites = yield from ls.session.suites_of_skills.of_in_steps(skill, ls.session.project)
        convert = Converter(skill, ls.session.encoding, ls.abilities)
        return list(map(convert.runnable, skill_runnables(suites)))

    return ls.diagnostics.answer(params.text_document.uri, find, find_of_skill)


def suite_state(ls: WazaServer, params: SuiteStateParams) -> Answer[dict[str, bool]]:
    """Return whether a document ``canRun`` and whether a run of it is ``recorded``."""

    def find(document: Document) -> Steps[dict[str, bool]]:
        return (yield from _state(ls, suites_run_from(document, ls.session.workspace)))

    def find_of_skill(skill: SkillFile) -> Steps[dict[str, bool]]:
        suites = yield from ls.session.suites_of_skills.of_in_steps(skill, ls.session.project)
        return (yield from _state(ls, (suite.path for suite in suites)))

    return ls.diagnostics.answer(params.text_document.uri, find, find_of_skill)


def _state(ls: WazaServer, suites: Iterable[Path]) -> Steps[dict[str, bool]]:
    can_run = recorded = False
    for suite in suites:
        can_run = True
        recorded = recorded or (yield from ls.session.project.scores.results_in_steps(suite)) is not None
    return {"canRun": can_run, "recorded": recorded}
