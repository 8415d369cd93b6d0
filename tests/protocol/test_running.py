"""From the click on a lens to the score beside the line, with the real engine."""

import asyncio
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.patience import ON_A_BUSY_MACHINE, has_ended
from tests.protocol.editor import Editor, editing, suite_with, write_suite
from tests.protocol.workspace import opened

pytestmark = [pytest.mark.check, pytest.mark.asyncio(loop_scope="module")]

SUITE = suite_with("""\
graders:
  - type: text
    name: speaks
    config:
      contains: [a phrase that no answer has]
  - type: code
    name: long_enough
    config:
      assertions:
        - len(output) > 0
""")
TASK = "id: {id}\nname: {id}\ninputs:\n  prompt: Say hello\n"
HANGS = """\
import subprocess, sys, time
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
time.sleep(600)
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A killed engine leaves its workspaces to the next run of the suite, which most tests do not have."""
    monkeypatch.setenv("TMPDIR", str(tmp_path_factory.mktemp("temporary")))


@pytest.fixture
def suite(own_folder: Path) -> Path:
    return write_suite(own_folder, SUITE, one=TASK.format(id="one"), two=TASK.format(id="two"))


@pytest.fixture
def hanging_suite(tmp_path: Path) -> Path:
    (tmp_path / "hang.py").write_text(HANGS, "utf-8")
    config = {"command": sys.executable, "args": [str(tmp_path / "hang.py")], "timeout": 300}
    grader = f"  - type: program\n    name: hangs\n    config: {json.dumps(config)}\n"
    return write_suite(tmp_path, SUITE + grader, one=TASK.format(id="one"))


def lens(lenses: list[types.CodeLens], line: int) -> types.Command:
    """Return the command of the lens above a line."""
    (command,) = (found.command for found in lenses if found.range.start.line == line)
    assert command is not None
    return command


def results_of(answer: Any) -> Any:
    """Return the results that a run has written."""
    return json.loads(Path(answer["resultsFile"]).read_text("utf-8"))


def write_newer_results(results: Path, *, passed: bool) -> Path:
    """Write the results of another program, whose clock is ahead, beside those of a run."""
    document = json.loads(results.read_text("utf-8"))
    document["timestamp"] = "2099-01-01T00:00:00Z"
    for task in document["tasks"]:
        for run in task["runs"]:
            for validation in run["validations"].values():
                validation |= {"passed": passed, "score": float(passed)}
    newer = results.with_name("20990101T000000Z-other.json")
    newer.write_text(json.dumps(document), "utf-8")
    return newer


async def hint_labels(editor: Editor, uri: str) -> dict[int, str]:
    """Return what stands at the ends of lines."""
    return {hint.position.line: str(hint.label) for hint in await editor.hints(uri)}


def family(editor: Editor) -> list[psutil.Process]:
    """Return the processes that the server has started, and those that they have."""
    return psutil.Process(editor.process_id).children(recursive=True)


def mend(suite: Path) -> None:
    suite.write_text(SUITE, "utf-8")


def sleepers(editor: Editor) -> list[psutil.Process]:
    """Return the processes of the hanging grader."""
    return [process for process in family(editor) if _sleeps(process)]


def _sleeps(process: psutil.Process) -> bool:
    try:
        return "hang.py" in " ".join(process.cmdline()) or "time.sleep(600)" in " ".join(process.cmdline())
    except psutil.Error:
        return False


def kinds(editor: Editor, token: str) -> Iterator[str]:
    """Yield begin, report and end of a progress bar."""
    for report in editor.progress_reports[token]:
        yield str(getattr(report, "kind", ""))


async def test_a_click_on_the_lens_ends_in_scores_beside_the_lines(editor: Editor, suite: Path) -> None:
    uri = editor.open(suite)
    command = lens(await editor.lenses(uri), 0)
    assert command.title == "▶ Run suite"
    answer = await editor.command(command.command, *(command.arguments or ()))
    assert answer["status"] == "failed"
    written = results_of(answer)
    assert {task["test_id"] for task in written["tasks"]} == {"one", "two"}
    hints = await hint_labels(editor, uri)
    assert hints[6].startswith("✗")
    assert hints[10].startswith("✓")
    assert hints[13] == "✓"


async def test_the_id_of_a_lens_runs_and_shows_its_own_results(editor: Editor, suite: Path) -> None:
    uri = editor.open(suite)
    command = lens(await editor.lenses(uri), 9)
    assert list(command.arguments or ()) == [{"id": f"{suite.as_posix()}::::long_enough"}]
    first = await editor.command(command.command, *(command.arguments or ()))
    runs = [run for task in results_of(first)["tasks"] for run in task["runs"]]
    assert {name for run in runs for name in run["validations"]} == {"long_enough"}
    newer = write_newer_results(Path(first["resultsFile"]), passed=False)
    editor.changed(newer, kind=types.FileChangeType.Created)
    assert (await hint_labels(editor, uri))[10].startswith("✗")
    await editor.command(command.command, *(command.arguments or ()))
    assert (await hint_labels(editor, uri))[10].startswith("✓")


async def test_a_client_that_asks_for_options_has_a_lens_for_it_and_runs_with_them(suite: Path) -> None:
    async with opened(suite, options={"runWithCommand": "editor.runWith"}) as (editor, uri):
        first, other = (found.command for found in await editor.lenses(uri) if found.range.start.line == 0)
        assert first is not None
        assert other is not None
        assert (other.title, other.command, other.arguments) == ("…", "editor.runWith", first.arguments)
        options = {"trials": 2, "cache": False, "keepWorkspaces": True, "model": "another"}
        written = results_of(await editor.command("waza.run", {"id": str(suite), "options": options}))
        assert written["config"]["model_id"] == "another"
        for task in written["tasks"]:
            folders = {run["workspace_dir"] for run in task["runs"]}
            assert len(folders) == 2
            assert all(map(os.path.isdir, folders))
        found: Any = await editor.ask("waza/resultDocument", id=f"{suite}::one")
        kept = [run["workspace_dir"] for task in written["tasks"][:1] for run in task["runs"]]
        assert [(each.task, each.trial, each.path) for each in found.workspaces] == [
            ("one", number, path) for number, path in enumerate(kept, 1)
        ]


async def test_a_task_runs_alone(editor: Editor, suite: Path) -> None:
    task = suite.parent / "tasks" / "two.yaml"
    command = lens(await editor.lenses(editor.open(task)), 0)
    answer = await editor.command(command.command, *(command.arguments or ()))
    written = results_of(answer)
    assert [found["test_id"] for found in written["tasks"]] == ["two"]


async def test_progress_is_shown_with_a_token_of_the_server_or_of_the_client(suite: Path) -> None:
    async with editing(suite.parent) as editor:
        await editor.command("waza.run", {"suite": str(suite)})
        await editor.until(lambda: editor.progress_reports)
        (token,) = editor.progress_reports
        assert isinstance(token, str)
        await editor.until(lambda: list(kinds(editor, token))[-1:] == ["end"])
        assert next(kinds(editor, token)) == "begin"
        editor.progress_reports["mine"] = []
        await editor.command("waza.run", {"suite": str(suite), "workDoneToken": "mine"})
        await editor.until(lambda: list(kinds(editor, "mine"))[-1:] == ["end"])
        assert list(editor.progress_reports) == [token, "mine"]


async def test_what_goes_on_for_long_is_told_however_soon_it_began(hanging_suite: Path) -> None:
    async with editing(hanging_suite.parent) as editor:
        running = await hang(editor, hanging_suite)
        (token,) = editor.progress_reports
        told = lambda: str(getattr(editor.progress_reports[token][-1], "message", ""))  # noqa: E731
        await editor.until(lambda: told() == "0/1 · one")
        await editor.command("waza.cancel", {"id": hanging_suite.as_posix()})
        await running


async def hang(editor: Editor, suite: Path) -> asyncio.Task[Any]:
    """Start the run that hangs and wait until it does."""
    running = asyncio.ensure_future(editor.command("waza.run", {"suite": str(suite)}))
    await editor.until(lambda: len(sleepers(editor)) >= 2)
    return running


async def test_the_lens_of_a_running_suite_cancels_it(hanging_suite: Path) -> None:
    async with opened(hanging_suite) as (editor, uri):
        running = await hang(editor, hanging_suite)
        hanging = sleepers(editor)
        other = {"id": f"{hanging_suite.as_posix()}::one"}
        assert (await editor.command("waza.cancel", other))["canceled"] == 0
        command = lens(await editor.lenses(uri), 0)
        assert command.title == "✗ Cancel"
        started = time.monotonic()
        assert (await editor.command(command.command, *(command.arguments or ())))["canceled"] == 1
        assert (await running)["status"] == "canceled"
        assert time.monotonic() - started < 2 + ON_A_BUSY_MACHINE
        await editor.until(
            lambda: all(has_ended(process) for process in hanging), seconds=1 + ON_A_BUSY_MACHINE
        )
        assert lens(await editor.lenses(uri), 0).title == "▶ Run suite"


async def test_the_progress_bar_cancels_its_run(hanging_suite: Path) -> None:
    async with editing(hanging_suite.parent) as editor:
        running = await hang(editor, hanging_suite)
        (token,) = editor.progress_reports
        started = time.monotonic()
        editor.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(token))
        assert (await running)["status"] == "canceled"
        assert time.monotonic() - started < 2 + ON_A_BUSY_MACHINE


async def test_cancelling_the_request_cancels_its_run(hanging_suite: Path) -> None:
    async with editing(hanging_suite.parent) as editor:
        params = types.ExecuteCommandParams("waza.run", [{"suite": str(hanging_suite)}])
        answer = editor.protocol.send_request_async("workspace/executeCommand", params, msg_id="the-run")
        running = asyncio.ensure_future(answer)
        await editor.until(lambda: len(sleepers(editor)) >= 2)
        hanging = sleepers(editor)
        editor.cancel_request(types.CancelParams("the-run"))
        with pytest.raises(JsonRpcException) as refused:
            await running
        assert refused.value.code == types.LSPErrorCodes.RequestCancelled
        await editor.until(
            lambda: all(has_ended(process) for process in hanging), seconds=2 + ON_A_BUSY_MACHINE
        )


async def test_a_killed_engine_ends_the_run_and_the_next_one_works(hanging_suite: Path) -> None:
    async with editing(hanging_suite.parent) as editor:
        running = await hang(editor, hanging_suite)
        (engine,) = psutil.Process(editor.process_id).children()
        engine.kill()
        answer = await running
        assert answer["status"] == "error"
        assert "engine" in answer["message"]
        mend(hanging_suite)
        assert (await editor.command("waza.run", {"suite": str(hanging_suite)}))["status"] == "failed"
        assert "did not finish" in editor.messages[0].message


async def test_unsaved_changes_are_told_of_once(suite: Path) -> None:
    async with opened(suite) as (editor, uri):
        editor.insert(uri, 2, 0, 0, "# not saved\n")
        await editor.pushed(uri, 2)
        for _ in range(2):
            await editor.command("waza.run", {"suite": str(suite)})
        unsaved = "The run uses the files on disk; unsaved changes in eval.yaml are not part of it."
        assert [told.message for told in editor.messages].count(unsaved) == 1


async def test_an_odd_id_never_means_everything(editor: Editor, suite: Path) -> None:
    for given in ("", "::", "::one", "::::speaks", None, 7, ["one"]):
        with pytest.raises(JsonRpcException, match=r"`id` of waza\.run"):
            await editor.command("waza.run", {"id": given})
    with pytest.raises(JsonRpcException, match="not both"):
        await editor.command("waza.run", {"id": suite.as_posix(), "task": "one"})
    assert not (suite.parent / ".waza").exists()


ODD_VALUES: list[Any] = ["", [], ["one"], {}, {"id": "one"}, 1, 0, True, False, 1.5]


async def test_an_argument_of_a_wrong_type_never_means_everything(suite: Path) -> None:
    async with editing(suite.parent) as editor:
        for key in ("task", "grader"):
            for value in ODD_VALUES:
                with pytest.raises(JsonRpcException, match=f"`{key}` of waza.run must be") as refusal:
                    await editor.command("waza.run", {"suite": str(suite), key: value})
                assert refusal.value.code == -32602
        for odd in ({"tasks": ["one"]}, {"Task": "one"}, {"workDoneToken": [1]}):
            with pytest.raises(JsonRpcException, match=next(iter(odd))) as refusal:
                await editor.command("waza.run", {"suite": str(suite), **odd})
            assert refusal.value.code == -32602
        for arguments in ((), (str(suite),), ({"suite": str(suite)}, "one"), ({"suite": str(suite)}, None)):
            with pytest.raises(JsonRpcException, match="one argument"):
                await editor.command("waza.run", *arguments)
        for odd in (*ODD_VALUES, "x"):
            with pytest.raises(JsonRpcException, match=r"waza\.cancel"):
                await editor.command("waza.cancel", odd)
        with pytest.raises(JsonRpcException, match="takes no arguments"):
            await editor.command("waza.restartEngine", {})
        assert family(editor) == []
        assert not (suite.parent / ".waza").exists()


async def test_what_is_not_there_does_not_run_the_rest(editor: Editor, suite: Path) -> None:
    for kind, name in (("task", "three"), ("grader", "three"), ("task", "o"), ("task", "*")):
        answer = await editor.command("waza.run", {"suite": str(suite), kind: name})
        assert answer["status"] == "error"
        assert name.strip("*") in answer["message"]
    assert not (suite.parent / ".waza").exists()


@pytest.fixture
def elsewhere(suite: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder beside the suite's, which is opened instead of that; in it a link to the suite."""
    folder = tmp_path_factory.mktemp("elsewhere")
    (folder / "eval.yaml").symlink_to(suite)
    return folder


async def test_a_suite_outside_the_folders_runs_after_a_yes(suite: Path, elsewhere: Path) -> None:
    async with editing(elsewhere) as editor:
        asked: list[types.ShowMessageRequestParams] = []
        answers = iter((None, types.MessageActionItem("Cancel"), types.MessageActionItem("Run")))

        def answer(params: types.ShowMessageRequestParams) -> types.MessageActionItem | None:
            asked.append(params)
            return next(answers)

        editor.feature(types.WINDOW_SHOW_MESSAGE_REQUEST)(answer)
        for path in (suite, elsewhere / "eval.yaml"):
            with pytest.raises(JsonRpcException, match="outside the open folders"):
                await editor.command("waza.run", {"suite": str(path)})
        assert not (suite.parent / ".waza").exists()
        assert (await editor.command("waza.run", {"suite": str(suite)}))["status"] == "failed"
        assert (await editor.command("waza.run", {"suite": str(suite)}))["status"] == "failed"
        assert len(asked) == 3
        assert all(str(suite) in question.message for question in asked)
        assert [action.title for action in asked[0].actions or ()] == ["Run", "Cancel"]


async def test_a_client_that_confirms_is_asked(suite: Path, elsewhere: Path) -> None:
    async with editing(elsewhere, options={"confirms": True}) as editor:
        asked: list[Any] = []
        answers: Iterator[Any] = iter((None, {"title": "Run"}, "Cancel", "Run"))

        def answer(params: Any) -> Any:
            asked.append(params)
            return next(answers)

        editor.feature("waza/confirm")(answer)
        for _ in range(3):
            with pytest.raises(JsonRpcException, match="outside the open folders"):
                await editor.command("waza.run", {"suite": str(suite)})
        assert (await editor.command("waza.run", {"suite": str(suite)}))["status"] == "failed"
        assert (await editor.command("waza.run", {"suite": str(suite)}))["status"] == "failed"
        assert len(asked) == 4
        assert str(suite) in asked[0].message
        assert list(asked[0].choices) == ["Run", "Cancel"]


async def test_a_client_that_cannot_ask_is_told_what_to_do(suite: Path, elsewhere: Path) -> None:
    async with editing(elsewhere, asks=False) as editor:
        with pytest.raises(JsonRpcException, match="open its folder in the editor to run it"):
            await editor.command("waza.run", {"suite": str(suite)})
        assert family(editor) == []


async def test_without_a_folder_the_suite_of_an_open_file_runs(suite: Path, elsewhere: Path) -> None:
    async with editing(None, asks=False) as editor:
        with pytest.raises(JsonRpcException, match="outside the open folders"):
            await editor.command("waza.run", {"suite": str(suite)})
        editor.open(suite.parent / "tasks" / "one.yaml")
        assert (await editor.command("waza.run", {"suite": str(suite), "task": "one"}))["status"] == "failed"
        editor.open(elsewhere / "eval.yaml")
        with pytest.raises(JsonRpcException, match="outside the open folders"):
            await editor.command("waza.run", {"suite": str(elsewhere / "eval.yaml")})


NOTHING: list[Any] = [None, {}, 7, {"suite": None}, {"suite": "/nowhere/eval.yaml"}, ["x"]]


async def test_a_run_of_nothing_is_refused_in_words(suite: Path) -> None:
    async with editing(suite.parent) as editor:
        for argument in NOTHING:
            with pytest.raises(JsonRpcException, match="eval file"):
                await editor.command("waza.run", argument)
