"""The problems of suites that nobody has opened: asked for as a whole, told again when something changed."""

from pathlib import Path

import pytest
from lsprotocol import types

from tests.protocol.editor import Editor, editing, write_suite
from tests.protocol.raw_client import RawClient
from tests.protocol.test_diagnostics import MISSPELT, SUITE, TASK
from waza_language_server.project.uris import uri_of
from waza_language_server.protocol.services import workspace_problems
from waza_language_server.protocol.services.session import Session

pytestmark = pytest.mark.check


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    write_suite(tmp_path / "other", SUITE, one=TASK)
    return write_suite(tmp_path / "own", MISSPELT, one=TASK + "nmae: x\n")


def rewrite(path: Path) -> None:
    path.write_text(SUITE)


def delete(path: Path) -> None:
    path.unlink()


async def asked(editor: Editor, previous: dict[str, str] | None = None) -> dict[str, tuple[str, list[str]]]:
    """Return the result and the codes of each file that is told of, by its last two steps."""
    known = [types.PreviousResultId(uri, result) for uri, result in (previous or {}).items()]
    params = types.WorkspaceDiagnosticParams(known)
    found = await editor.workspace_diagnostic_async(params)
    told: dict[str, tuple[str, list[str]]] = {}
    for report in found.items:
        assert isinstance(report, types.WorkspaceFullDocumentDiagnosticReport)
        told[report.uri] = str(report.result_id), [str(each.code) for each in report.items]
    return told


async def test_files_that_are_not_open_are_told_of(suite: Path, tmp_path: Path) -> None:
    async with editing(tmp_path, pulls=True) as editor:
        told = await asked(editor)
        assert {uri: codes for uri, (_, codes) in told.items()} == {
            uri_of(suite): ["unknown-key"],
            uri_of(suite.parent / "tasks" / "one.yaml"): ["unknown-key"],
        }
        assert await asked(editor, {uri: result for uri, (result, _) in told.items()}) == {}


async def test_what_is_open_is_left_out_and_comes_back_when_it_is_closed(suite: Path, tmp_path: Path) -> None:
    async with editing(tmp_path, pulls=True) as editor:
        uri = editor.open(suite, SUITE)
        assert uri not in await asked(editor)
        editor.close(uri)
        assert (await asked(editor))[uri][1] == ["unknown-key"]


async def test_closed_files_of_vally_are_told_of_and_follow_their_project(tmp_path: Path) -> None:
    project, stimuli = tmp_path / ".vally.yaml", tmp_path / "evals" / "eval.yaml"
    stimuli.parent.mkdir()
    project.write_text("environmnets: {docs: {}}\n")
    stimuli.write_text("environment: docs\nstimuli: [{name: a, prompt: Go, graders: [{type: completed}]}]\n")
    async with editing(tmp_path, pulls=True) as editor:
        told = await asked(editor)
        assert told[uri_of(project)][1] == ["unknown-key"]
        assert told[uri_of(stimuli)][1] == ["vally-environment"]
        project.write_text("environments: {docs: {}}\n")
        editor.changed(project)
        previous = {uri: result for uri, (result, _) in told.items()}
        clean = {uri_of(path): ("clean", []) for path in (project, stimuli)}
        assert await asked(editor, previous) == clean


async def test_what_was_repaired_on_the_disk_is_told(suite: Path, tmp_path: Path) -> None:
    async with editing(tmp_path, pulls=True) as editor:
        told = await asked(editor)
        rewrite(suite)
        editor.changed(suite)
        previous = {uri: result for uri, (result, _) in told.items()}
        assert await asked(editor, previous) == {uri_of(suite): ("clean", [])}
        delete(suite.parent / "tasks" / "one.yaml")
        gone = uri_of(suite.parent / "tasks" / "one.yaml")
        changes = [types.FileEvent(gone, types.FileChangeType.Deleted)]
        editor.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(changes))
        after = await asked(editor, previous)
        assert after[gone] == ("clean", [])
        # The suite has no task any more.
        assert "no-matching-tasks" in after[uri_of(suite)][1]


@pytest.mark.parametrize("name", ["eval.yaml", "%65val.yaml"])
async def test_nothing_is_told_of_an_open_file_by_any_name(suite: Path, tmp_path: Path, name: str) -> None:
    async with editing(tmp_path, pulls=True) as editor:
        told = {uri: result for uri, (result, _) in (await asked(editor)).items()}
        uri = f"{uri_of(suite.parent)}/{name}"
        editor.open_uri(uri, "- notes\n")
        assert uri_of(suite) not in await asked(editor)
        editor.close(uri)
        assert (await asked(editor))[uri_of(suite)][1] == ["unknown-key"]
        assert uri_of(suite) not in await asked(editor, told)


def write_many(folder: Path) -> list[Path]:
    tasks = {f"t{at}": TASK + "nmae: x\n" for at in range(10)}
    return [write_suite(folder / f"s{at}", MISSPELT, **tasks) for at in range(40)]


def test_others_are_answered_before_all_suites_are_diagnosed(tmp_path: Path) -> None:
    write_many(tmp_path)
    opened = write_suite(tmp_path / "opened", MISSPELT, one=TASK)
    capabilities = {"textDocument": {"diagnostic": {}}}
    with RawClient() as client:
        client.initialize(tmp_path, capabilities=capabilities)
        client.open(opened)
        document = {"textDocument": {"uri": uri_of(opened)}}
        client.send("workspace/diagnostic", {"previousResultIds": []}, id=1)
        client.send("textDocument/diagnostic", document, id=2)
        first, second = client.response(), client.response()
    assert (first["id"], second["id"]) == (2, 1)
    assert [each["code"] for each in first["result"]["items"]] == ["unknown-key"]
    assert len(second["result"]["items"]) == 40 * 11


def test_suites_are_diagnosed_some_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace_problems, "MOMENT_SECONDS", 0.0)
    for name in ("a", "b", "c"):
        write_suite(tmp_path / name, MISSPELT)
    session = Session([tmp_path])
    found = workspace_problems.WorkspaceProblems(session, lambda _, problems: list(problems))
    moments = 1
    while not found.judge_some():
        moments += 1
    assert moments > 3
    assert len(found.reports({})) == 3
    assert found.judge_some()


def far_suite(folder: Path, glob: str = "../tasks/*.yaml") -> Path:
    path = folder / "eval.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(SUITE.replace("tasks/*.yaml", glob))
    return path


@pytest.fixture
def task(tmp_path: Path) -> Path:
    folder = tmp_path / "tasks"
    folder.mkdir()
    (folder / "b.yaml").write_text(TASK)
    path = folder / "a.yaml"
    path.write_text(TASK)
    return path


def codes(editor: Editor, uri: str) -> list[str]:
    return [str(each.code) for each in editor.diagnostics.get(uri, ())]


def told(editor: Editor, path: Path) -> None:
    editor.changed(path, kind=types.FileChangeType.Created)


async def test_what_is_shown_of_an_open_task_is_made_good(task: Path, tmp_path: Path) -> None:
    far_suite(tmp_path / "one")
    async with editing(tmp_path) as editor:
        uri = editor.open(task, TASK)
        await editor.until(lambda: "duplicate-task-id" in codes(editor, uri))
        assert editor.diagnostics[uri][0].related_information
        assert await editor.lenses(uri)


async def test_a_client_that_asks_is_told_to_ask_again(task: Path, tmp_path: Path) -> None:
    far_suite(tmp_path / "one")
    async with editing(tmp_path, pulls=True) as editor:
        uri = editor.open(task, TASK)
        await editor.pull(uri)
        await editor.until(lambda: editor.diagnostic_refresh_count)
        assert "duplicate-task-id" in [each.code for each in await editor.problems(uri)]


async def test_a_suite_that_is_made_while_the_task_is_open_is_known(task: Path, tmp_path: Path) -> None:
    async with editing(tmp_path) as editor:
        uri = editor.open(task, TASK)
        await editor.problems(uri)
        assert "duplicate-task-id" not in codes(editor, uri)
        told(editor, far_suite(tmp_path / "deep" / "one", "../../tasks/*.yaml"))
        await editor.until(lambda: "duplicate-task-id" in codes(editor, uri))


async def test_closed_tasks_follow_their_suite_elsewhere(task: Path, tmp_path: Path) -> None:
    suite = far_suite(tmp_path / "deep" / "one", "../../tasks/*.yaml")
    async with editing(tmp_path, pulls=True) as editor:
        first = await asked(editor)
        assert first[uri_of(task)][1] == ["duplicate-task-id"]
        suite.write_text(SUITE.replace("tasks/*.yaml", "../../tasks/b.yaml"))
        told(editor, suite)
        again = await asked(editor, {uri: result for uri, (result, _) in first.items()})
        assert again[uri_of(task)] == ("clean", [])
