"""A client says which kinds of lenses and hints it shows and how severe problems are, at first and later."""

from pathlib import Path

import pytest
from lsprotocol import types

from tests.protocol.editor import Editor, editing, is_told_to_ask_again, write_suite
from tests.server.features.results import grade, write_results

pytestmark = pytest.mark.check

EVAL = """\
name: greets
skill: greeter
config: {executor: mock, model: none}
graders:
  - type: text
    name: polite
    config: {contains: [please]}
tasks: [tasks/*.yaml]
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    path = write_suite(tmp_path, EVAL, one="id: one\ninputs: {prompt: Hello}\n")
    checks: list[tuple[list[str | int], bool, str]] = [(["contains", 0], True, "")]
    done = {"metadata": {"engine": {"eval_file": "eval.yaml", "status": "completed"}}}
    write_results(path, {"one": [[grade("polite", 1.0, checks=checks)]]}, model="", more=done)
    return path


async def labels(editor: Editor, uri: str) -> list[tuple[int, str]]:
    hints = await editor.hints(uri)
    while not hints:  # The results are still being read; the editor is told when to ask again.
        before = editor.refreshed["inlay hints"]
        hints = await editor.hints(uri)
        if not hints:
            await editor.until(lambda before=before: editor.refreshed["inlay hints"] > before)
    return [(hint.position.line, str(hint.label)) for hint in hints]


async def test_kinds_of_lenses_are_left_out_at_first_and_later(suite: Path, tmp_path: Path) -> None:
    given = {"lens": {"regrade": False}, "runWithCommand": "ask"}
    async with editing(tmp_path, options=given) as editor:
        uri = editor.open(suite)
        assert await editor.titles(uri) == ["▶ Run suite", "…", "▶ Run grader", "…"]
        editor.configure(lens={"run": False, "more": False})
        await editor.until(lambda: editor.refreshed["code lenses"])
        assert await editor.titles(uri) == ["↻ Re-grade", "↻ Re-grade"]
        editor.configure(lens={"enable": False})
        assert await editor.titles(uri) == []
        editor.configure(lens={})
        assert len(await editor.titles(uri)) == 6


async def test_kinds_of_hints_are_left_out_at_first_and_later(suite: Path, tmp_path: Path) -> None:
    given = {"hints": {"check": False}}
    async with editing(tmp_path, options=given, limit=is_told_to_ask_again) as editor:
        uri = editor.open(suite)
        assert await labels(editor, uri) == [(0, "✓ 1/1 task"), (5, "✓ 1.00")]
        before = editor.refreshed["inlay hints"]
        editor.configure(hints={"score": False, "verdict": False})
        await editor.until(lambda: editor.refreshed["inlay hints"] > before)
        assert await labels(editor, uri) == [(6, "✓")]
        task = editor.open(suite.parent / "tasks" / "one.yaml")
        assert await labels(editor, task) == [(0, "✓ 1 of the suite")]
        editor.configure(hints={"inherited": False})
        assert await labels(editor, task) == [(0, "✓ 1.00")]


async def test_hints_at_one_place_have_room_between_them(suite: Path, tmp_path: Path) -> None:
    async with editing(tmp_path) as editor:
        task = editor.open(suite.parent / "tasks" / "one.yaml")
        hints = await editor.hints(task)
        room = [(hint.label, hint.padding_left, hint.padding_right) for hint in hints]
        assert room == [("✓ 1.00", True, True), ("✓ 1 of the suite", True, None)]
        of_suite = await editor.hints(editor.open(suite))
        assert [hint.padding_right for hint in of_suite] == [None, None, None]


async def test_a_setting_that_is_none_of_these_changes_nothing(suite: Path, tmp_path: Path) -> None:
    async with editing(tmp_path, options={"lens": "off", "hints": {"score": "no"}}) as editor:
        uri = editor.open(suite)
        assert "▶ Run suite" in await editor.titles(uri)
        assert (5, "✓ 1.00") in await labels(editor, uri)


async def test_an_empty_file_offers_no_suite_when_that_is_switched_off(tmp_path: Path) -> None:
    (tmp_path / "SKILL.md").write_text("---\nname: greeter\n---\n", "utf-8")
    (tmp_path / "eval.yaml").touch()
    async with editing(tmp_path, options={"lens": {"newSuite": False}}) as editor:
        for name in ("eval.yaml", "SKILL.md"):
            assert await editor.lenses(editor.open(tmp_path / name)) == []


TASK = "id: one\nname: One\ninputs:\n  prompt: Say hello\ntagz: [a]\n"


async def test_severities_of_the_client_are_taken_and_changed(tmp_path: Path) -> None:
    path = tmp_path / "tasks" / "one.yaml"
    path.parent.mkdir()
    path.write_text(TASK, encoding="utf-8")
    async with editing(tmp_path, options={"severity": {"unknown-key": "hint"}}) as editor:
        uri = editor.open(path)
        (problem,) = await editor.problems(uri)
        assert problem.severity is types.DiagnosticSeverity.Hint
        editor.configure(diagnostics={"severity": {"unknown-key": "off"}})
        await editor.until(lambda: not editor.diagnostics.get(uri))
        assert await editor.problems(uri) == []
