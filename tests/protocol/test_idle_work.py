"""What is done while nobody asks for anything makes room for all else, and never decides what is true."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

from tests.hostile.repository import dense_results
from tests.protocol.editor import editing, is_told_to_ask_again, write_suite
from tests.protocol.workspace import opened
from tests.server.features.results import grade, write_results
from waza_engine.steps import Steps
from waza_language_server.protocol.services.idle import IdleWork

pytestmark = pytest.mark.check

SUITE = """\
name: explains
skill: explainer
config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}
tasks: ["tasks/*.yaml"]
graders:
  - type: text
    name: greets
    config: {contains: [hello]}
"""
TASK = "id: one\nname: One\ninputs:\n  prompt: Say hello\n"


def endless(done: list[str], name: str) -> Steps[None]:
    while True:
        done.append(name)
        yield


def short(done: list[str], name: str) -> Steps[None]:
    done.append(name)
    yield


async def some_time() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_it_is_done_in_the_order_in_which_it_came() -> None:
    idle, done = IdleWork(quiet_seconds=0), list[str]()
    for name in ("a", "b", "c"):
        idle.add(name, lambda name=name: short(done, name))
    await some_time()
    assert done == ["a", "b", "c"]


async def test_what_waits_is_replaced_by_what_has_the_same_name() -> None:
    idle, done = IdleWork(quiet_seconds=0), list[str]()
    idle.add("a", lambda: short(done, "old"))
    idle.add("a", lambda: short(done, "new"))
    await some_time()
    assert done == ["new"]


async def test_nothing_is_done_while_something_else_is() -> None:
    idle, done = IdleWork(quiet_seconds=0), list[str]()
    idle.add("a", lambda: endless(done, "a"))
    for _ in range(10):
        idle.disturb()
        await asyncio.sleep(0)
    before = len(done)
    for _ in range(10):
        idle.disturb()
        await asyncio.sleep(0)
    assert len(done) == before
    await some_time()
    assert len(done) > before
    idle.end()


async def test_nothing_is_begun_before_it_was_quiet_for_a_moment() -> None:
    idle, done = IdleWork(quiet_seconds=60, patience_seconds=120), list[str]()
    idle.add("a", lambda: short(done, "a"))
    await some_time()
    assert done == []
    idle.end()


async def test_who_asks_again_and_again_does_not_keep_it_away() -> None:
    idle, done = IdleWork(quiet_seconds=0.01, patience_seconds=0.02), list[str]()
    idle.add("a", lambda: short(done, "a"))
    while not done:
        idle.disturb()
        await asyncio.sleep(0.002)
    idle.end()


async def test_what_goes_wrong_is_logged_and_the_rest_is_done(caplog: pytest.LogCaptureFixture) -> None:
    def broken() -> Steps[None]:
        yield
        raise ValueError("broken")

    idle, done = IdleWork(quiet_seconds=0), list[str]()
    idle.add("a", broken)
    idle.add("b", lambda: short(done, "b"))
    with caplog.at_level(logging.ERROR):
        await some_time()
    assert done == ["b"]
    assert "broken" in caplog.text


async def test_after_the_end_nothing_is_begun() -> None:
    idle, done = IdleWork(quiet_seconds=0), list[str]()
    idle.add("a", lambda: endless(done, "a"))
    await some_time()
    idle.end()
    before = len(done)
    idle.add("b", lambda: short(done, "b"))
    await some_time()
    assert len(done) == before


@pytest.fixture
def long_results(tmp_path: Path) -> Path:
    """A suite of which a few scores stand among results that take long to read."""
    suite = write_suite(tmp_path, SUITE, one=TASK)
    dense_results(tmp_path, tmp_path)
    suite.write_text(SUITE, "utf-8")
    write_results(suite, {"one": [[grade("greets", 1.0)]]})
    return suite


async def test_hints_that_take_long_come_when_they_are_known(long_results: Path) -> None:
    async with opened(long_results, limit=is_told_to_ask_again) as (editor, uri):
        assert await editor.hints(uri) == []
        await editor.until(lambda: editor.refreshed["inlay hints"])
        assert "✓" in str((await editor.hints(uri))[0].label)


async def test_a_client_that_cannot_be_told_waits_for_them(long_results: Path) -> None:
    async with editing(long_results.parent) as editor:
        assert "✓" in str((await editor.hints(editor.open(long_results)))[0].label)


async def test_a_hover_that_comes_before_they_are_known_says_so(long_results: Path) -> None:
    async with opened(long_results) as (editor, uri):
        told = [str(await editor.hover(uri, 6, 12))]
        while "still being read" in told[-1]:
            await asyncio.sleep(0.05)
            told.append(str(await editor.hover(uri, 6, 12)))
    assert "✓ 1.00" in told[-1]
    assert len(told) > 1
