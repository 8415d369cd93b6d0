"""What an `.agent.md` allows: its `tools` are the only ones, unless the suite says otherwise itself."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.engine.runs.agents import Agent, tried
from tests.engine.suites import config_with, present, run, task, write_suite
from waza_engine.runs.loading.suite import load_suite
from waza_engine.runs.passes.suite_pass import baseline_pass
from waza_engine.runs.trials.selection import select

NAME = "agent_tools_implicit"


def agent_file(folder: Path, tools: str, name: str = "writer") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.agent.md").write_text(f"---\nname: {name}\n{tools}---\nBody.\n", "utf-8")


def suite(folder: Path, settings: str = "", more: str = "") -> Path:
    return write_suite(folder, {"a": task("a", more)}, config=config_with(settings))


def added(path: Path) -> Mapping[str, Any] | None:
    """Return the options of the grader that is added, None without one."""
    (chosen,), _ = select(load_suite(path), (), ())
    found = [built.entry.config for built in present(chosen.trial).graders if built.name == NAME]
    return found[0] if found else None


def test_declared_tools_are_the_only_ones(tmp_path: Path) -> None:
    agent_file(tmp_path, "tools: [search/codebase, view]\n")
    assert added(suite(tmp_path)) == {"allow_only": [{"tool": "search/codebase"}, {"tool": "view"}]}


@pytest.mark.parametrize(
    ("tools", "expected"), [("", None), ("tools: []\n", {"allow_only": []}), ("tools: {a: b}\n", None)]
)
def test_no_list_restricts_nothing_and_an_empty_one_everything(
    tmp_path: Path, tools: str, expected: object
) -> None:
    agent_file(tmp_path, tools)
    assert added(suite(tmp_path)) == expected


def test_a_constraint_of_the_suite_wins(tmp_path: Path) -> None:
    agent_file(tmp_path, "tools: [view]\n")
    own = "graders:\n  - {type: tool_constraint, name: mine, config: {reject_tools: [bash]}}\n"
    assert added(suite(tmp_path, more=own)) is None


def test_the_agent_is_looked_for_by_its_name_where_skills_are(tmp_path: Path) -> None:
    agent_file(tmp_path / "agents", "tools: []\n", "another")
    agent_file(tmp_path / "agents" / "deep", "tools: [bash]\n")
    agent_file(tmp_path, "tools: [never]\n")
    assert added(suite(tmp_path, "skill_directories: [agents]")) == {"allow_only": [{"tool": "bash"}]}


def test_a_task_may_name_its_own_directory(tmp_path: Path) -> None:
    agent_file(tmp_path / "agents", "tools: [bash]\n")
    assert added(suite(tmp_path, more="skill_directories: [agents]")) == {"allow_only": [{"tool": "bash"}]}


def test_a_skill_file_of_the_same_name_comes_first(tmp_path: Path) -> None:
    agent_file(tmp_path, "tools: [bash]\n")
    (tmp_path / "SKILL.md").write_text("---\nname: writer\n---\n", "utf-8")
    assert added(suite(tmp_path)) is None


def test_switched_off_skills_restrict_nothing(tmp_path: Path) -> None:
    agent_file(tmp_path, "tools: [bash]\n")
    assert added(suite(tmp_path, "disabled_skills: ['*']")) is None


def test_the_baseline_has_no_agent_that_restricts_it(tmp_path: Path) -> None:
    agent_file(tmp_path / "agents", "tools: [bash]\n")
    path = suite(tmp_path, "skill_directories: [agents]")
    path.write_text(f"{path.read_text('utf-8')}baseline: true\n", "utf-8")
    loaded = load_suite(path)
    chosen, _ = select(loaded, (), ())
    found, _ = baseline_pass(loaded, chosen)
    assert found is not None
    (bare,) = found.tasks
    assert bare.trial is not None
    assert NAME not in [built.name for built in bare.trial.graders]
    assert bare.trial.tool_policy == ""


def test_the_record_says_what_was_allowed(tmp_path: Path) -> None:
    agent_file(tmp_path, "tools: [view]\n")
    assert tried(suite(tmp_path), Agent()).tool_policy == "allow_list"


@pytest.mark.parametrize("content", ["---\nname: [unterminated\nBody.\n", "---\nname: [a\n---\nBody.\n"])
def test_an_agent_file_that_cannot_be_understood_is_an_error_and_restricts_nothing_silently(
    tmp_path: Path, content: str
) -> None:
    (tmp_path / ".git").mkdir()
    path = suite(tmp_path / "suite", "skill_directories: [../agents]")
    agents = tmp_path / "agents"
    agents.mkdir()
    (agents / "broken.agent.md").write_text(content, "utf-8")
    report, _ = run(path)
    (found,) = report.outcome.tasks
    assert found.status == "error"
    assert "broken.agent.md" in found.error
    assert found.trials == ()


def test_another_agent_file_that_cannot_be_understood_costs_nothing(tmp_path: Path) -> None:
    agent_file(tmp_path / "agents", "tools: [bash]\n")
    (tmp_path / "agents" / "aaa.agent.md").write_text("---\nname: [unterminated\n", "utf-8")
    assert added(suite(tmp_path, "skill_directories: [agents]")) == {"allow_only": [{"tool": "bash"}]}
