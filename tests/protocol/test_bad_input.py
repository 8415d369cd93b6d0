"""Whatever is opened, the server lives on, and its log stays free of exceptions."""

from collections.abc import AsyncGenerator
from pathlib import Path

import psutil
import pytest
import pytest_asyncio
from lsprotocol import types

from tests.protocol.editor import TASK, Editor, editing, suite_with, write_suite

pytestmark = pytest.mark.check

SUITE = suite_with("""\
graders:
  - type: text
    name: greets
    config:
      containz: [hello]
""")

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
        editor.changed(suite, kind=types.FileChangeType.Deleted)
        await use_every_feature(editor, uri, SUITE)
        editor.insert(uri, 2, 0, 0, "# still typing\n")
        assert "unknown-key" in [d.code for d in await editor.problems(uri)]


SHORT = "name: s\nskill: s\ngraders:\n  - type: text\n    name: a\ntasks:\n  - t\n"
MEBIBYTE = 1024 * 1024


async def test_ten_megabytes_cost_little_memory_and_are_not_checked(tmp_path: Path) -> None:
    async with editing(tmp_path) as editor:
        uri = editor.open(write_suite(tmp_path, SHORT), SHORT + "description: " + "word " * 2_000_000 + "\n")
        (problem,) = await editor.problems(uri)
        assert "not checked" in problem.message
        editor.insert(uri, 2, 1, 0, "x")
        await editor.hover(uri, 0, 1)
        assert await editor.complete(uri, 2, 0) == []
        assert psutil.Process(editor.process_id).memory_info().rss < 300 * MEBIBYTE
