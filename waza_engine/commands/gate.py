"""``waza-engine gate``: fail when results regress against a baseline; sets the exit code."""

from __future__ import annotations

from pathlib import Path

from waza_engine.commands.options import GateFormat
from waza_engine.commands.printer import Printer
from waza_engine.commands.records import record_of
from waza_engine.counting import counted
from waza_engine.figures import shown_share
from waza_engine.results.json_values import Json, plain
from waza_engine.results.reading.recordings import RecordingError, read_recording
from waza_engine.results.reports.gate import NOT_GATED, GateLimits, gate, gate_markdown, prompts_words
from waza_engine.results.reports.github import Place, annotation
from waza_engine.results.writing.store import ResultsError
from waza_engine.terminal import complain, say_document, say_json, say_lines


def gate_command(baseline: Path, current: Path, limits: GateLimits, output_format: GateFormat) -> int:
    """Print whether the results pass, and return the exit code; 3 when a file cannot be used."""
    try:
        found = gate(read_recording(record_of(baseline)), read_recording(record_of(current)), limits)
        _print(found, output_format)
    except (RecordingError, ResultsError) as error:
        complain(str(error))
        return NOT_GATED
    return int(found["exit_code"])


def _print(found: Json, output_format: GateFormat) -> None:
    match output_format:
        case GateFormat.JSON:
            say_json(plain(found))
        case GateFormat.MARKDOWN:
            say_lines(gate_markdown(found))
        case GateFormat.GITHUB:
            _print_for_github(found)
        case GateFormat.HUMAN:
            _print_for_people(found)


def _print_for_github(found: Json) -> None:
    from waza_engine.commands.github_output import append_summary

    lines = [
        annotation("warning", issue["message"], Place(""), "gate") for issue in found.get("warnings", ())
    ]
    lines += [annotation("error", issue["message"], Place(""), "gate") for issue in found.get("failures", ())]
    say_document("".join(lines).encode("utf-8", "replace"), "commands")
    if not append_summary(gate_markdown(found)):
        say_lines(gate_markdown(found))


def _print_for_people(found: Json) -> None:
    printer = Printer()
    passed = found["passed"]
    printer.line((f"gate: {'PASS' if passed else found['verdict'].upper()}", "green" if passed else "red"))
    for name in ("baseline", "current"):
        model, judged = found.get(f"{name}_asked_model"), found[f"{name}_judged_count"]
        others = found[f"{name}_task_count"] - judged
        prompts = prompts_words(found, name)
        printer.line(
            f"{name}: {shown_share(found[f'{name}_success_rate'], 1)} of {counted(judged, 'task')} passed"
            if judged
            else f"{name}: no task was judged",
            f", {others} not judged" if others and judged else "",
            f", {prompts}" if prompts else "",
            f", {model}" if model else "",
        )
    points, most = found["regression_pct"], found["max_regression_pct"]
    printer.line(f"regression: {points:.2f} percentage points, at most {most:.2f}")
    new, removed = len(found.get("new_tasks", ())), len(found.get("removed_tasks", ()))
    printer.line(f"tasks: {new} new, {removed} removed")
    for issue in found.get("failures", ()):
        printer.line(("✗", "red"), f" {issue['message']}")
    for issue in found.get("warnings", ()):
        printer.line(("⚠", "yellow"), f" {issue['message']}")
