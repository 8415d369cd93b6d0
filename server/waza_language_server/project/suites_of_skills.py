"""The suites that test the skill of a ``SKILL.md``."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint
from waza_language_server.project.document import Document
from waza_language_server.project.nearby import Nearby
from waza_language_server.project.suite_files import files_of_workspace
from waza_language_server.project.uris import uri_of

if TYPE_CHECKING:
    from waza_language_server.project.index import Project
    from waza_language_server.project.skill_file import SkillFile
    from waza_language_server.project.suites import Suite

RECHECK_SECONDS = 2.0
"""How long it is believed that no file outside the editor has changed."""


class SuitesOfSkills:
    """Cache of the suites that test a skill, valid for a short time and until an eval file is edited."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[float, str, tuple[Document, ...], tuple[Suite, ...]]] = {}

    def forget(self) -> None:
        """Look at the disk again: files have changed."""
        self._known.clear()

    def of(self, skill: SkillFile, project: Project) -> tuple[Suite, ...]:
        """Return the suites whose ``skill`` is the one of this file, the nearest first."""
        name = skill.name.casefold()
        evals = tuple(document for document in project.documents.values() if document.kind == "eval")
        known = self._known.get(skill.path)
        if (
            known is not None
            and known[1:3] == (name, evals)
            and time.monotonic() - known[0] <= RECHECK_SECONDS
        ):
            return known[3]
        found: list[Suite] = []
        for file in files_of_workspace(project, skill):
            checkpoint()
            if file.path is None or file.kind != "eval":
                continue
            suite = project.suite(file.path)
            if (suite.outline.skill or "").casefold() == name and _is_meant(skill, name, suite, project):
                found.append(suite)
        suites = tuple(sorted(found, key=lambda suite: (-_shared(skill.path, suite.path), suite.path)))
        self._known[skill.path] = time.monotonic(), name, evals, suites
        return suites


def eval_document(project: Project, suite: Suite) -> Document:
    """Return the eval file of a suite as it is open, or else as it is on disk."""
    opened = project.documents.get(suite.path)
    return opened or Document(uri_of(suite.path), 0, project.text(suite.path).value, "eval")


def _is_meant(skill: SkillFile, name: str, suite: Suite, project: Project) -> bool:
    """Return whether no other skill of the same name is nearer to the suite."""
    near = Nearby(project, Document(uri_of(suite.path), 0, "", "eval")).skill_files()
    same = [path for path, known in near.items() if known.casefold() == name]
    # If the name on disk differs, it is this file, which is just being renamed.
    return not same or same[0] == skill.path


def _shared(one: Path, other: Path) -> int:
    """Return how many folders two files have in common."""
    pairs: Iterator[tuple[str, str]] = zip(one.parent.parts, other.parent.parts, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
