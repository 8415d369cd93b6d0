"""The first completion finds everything loaded and compiled, however early it is asked for."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.check

COMPLETE = """
import asyncio, builtins, json, sys
import cattrs.gen
from waza_language_server.protocol import rehearsal
from waza_language_server.protocol.dispatch import Dispatcher
from waza_language_server.protocol.server import create_server
from waza_language_server.protocol.services import schedule

# Answered at once, however busy the machine is.
schedule.SLICE_SECONDS = 60
TEXT = "name: s\\nskill: s\\ntasks: [t]\\ngraders:\\n  - type: code\\n    "
compiled, sent = [], []
cattrs.gen.__dict__["compile"] = lambda *code: (compiled.append(code[1]), builtins.compile(*code))[1]

class Writer:
    def write(self, data):
        sent.append(json.loads(data.split(b"\\r\\n\\r\\n", 1)[1]))

class Inbox:
    def is_cancelled(self, identifier):
        return False

def broken(_module):
    raise ImportError("damaged")

async def main():
    ls = create_server()
    if sys.argv[2] == "damaged":
        rehearsal.import_module = broken
    rehearsal.rehearse_completion(ls)
    ls.protocol.set_writer(Writer())
    dispatcher = Dispatcher(ls.protocol, Inbox(), lambda: None)
    def handle(**message):
        dispatcher.handle({"jsonrpc": "2.0", **message})

    uri = sys.argv[1]
    document = {"uri": uri, "languageId": "yaml", "version": 1, "text": TEXT}
    handle(id=1, method="initialize", params={"processId": None, "rootUri": None, "capabilities": {}})
    handle(method="textDocument/didOpen", params={"textDocument": document})
    compiled.clear()
    before = set(sys.modules)
    where = {"textDocument": {"uri": uri}, "position": {"line": 5, "character": 4}}
    handle(id=2, method="textDocument/completion", params=where)
    labels = [item["label"] for item in sent[-1]["result"]["items"]]
    print(json.dumps([labels, compiled, sorted(set(sys.modules) - before)]))
    ls.idle.end()

asyncio.run(main())
"""


def first_completion(suite: Path, how: str) -> tuple[list[str], list[str], list[str]]:
    """Return what is offered, which classes of the protocol are compiled for it, and what is loaded."""
    command = [sys.executable, "-c", COMPLETE, suite.as_uri(), how]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    labels, compiled, loaded = json.loads(done.stdout)
    return labels, compiled, loaded


def test_the_first_completion_loads_and_compiles_nothing(tmp_path: Path) -> None:
    labels, compiled, loaded = first_completion(tmp_path / "eval.yaml", "whole")
    assert "config" in labels
    assert compiled == []
    assert loaded == []


def test_where_that_cannot_be_loaded_beforehand_the_answer_comes_all_the_same(tmp_path: Path) -> None:
    labels, compiled, loaded = first_completion(tmp_path / "eval.yaml", "damaged")
    assert "config" in labels
    assert compiled
    assert loaded
