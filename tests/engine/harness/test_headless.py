"""``headless``: an agent as a JSON-RPC server, driven by a client over real pipes."""

import json
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.patience import ON_A_BUSY_MACHINE

pytestmark = pytest.mark.check

AGENT = """\
import json, os, pathlib, sys, time
prompt = sys.argv[-1]
def say(**event): print(json.dumps(event), flush=True)
pathlib.Path("pid").write_text(str(os.getpid()))
say(type="thought", text="hm", session_id="T1")
if "sleep" in prompt:
    say(type="message", text="waiting")
    time.sleep(60)
say(type="tool", name="Read", status="pending")
say(type="tool", name="Read", status="completed")
say(type="message", text="You said " + prompt.replace("\\n", "|"))
if "split" in prompt:
    key = os.environ["API_KEY"]
    say(type="message", text="It is " + key[:9])
    say(type="tool", name="Read", status="completed")
    say(type="message", text=key[9:] + "!")
if "break" in prompt:
    sys.exit(7)
say(type="result", text=os.environ.get("API_KEY", "") + " ".join(sys.argv[1:]).replace("\\n", "|"))
"""


def mapping(kind: str, **extract: str) -> dict[str, Any]:
    as_kind = "tool_call" if kind == "tool" else kind
    return {"match": {"path": "$.type", "value": kind}, "emitAs": as_kind, "extract": extract}


ADAPTER: dict[str, Any] = {
    "version": 1,
    "name": "fake",
    "command": [sys.executable, "agent.py"],
    "sessionMode": "stream",
    "prompt": {},
    "output": {"flag": "", "value": ""},
    "resume": {"flag": "--resume", "sessionIdPath": "$.session_id"},
    "outputEvents": [
        mapping("thought", content="$.text"),
        mapping("message", content="$.text"),
        mapping("tool", title="$.name", status="$.status"),
    ],
    "result": {"matchPath": "$.type", "matchValue": "result", "contentPath": "$.text"},
}


class Client:
    """A client of the program; ``notes`` are the notifications that came so far."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        (folder / "agent.py").write_text(AGENT, "utf-8")
        (folder / "agent.json").write_text(json.dumps(ADAPTER), "utf-8")
        self.folder = folder
        self.notes: list[dict[str, Any]] = []
        self._answers: queue.Queue[dict[str, Any]] = queue.Queue()
        self._number = 0
        self.process = subprocess.Popen(
            [sys.executable, "-m", "waza_engine", "harness", "headless", "-s", str(folder / "agent.json")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env=environment,
        )
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message = json.loads(line)
            if "method" in message:
                self.notes.append(message)
            else:
                self._answers.put(message)

    def write(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def send(self, method: str, **params: Any) -> int:
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        self.write(json.dumps(message))
        return self._number

    def notify(self, method: str, **params: Any) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}))

    def answer(self) -> dict[str, Any]:
        return self._answers.get(timeout=ON_A_BUSY_MACHINE)

    def request(self, method: str, **params: Any) -> Any:
        number = self.send(method, **params)
        answer = self.answer()
        assert answer["id"] == number
        return answer.get("result", answer.get("error"))

    def session(self) -> str:
        return self.request("session/new", cwd=str(self.folder))["sessionId"]

    def until_noted(self, kind: str) -> None:
        deadline = time.monotonic() + ON_A_BUSY_MACHINE
        while all(note["params"]["update"]["sessionUpdate"] != kind for note in self.notes):
            assert time.monotonic() < deadline
            time.sleep(0.02)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    import os

    started = Client(tmp_path, {**os.environ, "API_KEY": "sk-secret-0123456789abcdef"})
    yield started
    assert started.process.stdin is not None
    started.process.stdin.close()
    assert started.process.wait(ON_A_BUSY_MACHINE) == 0


def text(value: str) -> dict[str, str]:
    return {"type": "text", "text": value}


def test_a_session_has_its_updates_and_continues(client: Client) -> None:
    assert client.request("initialize", protocolVersion=1) == {
        "protocolVersion": 1,
        "agentInfo": {"name": "fake", "version": "1.0.0"},
        "agentCapabilities": {"loadSession": True, "promptCapabilities": {"image": False}},
    }
    session = client.session()
    assert session.startswith("sess_")
    first = client.request("session/prompt", sessionId=session, prompt=[text("one"), text("two")])
    # A credential of the environment is in no message.
    assert first == {"content": [text("***one|two")]}
    updates = [note["params"]["update"] for note in client.notes]
    assert {note["method"] for note in client.notes} == {"session/update"}
    assert {note["params"]["sessionId"] for note in client.notes} == {session}
    assert updates == [
        {"sessionUpdate": "agent_thought_chunk", "content": text("hm")},
        {"sessionUpdate": "agent_tool_call", "toolCall": {"name": "Read", "status": "pending"}},
        {"sessionUpdate": "agent_tool_call", "toolCall": {"name": "Read", "status": "completed"}},
        {"sessionUpdate": "agent_message_chunk", "content": text("You said one|two")},
    ]
    second = client.request("session/prompt", sessionId=session, prompt=[text("more")])
    assert second == {"content": [text("***--resume T1 more")]}
    assert client.request("session/load", sessionId=session) == {"sessionId": session}
    loaded = client.request("session/load", sessionId="T9", cwd=str(client.folder))
    third = client.request("session/prompt", prompt=[text("x")], **loaded)
    assert third == {"content": [text("***--resume T9 x")]}


def test_a_prompt_can_be_cancelled_and_its_agent_ends(client: Client) -> None:
    session = client.session()
    number = client.send("session/prompt", sessionId=session, prompt=[text("sleep")])
    client.until_noted("agent_message_chunk")
    busy = client.request("session/prompt", sessionId=session, prompt=[text("x")])
    assert "still works" in busy["message"]
    # Another session goes on meanwhile.
    other = client.session()
    assert client.request("session/prompt", sessionId=other, prompt=[text("x")])["content"]
    client.notify("session/cancel", sessionId=session)
    answer = client.answer()
    assert (answer["id"], answer["error"]["code"]) == (number, -32603)
    assert client.request("session/prompt", sessionId=session, prompt=[text("x")])["content"]


def test_the_end_of_the_input_ends_the_agents(client: Client, tmp_path: Path) -> None:
    client.send("session/prompt", sessionId=client.session(), prompt=[text("sleep")])
    client.until_noted("agent_message_chunk")
    agent = int((tmp_path / "pid").read_text())
    assert client.process.stdin is not None
    client.process.stdin.close()
    assert client.process.wait(ON_A_BUSY_MACHINE) == 0
    assert not Path(f"/proc/{agent}/cmdline").exists() or not Path(f"/proc/{agent}/cmdline").read_bytes()


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("{", -32700),
        ("[]", -32600),
        ('{"jsonrpc": "2.0", "id": 1, "method": "nothing"}', -32601),
        ('{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 2}}', -32603),
        (
            '{"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/does/not/exist"}}',
            -32602,
        ),
        ('{"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": 5}}', -32602),
        ('{"jsonrpc": "2.0", "id": 1, "method": "session/load", "params": {"sessionId": "sess_1"}}', -32602),
        ('{"jsonrpc": "2.0", "id": 1, "method": "session/prompt", "params": {"sessionId": "x"}}', -32602),
    ],
)
def test_a_wrong_message_gets_an_error_and_harms_no_other(client: Client, line: str, code: int) -> None:
    client.write(line)
    assert client.answer()["error"]["code"] == code
    assert client.session()


def test_an_agent_that_fails_is_an_error_with_its_output(client: Client) -> None:
    found = client.request("session/prompt", sessionId=client.session(), prompt=[text("break")])
    assert found["message"] == "The agent ended with exit code 7."
    assert found["data"] == {"output": "You said break"}
    image = client.request("session/prompt", sessionId=client.session(), prompt=[{"type": "image"}])
    assert image["code"] == -32602


@pytest.mark.parametrize(
    ("prompt", "why"),
    [
        ([], "must be a list of blocks"),
        ("hi", "must be a list of blocks"),
        ([{"type": "text"}], "Each block"),
        ([{"type": "text", "text": 5}], "Each block"),
        ([text("hi"), 5], "Each block"),
        ([text("")], "is empty"),
        ([text(" "), text("\n")], "is empty"),
        ([text("a\ud800")], "half of a surrogate pair"),
        ([text("a\0")], "NUL character"),
    ],
)
def test_an_agent_is_not_started_for_a_prompt_without_a_question(
    client: Client, prompt: object, why: str
) -> None:
    refused = client.request("session/prompt", sessionId=client.session(), prompt=prompt)
    assert refused["code"] == -32602
    assert why in refused["message"]
    assert not (client.folder / "pid").exists()


def test_a_credential_that_is_split_over_messages_is_in_no_update(client: Client) -> None:
    client.request("session/prompt", sessionId=client.session(), prompt=[text("split")])
    updates = [note["params"]["update"] for note in client.notes]
    assert [update["content"]["text"] for update in updates if "content" in update] == [
        "hm",
        "You said split",
        "It is ",
        "***!",
    ]
