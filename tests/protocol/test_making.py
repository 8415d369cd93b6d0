"""From an empty eval file to a suite that can be run, in any editor."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.protocol.editor import Editor, applied, editing, write_suite
from waza_language_server.project.uris import uri_of

pytestmark = pytest.mark.check

SKILL = (
    "---\nname: pdf-filler\ndescription: Fills PDF forms. Use when asked to fill a form.\n---\n# PDF filler\n"
)


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    path = tmp_path / "skills" / "pdf-filler" / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text(SKILL, "utf-8")
    return path


@pytest.fixture
def empty(tmp_path: Path, skill: Path) -> Path:
    path = tmp_path / "evals" / "eval.yaml"
    path.parent.mkdir()
    path.touch()
    return path


def edits_applied(editor: Editor) -> list[types.ApplyWorkspaceEditParams]:
    """Let the editor apply what it is asked to; return what that will be."""
    received: list[types.ApplyWorkspaceEditParams] = []

    def apply(params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        received.append(params)
        return types.ApplyWorkspaceEditResult(applied=True)

    editor.feature(types.WORKSPACE_APPLY_EDIT)(apply)
    return received


@pytest.mark.parametrize("way", ["completion", "lens"])
async def test_an_empty_eval_file_becomes_a_suite_for_a_skill(empty: Path, tmp_path: Path, way: str) -> None:
    async with editing(tmp_path) as editor:
        received = edits_applied(editor)
        uri = editor.open(empty)
        if way == "completion":
            first = (await editor.complete(uri, 0, 0))[0]
            title, command = first.label, first.command
        else:
            (lens,) = await editor.lenses(uri)
            title, command = lens.command and lens.command.title, lens.command
        assert title == "New suite for skill pdf-filler"
        assert command is not None
        made = await editor.command(command.command, *(command.arguments or ()))
        assert {Path(file).parent.name for file in made["files"]} == {"tasks", "evals", "fixtures"}
        (change,) = list(received[0].edit.document_changes or ())
        assert isinstance(change, types.TextDocumentEdit)
        text = applied("", [edit for edit in change.edits if isinstance(edit, types.TextEdit)])
        editor.replace(uri, 2, text)
        assert [each for each in await editor.pushed(uri, 2) if each.severity == 1] == []
        assert "▶ Run suite" in [lens.command and lens.command.title for lens in await editor.lenses(uri)]
        _write(empty, text)
        assert (await editor.command("waza.run", {"id": empty.as_posix()}))["status"] == "completed"


@pytest.mark.parametrize("taken", [True, False])
@pytest.mark.parametrize("is_open", [True, False])
async def test_a_client_that_creates_files_gets_a_new_suite_as_one_change(
    empty: Path, skill: Path, tmp_path: Path, *, is_open: bool, taken: bool
) -> None:
    async with editing(tmp_path, options={"createsFiles": True}) as editor:
        asked: list[Any] = []

        def create(params: Any) -> bool:
            asked.append(params)
            return taken

        editor.feature("waza/createFiles")(create)
        uri = editor.open(empty)
        made = await editor.command(
            "waza.newSuite", {"skill": str(skill), **({"uri": uri} if is_open else {})}
        )
    (change,) = asked
    names = [file.uri.removeprefix(uri_of(tmp_path)) for file in change.files]
    folder = "/evals" if is_open else "/evals/pdf-filler"
    assert f"{folder}/trigger_tests.yaml" in names
    assert len(names) == (5 if is_open else 6)
    assert all("prompt" in file.text for file in change.files if "/tasks/" in file.uri)
    assert (change.edit is not None) == is_open
    assert bool(made["files"]) == taken
    written = await asyncio.to_thread(lambda: [path.name for path in tmp_path.rglob("*.yaml")])
    assert written == ["eval.yaml"], "the client writes"


async def test_an_empty_eval_file_is_no_mistake_while_it_is_open(empty: Path, tmp_path: Path) -> None:
    async with editing(tmp_path, pulls=True) as editor:
        uri = editor.open(empty)
        assert await editor.problems(uri) == []
        editor.replace(uri, 2, "# nothing yet\n")
        assert await editor.problems(uri) == []
        editor.replace(uri, 3, "# nothing yet\nname: pdf\n")
        assert {problem.code for problem in await editor.problems(uri)} > {"missing-key"}


@pytest.mark.parametrize(
    "text", ["", "\n\n", "# of pdf-filler\r\n", "---\n# yaml-language-server: $schema=x\n"]
)
async def test_a_file_of_comments_is_as_good_as_empty(empty: Path, tmp_path: Path, text: str) -> None:
    async with editing(tmp_path) as editor:
        received = edits_applied(editor)
        uri = editor.open(empty, text)
        (lens,) = await editor.lenses(uri)
        assert lens.command is not None
        offered = (await editor.complete(uri, text.count("\n"), 0))[0]
        assert offered.label == lens.command.title == "New suite for skill pdf-filler"
        await editor.command(lens.command.command, *(lens.command.arguments or ()))
        (change,) = list(received[0].edit.document_changes or ())
        assert isinstance(change, types.TextDocumentEdit)
        filled = applied(text, [edit for edit in change.edits if isinstance(edit, types.TextEdit)])
        assert filled.startswith(text.rstrip())
        assert ("\r" in text) == ("\n" not in filled.replace("\r\n", ""))
        editor.replace(uri, 2, filled)
        assert [each for each in await editor.pushed(uri, 2) if each.severity == 1] == []


async def test_what_was_begun_in_an_empty_file_stays_a_suite(empty: Path, tmp_path: Path) -> None:
    async with editing(tmp_path, pulls=True) as editor:
        uri = editor.open(empty)
        editor.insert(uri, 2, 0, 0, "name: pdf\n")
        assert await editor.problems(uri) == []
        editor.saved(uri)
        assert "skill" in [item.label for item in await editor.complete(uri, 1, 0)]
        assert "missing-key" in {problem.code for problem in await editor.problems(uri)}


async def test_what_another_tool_reads_is_let_go_when_it_is_saved(empty: Path, tmp_path: Path) -> None:
    async with editing(tmp_path, pulls=True) as editor:
        uri = editor.open(empty)
        editor.insert(uri, 2, 0, 0, "description: mine\nproviders:\n  - openai\n")
        editor.saved(uri)
        assert await editor.problems(uri) == []


async def test_a_skill_file_makes_its_suite_and_then_runs_it(skill: Path, tmp_path: Path) -> None:
    async with editing(tmp_path, limit=is_asked_to_show_files) as editor:
        uri = editor.open(skill)
        (offer,) = await editor.lenses(uri)
        assert offer.command is not None
        assert offer.command.title == "New suite for skill pdf-filler"
        made = await editor.command(offer.command.command, *(offer.command.arguments or ()))
        assert [each.uri for each in editor.shown_documents] == [uri_of(Path(made["eval"]))]
        run = (await editor.lenses(uri))[0]
        assert run.command is not None
        assert run.command.title.startswith("▶ Run evals of this skill")
        assert (await editor.command("waza.run", *(run.command.arguments or ())))["status"] == "completed"
        (hint,) = await editor.hints(uri)
        assert str(hint.label).startswith("✓")
        assert hint.position.line == 0


async def test_a_suite_a_task_and_a_grader_are_made_by_name(skill: Path, tmp_path: Path) -> None:
    async with editing(tmp_path) as editor:
        made = await editor.command("waza.newSuite", {"skill": str(skill)})
        suite = Path(made["eval"])
        assert suite == tmp_path / "evals" / "pdf-filler" / "eval.yaml"
        task = await editor.command("waza.newTask", {"suite": str(suite), "id": "fills-two"})
        assert Path(task["files"][0]).name == "fills-two.yaml"
        offered = (await editor.command("waza.graderTypes", {}))["types"]
        names = [each["type"] for each in offered if each["title"]]
        assert "behavior" in names
        assert names != sorted(names), "those that suites use most come first"
        added = await editor.command("waza.newGrader", {"file": str(suite), "type": "behavior"})
        assert f"name: {added['name']}" in _read(suite)


ODD_ARGUMENTS: list[tuple[str, Any]] = [
    ("waza.newSuite", {}),
    ("waza.newSuite", {"skill": 1}),
    ("waza.newTask", {"suite": "a", "id": "b"}),
]


async def test_odd_arguments_are_refused(tmp_path: Path) -> None:
    async with editing(tmp_path) as editor:
        for command, argument in ODD_ARGUMENTS:
            with pytest.raises(JsonRpcException):
                await editor.command(command, argument)


async def test_what_is_there_is_told_without_words_of_the_command_line(skill: Path, tmp_path: Path) -> None:
    async with editing(tmp_path) as editor:
        made = await editor.command("waza.newSuite", {"skill": str(skill)})
        suite = made["eval"]
        with pytest.raises(JsonRpcException) as again:
            await editor.command("waza.newSuite", {"skill": str(skill)})
        assert again.value.message.startswith(f"Nothing was written: {suite} and ")
        assert again.value.message.endswith(" more are already there.")
        asked = {"suite": suite, "id": "one"}
        assert await editor.command("waza.checkTaskId", asked) == {"problem": None}
        await editor.command("waza.newTask", asked)
        told = await editor.command("waza.checkTaskId", asked)
        assert str(told["problem"]).endswith("one.yaml is there already; choose another id.")
        saved = {**asked, "command": "waza.saveRecordAsTask"}
        assert await editor.command("waza.checkTaskId", saved) == told
        with pytest.raises(JsonRpcException) as taken:
            await editor.command("waza.newTask", {"suite": suite, "id": "one"})
        assert taken.value.message.endswith("one.yaml is already there.")


async def test_nothing_is_made_in_an_untrusted_workspace(skill: Path, tmp_path: Path) -> None:
    async with editing(tmp_path, options={"trusted": False}) as editor:
        with pytest.raises(JsonRpcException, match="trust"):
            await editor.command("waza.newSuite", {"skill": str(skill)})
        assert not (tmp_path / "evals").exists()


def is_asked_to_show_files(capabilities: types.ClientCapabilities) -> None:
    """Let a client show files when asked."""
    assert capabilities.window is not None
    capabilities.window.show_document = types.ShowDocumentClientCapabilities(support=True)


def _write(path: Path, text: str) -> None:
    path.write_text(text, "utf-8")


def _read(path: Path) -> str:
    return path.read_text("utf-8")


async def test_a_recorded_answer_becomes_a_task(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, RECORDED, one="id: one\nname: one\ninputs: {prompt: Say hello}\n")
    async with editing(tmp_path) as editor:
        await editor.command("waza.run", {"id": str(suite)})
        asked = {"id": f"{suite.as_posix()}::one", "name": "two", "trial": "1"}
        made = await editor.command("waza.saveRecordAsTask", asked)
        assert list(made["files"]) == [str(tmp_path / "tasks" / "two.yaml")]
        again = await editor.command("waza.run", {"id": f"{suite.as_posix()}::two"})
        assert again["status"] == "completed"
        for wrong in ({"id": str(suite)}, {"id": f"{suite}::one", "trial": "first"}):
            with pytest.raises(JsonRpcException, match="saveRecordAsTask"):
                await editor.command("waza.saveRecordAsTask", {"name": "three", **wrong})
        with pytest.raises(JsonRpcException, match="already"):
            await editor.command("waza.saveRecordAsTask", asked)


async def test_a_byte_order_mark_is_no_unsaved_change(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, RECORDED, one="id: one\nname: one\ninputs: {prompt: Say hello}\n")
    suite.write_bytes(b"\xef\xbb\xbf" + suite.read_bytes())
    async with editing(tmp_path) as editor:
        uri = editor.open(suite, text=RECORDED)  # an editor keeps the mark to itself
        await editor.pushed(uri, 1)
        await editor.command("waza.run", {"id": str(suite)})
        assert not [told for told in editor.messages if "unsaved" in told.message]
        await editor.command("waza.saveRecordAsTask", {"id": f"{suite.as_posix()}::one", "name": "two"})
        editor.insert(uri, 2, 0, 0, "# not saved\n")
        await editor.pushed(uri, 2)
        with pytest.raises(JsonRpcException, match="unsaved"):
            await editor.command("waza.saveRecordAsTask", {"id": f"{suite.as_posix()}::one", "name": "three"})


RECORDED = """\
name: recorded
skill: recorded
config: {trials_per_task: 1, timeout_seconds: 60, executor: mock}
tasks: ['tasks/*.yaml']
"""
