"""The executor ``copilot-sdk`` with the real agent: everything but the model is real."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.agents.conftest import SharedAgent, StartAgent
from tests.conftest import StartModel
from tests.patience import ON_A_BUSY_MACHINE, ends, staying
from tests.scripted_model import Answer, Held, ModelRequest, Reply, Status, Tokens, call
from waza_engine.executors.copilot_sdk import CopilotExecutor
from waza_engine.executors.executor import ExecutionRequest, ExecutionResponse, ExecutorError
from waza_engine.graders.judge import AgentTool
from waza_engine.masking import masked
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.vocabulary import ModelUsage, SkillInvocation

pytestmark = pytest.mark.check

MARK = "WAZA_AGENT_RUN"


def ask(
    executor: CopilotExecutor, workspace: Path, prompt: str = "Say hello", **options: Any
) -> ExecutionResponse:
    request = ExecutionRequest(prompt, workspace, model=options.pop("model", "any-name"), **options)
    return executor.execute(request, RunCancellation())


def agent_processes() -> list[psutil.Process]:
    """Return what this test started as an agent and what that started, however far away.

    The agent's home, which every test has for itself, tells them from those of other runs of the tests.
    """
    found: list[psutil.Process] = []
    home = os.environ["COPILOT_HOME"]
    for process in psutil.process_iter():
        try:
            environment = process.environ()
            is_ours = MARK in environment and environment.get("COPILOT_HOME") == home
            if is_ours and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


def runtimes() -> list[psutil.Process]:
    """Return the agents of this test: some sessions may share one."""
    return [process for process in agent_processes() if process.ppid() == os.getpid()]


def test_it_invokes_a_skill_runs_a_command_and_edits_a_file(
    agent: SharedAgent, workspace: Path, skills: Path
) -> None:
    file = str(workspace / "factorial.py")
    model = agent.scripted(
        call("report_intent", intent="Greeting"),
        Answer("First the skill. ", calls=[call("skill", skill="greeter")]),
        call("bash", command="echo hello > greeting.txt && cat greeting.txt", description="Greet"),
        call("edit", path=file, old_str="return 1", new_str="return n"),
        Answer("Hello, Ada!", usage=Tokens(input=100, output=7, cached=40)),
    )
    response = ask(agent.executor, workspace, skill_directories=[skills])

    assert response.error is None
    assert response.output == "First the skill. Hello, Ada!"
    assert (workspace / "greeting.txt").read_text() == "hello\n"
    assert "return n" in (workspace / "factorial.py").read_text()
    assert response.skill_invocations == (SkillInvocation("greeter", str(skills / "greeter" / "SKILL.md")),)

    assert [(made.name, made.success) for made in response.tool_calls] == [
        ("skill", True),
        ("bash", True),
        ("edit", True),
    ]
    skill, bash, edit = response.tool_calls
    assert skill.arguments == {"skill": "greeter"}
    assert bash.arguments["command"] == "echo hello > greeting.txt && cat greeting.txt"
    assert bash.result["content"].startswith("hello")
    assert edit.arguments == {"path": file, "old_str": "return 1", "new_str": "return n"}

    usage = response.usage
    assert usage is not None
    assert (usage.turns, usage.input_tokens, usage.output_tokens, usage.cache_read_tokens) == (5, 140, 27, 40)
    assert usage.model_metrics == {"any-name": ModelUsage(140, 27, 40, 0, 5, 0.0)}
    assert (usage.provider, usage.provider_host) == ("custom", model.base_url.split("/")[2])


def test_the_transcript_has_upstreams_form(agent: SharedAgent, workspace: Path, skills: Path) -> None:
    agent.scripted(
        call("report_intent", intent="Greeting"),
        call("skill", skill="greeter"),
        call("view", path=str(workspace / "missing.txt")),
        "Hello!",
    )
    events = ask(agent.executor, workspace, "Greet Ada", skill_directories=[skills]).events

    assert "report_intent" not in json.dumps(events)
    assert first(events, "user.message") == {"type": "user.message", "content": "Greet Ada"}
    assert [
        event["content"] for event in events if event["type"] == "assistant.message" if "content" in event
    ] == ["Hello!"]
    assert len([event for event in events if event["type"] == "assistant.turn_start"]) == 4
    starts = [event for event in events if event["type"] == "tool.execution_start"]
    ends = [event for event in events if event["type"] == "tool.execution_complete"]
    assert [event["tool_name"] for event in starts] == ["skill", "view"]
    assert starts[0]["arguments"] == {"skill": "greeter"}
    assert [event["tool_call_id"] for event in ends] == [event["tool_call_id"] for event in starts]
    assert [event["success"] for event in ends] == [True, False]
    assert "tool_name" not in ends[0]
    assert ends[1]["tool_result"] == {"content": "Path does not exist"}
    invoked = first(events, "skill.invoked")
    assert (invoked["name"], "Say hello, then the name." in invoked["content"]) == ("greeter", True)
    assert events[-1]["type"] == "session.idle"


def test_a_follow_up_continues_the_session_and_counts_its_own_usage(
    agent: SharedAgent, workspace: Path
) -> None:
    model = agent.scripted("One.", "Two.")
    executor = agent.executor
    one = ask(executor, workspace, "first prompt")
    two = ask(executor, workspace, "second prompt", session=one.session)
    assert (one.output, two.output, two.session) == ("One.", "Two.", one.session)
    assert "first prompt" in json.dumps(model.requests[1].messages)
    assert two.usage is not None
    assert (two.usage.turns, two.usage.input_tokens) == (1, 10)


def test_a_session_of_an_earlier_run_is_continued(
    start_agent: StartAgent, scripted_model: StartModel, workspace: Path
) -> None:
    model = scripted_model("One.", "Two.")
    earlier = start_agent(model.base_url)
    session = ask(earlier, workspace, "first prompt").session
    earlier.close()
    two = ask(start_agent(model.base_url), workspace, "second prompt", session=session)
    assert (two.error, two.output) == (None, "Two.")
    assert "first prompt" in json.dumps(model.requests[1].messages)
    assert two.usage is not None
    assert two.usage.input_tokens == 10


def test_an_unknown_session_is_an_error(agent: SharedAgent, workspace: Path) -> None:
    session = "11111111-2222-3333-4444-555555555555"
    with pytest.raises(ExecutorError, match=f"cannot continue the session `{session}`"):
        ask(agent.executor, workspace, session=session)


def test_tools_of_ours_are_offered_called_and_taken_away_again(agent: SharedAgent, workspace: Path) -> None:
    given: list[Mapping[str, Any]] = []

    def judge(arguments: Mapping[str, Any]) -> str:
        given.append(arguments)
        return "noted"

    schema = {"type": "object", "properties": {"reason": {"type": "string"}}, "required": ["reason"]}
    verdict = AgentTool("set_verdict", "Say what you think", schema, judge)
    model = agent.scripted("Hello.", call("set_verdict", reason="polite"), "Judged.", "Bye.")
    executor = agent.executor
    session = ask(executor, workspace).session
    response = ask(executor, workspace, "Judge that", session=session, tools=[verdict], model="judge-model")
    ask(executor, workspace, "Go on", session=session)

    assert given == [{"reason": "polite"}]
    assert response.output == "Judged."
    assert [made.name for made in response.tool_calls] == ["set_verdict"]
    assert response.tool_calls[0].result["content"] == "noted"
    assert ["set_verdict" in request.tool_names for request in model.requests] == [False, True, True, False]
    assert [request.model for request in model.requests] == [
        "any-name",
        "judge-model",
        "judge-model",
        "any-name",
    ]


def test_instructions_are_added_to_the_system_message(agent: SharedAgent, workspace: Path) -> None:
    model = agent.scripted("Hi")
    ask(agent.executor, workspace, instructions="Answer in the style of a pirate.")
    assert "Answer in the style of a pirate." in model.requests[0].system
    assert "GitHub Copilot" in model.requests[0].system


def test_the_agent_starts_in_the_working_directory(agent: SharedAgent, workspace: Path) -> None:
    (workspace / "app").mkdir()
    agent.scripted(call("bash", command="pwd > here.txt", description="Where"), "Here.")
    ask(agent.executor, workspace, workdir="app")
    assert (workspace / "app" / "here.txt").read_text().strip() == str((workspace / "app").resolve())


MCP_SERVER = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("weather")
@server.tool()
def forecast(city: str) -> str:
    return f"Rain in {city}"
server.run()
"""


def test_an_mcp_server_is_offered_and_used(agent: SharedAgent, workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(MCP_SERVER, "utf-8")

    def script(request: ModelRequest) -> Reply:
        offered = [name for name in request.tool_names if "forecast" in name]
        return "Take an umbrella." if request.tool_results else call(*offered, city="Oslo")

    model = agent.scripted(script)
    servers = {"weather": {"command": sys.executable, "args": [str(tmp_path / "server.py")]}}
    response = ask(agent.executor, workspace, mcp_servers=servers)
    assert response.output == "Take an umbrella."
    assert response.tool_calls[0].success
    assert "Rain in Oslo" in model.requests[-1].tool_results[0]


def test_an_mcp_server_that_does_not_start_is_an_error(agent: SharedAgent, workspace: Path) -> None:
    servers = {"weather": {"command": sys.executable, "args": ["-c", "raise SystemExit('no licence')"]}}
    agent.scripted("Hello.")
    response = ask(agent.executor, workspace, mcp_servers=servers)
    assert response.output == "Hello."
    assert response.error is not None
    assert response.error.startswith("the MCP server `weather` did not start: ")
    assert "no licence" in response.error


def test_the_tested_skill_ends_the_turn_when_asked_to(
    agent: SharedAgent, workspace: Path, skills: Path
) -> None:
    agent.scripted(call("skill", skill="greeter"), Held())
    response = ask(agent.executor, workspace, skill_directories=[skills], stop_at_skill="greeter")
    assert response.error is None
    assert [skill.name for skill in response.skill_invocations] == ["greeter"]


def test_an_ephemeral_session_is_deleted(
    start_agent: StartAgent, scripted_model: StartModel, workspace: Path, agent_home: Path
) -> None:
    executor = start_agent(scripted_model("Kept.", "Gone.").base_url)
    kept = ask(executor, workspace)
    assert ask(executor, workspace, ephemeral=True).output == "Gone."
    sessions = [place.name for place in (agent_home / "session-state").iterdir() if place.name[0] != "."]
    assert sessions == [kept.session]


def test_when_the_time_is_over_what_came_so_far_is_kept(agent: SharedAgent, workspace: Path) -> None:
    looking = Answer("Let me look.", calls=[call("bash", command="echo here", description="Look")])
    agent.scripted("Warm.", looking, Held(), "Back.")
    executor = agent.executor
    session = ask(executor, workspace).session
    response = ask(executor, workspace, session=session, timeout_seconds=6)
    assert response.error == "the agent did not finish within 6 seconds"
    assert response.output == "Let me look."
    assert [made.name for made in response.tool_calls] == ["bash"]
    assert response.usage is not None
    assert response.usage.input_tokens == 10
    assert ask(executor, workspace, session=session).output == "Back."


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_an_agent_that_sends_nothing_at_all_is_given_up_early(
    start_agent: StartAgent, scripted_model: StartModel, workspace: Path
) -> None:
    executor = start_agent(scripted_model("Warm.", "Late.").base_url)
    session = ask(executor, workspace).session
    (runtime,) = runtimes()
    runtime.suspend()
    response = ask(executor, workspace, session=session, timeout_seconds=30, first_event_timeout_seconds=1)
    assert response.error == "the agent sent nothing within 1 second"
    runtime.resume()


def test_a_command_that_hangs_is_ended_with_the_time(agent: SharedAgent, workspace: Path) -> None:
    hangs = call("bash", command="echo $$ > pid.txt; sleep 600", description="Wait", initial_wait=600)
    agent.scripted(hangs)
    response = ask(agent.executor, workspace, timeout_seconds=6)
    assert response.error == "the agent did not finish within 6 seconds"
    assert ends(int((workspace / "pid.txt").read_text()))


def test_cancelling_ends_everything_within_two_seconds(
    start_agent: StartAgent, scripted_model: StartModel, workspace: Path
) -> None:
    left_behind = "nohup setsid sleep 600 >/dev/null 2>&1 & echo $! > pid.txt"
    model = scripted_model(
        Answer("Working.", calls=[call("bash", command=left_behind, description="Leave")]), Held()
    )
    executor = start_agent(model.base_url)
    cancellation = RunCancellation()
    cancellation.on_request(executor.close)
    outcome: list[ExecutionResponse] = []
    request = ExecutionRequest("Go", workspace, model="any-name")
    turn = threading.Thread(target=lambda: outcome.append(executor.execute(request, cancellation)))
    turn.start()
    model.wait_for_requests(2)
    assert len(agent_processes()) >= 2
    started = time.monotonic()
    cancellation.request()
    turn.join()
    took = time.monotonic() - started
    assert staying(agent_processes()) == []
    assert took < 2 + ON_A_BUSY_MACHINE
    assert (outcome[0].output, outcome[0].error) == ("Working.", "the run was cancelled")


ENGINE = """
import sys
from pathlib import Path
from waza_engine.executors.executor import ExecutionRequest, ExecutorSettings
from waza_engine.executors.copilot_sdk import CopilotExecutor
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.spec.eval_config import EvalConfig
config = EvalConfig.model_validate({
    "trials_per_task": 1, "timeout_seconds": 60, "executor": "copilot-sdk",
    "provider": {"base_url": sys.argv[1]},
})
executor = CopilotExecutor(ExecutorSettings(Path(), config))
executor.execute(ExecutionRequest("Go", Path(sys.argv[2]), model="m"), RunCancellation())
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("with_its_group", [False, True])
def test_the_agent_ends_with_an_engine_that_is_killed(
    with_its_group: bool, agent_home: Path, scripted_model: StartModel, workspace: Path
) -> None:
    assert agent_home
    model = scripted_model(call("bash", command="sleep 600", description="Wait", mode="async"), Held())
    engine = subprocess.Popen(
        [sys.executable, "-c", ENGINE, model.base_url, str(workspace)], start_new_session=True
    )
    model.wait_for_requests(2)
    started = psutil.Process(engine.pid).children(recursive=True)
    assert len(started) >= 2
    (os.killpg if with_its_group else os.kill)(engine.pid, signal.SIGKILL)
    engine.wait()
    assert staying(started) == []


def test_an_agent_that_dies_is_an_error_and_the_next_prompt_starts_it_again(
    start_agent: StartAgent, scripted_model: StartModel, workspace: Path
) -> None:
    def script(request: ModelRequest) -> Reply:
        return "Alive." if request.prompt.endswith("Again") else Held()

    model = scripted_model(script)
    executor = start_agent(model.base_url)
    with ThreadPoolExecutor(1) as pool:
        turn = pool.submit(ask, executor, workspace)
        model.wait_for_requests()
        for process in agent_processes():
            process.kill()
        assert turn.result().error == "the Copilot agent ended in the middle of its work"
    assert ask(executor, workspace, "Again").output == "Alive."


def test_several_sessions_go_on_at_the_same_time_in_one_process(
    start_agent: StartAgent, scripted_model: StartModel, workspace: Path
) -> None:
    names = ["Ada", "Grace", "Edsger", "Barbara"]
    together = threading.Barrier(len(names), timeout=30)

    def script(request: ModelRequest) -> Reply:
        return f"Hello {request.prompt.split()[-1]}"

    model = scripted_model(script)
    executor = start_agent(model.base_url)

    def greet(name: str) -> ExecutionResponse:
        folder = workspace / name
        folder.mkdir()
        together.wait()
        return ask(executor, folder, f"Greet {name}")

    with ThreadPoolExecutor(len(names)) as pool:
        responses = list(pool.map(greet, names))
    assert [response.output for response in responses] == [f"Hello {name}" for name in names]
    assert len({response.session for response in responses}) == len(names)
    assert len(runtimes()) == 1


def test_more_sessions_than_are_kept_open_can_all_be_continued(agent: SharedAgent, workspace: Path) -> None:
    agent.scripted(lambda request: str(len(request.messages)))
    executor = agent.executor
    sessions = [ask(executor, workspace).session for _ in range(18)]
    assert int(ask(executor, workspace, session=sessions[0]).output) > 2


def test_a_key_that_is_refused_is_named_by_its_variable(
    start_agent: StartAgent, scripted_model: StartModel, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "wrong-secret")
    model = scripted_model("Hi", api_key="right-secret")
    response = ask(start_agent(model.base_url, api_key_env="MY_KEY"), workspace)
    host = model.base_url.split("/")[2]
    assert response.error == f"the provider at `{host}` refused the key (HTTP 401); check `MY_KEY`"


def test_what_the_provider_says_of_a_failure_is_told_without_the_key(
    start_agent: StartAgent, scripted_model: StartModel, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "very-secret")
    model = scripted_model(Status(400, "no such model, says very-secret"))
    response = ask(start_agent(model.base_url, api_key_env="MY_KEY"), workspace)
    assert masked(response.error or "") == "the agent gave up: 400 no such model, says ***"
    assert "very-secret" not in masked(repr(response))


def test_the_key_reaches_the_provider_but_no_command(
    start_agent: StartAgent, scripted_model: StartModel, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "very-secret")
    model = scripted_model(
        call("bash", command='echo "<$MY_KEY>"', description="Show"), "Done.", api_key="very-secret"
    )
    response = ask(start_agent(model.base_url, api_key_env="MY_KEY"), workspace)
    assert response.output == "Done."
    assert "<>" in response.tool_calls[0].result["content"]


def test_a_provider_from_the_environment(
    start_agent: StartAgent, scripted_model: StartModel, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = scripted_model("From there.", api_key="very-secret")
    monkeypatch.setenv("COPILOT_PROVIDER_BASE_URL", model.base_url)
    monkeypatch.setenv("COPILOT_PROVIDER_API_KEY", "very-secret")
    monkeypatch.setenv("COPILOT_PROVIDER_HEADERS", "X-Team: waza")
    monkeypatch.setenv("COPILOT_PROVIDER_WIRE_MODEL", "wire-model")
    response = ask(start_agent(), workspace)
    assert (response.error, response.output) == (None, "From there.")
    assert model.requests[0].headers["x-team"] == "waza"
    assert model.requests[0].model == "wire-model"


def test_a_provider_without_a_model_is_an_error(agent: SharedAgent, workspace: Path) -> None:
    with pytest.raises(ExecutorError, match=r"write it in `config\.model`"):
        ask(agent.executor, workspace, model="")


def test_without_a_login_and_a_provider_the_error_says_what_to_do(
    start_agent: StartAgent, workspace: Path
) -> None:
    executor = start_agent()
    for _ in range(2):
        with pytest.raises(ExecutorError, match=r"not logged in to GitHub; run `.*copilot.* login`"):
            ask(executor, workspace)


def first(events: Any, kind: str) -> Mapping[str, Any]:
    return next(event for event in events if event["type"] == kind)
