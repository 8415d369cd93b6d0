"""Who uses a grader, and whom it uses, across the files of a suite."""

from __future__ import annotations

from pathlib import Path

from tests.server.features.suites import EVAL
from tests.server.features.test_navigation import suite
from waza_engine.steps import finished
from waza_language_server.features.call_hierarchy import incoming, outgoing, part_at

NAMED = EVAL.replace("name: polite", "name: pol<CURSOR>ite")


def test_the_users_of_a_grader_are_graders_and_tasks_of_all_files(tmp_path: Path) -> None:
    opened = suite(tmp_path, evaluation=NAMED)
    found = finished(incoming(opened.document, opened.workspace, opened.offset))
    assert sorted((call.part.kind, call.part.name) for call in found) == [
        ("grader", "agreement"),
        ("task", "first"),
        ("task", "inline"),
    ]
    for call in found:
        assert [place.text[place.span.start : place.span.end] for place in call.places] == ["polite"]


def test_a_grader_names_those_that_it_needs(tmp_path: Path) -> None:
    opened = suite(tmp_path, evaluation=EVAL.replace("name: agreement", "name: agree<CURSOR>ment"))
    (call,) = finished(outgoing(opened.document, opened.workspace, opened.offset))
    assert (call.part.kind, call.part.name) == ("grader", "polite")
    text = opened.document.text
    assert text[call.part.name_span.start : call.part.name_span.end] == "polite"
    assert [text[place.span.start : place.span.end] for place in call.places] == ["polite"]


def test_a_name_leads_to_the_part_that_it_names(tmp_path: Path) -> None:
    opened = suite(tmp_path, evaluation=EVAL.replace('["polite"]', '["<CURSOR>polite"]'))
    (part,) = finished(part_at(opened.document, opened.workspace, opened.offset))
    assert (part.kind, part.name) == ("grader", "polite")
    assert part.text[part.whole.start :].startswith("type: text\n    name: polite")


def test_nobody_uses_what_is_no_name(tmp_path: Path) -> None:
    opened = suite(tmp_path, evaluation=EVAL.replace("executor: mock", "executor: mo<CURSOR>ck"))
    assert finished(part_at(opened.document, opened.workspace, opened.offset)) == ()
    assert finished(incoming(opened.document, opened.workspace, opened.offset)) == ()
