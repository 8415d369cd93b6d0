"""Verdicts that a judge gives by calling tools: pass or fail, several votes, and the better of two answers.

Answers are compared twice with swapped places, so that a judge's liking for a place shows.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import mean, median
from typing import Any, Literal, cast

from pydantic import Field

from waza_engine.graders.base import GraderConfig, GraderError, GradingContext, Verdict
from waza_engine.graders.judge import AgentTool
from waza_engine.graders.judging.ratings import section
from waza_engine.graders.judging.replies import objects_in, quoted_reply
from waza_engine.number_formats import format_score, reaches
from waza_engine.spec.fields import WholeNumber
from waza_engine.vocabulary import Check, unjudged_details

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
    def has_verdict(self) -> bool:
        """Return whether there is a verdict."""
        return bool(self._passes or self._fails)

    def verdict(self, **details: Any) -> Verdict:
        """Return passes / all verdicts; it passes with a pass and no fail."""
        with self._lock:
            passes, fails = list(self._passes), list(self._fails)
        details = {**details, "passes": _joined(passes), "failures": _joined(fails)}
        if not passes and not fails:
            reply = str(details.get("response", ""))
            feedback = f"{NO_VERDICT}; it replied {quoted_reply(reply) if reply.strip() else 'nothing'}"
            silent = unjudged_details("silent", feedback[0].lower() + feedback[1:])
            return Verdict(0.0, passed=False, feedback=feedback, details=details | silent)
        return Verdict(
            score=len(passes) / (len(passes) + len(fails)),
            passed=not fails,
            feedback=_joined(fails or passes),
            details=details,
        )

    def _note(self, verdicts: list[str], kind: str, arguments: Mapping[str, Any]) -> str:
        reasons = [str(arguments.get(key) or "").strip() for key in _ABOUT]
        with self._lock:
            if len(verdicts) >= _MOST:
                return "There are too many verdicts; end your answer."
            verdicts.append(": ".join([kind, *(text for text in reasons if text)]))
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


def combine_votes(votes: Sequence[Verdict], aggregate: Aggregate, threshold: float | None) -> Verdict:
    """Return the verdict of several votes, with their spread in its feedback.

    ``threshold`` is that of a rating, None for votes that only pass or fail.
    """
    scores, passes = [vote.score for vote in votes], sum(vote.passed for vote in votes)
    score = mean(scores) if aggregate == "mean" else median(scores)
    passed = passes * 2 > len(votes)
    if aggregate != "majority" and threshold is not None:
        passed = reaches(score, threshold)
    telling = next((vote for vote in votes if vote.passed == passed), votes[0])
    spread = f"{format_score(min(scores))}–{format_score(max(scores))}"
    summary = f"{passes} of {len(votes)} votes pass, scores {spread}"
    each = [{"score": vote.score, "passed": vote.passed, "feedback": vote.feedback} for vote in votes]
    details = {**telling.details, "votes": each, "aggregate": aggregate, "spread": max(scores) - min(scores)}
    return replace(
        telling, score=score, passed=passed, feedback=f"{summary}: {telling.feedback}", details=details
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
    def has_verdict(self) -> bool:
        """Return whether the judge has chosen."""
        return self.choice.called

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


def pairwise_question(criteria: str, context: GradingContext, *, skill_is: Literal["A", "B"]) -> str:
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


def verdict_of_choices(first: Choice, second: Choice, **details: Any) -> Verdict:
    """Return the verdict of both questions: their common choice, else a tie."""
    consistent = first.winner == second.winner
    winner = first.winner if consistent else "tie"
    magnitude = min(first.magnitude, second.magnitude, key=_MAGNITUDES.index) if consistent else "equal"
    if first.called != second.called:
        reasoning = f"the judge chose only once (first {_describe(first)}; then {_describe(second)})"
    elif not consistent:
        reasoning = (
            "inconsistent: the judge changed its mind when the answers changed places "
            f"(first {_describe(first)}; then {_describe(second)})"
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
        return Verdict(
            0.0, passed=False, feedback=feedback, details=details | unjudged_details("silent", why)
        )
    sentence = {
        "skill": f"The answer with the skill is {magnitude.replace('-', ' ')} than the baseline",
        "baseline": f"The baseline is {magnitude.replace('-', ' ')} than the answer with the skill",
        "tie": "The answer with the skill and the baseline are equal",
    }[winner]
    feedback = ": ".join(text for text in (sentence, reasoning) if text)
    return Verdict(_SCORES[winner], passed=winner != "baseline", feedback=feedback, details=details)


def _describe(choice: Choice) -> str:
    if not choice.called:
        return "nothing"
    name = {"skill": "the skill", "baseline": "the baseline", "tie": "a tie"}[choice.winner]
    return f"{name}: {choice.reasoning}" if choice.reasoning else name


CRITERIA_TOOL = "report_criteria"
_KEYS = ("number", "passed", "evidence")


@dataclass(frozen=True, slots=True)
class CriterionResult:
    """The judge's decision on one criterion."""

    text: str
    passed: bool
    evidence: str

    def document(self) -> dict[str, object]:
        """Return it as an entry of a result's details."""
        return {"text": self.text, "passed": self.passed, "evidence": self.evidence}


class CriteriaBox:
    """The tool of one question and the results given with it; the last complete call counts. Thread-safe."""

    def __init__(self, criteria: Sequence[str]) -> None:
        self._criteria = criteria
        self._lock = threading.Lock()
        self._results: Sequence[CriterionResult] = ()

    @property
    def has_verdict(self) -> bool:
        """Return whether there are results."""
        return bool(self._results)

    @property
    def question(self) -> str:
        """The end of the prompt: the numbered criteria, and how to answer."""
        listed = "\n".join(f"{number}. {text}" for number, text in enumerate(self._criteria, 1))
        return (
            f"## Criteria\n\n{listed}\n\nDecide each criterion by what the result shows; look into the files "
            "of the workspace where one is about them. A criterion passes only with evidence for it. Call "
            f"`{CRITERIA_TOOL}` once with a result for every criterion: its `number`, `passed`, and "
            "`evidence` (a quotation or an observation)."
        )

    @property
    def tools(self) -> tuple[AgentTool]:
        """The tool for the judge."""
        many = len(self._criteria)
        item = {
            "type": "object",
            "properties": {
                "number": {"type": "integer", "minimum": 1, "maximum": many},
                "passed": {"type": "boolean"},
                "evidence": {"type": "string", "minLength": 1},
            },
            "required": list(_KEYS),
            "additionalProperties": False,
        }
        parameters = {
            "type": "object",
            "properties": {"results": {"type": "array", "items": item, "minItems": many, "maxItems": many}},
            "required": ["results"],
            "additionalProperties": False,
        }
        return (AgentTool(CRITERIA_TOOL, "Report whether each criterion is met.", parameters, self._take),)

    def verdict(self, response: str, prompt: str) -> Verdict:
        """Return criteria that pass / all. Raises ``GraderError`` when the reply decides not all of them."""
        problem = "it called no tool"
        for found in () if self.has_verdict else objects_in(response)[0]:
            problem = self._problem(found)
        with self._lock:
            results = self._results
        if not results:
            reply = quoted_reply(response) if response.strip() else "nothing"
            raise GraderError(f"the judge did not decide the criteria: {problem}; it replied {reply}")
        failed = [result for result in results if not result.passed]
        checks = tuple(
            Check(
                ("criteria", position),
                result.passed,
                "" if result.passed else result.evidence,
                rule=result.text,
            )
            for position, result in enumerate(results)
        )
        return Verdict(
            score=(len(results) - len(failed)) / len(results),
            passed=not failed,
            feedback="; ".join(f"{result.text}: {result.evidence}" for result in failed or results),
            details={
                "criteria": [result.document() for result in results],
                "response": response,
                "prompt": prompt,
            },
            checks=checks,
        )

    def _take(self, arguments: Mapping[str, Any]) -> str:
        problem = self._problem(arguments)
        return f"{problem}; call `{CRITERIA_TOOL}` again." if problem else "Recorded. End your answer."

    def _problem(self, reply: Mapping[str, Any]) -> str:
        """Store the results of a reply; return what is wrong with it, "" when it is complete."""
        listed: object = reply.get("results", reply.get("criteria"))
        if isinstance(listed, str):
            # Some models write nested arguments as a string.
            try:
                listed = json.loads(listed)
            except ValueError:
                listed = None
        if not isinstance(listed, list):
            return "`results` must be a list"
        found: dict[int, CriterionResult] = {}
        for each in cast("list[object]", listed):
            entry = cast("Mapping[str, object]", each if isinstance(each, Mapping) else {})
            number, passed, evidence = (entry.get(key) for key in _KEYS)
            if type(number) is not int or not 0 < number <= len(self._criteria):
                return f"`number` must be a whole number from 1 to {len(self._criteria)}"
            if not isinstance(passed, bool):
                return f"`passed` of criterion {number} must be true or false"
            if not isinstance(evidence, str) or not evidence.strip():
                return f"criterion {number} needs `evidence`"
            if number in found:
                return f"criterion {number} occurs twice"
            found[number] = CriterionResult(self._criteria[number - 1], passed, evidence.strip())
        missing = [str(number) for number in range(1, len(self._criteria) + 1) if number not in found]
        if missing:
            return f"a result is missing for criterion {', '.join(missing)}"
        with self._lock:
            self._results = [found[number] for number in sorted(found)]
        return ""
