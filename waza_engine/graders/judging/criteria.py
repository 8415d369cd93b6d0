"""A list of criteria that a judge decides in one reply, with evidence for each.

The reply is bound to a schema: the judge calls a tool, and a call that does not fit is returned to it with
what is wrong. A judge that writes the same JSON as its answer is understood, too.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from waza_engine.graders.base import GraderError, Verdict
from waza_engine.graders.judging.judge import AgentTool
from waza_engine.graders.judging.replies import objects_in, quoted_reply
from waza_engine.vocabulary import Check

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
    def given(self) -> bool:
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
        for found in () if self.given else objects_in(response)[0]:
            problem = self._problem(found)
        with self._lock:
            results = self._results
        if not results:
            said = quoted_reply(response) if response.strip() else "nothing"
            raise GraderError(f"the judge did not decide the criteria: {problem}; it replied {said}")
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
