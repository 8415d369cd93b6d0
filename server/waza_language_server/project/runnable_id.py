"""The id of a runnable: the same in its lens, in its run, and in the lookup of its results."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Literal

from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later

RunnableKind = Literal["suite", "task", "grader", "prompt"]
_STEP = "::"
# A colon in a path or a name is escaped, so neither can be mistaken for the prefix of a prompt.
_PROMPT = compiled_later(r"#(triggers|leaves):")


@frozen()
class RunnableId:
    """A suite, one of its tasks, one grader, or one trigger prompt.

    A grader is that of one task, or of all when ``task`` is None. As text it is a path,
    ``suite::task::grader`` or ``suite#triggers:prompt`` (``#leaves:`` for a prompt that should not trigger),
    and never a line number: it stays valid while lines move.
    """

    suite: Path
    task: str | None = None
    grader: str | None = None
    prompt: str | None = None
    should_trigger: bool = True

    @property
    def kind(self) -> RunnableKind:
        """The kind of thing that is run."""
        if self.prompt is not None:
            return "prompt"
        return "grader" if self.grader is not None else "suite" if self.task is None else "task"

    @property
    def parent(self) -> RunnableId | None:
        """The runnable that contains this one; None for a suite."""
        if self.prompt is not None:
            return RunnableId(self.suite)
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
        text = _STEP.join(steps)
        if self.prompt is None:
            return text
        return f"{text}#{'triggers' if self.should_trigger else 'leaves'}:{self.prompt}"

    @staticmethod
    def parse(text: str) -> RunnableId:
        """Return the id that a string encodes. Raises ``ValueError`` if it is not valid."""
        found = _PROMPT.search(text)
        before, prompt = (text, None) if found is None else (text[: found.start()], text[found.end() :])
        suite, *names = map(_unescaped, before.split(_STEP))
        named = [*names[-1:], *([] if prompt is None else [prompt])]
        wrong = len(names) > 2 or not all(map(str.strip, named)) or (prompt is not None and names)
        if not Path(suite).is_absolute() or wrong:
            raise ValueError(f"{text} does not name a suite, a task, a grader or a prompt")
        if found is not None:
            should_trigger = found[1] == "triggers"
            return RunnableId(Path(os.path.normpath(suite)), prompt=prompt, should_trigger=should_trigger)
        task, grader = (*names, None, None)[:2]
        return RunnableId(Path(os.path.normpath(suite)), task or None, grader)


def _escaped(name: str) -> str:
    return name.replace("%", "%25").replace(":", "%3A")


def _unescaped(name: str) -> str:
    return name.replace("%3A", ":").replace("%25", "%")
