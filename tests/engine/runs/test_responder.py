from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import StartModel
from tests.engine.runs.agents import Agent, tried
from tests.engine.suites import only_trial, openai_config, run, write_suite
from tests.scripted_model import ModelRequest, Reply, call
from waza_engine.executors.executor import ExecutionRequest, ExecutionResponse, ExecutorError
from waza_engine.results.codec.run_documents import run_document
from waza_engine.results.record import ResponderOutcome

TASK = """\
id: a
name: A
inputs:
  prompt: Build it
  responder: {{instructions: You want an API., max_followups: {most}{more}}}
{below}"""


def suite(directory: Path, most: int = 3, more: str = "", below: str = "") -> Path:
    return write_suite(directory, {"a": TASK.format(most=most, more=more, below=below)})


Decision = tuple[str, Mapping[str, Any]]


def deciding(*turns: list[Decision]) -> Callable[[ExecutionRequest], ExecutionResponse]:
    """Return agent and responder in one: the agent counts its turns, the responder decides as told."""
    waiting = list(turns)
    said: list[str] = []

    def answer(request: ExecutionRequest) -> ExecutionResponse:
        if not request.tools:
            said.append(request.prompt)
            return ExecutionResponse(f"answer {len(said)}", "agent-1")
        for name, arguments in waiting.pop(0):
            next(tool for tool in request.tools if tool.name == name).call(arguments)
        return ExecutionResponse("", request.session or "user-1")

    return answer


def reply(text: str) -> Decision:
    return "responder_reply", {"answer": text}


STOP: Decision = ("responder_stop", {})


def agent_prompts(agent: Agent) -> list[str]:
    return [request.prompt for request in agent.requests if not request.tools]


def test_the_agent_gets_the_replies_until_the_responder_stops(tmp_path: Path) -> None:
    agent = Agent(deciding([reply("Use Go.")], [reply("Yes.")], [STOP]))
    outcome = tried(suite(tmp_path), agent)
    assert agent_prompts(agent) == ["Build it", "Use Go.", "Yes."]
    assert (outcome.status, outcome.output) == ("passed", "answer 3")
    assert outcome.responder == ResponderOutcome(2, "stopped")


def test_the_responder_has_a_session_of_its_own_and_reads_every_answer(tmp_path: Path) -> None:
    agent = Agent(deciding([reply("Go on.")], [STOP]))
    tried(suite(tmp_path), agent)
    asked = [request for request in agent.requests if request.tools]
    assert [request.session for request in asked] == [None, "user-1"]
    assert asked[0].prompt.startswith("You want an API.")
    assert ["answer 1" in asked[0].prompt, "answer 2" in asked[1].prompt] == [True, True]
    assert "You want an API." not in asked[1].prompt
    talked = [request for request in agent.requests if not request.tools]
    assert [request.session for request in talked] == [None, "agent-1"]
    assert all(request.workspace != talked[0].workspace for request in asked)
    assert all(not request.instructions and not request.skill_directories for request in asked)


def test_its_answers_are_counted_and_the_last_is_not_followed_by_a_question(tmp_path: Path) -> None:
    warnings: list[str] = []
    agent = Agent(deciding([reply("1")], [reply("2")]))
    outcome = tried(suite(tmp_path, most=2), agent, warnings=warnings)
    assert outcome.responder == ResponderOutcome(2, "cap_exhausted")
    assert (outcome.status, len(agent.requests)) == ("passed", 5)
    assert warnings == ["the responder gave all its 2 answers"]


def test_a_responder_that_abstains_is_an_error_with_its_reason(tmp_path: Path) -> None:
    agent = Agent(deciding([("responder_abstain", {"reason": "no database was named"})]))
    outcome = tried(suite(tmp_path), agent)
    assert (outcome.status, outcome.output) == ("error", "answer 1")
    assert outcome.responder == ResponderOutcome(0, "abstained", "no database was named")
    assert "no database was named" in outcome.error
    assert outcome.validations == {}


@pytest.mark.parametrize(
    ("decisions", "reason"),
    [
        ([], "called none of its tools"),
        ([reply("  ")], "`responder_reply` without `answer`"),
        ([("responder_reply", {"text": "x"})], "`responder_reply` without `answer`"),
        ([("responder_abstain", {"reason": 3})], "`responder_abstain` without `reason`"),
        ([reply("x"), STOP], "decided more than once"),
    ],
)
def test_every_turn_needs_exactly_one_clear_decision(
    tmp_path: Path, decisions: list[Decision], reason: str
) -> None:
    outcome = tried(suite(tmp_path), Agent(deciding(decisions)))
    assert outcome.status == "error"
    assert outcome.responder is not None
    assert (outcome.responder.outcome, outcome.responder.followups_sent) == ("error", 0)
    assert reason in outcome.responder.reason


def test_an_error_after_a_clear_decision_does_not_take_it_back(tmp_path: Path) -> None:
    decided = deciding([STOP])

    def answer(request: ExecutionRequest) -> ExecutionResponse:
        response = decided(request)
        if request.tools:
            raise ExecutorError("the connection broke")
        return response

    assert tried(suite(tmp_path), Agent(answer)).responder == ResponderOutcome(0, "stopped")


def test_an_agent_that_breaks_in_a_reply_ends_the_conversation(tmp_path: Path) -> None:
    decided = deciding([reply("more")])

    def answer(request: ExecutionRequest) -> ExecutionResponse:
        if request.prompt == "more":
            raise ExecutorError("it fell over")
        return decided(request)

    outcome = tried(suite(tmp_path), Agent(answer))
    assert outcome.error == "follow-up 1: it fell over"
    assert outcome.responder == ResponderOutcome(1, "error", "follow-up 1: it fell over")


def test_checkpoints_are_graded_after_the_turns_that_come(tmp_path: Path) -> None:
    greets = "graders: [{type: text, name: says, config: {contains: [answer 2]}}]"
    below = f"checkpoints:\n- {{after_turn: 2, {greets}}}\n- {{after_turn: 9, {greets}}}\n"
    outcome = tried(suite(tmp_path, below=below), Agent(deciding([reply("more")], [STOP])))
    assert [(found.after_turn, found.status) for found in outcome.checkpoints] == [(2, "passed")]


def test_a_model_of_its_own_answers_when_one_is_named(tmp_path: Path) -> None:
    agent = Agent(deciding([STOP]))
    tried(suite(tmp_path, more=", model: small"), agent)
    assert [request.model for request in agent.requests] == ["", "small"]


def test_an_executor_without_a_model_says_what_is_missing_before_anything_is_asked(tmp_path: Path) -> None:
    agent = Agent(has_model=False)
    outcome = tried(suite(tmp_path), agent)
    assert (outcome.status, agent.requests) == ("error", [])
    assert "`inputs.responder` needs an executor with a model" in outcome.error
    assert "follow_up_prompts" in only_trial(run(suite(tmp_path / "mock"))[0]).error


def test_how_the_conversation_went_stands_in_the_results(tmp_path: Path, scripted_model: StartModel) -> None:
    def answer(request: ModelRequest) -> Reply:
        if "responder_stop" not in request.tool_names:
            return "Which language?"
        asked = [message for message in request.messages if message["role"] == "user"]
        if request.messages[-1]["role"] == "tool":
            return "noted"
        return call("responder_reply", answer="Go") if len(asked) == 1 else call("responder_stop")

    model = scripted_model(answer)
    written = {"a": TASK.format(most=3, more="", below="")}
    path = write_suite(tmp_path, written, config=openai_config(model.base_url))
    report, _ = run(path)
    assert only_trial(report).error == ""
    document = run_document(report.outcome)["tasks"][0]["runs"][0]
    assert document["responder"] == {"followups_sent": 1, "outcome": "stopped"}
    assert document["final_output"] == "Which language?"
