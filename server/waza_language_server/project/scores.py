"""Cache of the results of suites, and of the suite files at the time of recording.

Architecture invariant: answered from memory. The disk is read again after ``forget``, or after
``RECHECK_SECONDS``; no run is started here.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from waza_engine.files import FileError, read_text
from waza_language_server.project.changed_inputs import InputTexts
from waza_language_server.project.disk import MAX_BYTES
from waza_language_server.project.going_runs import GoingRuns
from waza_language_server.project.histories import Histories
from waza_language_server.project.recorded_values import Values, values
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
        self._graded: dict[tuple[Path, datetime], Values] = {}
        self.refused = RefusedRuns()
        self.going = GoingRuns()
        self.inputs = InputTexts()
        self.regraded = Regradings()
        self.strengths = Strengths()
        self.histories = Histories()

    def results(self, suite: Path) -> RunResult | None:
        """Return the last results of a suite, None when it was never run."""
        known = self._results.get(suite)
        if known is not None and time.monotonic() - known[0] <= RECHECK_SECONDS:
            return known[1]
        found = _found(suite)
        self._results[suite] = time.monotonic(), found
        return found

    def shown(self, suite: Path) -> RunResult | None:
        """Return the results that marks show of a suite: as last graded, and with runs rejected since."""
        found = self.regraded.over(suite, self.results(suite))
        return self.refused.over(suite, found)

    def tools(self, suite: Path) -> tuple[str, ...]:
        """Return the tools that the newest run of a suite called, in order of their first call."""
        run = self.results(suite)
        return run.tools if run is not None else ()

    def forget(self) -> None:
        """Look at the disk again: a result file has changed."""
        self._results.clear()

    def values_then(self, path: Path, moment: datetime, recorded: str | None = None) -> Values | None:
        """Return the values of the file at a moment; None if it was written later and not read before.

        ``recorded`` is its text in the record of the run, if that was stored.
        """
        known = self._graded.get((path, moment))
        if known is None and recorded is not None:
            known = self._graded[path, moment] = values(parse(recorded))
        if known is None:
            if not was_there(path, moment):
                return None
            try:
                tree = parse(read_text(path, MAX_BYTES))
            except FileError:
                return None
            known = self._graded[path, moment] = values(tree)
        return known


def _found(suite: Path) -> RunResult | None:
    # With the first hint: nothing of it is needed to look at a document.
    from waza_engine.results.reading.newest_scores import latest_results

    return latest_results(suite.parent, eval_file=suite.name)
