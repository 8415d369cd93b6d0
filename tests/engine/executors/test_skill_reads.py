"""Skills that are used by reading their files, through the adapters that are shipped."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from waza_engine.executors.adapter.command_turn import Turn
from waza_engine.spec.adapter import AdapterFile
from waza_engine.vocabulary import SkillInvocation

ADAPTERS = Path(__file__).parents[3] / "examples" / "adapters"


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
        ("writer:other", "writer", False),
    ],
)
def test_which_names_are_those_of_a_skill(invoked: str, skill: str, *, same: bool) -> None:
    assert SkillInvocation(invoked).is_of(skill) is same
