"""Findings before a run, in upstream's terms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["verified", "unresolved", "unsupported", "invalid"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that prevents a run, or may.

    ``invalid`` cannot work, ``unresolved`` cannot be known yet, ``unsupported`` is beyond this engine.
    ``message`` says what is wrong, ``remediation`` what to do, a clause each. ``task`` is the id of its task.
    ``told`` is true when nothing else in the run reports it.
    """

    code: str
    state: State
    source: str
    message: str
    remediation: str
    task: str = ""
    told: bool = False

    @property
    def severity(self) -> Literal["info", "warning", "error"]:
        """Return its severity: errors end a run that costs before it begins."""
        if self.state == "verified":
            return "info"
        return "error" if self.state == "invalid" else "warning"

    @property
    def sentence(self) -> str:
        """Return what is wrong, where, and what to do."""
        return f"{self.source}: {self.message}; {self.remediation}"
