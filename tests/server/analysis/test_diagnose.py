"""Diagnosing is fast after an edit, survives every text, and says nothing wrong about real suites."""

import logging
import random
from pathlib import Path
from typing import Any

import pytest

from tests.server.analysis.drawing import EVAL, TASK, problems
from tests.server.project.files import workspace_with
from tests.shared_corpus import SHARED, SUITES, needs_corpus, suite_files
from waza_language_server.analysis import diagnose as module
from waza_language_server.analysis import failures, grader_problems
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.analysis.rule import Found, Rule
from waza_language_server.project.document import Document, DocumentKind
from waza_language_server.project.index import Project
from waza_language_server.project.uris import uri_of
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.tried_edits import apply


def suite_of(graders: int) -> str:
    entries = (
        f"  - type: code\n    name: g{number}\n    config:\n      assertions: [len(outptu) > {number}]\n"
        for number in range(graders)
    )
    return f"{EVAL}graders:\n{''.join(entries)}"


def test_an_edit_checks_the_touched_grader_only(monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[str] = []
    original: Any = grader_problems._checked

    def counting(view: object, entry: Node) -> object:
        name = entry.get("name")
        checked.append(name.value if name is not None else "")
        return original(view, entry)

    monkeypatch.setattr(grader_problems, "_checked", counting)
    document = Document("untitled:test", 0, suite_of(20), "eval")
    diagnose(document, workspace_with())
    checked.clear()
    diagnose(document.replaced(document.text.replace("> 7]", "> 77]"), 1), workspace_with())
    assert checked == ["g7"]


def test_cached_problems_move_with_the_text() -> None:
    document = Document("untitled:test", 0, suite_of(5), "eval")
    diagnose(document, workspace_with())
    edited = document.replaced(document.text.replace("name: demo", "name: a longer demo 😋"), 1)
    found = [
        problem for problem in diagnose(edited, workspace_with()) if problem.code == "assertion-unknown-name"
    ]
    assert [edited.text[p.span.start : p.span.end] for p in found] == ["outptu"] * 5
    repaired = apply(edited.text, [edit for problem in found for edit in problem.fixes[0].edits])
    assert "outptu" not in repaired
    assert problems(repaired, "eval") == ()


def test_a_failing_rule_is_left_out_and_logged_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_: object) -> Found:
        raise RuntimeError("boom")

    monkeypatch.setattr(module, "SUITE_RULES", [Rule("broken", broken)])
    monkeypatch.setattr(failures, "_logged", set[str]())
    with caplog.at_level(logging.ERROR):
        first = problems(TASK.replace("prompt: Go", "promt: Go"))
        problems(TASK)
    assert [problem.code for problem in first] == ["unknown-key"]
    assert len(caplog.records) == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\ufeff",
        "\0",
        "- ",
        ":",
        "a",
        "[",
        "{}",
        "? a",
        "&a *a",
        "---\n---\n",
        "\x85\u2028",
        "graders: *x",
    ],
)
@pytest.mark.parametrize("kind", ["eval", "task", "trigger_tests", "project_config"])
def test_every_text_is_survived(text: str, kind: DocumentKind, caplog: pytest.LogCaptureFixture) -> None:
    for problem in problems(text, kind):
        assert 0 <= problem.span.start <= problem.span.end <= len(text)
    assert not caplog.records


@needs_corpus
def test_random_edits_of_real_suites_are_survived(caplog: pytest.LogCaptureFixture) -> None:
    chance = random.Random(7)
    files = suite_files("eval.yaml", "trigger_tests.yaml") + [
        path for path in suite_files() if path.parent.name == "tasks"
    ]
    for path in chance.sample(files, 40):
        text = path.read_text(encoding="utf-8")
        kind: DocumentKind = "eval" if path.name == "eval.yaml" else "task"
        document = Document(uri_of(path), 0, text, kind)
        for version in range(1, 4):
            at = chance.randrange(len(document.text) + 1)
            cut = chance.choice([0, 1, 5])
            new = document.text[:at] + chance.choice(["", ":", '"', "- ", "\n", "😋", "[", "  ", "'", "*"])
            document = document.replaced(new + document.text[at + cut :], version)
            for problem in diagnose(document, workspace_with()):
                assert problem.span.end <= len(document.text)
                for fix in problem.fixes:
                    for edit in fix.edits:
                        assert 0 <= edit.span.start <= edit.span.end <= len(document.text)
    assert not caplog.records


@needs_corpus
def test_the_repairs_of_authors_are_asked_for_before_and_not_after() -> None:
    folder = SHARED / "corpus" / "fixes"
    for line in (folder / "index.csv").read_text(encoding="utf-8").splitlines()[1:]:
        if "output_contains_any" in line:
            continue  # Upstream has learned this key since; nothing is wrong with it now.
        kind: DocumentKind = "eval" if ",eval," in line else "task"
        before, after = (
            problems((folder / _path(line, name)).read_text(encoding="utf-8"), kind)
            for name in ("before", "after")
        )
        gone = {(p.code, p.message) for p in before} - {(p.code, p.message) for p in after}
        assert {code for code, _ in gone} & {"unknown-key", "deprecated-grader-type"}, line


@needs_corpus
def test_fixes_offered_in_real_suites_repair_what_they_say() -> None:
    project = Project([SUITES])
    for path in suite_files()[::4]:
        kind = project.claim(path)
        if kind is None:
            continue
        document = Document(uri_of(path), 0, path.read_bytes().decode(), kind)
        found = diagnose(document, workspace_with())
        for problem in found:
            for fix in problem.fixes:
                if fix.edits:
                    repaired = diagnose(
                        document.replaced(apply(document.text, fix.edits), 1), workspace_with()
                    )
                    assert _count(repaired, problem.code, problem.message) < _count(
                        found, problem.code, problem.message
                    ), (path, problem, fix.title)


def _count(found: tuple[module.Problem, ...], code: str, message: str) -> int:
    return sum(problem.code == code and problem.message == message for problem in found)


def _path(line: str, name: str) -> Path:
    return Path(next(part for part in line.split(",") if part.endswith(f"{name}.yaml") and "__" in part))
