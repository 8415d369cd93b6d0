"""Prompts, results and adapters of agent-eval-harness: in an editor, and by ``check`` and ``show``."""

import json
from pathlib import Path

import pytest

from tests.command_line import language_server
from tests.protocol.editor import applied, editing, edits_of
from tests.protocol.test_workspace_diagnostics import asked
from waza_language_server.project.uris import uri_of

pytestmark = pytest.mark.check

EVAL = (
    "name: greets\nskill: s\nconfig: {executor: mock, model: none, trials_per_task: 1, timeout_seconds: 9}\n"
)
LINES = '{"id": "a", "input": "\U0001f600", "expected": "x"}\r\n{"id": "a", "input": "y" "hint": "z"}\r\n'


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    (tmp_path / "eval.yaml").write_text(f"{EVAL}tasks_from: cases.jsonl\n", "utf-8")
    path = tmp_path / "cases.jsonl"
    path.write_bytes(LINES.encode())
    return path


async def test_lines_are_checked_completed_and_repaired(prompts: Path) -> None:
    async with editing(prompts.parent, options={"reportsJsonSyntax": True}) as editor:
        uri = editor.open(prompts, LINES)
        found = [
            (each.range.start.line, each.range.start.character, each.code)
            for each in await editor.problems(uri)
        ]
        assert found == [(0, 27, "unknown-key"), (1, 7, "duplicate-task-id"), (1, 25, "json-syntax")]
        (action,) = [each for each in await editor.actions(uri, 0) if each.title == "Change to `hint`"]
        assert applied(LINES, edits_of(action, uri)) == LINES.replace('"expected"', '"hint"')
        editor.replace(uri, 2, LINES + '{"id": "c", "')
        assert "input" in [item.label for item in await editor.complete(uri, 2, 13)]
        hover = await editor.hover(uri, 1, 27)
        assert hover is not None
        assert "good answer" in str(hover.contents)
        state = await editor.protocol.send_request_async("waza/suiteState", {"textDocument": {"uri": uri}})
        assert state.kind == "prompts"


async def test_a_fixed_file_of_prompts_makes_its_suite_right(prompts: Path) -> None:
    suite = prompts.parent / "eval.yaml"
    async with editing(prompts.parent, pulls=True) as editor:
        uri = editor.open(suite)
        assert "unusable-dataset" in [each.code for each in await editor.problems(uri)]
        rewrite(prompts, '{"id": "a", "input": "y"}\n')
        editor.changed(prompts)
        await editor.until(lambda: editor.diagnostic_refresh_count)
        assert "unusable-dataset" not in [each.code for each in await editor.problems(uri)]


async def test_closed_prompts_of_a_suite_have_their_problems(prompts: Path) -> None:
    async with editing(prompts.parent, pulls=True) as editor:
        told = await asked(editor)
        assert told[uri_of(prompts)][1] == ["unknown-key", "duplicate-task-id", "json-syntax"]


def rewrite(path: Path, text: str) -> None:
    path.write_text(text, "utf-8")


async def test_lines_of_other_tools_get_no_answer(prompts: Path) -> None:
    async with editing(prompts.parent, pulls=True) as editor:
        uri = editor.open(prompts.with_name("train.jsonl"), '{"messages": [}\n{"id": "a", "input": "x"}\n')
        assert await editor.problems(uri) == []
        assert await editor.hover(uri, 1, 3) is None
        assert await editor.complete(uri, 1, 1) == []


async def test_a_file_over_the_limit_has_one_information(prompts: Path) -> None:
    async with editing(prompts.parent, pulls=True) as editor:
        uri = editor.open(prompts, '{"id": "a", "input": "x"}\n' * 160_000)
        (problem,) = await editor.problems(uri)
        assert (problem.severity, problem.code) == (3, "not-text")
        assert "`waza-language-server check` reads it" in problem.message


def test_check_finds_and_repairs_them_in_every_format(prompts: Path) -> None:
    folder = prompts.parent
    (folder / "config").mkdir()
    (folder / "config" / "agent.json").write_text(
        '{"version": 1, "command": ["a"], "sessionMode": "batch"}', "utf-8"
    )
    with (folder / "eval.yaml").open("a") as suite:
        suite.write("# adapter\n")
    text = (
        (folder / "eval.yaml")
        .read_text("utf-8")
        .replace("{executor", "{adapter: config/agent.json, executor")
    )
    (folder / "eval.yaml").write_text(text, "utf-8")
    done = language_server("check", ".", cwd=folder)
    assert done.returncode == 1
    for place in (
        "cases.jsonl:1:28: warning[unknown-key]",
        "cases.jsonl:2:8: error[duplicate-task-id]",
        "agent.json:1:49: ",
    ):
        assert place in done.stdout
    sarif = json.loads(language_server("check", ".", "--format", "sarif", cwd=folder).stdout)
    assert "duplicate-task-id" in {each["ruleId"] for each in sarif["runs"][0]["results"]}
    assert "duplicate-task-id" in language_server("show", "cases.jsonl", cwd=folder).stdout
    language_server("check", ".", "--fix", cwd=folder)
    assert prompts.read_bytes().decode() == LINES.replace('"expected"', '"hint"').replace('"y" "', '"y", "')


@pytest.fixture
def large(prompts: Path) -> Path:
    rows = [json.dumps({"id": f"p{number}", "input": "x" * 400}) for number in range(12_000)]
    rows[3_000] = '{"id": "p7", "input": "x"}'
    rows[9_000] = '{"id": "q", "inptu": "x"}'
    rows[11_000] = '{"id": "p11000", "input": "x", "timeout": 60}'
    prompts.write_bytes("\r\n".join(rows).encode())
    return prompts


def test_check_streams_a_large_file_with_the_lines_of_the_file(large: Path) -> None:
    done = language_server("check", "cases.jsonl", cwd=large.parent)
    places = [line.split("]")[0] for line in done.stdout.splitlines()[:-1]]
    assert places == [
        "cases.jsonl:3001:8: error[duplicate-task-id",
        "cases.jsonl:9001:13: error[unknown-key",
        "cases.jsonl:11001:43: warning[unlikely-value",
    ]


def test_a_large_file_is_repaired_line_by_line_and_says_why_it_is_not_shown(large: Path) -> None:
    before, mode = large.read_bytes(), large.stat().st_mode
    diff = language_server("check", "cases.jsonl", "--diff", cwd=large.parent)
    assert (diff.returncode, large.read_bytes()) == (1, before)
    assert diff.stdout.splitlines()[2:] == [
        "@@ -9001 +9001 @@",
        '-{"id": "q", "inptu": "x"}',
        '+{"id": "q", "input": "x"}',
    ]
    listed = json.loads(language_server("check", ".", "--format", "json", "--fixes", cwd=large.parent).stdout)
    lines = {fix["edits"][0]["range"]["start"]["line"] for each in listed for fix in each.get("fixes", ())}
    assert {9_000, 11_000} <= lines
    done = language_server("check", "cases.jsonl", "--fix", cwd=large.parent)
    assert "(1 fixed)" in done.stdout
    assert large.read_bytes() == before.replace(b'"inptu"', b'"input"')
    assert large.stat().st_mode == mode
    shown = language_server("show", "cases.jsonl", cwd=large.parent)
    assert (shown.returncode, shown.stdout) == (2, "")
    assert "more than 4,000,000 bytes; `waza-language-server check` reports its problems" in shown.stderr
