"""The real server stays answerable, and small, whatever is typed into a document."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from tests.protocol.editor import editing, write_suite

pytestmark = pytest.mark.check

HEAD = "name: s\nskill: s\ngraders:\n  - type: text\n    name: a\ntasks:\n  - t\n"
MEBIBYTE = 1024 * 1024


async def test_a_text_of_ten_megabytes_costs_little_memory_and_is_named_as_not_checked(
    tmp_path: Path,
) -> None:
    async with editing(tmp_path) as editor:
        uri = editor.open(write_suite(tmp_path, HEAD), HEAD + "description: " + "word " * 2_000_000 + "\n")
        (problem,) = await editor.problems(uri)
        assert "not checked" in problem.message
        editor.insert(uri, 2, 1, 0, "x")
        await editor.hover(uri, 0, 1)
        assert await editor.complete(uri, 2, 0) == []
        assert psutil.Process(editor.process_id).memory_info().rss < 300 * MEBIBYTE
