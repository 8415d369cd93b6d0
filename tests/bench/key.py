"""What a key costs the server: the requests of a VS Code after it, replayed. ``python -m tests.bench.key``.

The workspace has 200 suites and one with a long file, in the middle of which a word is written. How often VS
Code asks for each thing was counted in a real window (``REQUESTS``); what an answer costs is processor time
of the server, so that a busy machine changes little. ``afterwards`` is what it does when all is answered.
"""

import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import typer

from tests.bench.client import Client

KEY = "key and diagnostics"
REQUESTS = {
    "textDocument/completion": 1.0,
    "textDocument/inlayHint": 1.05,
    "textDocument/semanticTokens/full/delta": 0.45,
    "textDocument/codeLens": 0.05,
    "textDocument/codeAction": 0.05,
    "textDocument/documentSymbol": 0.05,
    "textDocument/foldingRange": 0.05,
    "textDocument/documentLink": 0.05,
    "waza/marks": 0.85,
    "waza/fileMarks": 0.0,
    "waza/suiteState": 0.28,
    "workspace/diagnostic": 0.17,
}
"""What VS Code asks for after a key, in this order, and how often: counted while 40 keys were pressed, five
in a second, on a busy machine. Marks of lines are now asked for where no key comes for 0.3 s, no more often
than is counted here; those of files when results or files change. Outline, folds and links came later and are
taken to be asked for as often as lenses.
"""
AFTERWARDS = "afterwards"
SHOWN_LINES = 200
"""Lines around the cursor for which VS Code asks for hints."""
CAPABILITIES: dict[str, Any] = {
    "textDocument": {
        "synchronization": {"dynamicRegistration": True, "didSave": True},
        "diagnostic": {"relatedDocumentSupport": False},
        "completion": {"completionItem": {"snippetSupport": True, "documentationFormat": ["markdown"]}},
        "codeAction": {
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "refactor", "source"]}},
            "isPreferredSupport": True,
        },
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
        "foldingRange": {"rangeLimit": 5_000},
        "inlayHint": {"resolveSupport": {"properties": ["tooltip", "label.command"]}},
        "semanticTokens": {
            "requests": {"range": True, "full": {"delta": True}},
            "tokenTypes": [],
            "tokenModifiers": [],
            "formats": ["relative"],
        },
    },
    "workspace": {
        "configuration": True,
        "workspaceEdit": {"documentChanges": True, "resourceOperations": ["create", "rename", "delete"]},
        "didChangeWatchedFiles": {"dynamicRegistration": True},
        "inlayHint": {"refreshSupport": True},
        "codeLens": {"refreshSupport": True},
        "diagnostics": {"refreshSupport": True},
    },
}
OPTIONS = {"drawsMarks": True, "showsChanges": True, "runWithCommand": "waza.runWith", "runEvents": True}
CONFIG = "config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}\n"
TASK = "id: {0}\nname: {0}\ninputs:\n  prompt: Say hello\n"
QUIET_SECONDS = 0.4
"""Longer than the server waits before it does what an edit makes it do later."""


def main(
    graders: Annotated[list[int] | None, typer.Option(help="Sizes of the file, in graders.")] = None,
    suites: Annotated[int, typer.Option(help="Other suites of the workspace.")] = 200,
    keys: Annotated[int, typer.Option(help="Keys that are pressed at each size.")] = 12,
    recorded: Annotated[bool, typer.Option(help="Run the long file before, so that it has scores.")] = False,
) -> None:
    """Print processor milliseconds of the server for each request after a key, medians, and a key's sum."""
    columns: list[dict[str, float]] = []
    sizes = graders or [100, 1_000]
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="key-") as folder:
            columns.append(_measured(_workspace(Path(folder), size, suites, recorded=recorded), size, keys))
    typer.echo(f"| | {' | '.join(f'{size:,} graders' for size in sizes)} |")
    typer.echo(f"|---|{'--:|' * len(sizes)}")
    for name in (KEY, *REQUESTS, AFTERWARDS):
        typer.echo(f"| {name} | {' | '.join(f'{column[name]:.1f}' for column in columns)} |")
    typer.echo(f"| **a key** | {' | '.join(f'**{_sum(column):.1f}**' for column in columns)} |")


def _sum(column: dict[str, float]) -> float:
    asked = sum(column[method] * often for method, often in REQUESTS.items())
    return column[KEY] + asked + column[AFTERWARDS]


def _measured(file: Path, size: int, keys: int) -> dict[str, float]:
    found: dict[str, list[float]] = defaultdict(list)
    command = [sys.executable, "-m", "waza_language_server", "--stdio"]
    client = Client(command, file.parent.parent, {}, CAPABILITIES, OPTIONS)
    try:
        session = _Session(client, file, size)
        for number in range(keys + 2):
            costs = session.press(chr(ord("a") + number % 26))
            # The first ones load what answers them.
            for name, cost in costs.items() if number >= 2 else ():
                found[name].append(cost)
    finally:
        client.close()
    return {name: median(costs) for name, costs in found.items()}


class _Session:
    """A file that is open in a server, as in VS Code."""

    def __init__(self, client: Client, file: Path, size: int) -> None:
        self._client = client
        self._uri = file.as_uri()
        text = file.read_text("utf-8")
        self._line = text[: text.index(f"name: g{size // 2}\n")].count("\n")
        self._column = len(f"    name: g{size // 2}")
        self._version = 1
        self._known: dict[str, str] = {}
        document = {"uri": self._uri, "languageId": "yaml", "version": 1, "text": text}
        client.notify("textDocument/didOpen", {"textDocument": document})
        self._diagnostics("")
        tokens = client.request("textDocument/semanticTokens/full", {"textDocument": {"uri": self._uri}})
        self._tokens = tokens["resultId"]
        for method in REQUESTS:
            client.request(method, self._params(method))
        self._rest()

    def press(self, key: str) -> dict[str, float]:
        """Write a character behind the cursor and ask for what VS Code asks for; return what each cost."""
        costs: dict[str, float] = {}
        before = self._client.busy_ms()
        at = {"line": self._line, "character": self._column}
        self._version += 1
        self._column += 1
        document = {"uri": self._uri, "version": self._version}
        change = {"range": {"start": at, "end": at}, "text": key}
        self._client.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})
        self._diagnostics(self._known.get(self._uri, ""))
        for name in (KEY, *REQUESTS):
            if name != KEY:
                answer = self._client.request(name, self._params(name))
                if "semanticTokens" in name:
                    self._tokens = answer["resultId"]
                if name == "workspace/diagnostic":
                    self._known |= {each["uri"]: each["resultId"] for each in answer["items"]}
            now = self._client.busy_ms()
            costs[name], before = now - before, now
        self._rest()
        costs[AFTERWARDS] = self._client.busy_ms() - before
        return costs

    def _diagnostics(self, previous: str) -> None:
        params = {"textDocument": {"uri": self._uri}, "identifier": "waza"}
        answer = self._client.request(
            "textDocument/diagnostic", params | ({"previousResultId": previous} if previous else {})
        )
        self._known[self._uri] = answer["resultId"]

    def _params(self, method: str) -> dict[str, Any]:
        document = {"textDocument": {"uri": self._uri}}
        cursor = {"line": self._line, "character": self._column}
        first = max(self._line - SHOWN_LINES // 2, 0)
        match method:
            case "textDocument/completion":
                return document | {"position": cursor, "context": {"triggerKind": 1}}
            case "textDocument/inlayHint":
                end = {"line": self._line + SHOWN_LINES // 2, "character": 0}
                return document | {"range": {"start": {"line": first, "character": 0}, "end": end}}
            case "textDocument/semanticTokens/full/delta":
                return document | {"previousResultId": self._tokens}
            case "textDocument/codeAction":
                context = {"diagnostics": [], "triggerKind": 2}
                return document | {"range": {"start": cursor, "end": cursor}, "context": context}
            case "waza/fileMarks":
                return {}
            case "workspace/diagnostic":
                known = [{"uri": uri, "value": value} for uri, value in self._known.items()]
                return {"identifier": "waza", "previousResultIds": known}
            case _:
                return document

    def _rest(self) -> None:
        """Wait until the server does nothing any more."""
        while True:
            before = self._client.busy_ms()
            time.sleep(QUIET_SECONDS)
            if self._client.busy_ms() - before < 1:
                return


def _workspace(folder: Path, size: int, suites: int, *, recorded: bool) -> Path:
    """Write the suites and return the long file."""
    for number in range(suites):
        _suite(folder / "suites" / f"s{number:03}", 1)
    file = _suite(folder / "big", size)
    if recorded:
        command = [sys.executable, "-m", "waza_engine", "run", str(file)]
        subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=False)
    return file


def _suite(folder: Path, size: int) -> Path:
    (folder / "tasks").mkdir(parents=True)
    for task in ("one", "two"):
        (folder / "tasks" / f"{task}.yaml").write_text(TASK.format(task), "utf-8")
    graders = "".join(
        f"  - type: text\n    name: g{number}\n    config:\n      contains:\n        - hello\n"
        for number in range(size)
    )
    head = f"name: {folder.name}\nskill: greeter\n{CONFIG}tasks:\n  - tasks/*.yaml\ngraders:\n"
    (folder / "eval.yaml").write_text(head + graders, "utf-8")
    return folder / "eval.yaml"


if __name__ == "__main__":
    typer.run(main)
