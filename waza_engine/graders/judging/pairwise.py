"""Comparing two answers: asked twice with swapped places, so that a judge's liking for a place shows.

In the first question A is the baseline (the answer without the skill) and B is
the answer of the skill; in the second one they are swapped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from waza_engine.graders.base import GradingContext, Verdict
from waza_engine.graders.judging.evidence import section
from waza_engine.graders.judging.judge import AgentTool
from waza_engine.vocabulary import no_word

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
            "Two agents have answered the same task. Compare their answers by what is said above. Where they "
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
