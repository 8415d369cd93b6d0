"""``waza-engine compare``: compare runs, as a table or as one object."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table

from waza_engine.commands.printer import Part, Printer
from waza_engine.commands.records import record_of
from waza_engine.counting import counted
from waza_engine.figures import shown_score, shown_share
from waza_engine.results.json_values import plain
from waza_engine.results.reading.recordings import RecordingError, read_recording
from waza_engine.results.reports.comparison import comparison
from waza_engine.results.reports.words import VERDICT_WORDS
from waza_engine.scoring.statistics import SIGNIFICANT
from waza_engine.terminal import complain, say_json

_NOTHING = 1e-9
_SCORED = ("passed", "failed", "errored")
_PROMPT_WORDS = {"passed": "right", "failed": "wrong", "errored": "not tried"}
COMPARED, REGRESSED, NOT_COMPARED = 0, 1, 2


def compare_command(paths: Sequence[Path], output_format: str, *, everything: bool = False) -> int:
    """Print the comparison of two runs or more; ``output_format`` is ``table`` or ``json``.

    The table shows changed tasks, and with ``everything`` the others too. The code is 1 when a task that
    passed in the first run fails in the last.
    """
    try:
        if len(paths) < 2:
            raise RecordingError("Name two result files or more.")
        found = comparison([read_recording(record_of(path)) for path in paths])
    except RecordingError as error:
        complain(str(error))
        return NOT_COMPARED
    if output_format == "json":
        say_json(plain(found))
    else:
        _print(found, everything=everything)
    return REGRESSED if found["regressions"] else COMPARED


def _print(found: dict[str, Any], *, everything: bool) -> None:
    printer = Printer()
    names = [chr(ord("A") + index % 26) for index in range(len(found["files"]))]
    for name, path, model in zip(names, found["files"], found["asked_models"], strict=True):
        printer.line(f"{name}  {path}{f'  ({model})' if model else ''}")
    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column("")
    for name in (*names, "change"):
        table.add_column(name, justify="right", no_wrap=True)
    shown = [task for task in found["task_deltas"] if everything or _changed(task)]
    prompts = [
        prompt for prompt in found["trigger_prompts"] if everything or len(set(prompt["verdicts"])) > 1
    ]
    printer.table(table, _rows(found, shown, prompts))
    if hidden := len(found["task_deltas"]) - len(shown):
        printer.line((f"{counted(hidden, 'task')} without a change; --all shows them", "dim"))
    if hidden := len(found["trigger_prompts"]) - len(prompts):
        printer.line((f"{counted(hidden, 'trigger prompt')} without a change; --all shows them", "dim"))
    for name in found["regressions"]:
        printer.line(("✗", "red"), f" {name} passed, and fails now")
    for name, parts in zip(names, found["parts"], strict=True):
        for part in parts:
            printer.line(("⚠", "yellow"), f" {name}: {part}")
    printer.line(_trend(found))


def _changed(task: dict[str, Any]) -> bool:
    return len(set(task["verdicts"])) > 1 or abs(task["score_delta"] or 0.0) > _NOTHING


def _trend(found: dict[str, Any]) -> str:
    """Return whether the last run is better, judging by the trials that both have verdicts for."""
    better, worse, p = (found["paired"][key] for key in ("better", "worse", "p"))
    if not better + worse:
        return "no trial that was judged both times came out otherwise"
    said = f"{counted(better, 'trial')} better, {worse} worse"
    if p > SIGNIFICANT or better == worse:
        return f"{said}: too few to tell this from chance (p = {p:.2g})"
    return f"{said}: the last run is {'better' if better > worse else 'worse'} (p = {p:.2g})"


def _rows(
    found: dict[str, Any], tasks: Sequence[dict[str, Any]], prompts: Sequence[dict[str, Any]]
) -> Iterator[Sequence[Part] | None]:
    for task in tasks:
        scored = [verdict in _SCORED for verdict in task["verdicts"]]
        scores = [score if told else None for score, told in zip(task["scores"], scored, strict=True)]
        cells = [
            verdict or "n/a" if score is None else f"{shown_score(score)} {verdict}"
            for score, verdict in zip(scores, task["verdicts"], strict=True)
        ]
        yield task["task_id"], *cells, _delta(task["score_delta"], scores)
    for prompt in prompts:
        words = (_PROMPT_WORDS.get(verdict, "n/a") for verdict in prompt["verdicts"])
        yield prompt["prompt"], *words, "–"
    yield None
    yield "came to", *(VERDICT_WORDS[verdict] for verdict in found["verdicts"]), ""
    for label, key, change, shown in (
        ("score", "aggregate_scores", "aggregate_score_delta", _figure),
        ("tasks passed", "success_rates", "success_rate_delta", _percent),
    ):
        # A run without a judged task has neither.
        figures = [figure if told else None for figure, told in zip(found[key], found["scored"], strict=True)]
        yield label, *map(shown, figures), _delta(found[change], figures)


def _delta(delta: float | None, figures: Sequence[float | None]) -> Part:
    return _change(None if None in (figures[0], figures[-1]) else delta)


def _change(delta: float | None) -> Part:
    if delta is None:
        return "–"
    colour = "green" if delta > 1e-9 else "red" if delta < -1e-9 else "dim"
    return f"{delta:+.2f}", colour


def _figure(value: float | None) -> str:
    return "–" if value is None else shown_score(value)


def _percent(value: float | None) -> str:
    return "–" if value is None else shown_share(value)
