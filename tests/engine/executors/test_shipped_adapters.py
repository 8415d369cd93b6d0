"""The adapters in `examples/adapters`, with events as the programs write them."""

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from tests.engine.spec.schema_reading import schema_of
from waza_engine.executors.adapter.agent_command import arguments_of
from waza_engine.executors.adapter.command_turn import LineSink, Turn
from waza_engine.executors.command import adapter_warnings
from waza_engine.executors.executor import ExecutionRequest
from waza_engine.spec.adapter import AdapterFile
from waza_engine.spec.loading import load_adapter_file
from waza_engine.vocabulary import SkillInvocation

ADAPTERS = Path(__file__).parents[3] / "examples" / "adapters"
NAMES = sorted(path.stem for path in ADAPTERS.glob("*.json"))


def turn_of(name: str, events: Sequence[dict[str, Any]]) -> Turn:
    """Return what an adapter makes of events."""
    spec, _ = load_adapter_file(ADAPTERS / f"{name}.json")
    turn = Turn(spec, new_id=lambda: "new")
    sink = LineSink(turn)
    for event in events:
        sink.feed(json.dumps(event).encode() + b"\n")
    sink.end()
    turn.close()
    return turn


def arguments(name: str, session: str | None = None) -> list[str]:
    spec, _ = load_adapter_file(ADAPTERS / f"{name}.json")
    request = ExecutionRequest("Hi", Path("/w"), model="m")
    return arguments_of(
        spec, spec.command, request, "Hi", workdir=Path("/w"), session=session, mcp_config=None
    )


def calls(turn: Turn) -> list[tuple[str, Any, Any, bool]]:
    return [
        (call.name, dict(call.arguments), call.result and call.result["content"], call.success)
        for call in turn.tool_calls
    ]


def test_there_are_adapters() -> None:
    assert {"claude", "codex", "copilot", "gemini", "text"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_an_adapter_is_valid_and_all_of_it_has_an_effect(name: str) -> None:
    path = ADAPTERS / f"{name}.json"
    spec, warnings = load_adapter_file(path)
    assert (warnings, list(adapter_warnings(path, spec, ""))) == ((), [])
    document = json.loads(path.read_text("utf-8"))
    assert jsonschema_rs.Draft202012Validator(schema_of("adapter")).is_valid(document)
    assert f"[`{name}.json`]({name}.json)" in (ADAPTERS / "README.md").read_text("utf-8")


def test_claude() -> None:
    def assistant(**block: Any) -> dict[str, Any]:
        return {"type": "assistant", "session_id": "S", "message": {"content": [block]}}

    def user(**block: Any) -> dict[str, Any]:
        return {"type": "user", "session_id": "S", "message": {"content": [block]}}

    turn = turn_of(
        "claude",
        [
            {"type": "system", "subtype": "init", "session_id": "S"},
            assistant(type="thinking", thinking="hm"),
            assistant(type="text", text="I look."),
            assistant(type="tool_use", id="1", name="Skill", input={"skill": "writer"}),
            user(type="tool_result", tool_use_id="1", content="Launching skill: writer"),
            user(type="text", text="Base directory for this skill: …"),
            assistant(type="tool_use", id="2", name="Bash", input={"command": "ls"}),
            user(
                type="tool_result", tool_use_id="2", content=[{"type": "text", "text": "no"}], is_error=True
            ),
            assistant(type="text", text="Done."),
            {
                "type": "result",
                "is_error": False,
                "result": "Done.",
                "num_turns": 3,
                "total_cost_usd": 0.25,
                "usage": {"input_tokens": 5, "output_tokens": 7, "cache_read_input_tokens": 11},
            },
        ],
    )
    assert (turn.output, turn.session, turn.failed) == ("Done.", "S", False)
    assert turn.messages == ["I look.", "Done."]
    assert calls(turn) == [
        ("Skill", {"skill": "writer"}, "Launching skill: writer", True),
        ("Bash", {"command": "ls"}, "no", False),
    ]
    assert turn.skills == [SkillInvocation("writer")]
    expected = {"turns": 3, "cost_usd": 0.25, "input_tokens": 5, "output_tokens": 7, "cache_read_tokens": 11}
    assert turn.usage == expected
    assert turn_of("claude", [{"type": "result", "is_error": True, "result": "Please log in"}]).failed
    assert arguments("claude", "S")[-4:] == ["--resume", "S", "-p", "Hi"]


def test_codex() -> None:
    shell = {"id": "item_1", "type": "command_execution", "command": "ls"}
    turn = turn_of(
        "codex",
        [
            {"type": "thread.started", "thread_id": "T"},
            {"type": "turn.started"},
            {"type": "item.completed", "item": {"id": "item_0", "type": "reasoning", "text": "hm"}},
            {"type": "item.started", "item": {**shell, "aggregated_output": "", "status": "in_progress"}},
            {
                "type": "item.completed",
                "item": {**shell, "aggregated_output": "a\n", "exit_code": 0, "status": "completed"},
            },
            {"type": "item.completed", "item": {"id": "item_2", "type": "agent_message", "text": "Done."}},
            {
                "type": "turn.completed",
                "usage": {"input_tokens": 5, "cached_input_tokens": 3, "output_tokens": 7},
            },
        ],
    )
    assert (turn.output, turn.session) == ("Done.", "T")
    assert [
        (call.name, call.arguments["command"], call.result, call.success) for call in turn.tool_calls
    ] == [("bash", "ls", {"content": "a\n"}, True)]
    assert turn.usage == {"input_tokens": 5, "cache_read_tokens": 3, "output_tokens": 7}
    assert arguments("codex", "T") == [
        *("codex", "exec", "--skip-git-repo-check", "--json", "--dangerously-bypass-approvals-and-sandbox"),
        *("--model", "m", "resume", "T", "Hi"),
    ]


def test_gemini() -> None:
    turn = turn_of(
        "gemini",
        [
            {"type": "init", "session_id": "S", "model": "m"},
            {"type": "message", "role": "user", "content": "Hi"},
            {"type": "message", "role": "assistant", "content": "I lo", "delta": True},
            {"type": "message", "role": "assistant", "content": "ok.", "delta": True},
            {
                "type": "tool_use",
                "tool_name": "activate_skill",
                "tool_id": "1",
                "parameters": {"name": "writer"},
            },
            {"type": "tool_result", "tool_id": "1", "status": "success", "output": "loaded"},
            {"type": "tool_use", "tool_name": "read_file", "tool_id": "2", "parameters": {"path": "a"}},
            {"type": "tool_result", "tool_id": "2", "status": "error", "output": "none"},
            {"type": "message", "role": "assistant", "content": "Done.", "delta": True},
            {
                "type": "result",
                "status": "success",
                "stats": {"input_tokens": 5, "output_tokens": 7, "cached": 3},
            },
        ],
    )
    assert (turn.output, turn.messages, turn.failed) == ("I look.\nDone.", ["I look.", "Done."], False)
    assert calls(turn) == [
        ("activate_skill", {"name": "writer"}, "loaded", True),
        ("read_file", {"path": "a"}, "none", False),
    ]
    assert turn.skills == [SkillInvocation("writer")]
    assert turn.usage == {"input_tokens": 5, "output_tokens": 7, "cache_read_tokens": 3}


def test_copilot() -> None:
    turn = turn_of(
        "copilot",
        [
            {"type": "user.message", "data": {"content": "Hi"}},
            {"type": "assistant.message_delta", "data": {"deltaContent": "I"}},
            {"type": "assistant.message", "data": {"content": ""}},
            {
                "type": "tool.execution_start",
                "data": {"toolCallId": "1", "toolName": "skill", "arguments": {"skill": "writer"}},
            },
            {
                "type": "tool.execution_complete",
                "data": {"toolCallId": "1", "success": True, "result": {"content": "loaded"}},
            },
            {"type": "assistant.message", "data": {"content": "Done."}},
            {"type": "result", "sessionId": "S", "exitCode": 0, "usage": {"premiumRequests": 2}},
        ],
    )
    assert (turn.output, turn.session) == ("Done.", "S")
    assert calls(turn) == [("skill", {"skill": "writer"}, "loaded", True)]
    assert turn.skills == [SkillInvocation("writer")]
    assert turn.usage == {"premium_requests": 2}


def skills(adapter: str, *events: dict[str, Any], names: dict[str, str] | None = None) -> list[str]:
    """Return the skills that an agent invoked, by the events that it wrote."""
    spec = AdapterFile.model_validate(json.loads((ADAPTERS / f"{adapter}.json").read_text()))
    numbers = itertools.count()
    turn = Turn(spec, new_id=lambda: str(next(numbers)), skill_names=names or {})
    for event in events:
        turn.take(json.dumps(event).encode())
    return [skill.name for skill in turn.skills]


def claude(name: str, **arguments: Any) -> dict[str, Any]:
    block = {"type": "tool_use", "id": name, "name": name, "input": arguments}
    return {"type": "assistant", "message": {"content": [block]}}


def codex(command: object, output: str = "") -> dict[str, Any]:
    item = {"id": "1", "type": "command_execution", "command": command, "aggregated_output": output}
    return {"type": "item.completed", "item": {**item, "status": "completed"}}


@pytest.mark.parametrize(
    "event",
    [
        claude("Read", file_path="/tmp/ws/.claude/skills/writer/SKILL.md"),
        claude("Bash", command="cat .claude/skills/writer/SKILL.md | head"),
        claude("Bash", command="cd .claude/skills/writer && cat SKILL.md"),
        claude("PowerShell", command=r"Get-Content .claude\skills\writer\SKILL.md"),
        claude("Read", file_path=r"C:\ws\.claude\skills\writer\skill.md"),
    ],
)
def test_a_tool_that_reads_the_file_of_a_skill_uses_it(event: dict[str, Any]) -> None:
    assert skills("claude", event) == ["writer"]


@pytest.mark.parametrize(
    "event",
    [
        claude("Read", file_path=".claude/skills/writer/reference.md"),
        claude("Bash", command="ls .claude/skills; cat docs/SKILL.md"),
        claude("Glob", pattern=".claude/skills/*/SKILL.md"),
        claude("Write", file_path=".claude/skills/writer/SKILL.md", content="x"),
    ],
)
def test_another_file_a_list_and_a_change_are_no_use(event: dict[str, Any]) -> None:
    assert skills("claude", event) == []


def test_codex_uses_a_skill_by_a_command_and_not_by_what_one_prints() -> None:
    assert skills("codex", codex(["bash", "-lc", "sed -n 1,80p .agents/skills/writer/SKILL.md"])) == [
        "writer"
    ]
    assert skills("codex", codex("rg --files", output=".agents/skills/writer/SKILL.md")) == []


def test_a_skill_is_called_by_its_name_and_not_by_its_folder() -> None:
    event = claude("Read", file_path=".claude/skills/folder/SKILL.md")
    assert skills("claude", event, names={"folder": "writer"}) == ["writer"]


def test_a_skill_that_a_tool_has_loaded_is_not_used_again_by_reading_it() -> None:
    loaded = claude("Skill", skill="writer")
    assert skills("claude", loaded, claude("Read", file_path=".claude/skills/writer/SKILL.md")) == ["writer"]


@pytest.mark.parametrize(
    ("invoked", "skill", "same"),
    [
        ("writer", "writer", True),
        ("/writer", "writer", True),
        ("plugin:writer", "writer", True),
        ("plugin:writer", "plugin:writer", True),
        ("other:writer", "plugin:writer", False),
        ("writer", "plugin:writer", True),
        ("writers", "writer", False),
        ("Writer", "writer", False),
        ("writer:other", "writer", False),
    ],
)
def test_which_names_are_those_of_a_skill(invoked: str, skill: str, *, same: bool) -> None:
    assert SkillInvocation(invoked).is_of(skill) is same
