"""What would be left behind by an error, in a process where nobody looks for garbage (``serving.start``)."""

from __future__ import annotations

from traceback import clear_frames
from typing import cast


def let_go(error: BaseException) -> None:
    """Free the frames of an error and of those behind it: they hold it, and the texts that they worked on."""
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is None or one.__traceback__ is None:
            continue
        clear_frames(one.__traceback__)
        one.__traceback__ = None
        waiting += (one.__cause__, one.__context__)
        if isinstance(one, BaseExceptionGroup):
            waiting += cast("BaseExceptionGroup[BaseException]", one).exceptions
