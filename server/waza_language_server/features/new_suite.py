"""An empty eval file offers a suite for each skill around it; the engine drafts it when one is chosen."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from waza_engine.frozen import frozen
from waza_language_server.project.nearby import Nearby
from waza_language_server.project.uris import path_of, uri_of

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from waza_language_server.project.document import Document
    from waza_language_server.project.workspace import Workspace

NEW_SUITE = "waza.newSuite"
MOST_OFFERED = 20
_MEANT, _ALIKE, _OF_A_WORKSPACE, _UNRELATED = range(4)
_WORD = re.compile(r"[A-Z]*[^\W\dA-Z_]+|[A-Z]+|\d+")
_SAID_BY_ALL = frozenset({"eval", "evals", "test", "tests", "skill", "skills", "suite", "suites", "waza"})


@frozen()
class SuiteOffer:
    """A suite that can be made in the document: ``argument`` is that of the command ``waza.newSuite``."""

    title: str
    skill: str
    argument: dict[str, str]


def title_of_offer(skill: str) -> str:
    """Return what is to be clicked to make a suite for a skill."""
    return f"New suite for skill {skill}"


def suite_offers(document: Document, workspace: Workspace) -> tuple[SuiteOffer, ...]:
    """Return the suites that can be made in an eval file that is empty, the likeliest first."""
    path = path_of(document.uri)
    if path is None or document.kind != "eval":
        return ()
    skills = Nearby(workspace.project, document).skill_files()
    roots = frozenset(workspace.project.roots)
    # What is equally likely stays in its order: the nearest first.
    ordered = sorted(skills.items(), key=lambda each: _unlikeliness(path.parent, *each, roots))
    return tuple(
        SuiteOffer(title_of_offer(name), name, {"skill": uri_of(file), "uri": document.uri})
        for file, name in ordered[:MOST_OFFERED]
    )


def _unlikeliness(folder: Path, file: Path, skill: str, roots: Collection[Path]) -> tuple[int, int, int]:
    """Return how far the folders around an eval file are from meaning a skill.

    They lie within the skill or are called like it; have a word in common with it; or the skill is that
    of a whole workspace. Then which folder says so, counted from the innermost, and how many words they do
    not share.
    """
    names = [words for words in (_words(skill), _words(file.parent.name)) if words]
    best = (_UNRELATED, 0, 0)
    for distance, around in enumerate((folder, *folder.parents)):
        if around == file.parent:
            best = min(best, (_OF_A_WORKSPACE if around in roots else _MEANT, distance, 0))
        if around in roots:
            break
        words = _words(around.name)
        for name in names:
            if words == name:
                best = min(best, (_MEANT, distance, 0))
            elif words & name:
                best = min(best, (_ALIKE, distance, len(words ^ name)))
    return best


def _words(name: str) -> frozenset[str]:
    """Return the words of a name, `pdfFiller` as `pdf-filler`, without those that say nothing of a skill."""
    return frozenset(word.lower() for word in _WORD.findall(name)) - _SAID_BY_ALL
