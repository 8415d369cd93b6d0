"""Cache of the results of suites, and of the suite files at the time of recording.

Architecture invariant: answered from memory. The disk is read again after ``forget``, or after
``RECHECK_SECONDS``; no run is started here.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from waza_engine.files import FileError, read_text
from waza_engine.steps import Steps, finished
from waza_language_server.project.changed_inputs import InputTexts
from waza_language_server.project.disk import MAX_BYTES
from waza_language_server.project.going_runs import GoingRuns
from waza_language_server.project.histories import Histories
from waza_language_server.project.recorded_values import Values, values_in_steps
from waza_language_server.project.refused_runs import RefusedRuns
from waza_language_server.project.regraded import Regradings
from waza_language_server.project.stamps import was_there
from waza_language_server.project.strengths import Strengths
from waza_language_server.syntax.tree import parse

if TYPE_CHECKING:
    from datetime import datetime

    from waza_engine.results.reading.scores import RunResult

RECHECK_SECONDS = 2.0


class Scores:
    """The memory of results, shared by all views of a project."""

    def __init__(self) -> None:
        self._results: dict[Path, tuple[float, RunResult | None]] = {}
        self._readings: dict[Path, tuple[float, Steps[RunResult | None]]] = {}
        """The suites whose results are being read, with the time of the last step."""
        self._graded: dict[tuple[Path, datetime], Values] = {}
        self.refused = RefusedRuns()
        self.going = GoingRuns()
        self.inputs = InputTexts()
        self.regraded = Regradings()
        self.strengths = Strengths()
        self.histories = Histories()

    def results(self, suite: Path) -> RunResult | None:
        """Return the last results of a suite, None when it was never run."""
        return finished(self.results_in_steps(suite))

    def results_in_steps(self, suite: Path) -> Steps[RunResult | None]:
        """Do the same with a pause after each file that must be read."""
        while True:
            known = self._results.get(suite)
            if known is not None and time.monotonic() - known[0] <= RECHECK_SECONDS:
                return known[1]
            # A concurrent caller continues the same generator.
            touched, reading = self._readings.get(suite) or (0.0, _found_in_steps(suite))
            if time.monotonic() - touched > RECHECK_SECONDS:
                # The generator was abandoned, and files may have changed since.
                reading = _found_in_steps(suite)
            self._readings[suite] = time.monotonic(), reading
            try:
                next(reading)
            except StopIteration as end:
                self._results[suite] = time.monotonic(), end.value
                del self._readings[suite]
                return end.value
            except Exception:
                del self._readings[suite]
                raise
            yield

    def shown_in_steps(self, suite: Path) -> Steps[RunResult | None]:
        """Return the results that marks show of a suite: as last graded, and with runs rejected since."""
        found = self.regraded.over(suite, (yield from self.results_in_steps(suite)))
        return self.refused.over(suite, found)

    def tools(self, suite: Path) -> tuple[str, ...]:
        """Return the tools that the newest run of a suite called, in order of their first call."""
        run = self.results(suite)
        return run.tools if run is not None else ()

    def forget(self) -> None:
        """Look at the disk again: a result file has changed."""
        self._results.clear()
        self._readings.clear()

    def values_then(self, path: Path, moment: datetime, recorded: str | None = None) -> Values | None:
        """Return the values of the file at a moment; None if it was written later and not read before.

        ``recorded`` is its text in the record of the run, if that was stored.
        """
        known = self._graded.get((path, moment))
        if known is None and recorded is not None:
            known = self._graded[path, moment] = finished(values_in_steps(parse(recorded)))
        if known is None:
            if not was_there(path, moment):
                return None
            try:
                tree = parse(read_text(path, MAX_BYTES))
            except FileError:
                return None
            known = self._graded[path, moment] = finished(values_in_steps(tree))
        return known


def _found_in_steps(suite: Path) -> Steps[RunResult | None]:
    # With the first hint: nothing of it is needed to look at a document.
    from waza_engine.results.reading.newest_scores import latest_results_in_steps

    return latest_results_in_steps(suite.parent, eval_file=suite.name)
