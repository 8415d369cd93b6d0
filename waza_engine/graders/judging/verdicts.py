"""Verdicts that a judge gives by calling tools: pass or fail, as often as there are criteria."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

from waza_engine.graders.base import Verdict
from waza_engine.graders.judging.judge import AgentTool
from waza_engine.graders.judging.replies import quoted_reply
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
    "description": "What was looked at, in a few words.",
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
