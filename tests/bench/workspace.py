"""A workspace of many suites: how soon one of them is answered, and when all are known.

``python -m tests.bench.workspace [--suites N]`` prints the table of docs/performance.md: two sessions one
after the other, of which the second finds what the first has kept, and one in a workspace that has nothing
but the opened suite. While the workspace is read a hover is asked for again and again.
"""

import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import typer

from tests.bench.client import CAPABILITIES, Client
from tests.bench.documents import edit_line, eval_file

GRADERS = 10
EDITS = 20
TASK = "id: {id}\nname: {id}\ninputs: {{prompt: Say hello}}\ngraders:\n  - {{type: text, name: greets}}\n"
PULLS: dict[str, Any] = CAPABILITIES | {
    "textDocument": CAPABILITIES["textDocument"] | {"diagnostic": {"relatedDocumentSupport": False}}
}
ROWS = (
    "start",
    "hover right behind the opening",
    "first problems",
    "symbols of the workspace",
    "problems of the workspace",
    "longest wait for a hover meanwhile",
    "edit",
    "memory",
)


def main(
    suites: Annotated[int, typer.Option(help="How many suites the workspace has.")] = 2_000,
) -> None:
    """Measure the three sessions and print the table."""
    with tempfile.TemporaryDirectory() as folder:
        many, alone = Path(folder, "many"), Path(folder, "alone")
        for workspace, count in ((many, suites), (alone, 1)):
            for number in range(count):
                _write_suite(workspace / f"suite-{number:04}", f"t{number}")
        # What is compiled once for all sessions is no part of the first.
        _session(alone)
        columns = [_session(many), _session(many), _session(alone)]
    typer.echo(f"| | {suites:,} suites | the same again | the suite alone |\n|---|--:|--:|--:|")
    for row in ROWS:
        unit = "MiB" if row == "memory" else "ms"
        typer.echo(f"| {row} | " + " | ".join(f"{column[row]:,.0f} {unit}" for column in columns) + " |")


def _write_suite(folder: Path, task: str) -> None:
    (folder / "tasks").mkdir(parents=True)
    (folder / "eval.yaml").write_text(eval_file(GRADERS), "utf-8")
    for number in range(3):
        name = f"{task}-{number}"
        (folder / "tasks" / f"{name}.yaml").write_text(TASK.format(id=name), "utf-8")


def _session(workspace: Path) -> dict[str, float]:
    last = max(path.stem for path in workspace.glob("*/tasks/*"))
    suite = workspace / "suite-0000"
    uri, line = (suite / "eval.yaml").as_uri(), edit_line(GRADERS)
    document = {"uri": uri, "languageId": "yaml", "version": 1, "text": eval_file(GRADERS)}
    at_key = {"textDocument": {"uri": uri}, "position": {"line": line + 1, "character": 6}}
    client = Client([sys.executable, "-m", "waza_language_server", "--stdio"], workspace, {}, PULLS)
    try:
        found = {"start": client.start.wall_ms}
        opened = time.perf_counter()

        def since() -> float:
            return (time.perf_counter() - opened) * 1000

        client.notify("textDocument/didOpen", {"textDocument": document})
        found[ROWS[1]] = client.timed_request("textDocument/hover", at_key).wall_ms
        client.request("textDocument/diagnostic", {"textDocument": {"uri": uri}})
        found["first problems"] = since()
        longest = 0.0
        for row, method, params in (
            ("symbols of the workspace", "workspace/symbol", {"query": last}),
            ("problems of the workspace", "workspace/diagnostic", {"previousResultIds": []}),
        ):
            answer = client.asked(method, params)
            while not answer.done():
                longest = max(longest, client.timed_request("textDocument/hover", at_key).wall_ms)
                time.sleep(0.01)
            assert answer.result()
            found[row] = since()
        found["longest wait for a hover meanwhile"] = longest
        edits: list[float] = []
        for number in range(EDITS):
            position = {"line": line, "character": len("    name: ")}
            change = {"range": {"start": position, "end": position}, "text": chr(ord("a") + number)}
            begun = time.perf_counter()
            client.notify(
                "textDocument/didChange",
                {"textDocument": {"uri": uri, "version": number + 2}, "contentChanges": [change]},
            )
            client.request("textDocument/diagnostic", {"textDocument": {"uri": uri}})
            edits.append((time.perf_counter() - begun) * 1000)
        found["edit"] = median(edits)
        found["memory"] = client.peak_memory_mib()
        return found
    finally:
        client.close()


if __name__ == "__main__":
    typer.run(main)
