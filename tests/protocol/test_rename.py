"""Names and files change in a real editor: every edit names its file and version, and can be undone."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.protocol.editor import Editor, editing, write_suite
from tests.protocol.workspace import Workspace, opened
from waza_language_server.project.uris import uri_of

pytestmark = [pytest.mark.check, pytest.mark.asyncio(loop_scope="module")]

SUITE = """\
name: explains
skill: explainer
config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}
tasks: [tasks/one.yaml]
graders:
  - type: text
    name: "😀 greets"
    config: {contains: [hello]}
"""
TASK = 'id: one\r\nname: One\r\ninputs:\r\n  prompt: Say hello\r\nexpected:\r\n  graders: ["😀 greets"]\r\n'


@pytest.fixture
def suite(own_folder: Path) -> Path:
    path = write_suite(own_folder, SUITE)
    (own_folder / "tasks" / "one.yaml").write_bytes(TASK.encode())
    return path


def at(uri: str, line: int, character: int) -> dict[str, Any]:
    return {"text_document": types.TextDocumentIdentifier(uri), "position": types.Position(line, character)}


async def renamed(editor: Editor, uri: str, line: int, character: int, name: str) -> types.WorkspaceEdit:
    params = types.RenameParams(**at(uri, line, character), new_name=name)
    change = await editor.text_document_rename_async(params)
    assert change is not None
    return change


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
async def test_a_grader_is_renamed_everywhere_and_back_to_the_byte(suite: Path, encoding: str) -> None:
    encodings = [types.PositionEncodingKind(encoding)]
    async with editing(suite.parent, encodings=encodings) as editor:
        workspace = Workspace(suite.parent, encoding)
        uri = editor.open(suite, version=7)
        change = await renamed(editor, uri, 6, 12, "said: hello")
        assert versions(change) == {uri: 7, uri_of(suite.parent / "tasks" / "one.yaml"): None}
        before = workspace.contents()
        undo = workspace.carry_out(change)
        assert workspace.contents() == {
            "eval.yaml": SUITE.replace("😀 greets", "said: hello").encode(),
            "tasks/one.yaml": TASK.replace("😀 greets", "said: hello").encode(),
        }
        workspace.carry_out(undo)
        assert workspace.contents() == before


async def test_a_task_is_renamed_with_its_file_and_the_path_to_it(editor: Editor, suite: Path) -> None:
    workspace = Workspace(suite.parent)
    task = suite.parent / "tasks" / "one.yaml"
    change = await renamed(editor, editor.open(task, TASK), 0, 5, "two")
    before = workspace.contents()
    undo = workspace.carry_out(change)
    assert workspace.contents() == {
        "eval.yaml": SUITE.replace("one.yaml", "two.yaml").encode(),
        "tasks/two.yaml": TASK.replace("id: one", "id: two").encode(),
    }
    workspace.carry_out(undo)
    assert workspace.contents() == before


async def test_a_client_that_renames_no_files_gets_the_text_and_is_told(suite: Path) -> None:
    def limit(capabilities: types.ClientCapabilities) -> None:
        assert capabilities.workspace is not None
        assert capabilities.workspace.workspace_edit is not None
        capabilities.workspace.workspace_edit.resource_operations = None

    async with editing(suite.parent, limit=limit) as editor:
        task = suite.parent / "tasks" / "one.yaml"
        change = await renamed(editor, editor.open(task, TASK), 0, 5, "two")
        assert all(isinstance(each, types.TextDocumentEdit) for each in change.document_changes or ())
        await editor.until(lambda: editor.messages)
        assert "one.yaml" in editor.messages[0].message


async def test_a_client_without_versions_gets_edits_by_file(suite: Path) -> None:
    def limit(capabilities: types.ClientCapabilities) -> None:
        assert capabilities.workspace is not None
        capabilities.workspace.workspace_edit = None

    async with opened(suite, limit=limit) as (editor, uri):
        change = await renamed(editor, uri, 6, 12, "greets")
        assert change.document_changes is None
        assert set(change.changes or ()) == {uri, uri_of(suite.parent / "tasks" / "one.yaml")}


async def test_the_name_to_edit_stands_without_quotes(editor: Editor, suite: Path) -> None:
    uri = editor.open(suite)
    found = await editor.text_document_prepare_rename_async(types.PrepareRenameParams(**at(uri, 6, 12)))
    assert isinstance(found, types.PrepareRenamePlaceholder)
    assert found.placeholder == "😀 greets"
    assert (found.range.start.character, found.range.end.character) == (11, 20)
    nothing = types.PrepareRenameParams(**at(uri, 0, 2))
    assert await editor.text_document_prepare_rename_async(nothing) is None


async def test_paths_follow_before_files_are_renamed(editor: Editor, suite: Path) -> None:
    offered = editor.offered.workspace
    assert offered is not None
    assert offered.file_operations is not None
    assert offered.file_operations.will_rename is not None
    workspace = Workspace(suite.parent)
    old, new = suite.parent / "tasks", suite.parent / "cases"
    files = [types.FileRename(uri_of(old), uri_of(new))]
    change = await editor.workspace_will_rename_files_async(types.RenameFilesParams(files))
    assert change is not None
    workspace.carry_out(change)
    assert workspace.contents()["eval.yaml"] == SUITE.replace("tasks/one", "cases/one").encode()
    unrelated = [types.FileRename(uri_of(suite.parent / "a.md"), uri_of(suite.parent / "b.md"))]
    assert await editor.workspace_will_rename_files_async(types.RenameFilesParams(unrelated)) is None


async def test_places_are_in_their_own_files(suite: Path) -> None:
    async with editing(suite.parent) as editor:
        task = uri_of(suite.parent / "tasks" / "one.yaml")
        uri = editor.open(suite.parent / "tasks" / "one.yaml", TASK)
        found = await editor.text_document_definition_async(types.DefinitionParams(**at(uri, 5, 14)))
        assert places(found) == [(uri_of(suite), 6, 11, 20)]
        context = types.ReferenceContext(include_declaration=False)
        params = types.ReferenceParams(**at(uri, 5, 14), context=context)
        assert places(await editor.text_document_references_async(params)) == [(task, 5, 13, 22)]
        marked = await editor.text_document_document_highlight_async(
            types.DocumentHighlightParams(**at(uri, 5, 14))
        )
        assert [each.range.start.line for each in marked or ()] == [5]
        symbols = await editor.workspace_symbol_async(types.WorkspaceSymbolParams("greets"))
        assert [each.name for each in symbols or ()] == ["😀 greets"]


async def refactorings(editor: Editor, uri: str, line: int, kind: str) -> list[types.CodeAction]:
    """Return the changes of a kind that are offered for the item of a list on a line."""
    cursor = types.Position(line, 6)
    context = types.CodeActionContext([], only=[kind])
    params = types.CodeActionParams(types.TextDocumentIdentifier(uri), types.Range(cursor, cursor), context)
    found = await editor.text_document_code_action_async(params) or ()
    return [each for each in found if isinstance(each, types.CodeAction)]


async def test_a_task_file_moves_into_its_suite_and_back_to_the_byte(editor: Editor, suite: Path) -> None:
    evaluation = SUITE.replace("[tasks/one.yaml]", "\n  # 😀\n  - tasks/one.yaml")
    task = TASK.replace("\r\n", "\n").replace("Say", "Say 😀 #")
    write_suite(suite.parent, evaluation, one=task)
    workspace = Workspace(suite.parent)
    before = workspace.contents()
    uri = editor.open(suite)
    inline = await refactorings(editor, uri, 5, "refactor.inline")
    assert [each.title for each in inline] == ["Move tasks/one.yaml into this file"]
    assert inline[0].edit is not None
    workspace.carry_out(inline[0].edit)
    after = workspace.contents()
    assert set(after) == {"eval.yaml"}
    assert b"  # \xf0\x9f\x98\x80\n  - id: one\n    name: One\n" in after["eval.yaml"]
    editor.replace(uri, 2, after["eval.yaml"].decode())
    extract = await refactorings(editor, uri, 5, "refactor.extract")
    assert extract[0].edit is not None
    workspace.carry_out(extract[0].edit)
    assert workspace.contents() == before


async def test_a_client_that_deletes_no_files_is_offered_nothing_that_does(suite: Path) -> None:
    def limit(capabilities: types.ClientCapabilities) -> None:
        assert capabilities.workspace is not None
        assert capabilities.workspace.workspace_edit is not None
        kept = [types.ResourceOperationKind.Create]
        capabilities.workspace.workspace_edit.resource_operations = kept

    evaluation = SUITE.replace("[tasks/one.yaml]", "\n  - tasks/one.yaml")
    write_suite(suite.parent, evaluation, one=TASK.replace("\r\n", "\n"))
    async with opened(suite, limit=limit) as (editor, uri):
        assert not await refactorings(editor, uri, 4, "refactor.inline")


def versions(change: types.WorkspaceEdit) -> dict[str, int | None]:
    return {
        each.text_document.uri: each.text_document.version
        for each in change.document_changes or ()
        if isinstance(each, types.TextDocumentEdit)
    }


def places(found: object) -> list[tuple[str, int, int, int]]:
    assert isinstance(found, Sequence)
    locations = [each for each in found if isinstance(each, types.Location)]
    return [
        (each.uri, each.range.start.line, each.range.start.character, each.range.end.character)
        for each in locations
    ]


async def test_a_file_with_other_unsaved_text_keeps_its_text(suite: Path) -> None:
    async with editing(suite.parent) as editor:
        task = editor.open(suite.parent / "tasks" / "one.yaml", TASK)
        uri = editor.open(suite, "- notes\n")
        symbols = await editor.workspace_symbol_async(types.WorkspaceSymbolParams("greets"))
        start = types.Location(uri, types.Range(types.Position(0, 0), types.Position(0, 0)))
        assert [symbol.location for symbol in symbols or ()] == [start]
        with pytest.raises(JsonRpcException, match=r"^eval\.yaml has unsaved text that is no"):
            await renamed(editor, task, 5, 12, "said")
