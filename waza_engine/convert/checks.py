"""The conditions that deterministic graders check: the common part of all formats."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from waza_engine.graders.file import FileConfig
from waza_engine.graders.matching.workspace_globs import is_glob
from waza_engine.graders.registry import AnyGrader
from waza_engine.graders.score import ScoreGrader
from waza_engine.graders.text import OlderTextGrader, TextConfig
from waza_engine.spec.grader_entry import GraderEntry
from waza_engine.spec.pattern_syntax import literal_pattern
from waza_engine.spec.task_file import TaskFile


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition. Without ``path`` it is about the answer, else about a file of the workspace.

    ``contains`` compares a literal string, ``matches`` searches a pattern, ``exists`` looks for the file.
    """

    kind: Literal["contains", "matches", "exists"]
    text: str = ""
    path: str = ""
    wanted: bool = True
    ignores_case: bool = False
    globs: bool = False
    """True if ``path`` may be a glob."""

    @property
    def has_glob(self) -> bool:
        """Return whether ``path`` has the characters of a glob; ``globs`` says if they mean one."""
        return is_glob(self.path)

    @property
    def pattern(self) -> str:
        """The regular expression that is found where the condition is met (or not to be found).

        Of letters with more than two forms (``σ``, ``ς``, ``Σ``), `(?i)` takes all for equal.
        """
        if self.kind == "matches":
            return self.text
        return ("(?i)" if self.ignores_case else "") + literal_pattern(self.text)

    @property
    def sentence(self) -> str:
        """The condition in words."""
        verb = {"contains": "contain", "matches": "match", "exists": "exist"}[self.kind]
        what = f"The file {self.path}" if self.path else "The answer"
        does = f"{verb}s" if self.wanted and self.kind != "matches" else verb
        does = "matches" if self.wanted and self.kind == "matches" else does
        predicate = does if self.wanted else f"does not {verb}"
        return f"{what} {predicate}" + (f" “{self.text}”." if self.kind != "exists" else ".")


def conditions_of(grader: AnyGrader) -> list[Condition] | None:
    """Return the conditions that a grader checks, None for one that checks something else."""
    config = grader.successor.config if isinstance(grader, OlderTextGrader) else grader.config
    if isinstance(config, TextConfig):
        return list(_of_text(config))
    if isinstance(config, FileConfig):
        return list(_of_files(config))
    return None


def expected_conditions(task: TaskFile) -> Iterator[Condition]:
    """Yield the conditions of the lists in ``expected`` that are graded."""
    expected = task.expected
    for text in expected.output_contains:
        yield Condition("contains", text, ignores_case=True)
    for text in expected.output_not_contains:
        yield Condition("contains", text, wanted=False, ignores_case=True)
    if expected.output_contains_any:
        alternatives = "|".join(map(literal_pattern, expected.output_contains_any))
        yield Condition("matches", f"(?i){alternatives}")


def score_decides(task: TaskFile, suite: tuple[GraderEntry, ...]) -> bool:
    """Return whether a ``score`` grader decides the trial, as of Vally; no other is required then."""
    return any(entry.type == ScoreGrader.type for entry in (*suite, *task.graders))


def entries_of(task: TaskFile, suite: tuple[GraderEntry, ...]) -> list[tuple[str, int, GraderEntry]]:
    """Return the graders of a task: those of the suite and its own, a later one replacing its namesake.

    Each has the place of its list: ``suite`` or ``task``, and its index there.
    """
    found: dict[str, tuple[str, int, GraderEntry]] = {}
    listed = [("suite", index, entry) for index, entry in enumerate(suite)]
    listed += [("task", index, entry) for index, entry in enumerate(task.graders)]
    for where, index, entry in listed:
        found[entry.name or entry.type] = (where, index, entry)
    return list(found.values())


def _of_text(config: TextConfig) -> Iterator[Condition]:
    for key, wanted, ignores in (
        ("contains", True, True),
        ("not_contains", False, True),
        ("contains_cs", True, False),
        ("not_contains_cs", False, False),
    ):
        for text in getattr(config, key):
            yield Condition("contains", text, wanted=wanted, ignores_case=ignores)
    for pattern in config.regex_match:
        yield Condition("matches", pattern)
    for pattern in config.regex_not_match:
        yield Condition("matches", pattern, wanted=False)


def _of_files(config: FileConfig) -> Iterator[Condition]:
    for path in config.must_exist:
        yield Condition("exists", path=path, globs=config.globs)
    for path in config.must_not_exist:
        yield Condition("exists", path=path, wanted=False, globs=config.globs)
    for entry in config.content_patterns:
        # Any pattern that is always found: the file must be readable.
        patterns = entry.must_match or (() if entry.must_not_match else ("^",))
        for pattern in patterns:
            yield Condition("matches", pattern, entry.path, globs=config.globs)
        for pattern in entry.must_not_match:
            yield Condition("matches", pattern, entry.path, wanted=False, globs=config.globs)
