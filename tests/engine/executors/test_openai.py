"""The executor ``openai``: conversations, tools, skills and usage, against a loopback server."""

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import StartModel
from tests.engine.executors.talking import (
    Talk,
    ask,
    ask_once,
    kinds,
    openai_executor,
    result_of,
    settings,
    write_skill,
)
from tests.scripted_model import Answer, Call, ModelRequest, Tokens, call
from waza_engine.executors.executor import ExecutionResponse, ExecutorError
from waza_engine.executors.executor_types import create_executor
from waza_engine.executors.openai import OpenAIExecutor
from waza_engine.graders.judge import AgentTool
from waza_engine.masking import masked_json, read_environment
from waza_engine.vocabulary import ModelUsage, SkillInvocation, ToolCall


def verdict_tool(seen: list[Mapping[str, Any]]) -> AgentTool:
    def call_it(arguments: Mapping[str, Any]) -> str:
        seen.append(arguments)
        return "noted"

    parameters = {"type": "object", "properties": {"reason": {"type": "string"}}}
    return AgentTool("set_waza_grade_pass", "Passes.", parameters, call_it)


def test_answers_a_prompt(talk: Talk) -> None:
    response = talk("What does it do?", "It adds two numbers.", instructions="Be brief.")

    assert response.output == "It adds two numbers."
    assert response.error is None
    assert (talk.requests[0].system, talk.requests[0].prompt) == ("Be brief.", "What does it do?")
    assert talk.requests[0].model == "test-model"
    assert talk.requests[0].tool_names == []


def test_comes_from_the_registry_as_an_executor_that_can_judge_and_may_cost() -> None:
    executor = create_executor("openai", settings(provider={"base_url": "http://127.0.0.1:9/v1"}))

    assert isinstance(executor, OpenAIExecutor)
    assert (executor.has_model, executor.costs, executor.answers_triggers) == (True, True, False)


def test_records_a_turn_as_events(talk: Talk, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("content")

    response = talk("Look.", call("view", path="a.txt"), "Done.", workspace_tools=["read"])

    assert kinds(response) == [
        "user.message",
        "assistant.turn_start",
        "assistant.message",
        "assistant.usage",
        "tool.execution_start",
        "tool.execution_complete",
        "assistant.turn_start",
        "assistant.message",
        "assistant.usage",
        "session.idle",
    ]
    start, end = response.events[4], response.events[5]
    assert (start["tool_name"], start["arguments"]) == ("view", {"path": "a.txt"})
    assert (end["success"], end["tool_result"]) == (True, {"content": "content"})
    assert start["tool_call_id"] == end["tool_call_id"] == response.tool_calls[0].id
    assert response.tool_calls == (
        ToolCall("view", {"path": "a.txt"}, response.tool_calls[0].id, {"content": "content"}, success=True),
    )


def test_gives_tool_results_back_to_the_model(talk: Talk, tmp_path: Path) -> None:
    both = Answer("I look.", calls=[Call("view", {"path": "a"}, "one"), Call("view", {"path": "b"}, "two")])
    (tmp_path / "a").write_text("A")
    (tmp_path / "b").write_text("B")

    response = talk("Look.", both, "Done.", workspace_tools=["read"])

    assert response.output == "I look.Done."
    answer, first, second = talk.requests[1].messages[-3:]
    assert [made["id"] for made in answer["tool_calls"]] == ["one", "two"]
    assert [(result["tool_call_id"], result["content"]) for result in (first, second)] == [
        ("one", "A"),
        ("two", "B"),
    ]


def test_continues_a_conversation(scripted_model: StartModel, tmp_path: Path) -> None:
    model = scripted_model("First.", "Second.")

    with openai_executor(model.base_url) as executor:
        first = ask(executor, "One?", tmp_path, instructions="Be brief.")
        second = ask(executor, "Two?", tmp_path, session=first.session)

    assert second.session == first.session
    assert second.output == "Second."
    assert [(said["role"], said["content"]) for said in model.requests[1].messages] == [
        ("system", "Be brief."),
        ("user", "One?"),
        ("assistant", "First."),
        ("user", "Two?"),
    ]
    assert kinds(second)[0] == "user.message"


def test_new_instructions_take_the_place_of_the_old_ones(scripted_model: StartModel, tmp_path: Path) -> None:
    model = scripted_model("First.", "Second.")

    with openai_executor(model.base_url) as executor:
        first = ask(executor, "One?", tmp_path, instructions="Be brief.")
        ask(executor, "Two?", tmp_path, session=first.session, instructions="Be long.")

    assert model.requests[1].system == "Be long."


def test_keeps_conversations_apart(scripted_model: StartModel, tmp_path: Path) -> None:
    def count(request: ModelRequest) -> str:
        return f"{request.prompt} after {len(request.messages)}"

    model = scripted_model(count)
    with openai_executor(model.base_url) as executor, ThreadPoolExecutor(8) as pool:

        def talk(prompt: str, session: str | None = None) -> ExecutionResponse:
            return ask(executor, prompt, tmp_path, session=session)

        firsts = list(pool.map(talk, "abcdefgh"))
        seconds = list(pool.map(talk, ["again"] * 8, [first.session for first in firsts]))

    assert [first.output for first in firsts] == [f"{name} after 1" for name in "abcdefgh"]
    assert len({first.session for first in firsts}) == 8
    assert {second.output for second in seconds} == {"again after 3"}


@pytest.mark.parametrize("session", ["gone", None], ids=["unknown", "ephemeral"])
def test_a_conversation_that_is_not_there_is_an_error(
    scripted_model: StartModel, tmp_path: Path, session: str | None
) -> None:
    with openai_executor(scripted_model("First.").base_url) as executor:
        session = session or ask(executor, "One?", tmp_path, ephemeral=True).session
        with pytest.raises(ExecutorError, match=f"no conversation `{session}`"):
            ask(executor, "Two?", tmp_path, session=session)


def test_an_ephemeral_turn_leaves_the_session_that_it_continued_as_it_was(
    scripted_model: StartModel, tmp_path: Path
) -> None:
    model = scripted_model("Answer.", "Verdict.", "Second.")

    with openai_executor(model.base_url) as executor:
        session = ask(executor, "One?", tmp_path).session
        ask(executor, "Judge it.", tmp_path, session=session, ephemeral=True)
        ask(executor, "Two?", tmp_path, session=session)

    assert "Judge it." not in str(model.requests[2].messages)
    assert len(model.requests[2].messages) == 3


def test_sums_the_usage_of_a_turn(scripted_model: StartModel, tmp_path: Path) -> None:
    model = scripted_model(
        Answer(calls=[call("view", path="a")], usage=Tokens(100, 20, cached=30)),
        Answer("Done.", usage=Tokens(150, 10, cached=90)),
    )

    usage = ask_once(model, "Look.", tmp_path, workspace_tools=["read"]).usage

    assert usage is not None
    tokens = {"input_tokens": 250, "output_tokens": 30, "cache_read_tokens": 120}
    assert {key: getattr(usage, key) for key in ("turns", *tokens)} == {"turns": 2, **tokens}
    expected = ModelUsage(**tokens, request_count=2, request_cost=0.0)
    assert usage.model_metrics == {"test-model": expected}
    assert (usage.provider, usage.provider_host) == ("custom", model.base_url.split("/")[2])


def test_a_server_that_counts_nothing_still_has_turns(talk: Talk) -> None:
    response = talk("Look.", Answer("Done.", usage=None))

    assert response.usage is not None
    assert (response.usage.turns, response.usage.input_tokens) == (1, 0)
    assert "assistant.usage" not in kinds(response)


def test_passes_the_reasoning_effort_on(scripted_model: StartModel, tmp_path: Path) -> None:
    model = scripted_model("a", "b")

    with openai_executor(model.base_url) as executor:
        ask(executor, "One", tmp_path, reasoning_effort="high")
        ask(executor, "Two", tmp_path)

    assert [request.body.get("reasoning_effort") for request in model.requests] == ["high", None]


def test_offers_the_tools_of_a_judge(scripted_model: StartModel, tmp_path: Path) -> None:
    seen: list[Mapping[str, Any]] = []
    model = scripted_model(call("set_waza_grade_pass", reason="good"), "Graded.")

    response = ask_once(model, "Judge.", tmp_path, tools=[verdict_tool(seen)])

    assert seen == [{"reason": "good"}]
    assert model.requests[0].tool_names == ["set_waza_grade_pass"]
    assert model.requests[0].body["tools"][0]["function"]["parameters"]["properties"] == {
        "reason": {"type": "string"}
    }
    assert model.requests[1].tool_results == ["noted"]
    assert response.output == "Graded."


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (Call("fly", {}), "There is no tool `fly`; there are `set_waza_grade_pass`."),
        (Call("set_waza_grade_pass", '{"reason": '), "The arguments are no JSON object"),
        (Call("set_waza_grade_pass", '["reason"]'), "The arguments are no JSON object"),
        (Call("set_waza_grade_pass", '{"reason": NaN}'), "The arguments are no JSON object"),
        (
            Call("set_waza_grade_pass", '{"reason": ' * 500 + "1" + "}" * 500),
            "The arguments are no JSON object",
        ),
        (Call("set_waza_grade_pass", '{"a": ' + "[" * 99_999), "The arguments are no JSON object"),
    ],
)
def test_a_call_that_cannot_be_carried_out_is_told_to_the_model(talk: Talk, wrong: Call, said: str) -> None:
    seen: list[Mapping[str, Any]] = []

    response = talk("Judge.", wrong, "I give up.", tools=[verdict_tool(seen)])

    assert seen == []
    assert said in talk.requests[1].tool_results[0]
    sent = talk.requests[1].messages[-2]["tool_calls"][0]["function"]
    assert (sent["name"], json.loads(sent["arguments"])) == (wrong.name, {})
    assert [made.success for made in response.tool_calls] == [False]
    assert response.output == "I give up."


def test_arguments_may_be_missing(talk: Talk) -> None:
    seen: list[Mapping[str, Any]] = []

    talk("Judge.", Call("set_waza_grade_pass", ""), "Graded.", tools=[verdict_tool(seen)])

    assert seen == [{}]


def test_text_that_is_no_unicode_reaches_neither_server_nor_transcript(talk: Talk) -> None:
    response = talk(
        "broken \ud800 prompt", Call("view", '{"path": "\\ud800"}'), "Done.", workspace_tools=["read"]
    )

    assert talk.requests[0].prompt == "broken ? prompt"
    str(response.events).encode("utf-8")


def test_half_a_character_at_the_end_of_an_answer_is_replaced(talk: Talk) -> None:
    assert talk("Hello", "Well done \ud83c").output == "Well done ?"


def test_credentials_are_hidden_in_arguments_of_any_shape(
    scripted_model: StartModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_KEY", '{"private": "key"}')
    seen: list[Mapping[str, Any]] = []
    model = scripted_model(
        call("set_waza_grade_pass", reason=['{"private": "key"}', {"private": "key"}, 3]), "Done."
    )

    read_environment()
    response = ask_once(model, "Judge.", tmp_path, tools=[verdict_tool(seen)])

    written = masked_json(json.dumps(response.tool_calls[0].arguments))
    assert json.loads(written) == {"reason": ["***", {"private": "key"}, 3]}


def test_a_model_that_calls_tools_without_end_is_stopped(talk: Talk) -> None:
    response = talk("Look.", lambda request: call("glob"), workspace_tools=["list"])

    assert "the model went on calling tools" in (response.error or "")
    assert len(response.tool_calls) == len(talk.requests) == 100


def test_loads_a_skill_that_the_model_asks_for(scripted_model: StartModel, tmp_path: Path) -> None:
    skills = write_skill(tmp_path / "skills", "code-explainer", body="Explain line by line.")
    model = scripted_model(call("skill", skill="code-explainer"), "Line one adds.")

    response = ask_once(model, "Explain.", tmp_path, skill_directories=[skills])

    path = str(skills / "code-explainer" / "SKILL.md")
    assert response.skill_invocations == (SkillInvocation("code-explainer", path),)
    assert {"type": "skill.invoked", "name": "code-explainer", "path": path} in response.events
    assert "Explain line by line." in model.requests[1].tool_results[0]
    assert [made.name for made in response.tool_calls] == ["skill"]


def test_tells_the_model_which_skills_there_are(talk: Talk, tmp_path: Path) -> None:
    skills = write_skill(tmp_path / "skills", "one", "Does the first thing.")
    write_skill(skills, "two", "Does the second thing.")

    talk("Explain.", "Done.", skill_directories=[skills])

    function = talk.requests[0].body["tools"][0]["function"]
    assert "- one: Does the first thing.\n- two: Does the second thing." in function["description"]
    assert function["parameters"]["properties"]["skill"]["enum"] == ["one", "two"]


def test_a_skill_directory_may_be_a_skill(talk: Talk, tmp_path: Path) -> None:
    skills = write_skill(tmp_path / "skills", "one")

    talk("Explain.", "Done.", skill_directories=[skills / "one"])

    assert talk.requests[0].tool_names == ["skill"]


def test_a_skill_may_be_an_agent_file(talk: Talk, tmp_path: Path) -> None:
    (tmp_path / "helper").mkdir()
    (tmp_path / "helper" / "reviewer.agent.md").write_text("Review it.")

    response = talk("Review.", call("skill", skill="reviewer"), "Done.", skill_directories=[tmp_path])

    assert [skill.name for skill in response.skill_invocations] == ["reviewer"]
    assert "Review it." in result_of(response)


def test_an_unknown_skill_is_no_invocation(talk: Talk, tmp_path: Path) -> None:
    skills = write_skill(tmp_path / "skills", "one")

    response = talk("Explain.", call("skill", skill="other"), "Done.", skill_directories=[skills])

    assert response.skill_invocations == ()
    assert result_of(response) == "Error: there is no skill `other`; there are `one`."


def test_the_files_of_a_skill_can_be_read_but_not_changed(scripted_model: StartModel, tmp_path: Path) -> None:
    skills = write_skill(tmp_path / "skills", "one")
    notes = skills / "one" / "notes.md"
    notes.write_text("careful")
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    model = scripted_model(
        call("view", path=str(notes)), call("create", path=str(notes), file_text="x"), "Done."
    )

    response = ask_once(
        model, "Explain.", workspace, skill_directories=[skills], workspace_tools=["read", "write"]
    )

    assert result_of(response, 0) == "careful"
    assert "leads out of the working directory" in result_of(response, 1)
    assert notes.read_text() == "careful"


def test_a_trigger_test_goes_on_until_the_tested_skill(scripted_model: StartModel, tmp_path: Path) -> None:
    skills = write_skill(tmp_path / "skills", "one")
    write_skill(skills, "two")
    model = scripted_model(Answer(calls=[call("skill", skill="two"), call("skill", skill="one")]), "never")

    response = ask_once(model, "Explain.", tmp_path, skill_directories=[skills], stop_at_skill="one")

    assert [skill.name for skill in response.skill_invocations] == ["two", "one"]
    assert response.error is None
    assert len(model.requests) == 1


def test_a_conversation_that_ended_at_a_skill_can_be_continued(
    scripted_model: StartModel, tmp_path: Path
) -> None:
    skills = write_skill(tmp_path / "skills", "one")
    model = scripted_model(Answer(calls=[call("skill", skill="one"), call("skill", skill="one")]), "On.")

    with openai_executor(model.base_url) as executor:
        first = ask(executor, "Explain.", tmp_path, skill_directories=[skills], stop_at_skill="one")
        ask(executor, "Go on.", tmp_path, session=first.session)

    calls = [made["id"] for said in model.requests[1].messages for made in said.get("tool_calls", ())]
    results = [said["tool_call_id"] for said in model.requests[1].messages if said["role"] == "tool"]
    assert calls == results
    assert len(calls) == 1


def test_says_that_an_answer_was_cut(talk: Talk) -> None:
    response = talk("Explain.", Answer("It adds", finish_reason="length"))

    assert response.output == "It adds"
    assert "session.warning" in kinds(response)


def test_a_refusal_is_the_answer(talk: Talk) -> None:
    assert talk("Explain.", Answer(refusal="I will not.")).output == "I will not."


def test_an_answer_that_was_withheld_is_an_error(talk: Talk) -> None:
    assert "content filter" in (talk("Explain.", Answer("", finish_reason="content_filter")).error or "")
