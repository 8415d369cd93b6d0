"""What a model costs, told by the real engine: on hover, and beside the models that are offered."""

from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.protocol.editor import Editor, editing, write_suite

pytestmark = pytest.mark.check

SUITE = "name: a\nskill: a\nconfig:\n  model: gpt-4o\ntasks: ['tasks/*.yaml']\n"


async def hovered(editor: Editor, uri: str) -> str:
    found = await editor.hover(uri, 3, 11)
    return found.contents.value if found and isinstance(found.contents, types.MarkupContent) else ""


async def test_a_model_says_its_list_price_and_its_context_once_the_engine_has_told(tmp_path: Path) -> None:
    async with editing(tmp_path) as editor:
        uri = editor.open(write_suite(tmp_path, SUITE))
        said = await hovered(editor, uri)
        assert said == "The price of the model is being looked up."
        while said == "The price of the model is being looked up.":
            said = await hovered(editor, uri)
        assert said == (
            "**Model `gpt-4o`**: `gpt 4o` of `OpenAI`\n\n"
            "List price: $2.5 in · $10 out a million tokens.\n\n"
            "Context: 128,000 tokens."
        )


async def test_models_are_offered_with_their_prices(tmp_path: Path) -> None:
    async with editing(tmp_path) as editor:
        uri = editor.open(write_suite(tmp_path, SUITE.replace(" gpt-4o", " ")))

        async def offered() -> dict[str, str | None]:
            return {item.label: item.detail for item in await editor.complete(uri, 3, 9)}

        while "gpt-4o" not in (found := await offered()):
            pass
        assert found["gpt-4o"] == "$2.5 in · $10 out a million tokens"


async def test_a_client_that_lets_a_model_be_chosen_is_told_those_of_the_suite_first(tmp_path: Path) -> None:
    suite = tmp_path / "evals" / "a" / "eval.yaml"
    suite.parent.mkdir(parents=True)
    suite.write_text(SUITE.replace("gpt-4o", "our-own-model"), "utf-8")
    async with editing(tmp_path) as editor:
        asked = {"id": f"{suite.as_posix()}::::some grader"}
        told = await editor.protocol.send_request_async("waza/models", asked)
        with pytest.raises(JsonRpcException, match="must be that of a suite"):
            await editor.ask("waza/models", id="")
    assert told[0] == {"name": "our-own-model", "words": "used in this project"}
    assert {"name": "gpt-4o", "words": "$2.5 in · $10 out a million tokens"} in told
    assert len({each["name"] for each in told}) == len(told)
