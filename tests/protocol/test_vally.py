"""Eval files of Vally through the real server: checked, repaired and completed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.protocol.editor import applied, editing, edits_of

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
        (rename,) = [each for each in await editor.actions(uri, 1) if each.title == "Rename to `defaults`"]
        repaired = applied(TEXT, edits_of(rename, uri))
        assert repaired == TEXT.replace("config:\n  runs", "defaults:\n  runs")
        editor.replace(uri, 2, repaired.replace("runs: 1", "runs: 1\n  "))
        assert "timeout" in [item.label for item in await editor.complete(uri, 3, 2)]
