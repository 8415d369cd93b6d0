"""The scripted model of the tests speaks as OpenAI's servers do."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import openai
import pytest

from tests.conftest import StartModel
from tests.scripted_model import Answer, Cut, RateLimited, ScriptedModel, Tokens, call

QUESTION: list[Any] = [{"role": "user", "content": "hello"}]


def client_of(model: ScriptedModel, retries: int = 0) -> openai.OpenAI:
    return openai.OpenAI(base_url=model.base_url, api_key="key", max_retries=retries, timeout=60)


def test_plays_its_script_in_order_and_notes_the_requests(scripted_model: StartModel) -> None:
    model = scripted_model(call("skill", skill="explain"), Answer("done", usage=Tokens(7, 3, cached=2)))
    client = client_of(model)

    first = client.chat.completions.create(model="any", messages=QUESTION)
    second = client.chat.completions.create(model="any", messages=QUESTION)

    made: Any = (first.choices[0].message.tool_calls or [])[0]
    assert (made.function.name, json.loads(made.function.arguments)) == ("skill", {"skill": "explain"})
    assert second.choices[0].message.content == "done"
    assert second.usage is not None
    assert (second.usage.prompt_tokens, second.usage.completion_tokens) == (7, 3)
    assert [request.prompt for request in model.requests] == ["hello", "hello"]


def test_streams_when_asked(scripted_model: StartModel) -> None:
    model = scripted_model(Answer("a text longer than one piece", calls=[call("view", path="a.txt")]))

    with client_of(model).chat.completions.stream(
        model="any", messages=QUESTION, stream_options={"include_usage": True}
    ) as stream:
        completion = stream.get_final_completion()

    message = completion.choices[0].message
    assert message.content == "a text longer than one piece"
    assert [made.function.arguments for made in message.tool_calls or ()] == ['{"path": "a.txt"}']
    assert completion.usage is not None


def test_answers_by_a_function_in_parallel(scripted_model: StartModel) -> None:
    model = scripted_model(lambda request: request.prompt.upper())

    def ask(text: str) -> str | None:
        messages: list[Any] = [{"role": "user", "content": text}]
        answer = client_of(model).chat.completions.create(model="any", messages=messages)
        return answer.choices[0].message.content

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, "abcdefgh")) == list("ABCDEFGH")


def test_lists_its_models(scripted_model: StartModel) -> None:
    assert [found.id for found in client_of(scripted_model("x")).models.list()] == ["scripted-model"]


def test_fails_on_demand(scripted_model: StartModel) -> None:
    client = client_of(scripted_model(RateLimited(3), Cut(), Cut(in_body=True)))

    with pytest.raises(openai.RateLimitError) as limited:
        client.chat.completions.create(model="any", messages=QUESTION)
    with pytest.raises(openai.APIConnectionError):
        client.chat.completions.create(model="any", messages=QUESTION)
    with pytest.raises(openai.APIConnectionError):
        client.chat.completions.create(model="any", messages=QUESTION)

    assert limited.value.response.headers["retry-after"] == "3"


def test_a_script_that_is_over_is_an_error_that_no_client_tries_again(scripted_model: StartModel) -> None:
    model = scripted_model()

    with pytest.raises(openai.BadRequestError, match="no more answers"):
        client_of(model, retries=2).chat.completions.create(model="any", messages=QUESTION)
    assert len(model.requests) == 1
