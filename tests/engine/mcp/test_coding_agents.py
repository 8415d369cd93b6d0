"""``waza-engine mcp``, driven by a real client over its standard streams."""

import json
import shutil
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types
import pytest
from mcp import Client, StdioServerParameters

from tests.command_line import engine

pytestmark = pytest.mark.check

SUITE = """\
name: greets
skill: greeter
config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}
tasks: ["tasks/*.yaml"]
graders:
  - {type: text, name: polite, config: {contains: [please]}}
"""
TASK = "id: one\nname: One\ninputs:\n  prompt: Say hello\n"
READING = {"check", "explain_failure", "fix", "grader_reference", "list", "schema"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    directory = tmp_path / "project"
    (directory / "evals" / "tasks").mkdir(parents=True)
    (directory / "evals" / "eval.yaml").write_text(SUITE, "utf-8")
    (directory / "evals" / "tasks" / "one.yaml").write_text(TASK, "utf-8")
    return directory


@asynccontextmanager
async def agent(root: Path, *options: str) -> AsyncGenerator[Client]:
    command = ["-m", "waza_engine", "mcp", *options, str(root)]
    async with Client(StdioServerParameters(command=sys.executable, args=command)) as client:
        yield client


async def call(client: Client, tool: str, **arguments: Any) -> Any:
    """Return the result of a tool as JSON, or its text when it is none."""
    result = await client.call_tool(tool, arguments)
    (content, *others) = result.content or [mcp_types.TextContent(text="[]")]
    assert isinstance(content, mcp_types.TextContent)
    if result.is_error:
        return f"error: {content.text}"
    if result.structured_content is not None:
        return result.structured_content.get("result", result.structured_content)
    assert not others
    return json.loads(content.text)


async def test_an_agent_checks_fixes_and_checks_again(root: Path) -> None:
    suite = root / "evals" / "eval.yaml"
    suite.write_text(SUITE.replace("contains", "containz"), "utf-8")
    async with agent(root) as client:
        (finding,) = await call(client, "check")
        assert (finding["code"], finding["range"]["start"]["line"]) == ("unknown-key", 5)
        (fix,) = finding["fixes"]
        assert [edit["newText"] for edit in fix["edits"]] == ["contains"]
        assert "1 fixed" in await call(client, "fix", path="evals")
        assert await call(client, "check") == []
    assert suite.read_text("utf-8") == SUITE


async def test_an_agent_looks_up_graders_suites_and_schemas(root: Path) -> None:
    async with agent(root) as client:
        assert (await call(client, "grader_reference", type="text")).startswith("## text\n")
        assert "there are action_sequence," in await call(client, "grader_reference", type="txet")
        listed = await call(client, "list")
        assert "greets" in json.dumps(listed)
        assert (await call(client, "schema", name="task"))["type"] == "object"
        pages = {str(page.uri) for page in (await client.list_resources()).resources}
        assert pages == {"waza://docs/graders.md", "waza://docs/diagnostics.md"}
        (page,) = (await client.read_resource("waza://docs/graders.md")).contents
        assert "# Graders" in getattr(page, "text", "")


async def test_an_agent_learns_why_a_task_failed(root: Path) -> None:
    assert engine("run", root / "evals").returncode == 1
    async with agent(root) as client:
        (failure,) = await call(client, "explain_failure", path="evals")
        assert failure["task"] == "one"
        (answer,) = failure["answers"]
        assert answer.startswith("Mock response")
        (grader,) = failure["graders"]
        assert (grader["grader"], grader["type"], grader["verdict"]) == ("polite", "text", "failed")
        assert "please" in grader["feedback"]
        assert "no task 'two'" in await call(client, "explain_failure", path="evals", task="two")


async def test_an_agent_learns_that_nothing_was_checked(root: Path) -> None:
    (root / "empty").mkdir()
    async with agent(root) as client:
        for tool in ("check", "fix"):
            assert "so nothing was checked" in await call(client, tool, path="empty")


async def test_an_agent_learns_what_fails_a_run_besides_its_tasks(root: Path) -> None:
    hook = "hooks: {before_run: [{command: 'false', error_on_fail: true}]}\n"
    for name in ("more", "new"):
        shutil.copytree(root / "evals", root / name)
    (root / "more" / "eval.yaml").write_text(SUITE.replace("greets", "more") + hook, "utf-8")
    assert engine("run", root / "evals", root / "more").returncode == 2
    async with agent(root, "--allow-run") as client:
        failed, stopped, whole, refused = await call(client, "explain_failure")
        assert [failed["task"], stopped["task"], whole["verdict"]] == ["one", "one", "broken"]
        assert "has no results yet" in refused["error"]
        (ended,) = await call(client, "run", path="more")
    assert (ended["suite"], ended["verdict"]) == ("more", "broken")
    assert "the hook `false` exited with 1" in " ".join(ended["reasons"])


async def test_nothing_runs_unless_the_person_allowed_it(root: Path) -> None:
    async with agent(root) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == READING
    async with agent(root, "--allow-run", "--max-cost", "0.01") as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert tools == READING | {"run", "grade", "strength"}
        (ended,) = await call(client, "run", path="evals", tasks=["one"])
        assert (ended["verdict"], ended["passed"], ended["tasks"]) == ("failed", "0 of 1", {"one": "failed"})
        assert "missing text" in json.dumps(await call(client, "grade", path="evals"))


async def test_a_session_without_budget_starts_nothing(root: Path) -> None:
    async with agent(root, "--allow-run", "--max-cost", "0") as client:
        assert "budget" in await call(client, "run", path="evals")
    assert not (root / "evals" / ".waza").exists()


@pytest.mark.parametrize("path", ["..", "/", "../other", "evals/link", "//host/share", "a\0b", "nothing"])
async def test_no_path_leads_out_of_the_root(root: Path, path: str) -> None:
    (root.parent / "other").mkdir()
    (root / "evals" / "link").symlink_to(root.parent / "other")
    async with agent(root) as client:
        assert (await call(client, "check", path=path)).startswith("error: ")


def test_a_root_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    done = engine("mcp", tmp_path / "nothing")
    assert (done.returncode, done.stdout) == (2, "")
    assert "is not a directory" in done.stderr
