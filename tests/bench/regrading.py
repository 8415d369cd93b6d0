"""How long grading a recorded run again takes: 1,000 tasks with five graders each.

``python -m tests.bench.regrading [TASKS] [TRIALS]`` prints the time of the whole command's work (reading the
record and the suite, grading, the answer) and of one check. A check is one grader on one trial.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from tests.engine.suites import run, write_suite
from waza_engine.commands.regraded import answer, graded
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.regrading import RegradeRequest, prepare_regrading
from waza_engine.runs.resident import ResidentSuites

GRADERS = """\
- {type: text, name: greets, config: {contains: [hello], regex_match: ['(?i)say']}}
- {type: code, name: substance, config: {assertions: [len(output) > 3, "'hello' in output.lower()"]}}
- {type: behavior, name: frugal, config: {max_tool_calls: 5, max_duration_ms: 60000}}
- {type: tool_constraint, name: tools, config: {reject_tools: [{tool: bash}]}}
- {type: keyword, name: words, config: {keywords: [hello]}}
"""
GRADER_COUNT = 5


def main(tasks: int = 1000, trials: int = 1) -> None:
    """Write a suite, run it once with the mock executor, grade the record again, print the figures."""
    with tempfile.TemporaryDirectory() as directory:
        names = [f"t{number:04}" for number in range(tasks)]
        suite = write_suite(
            Path(directory),
            {name: f"id: {name}\nname: {name}\ninputs: {{prompt: Say hello}}\n" for name in names},
            graders=GRADERS,
        )
        report, _ = run(suite, trials=trials)
        assert report.results_file is not None
        started = time.perf_counter()
        with ResidentSuites() as suites:
            regrading = prepare_regrading(RegradeRequest(report.results_file), suites)
            prepared = time.perf_counter()
            found = answer(regrading, graded(regrading, RunCancellation()))
            ended = time.perf_counter()
        assert len(found["tasks"]) == tasks
        assert found["passed"], found
    checks = tasks * trials * GRADER_COUNT
    print(f"{checks} checks: reading {prepared - started:.2f} s, grading {ended - prepared:.2f} s")  # noqa: T201
    print(f"{(ended - started) * 1000 / checks:.3f} ms a check, reading included")  # noqa: T201


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
