"""The executor `command` with real processes: what it makes of their output."""

import json
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.engine.executors.agents import RESULT, answer, ask, executor_of, types
from waza_engine.executors.executor import ExecutorError
from waza_engine.masking import masked
from waza_engine.vocabulary import ModelUsage, SkillInvocation, ToolCall, Usage

pytestmark = pytest.mark.check

RESUME = {"flag": "--resume", "sessionIdPath": "$.session_id"}
DONE = "say(type='result', content='done')"


def test_the_answer_is_that_of_the_result(tmp_path: Path) -> None:
    found = answer(tmp_path, f"say(type='text', text='Hello')\nsay(type='think', text='hm')\n{DONE}")
    assert (found.output, found.error) == ("done", None)
    assert types(found) == ["assistant.message", "assistant.reasoning"]


def test_without_a_text_in_the_result_the_messages_are_the_answer(tmp_path: Path) -> None:
    script = "for text in ('one', '', 'two'): say(type='text', text=text)\nsay(type='result')"
    assert answer(tmp_path, script).output == "one\ntwo"


def test_without_a_result_the_messages_are_the_answer(tmp_path: Path) -> None:
    found = answer(tmp_path, "say(type='text', text='one')")
    assert (found.output, found.error) == ("one", None)


def test_the_last_line_counts_without_an_end(tmp_path: Path) -> None:
    script = "sys.stdout.write(json.dumps({'type': 'result', 'content': 'done'}))"
    assert answer(tmp_path, script).output == "done"


def test_noise_between_events_is_skipped(tmp_path: Path) -> None:
    script = f"""
        print('Loading…\\n\\n{{not json')
        sys.stdout.flush(); sys.stdout.buffer.write(b'\\xff\\x00\\n'); sys.stdout.flush()
        {DONE}
    """
    found = answer(tmp_path, script)
    assert (found.output, found.error) == ("done", None)


def test_bytes_that_are_no_text_are_replaced(tmp_path: Path) -> None:
    script = 'sys.stdout.buffer.write(b\'{"type": "result", "content": "caf\\xe9"}\\n\')'
    assert answer(tmp_path, script).output == "caf\ufffd"


def test_events_carry_the_time_of_their_arrival(tmp_path: Path) -> None:
    script = f"""
        say(type='text', text='one')
        time.sleep(0.3)
        {DONE}
    """
    found = answer(tmp_path, script)
    times = [datetime.fromisoformat(str(event["timestamp"])) for event in found.events]
    assert times == sorted(times)
    assert (times[-1] - times[1]).total_seconds() >= 0.25


def test_a_plan_is_kept(tmp_path: Path) -> None:
    found = answer(tmp_path, f"say(type='plan', steps=[{{'content': 'a'}}])\n{DONE}")
    plan = next(event for event in found.events if event["type"] == "session.plan")
    assert plan["entries"] == [{"content": "a"}]


def test_a_tool_call_is_paired_with_its_end_by_id(tmp_path: Path) -> None:
    script = f"""
        say(type='tool', id='1', name='Read', status='pending', input={{'path': 'a'}})
        say(type='tool', id='2', name='Read', status='pending', input={{'path': 'b'}})
        say(type='tool', id='2', status='failed', output='no such file')
        say(type='tool', id='1', status='completed', output='text')
        {DONE}
    """
    found = answer(tmp_path, script)
    assert list(found.tool_calls) == [
        ToolCall("Read", {"path": "a"}, "1", {"content": "text"}, success=True),
        ToolCall("Read", {"path": "b"}, "2", {"content": "no such file"}, success=False),
    ]
    assert types(found) == [
        *("tool.execution_start", "tool.execution_start"),
        *("tool.execution_complete", "session.error", "tool.execution_complete"),
        "assistant.message",
    ]
    assert found.error is None


def test_calls_without_ids_are_never_merged(tmp_path: Path) -> None:
    script = f"""
        for _ in range(3): say(type='tool', name='Read', status='pending')
        say(type='tool', name='Read', status='in_progress')
        say(type='tool', name='Read', status='completed')
        say(type='tool', name='Read', status='failed')
        {DONE}
    """
    calls = answer(tmp_path, script).tool_calls
    assert [(call.name, call.success) for call in calls] == [("Read", True), ("Read", False), ("Read", False)]
    assert len({call.id for call in calls}) == 3
    assert [call.result for call in calls] == [None, None, None]


def test_a_call_that_only_ends_is_a_call(tmp_path: Path) -> None:
    found = answer(tmp_path, f"say(type='tool', name='Bash', status='completed', input='ls')\n{DONE}")
    assert [(call.name, dict(call.arguments), call.success) for call in found.tool_calls] == [
        ("Bash", {"input": "ls"}, True)
    ]


def test_arguments_that_come_late_belong_to_the_call(tmp_path: Path) -> None:
    script = f"""
        say(type='tool', id='1', name='Bash', status='pending')
        say(type='tool', id='1', name='Bash', status='completed', input={{'command': 'ls'}})
        {DONE}
    """
    found = answer(tmp_path, script)
    assert dict(found.tool_calls[0].arguments) == {"command": "ls"}
    assert found.events[1]["arguments"] == {"command": "ls"}


def test_an_id_that_is_used_again_is_another_call(tmp_path: Path) -> None:
    script = f"""
        for text in ('a', 'b'):
            say(type='tool', id='1', name='Bash', status='pending', input={{'x': text}})
            say(type='tool', id='1', status='completed')
        {DONE}
    """
    calls = answer(tmp_path, script).tool_calls
    assert [dict(call.arguments) for call in calls] == [{"x": "a"}, {"x": "b"}]
    assert len({call.id for call in calls}) == 2


def test_a_tool_that_loads_a_skill_is_its_invocation(tmp_path: Path) -> None:
    script = f"say(type='tool', id='1', name='Skill', status='pending', input={{'skill': 'writer'}})\n{DONE}"
    found = answer(tmp_path, script)
    assert list(found.skill_invocations) == [SkillInvocation("writer")]
    assert "skill.invoked" in types(found)


def test_the_turn_of_a_trigger_prompt_goes_on_until_the_tested_skill(tmp_path: Path) -> None:
    script = """
        say(type='tool', id='0', name='skill', status='pending', input={'skill': 'other'})
        say(type='tool', id='1', name='skill', status='pending', input={'skill': 'writer'})
        time.sleep(60)
    """
    found = ask(executor_of(tmp_path, script), tmp_path, stop_at_skill="writer")
    assert found.error is None
    assert list(found.skill_invocations) == [SkillInvocation("other"), SkillInvocation("writer")]


def test_usage_and_cost_are_those_that_the_agent_reports(tmp_path: Path) -> None:
    usage = {"input_tokens": "$.in", "output_tokens": "$.out", "cost_usd": "$.cost", "turns": "$.turns"}
    script = "say(type='result', content='x', **{'in': 7, 'out': 3, 'cost': 0.5, 'turns': 2})"
    found = ask(executor_of(tmp_path, script, **{"x-waza": {"usage": usage}}), tmp_path, model="m")
    assert found.usage == Usage(
        turns=2,
        input_tokens=7,
        output_tokens=3,
        model_metrics={"m": ModelUsage(input_tokens=7, output_tokens=3, request_count=2)},
        cost_usd=0.5,
    )


def test_without_a_report_nothing_is_known_of_usage(tmp_path: Path) -> None:
    assert answer(tmp_path, DONE).usage is None


def test_the_usage_of_several_events_adds_up(tmp_path: Path) -> None:
    usage = {"match": {"path": "$.type", "value": "turn"}, "output_tokens": "$.out"}
    script = f"say(type='turn', out=2)\nsay(type='turn', out=3)\n{DONE}"
    found = answer(tmp_path, script, **{"x-waza": {"usage": usage}})
    assert found.usage is not None
    assert found.usage.output_tokens == 5


def test_the_agent_works_in_the_workspace_with_the_arguments_of_its_adapter(tmp_path: Path) -> None:
    script = """
        facts = [os.getcwd(), os.environ['PWD'], sys.argv[1:], sys.stdin.read()]
        say(type='result', content=json.dumps(facts))
    """
    found = answer(tmp_path, script, cwdFlag="--cwd")
    workspace = str(tmp_path / "workspace")
    assert json.loads(found.output) == [workspace, workspace, ["--cwd", workspace, "-p", "Hi"], ""]


def test_the_agent_starts_in_the_working_directory_of_the_task(tmp_path: Path) -> None:
    executor = executor_of(tmp_path, "say(type='result', content=os.getcwd())")
    assert ask(executor, tmp_path, workdir="a/b").output == str(tmp_path / "workspace" / "a" / "b")


def test_the_prompt_may_come_on_standard_input(tmp_path: Path) -> None:
    executor = executor_of(
        tmp_path, "say(type='result', content=repr([sys.stdin.read(), sys.argv[1:]]))", prompt={"stdin": True}
    )
    assert ask(executor, tmp_path, "Zoë\nasks").output == repr(["Zoë\nasks\n", []])


def test_a_prompt_may_be_long_on_standard_input_only(tmp_path: Path) -> None:
    prompt = "x" * 3_000_000
    script = "say(type='result', content=str(len(sys.stdin.read())))"
    assert ask(executor_of(tmp_path, script, prompt={"stdin": True}), tmp_path, prompt).output == "3000001"
    if sys.platform == "linux":
        with pytest.raises(ExecutorError, match="the prompt is too long for an argument"):
            ask(executor_of(tmp_path, script), tmp_path, prompt)


def test_a_prompt_that_no_argument_can_hold(tmp_path: Path) -> None:
    with pytest.raises(ExecutorError, match="NUL"):
        ask(executor_of(tmp_path, DONE), tmp_path, "a\0b")


def test_variables_of_the_adapter_stand_beside_the_inherited_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FROM_OUTSIDE", "1")
    script = "say(type='result', content=os.environ['FROM_OUTSIDE'] + os.environ['NO_COLOR'])"
    assert answer(tmp_path, script, **{"x-waza": {"env": {"NO_COLOR": "2"}}}).output == "12"


def test_a_follow_up_resumes_the_session(tmp_path: Path) -> None:
    script = "say(type='init', session_id='S1')\nsay(type='result', content=' '.join(sys.argv[1:]))"
    executor = executor_of(tmp_path, script, resume=RESUME)
    first = ask(executor, tmp_path)
    assert (first.session, first.output) == ("S1", "-p Hi")
    assert ask(executor, tmp_path, "More", session=first.session).output == "--resume S1 -p More"


def test_an_iterative_agent_is_told_the_conversation(tmp_path: Path) -> None:
    script = "say(type='result', content=str(len(sys.argv[-1])))\n"
    executor = executor_of(tmp_path, script, sessionMode="iterative")
    first = ask(executor, tmp_path, "Hello")
    assert first.output == "5"
    second = ask(executor, tmp_path, "Next", session=first.session)
    assert second.output == str(len("User: Hello\nAssistant: 5\n\nUser: Next"))
    third = ask(executor, tmp_path, "End", session=second.session)
    told = "User: Hello\nAssistant: 5\n\nUser: Next\nAssistant: 36\n\nUser: End"
    assert (third.output, second.output) == (str(len(told)), "36")


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({}, "give `resume` in the adapter"),
        ({"resume": RESUME}, "did not name its session at `$.session_id`"),
    ],
)
def test_a_session_that_cannot_be_continued_is_an_error(
    tmp_path: Path, keys: dict[str, Any], said: str
) -> None:
    executor = executor_of(tmp_path, DONE, **keys)
    first = ask(executor, tmp_path)
    with pytest.raises(ExecutorError) as caught:
        ask(executor, tmp_path, "More", session=first.session)
    assert said in str(caught.value)


def test_ids_of_tool_calls_stay_apart_over_the_turns(tmp_path: Path) -> None:
    script = f"say(type='tool', id='item_1', name='Bash', status='completed')\nsay(session_id='S')\n{DONE}"
    executor = executor_of(tmp_path, script, resume=RESUME)
    first = ask(executor, tmp_path)
    second = ask(executor, tmp_path, session=first.session)
    assert first.tool_calls[0].id != second.tool_calls[0].id


def test_a_program_without_events_gives_its_text(tmp_path: Path) -> None:
    found = answer(
        tmp_path, "print('one\\ntwo')", result=None, output=None, **{"x-waza": {"output_mode": "text"}}
    )
    assert (found.output, found.error, types(found)) == ("one\ntwo", None, ["assistant.message"])


def test_mcp_servers_reach_the_agent_in_a_file_that_is_gone_afterwards(tmp_path: Path) -> None:
    script = "say(type='result', content=sys.argv[2] + ' ' + open(sys.argv[2]).read())"
    executor = executor_of(tmp_path, script, **{"x-waza": {"mcp_config_flag": "--mcp"}})
    place, _, text = ask(executor, tmp_path, mcp_servers={"db": {"command": "x"}}).output.partition(" ")
    assert json.loads(text) == {"mcpServers": {"db": {"command": "x"}}}
    assert not Path(place).exists()
    assert tmp_path / "workspace" not in Path(place).parents


def test_mcp_servers_that_cannot_be_told_of_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(ExecutorError, match="`mcp_config_flag`"):
        ask(executor_of(tmp_path, DONE), tmp_path, mcp_servers={"db": {"command": "x"}})


def test_credentials_of_the_adapter_are_not_written(tmp_path: Path) -> None:
    script = """
        key = os.environ['FAKE_API_KEY']
        say(type='text', text='my key is ' + key)
        say(type='tool', name='env', status='completed', output=key)
        sys.stderr.write('bad key ' + key); sys.exit(3)
    """
    found = answer(tmp_path, script, **{"x-waza": {"env": {"FAKE_API_KEY": "sk-very-secret-value"}}})
    assert found.output == "my key is sk-very-secret-value", "it is graded as it is"
    assert masked(found.output) == "my key is ***"
    assert "sk-very" not in masked(repr(found))
    assert masked(found.error or "") == "the agent ended with exit code 3: bad key ***"


def test_a_result_that_reports_an_error_is_one(tmp_path: Path) -> None:
    script = "say(type='result', content='Please log in', is_error=True)"
    found = answer(tmp_path, script, result=RESULT, **{"x-waza": {"result_error_path": "$.is_error"}})
    assert found.error == "the agent reports an error: Please log in"
