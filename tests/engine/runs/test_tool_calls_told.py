"""What the agent does is told while it does it."""

from pathlib import Path

from tests.command_line import engine
from tests.engine.executors.agents import ask, executor_of, write_agent
from tests.engine.suites import task, write_suite
from waza_engine.runs.trials.trial import describe_tool_call
from waza_engine.vocabulary import ToolCall

CALLS_TWICE = """
    say(type='tool', id='1', name='skill', status='pending', input={'skill': 'writer'})
    say(type='tool', id='1', status='completed', output='loaded')
    say(type='tool', id='2', name='Bash', status='pending', input={'command': 'npm test'})
    say(type='tool', id='2', status='failed', output='no tests')
    say(type='text', text='Done.')
    say(type='result')
"""


def test_a_command_line_agent_is_watched_call_by_call(tmp_path: Path) -> None:
    watched: list[ToolCall] = []
    ask(executor_of(tmp_path, CALLS_TWICE), tmp_path, on_tool_call=watched.append)
    assert [describe_tool_call(call) for call in watched] == ["⚙ skill writer", "⚙ Bash npm test"]


def test_a_call_is_one_line_however_much_it_was_given() -> None:
    assert describe_tool_call(ToolCall("list")) == "⚙ list"
    given = {"command": "cat <<END\n  a\nEND", "background": False, "paths": ["a", "ü"]}
    assert describe_tool_call(ToolCall("bash", given)) == '⚙ bash cat <<END a END · false · ["a", "ü"]'
    long = describe_tool_call(ToolCall("create", {"path": "a.txt", "file_text": "word " * 50_000}))
    assert long.startswith("⚙ create a.txt · word word")
    assert (len(long), long[-1]) == (160, "…")


def test_a_terminal_shows_the_calls_of_an_answer_below_one_head(tmp_path: Path) -> None:
    write_agent(tmp_path, CALLS_TWICE)
    config = "config: {trials_per_task: 1, timeout_seconds: 20, executor: command, adapter: adapter.json}\n"
    path = write_suite(tmp_path, {"a": task("a")}, config=config)
    told = engine("run", path, "-v").stdout
    assert "a\n  │ ⚙ skill writer\n  │ ⚙ Bash npm test\n  │ Done.\n" in told
