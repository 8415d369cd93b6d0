"""``waza-engine gate``: fail when results regress against a baseline; sets the exit code."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from waza_engine.commands.each_suite import Ended, for_each, selected_paths
from waza_engine.commands.printer import Printer
from waza_engine.commands.result_arguments import record_of
from waza_engine.commands.shared_options import GateFormat
from waza_engine.counting import counted
from waza_engine.number_formats import format_share
from waza_engine.results.json_values import Json, plain
from waza_engine.results.reading.recordings import read_recording
from waza_engine.results.reports.gate import (
    GOLDEN_FAILED,
    NOT_GATED,
    PASSED,
    REGRESSED,
    GateLimits,
    Policy,
    describe_prompt_counts,
    gate,
    gate_markdown,
)
from waza_engine.results.reports.github import SourceLocation, annotation
from waza_engine.runs.loading.suite_on_disk import SuiteError
from waza_engine.terminal import complain, say_document, say_json, say_lines


def gate_command(baseline: Path, current: Path, limits: GateLimits, output_format: GateFormat) -> int:
    """Print whether the results pass, and return the exit code; 3 when a file cannot be used.

    Two directories with several suites are compared suite by suite. A suite that only one of them has is
    treated as a task that only one of two runs has.
    """
    try:
        pairs = _pairs(baseline, current)
    except SuiteError as error:
        complain(str(error))
        return NOT_GATED

    def compare(suite: str, before: Path | None, now: Path | None) -> Ended:
        if before is None or now is None:
            policy = limits.new_tasks if before is None else limits.removed_tasks
            return _only_in("current" if before is None else "baseline", suite, policy, output_format)
        found = gate(read_recording(record_of(before)), read_recording(record_of(now)), limits)
        _print(found, output_format, suite)
        return Ended(int(found["exit_code"]), (_verdict_part(found), _first_reason(found)))

    return for_each(
        {name: partial(compare, name, *pair) for name, pair in pairs.items()},
        ("gate", "why") if output_format == "human" else (),
        as_json=output_format == "json",
        failed=NOT_GATED,
        worst_last=(PASSED, REGRESSED, GOLDEN_FAILED, NOT_GATED),
        heading=None if output_format == "human" else lambda _: None,
    )


def _pairs(baseline: Path, current: Path) -> Mapping[str, tuple[Path | None, Path | None]]:
    """Return the two results of each suite, by its path in the directories; "" for results of one suite.

    Raises ``SuiteError`` when only one of the paths selects several suites.
    """
    before, now = selected_paths([baseline]), selected_paths([current])
    if len(before) == len(now) == 1:
        return {"": (before[0], now[0])}
    if min(len(before), len(now)) == 1 or not (baseline.is_dir() and current.is_dir()):
        raise SuiteError(
            f"--baseline {baseline} selects {counted(len(before), 'suite')} and --current {current} "
            f"{len(now)}; name two directories with the same suites, or one suite in each."
        )
    old = {os.path.relpath(path, baseline): path for path in before}
    new = {os.path.relpath(path, current): path for path in now}
    return {name: (old.get(name), new.get(name)) for name in sorted({*old, *new})}


def _only_in(side: str, suite: str, policy: Policy, output_format: GateFormat) -> Ended:
    """Report a suite that only one of the directories has, and return its end."""
    words, fails = f"the suite is only in the {side} results", policy == "fail"
    if policy != "allow":
        complain(f"{suite}: {words}")
    code = REGRESSED if fails else PASSED
    found = {"passed": not fails, "exit_code": code, "verdict": "fail" if fails else "pass"}
    if output_format == "json":
        say_json({"path": suite, **found, "message": words})
    return Ended(code, (_verdict_part(found), words))


def _print(found: Json, output_format: GateFormat, suite: str) -> None:
    match output_format:
        case "json":
            say_json(plain({"path": suite, **found} if suite else found))
        case "markdown":
            say_lines(gate_markdown(found, suite))
        case "github-actions":
            _print_for_github(found, suite)
        case "human":
            _print_for_people(found)


def _print_for_github(found: Json, suite: str) -> None:
    from waza_engine.commands.github_output import append_summary

    title = f"gate: {suite}" if suite else "gate"
    place, warnings, failures = SourceLocation(""), found.get("warnings", ()), found.get("failures", ())
    lines = [annotation("warning", issue["message"], place, title) for issue in warnings]
    lines += [annotation("error", issue["message"], place, title) for issue in failures]
    say_document("".join(lines).encode("utf-8", "replace"), "commands")
    if not append_summary(gate_markdown(found, suite)):
        say_lines(gate_markdown(found, suite))


def _verdict_part(found: Json) -> tuple[str, str]:
    passed = found["passed"]
    return ("PASS" if passed else str(found["verdict"]).upper(), "green" if passed else "red")


def _first_reason(found: Json) -> str:
    issues = [*found.get("failures", ()), *found.get("warnings", ())]
    return str(issues[0]["message"]) if issues else ""


def _print_for_people(found: Json) -> None:
    printer = Printer()
    printer.line("gate: ", _verdict_part(found))
    for name in ("baseline", "current"):
        model, judged = found.get(f"{name}_asked_model"), found[f"{name}_judged_count"]
        others = found[f"{name}_task_count"] - judged
        prompts = describe_prompt_counts(found, name)
        printer.line(
            f"{name}: {format_share(found[f'{name}_success_rate'], 1)} of {counted(judged, 'task')} passed"
            if judged
            else f"{name}: no task was judged",
            f", {others} not judged" if others and judged else "",
            f", {prompts}" if prompts else "",
            f", {estimates}" if (estimates := found.get(f"{name}_estimates")) else "",
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
