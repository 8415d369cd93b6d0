"""A model's server that sends too much, too slowly, or somebody else's address costs one plain sentence."""

import asyncio
import gzip
import itertools
import socket
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from tests.conftest import StartModel
from tests.engine.executors.talking import Talk, ask, openai_executor
from tests.hostile_peers import JSON, STREAM, HostilePeer, bomb, event, hostile_peer, without_end
from tests.scripted_model import Answer, Status, call
from waza_engine.executors import openai as executor_module
from waza_engine.executors.chat.chat_requests import MOST_CALLS
from waza_engine.executors.executor import ExecutorError
from waza_engine.peers import bounds

MOST, LONGEST = 200_000, 50_000
PACKED = (
    "HTTP/1.1 {} X\r\nContent-Type: application/json\r\nContent-Encoding: {}\r\nConnection: close\r\n\r\n"
)
COMPLETION = b'{"choices": [{"message": {"content": "fine"}}], "usage": {"prompt_tokens": 1}}'
TOO_LONG, TOO_MUCH = (
    "sent more than 0.05 MB; the rest was not read",
    "sent more than 0.2 MB; the rest was not read",
)
TOO_LONG_MESSAGE = "sent a message of more than 0.05 MB; the rest was not read"


@pytest.fixture(autouse=True)
def small_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MOST_BYTES", MOST)
    monkeypatch.setattr(bounds, "LONGEST_MESSAGE_BYTES", LONGEST)


def failure(peer: HostilePeer, workspace: Path) -> str:
    """Return what a turn fails with, without the name of the peer."""
    with openai_executor(f"{peer.url}/v1") as executor:
        try:
            said = ask(executor, "Hello", workspace).error or ""
        except ExecutorError as error:
            said = f"{error}{' (transient)' if error.transient else ''}"
    return said.removeprefix(f"`{peer.url.removeprefix('http://')}` ")


def packed(encoding: str, body: bytes, status: int = 200) -> list[bytes]:
    return [PACKED.format(status, encoding).encode(), body]


@pytest.mark.parametrize(
    ("respond", "said"),
    [
        (lambda: without_end(STREAM, event("y" * 900)), TOO_MUCH),
        (lambda: without_end(STREAM, b": nothing to say\n\n" * 100), TOO_MUCH),
        (lambda: without_end(STREAM, b"data: " + b"y" * 900), TOO_LONG_MESSAGE),
        (lambda: without_end(JSON, b'{"choices": ['), TOO_LONG),
        (lambda: without_end(b"HTTP/1.1 400 X\r\nContent-Type: text/plain\r\n\r\n", b"y" * 900), TOO_LONG),
        (lambda: packed("gzip", bomb(1)), TOO_LONG),
        (lambda: packed("gzip", bomb(1), 400), TOO_LONG),
        (
            lambda: packed("gzip, gzip", gzip.compress(bomb(1))),
            "compressed its answer more than once; it was not read",
        ),
    ],
    ids=[
        "an endless stream",
        "an endless stream of comments",
        "an endless line of a stream",
        "an endless body",
        "an endless error",
        "a compressed bomb",
        "a compressed bomb as an error",
        "a bomb in a bomb",
    ],
)
def test_what_a_server_sends_without_end_is_refused_in_one_sentence(
    respond: Callable[[], Iterable[bytes]], said: str, tmp_path: Path
) -> None:
    with hostile_peer(lambda _: respond()) as peer:
        assert failure(peer, tmp_path) == said
        assert len(peer.requests) == 1, "nobody asks again for what was refused"
    # What the connection holds is sent before anybody reads it.
    assert peer.sent < 20_000_000


@pytest.mark.parametrize("count", ["-100", "NaN", "1e400", "1.5", '"many"', "[]", "1" + "0" * 400])
@pytest.mark.parametrize("streams", [True, False])
def test_an_answer_whose_tokens_are_no_count_is_kept(tmp_path: Path, count: str, *, streams: bool) -> None:
    usage = f'"usage": {{"prompt_tokens": {count}, "completion_tokens": 7}}'
    choice = '"finish_reason": "stop", "{}": {{"content": "fine"}}'
    whole = f'{{"choices": [{{{choice.format("delta" if streams else "message")}}}], {usage}}}'
    sent = [STREAM, f"data: {whole}\n\n".encode()] if streams else [JSON, whole.encode()]
    with hostile_peer(lambda _: sent) as peer, openai_executor(f"{peer.url}/v1") as executor:
        response = ask(executor, "Hello", tmp_path)
    assert (response.output, response.error) == ("fine", None)
    assert response.usage is not None
    assert (response.usage.turns, response.usage.output_tokens) == (1, 0)


def test_the_bound_holds_for_all_answers_of_a_turn_together(talk: Talk) -> None:
    response = talk("Hello", lambda _: Answer("y" * 4_000, calls=[call("glob")]), workspace_tools=["list"])
    assert (response.error or "").endswith(TOO_MUCH)
    # Each answer that came before is kept, for it was paid.
    assert response.usage is not None
    assert 2 < response.usage.turns < MOST / 4_000
    assert response.output.startswith("y" * 8_000)


def test_a_compressed_answer_within_the_bound_is_read(tmp_path: Path) -> None:
    with (
        hostile_peer(lambda _: packed("gzip", gzip.compress(COMPLETION))) as peer,
        openai_executor(f"{peer.url}/v1") as executor,
    ):
        assert ask(executor, "Hello", tmp_path).output == "fine"


def test_calls_of_tools_without_end_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.undo()
    made = b'data: {"choices": [{"delta": {"tool_calls": [{"function": {"name": "a"}}]}}]}\n\n' * 100
    with hostile_peer(lambda _: without_end(STREAM, made)) as peer:
        assert failure(peer, tmp_path) == f"asked for more than {MOST_CALLS:,} tool calls in one answer"


def test_headers_without_end_are_refused(tmp_path: Path) -> None:
    endless = without_end(b"HTTP/1.1 200 OK\r\n", b"X-Y: " + b"z" * 1_000 + b"\r\n")
    with hostile_peer(lambda _: endless) as peer, openai_executor(f"{peer.url}/v1") as executor:
        with pytest.raises(ExecutorError, match=r"broke before|did not finish"):
            ask(executor, "Hello", tmp_path, timeout_seconds=1.0)
        assert peer.sent < 20_000_000


class TestRedirects:
    @pytest.mark.parametrize("key", ["", "the-key"])
    @pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
    def test_to_another_host_are_refused_with_or_without_a_key(
        self,
        status: int,
        key: str,
        scripted_model: StartModel,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setenv("MY_KEY", key)
        other = scripted_model("never")
        model = scripted_model(Status(status, headers={"Location": f"{other.base_url}/chat/completions?a=b"}))
        provider = {"api_key_env": "MY_KEY"} if key else {}
        with (
            openai_executor(model.base_url, provider=provider) as executor,
            pytest.raises(ExecutorError) as caught,
        ):
            ask(executor, "Hello", tmp_path)
        target = other.base_url.removesuffix("/v1")
        said = f"redirects to `{target}`, which is refused; configure that address"
        assert str(caught.value).endswith(said)
        assert other.requests == []
        assert len(model.requests) == 1

    @pytest.mark.parametrize(
        "location",
        [
            "https://127.0.0.1:{port}/v1/x",
            "http://localhost:{port}/v1/x",
            "//127.0.0.1:9/v1/x",
            "http://[",
            "ftp://a/",
        ],
        ids=["another scheme", "another name", "another port", "no address", "no web address"],
    )
    def test_to_what_is_not_exactly_this_server_are_refused(
        self, location: str, scripted_model: StartModel, tmp_path: Path
    ) -> None:
        def reply(_: object) -> Status:
            return Status(307, headers={"Location": location.format(port=model.base_url.split(":")[2][:-3])})

        model = scripted_model(reply)
        with openai_executor(model.base_url) as executor, pytest.raises(ExecutorError, match="redirects to"):
            ask(executor, "Hello", tmp_path)
        assert len(model.requests) == 1

    def test_within_the_server_are_followed(self, talk: Talk) -> None:
        moved = Status(307, headers={"Location": "/v1/chat/completions?again"})
        assert talk("Hello", moved, "Here.").output == "Here."


class TestPreflight:
    def test_a_server_that_sends_byte_by_byte_is_not_waited_for(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(executor_module, "SECONDS", 2.0)
        ended = threading.Event()

        def drip(_: bytes) -> Iterable[bytes]:
            for number in itertools.count():
                yield JSON[number % len(JSON) :][:1]
                if ended.wait(0.05):
                    return

        with hostile_peer(drip) as peer, openai_executor(f"{peer.url}/v1") as executor:
            executor.reach()
            ended.set()
        assert len(peer.requests) == 1

    @pytest.mark.parametrize("status", [200, 401])
    def test_a_bomb_costs_no_memory(self, status: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("MY_KEY", "a-key")
        taken: list[int] = []
        count = bounds.Intake.take

        def counting(intake: bounds.Intake, size: int) -> None:
            taken.append(size)
            count(intake, size)

        monkeypatch.setattr(bounds.Intake, "take", counting)
        with (
            hostile_peer(lambda _: packed("gzip", bomb(4), status)) as peer,
            openai_executor(f"{peer.url}/v1", provider={"api_key_env": "MY_KEY"}) as executor,
        ):
            executor.reach()
        # The library unpacks a megabyte at a time, and both counters take it.
        assert sum(taken) <= 2 * 2**20

    def test_a_redirect_to_another_host_takes_the_key_nowhere(
        self, scripted_model: StartModel, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("MY_KEY", "a-key")
        other = scripted_model()
        head = f"HTTP/1.1 302 X\r\nLocation: {other.base_url}/models\r\nContent-Length: 0\r\n\r\n".encode()
        with (
            hostile_peer(lambda _: [head]) as peer,
            openai_executor(f"{peer.url}/v1", provider={"api_key_env": "MY_KEY"}) as executor,
        ):
            executor.reach()
        assert len(peer.requests) == 1


def test_prices_are_counted_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    from waza_engine.scoring.cost import listed_models, prices_of

    def refuse(*_: object, **__: object) -> None:
        pytest.fail("it opens a connection")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(asyncio, "open_connection", refuse)
    assert next(iter(prices_of(["gpt-4o"]))).usd_input
    assert next(iter(listed_models()))
