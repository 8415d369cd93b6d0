"""Adapter files: what is accepted, what an author is told, and how a turn is started with one."""

import json
import sys
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from tests.engine.executors.agents import MESSAGE, adapter, load, write_agent
from tests.engine.spec.schema_reading import schema_of
from waza_engine.executors.adapter.agent_command import (
    PastTurn,
    arguments_of,
    prepare_workdir,
    prompt_of,
    resolved_command,
)
from waza_engine.executors.executor import ExecutionRequest, ExecutorError
from waza_engine.spec.adapter import AdapterFile
from waza_engine.spec.loading import load_adapter_file
from waza_engine.spec.problems import SuiteFileError


def written(directory: Path, value: Any) -> Path:
    path = directory / "adapter.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value, indent=2), "utf-8")
    return path


def refusal(directory: Path, value: Any) -> str:
    with pytest.raises(SuiteFileError) as caught:
        load_adapter_file(written(directory, value))
    return str(caught.value)


def without(key: str) -> dict[str, Any]:
    return {name: value for name, value in adapter().items() if name != key}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (adapter(version=2), "`version` is `2`, which is not one of `1`"),
        (without("version"), "`version` is missing"),
        (without("command"), "`command` is missing"),
        (adapter(command=[]), "`command` must not be empty"),
        (adapter(command="claude"), "`command` must be a list: `[ … ]`"),
        (
            adapter(sessionMode="batch"),
            "`sessionMode` is `batch`, which is not one of `stream` or `iterative`",
        ),
        (adapter(outputEvents=[{**MESSAGE, "emitAs": "say"}]), "`outputEvents[0].emitAs` is `say`"),
        (adapter(prompt={"flag": "-p", "stdin": True}), "exclude each other"),
        (without("result"), "`output` and `result` are needed"),
        (without("output"), "`output` and `result` are needed"),
        (adapter(**{"x-waza": []}), "`x-waza` must be an object: `{ … }`"),
        (adapter(**{"x-waza": {"skills_directory": "../x"}}), "must be a relative path without `..`"),
        ([], "the file must be a JSON object"),
        ("", "adapter.json:1: this is not JSON"),
        (
            "{\n  version: 1\n}",
            "adapter.json:2: this is not JSON (column 3): a key in double quotes is due",
        ),
        ('{"version": 1,}', "a comma after the last one is not JSON"),
    ],
)
def test_what_cannot_be_used_says_which_key_and_what_to_write(tmp_path: Path, value: Any, said: str) -> None:
    message = refusal(tmp_path, value)
    if value == "":
        assert "there is nothing in it" in message
    else:
        assert said in message
    assert "pydantic" not in message


def test_a_fault_names_its_line(tmp_path: Path) -> None:
    message = refusal(tmp_path, adapter(sessionMode="batch"))
    line = (
        written(tmp_path, adapter(sessionMode="batch"))
        .read_text()
        .splitlines()
        .index('  "sessionMode": "batch",')
    )
    assert f"adapter.json:{line + 1}: " in message


@pytest.mark.parametrize(
    "value",
    [
        adapter(prompt={"flag": "-p", "stdin": False}),
        adapter(prompt={}),
        adapter(output={"flag": "", "value": ""}),
        adapter(outputEvents=[]),
        {**without("result"), "x-waza": {"output_mode": "text"}},
        adapter(**{"$schema": "adapter.schema.json"}),
        adapter(historyTemplate="{{input}}"),
        adapter(historyTemplate={"system": "s", "turnFormat": "{{input}}"}),
        adapter(timeout=0.5),
    ],
)
def test_what_can_be_used_is_accepted_by_the_schema_too(tmp_path: Path, value: dict[str, Any]) -> None:
    _, warnings = load_adapter_file(written(tmp_path, value))
    assert warnings == ()
    assert [
        error.message for error in jsonschema_rs.Draft202012Validator(schema_of("adapter")).iter_errors(value)
    ] == []


def test_an_unknown_key_is_left_out_with_a_warning(tmp_path: Path) -> None:
    _, warnings = load_adapter_file(written(tmp_path, adapter(vendor=1, session_mode="stream")))
    assert [warning.message for warning in warnings] == [
        "`vendor` is not a known key and has no effect",
        "`session_mode` is not a known key and has no effect; write `sessionMode`",
    ]


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (
            {"outputEvents": [{**MESSAGE, "extract": {"content": "text"}}]},
            "`outputEvents[0].extract.content` is `text`",
        ),
        ({"outputEvents": [MESSAGE, MESSAGE]}, "`outputEvents[1]` has no effect"),
        ({"resume": {"flag": "-r", "sessionIdPath": "session"}}, "`resume.sessionIdPath` is `session`"),
        ({"prompt": {"stdin": True, "stdinFormat": "json"}}, "`prompt.stdinFormat` has no effect"),
        ({"nonsense": 1}, "`nonsense` is not a known key"),
    ],
)
def test_what_has_no_effect_is_warned_about(tmp_path: Path, keys: dict[str, Any], said: str) -> None:
    executor = load(write_agent(tmp_path, "", **keys))
    assert len(executor.warnings) == 1
    assert said in executor.warnings[0]


def test_a_model_without_a_flag_for_it_is_warned_about(tmp_path: Path) -> None:
    path = write_agent(tmp_path, "")
    assert any("`config.model` has no effect" in warning for warning in load(path, model="m").warnings)
    path = write_agent(tmp_path, "", **{"x-waza": {"model_flag": "--model"}})
    assert load(path, model="m").warnings == ()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["no-such-agent-anywhere"], "the program `no-such-agent-anywhere` is not on PATH"),
        (["./missing.py"], "there is no program `./missing.py`"),
        (["./plain.txt"], "is not executable; run `chmod +x"),
    ],
)
def test_a_program_that_cannot_be_run_is_told_before_the_run(
    tmp_path: Path, command: list[str], said: str
) -> None:
    (tmp_path / "plain.txt").write_text("x")
    if said.startswith("is not executable") and sys.platform == "win32":
        pytest.skip("every file is executable there")
    with pytest.raises(ExecutorError, match=r"adapter\.json") as caught:
        load(write_agent(tmp_path, "", command=command))
    assert said in str(caught.value)


def test_a_suite_without_an_adapter_says_what_to_write(tmp_path: Path) -> None:
    with pytest.raises(ExecutorError, match=r"`config\.adapter` is missing"):
        load(tmp_path / "adapter.json", adapter="")
    with pytest.raises(ExecutorError, match=r"there is no .*adapter\.json, which `config\.adapter` names"):
        load(tmp_path / "adapter.json")


def test_an_adapter_above_the_suite_is_told_by_its_plain_path(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    suite = tmp_path / "evals" / "one"
    suite.mkdir(parents=True)
    with pytest.raises(ExecutorError, match=r"which `config\.adapter` names") as caught:
        load(suite / "eval.yaml", adapter="../../a.json")
    assert f"there is no {tmp_path / 'a.json'}, " in str(caught.value)


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
def test_the_plain_path_of_an_adapter_never_names_another_file(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "elsewhere" / "deep").mkdir(parents=True)
    (tmp_path / "a.json").write_text("{}", "utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere" / "deep")
    with pytest.raises(ExecutorError, match=r"there is no .*link.*a\.json"):
        load(tmp_path / "link" / "eval.yaml", adapter="../a.json")


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
