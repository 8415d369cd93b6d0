"""``waza-engine compare``: runs beside each other, as a table or as one object."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from waza_engine.commands.output import tolerate_narrow_encodings
from waza_engine.results.comparison import comparison
from waza_engine.results.recordings import RecordingError, read_recording

COMPARED, NOT_COMPARED = 0, 2
_WIDE = 200


def compare_command(paths: Sequence[Path], output_format: str) -> int:
    """Print the comparison of two or more result files; ``output_format`` is ``table`` or ``json``."""
    tolerate_narrow_encodings(json_wanted=output_format == "json")
    try:
        if len(paths) < 2:
            raise RecordingError("Name two result files or more.")
        found = comparison([read_recording(path) for path in paths])
    except RecordingError as error:
        sys.stderr.write(f"{error}\n")
        return NOT_COMPARED
    if output_format == "json":
        sys.stdout.write(json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
    else:
        _print(found)
    return COMPARED


def _print(found: dict[str, Any]) -> None:
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = _WIDE
    names = [chr(ord("A") + index % 26) for index in range(len(found["files"]))]
    for name, path, model in zip(names, found["files"], found["models"], strict=True):
        console.print(f"{name}  {escape(path)}{escape(f'  ({model})') if model else ''}", soft_wrap=True)
    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column("")
    for name in (*names, "change"):
        table.add_column(name, justify="right", no_wrap=True)
    for task in found["task_deltas"]:
        cells = [
            status if score is None else f"{score:.2f} {status}"
            for score, status in zip(task["scores"], task["statuses"], strict=True)
        ]
        table.add_row(escape(task["task_id"]), *map(escape, cells), _change(task["score_delta"]))
    table.add_section()
    table.add_row(
        "score", *(_figure(v) for v in found["aggregate_scores"]), _change(found["aggregate_score_delta"])
    )
    table.add_row(
        "tasks passed", *(_percent(v) for v in found["success_rates"]), _change(found["success_rate_delta"])
    )
    console.print(table)


def _change(delta: float | None) -> str:
    if delta is None:
        return "–"
    colour = "green" if delta > 1e-9 else "red" if delta < -1e-9 else "dim"
    return f"[{colour}]{delta:+.2f}[/]"


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"
