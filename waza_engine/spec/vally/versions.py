"""The keys, values and forms that not every version of Vally takes, as one table. Light.

From Vally's release notes 0.3 to 0.19. Versions are 0.N and are given as N. The schemas carry the rows of
their keys as ``x-waza-versions``; the editor compares them with the version of a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later

OLDEST, NEWEST = 4, 19
VERSIONS = range(OLDEST, NEWEST + 1)
_COMMENT = compiled_later(r"(?m)^[ \t]*#[ \t]*vally(?:[ -]version)?[ \t]*[:=]?[ \t]+v?0\.([0-9]{1,3})\b")


@frozen()
class Change:
    """Something that the versions from ``since`` to the one before ``until`` take.

    ``block`` is the block that has the key ``name``: for a value of a few it is the key, for a grader type
    ``type``, and ``form`` for the form of a value. ``instead`` is the newer key or type, "" without one.
    """

    block: str
    name: str
    since: int = 0
    until: int | None = None
    instead: str = ""

    def is_taken_by(self, version: int) -> bool:
        """Return whether a version takes it."""
        return self.since <= version and (self.until is None or version < self.until)

    @property
    def limits(self) -> dict[str, Any]:
        """The versions and the newer name, as far as there are any."""
        limits = {"since": self.since or None, "until": self.until, "instead": self.instead or None}
        return {key: value for key, value in limits.items() if value is not None}

    @property
    def schema(self) -> dict[str, Any]:
        """The row as annotations of a schema."""
        since = {"x-waza-since": f"Vally 0.{self.since}"} if self.since > OLDEST else {}
        return {**since, "x-waza-versions": self.limits}


CHANGES = (
    Change("file", "config", until=15, instead="defaults"),
    Change("file", "defaults", since=7),
    Change("constraints", "max_duration_ms", until=4, instead="max_duration"),
    Change("environment", "commandTimeout", since=9),
    Change("stimulus", "artifacts", since=7),
    Change("stimulus", "attachments", since=11),
    Change("stimulus", "simulation", since=17),
    Change("defaults", "reasoning_effort", since=11),
    Change("defaults", "judge_reasoning_effort", since=9),
    Change("defaults", "judge_provider", since=14),
    Change("scoring", "timeout", since=19),
    Change("project", "metadata", since=17),
    Change("project", "plugins", since=19),
    Change("run-command", "env", since=5),
    Change("run-command", "sub_path", since=5),
    Change("run-command", "stdout_contains", since=7),
    Change("run-command", "stderr_contains", since=7),
    Change("run-command", "stdout_matches", since=7),
    Change("run-command", "stdout_not_matches", since=7),
    Change("program", "env", since=5),
    Change("program", "sub_path", since=5),
    Change("prompt", "reasoning_effort", since=9),
    Change("prompt", "output_delivery", until=17),
    Change("tool-calls", "pattern", since=9),
    Change("tool-calls", "write_only", since=15),
    Change("tool-calls", "read_only", since=15),
    Change("tool-call-count", "tools", since=13),
    Change("max-repeat", "max_cycle_period", since=12),
    Change("evidence", "golden_patch", since=10),
    Change("evidence", "repo", since=14),
    Change("git", "clone", since=9),
    Change("type", "panel", since=5),
    Change("type", "pairwise", until=9),
    Change("type", "loop-outcome", since=9),
    Change("type", "assistant-contains-tool-output", since=13),
    Change("type", "system-event", since=15),
    Change("type", "step-count", since=15),
    Change("form", "a duration without a unit", until=4),
    Change("form", "a file without `dest`", until=10),
    Change("form", "an executor as a block", since=13),
    Change("form", "a grader name that is no slug", until=16),
    Change("form", "an unknown key of a stimulus", until=17),
)
_BY_PLACE: Mapping[tuple[str, str], Change] = {(row.block, row.name): row for row in CHANGES}


def change_of(block: str, name: str) -> Change | None:
    """Return the row of a key or value; None if every version takes it."""
    return _BY_PLACE.get((block, name))


def chosen_version(text: str) -> int | None:
    """Return the version that a comment line chooses (``# vally: 0.16``), None without one."""
    found = _COMMENT.search(text)
    return int(found[1]) if found else None


def detected_version(used: Iterable[Change]) -> int:
    """Return the newest version that takes everything used, or else as much of it as any."""
    rows = tuple(used)
    return max(VERSIONS, key=lambda version: (sum(row.is_taken_by(version) for row in rows), version))


_SLUG = compiled_later(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_WORDS, _HUMP = compiled_later(r"[a-z0-9]+"), compiled_later(r"(?<=[a-z0-9])(?=[A-Z])")
LONGEST_SLUG = 60


def is_slug(name: str) -> bool:
    """Return whether a name is one that Vally takes since 0.16: kebab-case, at most 60 characters."""
    return len(name) <= LONGEST_SLUG and _SLUG.fullmatch(name) is not None


def slug_of(name: str) -> str:
    """Return the slug of a name, "" if no letter or digit is left."""
    words = _WORDS.findall(_HUMP.sub("-", name).lower())
    return "-".join(words)[:LONGEST_SLUG].strip("-")


_DURATION = compiled_later(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(ms|s|m|h)?\s*")
_MILLISECONDS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000}


def milliseconds_of(duration: object) -> float | None:
    """Return a duration in milliseconds, None for other values; without a unit it counts seconds."""
    found = None if isinstance(duration, bool) else _DURATION.fullmatch(str(duration))
    return float(found[1]) * _MILLISECONDS[found[2] or "s"] if found else None


def has_unit(duration: str) -> bool:
    """Return whether a duration has its unit, which every version since 0.4 requires."""
    found = _DURATION.fullmatch(duration)
    return found is None or found[2] is not None


def written_duration(milliseconds: float) -> str:
    """Return a duration as Vally writes it, in the largest unit that keeps it whole: ``90s``."""
    for unit, size in reversed(_MILLISECONDS.items()):
        if milliseconds >= size and milliseconds % size == 0:
            return f"{int(milliseconds // size)}{unit}"
    return f"{milliseconds:g}ms"
