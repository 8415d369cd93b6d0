"""What was read ahead saves reading, and never changes an answer: the disk and the open text win."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.server.features.suites import EVAL, FIRST, OWN, Opened, open_at_cursor
from tests.server.project.files import opened, put
from waza_engine.steps import Steps, finished
from waza_language_server.features.navigation import all_references, workspace_symbols
from waza_language_server.project import disk, known_mentions
from waza_language_server.project.reading_ahead import read_ahead
from waza_language_server.syntax.tree import Tree, parse_in_steps

FILES = {
    "eval.yaml": EVAL.replace("name: polite", "name: pol<CURSOR>ite"),
    "tasks/first.yaml": FIRST,
    "tasks/own.yaml": OWN,
    "elsewhere/SKILL.md": "---\nname: deployer\n---\nText.\n",
    "elsewhere/eval.yaml": "name: e\nskill: deployer\nconfig: {trials_per_task: 1}\ntasks: [tasks/*.yaml]\n",
}


def places(at: Opened) -> list[str]:
    found = finished(all_references(at.document, at.workspace, at.offset))
    return sorted(at.line(place) for place in found)


def symbols(at: Opened) -> list[str]:
    return [at.line(each.place) for each in finished(workspace_symbols(at.workspace, ""))]


@pytest.fixture
def suite(tmp_path: Path) -> Opened:
    return open_at_cursor(tmp_path, FILES, "eval")


def test_the_answers_are_those_of_before(suite: Opened) -> None:
    before = places(suite)
    assert len(before) == 4
    finished(read_ahead(suite.workspace))
    assert places(suite) == before
    assert symbols(suite) == symbols(open_at_cursor(suite.folder, FILES, "eval"))


def test_nothing_is_parsed_again(suite: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    finished(read_ahead(suite.workspace))
    parsed: list[str] = []

    def counting_parse(text: str) -> Steps[Tree]:
        parsed.append(text)
        return parse_in_steps(text)

    monkeypatch.setattr(disk, "parse_in_steps", counting_parse)
    assert places(suite)
    assert symbols(suite)
    assert parsed == []


def test_a_file_that_has_changed_is_read_again(suite: Opened) -> None:
    finished(read_ahead(suite.workspace))
    first = put(suite.folder, "tasks/first.yaml", FIRST.replace("[polite]", "[other]"))
    os.utime(first, (1, 1))
    assert not any("first.yaml" in place for place in places(suite))


def test_an_open_text_wins(suite: Opened) -> None:
    finished(read_ahead(suite.workspace))
    path = suite.folder / "tasks" / "first.yaml"
    path.write_text(FIRST.replace("[polite]", "[other]"), "utf-8")
    unsaved = opened(path, "task")
    path.write_text(FIRST, "utf-8")
    with_it = Opened(suite.folder, suite.document, suite.workspace.with_document(unsaved), suite.offset)
    assert any("first.yaml" in place for place in places(suite))
    assert not any("first.yaml" in place for place in places(with_it))


def test_what_does_not_fit_is_read_when_it_is_asked_for(
    suite: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = places(suite)
    monkeypatch.setattr(known_mentions, "MOST_KEPT", 3)
    finished(read_ahead(suite.workspace))
    assert places(suite) == before
