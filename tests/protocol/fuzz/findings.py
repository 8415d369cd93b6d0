"""What the fuzzer finds, and what a session is like from its start."""

from dataclasses import dataclass, field
from typing import Any

Step = dict[str, Any]
"""One thing to do; ``do`` says what, see ``conduct.py``."""


class FoundError(AssertionError):
    """The server did something wrong."""

    def __init__(self, kind: str, details: str) -> None:
        super().__init__(kind, details)
        self.kind = kind
        self.details = details

    def __str__(self) -> str:
        return f"{self.kind}: {self.details}"


@dataclass(frozen=True)
class Settings:
    """What a session is like from its start: the client's side of the introduction."""

    seed: int
    encoding: str = "utf-16"
    pulls: bool = True
    versions: bool = True
    trusted: bool = False
    replies: str = "null"
    """How the client answers requests of the server: ``null``, ``error`` or ``never``."""
    capabilities: dict[str, Any] = field(default_factory=dict[str, Any])
