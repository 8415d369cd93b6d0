"""Every own request refuses ids, names and paths with NUL or half of a surrogate pair, with a sentence."""

from typing import Any, cast

import pytest

from waza_language_server.protocol.feature_table import COMMANDS
from waza_language_server.protocol.own_requests import OWN_REQUESTS
from waza_language_server.protocol.serving import Dispatcher
from waza_language_server.protocol.turns import Turns

BAD = ["a\0b", "\ud800", "/tmp/\udfff::t", "file:///a\ud83d"]


class FakeProtocol:
    """Records answers; no message that is refused gets as far as its handler."""

    is_initialized = True

    def __init__(self) -> None:
        self.answers: list[tuple[int, str]] = []

    def knows(self, method: str) -> bool:
        return bool(method)

    def answer(self, identifier: object, code: int, reason: str) -> None:
        del identifier
        self.answers.append((code, reason))


class FakeInbox:
    def is_cancelled(self, identifier: object) -> bool:
        del identifier
        return False


def refusal(method: str, params: Any) -> str:
    protocol = FakeProtocol()
    dispatcher = Dispatcher(cast("Any", protocol), cast("Any", FakeInbox()), Turns(), lambda: None)
    dispatcher.handle({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    [(code, reason)] = protocol.answers
    assert code == -32602
    return reason


@pytest.mark.parametrize("method", sorted(OWN_REQUESTS))
@pytest.mark.parametrize("text", BAD, ids=ascii)
def test_an_own_request_refuses_text_that_can_name_nothing(method: str, text: str) -> None:
    for params in ({"id": text}, {"textDocument": {"uri": text}}, {"id": "/a", "results": [text]}, [text]):
        assert refusal(method, params).endswith("; leave it out.")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("text", BAD, ids=ascii)
def test_a_command_refuses_text_that_can_name_nothing(command: str, text: str) -> None:
    for argument in (text, {"id": text}, {"suite": "/a", "tasks": [text]}, {"options": {"model": text}}):
        said = refusal("workspace/executeCommand", {"command": command, "arguments": [argument]})
        assert said.endswith("; leave it out.")


def test_a_command_whose_name_is_no_name_is_refused() -> None:
    said = refusal("workspace/executeCommand", {"command": "waza.run\0", "arguments": []})
    assert said == "`command` contains a NUL character; leave it out."
