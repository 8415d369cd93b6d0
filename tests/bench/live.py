"""How long an edit takes to become a verdict: from ``live.update`` to the verdicts of the grader on the wire.

``python -m tests.bench.live`` starts an engine for a suite of 10 tasks and one of 200, with five graders and
three recorded trials each, edits one grader after the other, and prints p50 and p95 in milliseconds by grader
type, beside them the first edit, how long it takes until everything is looked at, what all its processes
spent in processor time, the memory of the engine with its workers, and how long a record of 100 MB takes to
open. It ends with what the server answers meanwhile (``live_answers.py``).

What was told is dropped when it is read: a client that keeps it all measures its own garbage collection.
"""

import json
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import mean, median, quantiles

import psutil

from tests.engine.serve.client import Engine
from tests.live.bed import recorded_bed

GRADERS = {
    "text": "- {{type: text, name: text, config: {{regex_match: ['hello{0}']}}}}",
    "code": '- {{type: code, name: code, config: {{assertions: ["len(output) > {0}"]}}}}',
    "tool_calls": "- {{type: tool_calls, name: tool_calls, config: {{max_calls: {0}}}}}",
    "json_schema": "- {{type: json_schema, name: json_schema, config: {{schema: {{minProperties: {0}}}}}}}",
    "diff": "- {{type: diff, name: diff, config: {{expected_files: [{{path: main.py,contains: ['{0}']}}]}}}}",
}
SIZES = (10, 200)
EDITS = 40
LARGE_BYTES = 100_000_000


def main() -> None:
    """Print the figures."""
    for size in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            path, record = recorded_bed(Path(folder) / "suite", graders(), tasks=size, trials=3)
            edits(size, path, record)
    with tempfile.TemporaryDirectory() as folder:
        path, record = recorded_bed(Path(folder) / "suite", graders(), tasks=10, trials=3)
        document = json.loads(record.read_text("utf-8"))
        runs = [run for task in document["tasks"] for run in task["runs"]]
        for run in runs:
            run["final_output"] += "\n" + "word " * (LARGE_BYTES // len(runs) // 5)
        record.write_text(json.dumps(document), "utf-8")
        print(f"a record of {record.stat().st_size / 1e6:.0f} MB")  # noqa: T201
        edits(10, path, record)
    answers()


def answers() -> None:
    """Print what the server answers meanwhile."""
    from tests.bench import live_answers

    live_answers.main()


def edits(size: int, path: Path, record: Path) -> None:
    """Print what edits of each grader take."""
    head = path.read_text("utf-8").partition("graders:")[0]
    with Engine() as engine:
        started = time.perf_counter()
        session = engine.request("live.open", record=str(record), suite=str(path))["result"]["session"]
        opened, started = time.perf_counter() - started, time.perf_counter()
        engine.request("live.update", session=session)
        first = time.perf_counter() - started
        print(f"{size} tasks: opened in {opened:.2f} s, all judged in {first:.2f} s more")  # noqa: T201
        family = [psutil.Process(engine.process.pid)]
        family += family[0].children(recursive=True)
        for name in GRADERS:
            told: list[float] = []
            done: list[float] = []
            spent: list[float] = []
            for number in range(1, EDITS + 1):
                overlays = {str(path): f"{head}graders:\n{graders(**{name: number})}"}
                worked = _processor_seconds(family)
                for times, seconds in zip((told, done), edit(engine, session, name, overlays), strict=True):
                    times.append(seconds * 1000)
                spent.append((_processor_seconds(family) - worked) * 1000)
            cuts = quantiles(told[1:], n=20)
            print(  # noqa: T201
                f"  {name}: first {told[0]:.1f} ms, p50 {cuts[9]:.1f} ms, p95 {cuts[18]:.1f} ms;"
                f" answered p50 {median(done):.1f} ms; processor {mean(spent[1:]):.1f} ms"
            )
        memory = sum(process.memory_info().rss for process in family) / 1e6
        print(f"  memory of the engine and its {len(family) - 1} workers: {memory:.0f} MB")  # noqa: T201


def edit(engine: Engine, session: str, grader: str, overlays: Mapping[str, str]) -> tuple[float, float]:
    """Return after how many seconds an edit has become the verdicts of its grader, and was answered."""
    started, told = time.perf_counter(), None
    params = {"session": session, "overlays": overlays}
    engine.write(json.dumps({"jsonrpc": "2.0", "id": "edit", "method": "live.update", "params": params}))
    while True:
        message = engine.next_message()
        if message.get("method") == "live.verdicts" and message["params"]["grader"] == grader:
            told = time.perf_counter() - started
        elif message.get("id") == "edit":
            assert told is not None, message
            assert message["result"]["status"] == "judged", message
            engine.lines.clear()
            return told, time.perf_counter() - started


def _processor_seconds(family: list[psutil.Process]) -> float:
    """Return what all of them have spent. The system counts in hundredths: look at the sum of many edits."""
    return sum(times.user + times.system for times in (process.cpu_times() for process in family))


def graders(**numbers: int) -> str:
    """Return the five graders with a number in those that are named."""
    return "".join(f"{grader.format(numbers.get(name, 0))}\n" for name, grader in GRADERS.items())


if __name__ == "__main__":
    main()
