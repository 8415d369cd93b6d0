"""Events of the Copilot agent that the agent under test does not send by itself."""

import pytest

from waza_engine.executors.copilot.events import TurnRecord, usage_of_models, usage_since
from waza_engine.peers import bounds
from waza_engine.vocabulary import ModelUsage, Usage


def test_a_sub_agent_says_nothing_to_the_user_but_its_calls_count() -> None:
    record = TurnRecord()
    record.add("assistant.message", {"content": "I ask someone. "})
    record.add("assistant.message", {"content": "Searching."}, "explorer")
    record.add("tool.execution_start", {"toolCallId": "1", "toolName": "grep"}, "explorer")
    record.add("session.error", {"message": "lost my way"}, "explorer")
    record.add("assistant.message", {"content": "Found."})
    assert record.output == "I ask someone. Found."
    assert [call.name for call in record.tool_calls] == ["grep"]
    assert record.error == ""
    assert record.events[1] == {"type": "assistant.message", "content": "Searching.", "agent_id": "explorer"}


def test_calls_stand_in_start_order_whatever_ends_first() -> None:
    watched: list[str] = []
    record = TurnRecord(lambda call: watched.append(call.name))
    record.add("tool.execution_start", {"toolCallId": "1", "toolName": "bash", "arguments": {"command": "a"}})
    record.add("tool.execution_start", {"toolCallId": "2", "toolName": "view", "arguments": {"path": "b"}})
    record.add(
        "tool.execution_complete", {"toolCallId": "2", "success": True, "result": {"content": "text of b"}}
    )
    bash, view = record.tool_calls
    assert (bash.name, bash.success, bash.result) == ("bash", False, None)
    assert (view.name, view.success, view.result) == ("view", True, {"content": "text of b"})
    assert watched == ["bash", "view"]


def test_starts_without_a_name_or_an_id_are_ignored() -> None:
    record = TurnRecord()
    record.add("tool.execution_start", {"toolCallId": "1", "toolName": ""})
    record.add("tool.execution_start", {"toolName": "bash"})
    record.add("tool.execution_complete", {"toolCallId": "7", "success": True})
    assert record.tool_calls == ()


def test_the_reported_intent_is_left_out_from_start_to_end() -> None:
    record = TurnRecord()
    record.add("tool.execution_start", {"toolCallId": "1", "toolName": "report_intent"})
    record.add("tool.execution_progress", {"toolCallId": "1"})
    record.add("tool.execution_complete", {"toolCallId": "1", "success": True})
    assert (record.events, record.tool_calls) == ([], ())


def test_details_are_told_where_they_say_more() -> None:
    record = TurnRecord()
    record.add("tool.execution_start", {"toolCallId": "1", "toolName": "edit"})
    result = {"content": "done", "detailedContent": "-a\n+b", "contents": [{"type": "text"}]}
    record.add("tool.execution_complete", {"toolCallId": "1", "success": True, "result": result})
    assert record.events[1]["tool_result"] == {"content": "done", "detailedContent": "-a\n+b"}


def test_without_totals_the_single_calls_are_added_up_by_model() -> None:
    record = TurnRecord()
    record.add("assistant.turn_start", {})
    record.add("assistant.usage", {"model": "big", "inputTokens": 100, "outputTokens": 10, "cost": 1.0})
    record.add("assistant.usage", {"model": "small", "inputTokens": 20, "cacheReadTokens": 15, "cost": 0.33})
    record.add("assistant.usage", {"model": "big", "inputTokens": 50, "outputTokens": 5, "cost": 1.0})
    usage = record.usage()
    assert (usage.turns, usage.input_tokens, usage.output_tokens, usage.cache_read_tokens) == (1, 170, 15, 15)
    assert usage.premium_requests == 2.33
    assert usage.model_metrics["big"] == ModelUsage(150, 15, 0, 0, 2, 2.0)


def test_totals_of_the_session_go_before_single_calls() -> None:
    record = TurnRecord()
    record.add("assistant.turn_start", {})
    record.add("assistant.usage", {"model": "m", "inputTokens": 1})
    before = usage_of_models({"m": ModelUsage(100, 10, 0, 0, 2, 1.0)}, 1.0)
    now = usage_of_models({"m": ModelUsage(160, 25, 5, 0, 4, 2.0), "n": ModelUsage(7, 1, 0, 0, 1, 0.0)}, 3.0)
    assert record.usage(usage_since(before, now)) == Usage(
        turns=1,
        input_tokens=67,
        output_tokens=16,
        cache_read_tokens=5,
        premium_requests=2.0,
        model_metrics={"m": ModelUsage(60, 15, 5, 0, 2, 1.0), "n": ModelUsage(7, 1, 0, 0, 1, 0.0)},
    )


def test_a_server_that_starts_after_all_is_not_broken() -> None:
    record = TurnRecord()
    record.add("session.mcp_server_status_changed", {"serverName": "a", "status": "failed", "error": "slow"})
    record.add(
        "session.mcp_servers_loaded",
        {
            "servers": [
                {"name": "a", "status": "connected"},
                {"name": "b", "status": "failed", "error": "gone"},
            ]
        },
    )
    assert record.broken_servers == {"b": "gone"}


def test_what_goes_beyond_the_bound_of_a_turn_is_left_out_and_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bounds, "MOST_BYTES", 1_000)
    record = TurnRecord()
    for _ in range(5):
        record.add("assistant.message", {"content": "y" * 400})
        record.add("assistant.usage", {"inputTokens": 1, "model": "m"})
    record.add("session.idle", {})
    assert len(record.output) == 800
    assert record.error == "it sent more than 0.001 MB; the rest was not read"
    assert record.usage().input_tokens == 5
    assert record.idle
