"""What a run tells while it goes on, for those who show it: verdicts with their reasons, times, prompts."""

import re
from pathlib import Path

from tests.command_line import engine
from tests.engine.executors.agents import ask, executor_of, write_agent
from tests.engine.suites import COMMAND_CONFIG, GREETS, present, run, task, write_prompts, write_suite
from waza_engine.runs.trials.trial import describe_tool_call
from waza_engine.vocabulary import ToolCall

FAILS = "- {type: text, name: fails, config: {contains: [Say hello, goodbye]}}\n"


def test_a_verdict_tells_which_of_its_checks_do_not_hold(tmp_path: Path) -> None:
    _, events = run(write_suite(tmp_path, {"a": task("a")}, graders=GREETS + FAILS))
    graded = {event.grader: event for event in events if event.kind == "graded"}
    assert graded["greets"].failures is None
    failures = graded["fails"].failures or []
    assert [failure["path"] for failure in failures] == [["contains", 1]]
    assert "goodbye" in failures[0]["message"]


def test_what_a_checkpoint_says_is_told_by_the_name_that_is_recorded(tmp_path: Path) -> None:
    checkpoint = f"checkpoints: [{{after_turn: 1, graders: [{FAILS.strip().removeprefix('- ')}]}}]"
    _, events = run(write_suite(tmp_path, {"a": task("a", more=checkpoint)}, graders=GREETS))
    graded = {event.grader: event for event in events if event.kind == "graded"}
    said = graded["fails after turn 1"]
    assert (said.passed, [failure["path"] for failure in said.failures or []]) == (False, [["contains", 1]])
    end = next(event for event in events if event.kind == "failed" and event.trial is None)
    assert [found["name"] for found in present(end.conclusion)["graders"]] == list(graded)


def test_the_end_of_a_task_tells_its_conclusion(tmp_path: Path) -> None:
    _, events = run(write_suite(tmp_path, {"a": task("a")}, graders=GREETS + FAILS))
    end = next(event for event in events if event.kind == "failed" and event.trial is None)
    assert end.conclusion is not None
    assert (end.conclusion["verdict"], end.conclusion["reason"]) == ("failed", "not passed: fails")
    assert [(found["name"], found["verdict"]) for found in end.conclusion["graders"]] == [
        ("greets", "passed"),
        ("fails", "failed"),
    ]
    assert end.duration_ms is not None
    (trial,) = [event for event in events if event.kind == "failed" and event.trial == 1]
    assert isinstance(trial.duration_ms, int)


def test_each_trigger_prompt_is_told(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    write_prompts(tmp_path, "Write a text", should_not=["Add two numbers"])
    _, events = run(path)
    tried = {event.prompt: event for event in events if event.kind == "tried"}
    assert {prompt: (event.should_trigger, event.status) for prompt, event in tried.items()} == {
        "Write a text": (True, "passed"),
        "Add two numbers": (False, "passed"),
    }
    for prompt in tried:
        told = [(event.kind, event.should_trigger) for event in events if event.prompt == prompt]
        assert [kind for kind, _ in told] == ["started", "tried"]
        assert len({should for _, should in told}) == 1


def test_a_long_answer_is_told_by_its_beginning_and_says_so(tmp_path: Path) -> None:
    """The mock repeats the prompt: an answer of megabytes would drown whoever looks on."""
    suite = write_suite(
        tmp_path, {"a": task("a", prompt="hello " * 1_000), "b": task("b", prompt="hi")}, graders=GREETS
    )
    _, events = run(suite)
    told = {event.task: event.message or "" for event in events if event.kind == "output" and event.trial}
    assert told["a"].startswith("Mock response for: hello hello")
    beginning, _, rest = told["a"].partition("… (")
    assert len(beginning) == 2_000
    assert re.fullmatch(r"4,\d{3} more characters\)", rest), rest
    assert "…" not in told["b"]


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
    path = write_suite(tmp_path, {"a": task("a")}, config=COMMAND_CONFIG)
    told = engine("run", path, "-v").stdout
    assert "a\n  │ ⚙ skill writer\n  │ ⚙ Bash npm test\n  │ Done.\n" in told
