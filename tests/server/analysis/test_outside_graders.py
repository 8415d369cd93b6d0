"""What is wrong outside the graders of a file, while edits are made in them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.server.project.files import workspace_with
from waza_language_server.analysis import outside_graders
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import FileView, Rule
from waza_language_server.project.document import Document
from waza_language_server.project.workspace import Workspace

CONFIG = "config:\n  trials_per_task: 1\n  timeout_seconds: 60\n  executor: mock\n  model: m\n"
HEAD = "name: s\nskill: s\n" + CONFIG + "tasks: [t]\n"
GRADER = "  - type: text\n    name: {}\n    config:\n      contains: [a]\n"
GRADERS = "graders:\n" + GRADER.format("one") + GRADER.format("two")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that a rule about files was asked about."""
    texts: list[str] = []

    def find(view: FileView) -> Iterator[Problem]:
        texts.append(view.tree.text)
        yield from ()

    monkeypatch.setattr(outside_graders, "_RULES", (Rule("spy", find, frozenset()), *outside_graders._RULES))
    return texts


def edited(document: Document, old: str, new: str) -> Document:
    assert old in document.text
    return document.replaced(document.text.replace(old, new, 1), document.version + 1)


def judged(text: str, workspace: Workspace) -> Document:
    document = Document("file:///eval.yaml", 1, text, "eval")
    diagnose(document, workspace)
    return document


def test_an_edit_in_a_grader_asks_nothing_of_the_rest(asked: list[str]) -> None:
    workspace = workspace_with()
    document = judged(HEAD + GRADERS, workspace)
    diagnose(edited(document, "name: one", "name: other"), workspace)
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("trials_per_task: 1", "trials_per_task: 2"),
        ("name: s", "nam: s"),
        (GRADER.format("two"), ""),
        ("  - type: text\n    name: two", "  - 3\n  - type: text\n    name: two"),
        ("    name: two", "    name: two: three"),
        ("name: one", "name: &one one"),
    ],
    ids=["a value", "a key", "a grader less", "no grader", "unreadable", "an anchor"],
)
def test_another_edit_asks_again(asked: list[str], old: str, new: str) -> None:
    workspace = workspace_with()
    document = judged(HEAD + GRADERS, workspace)
    diagnose(edited(document, old, new), workspace)
    assert len(asked) > 1


def test_what_is_wrong_outside_is_told_after_each_edit_at_its_place() -> None:
    workspace = workspace_with()
    document = judged(HEAD + GRADERS + "confg: {}\n", workspace)
    later = edited(document, "name: one", "name: another")
    found = [problem for problem in diagnose(later, workspace) if problem.code == "unknown-key"]
    assert [later.text[problem.span.start : problem.span.end] for problem in found] == ["confg"]


def test_a_comment_that_names_another_schema_is_told_after_an_edit_above_the_same_keys() -> None:
    workspace = workspace_with()
    document = judged(HEAD + GRADERS, workspace)
    line = "# yaml-language-server: $schema=https://x/task.schema.json\n"
    later = document.replaced(line + document.text, 2)
    assert "wrong-schema" in {problem.code for problem in diagnose(later, workspace)}


PARTS = (
    "config:\n  trials_per_task: 1\n",
    "confg: 1\n",
    "range: [5, 2]\n",
    "metrics:\n  - {name: m, weight: 0.2}\n",
)
ENTRIES = (
    GRADER.format("one"),
    GRADER.format("&x two"),
    GRADER.format("*x"),
    "  - 3\n",
    "  - type: text\n    config: {contians: [a]}\n",
    "  - {type: code, config: [\n",
    "    graders: []\n",
)
FILES = st.tuples(
    st.lists(st.sampled_from(PARTS), max_size=2), st.lists(st.sampled_from(ENTRIES), max_size=3)
)


@given(st.lists(FILES, min_size=2, max_size=6))
def test_over_any_edits_the_problems_are_those_of_the_text_alone(
    versions: list[tuple[list[str], list[str]]],
) -> None:
    workspace, document = workspace_with(), None
    for parts, entries in versions:
        text = "name: s\nskill: s\ntasks: [t]\n" + "".join(parts) + "graders:\n" + "".join(entries)
        alone = Document("file:///eval.yaml", 1, text, "eval")
        document = alone if document is None else document.replaced(text, 2)
        problems = told(diagnose(document, workspace))
        assert problems == told(diagnose(Document(alone.uri, 1, text, "eval"), workspace_with()))


def told(problems: tuple[Problem, ...]) -> list[tuple[int, int, str, str]]:
    return [(each.span.start, each.span.end, each.code, each.message) for each in problems]
