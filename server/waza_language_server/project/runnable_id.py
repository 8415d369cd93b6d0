"""The name of what can be run: the same on its lens, in its run, and where its results are looked up."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Literal

from waza_engine.frozen import frozen

RunnableKind = Literal["suite", "task", "grader"]
_STEP = "::"


@frozen()
class RunnableId:
    """A suite, one of its tasks, or one grader: of one task, or of all when ``task`` is None.

    As text it is a path, ``suite::task::grader``, and never a line number: it stays valid while lines move.
    """

    suite: Path
    task: str | None = None
    grader: str | None = None

    @property
    def kind(self) -> RunnableKind:
        """What is run."""
        return "grader" if self.grader is not None else "suite" if self.task is None else "task"

    @property
    def parent(self) -> RunnableId | None:
        """What runs this among others; None of a suite."""
        if self.grader is not None:
            return replace(self, grader=None)
        return replace(self, task=None) if self.task is not None else None

    def __str__(self) -> str:
        """Return the text: a colon inside of a name is ``%3A``, a percent sign ``%25``."""
        place, drive = self.suite.as_posix(), self.suite.drive
        steps = [drive + _escaped(place[len(drive) :])]
        if self.task is not None or self.grader is not None:
            steps.append(_escaped(self.task or ""))
        if self.grader is not None:
            steps.append(_escaped(self.grader))
        return _STEP.join(steps)

    @staticmethod
    def parse(text: str) -> RunnableId:
        """Return what a text names. Raises ``ValueError`` when it is none of these names."""
        suite, *names = map(_unescaped, text.split(_STEP))
        if not Path(suite).is_absolute() or len(names) > 2 or (names and not names[-1]):
            raise ValueError(f"{text} does not name a suite, a task or a grader")
        task, grader = (*names, None, None)[:2]
        return RunnableId(Path(os.path.normpath(suite)), task or None, grader)


def _escaped(name: str) -> str:
    return name.replace("%", "%25").replace(":", "%3A")


def _unescaped(name: str) -> str:
    return name.replace("%3A", ":").replace("%25", "%")
