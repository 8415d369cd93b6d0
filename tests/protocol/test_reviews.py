"""The lens of an answer that waits for a person, and the command behind it."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.engine.suites import run, task, write_suite
from tests.protocol.editor import Editor, is_told_to_ask_again
from tests.protocol.workspace import opened

pytestmark = pytest.mark.check

GRADERS = """\
- {type: human, name: expert, config: {instructions: Look twice}}
- {type: text, name: speaks, config: {contains: [mock]}}
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A suite of which two answers wait."""
    path = write_suite(tmp_path, {"a": task("a"), "b": task("b")}, graders=GRADERS)
    run(path)
    return path


async def reviewable(editor: Editor, uri: str) -> list[str]:
    """Return the ids of what has a lens for reviews."""
    lenses = [lens.command for lens in await editor.lenses(uri)]
    found = [each.arguments[0] for each in lenses if each and each.title == "◷ Review" and each.arguments]
    return [str(dict(argument or {})["id"]).rpartition("eval.yaml")[2] for argument in found]


def choose(editor: Editor, titles: list[str | None]) -> list[str]:
    """Answer questions with these titles, one after the other; return what is asked."""
    asked: list[str] = []

    def answer(params: types.ShowMessageRequestParams) -> types.MessageActionItem | None:
        asked.append(params.message)
        title = titles.pop(0)
        return None if title is None else types.MessageActionItem(title)

    editor.feature(types.WINDOW_SHOW_MESSAGE_REQUEST)(partial(answer))
    return asked


async def reviewed(editor: Editor, **argument: Any) -> Any:
    return await editor.workspace_execute_command_async(types.ExecuteCommandParams("waza.review", [argument]))


async def test_what_waits_has_a_lens_until_it_is_reviewed(suite: Path) -> None:
    async with opened(suite, limit=is_told_to_ask_again) as (editor, uri):
        assert await reviewable(editor, uri) == ["", "::::expert"]
        waits = await editor.ask("waza/reviews", id=str(suite))
        assert [(item["task"], item["trial"], item["instructions"]) for item in waits] == [
            ("a", 1, "Look twice"),
            ("b", 1, "Look twice"),
        ]
        for item, passed in zip(waits, (True, False), strict=True):
            said = {"id": item["id"], "trial": item["trial"], "results": item["results"], "comment": ""}
            assert (await reviewed(editor, **said, passed=passed))["item"]["passed"] is passed
        assert await reviewable(editor, uri) == []
    lines = (suite.parent / "reviews.jsonl").read_text("utf-8").splitlines()
    assert [(line["task"], line["passed"]) for line in map(json.loads, lines)] == [("a", True), ("b", False)]


async def test_an_editor_that_says_no_verdict_is_asked(suite: Path) -> None:
    async with opened(suite, limit=is_told_to_ask_again) as (editor, _):
        asked = choose(editor, ["Failed", None])
        found = await reviewed(editor, id=f"{suite}::a")
        assert (found["item"]["task"], found["item"]["passed"]) == ("a", False)
        assert await reviewed(editor, id=str(suite)) == {"item": None}
        assert [text.partition(":")[0] for text in asked] == ["a, trial 1, expert", "b, trial 1, expert"]
        with pytest.raises(JsonRpcException, match="Nothing waits for a review there"):
            await reviewed(editor, id=f"{suite}::a")


async def test_a_comment_without_a_verdict_and_an_untrusted_folder_are_refused(suite: Path) -> None:
    async with opened(suite, limit=is_told_to_ask_again, options={"trusted": False}) as (editor, _):
        with pytest.raises(JsonRpcException, match="needs `passed`"):
            await reviewed(editor, id=str(suite), comment="good")
        with pytest.raises(JsonRpcException, match="trust it first"):
            await reviewed(editor, id=f"{suite}::a", passed=True)
    assert not (suite.parent / "reviews.jsonl").exists()
