"""Completion, hover, quick fixes and lenses as they travel to clients with different abilities."""

import re
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.protocol.editor import TASK, Editor, applied, editing, edits_of, suite_with, write_suite
from waza_language_server.project.uris import path_of

pytestmark = [pytest.mark.check, pytest.mark.asyncio(loop_scope="module")]

SUITE = suite_with("""\
graders:
  - type: text
    name: greets
    config:
      containz: ["😀", hello]
""")


@pytest.fixture
def suite(own_folder: Path) -> Path:
    return write_suite(own_folder, SUITE, one=TASK)


async def test_a_quick_fix_repairs_what_it_says(editor: Editor, suite: Path) -> None:
    uri = editor.open(suite)
    action = (await editor.actions(uri, 8))[0]
    assert action.kind == types.CodeActionKind.QuickFix
    assert action.diagnostics is not None
    assert action.diagnostics[0].code == "unknown-key"
    repaired = applied(SUITE, edits_of(action, uri))
    assert repaired == SUITE.replace("containz", "contains")
    editor.replace(uri, 2, repaired)
    assert await editor.pushed(uri, 2) == []


async def test_a_quick_fix_names_the_version_it_is_for(editor: Editor, suite: Path) -> None:
    uri = editor.open(suite, version=3)
    action = (await editor.actions(uri, 8))[0]
    assert action.edit is not None
    (change,) = list(action.edit.document_changes or ())
    assert isinstance(change, types.TextDocumentEdit)
    assert change.text_document.version == 3


async def test_all_safe_fixes_are_one_action_when_it_is_asked_for(editor: Editor, suite: Path) -> None:
    uri = editor.open(suite)
    place = types.Range(types.Position(0, 0), types.Position(0, 0))
    context = types.CodeActionContext([], only=[types.CodeActionKind.SourceFixAll])
    params = types.CodeActionParams(types.TextDocumentIdentifier(uri), place, context)
    (action,) = list(await editor.text_document_code_action_async(params) or ())
    assert isinstance(action, types.CodeAction)
    assert action.kind == types.CodeActionKind.SourceFixAll
    assert applied(SUITE, edits_of(action, uri)) == SUITE.replace("containz", "contains")


async def test_what_can_be_run_is_asked_for_by_id(editor: Editor, suite: Path) -> None:
    params = types.CodeLensParams(types.TextDocumentIdentifier(editor.open(suite)))
    found = await editor.protocol.send_request_async("waza/runnables", params)
    place = suite.as_posix()
    assert [_runnable(each) for each in found] == [
        (place, "suite", "explains", 0, None),
        (f"{place}::::greets", "grader", "greets", 5, place),
    ]


def _runnable(found: dict[str, Any]) -> tuple[object, ...]:
    return *(found[key] for key in ("id", "kind", "label")), found["range"]["start"]["line"], found["parent"]


ODD_QUESTIONS: list[Any] = [None, {}, [], {"textDocument": None}]


async def test_odd_questions_for_what_can_be_run_are_refused(editor: Editor, suite: Path) -> None:
    for params in ODD_QUESTIONS:
        with pytest.raises(JsonRpcException) as refusal:
            await editor.protocol.send_request_async("waza/runnables", params)
        assert refusal.value.code == -32602


async def test_other_ways_to_write_a_value_are_offered_as_refactorings(editor: Editor, suite: Path) -> None:
    uri = editor.open(suite, "skill: 😀 it\n")
    start = types.Position(0, 8)
    context = types.CodeActionContext([], only=[types.CodeActionKind.RefactorRewrite])
    params = types.CodeActionParams(types.TextDocumentIdentifier(uri), types.Range(start, start), context)
    found = await editor.text_document_code_action_async(params)
    assert [action.title for action in found or ()] == [
        "Write in double quotes",
        "Write in single quotes",
        "Convert to evals.json",
        "Convert to a Vally eval file",
        "Convert to agent-eval-harness files",
    ]
    assert {action.kind for action in found or () if isinstance(action, types.CodeAction)} == {
        types.CodeActionKind.RefactorRewrite
    }


async def test_other_kinds_of_actions_are_not_answered_with_fixes(editor: Editor, suite: Path) -> None:
    uri = editor.open(suite)
    place = types.Range(types.Position(8, 8), types.Position(8, 8))
    for only in (("refactor",), ("source.organizeImports",), ()):
        context = types.CodeActionContext([], only=[types.CodeActionKind(kind) for kind in only])
        params = types.CodeActionParams(types.TextDocumentIdentifier(uri), place, context)
        assert not await editor.text_document_code_action_async(params)


async def test_a_key_that_is_taken_opens_the_next_list_by_a_command(suite: Path) -> None:
    text = SUITE.split("graders:", maxsplit=1)[0]
    for command in ("editor.openList", None):
        async with editing(suite.parent, options={"suggestCommand": command}) as editor:
            items = {
                item.label: item.command for item in await editor.complete(editor.open(suite, text), 4, 0)
            }
            assert (items["graders"] and items["graders"].command) == command
            assert "tasks" not in items  # the suite has them
            begun = {
                item.label: item.command
                for item in await editor.complete(editor.open(suite, "name: x\n"), 1, 0)
            }
            assert (begun["tasks"] and begun["tasks"].command) == command
            assert items["description"] is None


async def test_what_is_being_written_is_red_when_it_is_saved_or_left(editor: Editor, suite: Path) -> None:
    text = SUITE.replace("containz", "contains")
    uri = editor.open(suite, text)
    editor.insert(uri, 2, 9, 0, "  - ty")
    assert await editor.pushed(uri, 2) == []
    editor.insert(uri, 3, 0, 5, " ")
    assert [each.code for each in await editor.pushed(uri, 3)] == ["wrong-type"]
    editor.insert(uri, 4, 9, 6, "p")
    assert await editor.pushed(uri, 4) == []
    editor.saved(uri)
    await editor.until(lambda: editor.diagnostics[uri])
    assert [each.code for each in editor.diagnostics[uri]] == ["wrong-type"]


async def test_a_client_with_snippets_gets_places_to_fill_in(editor: Editor, suite: Path) -> None:
    uri = editor.open(suite, SUITE + "  - ")
    items = [item for item in await editor.complete(uri, 9, 4) if "text" in item.label]
    assert any(item.insert_text_format == types.InsertTextFormat.Snippet for item in items)


async def test_a_client_without_snippets_gets_text_at_the_right_columns(suite: Path) -> None:
    text = SUITE.replace("containz", "contains") + "  - "
    async with editing(suite.parent, snippets=False) as editor:
        uri = editor.open(suite, text)
        items = await editor.complete(uri, 9, 4)
        assert all(item.insert_text_format is None for item in items)
        several = [item for item in items if item.text_edit and "\n" in item.text_edit.new_text]
        assert several
        for version, item in enumerate(several, start=2):
            assert isinstance(item.text_edit, types.TextEdit)
            written = applied(text, [item.text_edit])
            editor.replace(uri, version, written)
            codes = {diagnostic.code for diagnostic in await editor.pushed(uri, version)}
            assert not codes & {"yaml-syntax", "unknown-key", "wrong-type"}, written


async def test_enter_behind_the_first_key_begins_below_it(editor: Editor, suite: Path) -> None:
    uri = editor.open(suite, "skill: 😀\ngraders:\n  - type: code")
    editor.insert(uri, 2, 2, 14, "\n  ")
    options = types.FormattingOptions(tab_size=4, insert_spaces=True)
    document, position = types.TextDocumentIdentifier(uri), types.Position(3, 2)
    params = types.DocumentOnTypeFormattingParams(document, position, "\n", options)
    (edit,) = list(await editor.text_document_on_type_formatting_async(params) or ())
    written = applied("skill: 😀\ngraders:\n  - type: code\n  ", [edit])
    assert written == "skill: 😀\ngraders:\n  - type: code\n    "


async def test_a_grader_type_links_to_its_page(editor: Editor, suite: Path) -> None:
    hover = await editor.hover(editor.open(suite), 5, 10)
    assert hover is not None
    assert isinstance(hover.contents, types.MarkupContent)
    link = re.search(r"\((file:.*graders\.md)#(\w+)\)", hover.contents.value)
    assert link
    page = path_of(link[1])
    assert page is not None
    assert f"## {link[2]}\n" in page.read_text("utf-8")


async def test_the_lenses_of_a_range_are_those_that_begin_there(editor: Editor, suite: Path) -> None:
    uri = editor.open(suite)
    lenses = await editor.lenses(uri)
    lines = sorted({lens.range.start.line for lens in lenses})
    assert len(lines) > 1
    for line in range(lines[-1] + 2):
        place = {"start": {"line": line, "character": 0}, "end": {"line": line, "character": 99}}
        asked = {"textDocument": {"uri": uri}, "range": place}
        found = await editor.protocol.send_request_async("waza/codeLenses", asked)
        got = [(lens["command"]["title"], lens["command"]["command"]) for lens in found]
        wanted = [lens.command for lens in lenses if lens.range.start.line == line]
        assert got == [(each.title, each.command) for each in wanted if each is not None]


@pytest.mark.parametrize("name", ["neovim", "emacs", "visual-studio-code"])
async def test_every_editor_is_served(suite: Path, name: str) -> None:
    async with editing(suite.parent, name) as editor:  # type: ignore[arg-type]
        uri = editor.open(suite)
        assert [diagnostic.code for diagnostic in await editor.pushed(uri, 1)] == ["unknown-key"]
        assert await editor.hover(uri, 0, 1)
        assert await editor.complete(uri, 6, 4)
        assert applied(SUITE, edits_of((await editor.actions(uri, 8))[0], uri)) != SUITE


async def test_a_client_that_knows_little_is_told_as_little(own_folder: Path) -> None:
    """No kinds of actions, and words without the marks of Markdown."""

    def limit(capabilities: types.ClientCapabilities) -> None:
        capabilities.text_document = types.TextDocumentClientCapabilities()

    suite = write_suite(own_folder, SPOKEN)
    async with editing(own_folder, limit=limit) as editor:
        uri = editor.open(suite)
        assert editor.offered.code_action_provider is True
        assert editor.offered.rename_provider is True
        place = types.TextDocumentIdentifier(uri), types.Position(6, SPOKEN.splitlines()[6].index("(") + 1)
        told = await editor.text_document_signature_help_async(types.SignatureHelpParams(*place))
        assert told is not None
        assert (told.active_parameter, told.signatures[0].active_parameter) == (0, 0)
        assert told.signatures[0].documentation == types.MarkupContent(
            types.MarkupKind.PlainText, "len(x): how many items or characters x has."
        )
        hover = await editor.hover(uri, 6, place[1].character)
        assert hover is not None
        assert hover.contents == types.MarkupContent(
            types.MarkupKind.PlainText, "output The agent's final answer, as text.\n\noutput: str"
        )


SPOKEN = """\
name: s
skill: k
graders:
  - type: code
    name: c
    config: {assertions: [
      len(output) > 1]}
tasks: ["tasks/*.yaml"]
"""
