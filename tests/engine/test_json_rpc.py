"""Both sides of JSON-RPC: results, refusals, and messages that nothing waits for."""

from typing import Any

import pytest

from waza_engine.json_rpc import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, Endpoint, RpcError


def refuse(params: Any) -> None:
    raise RpcError("not that", INVALID_PARAMS, params)


def fail(_: Any) -> None:
    raise OSError("gone")


def echo(params: Any) -> Any:
    return params


def later(params: Any) -> Any:
    return lambda: params


METHODS = {"echo": echo, "later": later, "refuse": refuse, "fail": fail}


def pair() -> tuple[Endpoint, Endpoint, list[dict[str, Any]]]:
    """Return a client, its server, and what the server sends."""
    sent: list[dict[str, Any]] = []
    client: Endpoint
    server = Endpoint(METHODS, lambda message: (sent.append(message), client.consume(message)))
    client = Endpoint({}, server.consume)
    return client, server, sent


@pytest.mark.parametrize("method", ["echo", "later"])
@pytest.mark.parametrize("value", [{"a": 1}, {"error": "one key of a result"}, [], None])
def test_a_request_gets_its_result(method: str, value: object) -> None:
    client, server, _ = pair()
    assert client.request(method, value).result(60) == value
    server.shutdown()


@pytest.mark.parametrize(
    ("method", "code", "message"),
    [
        ("refuse", INVALID_PARAMS, "not that"),
        ("fail", INTERNAL_ERROR, "OSError: gone"),
        ("none", METHOD_NOT_FOUND, "There is no method none."),
    ],
)
def test_a_refused_request_gets_code_and_reason(method: str, code: int, message: str) -> None:
    client, _, _ = pair()
    with pytest.raises(RpcError) as refused:
        client.request(method, {"a": 1}).result(60)
    assert (refused.value.code, refused.value.message) == (code, message)
    assert refused.value.data == ({"a": 1} if method == "refuse" else None)


@pytest.mark.parametrize(
    "message",
    [
        {"method": "echo"},
        {"jsonrpc": "1.0", "id": 1, "method": "echo"},
        {"jsonrpc": "2.0", "id": 1, "method": 3},
        {"jsonrpc": "2.0", "method": "none"},
        {"jsonrpc": "2.0", "method": "fail"},
        {"jsonrpc": "2.0", "id": "9", "result": 1},
        {"jsonrpc": "2.0", "id": ["a"], "result": 1},
        {"jsonrpc": "2.0"},
    ],
)
def test_a_message_that_expects_no_answer_gets_none(message: dict[str, Any]) -> None:
    _, server, sent = pair()
    server.consume(message)
    assert sent == []


def test_an_error_without_its_parts_is_an_error() -> None:
    client = Endpoint({}, lambda _: None)
    answer = client.request("echo")
    client.consume({"jsonrpc": "2.0", "id": "1", "error": "odd"})
    with pytest.raises(RpcError, match="odd"):
        answer.result(60)
