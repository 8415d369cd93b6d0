"""On which recorded run the live verdicts of a suite are judged, as it was chosen in this session."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from waza_engine.frozen import frozen


@frozen()
class ChosenBed:
    """A result file, None for the newest answers, and the trial of each task, None for all.

    ``started`` is when the run of the file began.
    """

    record: Path | None = None
    trial: int | None = None
    started: datetime | None = None

    @property
    def is_default(self) -> bool:
        """Return whether nothing was chosen: the newest trials are used."""
        return self.record is None and self.trial is None


class ChosenBeds:
    """The recorded baselines of the suites; by default the newest trials."""

    def __init__(self) -> None:
        self._chosen: dict[Path, ChosenBed] = {}

    def of(self, suite: Path) -> ChosenBed:
        """Return the test bed of a suite."""
        return self._chosen.get(suite, ChosenBed())

    def choose(self, suite: Path, bed: ChosenBed) -> None:
        """Take another test bed for a suite."""
        self._chosen[suite] = bed
