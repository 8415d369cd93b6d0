"""Split the promises of a ``SKILL.md``, and check whether a test's words name one of them. Light.

Ids, pieces and the comparison are those of upstream's ``waza spec verify`` (internal/specverify), without its
judge. Its piece ``req-description-001``, the description as a whole, is left out: no single test covers all
that a skill does. Only words are compared: it shows that a test names a promise, never that it tests it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later

RequirementKind = Literal["use", "dont", "param"]

_LABELS = compiled_later(
    r"(?P<dont>do\s+not\s+use\s+for:)|(?P<use>use\s+for:)|invokes:|for\s+single\s+operations:", re.IGNORECASE
)
_QUOTED = compiled_later(r'["“”]([^"“”]+)["“”]')
_NOTE = compiled_later(r"\s*\([^()]*\)\s*\Z")
_HEADING = compiled_later(r"#{1,6}\s+.*\b(?:parameters?|inputs?|arguments?)\b", re.IGNORECASE)
_HEADS = frozenset({"property", "parameter", "name"})
_PARTED = compiled_later(r":| - ")
_WORD = compiled_later(r"[^\W_]+")
_TOKEN = compiled_later(r"[a-z0-9]+")
_STOP_WORDS = frozenset(
    {"the", "and", "for", "this", "that", "with", "from", "when", "what", "does", "use", "using", "into"}
    | {"your", "you", "new", "not"}
)
_SHORTEST_TOKEN = 3
_NEGATIVE = ("negative", "anti trigger", "should not trigger", "do not trigger", "forbidden skills")


@frozen()
class SkillRequirement:
    """One promise. ``text`` is as written, with normalized whitespace; ``line`` is a body parameter's.

    Lines are 0-based; ``line`` is None for promises of the description.
    """

    id: str
    kind: RequirementKind
    text: str
    line: int | None = None


@frozen()
class SpokenTest:
    """The words of a task or a prompt. ``avoids`` says that the skill must not be used there."""

    words: str
    avoids: bool

    @staticmethod
    def of(texts: Sequence[str], *, avoids: bool = False) -> SpokenTest:
        """Return the words of some strings; a few of them also say that the skill must not be used."""
        words = _normalized(" ".join(texts))
        return SpokenTest(words, avoids or any(marker in words for marker in _NEGATIVE))


def skill_requirements(description: str, parameters: Sequence[str], body: str) -> list[SkillRequirement]:
    """Return the promises of a skill: when it is used, when not, and its parameters.

    ``parameters`` are those of the frontmatter (``parameters``, ``params``, ``inputs``), and come first.
    """
    found: list[SkillRequirement] = []
    for kind in ("use", "dont"):
        phrases = _phrases(description, kind)
        found += [SkillRequirement(f"req-{kind}-{at:03}", kind, text) for at, text in enumerate(phrases, 1)]
    listed: list[tuple[int | None, str]] = [(None, text) for text in parameters]
    for at, (line, text) in enumerate([*listed, *_parameters_of_body(body)], 1):
        found.append(SkillRequirement(f"req-param-{at:03}", "param", text, line))
    return found


def names(test: SpokenTest, requirement: SkillRequirement) -> bool:
    """Return whether a test names a requirement: its phrase, or all its words but one of many.

    A "don't use" requirement can only be named by a test in which the skill must not be used.
    """
    if requirement.kind == "dont" and not test.avoids:
        return False
    phrase = _normalized(requirement.text)
    if not phrase or not test.words:
        return False
    if phrase in test.words:
        return True
    found = dict.fromkeys(_TOKEN.findall(requirement.text.lower()))
    tokens = [token for token in found if len(token) >= _SHORTEST_TOKEN and token not in _STOP_WORDS]
    hits = sum(1 for token in tokens if _occurs(token, test.words))
    return bool(tokens) and hits >= (len(tokens) if len(tokens) <= 2 else max(2, len(tokens) - 1))


def _phrases(description: str, kind: RequirementKind) -> Iterator[str]:
    text = " ".join(description.split())
    label = next((each for each in _LABELS.finditer(text) if each.lastgroup == kind), None)
    if label is None:
        return
    behind = _LABELS.search(text, label.end())
    section = text[label.end() : behind.start() if behind else len(text)].strip().rstrip(".")
    quoted = _QUOTED.findall(section)
    pieces = quoted or [_NOTE.sub("", piece) for piece in section.split(",")]
    yield from (piece.strip() for piece in pieces if piece.strip())


def _parameters_of_body(body: str) -> Iterator[tuple[int, str]]:
    below = False
    for number, line in enumerate(body.split("\n")):
        text = line.strip()
        if text.startswith("#"):
            below = _HEADING.match(text) is not None
        elif below and (found := _parameter(text)):
            yield number, found


def _parameter(line: str) -> str:
    if len(line) > 1 and line[0] == line[-1] == "|":
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        key = _bare(cells[0])
        is_rule = not any(cell.strip(":- ") for cell in cells)
        return "" if len(cells) < 2 or is_rule or key.lower() in {"", *_HEADS} else f"{key}: {cells[1]}"
    if line[:2] not in ("- ", "* "):
        return ""
    text = line[2:].strip()
    for parted in _PARTED.finditer(text):
        key, rest = _bare(text[: parted.start()]), text[parted.end() :].strip()
        if key and rest:
            return f"{key}: {rest}"
    return _bare(text)


def _bare(text: str) -> str:
    return text.strip("`* \t")


def _normalized(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))


def _occurs(token: str, words: str) -> bool:
    return token in words or (token[-1] == "s" and len(token) > _SHORTEST_TOKEN and token[:-1] in words)
