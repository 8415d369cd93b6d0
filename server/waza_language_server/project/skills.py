"""The name of a skill, from the front matter of its ``SKILL.md``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_language_server.project.facts import Fact
from waza_language_server.syntax.tree import parse

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from waza_language_server.syntax.nodes import Node

_FRONT_MATTER = compiled_later(r"\A\ufeff?---[^\n]*\n(.*?)^---", re.DOTALL | re.MULTILINE)
_LOOK_AT = 20_000
"""Characters of a file in which the front matter ends."""


@frozen()
class SkillName:
    """The scalar of the ``name``, in the tree of the front matter alone, and where that begins."""

    node: Node
    matter: str
    offset: int


def written_name(text: str) -> SkillName | None:
    """Return the ``name`` of the front matter of a ``SKILL.md``, None when none is written."""
    matter = _FRONT_MATTER.search(text[:_LOOK_AT])
    root = parse(matter[1]).root if matter else None
    node = root.get("name") if root else None
    if matter is None or node is None or node.kind != "scalar" or not node.value.strip():
        return None
    return SkillName(node, matter[1], matter.start(1))


def written_description(text: str) -> str | None:
    """Return the ``description`` of the front matter of a ``SKILL.md``, None when none is written."""
    matter = _FRONT_MATTER.search(text[:_LOOK_AT])
    root = parse(matter[1]).root if matter else None
    node = root.get("description") if root else None
    return node.value.strip() or None if node is not None and node.kind == "scalar" else None


def skill_name(text: Fact[str]) -> str | None:
    """Return the ``name`` of the front matter, "" if there is none, None if the file does not exist."""
    if text.absent:
        return None
    written = written_name(text.value)
    return written.node.value.strip() if written is not None else ""


_MEANT, _ALIKE, _OF_A_WORKSPACE, _UNRELATED = range(4)
_WORD = compiled_later(r"[A-Z]*[^\W\dA-Z_]+|[A-Z]+|\d+")
_SAID_BY_ALL = frozenset({"eval", "evals", "test", "tests", "skill", "skills", "suite", "suites", "waza"})


def unlikeliness(
    folder: Path, skill: str, roots: Collection[Path], file: Path | None = None
) -> tuple[int, int, int]:
    """Return how far the folders around an eval file are from meaning a skill.

    They lie within the skill or are called like it; have a word in common with it; or the skill is that
    of a whole workspace. Then which folder says so, counted from the innermost, and how many words they do
    not share.
    """
    called = (skill,) if file is None else (skill, file.parent.name)
    names = [words for words in map(_words, called) if words]
    best = (_UNRELATED, 0, 0)
    for distance, around in enumerate((folder, *folder.parents)):
        if file is not None and around == file.parent:
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
