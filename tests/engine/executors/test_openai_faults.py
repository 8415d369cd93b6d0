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
from tests.engine.executors.talking import ask, ask_once, kinds, openai_executor, settings
from tests.patience import ON_A_BUSY_MACHINE, ends
from tests.scripted_model import (
    Answer,
    Cut,
    Garbage,
    Held,
    NoChoices,
    RateLimited,
    ScriptedModel,
    Status,
    call,
)
from waza_engine.executors.executor import ExecutionResponse, ExecutorError
from waza_engine.executors.openai import OpenAIExecutor
from waza_engine.masking import masked, read_environment
from waza_engine.runs.limits.cancellation import RunCancellation

pytestmark = pytest.mark.check

LOCAL = {"base_url": "http://127.0.0.1:9/v1"}


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.delenv(name, raising=False)


class TestSetUp:
    def test_without_a_key_and_a_server_of_ones_own(self) -> None:
        with pytest.raises(ExecutorError, match=r"no key for `api\.openai\.com`; set `OPENAI_API_KEY`"):
            OpenAIExecutor(settings())

    def test_without_a_key_for_a_server_elsewhere(self, monkeypatch: pytest.MonkeyPatch) -> None:
        # OpenAI's key is not for others: it must be named.
        monkeypatch.setenv("OPENAI_API_KEY", "sk-for-openai")

        with pytest.raises(ExecutorError, match=r"`models\.example\.com`; name the environment variable"):
            OpenAIExecutor(settings(provider={"base_url": "https://models.example.com/v1"}))

    def test_with_a_variable_that_is_not_set(self) -> None:
        with pytest.raises(ExecutorError, match=r"`MY_KEY`, which `provider.api_key_env` names, is not set"):
            OpenAIExecutor(settings(provider={**LOCAL, "api_key_env": "MY_KEY"}))

    def test_with_a_key_that_is_none(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-\u2026")

        with pytest.raises(ExecutorError, match="characters that no key has") as caught:
            OpenAIExecutor(settings())
        assert "sk-" not in str(caught.value)

    @pytest.mark.parametrize(
        "url", ["localhost:11434", "ftp://x/v1", "http://", "http://x:port/v1", "v1", "http://a b/v1"]
    )
    def test_with_an_address_that_is_none(self, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_BASE_URL", url)

        with pytest.raises(ExecutorError, match=r"`OPENAI_BASE_URL` is not a web address"):
            OpenAIExecutor(settings())

    @pytest.mark.parametrize(
        ("url", "said"),
        [
            ("http://me:secret@127.0.0.1:9/v1", "holds a password"),
            ("http://127.0.0.1:9/v1?key=secret", "goes on after its path"),
        ],
    )
    def test_with_a_secret_in_the_address(self, url: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_BASE_URL", url)

        with pytest.raises(ExecutorError, match=said) as caught:
            OpenAIExecutor(settings())
        assert "secret" not in str(caught.value)

    def test_with_a_provider_that_speaks_something_else(self) -> None:
        with pytest.raises(ExecutorError, match="type `anthropic`"):
            OpenAIExecutor(settings(provider={**LOCAL, "type": "anthropic"}))

    @pytest.mark.parametrize(
        "url", ["http://localhost:1/v1", "http://[::1]:1/v1", "http://192.168.1.5/v1", "http://ollama:1/v1"]
    )
    def test_a_server_nearby_needs_no_key(self, url: str) -> None:
        OpenAIExecutor(settings(provider={"base_url": url})).close()

    def test_without_a_model(self, tmp_path: Path) -> None:
        with (
            openai_executor(LOCAL["base_url"]) as executor,
            pytest.raises(ExecutorError, match="write `model` below `config`"),
        ):
            ask(executor, "Hello", tmp_path, model="")


class TestCredentials:
    def test_the_key_goes_to_the_server_that_it_is_named_for(
        self, scripted_model: StartModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("MY_KEY", "the-key")
        model = scripted_model("Hello.", api_key="the-key")

        assert ask_once(model, "Hello", tmp_path, provider={"api_key_env": "MY_KEY"}).output == "Hello."

    def test_the_environment_can_name_server_and_key(
        self, scripted_model: StartModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        model = scripted_model("Hello.", api_key="the-key")
        monkeypatch.setenv("OPENAI_API_KEY", "the-key")
        monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)

        with openai_executor() as executor:
            assert ask(executor, "Hello", tmp_path).output == "Hello."

    def test_what_is_for_openai_goes_to_no_other_server(
        self, scripted_model: StartModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
            monkeypatch.setenv(name, "for-openai-alone")
        model = scripted_model("Hello.")

        ask_once(model, "Hello", tmp_path)

        assert "for-openai-alone" not in str(model.requests[0].headers)
        assert "authorization" not in model.requests[0].headers

    def test_the_key_reaches_neither_programs_nor_transcript(
        self, scripted_model: StartModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("MY_KEY", "the-very-key")
        monkeypatch.setenv("OPENAI_API_KEY", "the-other-key")
        monkeypatch.setenv("SOME_TOKEN", "some-token-of-the-user")
        read_environment()
        (tmp_path / ".env").write_text("MY_KEY=the-very-key")
        model = scripted_model(call("bash", command="env; cat .env"), "It is the-very-key!")

        with openai_executor(
            model.base_url, provider={"api_key_env": "MY_KEY"}, workspace_tools=["run"]
        ) as executor:
            response = ask(executor, "Show it.", tmp_path)

        written = masked(repr(response))
        assert "the-very-key" not in written
        assert "the-other-key" not in written
        assert "some-token-of-the-user" not in written
        assert response.output == "It is the-very-key!", "it is graded as it is"
        assert "the-very-key" not in str(model.requests[1].messages), "no tool tells the model"

    def test_a_placeholder_is_no_secret(
        self, scripted_model: StartModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("MY_PLACEHOLDER", "ollama")
        model = scripted_model("It runs on ollama.")

        assert (
            masked(ask_once(model, "Where?", tmp_path, provider={"api_key_env": "MY_PLACEHOLDER"}).output)
            == "It runs on ollama."
        )

    def test_the_key_is_not_in_an_error_either(
        self, scripted_model: StartModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("MY_KEY", "the-very-key")
        model = scripted_model(Status(400, "bad key the-very-key"))

        with (
            openai_executor(model.base_url, provider={"api_key_env": "MY_KEY"}) as executor,
            pytest.raises(ExecutorError) as caught,
        ):
            ask(executor, "Hello", tmp_path)
        assert masked(str(caught.value)).endswith("bad key ***")


class TestErrorsOfTheServer:
    def test_a_wrong_key(
        self, scripted_model: StartModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("MY_KEY", "wrong-key")
        model = scripted_model("never", api_key="right-key")

        error = failure_of(model, tmp_path, provider={"api_key_env": "MY_KEY"})

        assert "does not accept the key in `MY_KEY`: the key is wrong" in str(error)
        assert not error.transient

    def test_no_key_where_one_is_needed(self, scripted_model: StartModel, tmp_path: Path) -> None:
        model = scripted_model("never", api_key="right-key")

        assert "wants a key; name its environment variable" in str(failure_of(model, tmp_path))

    @pytest.mark.parametrize(
        ("status", "said", "transient"),
        [
            (Status(404, "no such model"), "has no model `test-model`, or no chat completions at", False),
            (Status(403, "region"), "does not allow this request: region", False),
            (Status(400, "too long"), "refuses the request (status 400): too long", False),
            (
                Status(422, body='{"detail": "bad field"}'),
                "refuses the request (status 422): bad field",
                False,
            ),
            (
                Status(400, body='{"error": "plain words"}'),
                "refuses the request (status 400): plain words",
                False,
            ),
            (Status(501, body="<html>no</html>", headers={"x-should-retry": "false"}), "(status 501)", True),
        ],
    )
    def test_in_words(
        self, scripted_model: StartModel, tmp_path: Path, status: Status, said: str, transient: bool
    ) -> None:
        model = scripted_model(status)

        error = failure_of(model, tmp_path)

        assert said in str(error)
        assert "<html>" not in str(error)
        assert error.transient is transient
        assert len(model.requests) == 1

    def test_an_account_without_quota_does_not_go_away_by_itself(
        self, scripted_model: StartModel, tmp_path: Path
    ) -> None:
        body = json.dumps({"error": {"message": "Pay.", "code": "insufficient_quota"}})
        model = scripted_model(Status(429, body=body, headers={"x-should-retry": "false"}))

        error = failure_of(model, tmp_path)

        assert "has no quota left: Pay." in str(error)
        assert not error.transient

    def test_a_page_of_html_is_no_completion(self, scripted_model: StartModel, tmp_path: Path) -> None:
        model = scripted_model(Garbage(content_type="text/html"))

        error = failure_of(model, tmp_path)

        assert "not a chat completion" in str(error)
        assert model.base_url in str(error)

    @pytest.mark.parametrize(
        "body", [b"", b"nul", b"[]", b'{"choices": 3}', b'{"choices": [{"message": "hi"}]}', b"\xff\xfe{}"]
    )
    def test_garbage(self, scripted_model: StartModel, tmp_path: Path, body: bytes) -> None:
        model = scripted_model(Garbage(body))

        assert "not a chat completion" in str(failure_of(model, tmp_path))

    def test_an_answer_without_a_choice(self, scripted_model: StartModel, tmp_path: Path) -> None:
        model = scripted_model(NoChoices())

        error = failure_of(model, tmp_path)

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
    def test_after_what_may_go_away(
        self, scripted_model: StartModel, tmp_path: Path, fault: RateLimited | Status | Cut
    ) -> None:
        model = scripted_model(fault, "Here.")

        response = ask_once(model, "Hello", tmp_path)

        assert (response.output, response.error) == ("Here.", None)
        assert len(model.requests) == 2
        assert response.usage is not None
        assert response.usage.turns == 1

    def test_gives_up_in_the_end(self, scripted_model: StartModel, tmp_path: Path) -> None:
        model = scripted_model(*[Status(500, "broken", {"retry-after-ms": "10"})] * 9)

        error = failure_of(model, tmp_path)

        assert str(error).endswith("failed (status 500): broken")
        assert error.transient
        assert len(model.requests) == 4

    def test_nothing_listens(self, tmp_path: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as unused:
            port = unused.getsockname()[1]

        with openai_executor(f"http://127.0.0.1:{port}/v1") as executor:
            error = failure(executor, tmp_path)

        assert str(error) == f"nothing answers at `127.0.0.1:{port}`; start the server, or check `base_url`"
        assert error.transient

    def test_an_answer_that_breaks_off(self, scripted_model: StartModel, tmp_path: Path) -> None:
        model = scripted_model(Cut(in_body=True))

        response = ask_once(model, "Hello", tmp_path)

        # It is an error, and the begun answer is kept.
        assert (response.error or "").endswith("broke before the answer was there")
        assert response.output == "Half an ans"


class TestTime:
    def test_an_answer_that_takes_too_long(self, scripted_model: StartModel, tmp_path: Path) -> None:
        model = scripted_model(Held())

        error = failure_of(model, tmp_path, timeout_seconds=0.3)

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

    def test_a_model_that_does_not_begin(self, scripted_model: StartModel, tmp_path: Path) -> None:
        model = scripted_model(Held())

        error = failure_of(model, tmp_path, first_event_timeout_seconds=0.3)

        assert str(error) == "the model sent nothing within 0.3 seconds"

    def test_a_model_that_has_begun_may_take_its_time(
        self, scripted_model: StartModel, tmp_path: Path
    ) -> None:
        model = scripted_model(call("bash", command="sleep 3.3"), "Done.")

        assert (
            ask_once(
                model, "Hello", tmp_path, first_event_timeout_seconds=3.0, workspace_tools=["run"]
            ).output
            == "Done."
        )


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


def failure_of(model: ScriptedModel, workspace: Path, **options: Any) -> ExecutorError:
    with pytest.raises(ExecutorError) as caught:
        ask_once(model, "Hello", workspace, **options)
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
