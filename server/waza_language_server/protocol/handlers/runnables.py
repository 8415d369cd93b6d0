"""What can be run in a document, for clients that show it elsewhere than in lenses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from waza_engine.steps import in_steps
from waza_language_server.features.runnables import runnables_in_steps
from waza_language_server.protocol.convert import Converter

if TYPE_CHECKING:
    from waza_engine.steps import Steps
    from waza_language_server.project.document import Document
    from waza_language_server.project.skill_file import SkillFile
    from waza_language_server.protocol.own_requests import RunnablesParams
    from waza_language_server.protocol.server import WazaServer
    from waza_language_server.protocol.services.schedule import Answer


def runnables(ls: WazaServer, params: RunnablesParams) -> Answer[list[dict[str, Any]]]:
    """Return what can be run: ``id``, ``kind``, ``label``, ``range`` and the id of the ``parent`` of each."""

    def find(document: Document) -> Steps[list[dict[str, Any]]]:
        convert = Converter(document, ls.session.encoding, ls.abilities)
        found = yield from runnables_in_steps(document, ls.session.workspace)
        return (yield from in_steps(map(convert.runnable, found)))

    def find_of_skill(skill: SkillFile) -> Steps[list[dict[str, Any]]]:
        from waza_language_server.features.skill_suites import skill_runnables

        suites = yield from ls.session.suites_of_skills.of_in_steps(skill, ls.session.project)
        convert = Converter(skill, ls.session.encoding, ls.abilities)
        return list(map(convert.runnable, skill_runnables(suites)))

    uri = params.text_document.uri
    skill = ls.session.skill(uri)
    if skill is not None:
        return ls.diagnostics.answer_with(uri, find_of_skill(skill))
    return ls.diagnostics.answer(uri, find)
