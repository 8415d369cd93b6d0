"""The `trigger` grader: compare a prompt's words with a skill's description."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field

from waza_engine.boundary import suite_boundary
from waza_engine.graders.base import Grader, GraderConfig, GraderError, GradingContext, Verdict
from waza_engine.graders.matching.strings import lowered, uppered
from waza_engine.graders.paths import from_working_directory, is_folder, is_there
from waza_engine.graders.registry import register
from waza_engine.number_formats import format_below, format_threshold
from waza_engine.spec.block import misspelt
from waza_engine.spec.fields import Number, PlainText, kind
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.suite_reader import DISK, SuiteFiles
from waza_engine.spec.skill_file import SkillFile, load_skill_file
from waza_engine.vocabulary import Check

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

    The list ends at the next other label. As upstream reads it, a second ``USE FOR:`` is part of a phrase.
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


def _trimmed(mode: object) -> object:
    """Return the mode as upstream reads it: surrounding whitespace and case are ignored."""
    return mode.strip().lower() if isinstance(mode, str) else mode


class TriggerConfig(GraderConfig):
    """The skill, and whether the prompt should lead to it."""

    skill_path: Annotated[PlainText, kind("path.suite")] = Field(
        description=(
            "The `SKILL.md` or the folder of the skill: "
            "relative to the working directory (usually the repository), else to the eval file."
        ),
        examples=["skills/azure-deploy"],
        pattern=r"\S",
    )
    mode: Annotated[Literal["positive", "negative"], BeforeValidator(_trimmed)] = Field(
        description="`positive`: the prompt should lead to the skill. `negative`: it should not.",
        examples=["positive"],
    )
    threshold: Number = Field(
        default=0.6,
        ge=0,
        le=1,
        description="The relevance from which a prompt counts as leading to the skill, 0 to 1.",
        examples=[0.6],
    )

    misspellings: ClassVar = misspelt(
        {"skill_path": ("skill", "path", "skill_file"), "threshold": "min_score"}
    )
    uncertain: ClassVar = frozenset({"skill", "path", "min_score"})


@register
class TriggerGrader(Grader[TriggerConfig]):
    """Compares the words of the task's prompt with the words of a skill. No agent and no model is used.

    **Scoring:** relevance = the larger of two fractions: distinct prompt words that occur in the skill's
    name, description and text; and words of the best `USE FOR:` phrase of the description that occur in the
    prompt (1.0 when the whole phrase does). `positive` passes from `threshold` on, with the relevance as
    score. `negative` passes below it, with 1 − relevance as score.

    **Worth knowing:**

    - Words shorter than three bytes and common words (`the`, `with`, `use`, …) do not count. A prompt without
      other words has relevance 0.
    - Upstream reports the relevance itself as the score of `negative` graders, so a passing one scores near 0
      there.
    - The words after `DO NOT USE FOR:` in the description do not count.
    """

    type = "trigger"
    title = "Trigger"
    config_model = TriggerConfig
    reads_disk = True
    example = """\
- type: trigger
  name: leads_to_deploy
  config:
    skill_path: skills/azure-deploy
    mode: positive
    threshold: 0.6
"""

    def notices(self, suite_directory: Path, files: SuiteFiles = DISK) -> tuple[str, ...]:
        """Return a warning if the skill does not exist before a run."""
        del files  # a skill is read from the disk
        written = self.config.skill_path
        there = is_there(self._place(suite_directory))
        return () if there else (f"there is no skill at `{written}`",)

    def grade(self, context: GradingContext) -> Verdict:
        """Measure the relevance of the prompt. Raises ``GraderError`` when the skill cannot be read."""
        config = self.config
        skill = self.skill(context)
        prompt_words = words(context.prompt)
        matched = sorted(prompt_words & skill.keywords)
        phrase_score = skill.best_phrase(context.prompt)
        word_score = len(matched) / len(prompt_words) if prompt_words else 0.0
        relevance = max(word_score, phrase_score) if prompt_words else 0.0
        positive = config.mode == "positive"
        passed = (relevance >= config.threshold) == positive
        threshold = format_threshold(config.threshold)
        if relevance >= config.threshold:
            feedback = f"relevance {relevance:.2f} reaches the threshold {threshold}"
        else:
            shown, _ = format_below(relevance, config.threshold)
            feedback = f"relevance {shown} stays below the threshold {threshold}"
        return Verdict(
            score=relevance if positive else 1.0 - relevance,
            passed=passed,
            feedback=feedback,
            details={
                "mode": config.mode,
                "threshold": config.threshold,
                "skill_path": config.skill_path,
                "relevance": relevance,
                "matched_keywords": matched,
                "matched_count": len(matched),
                "keyword_count": len(skill.keywords),
                "phrase_score": phrase_score,
            },
            checks=(Check(("threshold",), passed, "" if passed else feedback),),
        )

    def skill(self, context: GradingContext) -> SkillWords:
        """Return the words of the skill. Raises ``GraderError``."""
        return _skill_words(
            self._place(context.suite_directory), self.config.skill_path, context.suite_directory
        )

    def _place(self, suite_directory: Path) -> Path:
        place = from_working_directory(suite_directory, self.config.skill_path, "config.skill_path")
        return place / "SKILL.md" if is_folder(place) else place


def _skill_words(path: Path, written: str, suite: Path) -> SkillWords:
    try:
        modified = path.stat().st_mtime_ns
        skill = _cached_words(path, modified, suite)
    except OSError as error:
        raise GraderError(f"`config.skill_path`: {written} cannot be read: {error.strerror}") from None
    except SuiteFileError as error:
        raise GraderError(f"`config.skill_path`: {error.beside(written)}") from None
    if not skill.keywords:
        raise GraderError(f"`config.skill_path`: {written} has no words to compare with")
    return skill


@functools.lru_cache(maxsize=256)
def _cached_words(path: Path, _modified: int, suite: Path) -> SkillWords:
    return skill_words(load_skill_file(path, within=suite_boundary(suite)))
