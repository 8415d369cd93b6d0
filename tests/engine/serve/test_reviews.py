"""The methods by which an editor lists what waits for a person, and records what the person says."""

from pathlib import Path
from typing import Any

import pytest

from tests.engine.serve.client import Engine
from tests.engine.suites import run, task, write_suite
from waza_engine.commands.parameters import INVALID_PARAMS

pytestmark = pytest.mark.smoke

HUMAN = "- {type: human, name: expert, config: {instructions: Look twice}}\n"


@pytest.fixture
def suite(tmp_path: Path) -> str:
    """A suite of which two answers wait."""
    path = write_suite(tmp_path, {"a": task("a"), "b": task("b")}, graders=HUMAN)
    run(path)
    return str(path)


def waiting(engine: Engine, suite: str, **which: Any) -> list[tuple[str, int, str]]:
    items = engine.request("review.list", path=suite, **which)["result"]["items"]
    return [(item["task"], item["trial"], item["instructions"]) for item in items]


def test_what_is_reviewed_does_not_wait_any_more(engine: Engine, suite: str) -> None:
    assert waiting(engine, suite) == [("a", 1, "Look twice"), ("b", 1, "Look twice")]
    assert waiting(engine, suite, task="b", grader="expert") == [("b", 1, "Look twice")]
    given = {"task": "a", "grader": "expert", "passed": False, "comment": "too short"}
    said = engine.request("review.add", path=suite, **given)["result"]
    assert (said["item"]["pending"], said["item"]["passed"], said["item"]["comments"]) == (
        False,
        False,
        "too short",
    )
    assert Path(said["file"]).name == "reviews.jsonl"
    assert waiting(engine, suite) == [("b", 1, "Look twice")]


@pytest.mark.parametrize(
    ("params", "why"),
    [
        ({"passed": True}, "2 verdicts fit"),
        ({"task": "a"}, "`passed` must be given"),
        ({"task": "a", "passed": True, "score": 2}, "between 0 and 1"),
        ({"task": "nobody", "passed": True}, "Nothing waits"),
    ],
)
def test_what_cannot_be_recorded_is_refused(
    engine: Engine, suite: str, params: dict[str, Any], why: str
) -> None:
    error = engine.request("review.add", path=suite, **params)["error"]
    assert (error["code"], why in error["message"]) == (INVALID_PARAMS, True), error
    assert len(waiting(engine, suite)) == 2
