"""``evals.json`` in editors: through the real server, with a client that reports invalid JSON and others."""

import json
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from tests.protocol.editor import applied, editing, edits_of

pytestmark = pytest.mark.check

CASE = '{"id": 1, "promt": "Sum"}'
BROKEN = '{"skill_name": "csv" "evals": [' + CASE + ', {"id": 2, "prompt": "a", "prompt": "b"}]}'
IN_VS_CODE = {"reportsJsonSyntax": True}


@pytest.fixture
def evals(tmp_path: Path) -> Path:
    path = tmp_path / "csv/evals/evals.json"
    path.parent.mkdir(parents=True)
    path.write_text(BROKEN, "utf-8")
    (tmp_path / "csv/SKILL.md").write_text("---\nname: csv\ndescription: Charts.\n---\n", "utf-8")
    return path


@pytest.mark.parametrize(
    ("options", "codes"),
    [
        (None, ["json-syntax", "unknown-key", "nothing-checked", "nothing-checked", "duplicate-key"]),
        (IN_VS_CODE, ["unknown-key", "nothing-checked", "nothing-checked"]),
    ],
)
async def test_a_client_that_reports_invalid_json_gets_the_other_problems(
    evals: Path, options: dict[str, Any] | None, codes: list[str]
) -> None:
    async with editing(evals.parents[2], options=options) as editor:
        uri = editor.open(evals)
        assert sorted(str(each.code) for each in await editor.problems(uri)) == sorted(codes)
        titles = {action.title for action in await editor.actions(uri, 0)}
        assert {"Insert a comma", "Change to `prompt`"} <= titles


async def test_a_case_is_completed_repaired_and_run(evals: Path) -> None:
    text = BROKEN.replace('csv" ', 'csv", ').replace(', "prompt": "b"', ', "expected_output": "b"')
    async with editing(evals.parents[2], options=IN_VS_CODE) as editor:
        uri = editor.open(evals, text)
        assert await editor.titles(uri) == ["▶ Run all", "▶ Run case", "▶ Run case"]
        (action,) = [each for each in await editor.actions(uri, 0) if each.title == "Change to `prompt`"]
        repaired = applied(text, edits_of(action, uri))
        assert repaired == text.replace("promt", "prompt")
        editor.replace(uri, 2, repaired.replace('"Sum"', '"Sum", ""'))
        column = repaired.index('"Sum"') + len('"Sum", "')
        labels = [item.label for item in await editor.complete(uri, 0, column)]
        assert labels[0] == "expected_output"
        assert "prompt" not in labels


async def test_json_of_other_tools_gets_no_answer(evals: Path) -> None:
    other = evals.parent / "package.json"
    async with editing(evals.parents[2], options=IN_VS_CODE, pulls=True) as editor:
        uri = editor.open(other, json.dumps({"name": "x", "evals": {"a": 1}, "scripts": {}}, indent=2))
        assert await editor.problems(uri) == []
        assert await editor.lenses(uri) == []
        assert await editor.hover(uri, 1, 4) is None
        assert await editor.complete(uri, 1, 4) == []
        symbols = types.DocumentSymbolParams(types.TextDocumentIdentifier(uri))
        assert not await editor.text_document_document_symbol_async(symbols)


@pytest.fixture
def total(evals: Path) -> Path:
    assertions = '[{"type": "content", "pattern": "tota[l]"}, {"type": "content", "pattern": "absent"}]'
    case = f'{{"id": 1, "prompt": "Name the total", "assertions": {assertions}}}'
    evals.write_text('{"skill_name": "csv", "evals": [\n' + case + "\n]}", "utf-8")
    return evals


async def test_a_case_is_run_and_its_assertions_have_verdicts(total: Path) -> None:
    async with editing(total.parents[2], options=IN_VS_CODE) as editor:
        uri = editor.open(total)
        lens = next(lens for lens in await editor.lenses(uri) if lens.command is not None)
        assert lens.command is not None
        await editor.command("waza.run", *(lens.command.arguments or ()))
        labels = await editor.labels_until(uri, lambda labels: "✓" in labels)
        assert labels == ["✗ 1 of 1 task", "✗ 0.50", "✓", "✗"]
