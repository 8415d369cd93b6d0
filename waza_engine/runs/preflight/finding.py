"""What is found before a run, in upstream's words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["verified", "unresolved", "unsupported", "invalid"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that stands in the way of a run, or may.

    ``invalid`` is what cannot work, ``unresolved`` what nobody can know yet, ``unsupported`` what this engine
    cannot do. ``message`` says what is wrong, ``remediation`` what to do, a clause each. ``task`` is the id
    of the task that it is about. ``told`` is true when nothing else of the run says it.
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
        """How grave it is: errors end a run that costs before it begins."""
        if self.state == "verified":
            return "info"
        return "error" if self.state == "invalid" else "warning"

    @property
    def sentence(self) -> str:
        """What is wrong, where, and what to do."""
        return f"{self.source}: {self.message}; {self.remediation}"
