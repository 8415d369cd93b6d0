"""Measure both servers in turns and print one Markdown table: ``python -m tests.bench --help``."""

import json
import shlex
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import Progress

from tests.bench.client import Client, Cost
from tests.bench.documents import edit_line, eval_file, last_mistake
from tests.bench.peer_schema import upstream_shaped_schema
from waza_language_server.syntax.characters import MAX_CHARACTERS

HERE = Path(__file__).parent
EDITS = 8
STEPS = ("start", "first problems", "open", "first completion", "edit", "completion", "hover")
GOALS = {
    "start": 0.7,
    "first problems": 0.3,
    "open": 0.3,
    "first completion": 1.0,
    "edit": 0.03,
    "memory": 0.8,
}
"""The ratio of wall time, or of peak memory, that a step is to stay below."""


@dataclass
class Samples:
    """Milliseconds per step and peak memory in MiB, one number a round."""

    wall: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    cpu: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    memory: list[float] = field(default_factory=list[float])

    def add(self, step: str, costs: list[Cost]) -> None:
        """Add one round of a step: the median wall time and the mean CPU time of its repetitions."""
        self.wall[step].append(statistics.median(cost.wall_ms for cost in costs))
        self.cpu[step].append(statistics.fmean(cost.cpu_ms for cost in costs))


def main(
    graders: Annotated[list[int] | None, typer.Option(help="Sizes of the eval file, in graders.")] = None,
    rounds: Annotated[int, typer.Option(help="Sessions per server and size.")] = 3,
    peer: Annotated[str, typer.Option(help="Another command line of the peer, such as an older one.")] = "",
) -> None:
    """Compare our server with yaml-language-server and print the table of docs/performance.md."""
    for size in graders or ():
        if len(eval_file(size)) > MAX_CHARACTERS:
            raise typer.BadParameter(
                f"{size} graders have more than {MAX_CHARACTERS:,} characters; try 30000"
            )
    theirs_command = shlex.split(peer) or _peer_command()
    own = [sys.executable, "-m", "waza_language_server", "--stdio"]
    sizes = graders or [10, 100, 1000]
    ours: dict[int, Samples] = {}
    theirs: dict[int, Samples] = {}
    with Progress(transient=True) as progress, tempfile.TemporaryDirectory() as folder:
        work = progress.add_task("sessions", total=len(sizes) * rounds * 2)
        for size in sizes:
            suite = _write_suite(Path(folder) / str(size), size)
            ours[size], theirs[size] = Samples(), Samples()
            for _ in range(rounds):
                _session(own, suite, size, {}, ours[size])
                progress.advance(work)
                _session(theirs_command, suite, size, _peer_settings(suite), theirs[size])
                progress.advance(work)
    typer.echo(_table(sizes, ours, theirs))


def _session(
    command: list[str],
    suite: Path,
    size: int,
    settings: dict[str, Any],
    samples: Samples,
) -> None:
    uri, line = (suite / "eval.yaml").as_uri(), edit_line(size)
    document = {"uri": uri, "languageId": "yaml", "version": 1, "text": eval_file(size)}
    at_key = {"textDocument": {"uri": uri}, "position": {"line": line + 1, "character": 6}}
    client = Client(command, suite, settings)
    try:
        client.notify("textDocument/didOpen", {"textDocument": document})
        samples.add("first completion", [client.timed_request("textDocument/completion", at_key)])
    finally:
        client.close()
    client = Client(command, suite, settings)
    try:
        samples.add("start", [client.start])
        first, opened = client.timed_first_and_all(
            uri, "textDocument/didOpen", {"textDocument": document}, last_mistake(size)
        )
        samples.add("first problems", [first])
        samples.add("open", [opened])
        edits: list[Cost] = []
        completions: list[Cost] = []
        hovers: list[Cost] = []
        for number in range(EDITS):
            position = {"line": line, "character": len("    name: ")}
            change = {"range": {"start": position, "end": position}, "text": chr(ord("a") + number)}
            version = {"uri": uri, "version": number + 2}
            edits.append(
                client.timed_diagnostics(
                    uri, "textDocument/didChange", {"textDocument": version, "contentChanges": [change]}
                )
            )
            completions.append(client.timed_request("textDocument/completion", at_key))
            hovers.append(client.timed_request("textDocument/hover", at_key))
        samples.add("edit", edits)
        samples.add("completion", completions)
        samples.add("hover", hovers)
        samples.memory.append(client.peak_memory_mib())
    finally:
        client.close()


def _table(sizes: list[int], ours: dict[int, Samples], theirs: dict[int, Samples]) -> str:
    rows = [
        "| graders | step | ours ms (CPU) | peer ms (CPU) | ratio wall | goal | ratio CPU |",
        "|---|---|---|---|---|---|---|",
    ]
    for size in sizes:
        for step in STEPS:
            wall, cpu = _median(ours[size].wall[step]), _median(ours[size].cpu[step])
            peer_wall, peer_cpu = _median(theirs[size].wall[step]), _median(theirs[size].cpu[step])
            cpu_ratio = f"{cpu / peer_cpu:.3f}" if peer_cpu else "–"
            rows.append(
                f"| {size:,} | {step} | {wall:.1f} ({cpu:.1f}) | {peer_wall:.1f} ({peer_cpu:.1f}) "
                f"| {wall / peer_wall:.3f} | {_goal(step)} | {cpu_ratio} |"
            )
        memory, peer_memory = _median(ours[size].memory), _median(theirs[size].memory)
        ratio, goal = memory / peer_memory, _goal("memory")
        rows.append(
            f"| {size:,} | memory | {memory:.0f} MiB | {peer_memory:.0f} MiB | {ratio:.3f} | {goal} | – |"
        )
    return "\n".join(rows)


def _goal(step: str) -> str:
    return f"≤ {GOALS[step]:g}" if step in GOALS else ""


def _median(numbers: list[float]) -> float:
    return statistics.median(numbers)


def _write_suite(folder: Path, size: int) -> Path:
    (folder / "tasks").mkdir(parents=True)
    (folder / "tasks" / "one.yaml").write_text("id: one\nname: One\ninputs:\n  prompt: Say hello\n", "utf-8")
    (folder / "eval.yaml").write_text(eval_file(size), "utf-8")
    return folder


def _peer_command() -> list[str]:
    """Return the peer's command line; what ``package-lock.json`` says is installed on first use.

    It needs a newer Node than the rest of this repository: where npm has one for this machine, that runs it.
    """
    modules, locked = HERE / "node_modules", HERE / "package-lock.json"
    installed = modules / ".package-lock.json"
    if not installed.exists() or installed.stat().st_mtime < locked.stat().st_mtime:
        subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--silent"], cwd=HERE, check=True)
    node = next(iter(modules.glob("node-*/bin/node")), "node")
    return [str(node), str(modules / "yaml-language-server" / "bin" / "yaml-language-server"), "--stdio"]


def _peer_settings(suite: Path) -> dict[str, Any]:
    schema = suite.parent / "peer.schema.json"
    if not schema.exists():
        schema.write_text(json.dumps(upstream_shaped_schema()), "utf-8")
    yaml = {
        "validate": True,
        "hover": True,
        "completion": True,
        "schemas": {schema.as_uri(): "**/eval.yaml"},
        "schemaStore": {"enable": False},
    }
    return {"yaml": yaml, "http": {}, "[yaml]": {}, "editor": {}, "files": {}, "yamlEditor": {}}


if __name__ == "__main__":
    typer.run(main)
