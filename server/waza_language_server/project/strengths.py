"""Mutation scores of the graders of a suite, each as it was written when it was measured.

They are not stored, and are valid as long as the grader is unchanged: the score of one that was edited since
is unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from waza_engine.counting import counted
from waza_engine.frozen import frozen
from waza_engine.results.json_values import (
    Block,
    blocks_by_name,
    blocks_of,
    path_of,
    text_of,
    texts_of,
    whole,
)
from waza_engine.vocabulary import shown_grader

if TYPE_CHECKING:
    from waza_engine.spec.reading.scalars import Json


@frozen()
class WeakCheck:
    """A check that decides nothing, and why, in a sentence; ``path`` leads to it from the config."""

    path: tuple[str | int, ...]
    message: str


@frozen()
class Strength:
    """The mutation score of one grader; ``entry`` is the grader entry that was measured.

    For a list of ``expected``, ``entry`` is the block with that list alone.

    It noticed ``caught`` of ``tried`` mutations of ``trials`` recorded trials; it noticed no mutation of the
    kinds in ``missed``. ``finding`` says in a sentence why it is weak, "" if it is not; ``not_measured`` why
    there is no score. ``weak_checks`` are those of its checks that decide nothing; ``rejected`` are
    sentences about answers known to be good on which it fails.
    """

    entry: Json
    trials: int
    caught: int
    tried: int
    missed: tuple[str, ...]
    finding: str
    not_measured: str
    passed_on: tuple[str, ...]
    weak_checks: tuple[WeakCheck, ...]
    rejected: tuple[str, ...] = ()


def strength_summary(measured: Sequence[Block]) -> str:
    """Return in one line what measuring graders found, in the figures that the hover of each tells."""
    weak = [text_of(each.get("name")) for each in measured if each.get("finding")]
    known = [each for each in measured if not each.get("finding") and whole(each.get("tried"))]
    shares = sorted(
        (whole(each.get("caught")) / whole(each.get("tried")), text_of(each.get("name"))) for each in known
    )
    told = (
        [f"{len(weak)} {'decides' if len(weak) == 1 else 'decide'} nothing (marked in the file)"]
        if weak
        else []
    )
    if shares:
        (least, name), (most, _) = shares[0], shares[-1]
        span = f"{least:.0%}" if f"{least:.0%}" == f"{most:.0%}" else f"{least:.0%} to {most:.0%}"
        others = "the others notice" if weak else "they notice" if len(shares) > 1 else "it notices"
        told.append(
            f"{others} {span} of the changes, `{shown_grader(name)}` the fewest"
            if least < most
            else f"{others} {span} of the changes"
        )
    return ", ".join([f"{counted(len(measured), 'grader')} measured", *told]) + "."


class Strengths:
    """The last measurement of each suite."""

    def __init__(self) -> None:
        self._suites: dict[Path, Mapping[tuple[str, str], Strength]] = {}

    def take(self, suite: Path, answer: Block, entries: Mapping[tuple[str, str], Json]) -> int:
        """Store the engine's answer to ``grader.strength``; return the number of graders in it.

        ``entries`` are the measured grader entries, by task and name, those of the suite at ``""``,
        and the expectations of a task at ``//expected``.
        """
        found: dict[tuple[str, str], Strength] = {}
        for block in blocks_of(answer.get("graders")):
            name = text_of(block.get("name"))
            for task in texts_of(block.get("tasks")):
                if block.get("type") == "expected":
                    entry = _expected(entries.get((task, "//expected")), name)
                    if entry is not None:
                        found[task, name] = _strength(block, entry)
                    continue
                place = task if (task, name) in entries else ""
                if (place, name) in entries:
                    found[place, name] = _strength(block, entries[place, name])
        self._suites[suite] = found
        return len(found)

    def of(self, suites: Sequence[Path], task: str, name: str, entry: Json) -> Strength | None:
        """Return the score of a grader as it is written; ``task`` is "" for one of the suite."""
        for suite in suites:
            found = self._suites.get(suite, {}).get((task, name))
            if found is not None and found.entry == entry:
                return found
        return None

    def of_expected(self, suites: Sequence[Path], task: str, key: str, listed: Json) -> Strength | None:
        """Return the score of a list of ``expected`` as it is written."""
        return self.of(suites, task, f"_{key}", {key: listed})

    @property
    def empty(self) -> bool:
        """Return whether nothing was measured at all."""
        return not self._suites

    def has_any(self, suites: Sequence[Path]) -> bool:
        """Return whether anything was measured of one of these suites."""
        return any(suite in self._suites for suite in suites)


def _strength(block: Block, entry: Json) -> Strength:
    kinds = blocks_by_name(block, "kinds")
    return Strength(
        entry=entry,
        trials=whole(block.get("trials")),
        caught=whole(block.get("caught")),
        tried=whole(block.get("tried")),
        missed=tuple(kind for kind, counts in kinds.items() if not whole(counts.get("caught"))),
        finding=text_of(block.get("message")),
        not_measured=text_of(block.get("not_measured")),
        passed_on=texts_of(block.get("passed_on")),
        weak_checks=tuple(
            WeakCheck(path_of(check.get("path")), text_of(check.get("message")))
            for check in blocks_of(block.get("weak_checks"))
        ),
        rejected=tuple(text_of(each.get("message")) for each in blocks_of(block.get("rejected_references"))),
    )


def _expected(block: Json, name: str) -> Json:
    """Return the list that is graded under a name, inside its block, None if it does not exist."""
    key = name.removeprefix("_")
    return {key: block[key]} if isinstance(block, dict) and key in block else None
