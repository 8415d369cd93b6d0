"""Lenses above runnables; the lens of an active run cancels it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from waza_engine.checkpoint import collect
from waza_language_server.features.new_suite import NEW_SUITE, suite_offers
from waza_language_server.features.runnables.code_lens import (
    CodeLens,
    begins_within,
    code_lenses,
)
from waza_language_server.project.claim import is_blank_text
from waza_language_server.project.uris import path_of
from waza_language_server.protocol.lsp_conversion import Converter
from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from lsprotocol import types

    from waza_language_server.features.runnables.code_lens import Affected, Expected
    from waza_language_server.project.document import Document
    from waza_language_server.project.runnable_id import RunnableId
    from waza_language_server.project.skill_file import SkillFile
    from waza_language_server.protocol.own_requests import LensesInRangeParams
    from waza_language_server.protocol.server import WazaServer

_MOST_LENSES = 3


def code_lens(ls: WazaServer, params: types.CodeLensParams) -> list[types.CodeLens] | None:
    """Return the lenses of a document."""
    return _lenses(ls, params.text_document.uri, None)


def in_range(ls: WazaServer, params: LensesInRangeParams) -> list[types.CodeLens] | None:
    """Return the lenses of items that begin in a range of a suite file, or all lenses of a skill file."""
    return _lenses(ls, params.text_document.uri, params.range)


def _lenses(ls: WazaServer, uri: str, place: types.Range | None) -> list[types.CodeLens] | None:
    shown = ls.options.lens

    def find(document: Document) -> list[types.CodeLens]:
        convert = Converter(document, ls.session.encoding, ls.abilities)
        within = None if place is None else convert.span(place)
        if is_blank_text(document.text):
            if "newSuite" not in shown:
                return []
            offers = suite_offers(document, ls.session.workspace)[:_MOST_LENSES]
            top = Span(0, 0)
            lenses = [CodeLens(top, offer.title, NEW_SUITE, offer.argument, "newSuite") for offer in offers]
            return list(map(convert.code_lens, lenses))
        lenses = code_lenses(document, ls.session.workspace, *_known_of_runs(ls), within)
        if document.kind in ("prompts", "captures"):
            from waza_language_server.features.runnables.row_lenses import row_lenses, trials_lenses

            rows = (*trials_lenses(lenses), *row_lenses(document, ls.session.project))
            lenses = (*lenses, *(lens for lens in rows if begins_within(lens.span, within)))
        if "testBed" in shown:
            baselines = _baseline_lenses(ls, document)
            lenses = (*lenses, *(lens for lens in baselines if begins_within(lens.span, within)))
        return collect(convert.code_lens(lens) for lens in lenses if lens.kind in shown)

    def find_of_skill(skill: SkillFile) -> list[types.CodeLens]:
        from waza_language_server.features.runnables.skill_suites import skill_lenses

        suites = ls.session.suites_of_skills.of(skill, ls.session.project)
        lenses = skill_lenses(skill, suites, ls.session.workspace, *_known_of_runs(ls))
        convert = Converter(skill, ls.session.encoding, ls.abilities)
        return [convert.code_lens(lens) for lens in lenses if lens.kind in shown]

    if not shown.enabled:
        return []
    return ls.diagnostics.answer(uri, find, find_of_skill)


def _known_of_runs(ls: WazaServer) -> tuple[set[RunnableId], str | None, Expected, Affected]:
    """Return what lenses depend on besides files: ``running``, ``run_with``, ``expected``, ``affected``."""
    running = {run.target for run in ls.active_runs}
    return running, ls.options.run_with_command, ls.estimates.for_lenses, ls.affected.for_lenses


def _baseline_lenses(ls: WazaServer, document: Document) -> list[CodeLens]:
    """Return the lens that names the run which live verdicts are judged on, where there are any."""
    path = path_of(document.uri)
    if not ls.grades_live or path is None or document.kind != "eval":
        return []
    from waza_language_server.features.runnables.live_source import baseline_lens

    run = ls.session.project.scores.results(path)
    baseline = None if run is None else ls.baselines.shown(path, run)
    lens = None if baseline is None else baseline_lens(document, baseline)
    return [] if lens is None else [lens]
