"""The executor `command` with agents that break, hang, or never stop talking."""

import threading
import time
from pathlib import Path

import psutil
import pytest

from tests.engine.executors.agents import answer, ask, executor_of
from tests.patience import ON_A_BUSY_MACHINE, ends
from waza_engine.executors.executor import ExecutionRequest, ExecutionResponse, ExecutorError
from waza_engine.peers.bounds import LONGEST_MESSAGE_BYTES, MOST_BYTES
from waza_engine.runs.limits.cancellation import RunCancellation

pytestmark = pytest.mark.check

SLEEPS = "say(type='text', text='partial')\ntime.sleep(60)"
# The child says who it is, ignores requests to end, and outlives its parent.
FORKS = """
    deaf = 'signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); time.sleep(60)'
    child = subprocess.Popen([sys.executable, '-c', 'import signal, time; ' + deaf], stdout=subprocess.PIPE)
    child.stdout.readline()
    say(type='text', text=str(child.pid))
"""


def shutdown_of(response: ExecutionResponse) -> dict[str, object]:
    return {key: response.events[-1][key] for key in ("exit_code", "timed_out")}


def test_an_agent_that_takes_too_long_is_asked_to_end_and_its_words_are_kept(tmp_path: Path) -> None:
    started = time.monotonic()
    found = ask(executor_of(tmp_path, SLEEPS), tmp_path, timeout_seconds=2)
    assert time.monotonic() - started < 4 + ON_A_BUSY_MACHINE
    assert (found.output, found.error) == ("partial", "the agent did not answer within 2 seconds")
    assert shutdown_of(found) == {"exit_code": 143, "timed_out": True}


def test_the_time_limit_of_the_adapter_counts_when_it_is_shorter(tmp_path: Path) -> None:
    found = answer(tmp_path, SLEEPS, timeout=2000)
    assert found.error == "the agent did not answer within 2 seconds (`timeout` of adapter.json)"
    found = ask(executor_of(tmp_path, SLEEPS, timeout=60_000), tmp_path, timeout_seconds=0.5)
    assert found.error == "the agent did not answer within 0.5 seconds"


def test_an_agent_that_will_not_end_is_killed_with_its_children(tmp_path: Path) -> None:
    script = FORKS + "    signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
    started = time.monotonic()
    found = ask(executor_of(tmp_path, script), tmp_path, timeout_seconds=3)
    assert time.monotonic() - started < 6 + ON_A_BUSY_MACHINE
    assert shutdown_of(found) == {"exit_code": 137, "timed_out": True}
    assert ends(int(found.output))


def test_an_agent_that_is_asked_to_end_may_say_last_words(tmp_path: Path) -> None:
    script = """
        def end(*_):
            say(type='text', text='saved'); sys.exit(0)
        signal.signal(signal.SIGTERM, end)
        say(type='text', text='ready'); time.sleep(60)
    """
    assert ask(executor_of(tmp_path, script), tmp_path, timeout_seconds=2).output == "ready\nsaved"


def test_children_that_are_left_behind_end_with_the_turn(tmp_path: Path) -> None:
    found = answer(tmp_path, FORKS)
    assert found.error is None
    assert ends(int(found.output))


def test_a_child_that_holds_the_output_open_does_not_hold_the_turn(tmp_path: Path) -> None:
    script = """
        subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])
        say(type='text', text='hello')
    """
    started = time.monotonic()
    assert answer(tmp_path, script).output == "hello"
    assert time.monotonic() - started < 8 + ON_A_BUSY_MACHINE


def test_an_agent_that_goes_on_after_its_result_is_ended(tmp_path: Path) -> None:
    script = "say(type='result', content='done')\nsay(type='text', text='late')\ntime.sleep(60)"
    started = time.monotonic()
    found = answer(tmp_path, script)
    assert (found.output, found.error) == ("done", None)
    assert time.monotonic() - started < 8 + ON_A_BUSY_MACHINE


def test_an_exit_code_after_the_result_means_nothing(tmp_path: Path) -> None:
    found = answer(tmp_path, "say(type='result', content='done'); sys.exit(7)")
    assert (found.output, found.error) == ("done", None)
    assert shutdown_of(found) == {"exit_code": 7, "timed_out": False}


@pytest.mark.parametrize(
    ("script", "error"),
    [
        ("sys.stderr.write('no credits'); sys.exit(7)", "the agent ended with exit code 7: no credits"),
        ("print('usage: agent'); sys.exit(2)", "the agent ended with exit code 2: usage: agent"),
        ("sys.exit(1)", "the agent ended with exit code 1"),
        ("", "nothing that the agent wrote fits the adapter"),
        ("print('Hello!')", "nothing that the agent wrote fits the adapter; it wrote: Hello!"),
        ("say(type='other')", 'nothing that the agent wrote fits the adapter; it wrote: {"type": "other"}'),
    ],
)
def test_an_agent_that_ends_without_an_answer_says_why(tmp_path: Path, script: str, error: str) -> None:
    assert answer(tmp_path, script).error == error


def test_an_agent_that_fails_half_way_keeps_its_words(tmp_path: Path) -> None:
    found = answer(tmp_path, "say(type='text', text='half'); sys.exit(1)")
    assert (found.output, found.error) == ("half", "the agent ended with exit code 1")


def test_a_program_without_events_fails_by_its_exit_code(tmp_path: Path) -> None:
    text = {"x-waza": {"output_mode": "text"}}
    found = answer(tmp_path, "print('half'); sys.exit(4)", **text)
    assert (found.output, found.error) == ("half", "the agent ended with exit code 4")
    assert answer(tmp_path, "pass", **text).error is None


def test_silence_is_given_up_early(tmp_path: Path) -> None:
    executor = executor_of(tmp_path, "time.sleep(60)")
    found = ask(executor, tmp_path, first_event_timeout_seconds=0.5)
    assert found.error == "the agent wrote nothing within 0.5 seconds"


def test_an_agent_that_began_is_not_silent(tmp_path: Path) -> None:
    script = "say(type='text', text='x')\ntime.sleep(3.2)\nsay(type='result', content='done')"
    found = ask(executor_of(tmp_path, script), tmp_path, first_event_timeout_seconds=3)
    assert (found.output, found.error) == ("done", None)


def test_a_program_that_is_gone_is_told(tmp_path: Path) -> None:
    program = tmp_path / "agent"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    executor = executor_of(tmp_path, command=["./agent"])
    program.unlink()
    with pytest.raises(ExecutorError, match="is gone"):
        ask(executor, tmp_path)


def test_noise_without_end_is_read_and_dropped(tmp_path: Path) -> None:
    script = """
        block = b'x' * 1_000_000
        for _ in range(300): os.write(1, block)
        os.write(1, b'\\n')
        say(type='result', content='done')
    """
    before = psutil.Process().memory_info().rss
    found = ask(executor_of(tmp_path, script), tmp_path, timeout_seconds=300)
    assert (found.output, found.error) == ("done", None)
    assert psutil.Process().memory_info().rss - before < 8 * LONGEST_MESSAGE_BYTES


def test_an_event_that_is_too_long_is_lost_and_told(tmp_path: Path) -> None:
    script = f"""
        say(type='text', text='x' * {LONGEST_MESSAGE_BYTES})
        say(type='result', content='done')
    """
    found = answer(tmp_path, script)
    assert (found.output, found.error) == ("done", "an event of the agent was longer than 16 MB and is lost")


def test_events_without_end_are_stopped_and_what_came_is_kept(tmp_path: Path) -> None:
    script = """
        text = 'x' * 1_000_000
        while True: say(type='text', text=text)
    """
    found = answer(tmp_path, script)
    assert found.error == "the agent wrote more than 64 MB of events; the rest is lost"
    assert 60_000_000 < len(found.output) <= MOST_BYTES


def test_text_without_end_is_stopped(tmp_path: Path) -> None:
    script = "while True: os.write(1, b'x' * 1_000_000)"
    found = answer(tmp_path, script, **{"x-waza": {"output_mode": "text"}})
    assert found.error == "the agent wrote more than 16 MB; the rest is lost"
    assert len(found.output) == LONGEST_MESSAGE_BYTES


def test_cancelling_ends_the_agent_and_keeps_its_words(tmp_path: Path) -> None:
    script = FORKS + "    signal.signal(signal.SIGTERM, signal.SIG_IGN); open('ready', 'w'); time.sleep(60)"
    executor, cancellation = executor_of(tmp_path, script), RunCancellation()
    found: list[ExecutionResponse] = []
    request = ExecutionRequest("Hi", tmp_path, timeout_seconds=30)
    thread = threading.Thread(target=lambda: found.append(executor.execute(request, cancellation)))
    thread.start()
    wait_for(tmp_path / "ready")
    started = time.monotonic()
    cancellation.request()
    thread.join(10 + ON_A_BUSY_MACHINE)
    assert time.monotonic() - started < 3 + ON_A_BUSY_MACHINE
    assert found[0].error == "the run was cancelled"
    assert ends(int(found[0].output))


def test_closing_ends_all_agents_at_the_same_time(tmp_path: Path) -> None:
    script = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nopen(sys.argv[-1], 'w')\ntime.sleep(60)"
    executor = executor_of(tmp_path, script)
    threads = [threading.Thread(target=ask, args=(executor, tmp_path, name)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for name in "abcd":
        wait_for(tmp_path / "workspace" / name)
    started = time.monotonic()
    executor.close()
    executor.close()
    for thread in threads:
        thread.join(10 + ON_A_BUSY_MACHINE)
    assert time.monotonic() - started < 4 + ON_A_BUSY_MACHINE


def test_no_agent_is_started_too_late(tmp_path: Path) -> None:
    executor = executor_of(tmp_path, "open('started', 'w')")
    executor.close()
    with pytest.raises(ExecutorError, match=r"^the run was cancelled$"):
        ask(executor, tmp_path)
    assert not list(tmp_path.rglob("started"))


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 10 + ON_A_BUSY_MACHINE
    while not path.exists():
        assert time.monotonic() < deadline, path
        time.sleep(0.01)
