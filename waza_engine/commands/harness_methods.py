"""The commands of agent-eval-harness that an editor starts, as one JSON-RPC method.

They write next to the file that they read, under a name that is free: what was paid for is never replaced.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from waza_engine.commands.parameters import (
    Params,
    count_param,
    list_param,
    only_known,
    path_param,
    refused,
    text_param,
)
from waza_engine.harness.agent import AgentOptions, opened_agent
from waza_engine.harness.calibration import SAMPLE, calibration_report, checked_references, sampled_failures
from waza_engine.harness.capturing import CaptureOptions, Capturing
from waza_engine.harness.row_grading import HarnessGrader, Tally, graded_rows
from waza_engine.harness.rows import HarnessError, Notes, Prompt, line_of, prompts_in, read_rows, write_out
from waza_engine.json_rpc import INVALID_PARAMS
from waza_engine.results.result_file_names import JOURNAL_SUFFIX
from waza_engine.runs.limits.cancellation import RunCancellation

_ENDINGS: Mapping[str, str] = {
    "capture": "captures.jsonl",
    "trials": "trials.jsonl",
    "validate-refs": "references.jsonl",
    "grade": "graded.jsonl",
    "calibrate": "calibration.md",
}
"""The commands, and how the names of their files end."""
_TRIALS = 5


class HarnessMethods:
    """``harness.run`` and ``harness.cancel`` of one connection."""

    def __init__(self) -> None:
        self._active: dict[str, RunCancellation] = {}

    @property
    def running(self) -> bool:
        """Return whether any command is active."""
        return bool(self._active)

    def run(self, params: Params) -> dict[str, Any]:
        """Execute a ``command`` on a ``file``; return the written file, or None, and the verdicts.

        ``adapter`` and ``grader`` are files, ``ids`` those of the prompts, ``trials`` their number for each.
        ``work`` names it for ``harness.cancel``.
        """
        only_known(params, ("command", "file", "adapter", "grader", "ids", "trials", "work"))
        work, cancellation = text_param(params, "work"), RunCancellation()
        self._active[work] = cancellation
        try:
            return _execute(params, cancellation)
        except HarnessError as error:
            raise refused(str(error), INVALID_PARAMS) from None
        finally:
            self._active.pop(work, None)

    def cancel(self, params: Params) -> dict[str, Any]:
        """Cancel what was started as ``work``."""
        found = self._active.get(text_param(params, "work"))
        if found is not None:
            found.request()
        return {"canceled": found is not None}

    def cancel_all(self) -> None:
        """Cancel everything that is active."""
        for cancellation in tuple(self._active.values()):
            cancellation.request()


def _execute(params: Params, cancellation: RunCancellation) -> dict[str, Any]:
    command, file = text_param(params, "command"), path_param(params, "file")
    if command not in _ENDINGS:
        raise refused(f"There is no command {command}; write one of {', '.join(_ENDINGS)}.", INVALID_PARAMS)
    output, tally = _free_output(file, _ENDINGS[command]), Tally()
    with ExitStack() as stack:
        judge = None
        if params.get("grader") is not None:
            judge = stack.enter_context(HarnessGrader(path_param(params, "grader")))
            cancellation.on_request(judge.close)
        if command in ("capture", "trials"):
            tally = _capture(params, judge, output, stack, cancellation)
        elif command == "calibrate":
            if samples := sampled_failures(read_rows(file), SAMPLE, Notes()):
                write_out(calibration_report(samples, judge), output, notation="markdown")
        elif judge is None:
            raise refused(f"{command} needs a `grader`.", INVALID_PARAMS)
        elif command == "grade":
            write_out(map(line_of, graded_rows(file, judge, tally, show=False)), output)
        else:
            asked = _chosen(prompts_in(file, Notes()), params)
            write_out(map(line_of, checked_references(asked, judge, tally)), output)
    return {
        "file": str(output) if output.exists() else None,
        "status": "canceled" if cancellation.requested else "completed",
        "passed": tally.passed,
        "total": tally.total,
    }


def _capture(
    params: Params,
    judge: HarnessGrader | None,
    output: Path,
    stack: ExitStack,
    cancellation: RunCancellation,
) -> Tally:
    file = path_param(params, "file")
    asked = list(_chosen(prompts_in(file, Notes()), params))
    if not asked:
        raise HarnessError(f"{file.name} has no such prompt; save it first.")
    agent = stack.enter_context(opened_agent(AgentOptions(path_param(params, "adapter"), file.parent)))
    cancellation.on_request(agent.cancellation.request)
    trials = (count_param(params, "trials") or _TRIALS) if params["command"] == "trials" else 0
    capturing = Capturing(agent, asked, judge, CaptureOptions(trials, output=output))
    capturing.prepare()
    write_out(map(line_of, capturing.rows()), output)
    return capturing.tally


def _chosen(prompts: Iterator[Prompt], params: Params) -> Iterator[Prompt]:
    ids = list_param(params, "ids")
    return (prompt for prompt in prompts if not ids or prompt.id in ids)


def _free_output(file: Path, ending: str) -> Path:
    """Return a path next to a file that nothing has, not even a run that did not end."""
    name, suffix = ending.split(".")
    number = 1
    while True:
        counted = f"-{number}" if number > 1 else ""
        output = file.with_name(f"{file.stem}.{name}{counted}.{suffix}")
        if not output.exists() and not output.with_name(f"{output.name}{JOURNAL_SUFFIX}").exists():
            return output
        number += 1
