"""What the executor ``openai`` does when the server, the network, the key or time fails."""

import json
import os
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import StartModel
from tests.engine.executors.talking import Talk, ask, ask_once, kinds, openai_executor, settings
from tests.patience import ON_A_BUSY_MACHINE, ends
from tests.scripted_model import (
    Answer,
    Cut,
    Garbage,
    Held,
    NoChoices,
    RateLimited,
    Status,
    call,
)
from waza_engine.executors.executor import ExecutionResponse, ExecutorError
from waza_engine.executors.openai import OpenAIExecutor
from waza_engine.masking import masked, read_environment
from waza_engine.runs.limits.cancellation import RunCancellation

pytestmark = pytest.mark.check

NO_QUOTA = json.dumps({"error": {"message": "Pay.", "code": "insufficient_quota"}})
LOCAL = {"base_url": "http://127.0.0.1:9/v1"}


class TestSetUp:
    @pytest.mark.parametrize(
        ("environment", "provider", "said"),
        [
            ({}, None, "no key for `api.openai.com`; set `OPENAI_API_KEY`"),
            # OpenAI's key is not for others: it must be named.
            (
                {"OPENAI_API_KEY": "sk-for-openai"},
                {"base_url": "https://models.example.com/v1"},
                "`models.example.com`; name the environment variable",
            ),
            ({}, {"api_key_env": "MY_KEY"}, "`MY_KEY`, which `provider.api_key_env` names, is not set"),
            ({"OPENAI_API_KEY": "sk-\u2026"}, None, "characters that no key has"),
            ({}, {"type": "anthropic"}, "type `anthropic`"),
            ({"OPENAI_BASE_URL": "http://me:secret@127.0.0.1:9/v1"}, None, "holds a password"),
            ({"OPENAI_BASE_URL": "http://127.0.0.1:9/v1?key=secret"}, None, "goes on after its path"),
            *(
                ({"OPENAI_BASE_URL": url}, None, "`OPENAI_BASE_URL` is not a web address")
                for url in (
                    "localhost:11434",
                    "ftp://x/v1",
                    "http://",
                    "http://x:port/v1",
                    "v1",
                    "http://a b/v1",
                )
            ),
        ],
    )
    def test_what_no_model_can_be_asked_with_is_told_without_secrets(
        self,
        environment: dict[str, str],
        provider: dict[str, str] | None,
        said: str,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)

        with pytest.raises(ExecutorError) as caught:
            OpenAIExecutor(settings(provider=provider and {**LOCAL, **provider}))
        assert said in str(caught.value)
        assert "sk-" not in str(caught.value)
        assert "secret" not in str(caught.value)

    @pytest.mark.parametrize(
        "url", ["http://localhost:1/v1", "http://[::1]:1/v1", "http://192.168.1.5/v1", "http://ollama:1/v1"]
    )
    def test_a_server_nearby_needs_no_key(self, url: str) -> None:
        OpenAIExecutor(settings(provider={"base_url": url})).close()

    def test_without_a_model(self, tmp_path: Path) -> None:
        with openai_executor(LOCAL["base_url"]) as executor:
            assert "write `model` below `config`" in str(failure(executor, tmp_path, model=""))


class TestCredentials:
    def test_the_key_goes_to_the_server_that_it_is_named_for(
        self, talk: Talk, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("MY_KEY", "the-key")

        response = talk("Hello", "Hello.", api_key="the-key", provider={"api_key_env": "MY_KEY"})

        assert response.output == "Hello."

    def test_the_environment_can_name_server_and_key(
        self, scripted_model: StartModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        model = scripted_model("Hello.", api_key="the-key")
        monkeypatch.setenv("OPENAI_API_KEY", "the-key")
        monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)

        with openai_executor() as executor:
            assert ask(executor, "Hello", tmp_path).output == "Hello."

    def test_what_is_for_openai_goes_to_no_other_server(
        self, talk: Talk, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
            monkeypatch.setenv(name, "for-openai-alone")

        talk("Hello", "Hello.")

        assert "for-openai-alone" not in str(talk.requests[0].headers)
        assert "authorization" not in talk.requests[0].headers

    def test_the_key_reaches_neither_programs_nor_transcript(
        self, talk: Talk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("MY_KEY", "the-very-key")
        monkeypatch.setenv("OPENAI_API_KEY", "the-other-key")
        monkeypatch.setenv("SOME_TOKEN", "some-token-of-the-user")
        read_environment()
        (tmp_path / ".env").write_text("MY_KEY=the-very-key")
        script = call("bash", command="env; cat .env"), "It is the-very-key!"

        response = talk("Show it.", *script, provider={"api_key_env": "MY_KEY"}, workspace_tools=["run"])

        written = masked(repr(response))
        for secret in ("the-very-key", "the-other-key", "some-token-of-the-user"):
            assert secret not in written
        assert response.output == "It is the-very-key!", "it is graded as it is"
        assert "the-very-key" not in str(talk.requests[1].messages), "no tool tells the model"

    def test_a_placeholder_is_no_secret(self, talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("MY_PLACEHOLDER", "ollama")

        response = talk("Where?", "It runs on ollama.", provider={"api_key_env": "MY_PLACEHOLDER"})

        assert masked(response.output) == "It runs on ollama."

    def test_the_key_is_not_in_an_error_either(self, talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("MY_KEY", "the-very-key")

        error = talk.failure(Status(400, "bad key the-very-key"), provider={"api_key_env": "MY_KEY"})

        assert masked(str(error)).endswith("bad key ***")


class TestErrorsOfTheServer:
    def test_a_wrong_key(self, talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("MY_KEY", "wrong-key")

        error = talk.failure("never", api_key="right-key", provider={"api_key_env": "MY_KEY"})

        assert "does not accept the key in `MY_KEY`: the key is wrong" in str(error)
        assert not error.transient

    def test_no_key_where_one_is_needed(self, talk: Talk) -> None:
        assert "wants a key; name its environment variable" in str(talk.failure("never", api_key="right-key"))

    @pytest.mark.parametrize(
        ("status", "said", "transient"),
        [
            (Status(404, "no such model"), "has no model `test-model`, or no chat completions at", False),
            (Status(403, "region"), "does not allow this request: region", False),
            (Status(400, "too long"), "refuses the request (status 400): too long", False),
            (Status(422, body='{"detail": "bad field"}'), "the request (status 422): bad field", False),
            (Status(400, body='{"error": "plain words"}'), "the request (status 400): plain words", False),
            (Status(429, body=NO_QUOTA, headers={"x-should-retry": "false"}), "no quota left: Pay.", False),
            (Status(501, body="<html>no</html>", headers={"x-should-retry": "false"}), "(status 501)", True),
        ],
    )
    def test_in_words(self, talk: Talk, status: Status, said: str, transient: bool) -> None:
        error = talk.failure(status)

        assert said in str(error)
        assert "<html>" not in str(error)
        assert error.transient is transient
        assert len(talk.requests) == 1

    @pytest.mark.parametrize(
        "garbage",
        [
            Garbage(content_type="text/html"),
            *map(
                Garbage,
                (b"", b"nul", b"[]", b'{"choices": 3}', b'{"choices": [{"message": "hi"}]}', b"\xff\xfe{}"),
            ),
        ],
    )
    def test_what_is_no_completion(self, talk: Talk, garbage: Garbage) -> None:
        error = str(talk.failure(garbage))

        assert "not a chat completion" in error
        assert talk.model.base_url in error

    def test_an_answer_without_a_choice(self, talk: Talk) -> None:
        error = talk.failure(NoChoices())

        assert "answered without a choice" in str(error)
        assert error.transient


class TestTryingAgain:
    @pytest.mark.parametrize(
        "fault",
        [
            RateLimited(0.05),
            Status(500),
            Status(503, headers={"Retry-After": "0.05"}),
            Cut(),
        ],
    )
    def test_after_what_may_go_away(self, talk: Talk, fault: RateLimited | Status | Cut) -> None:
        response = talk("Hello", fault, "Here.")

        assert (response.output, response.error) == ("Here.", None)
        assert len(talk.requests) == 2
        assert response.usage is not None
        assert response.usage.turns == 1

    def test_gives_up_in_the_end(self, talk: Talk) -> None:
        error = talk.failure(*[Status(500, "broken", {"retry-after-ms": "10"})] * 9)

        assert str(error).endswith("failed (status 500): broken")
        assert error.transient
        assert len(talk.requests) == 4

    def test_nothing_listens(self, tmp_path: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as unused:
            port = unused.getsockname()[1]

        with openai_executor(f"http://127.0.0.1:{port}/v1") as executor:
            error = failure(executor, tmp_path)

        assert str(error) == f"nothing answers at `127.0.0.1:{port}`; start the server, or check `base_url`"
        assert error.transient

    def test_an_answer_that_breaks_off(self, talk: Talk) -> None:
        response = talk("Hello", Cut(in_body=True))

        # It is an error, and the begun answer is kept.
        assert (response.error or "").endswith("broke before the answer was there")
        assert response.output == "Half an ans"


class TestTime:
    def test_an_answer_that_takes_too_long(self, talk: Talk) -> None:
        error = talk.failure(Held(), timeout_seconds=0.3)

        assert str(error) == "the model did not finish within 0.3 seconds"
        assert error.transient

    def test_what_was_said_before_is_kept(self, scripted_model: StartModel, tmp_path: Path) -> None:
        model = scripted_model(Answer("I look.", calls=[call("glob")]), Held())

        response = ask_once(model, "Hello", tmp_path, timeout_seconds=2.0, workspace_tools=["list"])

        assert response.output == "I look."
        assert response.error == "the model did not finish within 2 seconds"
        assert [made.name for made in response.tool_calls] == ["glob"]
        assert response.usage is not None
        assert kinds(response)[-1] == "session.error"

    def test_the_time_holds_for_all_answers_together(
        self, scripted_model: StartModel, tmp_path: Path
    ) -> None:
        model = scripted_model(lambda _request: call("bash", command="sleep 0.3"))
        started = time.monotonic()

        response = ask_once(model, "Hello", tmp_path, timeout_seconds=1.5, workspace_tools=["run"])

        assert 1.4 < time.monotonic() - started < 4 + ON_A_BUSY_MACHINE
        assert response.error == "the model did not finish within 1.5 seconds"

    def test_a_model_that_does_not_begin(self, talk: Talk) -> None:
        error = talk.failure(Held(), first_event_timeout_seconds=0.3)

        assert str(error) == "the model sent nothing within 0.3 seconds"

    def test_a_model_that_has_begun_may_take_its_time(self, talk: Talk) -> None:
        slow, tools = call("bash", command="sleep 3.3"), ["run"]

        response = talk("Hello", slow, "Done.", first_event_timeout_seconds=3.0, workspace_tools=tools)

        assert response.output == "Done."


class TestCancelling:
    def test_ends_a_request_at_once(self, scripted_model: StartModel, tmp_path: Path) -> None:
        model = scripted_model(Answer("I look.", calls=[call("glob")]), Held())

        with openai_executor(model.base_url, workspace_tools=["list"]) as executor:
            response, seconds = cancelled(executor, tmp_path, lambda: model.wait_for_requests(2))

        assert seconds < 2 + ON_A_BUSY_MACHINE
        assert response.output == "I look."
        assert response.error == "the run was cancelled"

    def test_breaks_the_connection_so_that_the_server_can_stop(self, tmp_path: Path) -> None:
        gone = threading.Event()
        with socket.create_server(("127.0.0.1", 0)) as server:
            asked = threading.Event()

            def serve() -> None:
                connection, _ = server.accept()
                with connection:
                    connection.recv(65_536)
                    asked.set()
                    while connection.recv(65_536):
                        pass
                    gone.set()

            threading.Thread(target=serve, daemon=True).start()
            with openai_executor(f"http://127.0.0.1:{server.getsockname()[1]}/v1") as executor:
                cancelled(executor, tmp_path, lambda: asked.wait(10 + ON_A_BUSY_MACHINE))
                assert gone.wait(2 + ON_A_BUSY_MACHINE)

    def test_ends_the_waiting_before_another_try(self, scripted_model: StartModel, tmp_path: Path) -> None:
        model = scripted_model(RateLimited(55))

        with openai_executor(model.base_url) as executor:
            _, seconds = cancelled(executor, tmp_path, model.wait_for_requests)

        assert seconds < 2 + ON_A_BUSY_MACHINE

    @pytest.mark.skipif(os.name == "nt", reason="the command is one for a POSIX shell")
    def test_kills_the_programs_of_the_model_with_their_children(
        self, scripted_model: StartModel, tmp_path: Path
    ) -> None:
        command = "sleep 300 & echo $! > child.tmp; mv child.tmp child; wait"
        model = scripted_model(call("bash", command=command), "never")

        def running() -> None:
            deadline = time.monotonic() + 10 + ON_A_BUSY_MACHINE
            while not (tmp_path / "child").exists() and time.monotonic() < deadline:
                threading.Event().wait(0.01)

        with openai_executor(model.base_url, workspace_tools=["run"]) as executor:
            response, seconds = cancelled(executor, tmp_path, running)

        child = int((tmp_path / "child").read_text())
        assert seconds < 2 + ON_A_BUSY_MACHINE
        assert response.error == "the run was cancelled"
        assert ends(child)
        assert len(model.requests) == 1

    def test_closing_ends_all_turns(self, scripted_model: StartModel, tmp_path: Path) -> None:
        model = scripted_model(Held(), Held(), Held())

        with openai_executor(model.base_url) as executor, ThreadPoolExecutor(3) as pool:
            turns = [pool.submit(ask, executor, "Hello", tmp_path) for _ in range(3)]
            model.wait_for_requests(3)
            started = time.monotonic()
            executor.close()
            executor.close()
            assert [turn.result(10 + ON_A_BUSY_MACHINE).error for turn in turns] == [
                "the run was cancelled"
            ] * 3

        assert time.monotonic() - started < 2 + ON_A_BUSY_MACHINE

    def test_a_closed_executor_says_so(self, scripted_model: StartModel, tmp_path: Path) -> None:
        with openai_executor(scripted_model().base_url) as executor:
            executor.close()
            assert "has ended already" in str(failure(executor, tmp_path))

    def test_a_run_that_is_cancelled_already_sends_nothing(
        self, scripted_model: StartModel, tmp_path: Path
    ) -> None:
        model, cancellation = scripted_model(), RunCancellation()
        cancellation.request()

        assert ask_once(model, "Hello", tmp_path, cancellation).error == "the run was cancelled"
        assert model.requests == []


def failure(executor: OpenAIExecutor, workspace: Path, **request: Any) -> ExecutorError:
    with pytest.raises(ExecutorError) as caught:
        ask(executor, "Hello", workspace, **request)
    return caught.value


def cancelled(
    executor: OpenAIExecutor, workspace: Path, under_way: Callable[[], object]
) -> tuple[ExecutionResponse, float]:
    """Cancel a turn when it is under way; return what it left and how many seconds its end took."""
    cancellation = RunCancellation()
    with ThreadPoolExecutor(1) as pool:
        turn = pool.submit(ask, executor, "Hello", workspace, cancellation)
        under_way()
        started = time.monotonic()
        cancellation.request()
        response = turn.result(30 + ON_A_BUSY_MACHINE)
    return response, time.monotonic() - started
