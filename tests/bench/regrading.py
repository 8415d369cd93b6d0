"""How long grading a recorded run again takes.

``python -m tests.bench.regrading [TASKS] [TRIALS]`` prints the time of the whole command's work (reading the
record and the suite, grading, the answer) and of one check, for 1,000 tasks with five graders each; a check
is one grader on one trial. Then what an edit of one grader costs that is not saved: when nothing is resident,
as the first request for its suite, and as each one after it.
"""

import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from tests.engine.suites import run, write_suite
from waza_engine.commands.regraded import answer, graded
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.regrading.regrade import RegradeRequest, prepare_regrading
from waza_engine.runs.regrading.resident import ResidentSuites

GRADERS = """\
- {type: text, name: greets, config: {contains: [hello], regex_match: ['(?i)say']}}
- {type: code, name: substance, config: {assertions: [len(output) > 3, "'hello' in output.lower()"]}}
- {type: behavior, name: frugal, config: {max_tool_calls: 5, max_duration_ms: 60000}}
- {type: tool_constraint, name: tools, config: {reject_tools: [{tool: bash}]}}
- {type: keyword, name: words, config: {keywords: [hello]}}
"""
GRADER_COUNT = 5
SIZES = (10, 200)
EDITS = 20
FRESH = 5


def main(tasks: int = 1000, trials: int = 1) -> None:
    """Write suites, run them once with the mock executor, grade the records again, print the figures."""
    with recorded_suite(tasks, trials) as (_, record), ResidentSuites() as suites:
        started = time.perf_counter()
        regrading = prepare_regrading(RegradeRequest(record), suites)
        prepared = time.perf_counter()
        found = answer(regrading, graded(regrading, RunCancellation()))
        ended = time.perf_counter()
        assert len(found["tasks"]) == tasks
        assert found["passed"], found
    checks = tasks * trials * GRADER_COUNT
    print(f"{checks} checks: reading {prepared - started:.2f} s, grading {ended - prepared:.2f} s")  # noqa: T201
    print(f"{(ended - started) * 1000 / checks:.3f} ms a check, reading included")  # noqa: T201
    for size in SIZES:
        edits(size)


def edits(size: int) -> None:
    """Print what an edit of one grader costs, for one task and for all of them, in milliseconds (medians)."""
    with recorded_suite(size, trials=1) as (path, record):
        # What was written just now is not trusted to be as it was.
        time.sleep(2.1)
        for tasks in (("t0003",), ()):
            for name, text in (("greets", "contains: [hello]"), ("substance", "> 3")):
                requests = [
                    RegradeRequest(record, tasks=tasks, graders=(name,), overlays={path: typed})
                    for typed in typed_texts(path.read_text("utf-8"), text)
                ]
                fresh = [in_new_engine(request) for request in requests[:FRESH]]
                with ResidentSuites() as suites:
                    first, *again = (milliseconds(request, suites) for request in requests)
                print(  # noqa: T201
                    f"{size} tasks, `{name}` of {len(tasks) or 'all'}: without {median(fresh):.1f},"
                    f" first {first:.1f}, again {median(again):.1f}"
                )


def typed_texts(saved: str, text: str) -> list[str]:
    """Return the eval file after each of some edits of a text in it."""
    assert saved.count(text) == 1
    others = [text.replace("hello", f"hell{'o' * (number % 2)}") for number in range(EDITS)]
    others = [other.replace("> 3", f"> {number}") for number, other in enumerate(others)]
    return [saved.replace(text, other) for other in others]


def in_new_engine(request: RegradeRequest) -> float:
    """Return how long a request takes that finds nothing resident."""
    with ResidentSuites() as suites:
        return milliseconds(request, suites)


def milliseconds(request: RegradeRequest, suites: ResidentSuites) -> float:
    started = time.perf_counter()
    regrading = prepare_regrading(request, suites)
    assert answer(regrading, graded(regrading, RunCancellation()))["passed"]
    return (time.perf_counter() - started) * 1000


@contextmanager
def recorded_suite(tasks: int, trials: int) -> Generator[tuple[Path, Path]]:
    """Give a suite of so many tasks with five graders each, and its record."""
    with tempfile.TemporaryDirectory() as directory:
        names = [f"t{number:04}" for number in range(tasks)]
        path = write_suite(
            Path(directory),
            {name: f"id: {name}\nname: {name}\ninputs: {{prompt: Say hello}}\n" for name in names},
            graders=GRADERS,
        )
        report, _ = run(path, trials=trials)
        assert report.results_file is not None
        yield path, report.results_file


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
