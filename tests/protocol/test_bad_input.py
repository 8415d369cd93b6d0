"""Whatever is opened, the server lives on, and its log stays free of exceptions."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio
from lsprotocol import types

from tests.protocol.editor import Editor, editing, write_suite
from waza_language_server.project.uris import uri_of

pytestmark = pytest.mark.check

SUITE = """\
name: explains
skill: explainer
config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}
tasks: ["tasks/*.yaml"]
graders:
  - type: text
    name: greets
    config:
      containz: [hello]
"""
TASK = "id: one\nname: One\ninputs:\n  prompt: Say hello\n"

ANCHOR_BOMB = SUITE + "".join(
    f"x{level}: &x{level} [{', '.join([f'*x{level - 1}'] * 10)}]\n" if level else "x0: &x0 [a, a]\n"
    for level in range(12)
)
TEXTS = {
    "unclosed quote": SUITE.replace('"tasks/*.yaml"', '"tasks/*.yaml'),
    "unclosed list": SUITE.replace("[hello]", "[hello"),
    "bad indentation": SUITE.replace("    name:", "   name:"),
    "half a key": SUITE + "metr",
    "several documents": f"{SUITE}---\n{SUITE}",
    "empty": "",
    "only a comment": "# nothing yet\n",
    "binary": "\x00\x01\x02\x7f\x80name: \x00\n",
    "lone surrogate": SUITE.replace("hello", "\ud800"),
    "byte order mark": f"\ufeff{SUITE}",
    "carriage returns": SUITE.replace("\n", "\r\n"),
    "old carriage returns": SUITE.replace("\n", "\r"),
    "tabs": SUITE.replace("    config:", "\tconfig:"),
    "next line and line separator": SUITE.replace("hello", "a\u0085b\u2028c\u2029d"),
    "form feed": SUITE.replace("hello", "a\fb"),
    "anchor bomb": ANCHOR_BOMB,
    "an alias of itself": SUITE + "x: &x [*x]\n",
    "unknown alias": SUITE + "x: *nowhere\n",
    "a list at the top": "- a\n- b\n",
    "a word": "hello\n",
    "a number": "42\n",
    "deep nesting": SUITE + "x: " + "[" * 3000 + "]" * 3000 + "\n",
    "deep indentation": SUITE + "".join(f"{' ' * level}k:\n" for level in range(600)),
    "a very long line": SUITE.replace("hello", "x" * 500_000),
    "null everywhere": "name:\nskill:\nconfig:\ntasks:\ngraders:\n  -\n  - type:\n",
    "wrong shapes": "name: []\nskill: {}\nconfig: 1\ntasks: {a: 1}\ngraders: text\n",
    "keys that are no words": "? [a, b]\n: 1\n? {c: d}\n: 2\n1: 3\nnull: 4\nskill: a\ntasks: []\n",
    "tags": SUITE + "x: !!python/object/apply:os.system [ls]\ny: !!binary aGVsbG8=\nz: !!set {a, b}\n",
    "merge keys": SUITE.replace("    config:", "    <<: {config: {}}\n    config:"),
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def survivor(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[tuple[Editor, Path]]:
    """One editor, whose server has to survive all texts, and the suite that is open in it."""
    folder = tmp_path_factory.mktemp("suite")
    suite = write_suite(folder, SUITE, one=TASK)
    async with editing(folder, pulls=True) as editor:
        yield editor, suite


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
async def test_every_feature_answers(survivor: tuple[Editor, Path], text: str) -> None:
    editor, suite = survivor
    uri = editor.open(suite, text)
    await use_every_feature(editor, uri, text)
    editor.insert(uri, 2, 1, 0, "x")
    await use_every_feature(editor, uri, text)
    editor.replace(uri, 3, SUITE)
    assert [d.range.start.line for d in await editor.problems(uri)] == [8]
    editor.close(uri)
    assert "Traceback" not in editor.log, editor.log


async def use_every_feature(editor: Editor, uri: str, text: str) -> None:
    """Ask for everything, at the ends and in the middle; the answers only have to be well-formed."""
    document = types.TextDocumentIdentifier(uri)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    last = types.Position(len(lines) - 1, len(lines[-1]) + 5)
    for diagnostic in await editor.problems(uri):
        assert diagnostic.range.start <= diagnostic.range.end <= types.Position(len(lines) + 1, 0)
    await editor.lenses(uri)
    await editor.hints(uri)
    everything = types.Range(types.Position(0, 0), last)
    await editor.text_document_code_action_async(
        types.CodeActionParams(document, everything, types.CodeActionContext([]))
    )
    places = (types.Position(0, 0), types.Position(len(lines) // 2, 4), last, types.Position(10**6, 10**6))
    for position in places:
        await editor.text_document_completion_async(types.CompletionParams(document, position))
        await editor.text_document_hover_async(types.HoverParams(document, position))


async def test_a_file_deleted_while_open_is_still_served(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, SUITE, one=TASK)
    async with editing(tmp_path, pulls=True) as editor:
        uri = editor.open(suite)
        suite.unlink()
        (tmp_path / "tasks" / "one.yaml").unlink()
        (tmp_path / "tasks").rmdir()
        changes = [types.FileEvent(uri_of(suite), types.FileChangeType.Deleted)]
        editor.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(changes))
        await use_every_feature(editor, uri, SUITE)
        editor.insert(uri, 2, 0, 0, "# still typing\n")
        assert "unknown-key" in [d.code for d in await editor.problems(uri)]


@pytest.mark.parametrize(
    "text", ["just a word\n", "- a\n- b\n", "", "\x00", "a: [\n", "files: {evalFile: [1]}\n"]
)
async def test_a_project_file_that_is_no_mapping(tmp_path: Path, text: str) -> None:
    suite = write_suite(tmp_path, SUITE, one=TASK)
    (tmp_path / ".waza.yaml").write_text(text, "utf-8")
    async with editing(tmp_path, pulls=True) as editor:
        config = editor.open(tmp_path / ".waza.yaml")
        uri = editor.open(suite)
        await use_every_feature(editor, config, text)
        assert [d.range.start.line for d in await editor.problems(uri)] == [8]


async def test_globs_that_match_nothing(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, SUITE.replace("tasks/*", "nowhere/[*"))
    async with editing(tmp_path, pulls=True) as editor:
        await use_every_feature(editor, editor.open(suite), SUITE)


async def test_files_that_cannot_be_read_lie_around(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, SUITE, one=TASK)
    (tmp_path / "tasks" / "binary.yaml").write_bytes(b"\x00\xff\xfe")
    (tmp_path / "tasks" / "latin.yaml").write_bytes(b"id: caf\xe9\n")
    (tmp_path / "tasks" / "folder.yaml").mkdir()
    results = tmp_path / ".waza" / "results"
    results.mkdir(parents=True)
    (results / "20260101T000000Z-half.json").write_text('{"tasks": [', "utf-8")
    (results / "20260102T000000Z-odd.json").write_text('{"tasks": 7, "summary": []}', "utf-8")
    async with editing(tmp_path, pulls=True) as editor:
        await use_every_feature(editor, editor.open(suite), SUITE)


async def test_twenty_thousand_lines(tmp_path: Path) -> None:
    grader = "  - type: text\n    name: g{n}\n    config:\n      contains: [hello]\n"
    text = SUITE.replace("containz", "contains") + "".join(grader.format(n=n) for n in range(5000))
    suite = write_suite(tmp_path, text, one=TASK)
    async with editing(tmp_path, pulls=True) as editor:
        uri = editor.open(suite)
        assert await editor.problems(uri) == []
        editor.insert(uri, 2, 10_000, 0, "  - ty: text\n")
        assert await editor.problems(uri)


async def test_messages_that_no_editor_sends(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, SUITE, one=TASK)
    async with editing(tmp_path, pulls=True) as editor:
        uri = uri_of(suite)
        editor.replace(uri, 5, "never opened")
        editor.close(uri)
        editor.open(suite)
        editor.open(suite, version=1)
        behind = types.Range(types.Position(900, 900), types.Position(3, 0))
        editor.edit(uri, 2, types.TextDocumentContentChangePartial(behind, "# end\n"))
        for odd in (
            "",
            "file:",
            "file:///",
            "file:///%00.yaml",
            "untitled:x",
            "http://x/eval.yaml",
            "::",
            "file://[/x",
        ):
            editor.open_uri(odd, SUITE)
            await use_every_feature(editor, odd, SUITE)
            editor.close(odd)
        assert await editor.problems(uri)
