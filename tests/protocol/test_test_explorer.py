"""What a test explorer asks and hears: the tree of suites, and runs test by test."""

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.protocol.editor import Editor, editing, suite_with, write_suite

pytestmark = [pytest.mark.check, pytest.mark.asyncio(loop_scope="module")]

SUITE = suite_with("""\
graders:
  - type: text
    name: speaks
    config:
      contains:
        - Say hello
        - a phrase that no answer has
""")
ONE = "id: one\nname: Task one\ninputs: {prompt: Say hello}\ngraders:\n  - {type: human, name: looks}\n"
TWO = "id: two\nname: Task two\ninputs: {prompt: Say hello}\nexpected: {output_contains: [goodbye]}\n"
TRIGGERS = "skill: explainer\nshould_trigger_prompts:\n  - prompt: Explain it\n"


@pytest.fixture(scope="module")
def editor_options() -> dict[str, Any]:
    return {"options": {"runEvents": True}}


@pytest.fixture
def suite(own_folder: Path) -> Path:
    path = write_suite(own_folder, SUITE, one=ONE, two=TWO)
    (own_folder / "trigger_tests.yaml").write_text(TRIGGERS)
    return path


async def items_below(editor: Editor, parent: str | None = None) -> list[tuple[str, str, str, str, int]]:
    """Return the id, kind, label, file and line of each item."""
    found: list[dict[str, Any]] = await editor.ask("waza/tests", parent=parent)
    return [
        (
            item["id"],
            item["kind"],
            item["label"],
            item["uri"].rpartition("/")[2],
            item["range"]["start"]["line"],
        )
        for item in found
    ]


async def events_of(editor: Editor, suite: Path | str, **arguments: Any) -> list[dict[str, Any]]:
    """Run and return what was told, in order."""
    told: list[dict[str, Any]] = []

    def hear(params: Any) -> None:
        event = params.event
        told.append({"target": params.id, **_plain(event)})

    editor.feature("waza/runEvent")(hear)
    target = suite if isinstance(suite, str) else suite.as_posix()
    request = types.ExecuteCommandParams("waza.run", [{"id": target, **arguments}])
    await editor.workspace_execute_command_async(request)
    return told


def _plain(value: Any) -> Any:
    if hasattr(value, "_asdict"):
        return {name: _plain(each) for name, each in value._asdict().items()}
    return [_plain(each) for each in value] if isinstance(value, list) else value


def _line(location: dict[str, Any]) -> tuple[str, int]:
    return location["uri"].rpartition("/")[2], location["range"]["start"]["line"]


async def test_the_tree_has_suites_then_tasks_and_prompts_then_graders(suite: Path) -> None:
    place = suite.as_posix()
    async with editing(suite.parent) as editor:
        assert await items_below(editor) == [(place, "suite", "explains", "eval.yaml", 0)]
        assert await items_below(editor, place) == [
            (f"{place}::one", "task", "Task one", "one.yaml", 0),
            (f"{place}::two", "task", "Task two", "two.yaml", 0),
            (f"{place}#triggers:Explain it", "prompt", "Explain it", "trigger_tests.yaml", 2),
        ]
        assert await items_below(editor, f"{place}::one") == [
            (f"{place}::one::speaks", "grader", "speaks", "eval.yaml", 5),
            (f"{place}::one::looks", "grader", "looks", "one.yaml", 4),
        ]
        assert await items_below(editor, f"{place}::one::looks") == []
        assert await items_below(editor, f"{place}::two") == [
            (f"{place}::two::speaks", "grader", "speaks", "eval.yaml", 5),
            (f"{place}::two::_output_contains", "grader", "expected.output_contains", "two.yaml", 3),
        ]


async def test_each_item_says_what_runs_with_it(suite: Path) -> None:
    place, tasks = suite.as_posix(), suite.parent / "tasks"
    named = "graders:\n  - {type: text, name: looks after turn 2, config: {contains: [x]}}\n"
    asked = (
        "checkpoints:\n  - {after_turn: 1, graders: [{type: text, name: asks, config: {contains: [x]}}]}\n"
    )
    (tasks / "two.yaml").write_text(TWO + named + asked, "utf-8")
    (tasks / "off.yaml").write_text("id: off\nname: Off\nenabled: false\ninputs: {prompt: Hi}\n", "utf-8")

    async def runs(editor: Editor, parent: str | None) -> dict[str, str | None]:
        found = await editor.ask("waza/tests", parent=parent)
        return {item["id"].removeprefix(f"{place}::"): item["runs"] for item in found}

    async with editing(suite.parent) as editor:
        assert await runs(editor, None) == {place: place}
        of_suite = await runs(editor, place)
        assert (of_suite["two"], of_suite["off"]) == (f"{place}::two", None)
        assert await runs(editor, f"{place}::two") == {
            "two::speaks": f"{place}::two::speaks",
            "two::looks after turn 2": f"{place}::two::looks after turn 2",
            "two::asks after turn 1": f"{place}::two",
            "two::_output_contains": f"{place}::two",
        }
        assert await runs(editor, f"{place}::off") == {"off::speaks": None}


@pytest.mark.parametrize(("inline", "is_off"), [("", True), ("{id: three, inputs: {prompt: Hi}}, ", False)])
async def test_a_suite_whose_tasks_are_all_switched_off_runs_with_nothing(
    tmp_path: Path, inline: str, is_off: bool
) -> None:
    text = SUITE.replace('["tasks', f'[{inline}"tasks')
    path = write_suite(tmp_path, text, one=f"enabled: false\n{ONE}", two=f"enabled: false\n{TWO}")
    async with editing(tmp_path) as editor:
        (found,) = await editor.ask("waza/tests", parent=None)
    assert found["runs"] == (None if is_off else path.as_posix())


async def test_a_suite_that_is_gone_leaves_the_tree_though_its_editor_is_open(suite: Path) -> None:
    async with editing(suite.parent) as editor:
        editor.open(suite)
        assert len(await items_below(editor)) == 1
        shutil.rmtree(suite.parent)
        editor.changed(suite, kind=types.FileChangeType.Deleted)
        assert await items_below(editor) == []


async def test_a_parent_that_is_no_id_is_refused(suite: Path) -> None:
    async with editing(suite.parent) as editor:
        with pytest.raises(JsonRpcException) as refusal:
            await items_below(editor, "nonsense")
        assert refusal.value.code == -32602


async def test_a_grader_of_a_checkpoint_has_its_item_and_its_failure(editor: Editor, suite: Path) -> None:
    asked = "\n  - after_turn: 1\n    graders:\n      - type: text\n        name: asks\n"
    checks = "        config:\n          contains:\n            - Say hello\n            - Which one?\n"
    (suite.parent / "tasks" / "two.yaml").write_text(f"{TWO}checkpoints:{asked}{checks}", "utf-8")
    asks = f"{suite.as_posix()}::two::asks after turn 1"
    items = await items_below(editor, f"{suite.as_posix()}::two")
    assert items[1] == (asks, "grader", "asks after turn 1", "two.yaml", 7)
    told = await events_of(editor, suite)
    (said,) = [event for event in told if event["kind"] == "graded" and event["item"] == asks]
    assert _line(said["location"]) == ("two.yaml", 7)
    (failure,) = said["failures"]
    assert _line(failure["location"]) == ("two.yaml", 12)
    assert "Which one?" in failure["message"]


async def test_a_list_that_is_expected_stands_at_its_key(editor: Editor, suite: Path) -> None:
    two = TWO.replace("{output_contains: [goodbye]}", "\n  output_contains:\n    - Say hello\n    - goodbye")
    (suite.parent / "tasks" / "two.yaml").write_text(two, "utf-8")
    expected = f"{suite.as_posix()}::two::_output_contains"
    items = await items_below(editor, f"{suite.as_posix()}::two")
    assert items[-1] == (expected, "grader", "expected.output_contains", "two.yaml", 4)
    told = await events_of(editor, suite)
    (said,) = [event for event in told if event["kind"] == "graded" and event["item"] == expected]
    assert _line(said["location"]) == ("two.yaml", 4)
    assert [_line(failure["location"]) for failure in said["failures"]] == [("two.yaml", 6)]


async def test_colours_of_programs_are_left_out_of_what_is_told(editor: Editor, suite: Path) -> None:
    says = "print('\\x1b[31mred\\x1b[0m\\x07'); raise SystemExit(1)"
    program = (
        f"{{type: program, name: paints, config: {{command: '{sys.executable}', args: [-c, \"{says}\"]}}}}"
    )
    (suite.parent / "tasks" / "one.yaml").write_text(f"{ONE}  - {program}\n", "utf-8")
    told = await events_of(editor, suite)
    (said,) = [event for event in told if event["kind"] == "graded" and event["grader"] == "paints"]
    assert "red\\x07" in said["message"]
    assert "\x1b" not in json.dumps(told, ensure_ascii=False)


async def test_a_failure_is_told_at_the_line_of_its_check(editor: Editor, suite: Path) -> None:
    place = suite.as_posix()
    told = await events_of(editor, suite)
    graded = {event["item"]: event for event in told if event["kind"] == "graded"}
    speaks = graded[f"{place}::one::speaks"]
    assert _line(speaks["location"]) == ("eval.yaml", 5)
    assert [_line(failure["location"]) for failure in speaks["failures"]] == [("eval.yaml", 10)]
    assert "a phrase that no answer has" in speaks["failures"][0]["message"]
    expected = graded[f"{place}::two::_output_contains"]
    assert [_line(failure["location"]) for failure in expected["failures"]] == [("two.yaml", 3)]
    assert expected["label"] == "expected.output_contains"
    ends = {
        event["item"]: event["conclusion"]["verdict"]
        for event in told
        if event["kind"] in ("passed", "failed") and "trial" not in event
    }
    assert ends == {f"{place}::one": "failed", f"{place}::two": "failed"}
    (two,) = [event for event in told if event["kind"] == "failed" and event.get("item") == f"{place}::two"
              and "trial" not in event]  # fmt: skip
    assert two["conclusion"]["reason"] == "not passed: speaks, expected.output_contains"
    (tried,) = [event for event in told if event["kind"] == "tried"]
    assert (tried["item"], tried["status"]) == (f"{place}#triggers:Explain it", "passed")
    assert (told[-1]["kind"], told[-1]["conclusion"]["verdict"]) == ("ended", "failed")
    assert {event["target"] for event in told} == {place}


async def test_a_client_that_did_not_ask_hears_nothing(suite: Path) -> None:
    async with editing(suite.parent) as editor:
        assert await events_of(editor, suite) == []


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"tasks": []}, "ids of tasks"),
    ({"tasks": [1]}, "ids of tasks"),
    ({"options": {"speed": 1}}, "no option `speed`"),
    ({"options": {"trials": 2.5}}, "must be a whole number, not 2.5."),
    ({"options": {"cache": "no"}}, 'must be true or false, not "no".'),
]


async def test_what_would_run_something_else_is_refused(suite: Path) -> None:
    async with editing(suite.parent) as editor:
        for arguments, why in REFUSED:
            request = types.ExecuteCommandParams("waza.run", [{"id": suite.as_posix(), **arguments}])
            with pytest.raises(JsonRpcException) as refusal:
                await editor.workspace_execute_command_async(request)
            assert refusal.value.code == -32602
            assert why in refusal.value.message


async def test_the_last_run_of_a_task_is_a_page_to_read(suite: Path) -> None:
    async with editing(suite.parent) as editor:
        question = {"id": f"{suite.as_posix()}::two"}
        for asked in (question, {"id": suite.as_posix()}):
            with pytest.raises(JsonRpcException, match=r"no results yet; run it first\."):
                await editor.ask("waza/resultDocument", **asked)
        gone = suite.with_name("gone.yaml").as_posix()
        with pytest.raises(JsonRpcException, match=re.escape(f"There is no eval file {gone}.")):
            await editor.ask("waza/resultDocument", id=gone)
        await events_of(editor, suite)
        page = _plain(await editor.ask("waza/resultDocument", **question))
    assert "Task two" in page["markdown"]
    assert "the answer does not contain `goodbye`" in page["markdown"]
    assert "Task one" not in page["markdown"]


async def test_grading_again_is_told_as_a_run_is_and_says_so(editor: Editor, suite: Path) -> None:
    place = suite.as_posix()
    told = await events_of(editor, suite)
    told.clear()
    editor.open(suite, SUITE.replace("a phrase that no answer has", "hello"))
    request = types.ExecuteCommandParams("waza.regrade", [{"id": f"{place}::one"}])
    await editor.workspace_execute_command_async(request)
    assert all(event["regraded"] and event["target"] == f"{place}::one" for event in told)
    assert [(event["kind"], event.get("item")) for event in told] == [
        ("graded", f"{place}::one::speaks"),
        ("graded", f"{place}::one::looks"),
        ("passed", f"{place}::one"),
        ("ended", None),
    ]
    assert told[2]["conclusion"]["graders"][0]["verdict"] == "passed"
    assert [event.get("score") for event in told[:2]] == [1.0, None]  # a person has said nothing yet


async def test_one_grader_closes_its_task_with_what_others_said(editor: Editor, suite: Path) -> None:
    place = suite.as_posix()
    told = await events_of(editor, suite)
    told.clear()
    editor.open(suite, SUITE.replace("a phrase that no answer has", "hello"))
    await editor.command("waza.regrade", {"id": f"{place}::::speaks"})
    closed = next(
        event for event in told if event.get("item") == f"{place}::one" and event["kind"] != "graded"
    )
    assert closed["with_recorded"]
    judged = {grader["name"]: grader["verdict"] for grader in closed["conclusion"]["graders"]}
    assert judged == {"speaks": "passed", "looks": "pending"}


async def test_where_two_texts_were_compared_both_are_told(editor: Editor, suite: Path) -> None:
    (suite.parent / "fixtures").mkdir()
    for name, text in (("notes.txt", "one\n"), ("wanted.txt", "two\n")):
        (suite.parent / "fixtures" / name).write_text(text, "utf-8")
    grader = "{type: diff, name: same, config: {expected_files: [{path: notes.txt, snapshot: wanted.txt}]}}"
    task = f"id: one\nname: one\ninputs: {{prompt: Hi, files: [notes.txt]}}\ngraders:\n  - {grader}\n"
    (suite.parent / "tasks/one.yaml").write_text(task, "utf-8")
    told = await events_of(editor, suite, tasks=["one"])
    (failure,) = next(event["failures"] for event in told if event.get("grader") == "same")
    assert (failure["expected"], failure["actual"]) == ("two\n", "one\n")
    assert _line(failure["location"]) == ("one.yaml", 4)


async def test_an_earlier_run_can_be_read_beside_the_newest_one(suite: Path) -> None:
    question = {"id": f"{suite.as_posix()}::two"}
    async with editing(suite.parent) as editor:

        async def ask(method: str, **more: str) -> Any:
            return _plain(await editor.ask(method, **question, **more))

        await editor.command("waza.run", question)
        (suite.parent / "tasks/two.yaml").write_text(TWO.replace("goodbye", "hello"), "utf-8")
        await editor.command("waza.run", question)
        await editor.command("waza.run", {"id": f"{suite.as_posix()}::one"})
        runs = await ask("waza/recordedRuns")
        pages = [await ask("waza/resultDocument", record=run["resultsFile"]) for run in runs]
        with pytest.raises(JsonRpcException, match="no recorded run"):
            await ask("waza/resultDocument", record=str(suite))
    assert [run["verdict"] for run in runs] == ["failed", "failed"]
    assert ["does not contain `goodbye`" in page["markdown"] for page in pages] == [False, True]


async def marked(editor: Editor, uri: str, count: int) -> None:
    """Wait until so many lines of a document have marks; they are drawn when their results are read."""
    while len(await editor.hints(uri)) != count:
        seen = editor.refreshed["inlay hints"]
        await editor.until(lambda seen=seen: editor.refreshed["inlay hints"] > seen)


async def test_several_prompts_are_tried_in_one_run(editor: Editor, suite: Path) -> None:
    file = suite.parent / "trigger_tests.yaml"
    file.write_text(file.read_text("utf-8") + "  - {prompt: Say more}\n  - {prompt: Say no more}\n", "utf-8")
    told = await events_of(editor, suite, prompts=["Explain it", "Say no more"])
    prompts = [f"{suite.as_posix()}#triggers:{text}" for text in ("Explain it", "Say no more")]
    assert sorted(event["item"] for event in told if event["kind"] == "tried") == prompts
    assert [event["kind"] for event in told].count("ended") == 1
    assert not [event for event in told if "task" in event]
    for wrong in ([], [1], "Explain it"):
        with pytest.raises(JsonRpcException, match="prompts"):
            await editor.command("waza.run", {"id": suite.as_posix(), "prompts": wrong})
    with pytest.raises(JsonRpcException, match="prompts"):
        await editor.command("waza.run", {"id": prompts[0], "prompts": ["Explain it"]})


async def test_tasks_and_prompts_are_run_together(editor: Editor, suite: Path) -> None:
    told = await events_of(editor, suite, tasks=["two"], prompts=["Explain it"])
    assert {event["task"] for event in told if "task" in event} == {"two"}
    assert [event["prompt"] for event in told if event["kind"] == "tried"] == ["Explain it"]
    assert [event["kind"] for event in told].count("ended") == 1
    assert told[-1]["results_file"].endswith(".json")


@pytest.mark.parametrize("chosen", [None, ["Say *"]], ids=["by its id", "by its text"])
async def test_a_prompt_that_looks_like_a_pattern_runs_nothing_else(
    editor: Editor, suite: Path, chosen: list[str] | None
) -> None:
    """``Say *`` was chosen and is written otherwise by now: the prompts that it would match stay untried."""
    file = suite.parent / "trigger_tests.yaml"
    file.write_text(file.read_text("utf-8") + "  - {prompt: Say more}\n  - {prompt: Say no more}\n", "utf-8")
    target = suite.as_posix() if chosen else f"{suite.as_posix()}#triggers:Say *"
    limits = {"prompts": chosen} if chosen else {}
    answer = await editor.command("waza.run", {"id": target, **limits})
    assert (answer["status"], answer["resultsFile"]) == ("error", None)
    file.write_text(file.read_text("utf-8") + "  - {prompt: Say *}\n", "utf-8")
    told = await events_of(editor, target, **limits)
    assert [event["prompt"] for event in told if event["kind"] == "tried"] == ["Say *"]


async def test_a_prompt_is_tried_alone_and_the_others_keep_their_marks(editor: Editor, suite: Path) -> None:
    file = suite.parent / "trigger_tests.yaml"
    file.write_text(file.read_text("utf-8") + "  - {prompt: Say more}\n", "utf-8")
    prompt = f"{suite.as_posix()}#triggers:Say more"
    uri = editor.open(file)
    titles = await editor.titles(uri)
    assert titles == ["▶ Run prompt", "▶ Run prompt"]
    await editor.command("waza.run", {"id": suite.as_posix()})
    await marked(editor, uri, 2)
    told = await events_of(editor, prompt)
    assert [event["item"] for event in told if event["kind"] == "tried"] == [prompt]
    assert {event["target"] for event in told} == {prompt}
    assert not [event for event in told if "task" in event]
    await marked(editor, uri, 2)
    with pytest.raises(JsonRpcException, match="nothing to grade again"):
        await editor.command("waza.regrade", {"id": prompt})


async def test_each_event_has_the_token_of_the_run_that_it_is_of(editor: Editor, suite: Path) -> None:
    tokens: set[Any] = set()

    def hear(params: Any) -> None:
        tokens.add(params.token)

    editor.feature("waza/runEvent")(hear)
    await editor.command("waza.run", {"id": suite.as_posix(), "workDoneToken": "mine"})
    assert tokens == {"mine"}


async def test_a_page_says_that_its_answers_were_graded_again(suite: Path) -> None:
    question = {"id": f"{suite.as_posix()}::two"}
    async with editing(suite.parent) as editor:

        async def page() -> Any:
            return _plain(await editor.ask("waza/resultDocument", **question))

        await editor.command("waza.run", question)
        assert (await page())["regraded"] is False
        await editor.command("waza.regrade", question)
        assert (await page())["regraded"] is True
