"""A client says how grave problems are taken, at first and later."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from tests.protocol.editor import editing

pytestmark = pytest.mark.check

TASK = "id: one\nname: One\ninputs:\n  prompt: Say hello\ntagz: [a]\n"


async def test_severities_of_the_client_are_taken_and_changed(tmp_path: Path) -> None:
    path = tmp_path / "tasks" / "one.yaml"
    path.parent.mkdir()
    path.write_text(TASK, encoding="utf-8")
    async with editing(tmp_path, options={"severity": {"unknown-key": "hint"}}) as editor:
        uri = editor.open(path)
        (problem,) = await editor.problems(uri)
        assert problem.severity is types.DiagnosticSeverity.Hint
        editor.workspace_did_change_configuration(
            types.DidChangeConfigurationParams(
                {"waza": {"diagnostics": {"severity": {"unknown-key": "off"}}}}
            )
        )
        await editor.until(lambda: not editor.diagnostics.get(uri))
        assert await editor.problems(uri) == []
