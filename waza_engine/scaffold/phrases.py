"""Extract from a skill's description when to use it and when not, as prompts a user could write.

Authors label it (``USE FOR:``, ``DO NOT USE FOR:``) or say it in a sentence ("Use when the user asks to …").
Quoted pieces are prompts of users; without quotes the list is split.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from waza_engine.graders.matching.skill_words import words

MOST_PROMPTS = 6
_SHORTEST, _LONGEST = 3, 160

_LABEL = re.compile(
    r"(?P<unwanted>\b(?:do\s+not|don['’]t|never)\s+(?:use|trigger|activate|invoke)\b(?:\s+(?:this|the)\s+skill)?"
    r"\s*(?:for|when|if|on|with|in)?\b\s*:?|\bnot\s+for\b\s*:?)"
    r"|(?P<wanted>\buse\s+(?:(?:this|the)\s+skill\s+)?(?:only\s+)?(?:for|when(?:ever)?|if)\b\s*:?"
    r"|\btrigger(?:s|ed)?(?:\s+(?:on|by|when|phrases(?:\s+include)?))?\s*:"
    r"|\btrigger\s+phrases\s+include\b|\bwhen\s*:)"
    r"|(?P<other>\b(?:invokes|for\s+single\s+operations|returns|requires|output)\s*:)",
    re.IGNORECASE,
)
_QUOTED = re.compile(r'"([^"]+)"|“([^”]+)”|「([^」]+)」|«([^»]+)»|(?<![\w’])\'([^\']+)\'(?!\w)|`([^`]+)`')
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z*(])|。")
_SEPARATORS = re.compile(r"[,;、]\s*(?:(?:or|and)\s+)?|\s+(?:or|OR)\s+|\(\d+\)\s*|\s+[–—]\s+")
_LEAD_IN = re.compile(
    r"^(?:(?:the\s+)?users?|someone|you|they)\s+(?:explicitly\s+)?(?:wants?|asks?|says?|mentions?|needs?|requests?|"
    r"are|is)\s*(?:to\s+|for\s+|about\s+)?|^asked\s+(?:to|for|about)\s+|^to\s+|^(?:or|and)\s+",
    re.IGNORECASE,
)
_NOTE = re.compile(r"\s*\([^)]*\)\s*$")
_NAMED_THING = re.compile(r"^(?:\w+ing|a|an|the|any|all|new|existing)\b", re.IGNORECASE)
_QUESTION = re.compile(
    r"(?:what|why|how|which|where|when|who|does|do|is|are|can|could|should)\b", re.IGNORECASE
)
_OFF_TOPIC = (
    "What is the capital of Portugal?",
    "Write a short poem about autumn",
    "Convert 20 degrees Celsius to Fahrenheit",
    "Recommend three films for a rainy evening",
    "How long do I boil an egg?",
)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt; ``certain`` if it comes from the author, and is not our guess."""

    text: str
    certain: bool


@dataclass(frozen=True, slots=True)
class TriggerPrompts:
    """Prompts that should lead to a skill, at least one, and prompts that should not, at least two."""

    wanted: tuple[Prompt, ...]
    unwanted: tuple[Prompt, ...]


def trigger_prompts(name: str, description: str) -> TriggerPrompts:
    """Return prompts for a skill. Those missing in its description are guessed from its first words."""
    text = " ".join(description.replace("**", "").split())
    wanted: list[Prompt] = []
    unwanted: list[Prompt] = []
    labels = list(_LABEL.finditer(text))
    ends = [*(label.start() for label in labels[1:]), len(text)]
    for label, end in zip(labels, ends, strict=False):
        section = text[label.end() : end]
        if label["wanted"]:
            wanted += _prompts(section, listed=label.group().endswith(":"))
        elif label["unwanted"]:
            unwanted += _prompts(section, listed=label.group().endswith(":"))
    wanted = wanted or _guesses(name, text[: labels[0].start()] if labels else text)
    topic = words(f"{name} {text}")
    others = [Prompt(prompt, False) for prompt in _OFF_TOPIC if not words(prompt) & topic]
    if len(unwanted) < 2:
        unwanted += others[: 3 - len(unwanted)]
    return TriggerPrompts(_distinct(wanted), _distinct(unwanted))


def summary(description: str) -> str:
    """Return the part of a description before its usage hints; all of it if that is empty."""
    text = " ".join(description.replace("**", "").split())
    label = _LABEL.search(text)
    before = text[: label.start()] if label else text
    return printable(before if any(character.isalnum() for character in before) else text).rstrip(" -–—:")


def printable(text: str) -> str:
    """Return the string on one line, without invisible characters."""
    return "".join(character for character in " ".join(text.split()) if character.isprintable())


def _prompts(section: str, *, listed: bool) -> list[Prompt]:
    quoted = ["".join(match) for match in _QUOTED.findall(section)]
    if quoted:
        return [Prompt(_sentence(piece), True) for piece in quoted if _fits(piece)]
    # A list after a colon continues to the next label; a sentence ends where it ends.
    text = section if listed else _SENTENCE_END.split(section.strip(), maxsplit=1)[0]
    pieces = [_cleaned(piece) for part in _SENTENCE_END.split(text) for piece in _SEPARATORS.split(part)]
    return [
        Prompt(f"Help me with {piece}" if _NAMED_THING.match(piece) else _sentence(piece), listed)
        for piece in pieces
        if _fits(piece)
    ]


def _guesses(name: str, about: str) -> list[Prompt]:
    first = _cleaned(_SENTENCE_END.split(about.strip(), maxsplit=1)[0])
    spoken = " ".join(re.split(r"[-_\s]+", name)).strip()
    guesses = [_sentence(first[:_LONGEST])] if _fits(first[:_LONGEST]) else []
    return [Prompt(guess, False) for guess in (*guesses, f"Help me with {spoken or 'this'}")]


def _cleaned(piece: str) -> str:
    text = _NOTE.sub("", piece.strip(" .:;-–—*\"'“”"))
    return _LEAD_IN.sub("", text).strip(" .:;-–—*\"'“”")


def _fits(piece: str) -> bool:
    return _SHORTEST <= len(piece.strip()) <= _LONGEST and any(character.isalnum() for character in piece)


def _sentence(piece: str) -> str:
    text = piece.strip()
    mark = "?" if _QUESTION.match(text) and text[-1].isalnum() else ""
    return text[:1].upper() + text[1:] + mark


def _distinct(prompts: Iterable[Prompt]) -> tuple[Prompt, ...]:
    found: dict[str, Prompt] = {}
    for prompt in prompts:
        clean = Prompt(printable(prompt.text), prompt.certain)
        found.setdefault(clean.text.casefold(), clean)
    return tuple(found.values())[:MOST_PROMPTS]
