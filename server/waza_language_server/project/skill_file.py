"""A ``SKILL.md`` that is open in an editor.

Its front matter is a document of ours when there is one; that it can be run does not depend on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from waza_language_server.project.claim import SKILL_NAME
from waza_language_server.project.skills import written_name
from waza_language_server.project.uris import path_of
from waza_language_server.text.line_index import LineIndex

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, eq=False)
class SkillFile:
    """One version of a ``SKILL.md``."""

    uri: str
    path: Path
    text: str

    @staticmethod
    def of(uri: str, text: str) -> SkillFile | None:
        """Return the skill file that a document is, None for any other file."""
        path = path_of(uri)
        return SkillFile(uri, path, text) if path is not None and path.name == SKILL_NAME else None

    @cached_property
    def lines(self) -> LineIndex:
        """The lines of the text."""
        return LineIndex(self.text)

    @property
    def name(self) -> str:
        """The name of the skill; its folder's when none is written."""
        written = written_name(self.text)
        return written.value.strip() if written is not None else self.path.parent.name
