"""An edit of a grader shows its verdict on the recorded answers, at once and as what it is."""

import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from tests.engine.suites import run
from tests.patience import ON_A_BUSY_MACHINE
from tests.protocol import late_answers
from tests.protocol.editor import Editor, editing, is_told_to_ask_again, write_suite
from tests.protocol.workspace import opened

pytestmark = [pytest.mark.check, pytest.mark.asyncio(loop_scope="module")]

SUITE = """\
name: reads
skill: explainer
config: {trials_per_task: 2, timeout_seconds: 60, executor: mock, model: none}
tasks: ["tasks/*.yaml"]
graders:
  - type: text
    name: says
    config:
      contains:
        - hello
  - type: code
    name: long
    config:
      assertions:
        - len(output) > 3
"""
TASK = """\
id: one
name: one
inputs:
  prompt: Say hello
expected:
  output_contains:
    - hello
"""
LIVE = {"live": "on"}
posix_only = pytest.mark.skipif(sys.platform == "win32", reason="an interpreter is no script there")


@pytest.fixture(scope="module")
def editor_options() -> dict[str, Any]:
    return {"limit": is_told_to_ask_again, "options": LIVE}


@pytest.fixture
def suite(own_folder: Path) -> Path:
    path = write_suite(own_folder, SUITE, one=TASK)
    run(path, trials=2)
    return path


def _are_checked(marks: list[str], labels: list[str]) -> bool:
    """Tell whether the rules of the graders have these marks."""
    return labels[2::2] == marks


def is_live(labels: list[str]) -> bool:
    return sum(each.startswith("⚡") for each in labels) >= 4


async def test_an_edit_flips_the_verdict_without_a_run(editor: Editor, suite: Path) -> None:
    uri = editor.open(suite)
    assert await editor.labels_until(uri, is_live) == [
        "✓ 1/1 task",
        "⚡ ✓ 2/2",
        "⚡ ✓",
        "⚡ ✓ 2/2",
        "⚡ ✓",
    ]
    results = sorted((suite.parent / ".waza/results").iterdir())
    editor.replace(uri, 2, SUITE.replace("- hello", "- never said"))
    flipped = await editor.labels_until(uri, lambda found: "⚡ ✗" in found)
    assert flipped[1:] == ["⚡ ✗ 2 of 2 · 1.00 → 0.00", "⚡ ✗", "⚡ ✓ 2/2", "⚡ ✓"]
    assert editor.refreshed["inlay hints"] > 0
    editor.replace(uri, 3, SUITE.replace("> 3", "> 3000"))
    flipped = await editor.labels_until(uri, lambda found: found[-1] == "⚡ ✗")
    assert flipped[1:] == ["⚡ ✓ 2/2", "⚡ ✓", "⚡ ✗ 2 of 2 · 1.00 → 0.00", "⚡ ✗"]
    assert sorted((suite.parent / ".waza/results").iterdir()) == results
    tooltip = (await editor.hints(uri))[-2].tooltip
    assert isinstance(tooltip, types.MarkupContent)
    assert "Live: evaluated as written here on 2 recorded trials of the run" in tooltip.value
    assert "Failing trials: `one` 1, 2." in tooltip.value


async def test_clients_that_draw_marks_are_told_of_live_verdicts_and_results(suite: Path) -> None:
    options = {**LIVE, "drawsMarks": True}
    async with editing(suite.parent, limit=is_told_to_ask_again, options=options) as editor:
        told: list[bool] = []

        def take(changed: Any) -> None:
            told.append(changed.files)

        editor.feature("waza/marksChanged")(take)
        uri = editor.open(suite)
        await editor.labels_until(uri, is_live)
        await editor.until(lambda: told, ON_A_BUSY_MACHINE)
        assert not any(told)
        # What is judged anew is marked anew.
        for version, (said, glyph) in enumerate((("never said", "✗"), ("hello", "✓")), 2):
            editor.replace(uri, version, SUITE.replace("- hello", f"- {said}"))
            expected = [f"⚡ {glyph}", "⚡ ✓"]
            shown = await editor.labels_until(uri, partial(_are_checked, expected))
            marks = await editor.ask("waza/marks", textDocument={"uri": uri})
            lines = SUITE.splitlines()
            # An entry of `tasks:` has a mark and no hint.
            with_hint = [mark for mark in marks if "tasks" not in lines[mark["line"]]]
            states = [mark["state"] for mark in sorted(with_hint, key=lambda mark: mark["line"])]
            assert states == ["failed" if "✗" in each else "passed" for each in shown], shown
        (results,) = (suite.parent / ".waza/results").glob("*.json")
        editor.changed(results)
        await editor.until(lambda: any(told), ON_A_BUSY_MACHINE)


@posix_only
async def test_an_answer_that_comes_after_a_newer_one_changes_nothing(suite: Path, tmp_path: Path) -> None:
    """It says which text the verdicts hold for; taken late, it would make those of a newer text old."""
    options = {**LIVE, "interpreter": str(late_answers.interpreter(tmp_path))}
    async with opened(suite, limit=is_told_to_ask_again, options=options) as (editor, uri):
        assert is_live(await editor.labels_until(uri, is_live))
        editor.replace(uri, 2, SUITE.replace("- hello", f"- {late_answers.HELD}"))
        await editor.until((tmp_path / late_answers.NOTE).exists, ON_A_BUSY_MACHINE)
        newer = SUITE.replace("- hello", "- adieu").replace("> 3", "> 3000")
        editor.replace(uri, 3, newer)
        shown = ["⚡ ✗ 2 of 2 · 1.00 → 0.00", "⚡ ✗"] * 2
        assert (await editor.labels_until(uri, lambda found: found[1:] == shown))[1:] == shown
        # Before this is answered the engine answers about the older text.
        line = next(number for number, each in enumerate(newer.splitlines()) if "adieu" in each)
        while "evaluated on the trials" not in str(await editor.hover(uri, line, 11)):
            pass
        assert (await editor.labels(uri))[1:] == shown


async def test_a_schema_that_changes_on_the_disk_is_judged_at_once(editor: Editor, own_folder: Path) -> None:
    shape = "graders:\n  - {type: json_schema, name: shape, config: {schema_file: schema.json}}\n"
    path = write_suite(own_folder, SUITE.partition("graders:")[0] + shape, one=TASK)
    schema = own_folder / "schema.json"
    schema.write_text('{"type": "object"}', "utf-8")
    record = run(path, trials=2)[0].results_file
    assert record is not None
    document = json.loads(record.read_text("utf-8"))
    for trial in document["tasks"][0]["runs"]:
        trial["final_output"] = "{}"
    record.write_text(json.dumps(document), "utf-8")
    uri = editor.open(path)
    passing = await editor.labels_until(uri, lambda found: any(each.startswith("⚡ ✓ 2/2") for each in found))
    assert any(each.startswith("⚡ ✓ 2/2") for each in passing)
    await editor.until(
        lambda: any("schema.json" in str(each.register_options) for each in editor.registrations)
    )
    schema.write_text('{"type": "array"}', "utf-8")
    editor.changed(schema)
    failing = await editor.labels_until(uri, lambda found: "⚡ ✗ 2 of 2" in "".join(found))
    # The run is of the schema of then, the verdict of that of now.
    assert "stale: schema.json" in failing[0]
    assert not any("stale" in each for each in failing[1:])


async def test_the_lens_that_grades_again_agrees_with_it(editor: Editor, suite: Path) -> None:
    uri = editor.open(suite)
    await editor.labels_until(uri, is_live)
    editor.replace(uri, 2, SUITE.replace("- hello", "- never said"))
    flipped = await editor.labels_until(uri, lambda found: "⚡ ✗" in found)
    await editor.command("waza.regrade", {"id": f"{suite}::::says"})
    of_suite, *others = await editor.labels(uri)
    assert (of_suite, others) == ("↻ ✗ 1 of 1 task", flipped[1:])


async def test_it_can_begin_when_the_engine_was_started_for_something_else(suite: Path) -> None:
    async with opened(suite, limit=is_told_to_ask_again, options={"live": "off"}) as (editor, uri):
        await editor.command("waza.regrade", {"id": f"{suite}::::says"})
        editor.configure(live={"enable": "on"})
        editor.replace(uri, 2, SUITE.replace("- hello", "- never said"))
        assert "⚡ ✗" in await editor.labels_until(uri, lambda found: "⚡ ✗" in found)
