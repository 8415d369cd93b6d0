"""How a turn of a command-line agent is started."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.engine.executors.agents import adapter
from waza_engine.executors.adapter.agent_command import (
    PastTurn,
    arguments_of,
    prepare_workdir,
    prompt_of,
    resolved_command,
)
from waza_engine.executors.executor import ExecutionRequest, ExecutorError
from waza_engine.spec.adapter import AdapterFile

FULL = {
    "output": {"flag": "--output-format", "value": "stream-json"},
    "autoApprove": ["--yes", "all"],
    "cwdFlag": "--cwd",
    "resume": {"flag": "--resume", "sessionIdPath": "$.session_id"},
}


def spec(**keys: Any) -> AdapterFile:
    return AdapterFile.model_validate(adapter(**keys))


def request(**options: Any) -> ExecutionRequest:
    return ExecutionRequest("two", Path("/w"), **options)


def arguments(
    found: AdapterFile, asked: ExecutionRequest, session: str | None = None, mcp: str = ""
) -> list[str]:
    config = Path(mcp) if mcp else None
    return arguments_of(found, ["exec"], asked, "two", workdir=Path("/w"), session=session, mcp_config=config)


def test_the_order_of_the_arguments() -> None:
    expected = ["exec", "--output-format", "stream-json", "--yes", "all", "--cwd", str(Path("/w"))]
    assert arguments(spec(**FULL), request()) == [*expected, "-p", "two"]
    assert arguments(spec(**FULL), request(), "S1") == [*expected, "--resume", "S1", "-p", "two"]


def test_the_prompt_may_be_the_last_argument_or_on_standard_input() -> None:
    assert arguments(spec(prompt={}), request()) == ["exec", "two"]
    assert arguments(spec(prompt={"stdin": True}), request()) == ["exec"]


def test_an_iterative_agent_resumes_nothing() -> None:
    assert "--resume" not in arguments(spec(**FULL, sessionMode="iterative"), request(), "S1")


def test_what_only_this_engine_knows_comes_before_the_session() -> None:
    extension = {
        "model_flag": "--model",
        "reasoning_effort_flag": "--effort",
        "instructions_flag": "--system",
        "mcp_config_flag": "--mcp",
    }
    found = spec(resume=FULL["resume"], **{"x-waza": extension})
    asked = request(model="m", reasoning_effort="low", instructions="Be brief.")
    assert arguments(found, asked, "S1", "f.json") == [
        *("exec", "--model", "m", "--effort", "low", "--system", "Be brief.", "--mcp", "f.json"),
        *("--resume", "S1", "-p", "two"),
    ]
    assert arguments(found, request()) == ["exec", "-p", "two"]


def test_the_file_of_mcp_servers_may_be_part_of_an_argument() -> None:
    found = spec(**{"x-waza": {"mcp_config_flag": "--config=@{file}"}})
    assert arguments(found, request(), mcp="f.json") == ["exec", "--config=@f.json", "-p", "two"]


HISTORY = (PastTurn("Hello", "Hi"), PastTurn("How are you?", "Fine"))


def test_a_conversation_as_text() -> None:
    asked = ExecutionRequest("Next", Path("/w"))
    found = spec(sessionMode="iterative")
    assert prompt_of(found, asked, (), first=True) == "Next"
    assert prompt_of(found, asked, HISTORY, first=False) == (
        "User: Hello\nAssistant: Hi\n\nUser: How are you?\nAssistant: Fine\n\nUser: Next"
    )


def test_a_template_of_ones_own() -> None:
    asked = ExecutionRequest("Next", Path("/w"))
    found = spec(
        sessionMode="iterative",
        historyTemplate={"system": "S", "turnFormat": "{{input}}>{{output}}|{{input}}"},
    )
    past = (PastTurn("{{output}} $& \\1", "B"),)
    assert prompt_of(found, asked, past, first=False) == (
        "S\n\n{{output}} $& \\1>B|{{output}} $& \\1\n\nUser: Next"
    )


@pytest.mark.parametrize(
    ("keys", "first", "text"),
    [
        ({}, True, "Be brief.\n\ntwo"),
        ({}, False, "two"),
        ({"sessionMode": "iterative"}, False, "Be brief.\n\ntwo"),
        ({"x-waza": {"instructions_flag": "--system"}}, True, "two"),
        ({"x-waza": {"instructions_file": "AGENTS.md"}}, True, "two"),
    ],
)
def test_instructions_stand_before_the_prompt_when_there_is_no_other_way(
    keys: dict[str, Any], text: str, *, first: bool
) -> None:
    assert prompt_of(spec(**keys), request(instructions="Be brief."), (), first=first) == text


def prepared(directory: Path, extension: dict[str, Any], **options: Any) -> Path:
    workdir = directory / "w"
    workdir.mkdir(exist_ok=True)
    asked = ExecutionRequest("Hi", workdir, **options)
    prepare_workdir(spec(**{"x-waza": extension}), asked, workdir, directory / "skills" / "writer" / "evals")
    return workdir


def test_skills_are_copied_to_where_the_agent_looks_for_them(tmp_path: Path) -> None:
    skill = tmp_path / "skills" / "writer"
    for name in ("SKILL.md", "docs/more.md", "evals/eval.yaml", "node_modules/x.js", ".git/HEAD"):
        (skill / name).parent.mkdir(parents=True, exist_ok=True)
        (skill / name).write_text(name)
    for directory in (tmp_path / "skills", skill):
        workdir = prepared(tmp_path, {"skills_directory": ".claude/skills"}, skill_directories=[directory])
        copied = workdir / ".claude" / "skills" / "writer"
        assert sorted(
            path.relative_to(copied).as_posix() for path in copied.rglob("*") if path.is_file()
        ) == [
            "SKILL.md",
            "docs/more.md",
        ]


def test_instructions_are_added_to_the_agents_own_file(tmp_path: Path) -> None:
    extension = {"instructions_file": "AGENTS.md"}
    workdir = prepared(tmp_path, extension, instructions="Be brief.")
    assert (workdir / "AGENTS.md").read_text() == "Be brief.\n"
    prepared(tmp_path, extension, instructions="Be kind.")
    assert (workdir / "AGENTS.md").read_text() == "Be brief.\n\nBe kind.\n"


def test_mcp_servers_are_added_to_the_agents_own_settings(tmp_path: Path) -> None:
    extension = {"mcp_config_file": ".gemini/settings.json"}
    file = tmp_path / "w" / ".gemini" / "settings.json"
    file.parent.mkdir(parents=True)
    file.write_text('{"theme": "dark", "mcpServers": {"old": {}}}')
    prepared(tmp_path, extension, mcp_servers={"new": {"command": "x"}})
    assert json.loads(file.read_text()) == {
        "theme": "dark",
        "mcpServers": {"old": {}, "new": {"command": "x"}},
    }
    file.write_text("[]")
    with pytest.raises(ExecutorError, match="is not a JSON object"):
        prepared(tmp_path, extension, mcp_servers={"new": {}})


def test_files_of_the_command_are_found_beside_the_adapter_first(tmp_path: Path) -> None:
    for place in ("adapters/agent.py", "agent.py", "only.py"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_text("")
    directories = (tmp_path / "adapters", tmp_path)
    python = resolved_command(["python3", "agent.py", "./only.py", "exec", "gone.py"], directories, None)
    assert python[1:] == [
        str(tmp_path / "adapters" / "agent.py"),
        str(tmp_path / "only.py"),
        "exec",
        "gone.py",
    ]
    assert Path(python[0]).is_absolute()
