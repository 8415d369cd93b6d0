"""How strong the graders of a suite were when somebody asked, each as it was written then.

They stand in no file, and hold for a grader that says what it said when it was measured: of one that was
edited since, nothing is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from waza_engine.frozen import frozen

if TYPE_CHECKING:
    from waza_engine.spec.reading.scalars import Json


@frozen()
class Strength:
    """What was measured of one grader; ``entry`` is the grader entry that was asked.

    Of ``tried`` changes of ``trials`` recorded trials it noticed ``caught``; ``missed`` are the kinds of
    changes of which it noticed none. ``finding`` says in a sentence why it is weak, "" when it is not;
    ``not_measured`` why nothing is known. ``weak_checks`` lead from its config to checks that decide nothing.
    """

    entry: Json
    trials: int
    caught: int
    tried: int
    missed: tuple[str, ...]
    finding: str
    not_measured: str
    passed_on: tuple[str, ...]
    weak_checks: tuple[tuple[str | int, ...], ...]


class Strengths:
    """The last measurement of each suite."""

    def __init__(self) -> None:
        self._suites: dict[Path, Mapping[tuple[str, str], Strength]] = {}

    def take(self, suite: Path, answer: object, entries: Mapping[tuple[str, str], Json]) -> int:
        """Take what the engine answers to ``grader.strength``; return how many graders it tells of.

        ``entries`` are the grader entries that were asked, by task and name, those of the suite at ``""``.
        """
        found: dict[tuple[str, str], Strength] = {}
        for block in _list(answer, "graders"):
            name = str(_value(block, "name"))
            for task in _list(block, "tasks"):
                place = str(task) if (str(task), name) in entries else ""
                if (place, name) in entries:
                    found[place, name] = _strength(block, entries[place, name])
        self._suites[suite] = found
        return len(found)

    def of(self, suites: Sequence[Path], task: str, name: str, entry: Json) -> Strength | None:
        """Return what is known of a grader as it is written; ``task`` is "" for one of the suite."""
        for suite in suites:
            found = self._suites.get(suite, {}).get((task, name))
            if found is not None and found.entry == entry:
                return found
        return None

    @property
    def empty(self) -> bool:
        """Whether nothing was measured at all."""
        return not self._suites

    def has_any(self, suites: Sequence[Path]) -> bool:
        """Tell whether anything was measured of one of these suites."""
        return any(suite in self._suites for suite in suites)


def _strength(block: object, entry: Json) -> Strength:
    kinds = cast("Mapping[str, object]", _value(block, "kinds") or {})
    return Strength(
        entry=entry,
        trials=_whole(block, "trials"),
        caught=_whole(block, "caught"),
        tried=_whole(block, "tried"),
        missed=tuple(kind for kind, counts in kinds.items() if not _whole(counts, "caught")),
        finding=str(_value(block, "message") or ""),
        not_measured=str(_value(block, "not_measured") or ""),
        passed_on=tuple(str(kind) for kind in _list(block, "passed_on")),
        weak_checks=tuple(
            tuple(step for step in _list(check, "path") if isinstance(step, str | int))
            for check in _list(block, "weak_checks")
        ),
    )


def _value(value: object, key: str) -> Any:
    return cast("Mapping[str, Any]", value).get(key) if isinstance(value, Mapping) else None


def _list(value: object, key: str) -> Sequence[Any]:
    found = _value(value, key)
    return cast("Sequence[Any]", found) if isinstance(found, list) else ()


def _whole(value: object, key: str) -> int:
    found = _value(value, key)
    return found if isinstance(found, int) else 0
