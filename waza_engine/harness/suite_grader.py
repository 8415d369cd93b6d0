"""The program of a converted suite: grade an answer with all graders of its task, for agent-eval-harness.

``waza-engine convert --to harness`` writes ``grader.py``, which calls this. The answer becomes a record of
one trial, which is graded as ``waza-engine grade`` does.
"""

from __future__ import annotations

import atexit
import json
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from waza_engine.files import write_bytes
from waza_engine.graders.programs.program_output import UnusableAnswerError
from waza_engine.harness.row_grading import score_of_verdicts
from waza_engine.harness.rows import STANDARD_STREAM, opened_rows
from waza_engine.results.json_values import Block, Json, block_of, blocks_of, object_in, text_of
from waza_engine.results.reading.recordings import RecordingError
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.loading.suite_on_disk import SuiteError
from waza_engine.runs.regrading.regrade import RegradeRequest, prepare_regrading
from waza_engine.runs.regrading.resident import ResidentSuites
from waza_engine.spec.harness_files import TASK_KEY
from waza_engine.spec.problems import SuiteFileError
from waza_engine.terminal import say_json

_MOST_BYTES = 64_000_000


def grade_standard_input(suite: Path) -> None:
    """Print the verdict of a suite on the answer on standard input.

    Exits with 1 and a sentence when a grader could not grade: that is no failure of the agent.
    """
    with opened_rows(STANDARD_STREAM) as stream:
        given = object_in(stream.read(_MOST_BYTES))
    if given is None:
        sys.exit("Standard input must be one JSON object.")
    try:
        score = score_of_answer(suite, given)
    except (SuiteFileError, SuiteError, RecordingError, UnusableAnswerError) as error:
        sys.exit(str(error))
    say_json(score)


def score_of_answer(suite: Path, given: Block) -> Json:
    """Return the verdict of a suite on what a grader file is given; ``metadata`` names the task.

    Raises ``SuiteFileError``, ``SuiteError``, ``RecordingError`` and ``UnusableAnswerError``.
    """
    task, cwd = text_of(block_of(given, "metadata").get(TASK_KEY)), text_of(given.get("cwd"))
    if not task:
        raise SuiteError(f"`metadata.{TASK_KEY}` must be the id of a task in {suite.name}.")
    row: dict[str, Any] = {
        "id": task,
        "input": given.get("input"),
        "output": text_of(given.get("output")),
        "trajectory": blocks_of(given.get("trajectory")),
        "timing": {},
    }
    if cwd and not Path(cwd).is_dir():
        raise SuiteError(f"`cwd` must name a directory; {cwd} is not one.")
    with tempfile.TemporaryDirectory(prefix="waza-grader-") as folder:
        record = Path(folder) / "answer.jsonl"
        write_bytes(record, json.dumps(row).encode())
        request = RegradeRequest(record, suite, workspace=Path(cwd) if cwd else None)
        try:
            regrading = prepare_regrading(request, _resident_suites())
        except SuiteError:
            raise SuiteError(f"{suite.name} has no task `{task}`.") from None
        (found,) = regrading.grade(RunCancellation())
    if found.error:
        raise SuiteError(found.error)
    return score_of_verdicts(found.trials[0].validations or {})


@cache
def _resident_suites() -> ResidentSuites:
    """Return the suites of this process, which grades many answers when its caller keeps it."""
    suites = ResidentSuites(most=1)
    atexit.register(suites.close)
    return suites
