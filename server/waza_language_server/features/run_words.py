"""How a run ended, in one line: what the engine concluded, for clients that follow no runs themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from waza_engine.counting import counted
from waza_engine.results.json_values import block_of, texts_of, whole

if TYPE_CHECKING:
    from waza_engine.results.json_values import Block


def ended_words(conclusion: Block) -> str:
    """Return what speaks against a run, ``1 task failed``, or what passed, ``3 of 3 tasks passed``.

    ``conclusion`` is the document of ``waza_engine.results.conclusion.Conclusion``.
    """
    reasons = texts_of(conclusion.get("reasons"))
    if reasons:
        return "; ".join(reasons)
    tasks, prompts = block_of(conclusion, "tasks"), block_of(conclusion, "triggers")
    total, right = whole(tasks.get("total")), whole(prompts.get("right"))
    tried = right + whole(prompts.get("wrong"))
    passed = f"{whole(tasks.get('passed'))} of {counted(total, 'task')} passed" if total else ""
    answered = f"{right} of {counted(tried, 'trigger prompt')} right" if tried else ""
    return ", ".join(words for words in (passed, answered) if words)
