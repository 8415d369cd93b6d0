"""The name of a skill, from the front matter of its ``SKILL.md``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from waza_engine.later_patterns import compiled_later
from waza_language_server.project.facts import Fact
from waza_language_server.project.front_matter import front_matter
from waza_language_server.syntax.tree import parse

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from waza_language_server.syntax.nodes import Node


def written_name(text: str) -> Node | None:
    """Return the scalar of ``name`` in the front matter of a ``SKILL.md``, None when none is written.

    Its offsets are those in the text.
    """
    return _written(text, "name")


def written_description(text: str) -> str | None:
    """Return the ``description`` of the front matter of a ``SKILL.md``, None when none is written."""
    node = _written(text, "description")
    return node.value.strip() if node is not None else None


def _written(text: str, key: str) -> Node | None:
    matter = front_matter(text)
    root = parse(matter.text).root if matter.opened and matter.closed else None
    node = root.get(key) if root is not None else None
    return node if node is not None and node.kind == "scalar" and node.value.strip() else None


def skill_name(text: Fact[str]) -> str | None:
    """Return the ``name`` of the front matter, "" if there is none, None if the file does not exist."""
    if text.absent:
        return None
    written = written_name(text.value)
    return written.value.strip() if written is not None else ""


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
