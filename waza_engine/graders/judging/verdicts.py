"""Verdicts that a judge gives by calling tools: pass or fail, several votes, and the better of two answers.

Answers are compared twice with swapped places, so that a judge's liking for a place shows.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import mean, median
from typing import Any, Literal

from pydantic import Field

from waza_engine.figures import reaches, shown_score
from waza_engine.graders.base import GraderConfig, GradingContext, Verdict
from waza_engine.graders.judging.judge import AgentTool
from waza_engine.graders.judging.ratings import section
from waza_engine.graders.judging.replies import quoted_reply
from waza_engine.spec.fields import WholeNumber
from waza_engine.vocabulary import no_word

PASS_TOOL, FAIL_TOOL = "set_waza_grade_pass", "set_waza_grade_fail"
HOW_TO_ANSWER = (
    f"Give your verdict with the tools: call `{PASS_TOOL}` for every criterion that is met and `{FAIL_TOOL}` "
    "for every one that is not, each with a description of the criterion and your reason."
)
NO_VERDICT = "The judge gave no verdict: it called neither `set_waza_grade_pass` nor `set_waza_grade_fail`"
NO_REPLY = "the judge gave an empty reply"
_MOST = 1000
_ABOUT = {
    "description": "The criterion, in a few words.",
    "reason": "Why it passes or fails.",
}


class VerdictBox:
    """The two tools of one question and the verdicts given with them; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._passes: list[str] = []
        self._fails: list[str] = []

    @property
    def tools(self) -> tuple[AgentTool, AgentTool]:
        """The tools for the judge."""
        parameters = {
            "type": "object",
            "properties": {key: {"type": "string", "description": text} for key, text in _ABOUT.items()},
        }
        return (
            AgentTool(
                PASS_TOOL,
                "Record that a criterion is met. Call it once for every criterion that is.",
                parameters,
                lambda arguments: self._note(self._passes, "pass", arguments),
            ),
            AgentTool(
                FAIL_TOOL,
                "Record that a criterion is not met. Call it once for every criterion that is not.",
                parameters,
                lambda arguments: self._note(self._fails, "fail", arguments),
            ),
        )

    @property
    def given(self) -> bool:
        """Return whether there is a verdict."""
        return bool(self._passes or self._fails)

    def verdict(self, **details: Any) -> Verdict:
        """Return passes / all verdicts; it passes with a pass and no fail."""
        with self._lock:
            passes, fails = list(self._passes), list(self._fails)
        details = {**details, "passes": _joined(passes), "failures": _joined(fails)}
        if not passes and not fails:
            said = str(details.get("response", ""))
            told = f"{NO_VERDICT}; it replied {quoted_reply(said) if said.strip() else 'nothing'}"
            silent = no_word("silent", told[0].lower() + told[1:])
            return Verdict(0.0, passed=False, feedback=told, details=details | silent)
        return Verdict(
            score=len(passes) / (len(passes) + len(fails)),
            passed=not fails,
            feedback=_joined(fails or passes),
            details=details,
        )

    def _note(self, verdicts: list[str], kind: str, arguments: Mapping[str, Any]) -> str:
        said = [str(arguments.get(key) or "").strip() for key in _ABOUT]
        with self._lock:
            if len(verdicts) >= _MOST:
                return "There are too many verdicts; end your answer."
            verdicts.append(": ".join([kind, *(text for text in said if text)]))
        return "Recorded. Call again for every further criterion, then end your answer."


def names_tools(text: str) -> bool:
    """Return whether a prompt names the tools that the judge must answer with."""
    return PASS_TOOL in text or FAIL_TOOL in text


def _joined(records: Sequence[str]) -> str:
    return "; ".join(records)


Aggregate = Literal["majority", "mean", "median"]


class JudgeConfig(GraderConfig):
    """How often the judge is asked about one answer."""

    votes: WholeNumber = Field(
        default=1,
        ge=1,
        le=15,
        description="How often the judge is asked about one answer, each time in a new session; each costs.",
        examples=[3],
    )
    aggregate: Aggregate = Field(
        default="majority",
        description=(
            "How the votes become one verdict. `majority` passes when more than half of them do, and scores "
            "their median; `mean` and `median` compare that score with the `threshold` of a rating, and need "
            "a majority where there is none."
        ),
    )


def decided(votes: Sequence[Verdict], aggregate: Aggregate, threshold: float | None) -> Verdict:
    """Return the verdict of several votes, with their spread in its feedback.

    ``threshold`` is that of a rating, None for votes that only pass or fail.
    """
    scores, passes = [vote.score for vote in votes], sum(vote.passed for vote in votes)
    score = mean(scores) if aggregate == "mean" else median(scores)
    passed = passes * 2 > len(votes)
    if aggregate != "majority" and threshold is not None:
        passed = reaches(score, threshold)
    telling = next((vote for vote in votes if vote.passed == passed), votes[0])
    spread = f"{shown_score(min(scores))}–{shown_score(max(scores))}"
    told = f"{passes} of {len(votes)} votes pass, scores {spread}"
    each = [{"score": vote.score, "passed": vote.passed, "feedback": vote.feedback} for vote in votes]
    details = {**telling.details, "votes": each, "aggregate": aggregate, "spread": max(scores) - min(scores)}
    return replace(
        telling, score=score, passed=passed, feedback=f"{told}: {telling.feedback}", details=details
    )


WINNER_TOOL = "set_pairwise_winner"
_MAGNITUDES = ("equal", "slightly-better", "much-better")
_SCORES = {"skill": 1.0, "tie": 0.5, "baseline": 0.0}

Winner = Literal["skill", "baseline", "tie"]


@dataclass(frozen=True, slots=True)
class Choice:
    """The judge's choice in one question. ``called`` is false when it chose nothing, which is a tie."""

    winner: Winner = "tie"
    magnitude: str = "equal"
    reasoning: str = ""
    called: bool = False

    @property
    def document(self) -> dict[str, Any]:
        """Return the choice as an entry of a result's details."""
        return {"winner": self.winner, "magnitude": self.magnitude, "reasoning": self.reasoning}


class ChoiceBox:
    """The tool of one question and the choice made with it; the last call counts."""

    def __init__(self, *, skill_is: Literal["A", "B"]) -> None:
        self._skill_is = skill_is
        self.choice = Choice()

    @property
    def tools(self) -> tuple[AgentTool]:
        """The tool for the judge."""
        parameters = {
            "type": "object",
            "properties": {
                "winner": {"type": "string", "enum": ["A", "B", "tie"], "description": "The better answer."},
                "magnitude": {
                    "type": "string",
                    "enum": ["much-better", "slightly-better", "equal"],
                    "description": "How much better it is; `equal` for a tie.",
                },
                "reasoning": {"type": "string", "description": "Why, in a few sentences."},
            },
            "required": ["winner", "magnitude", "reasoning"],
        }
        return (AgentTool(WINNER_TOOL, "Say which of the two answers is better.", parameters, self._choose),)

    def _choose(self, arguments: Mapping[str, Any]) -> str:
        winner = str(arguments.get("winner") or "").strip().upper()
        if winner not in ("A", "B", "TIE"):
            return "`winner` must be `A`, `B` or `tie`; call again."
        magnitude = str(arguments.get("magnitude") or "").strip().lower().replace("_", "-").replace(" ", "-")
        if magnitude not in _MAGNITUDES or (winner != "TIE" and magnitude == "equal"):
            magnitude = "slightly-better"
        reasoning = str(arguments.get("reasoning") or "").strip()
        if winner == "TIE":
            self.choice = Choice("tie", "equal", reasoning, called=True)
        else:
            side: Winner = "skill" if winner == self._skill_is else "baseline"
            self.choice = Choice(side, magnitude, reasoning, called=True)
        return "Recorded. End your answer."


def question(criteria: str, context: GradingContext, *, skill_is: Literal["A", "B"]) -> str:
    """Return the judge's prompt: the criteria, the task and both answers in their order."""
    mine, other = context.output, context.baseline_output or ""
    first, second = (mine, other) if skill_is == "A" else (other, mine)
    return "\n\n".join(
        [
            criteria.strip(),
            "Two agents have answered the same task. Compare their answers by the criteria above. Where they "
            "stand says nothing about them, and a longer answer is not a better one. Call "
            f"`{WINNER_TOOL}` once with `winner` (A, B or tie), `magnitude` (much-better, slightly-better or "
            "equal) and your reasoning.",
            section("Task input", "task_input", context.prompt),
            section("Answer A", "answer_a", first),
            section("Answer B", "answer_b", second),
        ]
    )


def compared(first: Choice, second: Choice, **details: Any) -> Verdict:
    """Return the verdict of both questions: their common choice, else a tie."""
    consistent = first.winner == second.winner
    winner = first.winner if consistent else "tie"
    magnitude = min(first.magnitude, second.magnitude, key=_MAGNITUDES.index) if consistent else "equal"
    if first.called != second.called:
        reasoning = f"the judge chose only once (first {_said(first)}; then {_said(second)})"
    elif not consistent:
        reasoning = (
            "inconsistent: the judge changed its mind when the answers changed places "
            f"(first {_said(first)}; then {_said(second)})"
        )
    else:
        reasoning = " | ".join(text for text in (first.reasoning, second.reasoning) if text)
    details = {
        **details,
        "mode": "pairwise",
        "pairwise": {
            "winner": winner,
            "magnitude": magnitude,
            "reasoning": reasoning,
            "position_consistent": consistent,
        },
        "pass1": first.document,
        "pass2": second.document,
    }
    if not first.called and not second.called:
        feedback = f"The judge gave no verdict: it did not call `{WINNER_TOOL}`"
        why = feedback[0].lower() + feedback[1:]
        return Verdict(0.0, passed=False, feedback=feedback, details=details | no_word("silent", why))
    said = {
        "skill": f"The answer with the skill is {magnitude.replace('-', ' ')} than the baseline",
        "baseline": f"The baseline is {magnitude.replace('-', ' ')} than the answer with the skill",
        "tie": "The answer with the skill and the baseline are equal",
    }[winner]
    feedback = ": ".join(text for text in (said, reasoning) if text)
    return Verdict(_SCORES[winner], passed=winner != "baseline", feedback=feedback, details=details)


def _said(choice: Choice) -> str:
    if not choice.called:
        return "nothing"
    name = {"skill": "the skill", "baseline": "the baseline", "tie": "a tie"}[choice.winner]
    return f"{name}: {choice.reasoning}" if choice.reasoning else name
