"""``waza-engine compare``: runs beside each other, as a table or as one object."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table

from waza_engine.commands.printer import Part, Printer
from waza_engine.results.json_values import plain
from waza_engine.results.reading.recordings import RecordingError, read_recording
from waza_engine.results.reports.comparison import comparison
from waza_engine.terminal import complain, say_json

COMPARED, NOT_COMPARED = 0, 2


def compare_command(paths: Sequence[Path], output_format: str) -> int:
    """Print the comparison of two or more result files; ``output_format`` is ``table`` or ``json``."""
    try:
        if len(paths) < 2:
            raise RecordingError("Name two result files or more.")
        found = comparison([read_recording(path) for path in paths])
    except RecordingError as error:
        complain(str(error))
        return NOT_COMPARED
    if output_format == "json":
        say_json(plain(found))
    else:
        _print(found)
    return COMPARED


def _print(found: dict[str, Any]) -> None:
    printer = Printer()
    names = [chr(ord("A") + index % 26) for index in range(len(found["files"]))]
    for name, path, model in zip(names, found["files"], found["models"], strict=True):
        printer.line(f"{name}  {path}{f'  ({model})' if model else ''}")
    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column("")
    for name in (*names, "change"):
        table.add_column(name, justify="right", no_wrap=True)
    printer.table(table, _rows(found))


def _rows(found: dict[str, Any]) -> Iterator[Sequence[Part] | None]:
    for task in found["task_deltas"]:
        cells = [
            status if score is None else f"{score:.2f} {status}"
            for score, status in zip(task["scores"], task["statuses"], strict=True)
        ]
        yield task["task_id"], *cells, _change(task["score_delta"])
    yield None
    yield "score", *map(_figure, found["aggregate_scores"]), _change(found["aggregate_score_delta"])
    yield "tasks passed", *map(_percent, found["success_rates"]), _change(found["success_rate_delta"])


def _change(delta: float | None) -> Part:
    if delta is None:
        return "–"
    colour = "green" if delta > 1e-9 else "red" if delta < -1e-9 else "dim"
    return f"{delta:+.2f}", colour


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"
