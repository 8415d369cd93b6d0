"""Recorded trials of a suite: why a rule fails, the page of a trial, graders made from it, the test bed."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import psutil
import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.live.bed import recorded_bed
from tests.protocol.editor import Editor, asked_until, edits_of, is_told_to_ask_again, label_of
from tests.protocol.workspace import opened
from waza_language_server.project.uris import uri_of

pytestmark = [pytest.mark.check, pytest.mark.asyncio(loop_scope="module")]

RULES = """\
- type: text
  name: greets
  config:
    contains:
      - function add is
    regex_match:
      - deployed to
- type: behavior
  name: few
  config:
    max_tool_calls: 2
"""
FINDS = """\
- type: text
  name: greets
  config:
    contains:
    - function
    regex_match:
    - deployed to
"""
MANY_CALLS = "- {type: behavior, name: few, config: {max_tool_calls: 9}}\n"
GREETS = "- {type: text, name: greets, config: {contains: [hello]}}\n"
TITLES = [
    'New grader in this task (passes on 1 of 2 recorded trials): the answer contains "Deployed"',
    'New grader in the suite (passes on 2 of 6 recorded trials of 3 tasks): the answer contains "Deployed"',
]


@pytest.fixture(scope="module")
def editor_options() -> dict[str, Any]:
    return {"limit": is_told_to_ask_again, "options": {"live": "on"}}


@asynccontextmanager
async def judged(
    suite: Path, editor: Editor | None = None, **options: object
) -> AsyncGenerator[tuple[Editor, str]]:
    """Open a suite in the editor of the module, which judges live, or in one with these options."""
    if editor is not None:
        uri = editor.open(suite)
        yield editor, uri
        editor.close(uri)
        return
    given = {name: value for name, value in {"live": "on", **options}.items() if value is not None}
    async with opened(suite, limit=is_told_to_ask_again, options=given) as both:
        yield both


def line_of(text: str, part: str) -> int:
    return next(number for number, line in enumerate(text.splitlines()) if part in line)


async def hint_with(editor: Editor, uri: str, *parts: str) -> types.InlayHint:
    """Wait for a hint with these parts."""

    async def ask() -> list[types.InlayHint]:
        hints = await editor.hints(uri)
        return [hint for hint in hints if all(part in label_of(hint) for part in parts)]

    return (await asked_until(ask, bool))[0]


async def text_hovered(editor: Editor, uri: str, text: str, pointed: str, wanted: str) -> str:
    """Hover over a part of the text until the hover has what is wanted."""
    line = line_of(text, pointed)

    async def ask() -> str:
        hover = await editor.hover(uri, line, text.splitlines()[line].index(pointed))
        contents = hover.contents if hover is not None else None
        return contents.value if isinstance(contents, types.MarkupContent) else ""

    return await asked_until(ask, lambda said: wanted in said)


async def fix_offered(editor: Editor, uri: str, text: str, pointed: str, wanted: str) -> types.CodeAction:
    """Wait for a quick fix on a line."""

    async def ask() -> list[types.CodeAction]:
        return [fix for fix in await editor.actions(uri, line_of(text, pointed)) if wanted in fix.title]

    return (await asked_until(ask, bool))[0]


async def test_a_text_shows_where_the_answer_comes_nearest(editor: Editor, own_folder: Path) -> None:
    suite, _ = recorded_bed(own_folder / "suite", RULES)
    async with judged(suite, editor) as (_, uri):
        text = await asyncio.to_thread(suite.read_text, "utf-8")
        said = await text_hovered(editor, uri, text, "function add is", "✗ 6 of 6")
    assert said.startswith("**⚡ ✗ 6 of 6** · evaluated on the trials recorded ")
    assert "✗ `t0` trial 1: `not found; the nearest in the answer: punctuation differs`" in said
    assert "Hello, the function `add` is done.\n           ^^^^^^^^^^^^^^^^^\n" in said


async def test_a_limit_shows_what_was_observed(editor: Editor, own_folder: Path) -> None:
    suite, _ = recorded_bed(own_folder / "suite", RULES)
    text = suite.read_text("utf-8")
    async with judged(suite, editor) as (_, uri):
        said = await text_hovered(editor, uri, text, "max_tool_calls", "Observed")
        assert "Observed: ✗ `3`, `1`, `0`, ✗ `4`, ✗ `3`, `1`" in said
        assert "`4 tool calls, at most 2 allowed: 2 too many`" in said
        edited = text.replace("max_tool_calls: 2", "max_tool_calls: 3")
        editor.replace(uri, 2, edited)
        said = await text_hovered(editor, uri, edited, "max_tool_calls", "at most 3 allowed")
        assert "Observed: `3`, `1`, `0`, ✗ `4`, `3`, `1`" in said


@pytest.mark.parametrize("options", [{"trusted": False}, {"live": "off"}, {"live": None}])
async def test_where_nothing_may_run_nothing_is_started(tmp_path: Path, options: dict[str, object]) -> None:
    suite, _ = recorded_bed(tmp_path / "suite", RULES)
    line = line_of(suite.read_text("utf-8"), "max_tool_calls")
    async with judged(suite, None, **options) as (editor, uri):
        for column in range(5, 15):
            hover = await editor.hover(uri, line, column)
            assert hover is None or "⚡" not in str(hover.contents)
            assert all("recorded" not in action.title for action in await editor.actions(uri, line))
        editor.insert(uri, 2, 0, 0, "# an edit\n")
        assert not any("⚡" in label for label in await editor.labels(uri))
        assert bed_lens(await editor.lenses(uri)) is None
        assert psutil.Process(editor.process_id).children(recursive=True) == []


async def test_a_fix_says_on_how_many_trials_it_helps(editor: Editor, own_folder: Path) -> None:
    suite, _ = recorded_bed(own_folder / "suite", RULES)
    text = suite.read_text("utf-8")
    async with judged(suite, editor) as (_, uri):
        action = await fix_offered(editor, uri, text, "max_tool_calls", "Raise max_tool_calls to 4")
        assert action.title == (
            "Raise max_tool_calls to 4, the most observed (passes on 6 of 6 recorded trials, now 3)"
        )
        assert (action.kind, action.is_preferred) == (types.CodeActionKind.QuickFix, False)
        assert [edit.new_text for edit in edits_of(action, uri)] == ["4"]
        loosened = await fix_offered(editor, uri, text, "- deployed to", "(?i)deployed to")
        assert "upper and lower case ignored" in loosened.title
        assert all("fixAll" not in str(one.kind) for one in (action, loosened))


def marked(answer: Any) -> list[tuple[str, str, str]]:
    lines = answer.text.split("\n")
    found: list[tuple[str, str, str]] = []
    for mark in answer.marks:
        start, end = mark.range.start, mark.range.end
        assert start.line == end.line
        found.append((mark.kind, lines[start.line][start.character : end.character], mark.words))
    return found


async def test_a_hint_opens_a_trial_that_fails_with_its_marks(tmp_path: Path) -> None:
    suite, _ = recorded_bed(tmp_path / "suite", FINDS)
    async with judged(suite, opensTrials=True) as (editor, uri):
        hint = await hint_with(editor, uri, "⚡", "6 of 6")
        assert isinstance(hint.label, list)
        command = hint.label[0].command
        assert command is not None
        assert (command.title, command.command) == ("Open ✗ t0, trial 1", "waza.openTrial")
        given: Any = (command.arguments or [None])[0]
        answer = await editor.ask("waza/trialDocument", **given)
    assert answer.text.startswith("# `t0`, trial 1\n")
    assert marked(answer) == [
        ("found", "function", '✓ greets: contains "function"'),
        ("near", "Deployed to", '≈ greets: regex_match "deployed to": upper and lower case ignored'),
    ]


async def test_a_hover_opens_the_trial_that_it_tells_of(tmp_path: Path) -> None:
    suite, _ = recorded_bed(tmp_path / "suite", FINDS)
    line = line_of(suite.read_text("utf-8"), "deployed")
    async with judged(suite, opensTrials=True) as (editor, uri):
        await hint_with(editor, uri, "⚡", "6 of 6")
        hover = await editor.hover(uri, line, 8)
        assert hover is not None
        assert isinstance(hover.contents, types.MarkupContent)
        told = hover.contents.value
        link = re.search(r"\[`Open ✗ t0, trial 1`\]\(command:waza\.openTrial\?([^)]+)\)", told)
        assert link is not None, told
        (argument,) = json.loads(unquote(link[1]))
        answer = await editor.ask("waza/trialDocument", **argument)
        assert answer.text.startswith("# `t0`, trial 1\n")


async def test_a_client_that_opens_no_trials_gets_no_links(editor: Editor, own_folder: Path) -> None:
    suite, _ = recorded_bed(own_folder / "suite", FINDS)
    async with judged(suite, editor) as (_, uri):
        hint = await hint_with(editor, uri, "⚡", "6 of 6")
    assert isinstance(hint.label, str)
    assert "openTrial" not in str(hint.tooltip)


def taking(editor: Editor, choice: str | None = None) -> tuple[list[types.WorkspaceEdit], list[str]]:
    """Let the editor take changes, and its user choose; return what it was given and asked."""
    taken, asked = list[types.WorkspaceEdit](), list[str]()

    def take(params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        taken.append(params.edit)
        return types.ApplyWorkspaceEditResult(applied=True)

    def choose(params: types.ShowMessageRequestParams) -> types.MessageActionItem | None:
        asked.extend(action.title for action in params.actions or ())
        return None if choice is None else types.MessageActionItem(choice)

    editor.feature(types.WORKSPACE_APPLY_EDIT)(partial(take))
    editor.feature(types.WINDOW_SHOW_MESSAGE_REQUEST)(partial(choose))
    return taken, asked


async def test_an_action_adds_a_grader_whose_hint_is_live(editor: Editor, own_folder: Path) -> None:
    suite, _ = recorded_bed(own_folder / "suite", MANY_CALLS)
    async with judged(suite, editor) as (_, uri):
        await hint_with(editor, uri, "⚡")
        answer = await editor.ask("waza/newGraders", id=f"{suite}::t0", trial=1, text="Deployed")
        assert [action["title"] for action in answer] == TITLES
        assert answer[1]["data"] == {
            "words": 'the answer contains "Deployed"',
            "where": "in the suite",
            "passes": "passes on 2 of 6 recorded trials of 3 tasks",
        }
        (change,) = answer[1]["edit"]["documentChanges"]
        assert change["textDocument"] == {"uri": uri, "version": 1}
        (edit,) = change["edits"]
        assert "name: contains_deployed\n" in edit["newText"]
        at = edit["range"]["start"]
        editor.insert(uri, 2, at["line"], at["character"], edit["newText"])
        await hint_with(editor, uri, "⚡ ✗ 4 of 6")


async def test_the_command_asks_which_and_writes_it(editor: Editor, own_folder: Path) -> None:
    suite, _ = recorded_bed(own_folder / "suite", MANY_CALLS)
    async with judged(suite, editor) as (_, uri):
        taken, asked = taking(editor, TITLES[0])
        await hint_with(editor, uri, "⚡")
        given = {"id": f"{suite}::t0", "trial": 1, "text": "Deployed"}
        answer = await editor.command("waza.newGraderFromText", given)
    assert answer["title"] == TITLES[0]
    assert asked == TITLES
    (change,) = list(taken[0].document_changes or ())
    assert isinstance(change, types.TextDocumentEdit)
    assert change.text_document.uri.endswith("/tasks/t0.yaml")
    assert "name: contains_deployed\n" in str(getattr(change.edits[0], "new_text", ""))


async def test_the_command_takes_a_title_or_writes_nothing(editor: Editor, own_folder: Path) -> None:
    suite, _ = recorded_bed(own_folder / "suite", MANY_CALLS)
    async with judged(suite, editor) as (_, uri):
        taken, _ = taking(editor)
        await hint_with(editor, uri, "⚡")
        given = {"id": f"{suite}::t0", "trial": 1, "text": "Deployed"}
        assert (await editor.command("waza.newGraderFromText", given))["title"] is None
        assert taken == []
        named = {"suite": uri_of(suite), "task": "t0", "trial": 1, "text": "Deployed", "title": TITLES[1]}
        answer = await editor.command("waza.newGraderFromText", named)
        assert (answer["title"], len(taken)) == (TITLES[1], 1)
        for wrong, why in (
            ({**given, "title": "another"}, "no such title"),
            ({**given, "text": "zebra"}, "No grader"),
            ({"id": f"{suite}::t0", "text": "Deployed"}, "needs the number"),
            ({"id": str(suite), "trial": 1, "text": "Deployed"}, "that of a task"),
        ):
            with pytest.raises(JsonRpcException, match=why):
                await editor.command("waza.newGraderFromText", wrong)


@pytest.fixture
def suite(own_folder: Path) -> Path:
    """A suite whose run of today greets in half of the trials, and whose older run never does."""
    path, record = recorded_bed(own_folder / "suite", GREETS)
    document = json.loads(record.read_text("utf-8"))
    started = datetime.fromisoformat(document["timestamp"])
    document["timestamp"] = (started - timedelta(days=3)).isoformat()
    for task in document["tasks"]:
        for trial in task["runs"]:
            trial["final_output"] = "Good morning"
    (record.parent / "older.json").write_text(json.dumps(document), "utf-8")
    return path


def bed_lens(lenses: list[types.CodeLens]) -> types.CodeLens | None:
    return next((one for one in lenses if one.command is not None and "test bed" in one.command.title), None)


async def title(editor: Editor, uri: str, wanted: str = "test bed") -> str:
    """Wait until the lens of the test bed says what is wanted."""

    async def ask() -> str:
        lens = bed_lens(await editor.lenses(uri))
        return lens.command.title if lens is not None and lens.command is not None else ""

    return await asked_until(ask, lambda found: wanted in found)


async def mark(editor: Editor, uri: str, is_wanted: Callable[[str], bool]) -> str:
    """Wait until the live hint of the grader is as wanted."""

    async def ask() -> str:
        labels = await editor.labels(uri)
        return next((one for one in labels if one.startswith("⚡") and one[-1].isdigit()), "")

    return await asked_until(ask, is_wanted)


async def test_the_lens_names_the_run_and_how_many_trials_it_has(editor: Editor, suite: Path) -> None:
    async with judged(suite, editor) as (_, uri):
        said = await title(editor, uri)
        assert said.startswith("⚡ test bed: run of ")
        assert said.endswith(", 3 tasks × 2 trials")
        lens = bed_lens(await editor.lenses(uri))
        assert lens is not None
        assert (await asyncio.to_thread(suite.read_text, "utf-8")).splitlines()[
            lens.range.start.line
        ] == "graders:"


async def test_another_run_is_judged_and_what_was_answered_last_again(editor: Editor, suite: Path) -> None:
    older = suite.parent / ".waza" / "results" / "older.json"
    async with judged(suite, editor) as (_, uri):
        assert (await mark(editor, uri, lambda label: "3 of 6" in label)).startswith("⚡ ✗ 3 of 6")
        first = await title(editor, uri)
        bed = {"id": str(suite), "results": str(older)}
        assert await editor.command("waza.testBed", bed) == {"results": str(older), "trial": None}
        assert await mark(editor, uri, lambda label: "6 of 6" in label) == "⚡ ✗ 6 of 6"
        chosen = await title(editor, uri)
        assert chosen != first
        tooltips = [hint.tooltip for hint in await editor.hints(uri)]
        assert any("3 days ago" in str(tooltip) for tooltip in tooltips)
        await editor.command("waza.testBed", {"id": str(suite), "results": None})
        assert "3 of 6" in await mark(editor, uri, lambda label: "3 of 6" in label)
        assert await title(editor, uri) == first


async def test_one_trial_of_each_task_can_be_the_test_bed(editor: Editor, suite: Path) -> None:
    async with judged(suite, editor) as (_, uri):
        await mark(editor, uri, lambda label: "3 of 6" in label)
        await editor.command("waza.testBed", {"id": str(suite), "trial": 2})
        assert await mark(editor, uri, lambda label: "of 3" in label) == "⚡ ✗ 2 of 3"
        assert (await title(editor, uri, "alone")).endswith(", 3 tasks, trial 2 alone")


async def test_a_client_that_confirms_is_given_the_runs_as_a_list_to_pick_from(suite: Path) -> None:
    async with judged(suite, confirms=True) as (editor, _):
        asked: list[Any] = []

        def answer(params: Any) -> str:
            asked.append(params)
            return "Trial 2"

        editor.feature("waza/confirm")(answer)
        chosen = await editor.command("waza.testBed", {"id": str(suite)})
        assert chosen == {"results": None, "trial": 2}
        assert (asked[0].pick, asked[0].choices[0]) == (True, "The newest answers")


async def test_a_run_whose_file_is_gone_is_said_and_nothing_is_judged(editor: Editor, suite: Path) -> None:
    older = suite.parent / ".waza" / "results" / "older.json"
    async with judged(suite, editor) as (_, uri):
        await mark(editor, uri, lambda label: "3 of 6" in label)
        await editor.command("waza.testBed", {"id": str(suite), "results": str(older)})
        await mark(editor, uri, lambda label: "6 of 6" in label)
        await asyncio.to_thread(older.unlink)
        assert "is gone, so nothing is evaluated live" in await title(editor, uri, "is gone")
        editor.replace(
            uri, 2, (await asyncio.to_thread(suite.read_text, "utf-8")).replace("hello", "morning")
        )
        assert await mark(editor, uri, lambda label: not label) == ""


async def test_what_is_no_run_of_the_suite_is_refused(editor: Editor, suite: Path) -> None:
    async with judged(suite, editor):
        for wrong in ({"results": "/etc/passwd"}, {"trial": 0}, {"trial": True}):
            with pytest.raises(JsonRpcException):
                await editor.command("waza.testBed", {"id": str(suite), **wrong})


async def test_a_client_that_shows_no_such_lens_gets_none(suite: Path) -> None:
    async with judged(suite, lens={"testBed": False}) as (editor, uri):
        await mark(editor, uri, lambda label: "3 of 6" in label)
        assert bed_lens(await editor.lenses(uri)) is None
