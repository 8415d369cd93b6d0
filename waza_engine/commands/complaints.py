"""Warnings of an active run, each printed once: the trials of a task often repeat them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from waza_engine.runs.events.stream import RunEvent

_BEGINNINGS = ("warning: ", "error: ")


def is_complaint(event: RunEvent) -> bool:
    """Return whether an event is a warning, and not an answer."""
    return event.kind == "output" and (event.message or "").startswith(_BEGINNINGS)


class Complaints:
    """Remembers what was printed."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def has_told(self, text: str) -> bool:
        """Return whether exactly this was printed already."""
        return text in self._told

    def new_in(self, event: RunEvent) -> str:
        """Return the warning of an event, after the task it is about; "" for none and for a repeated one."""
        if not is_complaint(event):
            return ""
        text = f"{event.task}: {event.message}" if event.task else event.message or ""
        if self.has_told(text):
            return ""
        self._told.add(text)
        return text
