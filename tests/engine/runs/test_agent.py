from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import StartModel
from tests.engine.runs.agents import Agent, says_hello, tried
from tests.engine.suites import config_with, only_trial, openai_config, present, run, task, write_suite
from tests.scripted_model import call
from waza_engine.executors.executor import ExecutionRequest, ExecutionResponse
from waza_engine.mcp.mocks import read_mock
from waza_engine.runs.loading.suite_on_disk import load_suite
from waza_engine.runs.passes.suite_pass import baseline_pass
from waza_engine.runs.trials.selection import select

MOCK = """\
mcp_mocks:
- name: github
  tools: {search: {responses: [{return: {hits: 3}}]}}
"""


def suite(directory: Path, settings: str = "", more: str = "", below: str = "") -> Path:
    return write_suite(directory, {"a": task("a", below)}, config=config_with(settings), more=more)


def servers_of(path: Path, warnings: list[str] | None = None) -> Mapping[str, Mapping[str, Any]]:
    agent = Agent()
    outcome = tried(path, agent, warnings=warnings)
    assert outcome.error == ""
    return agent.requests[0].mcp_servers


def test_mcp_servers_are_handed_over_and_unusable_ones_are_warnings(tmp_path: Path) -> None:
    warnings: list[str] = []
    settings = "mcp_servers: {files: {command: npx, args: [x]}, broken: {type: telnet}}"
    servers = servers_of(suite(tmp_path, settings), warnings)
    assert {name: server["command"] for name, server in servers.items()} == {"files": "npx"}
    assert len(warnings) == 1
    assert "`mcp_servers.broken`" in warnings[0]


def test_a_mock_takes_the_place_of_a_real_server_and_its_file_lasts_for_the_run(tmp_path: Path) -> None:
    files: list[Path] = []

    def answer(request: ExecutionRequest) -> ExecutionResponse:
        servers = request.mcp_servers
        assert set(servers) == {"github", "files"}
        files.append(Path(servers["github"]["args"][-1]))
        assert read_mock(files[-1]).answer("search", {}) == '{"hits":3}'
        return says_hello(request)

    settings = "max_attempts: 2, mcp_servers: {github: {command: real}, files: {command: npx}}"
    failing = "graders: [{type: text, name: no, config: {contains: [nope]}}]\n"
    outcome = tried(suite(tmp_path, settings, MOCK, failing), Agent(answer))
    assert (outcome.error, outcome.attempts) == ("", 2)
    assert files[0] == files[1]
    assert not files[0].exists()


def test_a_broken_mock_takes_the_real_server_with_it(tmp_path: Path) -> None:
    warnings: list[str] = []
    more = "mcp_mocks: [{name: github, fixtures: gone}]\n"
    servers = servers_of(suite(tmp_path, "mcp_servers: {github: {command: real}}", more), warnings)
    assert servers == {}
    assert "the MCP mock `github` is left out" in warnings[0]


def test_a_secret_of_a_server_stands_in_no_result(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("MY_TOKEN", "s3cr3t-value")
    settings = "mcp_servers: {files: {command: npx, env: [MY_TOKEN]}, broken: {command: 3, env: [MY_TOKEN]}}"
    report, events = run(suite(tmp_path, settings))
    assert "s3cr3t-value" not in present(report.results_file).read_text()
    assert "s3cr3t-value" not in "".join(str(event) for event in events)


def test_a_model_works_with_a_mock_in_a_run(tmp_path: Path, scripted_model: StartModel) -> None:
    model = scripted_model(call("github-search", query="x"), "There are 3.")
    path = write_suite(tmp_path, {"a": task("a")}, config=openai_config(model.base_url), more=MOCK)
    trial = only_trial(run(path)[0])
    assert (trial.error, trial.output) == ("", "There are 3.")
    assert [(found.name, found.success) for found in trial.tool_calls or ()] == [("github-search", True)]


def test_the_agent_starts_below_the_workspace_in_a_directory_that_is_made(tmp_path: Path) -> None:
    seen: list[bool] = []

    def answer(request: ExecutionRequest) -> ExecutionResponse:
        seen.append((request.workspace / request.workdir).is_dir())
        return says_hello(request)

    path = suite(tmp_path)
    text = "id: a\ninputs: {prompt: x, workdir: src/app, files: [{path: note.txt, content: x}]}\n"
    (tmp_path / "tasks" / "a.yaml").write_text(text)
    assert tried(path, Agent(answer)).error == ""
    assert seen == [True]
    (tmp_path / "tasks" / "a.yaml").write_text(text.replace("src/app", "note.txt"))
    assert "`inputs.workdir`: `note.txt` is a file" in tried(path, Agent(answer)).error


def test_follow_ups_continue_the_session_with_all_that_was_given(tmp_path: Path) -> None:
    path = suite(tmp_path, "mcp_servers: {files: {command: npx}}")
    (tmp_path / "tasks" / "a.yaml").write_text("id: a\ninputs: {prompt: one, follow_up_prompts: [two]}\n")
    agent = Agent()
    tried(path, agent)
    assert [(request.prompt, request.session) for request in agent.requests] == [
        ("one", None),
        ("two", "agent-1"),
    ]
    assert agent.requests[0].mcp_servers == agent.requests[1].mcp_servers
    assert agent.requests[0].workspace == agent.requests[1].workspace


def test_checkpoints_see_the_turns_so_far(tmp_path: Path) -> None:
    def answer(request: ExecutionRequest) -> ExecutionResponse:
        return ExecutionResponse(f"said {request.prompt}", "s", events=[{"type": "user.message"}])

    checkpoint = "{{after_turn: {0}, graders: [{{type: code, name: n, config: {{assertions: ['{1}']}}}}]}}"
    (tmp_path / "tasks").mkdir()
    path = suite(tmp_path)
    (tmp_path / "tasks" / "a.yaml").write_text(
        "id: a\ninputs: {prompt: one, follow_up_prompts: [two, three]}\ncheckpoints:\n"
        + "".join(
            f"- {checkpoint.format(turn, condition)}\n"
            for turn, condition in (
                (1, 'len(transcript) == 1 and output == "said one"'),
                (2, 'len(transcript) == 2 and output == "said two"'),
            )
        )
    )
    outcome = tried(path, Agent(answer))
    assert outcome.error == ""
    assert [(found.after_turn, found.status) for found in outcome.checkpoints] == [
        (1, "passed"),
        (2, "passed"),
    ]
    assert outcome.output == "said three"


def test_how_long_the_model_thinks_is_told_to_agent_and_judge(
    tmp_path: Path, scripted_model: StartModel
) -> None:
    model = scripted_model("hello", call("set_waza_grade_pass", description="fine"), "Done.")
    config = openai_config(model.base_url, "reasoning_effort: high, judge_reasoning_effort: low")
    graders = "- {type: prompt, name: p, config: {prompt: Is it fine?}}\n"
    path = write_suite(tmp_path, {"a": task("a")}, graders=graders, config=config)
    assert only_trial(run(path)[0]).status == "passed"
    assert [asked.body.get("reasoning_effort") for asked in model.requests][:2] == ["high", "low"]


@pytest.mark.parametrize(("settings", "routed"), [("inject_skill_body: false, ", True), ("", False)])
def test_the_agent_is_asked_to_load_the_tested_skill(tmp_path: Path, settings: str, routed: bool) -> None:
    agent = Agent()
    assert tried(suite(tmp_path, settings + "trigger_skill_routing: true"), agent).error == ""
    assert ("load that skill before you begin" in agent.requests[0].instructions) is routed


NAME = "agent_tools_implicit"


def agent_file(folder: Path, tools: str, name: str = "writer") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.agent.md").write_text(f"---\nname: {name}\n{tools}---\nBody.\n", "utf-8")


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
    assert added(suite(tmp_path, below=own)) is None


def test_the_agent_is_looked_for_by_its_name_where_skills_are(tmp_path: Path) -> None:
    agent_file(tmp_path / "agents", "tools: []\n", "another")
    agent_file(tmp_path / "agents" / "deep", "tools: [bash]\n")
    agent_file(tmp_path, "tools: [never]\n")
    assert added(suite(tmp_path, "skill_directories: [agents]")) == {"allow_only": [{"tool": "bash"}]}


def test_a_task_may_name_its_own_directory(tmp_path: Path) -> None:
    agent_file(tmp_path / "agents", "tools: [bash]\n")
    assert added(suite(tmp_path, below="skill_directories: [agents]")) == {"allow_only": [{"tool": "bash"}]}


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
