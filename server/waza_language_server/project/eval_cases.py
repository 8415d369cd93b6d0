"""The cases of an ``evals.json``, and the folders in which their files are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from waza_engine.vocabulary import unique_names
from waza_language_server.project.claim import SKILL_NAME
from waza_language_server.project.suite_file import SuiteFile, scalar_text
from waza_language_server.project.suites import folders_above

if TYPE_CHECKING:
    from waza_language_server.project.index import Project
    from waza_language_server.syntax.nodes import Node
    from waza_language_server.syntax.tree import Tree

JUDGED = "assertions"
"""The grader that judges all assertions of a case that are sentences."""
_ASSERTIONS = ("assertions", "expectations")
_LEVELS = 3
"""Folders in which the skill of an ``evals.json`` is searched: its own, ``evals/``, and one between."""


def cases_of(tree: Tree) -> Iterator[Node]:
    """Yield the cases that are objects, in source order."""
    for case in SuiteFile(tree).tasks():
        yield case.node


def assertions_of(case: Node) -> Iterator[Node]:
    """Yield the assertions of a case, whichever of the two keys holds them."""
    for key in _ASSERTIONS:
        listed = case.get(key)
        yield from listed.items if listed is not None else ()


def assertions_with_graders(case: Node) -> Iterator[tuple[Node, str, int]]:
    """Yield each assertion with the name of the grader that decides it, and its place among the criteria.

    The names are those of a run (``waza_engine.spec.skill_evals``): one grader judges all sentences.
    """
    distinct: dict[str, Node] = {}
    for node in assertions_of(case):
        distinct.setdefault(json.dumps(node.to_python(), sort_keys=True), node)
    sentences: list[Node] = []
    typed: list[tuple[Node, str]] = []
    for number, node in enumerate(distinct.values(), 1):
        if scalar_text(node.get("type")):
            typed.append((node, scalar_text(node.get("name")) or f"assertion-{number}"))
        else:
            sentences.append(node)
    yield from ((node, JUDGED, place) for place, node in enumerate(sentences))
    _, *names = unique_names([JUDGED, *(name for _, name in typed)])
    yield from ((node, name, 0) for (node, _), name in zip(typed, names, strict=True))


def skill_file_of(project: Project, path: Path) -> Path | None:
    """Return the ``SKILL.md`` of the skill that an ``evals.json`` tests, None if it has none."""
    for folder in list(folders_above(path))[:_LEVELS]:
        if SKILL_NAME in project.names(folder):
            return folder / SKILL_NAME
    return None


def homes_of(project: Project, path: Path) -> tuple[Path, ...]:
    """Return the folders in which the ``files`` of a case may be, as the engine searches them.

    The skill's folder by skill-creator, the folder of the file by the guide of agentskills.io.
    """
    skill, folder = skill_file_of(project, path), path.parent
    home = skill.parent if skill is not None else folder.parent if folder.name == "evals" else folder
    return tuple(dict.fromkeys((home, folder)))
