"""Grader files that stay loaded between answers: each start would cost more than a grade.

A Python file runs again for each answer in a process that stays (``python_worker.py``); a module is loaded
once and its ``grade`` is called for each (``module_grader.mjs``). Other files are started each time.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from waza_engine.graders.base import GradingContext
from waza_engine.graders.inline import answer_of_file, command_of
from waza_engine.graders.programs.program_output import UnusableAnswerError, run_program
from waza_engine.processes.programs import OUTPUT_LIMIT_BYTES, Finished
from waza_engine.processes.workers import WorkerLostError, WorkerPool, WorkerProgram, WorkersClosedError
from waza_engine.spec.program_files import is_module
from waza_engine.vocabulary import CANCELLED

_WORKER = Path(__file__).parent / "python_worker.py"
_NO_LIMIT = sys.maxsize


class WarmGrader:
    """One grader file. ``ask`` may be called from several threads; ``close`` ends its processes."""

    def __init__(self, file: Path, *, timeout_seconds: float, most: int = 1, compares: bool = False) -> None:
        """Load the file; ``most`` answers are graded at the same time.

        One that ``compares`` runs may export more names. Raises ``UnusableAnswerError``.
        """
        self._file = file
        self._seconds = timeout_seconds
        self._compares = compares
        self._command = command_of(file)
        self._pool = WorkerPool(deadline_seconds=timeout_seconds, workers=most, memory_bytes=_NO_LIMIT)
        self._program = self._worker_program()
        if self._program is not None and is_module(file):
            try:
                finished = self._answer_of_worker({"stdin": None})
                if finished is not None:
                    answer_of_file(file, finished, timeout_seconds=timeout_seconds)
            except UnusableAnswerError:
                self.close()
                raise

    def ask(self, stdin: str, workspace: Path | None) -> object:
        """Return the JSON value with which the file answers an input. Raises ``UnusableAnswerError``."""
        finished = self._answer_of_worker({"stdin": stdin, "workspace": str(workspace or "")})
        if finished is None:
            finished = run_program(
                self._command,
                self._file.name,
                GradingContext(workspace=workspace),
                stdin=stdin,
                timeout_seconds=self._seconds,
                cwd=Path.cwd(),
            )
        return answer_of_file(self._file, finished, timeout_seconds=self._seconds)

    def close(self) -> None:
        """End its processes, also those at work."""
        self._pool.close()

    def _worker_program(self) -> WorkerProgram | None:
        """Return the program that stays, None for a file that is started each time."""
        if is_module(self._file):
            command = [*self._command, "--serve", *(["compare"] if self._compares else [])]
        elif self._file.suffix == ".py" and os.name != "nt":
            command = [sys.executable, str(_WORKER)]
        else:
            return None
        return WorkerProgram(
            str(self._file),
            lambda _: command,
            {"file": str(self._file), "limit_bytes": OUTPUT_LIMIT_BYTES},
            watched=False,
            environment=os.environ,
        )

    def _answer_of_worker(self, request: Mapping[str, str | None]) -> Finished | None:
        """Return how the file ended in its warm process; None when only a process of its own can tell."""
        if self._program is None:
            return None
        try:
            with self._pool.turn(), self._pool.borrowed(self._program) as worker:
                (answer,) = worker.ask(request, 1)
                return Finished(
                    answer["exit_code"], answer["stdout"], answer["stderr"], cut=answer.get("cut", False)
                )
        except WorkersClosedError:
            raise UnusableAnswerError("cancelled", CANCELLED) from None
        except WorkerLostError as lost:
            if lost.why == "slow":
                return Finished(None, "", "", timed_out=True)
        except (OSError, ValueError, KeyError):
            # It cannot be started, or the grader wrote into its replies.
            pass
        # Also when the file ended the process: its exit code and output are lost with it.
        return None
