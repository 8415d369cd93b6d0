"""A rubric: a judge's criteria, from any source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from waza_engine.graders.judging.scales import Scale


@dataclass(frozen=True, slots=True)
class Rubric:
    """A judge's criteria, and how its rating is parsed.

    ``source`` is ``builtin:NAME``, ``file:PATH`` as written, or ``inline``. A rubric with ``verdicts`` was
    written for pass and fail. ``scale`` is None when only its text defines the ratings; ``rating_field``
    names the rating in the reply, "" when the reply decides. ``inputs`` are the inputs that the rubric names
    (input → source), ``answer`` the fields of the reply (name → what it holds).
    """

    text: str
    source: str = "inline"
    name: str = ""
    version: str = ""
    scale_name: str = ""
    verdicts: bool = False
    scale: Scale | None = None
    rating_field: str = ""
    inputs: Mapping[str, str] = field(default_factory=dict[str, str])
    answer: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def details(self) -> dict[str, str]:
        """Return the rubric's entry in a result."""
        return {
            "name": self.name,
            "version": self.version,
            "scale": self.scale_name,
            "source": self.source,
        }
