"""Nothing that a session leaves behind refers to itself: the server never looks for garbage, and need not."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.protocol.raw_client import RawClient, running_server
from waza_language_server.project.uris import uri_of

pytestmark = [
    pytest.mark.check,
    pytest.mark.skipif(sys.platform == "win32", reason="there are no signals to ask by"),
]

COUNT = """
import gc, signal, sys
def count(*_):
    sys.stderr.write(f"garbage {gc.collect()} {gc.isenabled()}\\n")
    sys.stderr.flush()
signal.signal(signal.SIGUSR1, count)
"""
TEXT = """\
name: s
skill: s
tasks: [t]
graders:
  - type: code
    name: a
    config: {assertions: ['len(output) > 1']}
"""
TEXTS = (
    TEXT + "  - type: [",
    TEXT.replace("len(", "length("),
    TEXT.replace("name: a", "nam: a"),
    "- ]\n",
    TEXT,
)
WHERE = {"position": {"line": 6, "character": 30}}
WHOLE = {"start": {"line": 0, "character": 0}, "end": {"line": 7, "character": 0}}
REQUESTS: dict[str, dict[str, Any]] = {
    "completion": WHERE,
    "hover": WHERE,
    "definition": WHERE,
    "references": WHERE | {"context": {"includeDeclaration": True}},
    "prepareRename": WHERE,
    "codeAction": {"range": WHOLE, "context": {"diagnostics": []}},
    "codeLens": {},
    "inlayHint": {"range": WHOLE},
    "documentSymbol": {},
    "documentLink": {},
    "foldingRange": {},
    "semanticTokens/full": {},
    "unknown": {},
    # Refused: one that says nothing of what it asks about, and a name that is none.
    "signatureHelp": {},
    "rename": {"position": {"line": 5, "character": 10}, "newName": ""},
}


class Session:
    """A suite that is opened, edited and asked about, in a server that tells what garbage there is."""

    def __init__(self, client: RawClient, path: Path) -> None:
        self._client = client
        self._uri = uri_of(path)
        self._version = 1
        client.initialize(path.parent)
        client.open(path)

    def work(self, rounds: int) -> None:
        for text in TEXTS * rounds:
            self._version += 1
            document = {"uri": self._uri, "version": self._version}
            self._client.send(
                "textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]}
            )
            for name, params in REQUESTS.items():
                self._client.ask(f"textDocument/{name}", {"textDocument": {"uri": self._uri}, **params})

    def garbage(self) -> int:
        """Return how many objects nothing but a search for them would free; they are freed by that."""
        told = self._client.log.count("garbage")
        os.kill(self._client.process.pid, signal.SIGUSR1)
        # The signal is minded between two steps, which an idle server has none of.
        while self._client.log.count("garbage") == told:
            self._client.ask("textDocument/hover", {"textDocument": {"uri": self._uri}, **WHERE})
        assert "True" not in self._client.log
        return int(self._client.log.rpartition("garbage ")[2].split()[0])


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    path = tmp_path / "eval.yaml"
    path.write_text(TEXT, "utf-8")
    with RawClient(running_server(COUNT)) as client:
        yield Session(client, path)


def test_edits_and_requests_leave_no_garbage_behind(session: Session) -> None:
    session.work(2)
    # What is loaded and made for good leaves some, until all of it is there.
    for _ in range(10):
        if not session.garbage():
            break
        session.work(1)
    assert any(_leave_none(session) for _ in range(3))


def _leave_none(session: Session) -> bool:
    """Whether work leaves nothing: what requests leave comes each time, what is loaded late once."""
    session.work(3)
    return session.garbage() == 0
