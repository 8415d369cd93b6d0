"""Insight into a grader: the parts of a trial that it reads, why a rule passes, and changes that let it pass.

The insight into a built-in grader type is a class in ``insights/``. Any other grader may have members of
``Insight`` itself; without them it grades, but is not explained, repaired or measured.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeVar

from waza_engine.graders.base import Grader, GradingContext
from waza_engine.graders.registry import AnyGrader

if TYPE_CHECKING:
    from waza_engine.lab.samples import Samples

Evidence = Literal[
    "answer", "json", "tool calls", "transcript", "skills", "files", "usage", "duration", "prompt"
]
"""The parts of a trial that can decide a verdict; ``json`` is the shape of a JSON answer."""

AROUND = 60
"""The number of characters shown before and after a match."""
MOST_FOUND = 400
MOST_LINES = 60
MOST_VALUES = 12

RulePath = tuple[str | int, ...]
"""The path of a rule in the ``config`` of its grader, as in ``Check``."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of a string, with its surroundings; ``line`` is its first, from 1.

    Parts that are cut off become an ellipsis.
    """

    before: str
    found: str
    after: str
    line: int

    @staticmethod
    def of(text: str, start: int, end: int) -> Excerpt:
        """Return the characters from ``start`` to ``end`` of a string."""
        begin, rest = max(0, start - AROUND), min(len(text), end + AROUND)
        found = text[start:end]
        if len(found) > MOST_FOUND:
            found = f"{found[: MOST_FOUND // 2]}…{found[-MOST_FOUND // 2 :]}"
        return Excerpt(
            before=("…" if begin else "") + text[begin:start],
            found=found,
            after=text[end:rest] + ("…" if rest < len(text) else ""),
            line=text.count("\n", 0, start) + 1,
        )


@dataclass(frozen=True, slots=True)
class Explanation:
    """The result of one rule in one trial.

    ``observed`` is the result in a few characters, shown in a row with those of the other trials: a count, a
    name. ``told`` are sentences without a full stop. ``values`` are expressions with their values. ``lines``
    compare the wanted with the actual lines: their first character is ``-`` for wanted only, ``+`` for actual
    only, a space for both. Of the trials that a rule fails, the one with the greatest ``weight`` is the most
    informative.
    """

    observed: str = ""
    told: tuple[str, ...] = ()
    values: tuple[tuple[str, str], ...] = ()
    excerpt: Excerpt | None = None
    lines: tuple[str, ...] = ()
    weight: float = 0.0


@dataclass(frozen=True, slots=True)
class Proposal:
    """Another value for a path of a configuration, with which more trials might pass; plain JSON.

    ``words`` say what it does, as the title of a fix: a looser rule is called so. The new value follows a
    colon, if it is shown.
    """

    words: str
    path: RulePath
    value: Any


@dataclass(frozen=True, slots=True)
class FileProposal:
    """Another content for a file that a rule compares with, shown before it is written."""

    words: str
    file: Path
    text: str


GraderT = TypeVar("GraderT", bound=Grader[Any])


class Insight(Generic[GraderT]):
    """The insight into one configured grader.

    ``evidence`` are the only parts of a trial that decide its verdict. None means that they are unknown; then
    its mutation score is not measured.
    """

    evidence: ClassVar[frozenset[Evidence] | None] = None

    def __init__(self, grader: GraderT) -> None:
        self.grader = grader
        self.config: Any = grader.config

    def reads(self) -> frozenset[Evidence] | None:
        """Return the parts of a trial that decide this grader's verdict, with its configuration."""
        return self.evidence

    def samples(self, context: GradingContext) -> Samples | None:
        """Return strings that the grader may want or forbid, to find out whether it notices them.

        None means the strings of the configuration, and strings that match its patterns.
        """
        del context
        return None

    def explain(self, context: GradingContext, path: RulePath) -> Explanation | None:
        """Explain the result of the rule at a path of the config in one trial. Raises ``GraderError``."""
        del context, path
        return None

    def propose(
        self, contexts: Sequence[GradingContext], path: RulePath
    ) -> Iterable[Proposal | FileProposal]:
        """Propose changes with which the rule at a path passes on more of some trials, nearest first.

        Each is tried on the trials before it is offered. Raises ``GraderError``.
        """
        del contexts, path
        return ()

    def looks_at(self, workspace: Path) -> Sequence[Path] | None:
        """Return the places in a workspace that decide a verdict, None when they are not known."""
        del workspace
        return None

    def looks_into(self, workspace: Path) -> Sequence[Path] | None:
        """Return those of these places at which the content of a file decides, too."""
        return self.looks_at(workspace)


_MODULES = {
    "action_sequence": "calls",
    "behavior": "calls",
    "code": "answers",
    "diff": "workspace_files",
    "file": "workspace_files",
    "json_schema": "answers",
    "keyword": "answers",
    "regex": "answers",
    "skill_invocation": "calls",
    "text": "answers",
    "tool_calls": "calls",
    "tool_constraint": "calls",
    "trigger": "answers",
}
"""The module in ``insights/`` for a grader type; it is loaded with the first grader of that type."""
_MEMBERS = ("evidence", "reads", "samples", "explain", "propose", "looks_at", "looks_into")
_known: dict[str, type[Insight[Any]]] = {}
InsightT = TypeVar("InsightT", bound=type[Insight[Any]])


def insight_into(*graders: type[AnyGrader]) -> Callable[[InsightT], InsightT]:
    """Class decorator: make a class the insight into these grader types."""

    def register(insight: InsightT) -> InsightT:
        _known.update({grader.type: insight for grader in graders})
        return insight

    return register


def insight_of(grader: AnyGrader) -> Insight[Any]:
    """Return the insight into a grader: that of its type, else what it has of its own."""
    if grader.type in _MODULES:
        importlib.import_module(f"waza_engine.lab.insights.{_MODULES[grader.type]}")
        return _known[grader.type](grader)
    insight = Insight(grader)
    for member in filter(lambda name: hasattr(grader, name), _MEMBERS):
        setattr(insight, member, getattr(grader, member))
    return insight
