"""Suites of a scenario: a workflow is tested, with no skill but those that are named."""

from pathlib import Path

import pytest

from tests.engine.runs.agents import Agent, tried
from tests.engine.suites import CONFIG, only_task, run, task
from waza_engine.executors.executor import ExecutionRequest

HEAD = 'name: suite\nscenario: inventory\nschemaVersion: "2.0"\n'
SKILL = "---\nname: reader\ndescription: Reads.\n---\nRead.\n"


def scenario(directory: Path, more: str = "", settings: str = "", below: str = "") -> Path:
    """Write a suite of a scenario beside the folder ``skills``, which the project would offer."""
    (directory / "tasks").mkdir(parents=True)
    (directory / "skills/reader").mkdir(parents=True)
    (directory / "skills/reader/SKILL.md").write_text(SKILL, "utf-8")
    (directory / "tasks/a.yaml").write_text(task("a", below), "utf-8")
    config = CONFIG.replace("}", f", {settings}}}") if settings else CONFIG
    path = directory / "eval.yaml"
    path.write_text(f"{HEAD}{more}{config}tasks: ['tasks/*.yaml']\n", "utf-8")
    return path


@pytest.mark.parametrize(
    ("more", "settings", "below", "skills"),
    [
        ("", "", "", []),
        ("skill: reader\n", "", "", ["reader"]),
        ("", "skill_directories: [skills]", "", ["skills"]),
        ("", "", "skill_directories: [skills]\n", ["skills"]),
        ("skill: reader\n", "skill_directories: [skills]", "skill_directories: []\n", []),
    ],
)
def test_only_skills_that_are_named_are_offered(
    tmp_path: Path, more: str, settings: str, below: str, skills: list[str]
) -> None:
    assert [
        place.name for place in _request(scenario(tmp_path, more, settings, below)).skill_directories
    ] == skills


def test_a_scenario_runs_every_time_and_says_so(tmp_path: Path) -> None:
    path = scenario(tmp_path)
    assert only_task(run(path, cache=True)[0]).status == "passed"
    report, events = run(path, cache=True)
    assert not only_task(report).cached
    assert "tasks of a `scenario` are not cached" in str(events)


def _request(path: Path) -> ExecutionRequest:
    agent = Agent()
    assert tried(path, agent).error == ""
    return agent.requests[0]
