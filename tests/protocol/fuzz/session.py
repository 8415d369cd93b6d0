"""One client and its server: sends messages, keeps the texts, and looks at everything that comes back."""

import json
import time
from collections import Counter, deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.protocol.fuzz.checks import (
    CANCELLED,
    CONTENT_MODIFIED,
    INTERNAL_ERROR,
    ON_ALL_TEXTS,
    ON_ONE_TEXT,
    REFUSALS,
    SERVER_NOTIFICATIONS,
    SERVER_REQUESTS,
    check_notification_shape,
    check_places,
    check_published,
    check_shape,
)
from tests.protocol.fuzz.connection import Connection, Message
from tests.protocol.fuzz.findings import FoundError, Settings, Step
from tests.protocol.fuzz.model_text import Text, well_formed

KEPT_VERSIONS = 64
SHAPES_CHECKED_EVERY = 5
MEMORY_LOOKED_AT_EVERY = 50


_OWN = "own-"
"""How the ids of requests begin whose results are wanted."""


@dataclass(frozen=True)
class Limits:
    """What is too much."""

    hang_seconds: float = 20.0
    leave_seconds: float = 5.0
    memory_bytes: int = 300 * 2**20


@dataclass
class Opened:
    """A document that is open, as the client knows it. ``past`` holds texts before, oldest first."""

    text: Text
    version: int
    language: str
    past: deque[Text] = field(default_factory=lambda: deque[Text](maxlen=5))


@dataclass
class _Asked:
    method: str
    params: Any
    step: int
    expect: str
    patient: bool
    cancelled: bool = False
    texts: list[Text] = field(default_factory=list[Text])
    """The text that was asked about and, while the answer is awaited, those that came after it."""
    outdated: bool = False
    """Whether any document has changed while the answer was awaited."""
    closed: bool = False
    """Whether its document was closed while the answer was awaited."""


class Session:
    """The state of one client."""

    def __init__(self, settings: Settings, root: Path, limits: Limits) -> None:
        self.settings = settings
        self.limits = limits
        self.root = root
        self.documents: dict[str, Opened] = {}
        self.folders: list[Any] = []
        self.introduction: Message = {}
        self.messages = 0
        self.checks: Counter[str] = Counter()
        """How often something was compared, by what it was."""
        self.steps: list[Step] = []
        self.results: dict[str, Any] = {}
        """The results of this client's own requests, until they are taken."""
        self.published: dict[str, tuple[int | None, list[Any]]] = {}
        self._connection = Connection(root)
        self._asked: dict[str, _Asked] = {}
        self._versions: dict[tuple[str, int], Text] = {}
        self._bursts = self._answers = 0
        self._own_id = 0
        self._left = False

    def close(self) -> None:
        """End the server, whatever state it is in."""
        self._connection.close()

    def send(self, message: Message, expect: str = "none", *, patient: bool = False) -> None:
        """Send a message.

        ``expect`` says what its answer may be: ``result``, ``any`` or ``none``. The server may take
        long for a ``patient`` one.
        """
        method, params = message.get("method"), message.get("params")
        key = _key(message.get("id"))
        if "id" in message:
            self._asked[key] = _Asked(
                str(method),
                params,
                len(self.steps) - 1,
                expect,
                patient,
                texts=self._texts_of(str(method), params, expect),
            )
        self._observe(str(method), params)
        self.messages += 1
        self._connection.send(json.dumps(message).encode())

    def ask(self, method: str, params: Any) -> Any:
        """Send a request and return its result, None when it was refused."""
        self._own_id += 1
        identifier = f"{_OWN}{self._own_id}"
        self.send({"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}, "result")
        self.wait()
        return self.results.pop(identifier, None)

    def notify(self, method: str, params: Any) -> None:
        """Send a notification."""
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def wait(self, *, patiently: bool = False) -> None:
        """Wait for all answers, of patient requests only when asked to."""
        deadline = time.monotonic() + self.limits.hang_seconds * (5 if patiently else 1)
        while any(patiently or not asked.patient for asked in self._asked.values()):
            self._receive(0.5)
            if time.monotonic() > deadline:
                waiting = [f"{asked.method} of step {asked.step}" for asked in self._asked.values()]
                raise FoundError("hang", f"no answer for {self.limits.hang_seconds:g} s: {waiting[:5]}")
        self._look_around()

    def until_published(self, uri: str) -> list[Any] | None:
        """Return the diagnostics that were pushed for the newest text; None when the client cannot tell."""
        if self.settings.pulls or not self.settings.versions:
            return None
        version = self.documents[uri].version
        deadline = time.monotonic() + self.limits.hang_seconds
        while self.published.get(uri, (None, []))[0] != version:
            self._receive(0.1)
            if time.monotonic() > deadline:
                newest = self.published.get(uri, (None, []))[0]
                raise FoundError("never published", f"{uri}: version {version}; the newest is {newest}")
        return self.published[uri][1]

    def until_quiet(self, seconds: float) -> None:
        """Take what comes until nothing has come for so long."""
        deadline = time.monotonic() + self.limits.hang_seconds
        quiet_since = time.monotonic()
        while (now := time.monotonic()) < min(deadline, quiet_since + seconds):
            # Nothing comes either while something is still being sent.
            if self._receive(quiet_since + seconds - now) or self._connection.is_sending:
                quiet_since = time.monotonic()

    # What the client does itself.

    def _texts_of(self, method: str, params: Any, expect: str) -> list[Text]:
        if method in ON_ONE_TEXT and expect == "result":
            opened = self.documents.get(params["textDocument"]["uri"])
            return [] if opened is None else [opened.text]
        return []

    def _observe(self, method: str, params: Any) -> None:
        if method == "initialize":
            self.introduction, self.folders = params, list(params.get("workspaceFolders") or ())
        elif method == "textDocument/didOpen":
            item = params["textDocument"]
            text = Text(well_formed(item["text"]), self.settings.encoding)
            self.documents.pop(item["uri"], None)
            self._take(item["uri"], Opened(text, item["version"], item["languageId"]))
        elif method == "textDocument/didChange":
            opened = self.documents.get(params["textDocument"]["uri"])
            if opened is not None:
                opened.past.append(opened.text)
                for change in params["contentChanges"]:
                    opened.text = opened.text.changed(change)
                opened.version = params["textDocument"]["version"]
                self._take(params["textDocument"]["uri"], opened)
        elif method == "textDocument/didClose":
            uri = params["textDocument"]["uri"]
            for asked in self._asked.values():
                asked.closed |= asked.method in ON_ONE_TEXT and _uri_in(asked.params) == uri
            if self.documents.pop(uri, None) is not None:
                self._outdate()
        elif method == "workspace/didChangeWorkspaceFolders":
            removed = [folder["uri"] for folder in params["event"]["removed"]]
            self.folders = [folder for folder in self.folders if folder["uri"] not in removed]
            self.folders += params["event"]["added"]
        elif method == "$/cancelRequest" and _key(params["id"]) in self._asked:
            self._asked[_key(params["id"])].cancelled = True

    def _take(self, uri: str, opened: Opened) -> None:
        self.documents[uri] = opened
        self._versions[uri, opened.version] = opened.text
        while len(self._versions) > KEPT_VERSIONS:
            del self._versions[next(iter(self._versions))]
        for asked in self._asked.values():
            is_about_one = asked.method in ON_ONE_TEXT and asked.expect == "result"
            if is_about_one and asked.params["textDocument"]["uri"] == uri:
                asked.texts.append(opened.text)
        self._outdate()

    def _outdate(self) -> None:
        for asked in self._asked.values():
            asked.outdated = True

    # What comes back.

    def _receive(self, seconds: float) -> bool:
        """Take what comes; return whether anything has. Waits at most so long for it."""
        received = self._connection.receive(seconds)
        for message in received:
            if "method" in message:
                self._take_message(message)
            else:
                self._take_answer(message)
        if self._connection.ended and not self._left:
            raise FoundError("end", f"the server has ended: {self._connection.new_log()[-2000:]}")
        return bool(received)

    def _take_message(self, message: Message) -> None:
        method, params = message["method"], message.get("params", {})
        if "id" in message:
            if method not in SERVER_REQUESTS:
                raise FoundError("unknown request", f"{message!r:.300}")
            self._reply(message)
            return
        if method not in SERVER_NOTIFICATIONS:
            raise FoundError("unknown notification", f"{message!r:.300}")
        if method == "textDocument/publishDiagnostics":
            if self.settings.pulls:
                raise FoundError("pushed to a client that pulls", f"{message!r:.300}")
            uri, version = params["uri"], params.get("version")
            self.published[uri] = (version, params["diagnostics"])
            text = self._versions.get((uri, version)) if version is not None else None
            if text is not None:
                check_published(uri, params["diagnostics"], text)
        elif method == "window/showMessage" and "made a mistake" in params["message"]:
            raise FoundError("mistake", f"{params['message']}\n{self._connection.new_log()[-3000:]}")
        check_notification_shape(message)

    def _reply(self, message: Message) -> None:
        reply: Message = {"jsonrpc": "2.0", "id": message["id"]}
        if self.settings.replies == "never":
            return
        if self.settings.replies == "error":
            reply["error"] = {"code": -32601, "message": "not known"}
        else:
            reply["result"] = None
        self._connection.send(json.dumps(reply).encode())

    def _take_answer(self, answer: Message) -> None:
        asked = self._asked.pop(_key(answer.get("id")), None)
        if asked is None:
            raise FoundError("unasked answer", f"{answer!r:.300}")
        self._answers += 1
        if answer.get("jsonrpc") != "2.0" or ("result" in answer) == ("error" in answer):
            raise FoundError("form of an answer", f"{answer!r:.300}")
        if "error" in answer:
            self._check_error(asked, answer)
            return
        if str(answer["id"]).startswith(_OWN):
            self.results[answer["id"]] = answer["result"]
        if self._answers % SHAPES_CHECKED_EVERY == 0:
            check_shape(asked.method, answer)
        if asked.method in ON_ONE_TEXT and asked.expect == "result":
            check_places(asked.method, asked.params, answer["result"], asked.texts)

    def _check_error(self, asked: _Asked, answer: Message) -> None:
        code = answer["error"]["code"]
        allowed = code in CANCELLED and (asked.cancelled or len(asked.texts) > 1)
        allowed = allowed or (code == CONTENT_MODIFIED and asked.closed)
        allowed = allowed or code in REFUSALS.get(asked.method, ())
        allowed = allowed or (code == CONTENT_MODIFIED and asked.outdated and asked.method in ON_ALL_TEXTS)
        if not allowed and (asked.expect == "result" or code == INTERNAL_ERROR):
            log = self._connection.new_log()[-3000:]
            raise FoundError(f"error {code} of {asked.method}", f"{answer['error']!r:.1000}\n{log}")

    def _look_around(self) -> None:
        self._bursts += 1
        log = self._connection.new_log()
        if "Traceback" in log or " ERROR " in log or " CRITICAL " in log:
            raise FoundError("log", log[-4000:])
        if self._bursts % MEMORY_LOOKED_AT_EVERY == 0:
            self.look_at_memory()

    def look_at_memory(self) -> None:
        """Too much memory is a finding."""
        used = self._connection.resident_bytes()
        if used > self.limits.memory_bytes:
            raise FoundError("memory", f"{used / 2**20:.0f} MiB")

    def leave(self, *, hasty: bool) -> None:
        """Take leave in order; the server must end, and say that all was well."""
        self.wait(patiently=True)
        self.look_at_memory()
        self.send({"jsonrpc": "2.0", "id": "leave", "method": "shutdown"}, "any")
        if not hasty:
            self.wait()
        self.send({"jsonrpc": "2.0", "method": "exit"})
        self._left = True
        deadline = time.monotonic() + self.limits.leave_seconds
        while not self._connection.ended and time.monotonic() < deadline:
            self._receive(0.2)
        code = self._connection.wait(max(0.1, deadline - time.monotonic()))
        if code != 0:
            raise FoundError(
                "leave", f"exit code {code} after shutdown and exit; {self._connection.new_log()}"
            )
        self._look_around()


def _key(identifier: Any) -> str:
    return json.dumps(identifier)


def _uri_in(params: Any) -> object:
    """Return the URI of the document that a request is about; parameters may have any form."""
    document = params.get("textDocument") if isinstance(params, dict) else None
    return document.get("uri") if isinstance(document, dict) else None
