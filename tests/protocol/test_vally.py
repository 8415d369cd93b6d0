"""Eval files of Vally through the real server: checked, repaired and completed."""

from pathlib import Path
from typing import Any

import pytest

from tests.protocol.editor import applied, asked_until, editing, edits_of, is_told_to_ask_again

pytestmark = pytest.mark.check

TEXT = """\
# vally: 0.16
config:
  runs: 1
environment: docs
stimuli:
  - name: greets
    prompt: Greet me.
    graders:
      - type: output-contain
        config: {substring: hello}
"""


async def test_a_vally_file_is_checked_repaired_and_completed(tmp_path: Path) -> None:
    (tmp_path / ".vally.yaml").write_text("environments: {docs: {commands: [npm ci]}}\n", "utf-8")
    path = tmp_path / "a.eval.yaml"
    path.write_text(TEXT, "utf-8")
    async with editing(tmp_path) as editor:
        uri = editor.open(path)
        found = {str(each.code): each.range.start.line for each in await editor.problems(uri)}
        assert found == {"vally-version": 1, "unknown-grader-type": 8}
        (tmp_path / ".vally.yaml").write_text("environments: {other: {}}\n", "utf-8")
        editor.changed(tmp_path / ".vally.yaml")
        await asked_until(lambda: editor.problems(uri), lambda found: "vally-environment" in str(found))
        project = editor.open(tmp_path / ".vally.yaml", "environments: {docs: {}}\n")
        await asked_until(lambda: editor.problems(uri), lambda found: "vally-environment" not in str(found))
        editor.close(project)
        (rename,) = [each for each in await editor.actions(uri, 1) if each.title == "Rename to `defaults`"]
        repaired = applied(TEXT, edits_of(rename, uri))
        assert repaired == TEXT.replace("config:\n  runs", "defaults:\n  runs")
        editor.replace(uri, 2, repaired.replace("runs: 1", "runs: 1\n  "))
        assert "timeout" in [item.label for item in await editor.complete(uri, 3, 2)]


RUNS = """\
name: greetings
defaults: {executor: mock}
graders:
  - type: output-contains
    config: {substring: response}
stimuli:
  - name: Greets people
    prompt: Greet me.
    constraints:
      max_tool_calls: 0
    graders:
      - type: output-contains
        name: says-hello
        config: {substring: hello}
      - type: output-contains
        config: {substring: greet}
  - name: other
    prompt: Wave.
"""


async def test_stimuli_and_graders_are_run_and_have_verdicts_that_become_stale(tmp_path: Path) -> None:
    path, project = tmp_path / "a.eval.yaml", tmp_path / ".vally.yaml"
    path.write_text(RUNS, "utf-8")
    project.write_text("environments: {docs: {}}\n", "utf-8")
    async with editing(tmp_path) as editor:
        uri = editor.open(path)
        titles = await editor.titles(uri)
        assert titles == [
            "▶ Run suite",
            "▶ Run grader",
            "▶ Run stimulus",
            "▶ Run grader",
            "▶ Run grader",
            "▶ Run stimulus",
        ]
        lens = (await editor.lenses(uri))[0]
        assert lens.command is not None
        await editor.command("waza.run", *(lens.command.arguments or ()))
        fresh = ["✗ 1 of 2 tasks", "✓ 1.00", "✗ 0.75", "✓ 1.00", "✗ 0.00", "✓ 1.00", "✓ 1.00"]
        assert await editor.labels_until(uri, lambda labels: len(labels) > 6) == fresh
        items: list[dict[str, Any]] = await editor.ask(
            "waza/tests", parent=f"{path.as_posix()}::greets-people"
        )
        assert [(item["label"], item["range"]["start"]["line"]) for item in items] == [
            ("output-contains", 3),
            ("says-hello", 11),
            ("output-contains-2", 14),
            ("tool-call-count", 9),
        ]
        marks = await editor.ask("waza/marks", textDocument={"uri": uri})
        assert sorted((mark["line"], mark["state"]) for mark in marks) == [
            (0, "failed"),
            (3, "passed"),
            (6, "failed"),
            (9, "passed"),
            (12, "failed"),
            (14, "passed"),
            (16, "passed"),
        ]
        editor.replace(uri, 2, RUNS.replace("Wave.", "Wave at me."))
        stale = [f"{label} · stale" if index in (0, 1, 6) else label for index, label in enumerate(fresh)]
        assert await editor.labels_until(uri, lambda labels: "stale" in str(labels)) == stale
        editor.replace(uri, 3, RUNS)
        assert await editor.labels_until(uri, lambda labels: "stale" not in str(labels)) == fresh
        project.write_text("environments: {docs: {skills: [docs]}}\n", "utf-8")
        editor.changed(project)
        labels = await editor.labels_until(uri, lambda labels: "stale" in str(labels))
        assert all("stale" in label for label in labels), labels
        assert labels[0].endswith("stale: .vally.yaml +1 −1")


async def test_graders_of_stimuli_are_graded_again_as_they_are_edited(tmp_path: Path) -> None:
    path = tmp_path / "a.eval.yaml"
    path.write_text(RUNS, "utf-8")
    async with editing(tmp_path, limit=is_told_to_ask_again, options={"live": "on"}) as editor:
        uri = editor.open(path)
        await editor.command("waza.run", {"id": path.as_posix()})
        edited = RUNS.replace("substring: hello", "substring: greet")
        editor.replace(uri, 2, edited)
        labels = await editor.labels_until(uri, lambda labels: "⚡ ✓ 1/1 · 0.00 → 1.00" in labels)
        assert labels[1::2] == ["⚡ ✓ 2/2", "⚡ ✓ 1/1", "⚡ ✓ 1/1"]
        await editor.command("waza.regrade", {"id": path.as_posix()})
        labels = await editor.labels_until(uri, lambda labels: "↻ ✓ 2/2 tasks" in labels)
        assert labels[::6] == ["↻ ✓ 2/2 tasks", "↻ ✓ 1.00"]
