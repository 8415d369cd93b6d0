"""The values in a row of agent-eval-harness, whatever is missing in it. Light: the editor shows rows, too."""

from __future__ import annotations

from typing import Any, cast

from waza_engine.results.json_values import Block, Json, block_of, blocks_of, text_of
from waza_engine.spec.harness_files import agent_errors, verdict_issue


def is_input(value: object) -> bool:
    """Return whether a value is a prompt: a string, or a list of strings."""
    if isinstance(value, list):
        return all(isinstance(turn, str) for turn in cast("list[object]", value))
    return isinstance(value, str)


def is_capture(block: Block) -> bool:
    """Return whether a row is a capture: it has an answer, and no trials."""
    has_answer = is_input(block.get("input")) and isinstance(block.get("output"), str)
    return has_answer and not isinstance(block.get("trials"), list)


def missing_in_capture(block: Block) -> list[str]:
    """Return the keys for whose lack agent-eval-harness would reject a capture."""
    times = block_of(block, "timing")
    missing = [key for key in ("trajectory", "metadata", "toolErrors") if key not in block]
    needed = ("start", "end", "sessionCreation", "total")
    return missing + [f"timing.{key}" for key in needed if key not in times]


def complete_capture(block: Block) -> Json:
    """Return a capture with empty values for those that are missing."""
    times = block_of(block, "timing")
    start, end = number_in(times, "start"), number_in(times, "end")
    total = number_in(times, "total") if "total" in times else end - start
    return {
        **block,
        "trajectory": blocks_of(block.get("trajectory")),
        "metadata": block_of(block, "metadata"),
        "timing": {**times, "start": start, "end": end if "end" in times else start + total, "total": total},
        "toolErrors": block.get("toolErrors") is True,
    }


def number_in(block: Block, key: str) -> float:
    """Return the number at a key, 0 without one."""
    found = block.get(key)
    return found if isinstance(found, int | float) and not isinstance(found, bool) else 0


def score_in(block: Block) -> Block | None:
    """Return the verdict of a grader in a row, None in one that is not graded, or has no valid verdict."""
    score = block.get("score")
    return None if verdict_issue(score) else cast("Block", score)


def has_failed(block: Block) -> bool:
    """Return whether the agent failed, so that the row counts as not passed whatever its grader says."""
    return bool(agent_errors(block))


def input_text(value: Any, between: str) -> str:
    """Return the prompts of a row as one string."""
    return between.join(map(text_of, cast("list[Any]", value))) if isinstance(value, list) else text_of(value)
