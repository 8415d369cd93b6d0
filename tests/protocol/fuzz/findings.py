"""What the fuzzer finds, and the files that bring it back."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

Step = dict[str, Any]
"""One thing to do, as it stands in a replay file; ``do`` says what, see ``session.Session``."""


class FoundError(AssertionError):
    """The server did something wrong. ``kind`` stays the same when the way to it gets shorter."""

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


def write_replay(path: Path, settings: Settings, steps: Iterable[Step]) -> None:
    """Write a session: its settings in the first line, a step in each of the others."""
    lines = [json.dumps(asdict(settings)), *(json.dumps(step) for step in steps)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", "utf-8")


def read_replay(path: Path) -> tuple[Settings, list[Step]]:
    """Read a session back."""
    first, *rest = path.read_text("utf-8").splitlines()
    return Settings(**json.loads(first)), [json.loads(line) for line in rest]
