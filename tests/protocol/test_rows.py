"""Lenses of prompts and captures, carried out by a real engine with an agent that is a script."""

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.patience import ON_A_BUSY_MACHINE
from tests.protocol.editor import Editor, editing

pytestmark = pytest.mark.check

AGENT = """\
import json, pathlib, sys
prompt = sys.stdin.read().strip()
with open(pathlib.Path(__file__).with_name("asked.txt"), "a") as asked:
    asked.write(prompt + "\\n")
print("It is 4" if prompt == "Add" else "I refuse")
"""
GRADER = """\
import json, sys
given = json.load(sys.stdin)
passed = (given.get("hint") or "") in given["output"]
print(json.dumps({"pass": passed, "score": float(passed), "reasoning": "looked for the hint"}))
"""
PROMPTS = """\
{"id": "a", "input": "Add", "hint": "4", "reference": "4 it is"}
{"id": "b", "input": "Say", "hint": "hello"}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "graders").mkdir()
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "graders" / "check.py").write_text(GRADER)
    (tmp_path / "prompts.jsonl").write_text(PROMPTS)
    adapter = {
        "version": 1,
        "name": "script",
        "command": [sys.executable, str(tmp_path / "agent.py")],
        "sessionMode": "iterative",
        "prompt": {"stdin": True},
        "x-waza": {"output_mode": "text"},
    }
    (tmp_path / "adapter.json").write_text(json.dumps(adapter))
    return tmp_path


async def click(editor: Editor, path: Path, title: str, line: int = 0) -> dict[str, Any]:
    for lens in await editor.lenses(editor.open(path)):
        if lens.command and lens.command.title == title and lens.range.start.line == line:
            return await editor.command(lens.command.command, *(lens.command.arguments or ()))
    raise AssertionError(title)


def blocks(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def written(answer: dict[str, Any]) -> str:
    return Path(answer["file"]).read_text()


async def test_each_lens_does_what_the_command_line_does(folder: Path) -> None:
    prompts = folder / "prompts.jsonl"
    async with editing(folder) as editor:
        answer = await click(editor, prompts, "▶ Run", 1)
        captured = folder / "prompts.captures.jsonl"
        assert answer == {"status": "completed", "file": str(captured), "message": None}
        assert [(row["id"], row["output"], row["score"]["pass"]) for row in blocks(captured)] == [
            ("b", "I refuse", False)
        ]
        assert (folder / "asked.txt").read_text() == "Say\n"

        before = captured.read_bytes()
        again = await click(editor, prompts, "▶ Run", 1)
        assert (again["file"], captured.read_bytes()) == (str(folder / "prompts.captures-2.jsonl"), before)

        answer = await click(editor, prompts, "▶ Trials 5")
        [row] = blocks(Path(answer["file"]))
        assert (row["id"], row["k"], row["passRate"]) == ("a", 5, 1)
        hints = await editor.hints(editor.open(Path(answer["file"])))
        assert [hint.label for hint in hints] == ["1.00 · pass@5 1.00 · pass^5 1.00"]

        answer = await click(editor, prompts, "Check reference")
        assert [row["passes"] for row in blocks(Path(answer["file"]))] == [True]

        answer = await click(editor, captured, "↻ Grade again")
        assert [row["score"]["pass"] for row in blocks(Path(answer["file"]))] == [False]
        answer = await click(editor, captured, "Calibrate 1 failure")
        assert "# Calibration of the grader" in written(answer)
        assert (folder / "asked.txt").read_text() == "Say\n" * 2 + "Add\n" * 5


@pytest.mark.parametrize(
    ("missing", "said"),
    [("adapter.json", "No adapter is near prompts.jsonl"), ("graders/check.py", "No grader")],
)
async def test_what_is_missing_is_named(folder: Path, missing: str, said: str) -> None:
    (folder / missing).unlink()
    async with editing(folder) as editor:
        title = "▶ Run" if missing == "adapter.json" else "Check reference"
        with pytest.raises(JsonRpcException, match=said):
            await click(editor, folder / "prompts.jsonl", title)
    assert not (folder / "asked.txt").exists()


async def test_the_user_chooses_among_several_adapters(folder: Path) -> None:
    (folder / "other.json").write_text((folder / "adapter.json").read_text().replace("script", "other"))
    async with editing(folder) as editor:
        asked: list[types.ShowMessageRequestParams] = []

        def choose(params: types.ShowMessageRequestParams) -> types.MessageActionItem | None:
            asked.append(params)
            return types.MessageActionItem("other.json") if len(asked) == 1 else None

        editor.feature(types.WINDOW_SHOW_MESSAGE_REQUEST)(choose)
        answer = await click(editor, folder / "prompts.jsonl", "▶ Run")
        [row] = blocks(Path(answer["file"]))
        assert row["metadata"]["agent"] == "other"
        assert (await click(editor, folder / "prompts.jsonl", "▶ Run"))["status"] == "canceled"
    assert (folder / "asked.txt").read_text() == "Add\n"


async def test_nothing_runs_untrusted_or_unsaved(folder: Path) -> None:
    prompts = folder / "prompts.jsonl"
    request = {"command": "capture", "file": prompts.as_uri(), "prompt": "a"}
    async with editing(folder) as editor:
        editor.replace(editor.open(prompts), 2, PROMPTS.replace("Add", "Sub"))
        with pytest.raises(JsonRpcException, match="unsaved"):
            await editor.command("waza.harness", request)
    async with editing(folder, options={"trusted": False}) as editor:
        with pytest.raises(JsonRpcException, match="trust"):
            await editor.command("waza.harness", request)
    assert not (folder / "asked.txt").exists()


@pytest.mark.parametrize(
    "argument",
    [
        {},
        {"command": "run"},
        {"command": "grade", "file": 3},
        {"command": "grade", "file": "file:///a", "x": 1},
    ],
)
async def test_other_arguments_are_refused(folder: Path, argument: dict[str, Any]) -> None:
    async with editing(folder) as editor:
        with pytest.raises(JsonRpcException, match=r"waza\.harness needs"):
            await editor.command("waza.harness", argument)


async def test_a_cancelled_command_keeps_what_was_answered(folder: Path) -> None:
    (folder / "agent.py").write_text(
        AGENT.replace("print(", "import time; prompt == 'Say' and time.sleep(60); print(")
    )
    async with editing(folder) as editor:
        request = {"command": "capture", "file": (folder / "prompts.jsonl").as_uri()}
        work = asyncio.create_task(editor.command("waza.harness", request))
        await asyncio.to_thread(wait_until_asked, folder, "Say")
        assert await editor.command("waza.cancel") == {"canceled": 1}
        assert (await asyncio.wait_for(work, ON_A_BUSY_MACHINE))["status"] == "canceled"
        assert [row["id"] for row in blocks(folder / "prompts.captures.jsonl")] == ["a"]


def wait_until_asked(folder: Path, prompt: str) -> None:
    file, until = folder / "asked.txt", time.monotonic() + ON_A_BUSY_MACHINE
    while not (file.exists() and prompt in file.read_text()):
        assert time.monotonic() < until
        time.sleep(0.05)
