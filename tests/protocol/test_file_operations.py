"""Files are made, renamed and deleted in the editor: suites follow before, and problems after it."""

from pathlib import Path

import pytest
from lsprotocol import types

from tests.protocol.editor import Editor, applied, editing, write_suite
from tests.protocol.workspace import Workspace
from waza_language_server.project.uris import uri_of

pytestmark = [pytest.mark.check, pytest.mark.asyncio(loop_scope="module")]

SUITE = """\
name: explains
skill: explainer
config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}
tasks:
  - tasks/one.yaml
  - tasks/two.yaml
"""
TASK = "id: {}\nname: T\ninputs:\n  prompt: Go\n  files: [{{path: data.csv}}]\n"


@pytest.fixture
def suite(own_folder: Path) -> Path:
    (own_folder / "fixtures").mkdir()
    (own_folder / "fixtures" / "data.csv").write_text("", "utf-8")
    return write_suite(own_folder, SUITE, one=TASK.format("one"), two=TASK.format("two"))


def watches_nothing(capabilities: types.ClientCapabilities) -> None:
    assert capabilities.workspace is not None
    capabilities.workspace.did_change_watched_files = None


def codes(editor: Editor, uri: str) -> set[object]:
    return {problem.code for problem in editor.diagnostics[uri]}


async def test_entries_go_before_their_files_are_deleted_and_come_back(editor: Editor, suite: Path) -> None:
    offered = editor.offered.workspace
    assert offered is not None
    assert offered.file_operations is not None
    assert offered.file_operations.will_delete is not None
    workspace = Workspace(suite.parent)
    before = workspace.contents()
    gone = [types.FileDelete(uri_of(suite.parent / "tasks" / "two.yaml"))]
    change = await editor.workspace_will_delete_files_async(types.DeleteFilesParams(gone))
    assert change is not None
    undo = workspace.carry_out(change)
    assert workspace.contents()["eval.yaml"] == SUITE.replace("  - tasks/two.yaml\n", "").encode()
    workspace.carry_out(undo)
    assert workspace.contents() == before
    other = [types.FileDelete(uri_of(suite.parent / "a.md"))]
    assert await editor.workspace_will_delete_files_async(types.DeleteFilesParams(other)) is None


async def test_what_names_a_deleted_file_is_marked_at_once_and_until_it_is_there_again(suite: Path) -> None:
    """Without files being watched: the client tells of the deletion alone."""
    fixture = suite.parent / "fixtures" / "data.csv"
    async with editing(suite.parent, limit=watches_nothing) as editor:
        uri = editor.open(suite.parent / "tasks" / "one.yaml")
        await editor.until(lambda: uri in editor.diagnostics)
        assert "missing-file" not in codes(editor, uri)
        fixture.unlink()
        editor.workspace_did_delete_files(types.DeleteFilesParams([types.FileDelete(uri_of(fixture))]))
        await editor.until(lambda: "missing-file" in codes(editor, uri))
        fixture.write_text("", "utf-8")
        editor.workspace_did_create_files(types.CreateFilesParams([types.FileCreate(uri_of(fixture))]))
        await editor.until(lambda: "missing-file" not in codes(editor, uri))


@pytest.mark.parametrize("pulls", [True, False])
async def test_what_was_just_opened_counts_as_it_is_open(suite: Path, *, pulls: bool) -> None:
    """Restored unsaved, and nothing was asked about it yet."""
    unsaved = f"# not saved yet\n{SUITE}".replace("two.yaml", "2.yaml")
    folder = suite.parent
    rename = types.RenameFilesParams(
        [types.FileRename(uri_of(folder / "tasks" / "one.yaml"), uri_of(folder / "tasks" / "1.yaml"))]
    )
    delete = types.DeleteFilesParams([types.FileDelete(uri_of(folder / "tasks" / "one.yaml"))])
    for ask, after in (
        (rename, unsaved.replace("one.yaml", "1.yaml")),
        (delete, unsaved.replace("  - tasks/one.yaml\n", "")),
    ):
        async with editing(folder, pulls=pulls) as editor:
            uri = editor.open(suite, unsaved)
            if isinstance(ask, types.RenameFilesParams):
                change = await editor.workspace_will_rename_files_async(ask)
            else:
                change = await editor.workspace_will_delete_files_async(ask)
            assert change is not None
            (edit,) = change.document_changes or [None]
            assert isinstance(edit, types.TextDocumentEdit)
            assert edit.text_document == types.OptionalVersionedTextDocumentIdentifier(uri, 1)
            edits = [each for each in edit.edits if isinstance(each, types.TextEdit)]
            assert applied(unsaved, edits) == after


async def test_symbols_and_calls_are_those_of_what_was_just_opened(suite: Path) -> None:
    """No answer depends on whether the document was asked about before."""
    task = suite.parent / "tasks" / "one.yaml"
    async with editing(suite.parent, pulls=True) as editor:
        uri = editor.open(task, f"# not saved yet\n{TASK.format('fresh')}")
        found = await editor.workspace_symbol_async(types.WorkspaceSymbolParams("fresh"))
        assert [(each.name, each.location) for each in found or ()] == [
            ("fresh", types.Location(uri, types.Range(types.Position(1, 4), types.Position(1, 9))))
        ]
