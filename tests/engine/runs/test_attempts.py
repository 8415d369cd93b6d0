import time
from pathlib import Path

import pytest

from tests.engine.runs.agents import Agent, scripted, tried
from tests.engine.suites import config_with, task, write_suite
from waza_engine.executors.base import ExecutorError
from waza_engine.runs.trials import attempts

GOOD = "- {type: text, name: good, config: {contains: [good]}}\n"


def suite(directory: Path, most_attempts: int) -> Path:
    config = config_with(f"max_attempts: {most_attempts}")
    return write_suite(directory, {"a": task("a")}, config=config, graders=GOOD)


def rate_limit() -> ExecutorError:
    return ExecutorError("too many requests", transient=True)


def test_a_failed_trial_is_tried_again_at_once_in_a_fresh_workspace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = Agent(scripted("bad", "bad", "good"))
    pauses: list[float] = []

    def pause(seconds: float, _: object) -> None:
        pauses.append(seconds)

    monkeypatch.setattr(attempts, "_pause", pause)
    outcome = tried(suite(tmp_path, 5), agent)
    assert (outcome.status, outcome.attempts) == ("passed", 3)
    assert pauses == [0.0, 0.0]
    assert len({request.workspace for request in agent.requests}) == 3


def test_an_error_that_may_go_away_is_tried_again_after_a_pause(tmp_path: Path) -> None:
    started = time.monotonic()
    outcome = tried(suite(tmp_path, 2), Agent(scripted(rate_limit(), "good")))
    assert (outcome.status, outcome.attempts) == ("passed", 2)
    assert time.monotonic() - started >= 0.5


def test_the_last_attempt_counts(tmp_path: Path) -> None:
    outcome = tried(suite(tmp_path, 2), Agent(scripted("bad", rate_limit())))
    assert (outcome.status, outcome.attempts, outcome.error) == ("error", 2, "too many requests")


@pytest.mark.parametrize("attempts", [0, 1])
def test_without_further_attempts_the_first_counts(tmp_path: Path, attempts: int) -> None:
    outcome = tried(suite(tmp_path, attempts), Agent(scripted(rate_limit())))
    assert (outcome.status, outcome.attempts) == ("error", 1)


@pytest.mark.parametrize("error", [ExecutorError("no key"), RuntimeError("a defect")])
def test_an_error_that_stays_is_not_tried_again(tmp_path: Path, error: Exception) -> None:
    agent = Agent(scripted(error))
    assert (tried(suite(tmp_path, 3), agent).attempts, len(agent.requests)) == (1, 1)


def test_a_follow_up_that_meets_a_rate_limit_starts_the_trial_anew(tmp_path: Path) -> None:
    agent = Agent(scripted("good", rate_limit(), "good", "good"))
    path = suite(tmp_path, 2)
    (tmp_path / "tasks" / "a.yaml").write_text("id: a\ninputs: {prompt: one, follow_up_prompts: [two]}\n")
    outcome = tried(path, agent)
    assert (outcome.status, outcome.attempts) == ("passed", 2)
    assert [request.prompt for request in agent.requests] == ["one", "two", "one", "two"]
