"""The words of a SKILL.md that describe the skill's purpose."""

from __future__ import annotations

import re
from dataclasses import dataclass

from waza_engine.graders.matching.strings import lowered, uppered
from waza_engine.spec.skill_file import SkillFile

# fmt: off
_STOP_WORDS = frozenset([
    "the", "and", "for", "with", "this", "that", "from", "into", "your", "you", "are", "was", "were",
    "what", "where", "how", "why", "not", "can", "should", "using", "about", "have", "has", "had", "but",
    "all", "any", "too", "out", "get", "let",
])
# fmt: on
_USE_FOR, _NOT_FOR = "USE FOR:", "DO NOT USE FOR:"
_NEXT_LABELS = (_NOT_FOR, "INVOKES:", "FOR SINGLE OPERATIONS:")
_NOTE = re.compile(r"\s*\([^)]*\)\s*$")
_QUOTED = re.compile('["\u201c\u201d]([^"\u201c\u201d]+)["\u201c\u201d]')


@dataclass(frozen=True, slots=True)
class SkillWords:
    """Distinct keywords, and the phrases after ``USE FOR:``."""

    keywords: frozenset[str]
    phrases: tuple[str, ...]

    def best_phrase(self, prompt: str) -> float:
        """Return 1.0 when a phrase occurs in the prompt, else the best fraction of a phrase's words in it.

        A word that a phrase repeats counts each time, as in upstream.
        """
        present, asked = words(prompt), lowered(prompt)
        best = 0.0
        for phrase in self.phrases:
            if lowered(phrase) in asked:
                return 1.0
            parts = _tokens(phrase)
            if parts:
                best = max(best, sum(part in present for part in parts) / len(parts))
        return best


def words(text: str) -> frozenset[str]:
    """Return the distinct words that count: lower case, at least three bytes, no common word."""
    return frozenset(_tokens(text))


def _tokens(text: str) -> list[str]:
    tokens = "".join(char if char.isalnum() else " " for char in lowered(text)).split()
    return [
        token for token in tokens if len(token.encode("utf-8", "replace")) >= 3 and token not in _STOP_WORDS
    ]


def skill_words(skill: SkillFile) -> SkillWords:
    """Return the words of a skill; those after ``DO NOT USE FOR:`` in its description do not count."""
    phrases = use_for_phrases(skill.description)
    about = skill.description[: _position(skill.description, _NOT_FOR)]
    return SkillWords(words(" ".join((skill.name, about, skill.body, *phrases))), phrases)


def use_for_phrases(description: str) -> tuple[str, ...]:
    """Return the phrases after the first ``USE FOR:``; when some are quoted, only the quoted ones count.

    They end at the next other label: upstream reads a second ``USE FOR:`` as words of a phrase.
    """
    flat = description.replace("\r\n", " ").replace("\n", " ")
    upper = uppered(flat)
    start = _after_label(upper)
    if start is None:
        return ()
    ends = [end for label in _NEXT_LABELS if (end := upper.find(label, start)) >= 0]
    section = flat[start : min(ends, default=len(flat))].strip().rstrip(".")
    quoted = _QUOTED.findall(section)
    phrases = [*quoted] or [_NOTE.sub("", part.strip()) for part in section.split(",")]
    return tuple(stripped for phrase in phrases if (stripped := phrase.strip()))


def _after_label(upper: str) -> int | None:
    """Return where the text after ``USE FOR:`` begins, ignoring ``DO NOT USE FOR:``."""
    found = upper.find(_USE_FOR)
    while found >= 0 and "NOT " in upper[max(0, found - 11) : found]:
        found = upper.find(_USE_FOR, found + len(_USE_FOR))
    return found + len(_USE_FOR) if found >= 0 else None


def _position(text: str, label: str) -> int:
    found = uppered(text).find(label)
    return found if found >= 0 else len(text)
