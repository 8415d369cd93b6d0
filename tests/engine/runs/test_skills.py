import os
from pathlib import Path

import pytest

from tests.engine.runs.agents import Agent, only, tried
from tests.engine.suites import config_with, only_task, run, task, write_suite
from waza_engine.executors.executor import ExecutionRequest
from waza_engine.runs.loading.suite_on_disk import SuiteError


def write_skill(folder: Path, name: str, description: str = "Does it.", file: str = "SKILL.md") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    text = f"---\nname: {name}\ndescription: {description}\n---\nBody of {name}.\n"
    (folder / file).write_text(text, "utf-8")
    return folder


def request_of(path: Path) -> ExecutionRequest:
    agent = Agent()
    outcome = tried(path, agent)
    assert outcome.error == ""
    return only(agent.requests)


def suite(directory: Path, settings: str = "", more: str = "") -> Path:
    return write_suite(directory, {"a": task("a", more)}, config=config_with(settings))


def test_listed_directories_are_found_beside_the_suite_and_above_it(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    near = write_skill(tmp_path / "evals" / "skills" / "writer", "writer").parent
    far = write_skill(tmp_path / "shared" / "reader", "reader").parent
    request = request_of(suite(tmp_path / "evals", "skill_directories: [skills, shared]"))
    assert request.skill_directories == (near, far)
    assert "- writer: Does it.\n- reader: Does it." in request.instructions


def test_an_absolute_directory_may_be_a_skill_itself(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    folder = write_skill(tmp_path / "else" / "writer", "writer")
    request = request_of(suite(tmp_path / "suite", f"skill_directories: ['{folder}']"))
    assert request.skill_directories == (folder,)
    assert "Body of writer." in request.instructions


def test_a_directory_that_is_not_there_is_a_warning(tmp_path: Path) -> None:
    warnings: list[str] = []
    tried(suite(tmp_path, "skill_directories: [gone]"), Agent(), warnings=warnings)
    assert warnings == [f"`skill_directories`: there is no directory {tmp_path / 'gone'}"]


@pytest.mark.parametrize("written", ['"a\\0b"', "~nobody-of-this-name/skills"])
def test_a_directory_that_can_not_be_there_is_one_too(tmp_path: Path, written: str) -> None:
    warnings: list[str] = []
    tried(suite(tmp_path, f"skill_directories: [{written}]"), Agent(), warnings=warnings)
    assert ["there is no directory" in warning for warning in warnings] == [True]
    report, _ = run(suite(tmp_path, f"skill_directories: [{written}]"))
    assert [outcome.error for outcome in report.outcome.tasks] == [""]


def test_the_list_of_a_task_replaces_that_of_the_suite(tmp_path: Path) -> None:
    write_skill(tmp_path / "one" / "writer", "writer")
    two = write_skill(tmp_path / "two" / "other", "other").parent
    request = request_of(suite(tmp_path, "skill_directories: [one]", "skill_directories: [two]"))
    assert request.skill_directories == (two,)
    assert "writer" not in request.instructions


def test_the_whole_definition_of_the_tested_skill_comes_first_whatever_its_case(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills" / "a", "another")
    folder = write_skill(tmp_path / "skills" / "w", "Writer")
    instructions = request_of(suite(tmp_path, "skill_directories: [skills]")).instructions
    assert instructions.startswith(f'<skill name="Writer" directory="{folder}">\n---\nname: Writer\n')
    assert instructions.index("Body of Writer.") < instructions.index("- another: Does it.")
    assert "Body of another" not in instructions


def test_without_its_body_only_name_and_description_are_told(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills" / "w", "writer")
    settings = "skill_directories: [skills], inject_skill_body: false"
    assert request_of(suite(tmp_path, settings)).instructions == "Skills at hand:\n- writer: Does it."


def test_folded_descriptions_are_told_in_one_line(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills" / "w", "writer", ">-\n  First line,\n  second line.")
    assert (
        "- writer: First line, second line."
        in request_of(
            suite(tmp_path, "skill_directories: [skills], inject_skill_body: false")
        ).instructions.splitlines()
    )


def test_an_agent_file_counts_where_there_is_no_skill_file(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "writer.agent.md").write_text("Write well.\n")
    write_skill(tmp_path / "both", "from-skill")
    write_skill(tmp_path / "both", "from-agent", file="x.agent.md")
    instructions = request_of(suite(tmp_path, "skill_directories: [agents, both]")).instructions
    assert "Write well." in instructions
    assert "- writer\n- from-skill: Does it." in instructions


def test_a_definition_that_cannot_be_understood_is_a_warning_and_keeps_its_text(tmp_path: Path) -> None:
    (tmp_path / "skills" / "writer").mkdir(parents=True)
    (tmp_path / "skills" / "writer" / "SKILL.md").write_text("---\nname: [\n---\nStill of use.\n")
    warnings: list[str] = []
    agent = Agent()
    tried(suite(tmp_path, "skill_directories: [skills]"), agent, warnings=warnings)
    assert "Still of use." in agent.requests[0].instructions
    assert len(warnings) == 1
    assert "SKILL.md" in warnings[0]


@pytest.mark.parametrize("settings", ["disabled_skills: ['*']", "skill_directories: [none]"])
def test_all_skills_can_be_switched_off(tmp_path: Path, settings: str) -> None:
    write_skill(tmp_path / "skills" / "w", "writer")
    request = request_of(
        suite(tmp_path, f"{settings}, required_skills: [gone]", "skill_directories: [skills]")
    )
    assert (request.skill_directories, request.instructions) == ((), "")


def test_a_run_can_be_asked_to_load_no_skills(tmp_path: Path) -> None:
    path = suite(tmp_path, "skill_directories: [skills], required_skills: [gone]")
    assert run(path)[0].outcome.status == "error"
    assert run(path, no_skills=True)[0].outcome.status == "completed"


@pytest.mark.parametrize("disabled", ["one/skills", "skills"])
def test_listed_directories_are_left_out_by_path_or_base_name(tmp_path: Path, disabled: str) -> None:
    write_skill(tmp_path / "one" / "skills" / "w", "writer")
    two = write_skill(tmp_path / "two", "other")
    settings = f"skill_directories: [one/skills, two], disabled_skills: [{disabled}]"
    assert request_of(suite(tmp_path, settings)).skill_directories == (two,)


def test_one_skill_of_a_directory_can_be_left_out(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills" / "w", "writer")
    kept = write_skill(tmp_path / "skills" / "o", "other")
    request = request_of(suite(tmp_path, "skill_directories: [skills], disabled_skills: [writer]"))
    assert request.skill_directories == (kept,)
    assert request.instructions == "Skills at hand:\n- other: Does it."


def test_without_a_list_the_skills_of_the_project_are_used(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".waza.yaml").write_text("paths: {skills: plugins/}\n")
    deep = write_skill(tmp_path / "plugins" / "group" / "writer", "writer")
    write_skill(tmp_path / "plugins" / ".hidden", "hidden")
    write_skill(tmp_path / "plugins" / "node_modules" / "x", "foreign")
    other = write_skill(tmp_path / ".github" / "skills" / "other", "other")
    assert request_of(suite(tmp_path / "evals" / "writer")).skill_directories == (deep, other)


def test_without_any_configuration_the_skills_of_the_repository_are_used(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    folder = write_skill(tmp_path / "skills" / "writer", "writer")
    assert request_of(suite(tmp_path / "a" / "b" / "c" / "evals")).skill_directories == (folder,)


def test_the_skill_that_a_suite_lies_in_is_its_own(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    folder = write_skill(tmp_path / "writer", "writer")
    other = write_skill(tmp_path / "others" / "other", "other").parent
    assert request_of(suite(folder / "evals")).skill_directories == (folder,)
    request = request_of(suite(folder / "more", "skill_directories: [../../others]"))
    assert request.skill_directories == (other, folder)


@pytest.mark.parametrize(("name", "is_tested"), [("writer", True), ("another", False)])
def test_the_tested_agent_may_lie_beside_the_eval_file(tmp_path: Path, name: str, is_tested: bool) -> None:
    folder = tmp_path / "agents"
    folder.mkdir()
    (folder / f"{name}.agent.md").write_text(f"---\nname: {name}\n---\nWrite it down.\n", "utf-8")
    request = request_of(suite(folder))
    assert request.skill_directories == ((folder,) if is_tested else ())
    assert ("Write it down." in request.instructions) is is_tested


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege on Windows")
def test_a_folder_that_contains_itself_through_a_link_is_searched_once(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    folder = write_skill(tmp_path / "skills" / "group" / "writer", "writer")
    (tmp_path / "skills" / "group" / "again").symlink_to(tmp_path / "skills")
    assert request_of(suite(tmp_path)).skill_directories == (folder,)


def test_required_skills_must_be_found_before_any_task_starts(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills" / "w", "writer")
    settings = "skill_directories: [skills], required_skills: [writer, planner]"
    report, events = run(suite(tmp_path, settings))
    assert (report.outcome.status, [task.status for task in report.outcome.tasks]) == ("error", ["skipped"])
    assert not any(event.kind == "started" for event in events)
    said = report.outcome.message
    assert "`planner`" in said.partition("cannot be found")[0]
    assert str(tmp_path / "skills") in said
    assert "found `writer`" in said


def test_required_skills_without_any_directory_say_so(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    with pytest.raises(SuiteError, match="searched no directory and found no skill"):
        tried(suite(tmp_path, "required_skills: [writer]"), Agent())


def test_a_hook_may_make_the_skills(tmp_path: Path) -> None:
    hooks = "hooks: {before_run: [{command: python3 make.py, working_directory: .}]}\n"
    (tmp_path / "make.py").write_text(
        "import pathlib\n"
        "folder = pathlib.Path('skills', 'a')\n"
        "folder.mkdir(parents=True)\n"
        "(folder / 'SKILL.md').write_text('---\\nname: a\\n---\\n')\n"
    )
    settings = config_with("skill_directories: [skills], required_skills: [a]")
    report, _ = run(write_suite(tmp_path, {"a": task("a")}, config=settings, more=hooks))
    assert report.outcome.status == "completed"


def test_instruction_files_come_last_with_their_paths(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills" / "w", "writer")
    (tmp_path / "fixtures" / "docs").mkdir(parents=True)
    (tmp_path / "fixtures" / "AGENTS.md").write_text("Be brief.\n")
    (tmp_path / "fixtures" / "docs" / "style.md").write_text("Use tabs.\n")
    settings = "skill_directories: [skills], inject_skill_body: false, instruction_files: [AGENTS.md]"
    assert request_of(suite(tmp_path, settings, "instruction_files: [docs/style.md]")).instructions == (
        "Skills at hand:\n- writer: Does it.\n\n"
        '<instructions file="AGENTS.md">\nBe brief.\n</instructions>\n\n'
        '<instructions file="docs/style.md">\nUse tabs.\n</instructions>'
    )


def test_an_instruction_file_that_is_no_text_is_an_error_of_the_trial(tmp_path: Path) -> None:
    (tmp_path / "fixtures").mkdir()
    (tmp_path / "fixtures" / "AGENTS.md").write_bytes(b"\xff\xfe\x00")
    agent = Agent()
    outcome = tried(suite(tmp_path, "instruction_files: [AGENTS.md]"), agent)
    assert (outcome.status, agent.requests) == ("error", [])
    assert "AGENTS.md" in outcome.error


def test_time_limits_of_the_suite_and_the_task_are_handed_over(tmp_path: Path) -> None:
    request = request_of(suite(tmp_path, "first_event_timeout_seconds: 7"))
    assert (request.timeout_seconds, request.first_event_timeout_seconds) == (20.0, 7.0)
    limits = "timeout_seconds: 5\nfirst_event_timeout_seconds: 0\n"
    request = request_of(suite(tmp_path, "first_event_timeout_seconds: 7", limits))
    assert (request.timeout_seconds, request.first_event_timeout_seconds) == (5.0, 0.0)


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
def test_only_skills_that_are_named_are_offered_in_a_scenario(
    tmp_path: Path, more: str, settings: str, below: str, skills: list[str]
) -> None:
    request = request_of(scenario(tmp_path, more, settings, below))
    assert [place.name for place in request.skill_directories] == skills


def test_a_scenario_runs_every_time_and_says_so(tmp_path: Path) -> None:
    path = scenario(tmp_path)
    assert only_task(run(path, cache=True)[0]).status == "passed"
    report, events = run(path, cache=True)
    assert not only_task(report).cached
    assert "tasks of a `scenario` are not cached" in str(events)


def scenario(directory: Path, more: str = "", settings: str = "", below: str = "") -> Path:
    """Write a suite of a scenario beside the folder ``skills``, which the project would offer."""
    write_skill(directory / "skills" / "reader", "reader")
    path = suite(directory, settings, below)
    head = f'name: suite\nscenario: inventory\nschemaVersion: "2.0"\n{more}'
    path.write_text(path.read_text("utf-8").replace("name: suite\nskill: writer\n", head), "utf-8")
    return path
