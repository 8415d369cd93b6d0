"""``waza-engine history``: the last runs of a suite, and each task over them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table

from waza_engine.commands.command_words import command_line
from waza_engine.commands.each_suite import Ended, for_each_suite
from waza_engine.commands.printer import Part, Printer
from waza_engine.counting import counted
from waza_engine.number_formats import format_score_history
from waza_engine.results.codec.run_documents import commit_in
from waza_engine.results.json_values import plain
from waza_engine.results.reading.history import history_of, runs_in
from waza_engine.results.reading.missing_results import describe_missing_results
from waza_engine.results.reading.recordings import RecordingError
from waza_engine.results.reports.descriptions import recorded_verdict_label
from waza_engine.results.reports.trend import trend
from waza_engine.runs.loading.discovery import eval_file_of, runs_as_suite
from waza_engine.spec.harness_files import ROW_SUFFIXES
from waza_engine.terminal import complain, say_json

SHOWN, NO_HISTORY = 0, 2
_MOST_SCORES = 5


def history_command(paths: Sequence[Path], most: int, output_format: str) -> int:
    """Print the last runs of each suite, ``most`` at most; return the exit code.

    Result files, such as captures of agent-eval-harness, are the runs of one history.
    """
    as_json = output_format == "json"
    files = [path for path in paths if _is_result_file(path)]
    if files and len(files) < len(paths):
        complain(f"{files[0]} is a result file; name either result files or suites.")
        return NO_HISTORY

    def show(path: Path) -> Ended:
        if files:
            runs = runs_in(files)
        else:
            path = eval_file_of(path)
            history = history_of(path)
            if not history.runs:
                advice = f"run it with `{command_line('run', path)}`"
                raise RecordingError(describe_missing_results(path, path.parent, advice))
            for why in history.unread:
                complain(f"warning: {why}")
            runs = history.runs
        found = trend(runs[-most:])
        if as_json:
            say_json(plain(found))
        else:
            _print_trend(found)
        runs, red = found["runs"], sum(bool(task["red_since"]) for task in found["tasks"])
        newest = recorded_verdict_label(runs[-1]["verdict"], runs[-1]["part"])
        failing = (counted(red, "failing task"), "red") if red else ""
        return Ended(
            SHOWN, (newest, format_score_history([run["score"] for run in runs], _MOST_SCORES), failing)
        )

    return for_each_suite(files[:1] or paths, show, ("last run", "scores", ""), as_json=as_json)


def _is_result_file(path: Path) -> bool:
    return path.suffix in ROW_SUFFIXES or (
        path.is_file() and path.suffix == ".json" and not runs_as_suite(path)
    )


def _print_trend(found: dict[str, Any]) -> None:
    printer = Printer()
    runs = found["runs"]
    printer.line(
        (format_score_history([run["score"] for run in runs], _MOST_SCORES), "bold"),
        f"  {_span([run['started'] for run in runs])}",
        f", {'' if len(runs) == 1 else 'the last one '}"
        f"{recorded_verdict_label(runs[-1]['verdict'], runs[-1]['part'])}",
        f" ({part})" if (part := runs[-1]["part"]) else "",
    )
    table = Table(box=box.SIMPLE, pad_edge=False)
    for column in ("task", "scores", "runs passed", ""):
        table.add_column(column, no_wrap=column == "scores")
    if found["tasks"]:
        printer.table(table, _rows(found))
    if others := sum(run["part"] is not None for run in runs[:-1]):
        verb = "was" if others == 1 else "were"
        printer.line(
            (f"{counted(others, 'earlier run')} {verb} of a part of the suite: no score of it", "dim")
        )


def _span(started: Sequence[str | None]) -> str:
    """Return the number of runs and their dates, those that are known."""
    days = [moment[:10] for moment in started if moment]
    which = "the only run" if len(started) == 1 else f"the last {len(started)} runs"
    return ", ".join(
        (which, *([days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"] if days else ()))
    )


def _rows(found: dict[str, Any]) -> Iterator[list[Part]]:
    runs = {run["file"]: run for run in found["runs"]}
    for task in found["tasks"]:
        words = [f"flaky ({task['passed_trials']}/{task['trials']} trials)"] if task["flaky"] else []
        words += [task["estimates"][-1]] if task["estimates"][-1] else []
        words += [_red_words(task, runs)] if task["red_since"] else []
        notes: Part = (", ".join(words), "red" if task["red_since"] else "yellow")
        yield [
            task["id"],
            format_score_history(task["scores"], _MOST_SCORES),
            f"{task['passed']}/{task['judged']}",
            notes,
        ]


def _red_words(task: dict[str, Any], runs: Mapping[str, Any]) -> str:
    since, before = runs[task["red_since"]], runs.get(task["passed_in"])
    words = f"{'newly ' if before else ''}red since {since['file']}{_at(since, ' (commit ', ')')}"
    return words + (_at(before, ", passed at ") if before else "")


def _at(run: dict[str, Any], before: str, after: str = "") -> str:
    commit = commit_in(run)
    return "" if commit is None else f"{before}{commit.words}{after}"
