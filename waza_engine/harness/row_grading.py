"""Grade answers with a grader file by the protocol of agent-eval-harness, and ``grade`` rows with it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

from waza_engine.counting import counted
from waza_engine.files import FileError, read_bytes
from waza_engine.graders.programs.program_output import UnusableAnswerError, verdict_of_answer
from waza_engine.harness.row_values import has_failed, is_input
from waza_engine.harness.rows import HarnessError, Row, read_rows
from waza_engine.harness.warm_grader import WarmGrader
from waza_engine.results.json_values import Json, block_of
from waza_engine.results.record import Validation
from waza_engine.scoring.task_scores import composite, trial_status
from waza_engine.terminal import complain

TIMEOUT_SECONDS = 30.0
"""How long a grader may take for one answer."""
_RESULT_KEYS = ("reasoning", "outcome")
_MOST_BYTES = 100_000_000


class HarnessGrader:
    """A grader file that a person has named. A context manager, which ends its processes.

    ``most`` answers are graded at the same time. Raises ``HarnessError`` for a file that cannot be used.
    """

    def __init__(self, path: Path, *, most: int = 1) -> None:
        file = path.absolute()
        try:
            self._warm = WarmGrader(file, timeout_seconds=TIMEOUT_SECONDS, most=most)
            self.digest = hashlib.sha256(read_bytes(file, _MOST_BYTES)).hexdigest()[:16]
        except UnusableAnswerError as error:
            raise HarnessError(f"{error}.") from None
        except FileError as error:
            raise HarnessError(f"{path} cannot be read: {error.why}.") from None

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End its processes."""
        self.close()

    def close(self) -> None:
        """End its processes; what is being graded fails."""
        self._warm.close()

    def grade(self, values: Mapping[str, Any]) -> Json:
        """Return ``pass``, ``score`` and, if given, ``reasoning`` and ``outcome``.

        ``values`` are ``input``, ``output``, ``hint``, ``trajectory``, ``metadata`` and ``cwd``; those that
        are None are left out. Raises ``UnusableAnswerError``.
        """
        given = {key: value for key, value in values.items() if value is not None}
        cwd = given.get("cwd")
        workspace = Path(cwd).absolute() if isinstance(cwd, str) else None
        answer = self._warm.ask(json.dumps(given), workspace)
        verdict = verdict_of_answer(answer, "harness-json", "grader")
        written = cast("Mapping[str, Any]", answer)
        return {
            "pass": verdict.passed,
            "score": verdict.score,
            **{key: written[key] for key in _RESULT_KEYS if key in written},
        }


def failed_result(error: UnusableAnswerError) -> Json:
    """Return the result for an answer that a broken grader did not grade."""
    return {"pass": False, "score": 0, "reasoning": f"Error: {error}"}


def score_of_verdicts(verdicts: Mapping[str, Validation]) -> Json:
    """Return the verdicts of a suite's graders as one: it passes when all required ones do.

    They are its ``outcome``. Raises ``UnusableAnswerError`` when one could not grade, or waits for a person.
    """
    graded = [verdict.graded for verdict in verdicts.values()]
    status = trial_status(graded)
    if status not in ("passed", "failed") or not graded:
        broken = next((each for each in verdicts.values() if each.status != "graded"), None)
        why = f"{broken.name}: {broken.feedback}" if broken else "nothing graded the answer"
        raise UnusableAnswerError("exit", why)
    failed = [f"{each.name}: {each.feedback}" for each in verdicts.values() if not each.passed]
    outcome = {
        name: {
            "pass": each.passed,
            "score": each.score,
            "feedback": each.feedback,
            **({} if each.required else {"required": False}),
        }
        for name, each in verdicts.items()
    }
    return {
        "pass": status == "passed",
        "score": composite(graded).weighted_score,
        "reasoning": "; ".join(failed) or "All graders pass",
        "outcome": outcome,
    }


class Tally:
    """Counts verdicts, and keeps the first error of the grader."""

    def __init__(self) -> None:
        self.passed = 0
        self.total = 0
        self._broken = 0
        self._error = ""

    @property
    def rate(self) -> float:
        """Return the share of rows that passed, 0 when there are none."""
        return self.passed / self.total if self.total else 0.0

    def add(self, *, passed: bool, failed: bool = False) -> None:
        """Count a verdict; an answer of an agent that ``failed`` did not pass."""
        self.total += 1
        self.passed += passed and not failed

    def add_broken(self, error: UnusableAnswerError, place: str) -> None:
        """Count a row that the grader could not grade: it did not pass."""
        self.total += 1
        self._broken += 1
        self._error = self._error or f"{place}: {error}"

    def complain(self) -> None:
        """Report grader errors on standard error."""
        if self._broken:
            complain(
                f"warning: {counted(self._broken, 'answer')} could not be graded. The first: {self._error}"
            )


def graded_rows(path: Path, grader: HarnessGrader, tally: Tally, *, show: bool) -> Iterator[Json]:
    """Yield the rows of a file with their ``score``; ``show`` prints each verdict on standard error.

    A row that the grader cannot grade has the reason in ``errors`` (of a capture) or ``error`` instead.
    """
    for row in read_rows(path):
        graded = _graded(row, grader, tally)
        if show:
            score = graded.get("score")
            complain(
                f"{graded.get('id')}: {score['score']:.2f}" if score else f"{graded.get('id')}: not graded"
            )
        yield graded


def _graded(row: Row, grader: HarnessGrader, tally: Tally) -> Json:
    block = row.block
    if not is_input(block.get("input")) or not isinstance(block.get("output"), str):
        raise HarnessError(f"{row.place}: `input` and `output` must be strings; this row cannot be graded.")
    # The verdict of another grader must not stay next to this one's.
    graded = {key: value for key, value in block.items() if key not in ("score", "outcome")}
    keys = ("input", "output", "hint", "trajectory", "metadata", "cwd")
    try:
        score = grader.grade({key: block.get(key) for key in keys})
    except UnusableAnswerError as error:
        tally.add_broken(error, row.place)
        if "sessionCreation" in block_of(block, "timing"):
            return {**graded, "errors": [*_texts(block.get("errors")), str(error)]}
        return {**graded, "error": str(error)}
    tally.add(passed=score["pass"], failed=has_failed(block))
    outcome = {"outcome": score["outcome"]} if score.get("outcome") else {}
    return {**graded, "score": score, **outcome}


def _texts(value: object) -> list[str]:
    return [str(item) for item in cast("list[object]", value)] if isinstance(value, list) else []
