"""Runs as the server sees them, against an engine that misbehaves on demand."""

import asyncio
import gc
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.patience import ON_A_BUSY_MACHINE, has_ended
from waza_language_server.engine.process import EngineProcess
from waza_language_server.engine.runs import Event, Run, RunOutcome, RunProgress, Runs, advanced
from waza_language_server.project.runnable_id import RunnableId

pytestmark = pytest.mark.check

FAKE_ENGINE = Path(__file__).parent / "fake_engine.py"
SUITES = Path("/suites")


@pytest.fixture
async def runs() -> AsyncIterator[Runs]:
    runs = _runs(sys.executable, str(FAKE_ENGINE))
    yield runs
    await runs.close()


def _runs(interpreter: str, *arguments: str, on_change: Callable[[Run], None] = lambda _run: None) -> Runs:
    return Runs(interpreter, on_change=on_change, arguments=arguments)


@pytest.fixture
async def one_at_once() -> AsyncIterator[tuple[Runs, list[Event]]]:
    told: list[Event] = []
    runs = Runs(
        sys.executable,
        on_change=lambda _run: None,
        on_event=lambda run, event: told.append({**event, "tokens": list(run.tokens)}),
        arguments=(str(FAKE_ENGINE),),
        most_at_once=1,
    )
    yield runs, told
    await runs.close()


def suite(behaviour: str, grader: str | None = None) -> RunnableId:
    return RunnableId(SUITES / behaviour / "eval.yaml", None, grader)


def engines() -> list[psutil.Process]:
    found: list[psutil.Process] = []
    for child in psutil.Process().children():
        with suppress(psutil.Error):
            found += [child] if str(FAKE_ENGINE) in child.cmdline() else []
    return found


def the_engine() -> psutil.Process:
    (found,) = engines()
    return found


def ignore(_progress: RunProgress) -> None:
    pass


async def until(condition: Callable[[], object], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


async def test_a_run_ends_with_its_status_and_results(runs: Runs) -> None:
    assert await runs.run(suite("completes"), ignore) == RunOutcome("completed", "results.json")


async def test_events_become_progress(runs: Runs) -> None:
    seen: list[RunProgress] = []
    await runs.run(suite("completes", "length"), seen.append)
    assert seen[-1] == RunProgress(1, 2, "one · length · 0.50")
    assert seen[-1].percentage == 50


def test_a_trigger_prompt_that_is_tried_is_told_in_one_short_line() -> None:
    prompt = "Write a text\nabout everything that there is to be said of it now"
    began = advanced(RunProgress(1, 1, "one · passed"), {"kind": "started", "prompt": prompt})
    assert began == RunProgress(1, 1, "Write a text about everything that there is to be said of …")
    assert advanced(began, {"kind": "tried", "prompt": prompt, "status": "passed"}) == began


async def test_events_that_overtake_the_answer_are_kept(runs: Runs) -> None:
    assert (await runs.run(suite("events_first"), ignore)).status == "completed"


async def test_a_refused_run_is_an_error_in_the_engines_words(runs: Runs) -> None:
    assert await runs.run(suite("refuses"), ignore) == RunOutcome("error", message="There is no such suite.")


async def test_a_dying_engine_ends_its_runs_with_its_last_words(runs: Runs) -> None:
    outcome = await runs.run(suite("dies"), ignore)
    assert outcome.status == "error"
    assert outcome.message == "The engine stopped unexpectedly (exit code 3): MemoryError: out of memory."


async def test_an_engine_that_dies_with_its_answer_ends_its_run(runs: Runs, tmp_path: Path) -> None:
    folder = tmp_path / "dies_when_told"
    folder.mkdir()
    running = asyncio.create_task(runs.run(RunnableId(folder / "eval.yaml", None, None), ignore))
    await until((folder / "asked").exists)
    (folder / "told").touch()
    # The loop is busy until the engine is gone, and learns of the answer and of the end at once.
    while engines():
        time.sleep(0.01)  # noqa: ASYNC251
    time.sleep(0.3)  # noqa: ASYNC251
    outcome = await asyncio.wait_for(running, 60)
    assert outcome.message == "The engine stopped unexpectedly (exit code 3): MemoryError: out of memory."


@pytest.mark.skipif(sys.platform == "win32", reason="open files are counted by descriptors")
async def test_engines_that_have_ended_leave_nothing_open_and_no_garbage(runs: Runs) -> None:
    waits = asyncio.create_task(runs.run(suite("waits"), ignore))
    await until(lambda: runs.active and runs.active[0].run_id)
    gc.collect()
    gc.disable()
    try:
        before = psutil.Process().num_fds()
        for _ in range(3):
            await runs.run(suite("completes"), ignore)
        await until(lambda: psutil.Process().num_fds() <= before)
        await until(lambda: sum(isinstance(each, EngineProcess) for each in gc.get_objects()) == 1)
    finally:
        gc.enable()
    await runs.cancel(runs.active[0])
    await waits


async def test_runs_at_the_same_time_have_an_engine_each_and_a_killed_one_ends_its_own(runs: Runs) -> None:
    first = asyncio.create_task(runs.run(suite("waits"), ignore))
    second = asyncio.create_task(runs.run(suite("waits", "g"), ignore))
    await until(lambda: len(runs.active) == 2 and all(run.run_id for run in runs.active))
    ends, goes_on = runs.active
    assert len(engines()) == 2
    assert ends.engine is not None
    psutil.Process(ends.engine.pid).kill()
    assert (await first).status == "error"
    assert runs.active == (goes_on,)
    await runs.cancel(goes_on)
    assert (await second).status == "canceled"


async def test_what_was_started_for_a_run_beside_another_ends_with_it(runs: Runs) -> None:
    waits = asyncio.create_task(runs.run(suite("waits"), ignore))
    await until(lambda: runs.active and runs.active[0].run_id)
    stays = the_engine()
    assert (await runs.run(suite("completes"), ignore)).status == "completed"
    await until(lambda: engines() == [stays])
    await runs.cancel(runs.active[0])
    await waits
    assert (await runs.run(suite("completes"), ignore)).status == "completed"
    assert engines() == [stays]


async def test_too_many_runs_wait_for_their_turn_and_say_so(one_at_once: tuple[Runs, list[Event]]) -> None:
    runs, told = one_at_once
    first = asyncio.create_task(runs.run(suite("waits"), ignore))
    await until(lambda: runs.active and runs.active[0].run_id)
    progress: list[RunProgress] = []
    second = asyncio.create_task(runs.run(suite("completes"), progress.append))
    await until(lambda: progress)
    words = "waits for one of 1 other run to end"
    assert progress == [RunProgress(0, 0, words)]
    assert [event["message"] for event in told if event["kind"] == "waits"] == [words]
    assert len(engines()) == 1
    await runs.cancel(runs.active[0])
    assert (await first).status == "canceled"
    assert (await second).status == "completed"


async def test_a_waiting_run_is_cancelled_without_an_engine(one_at_once: tuple[Runs, list[Event]]) -> None:
    runs, _ = one_at_once
    first = asyncio.create_task(runs.run(suite("waits"), ignore))
    await until(lambda: runs.active and runs.active[0].run_id)
    second = asyncio.create_task(runs.run(suite("completes"), ignore))
    await until(lambda: len(runs.active) == 2 and runs.active[1].waits)
    await runs.cancel(runs.active[1])
    assert (await second).status == "canceled"
    assert not first.done()
    third = asyncio.create_task(runs.run(suite("completes"), ignore))
    await until(lambda: len(runs.active) == 2 and runs.active[1].waits)
    await runs.cancel(runs.active[0])
    await first
    assert (await third).status == "completed"


async def test_who_joins_a_run_hears_it_with_an_own_token(one_at_once: tuple[Runs, list[Event]]) -> None:
    runs, told = one_at_once
    first = asyncio.create_task(runs.run(suite("waits"), ignore, token="first"))
    await until(lambda: told)
    joined = asyncio.create_task(runs.run(suite("waits"), ignore, token="second"))
    again = asyncio.create_task(runs.run(suite("waits"), ignore, token="second"))
    await until(lambda: len(runs.active[0].listeners) == 3)
    assert len(runs.active) == 1
    await runs.cancel(runs.active[0])
    await asyncio.gather(first, joined, again)
    assert told[0]["tokens"] == ["first"]
    assert told[-1]["kind"] == "ended"
    assert told[-1]["tokens"] == ["first", "second"]


async def test_an_engine_that_ignores_the_cancel_ends_no_other_run(runs: Runs) -> None:
    waits = asyncio.create_task(runs.run(suite("waits"), ignore))
    deaf = asyncio.create_task(runs.run(suite("deaf"), ignore))
    await until(lambda: len(runs.active) == 2 and all(run.run_id for run in runs.active))
    goes_on, ignores = runs.active
    await runs.cancel(ignores)
    assert (await deaf).status == "canceled"
    assert runs.active == (goes_on,)
    assert not waits.done()
    await runs.cancel(goes_on)
    await waits


async def test_the_same_target_with_other_options_is_a_run_of_its_own(runs: Runs) -> None:
    of_two = asyncio.create_task(runs.run(suite("waits"), ignore, {"trials": 2}))
    of_five = asyncio.create_task(runs.run(suite("waits"), ignore, {"trials": 5}))
    await until(lambda: len(runs.active) == 2 and all(run.run_id for run in runs.active))
    await runs.cancel(runs.active[0])
    assert (await of_two).status == "canceled"
    assert [run.options for run in runs.active] == [{"trials": 5}]
    await runs.cancel(runs.active[0])
    assert (await of_five).status == "canceled"


async def test_who_follows_a_run_hears_its_end_when_its_engine_is_killed() -> None:
    told: list[tuple[Run, Event]] = []
    runs = Runs(
        sys.executable,
        on_change=lambda _run: None,
        on_event=lambda run, event: told.append((run, event)),
        arguments=(str(FAKE_ENGINE),),
    )
    try:
        running = asyncio.create_task(runs.run(suite("waits"), ignore))
        await until(lambda: runs.active and runs.active[0].run_id)
        the_engine().kill()
        outcome = await running
        ends = [event for _, event in told if event["kind"] == "ended"]
        assert [(end["status"], end["conclusion"]["verdict"]) for end in ends] == [("error", "interrupted")]
        assert str(outcome.message).startswith("The engine stopped unexpectedly (exit code ")
        (reason,) = ends[0]["conclusion"]["reasons"]
        assert reason.startswith("the run was interrupted: the engine stopped unexpectedly (exit code ")
        assert reason.endswith("; what was finished is kept")
        await runs.run(suite("completes"), ignore)
        assert [event["status"] for _, event in told if event["kind"] == "ended"] == ["error", "completed"]
    finally:
        await runs.close()


async def test_cancelling_the_caller_cancels_the_run(runs: Runs) -> None:
    running = asyncio.create_task(runs.run(suite("waits"), ignore))
    await until(lambda: runs.active and runs.active[0].run_id)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert runs.active == ()


async def test_an_engine_that_ignores_the_cancel_is_killed_with_all_it_started(runs: Runs) -> None:
    seen: list[RunProgress] = []
    running = asyncio.create_task(runs.run(suite("deaf"), seen.append))
    await until(lambda: any(engine.children(recursive=True) for engine in engines()))
    family = [the_engine(), *the_engine().children(recursive=True)]
    started = time.monotonic()
    await runs.cancel(runs.active[0])
    assert (await running).status == "canceled"
    assert time.monotonic() - started < 2 + ON_A_BUSY_MACHINE
    await until(lambda: all(has_ended(process) for process in family), seconds=1 + ON_A_BUSY_MACHINE)


async def test_listeners_hear_of_the_start_and_the_end() -> None:
    active: list[int] = []
    runs = _runs(sys.executable, str(FAKE_ENGINE), on_change=lambda _run: active.append(len(runs.active)))
    await runs.run(suite("completes"), ignore)
    assert active == [1, 0]
    await runs.close()


async def test_an_interpreter_that_does_not_exist_is_named(tmp_path: Path) -> None:
    runs = _runs(str(tmp_path / "python"))
    outcome = await runs.run(suite("completes"), ignore)
    assert outcome == RunOutcome(
        "error",
        message=f"The Python interpreter {tmp_path / 'python'} cannot be started: No such file or directory.",
    )


async def test_an_interpreter_without_the_engine_says_what_to_install() -> None:
    runs = _runs(sys.executable, "-I", "-S", "-m", "waza_engine", "serve")
    outcome = await runs.run(suite("completes"), ignore)
    assert outcome.message == (
        f"{sys.executable} has no waza engine; "
        "install waza-language-server there or choose another interpreter."
    )
