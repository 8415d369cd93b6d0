"""Recognize the files of agent-eval-harness by their first row, and say which command reads them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, cast

RowKind: TypeAlias = Literal["prompts", "capture", "trials"]
ROW_SUFFIXES = (".jsonl", ".ndjson")
_WORDS: Mapping[RowKind, str] = {
    "prompts": (
        "holds prompts; name it as `tasks_from` in an eval.yaml, or ask an agent with "
        "`waza-engine harness capture`"
    ),
    "capture": "holds captures of agent-eval-harness, the results of a run and no suite",
    "trials": "holds trials of agent-eval-harness, the results of a run and no suite",
}
DIGEST = "wazaDigest"
"""The key of a row's metadata that says what decided it: the digests of its answer and of its grader."""
AGENT_ERRORS = "wazaErrors"
"""The key of the metadata of trials with the errors of the agent, by the number of the trial."""
TASK_KEY = "wazaTask"
"""The key of a prompt's metadata with the id of its task: a grader file is not told the id of the prompt."""
BROKEN_GRADER = ":broken"
"""The end of a digest when the grader broke, and its error is the last one of the row."""


def row_kind(row: Mapping[str, Any]) -> RowKind | None:
    """Return what a row is, None for anything else; agent-eval-harness tells captures and trials so, too."""
    k = row.get("k")
    if isinstance(row.get("trials"), list) and isinstance(k, int | float) and not isinstance(k, bool):
        return "trials"
    if isinstance(row.get("trajectory"), list) and isinstance(row.get("timing"), Mapping):
        return "capture"
    is_prompt = isinstance(row.get("id"), str) and isinstance(row.get("input"), str | list)
    return "prompts" if is_prompt and "output" not in row else None


def harness_words(text: str) -> str:
    """Return what a file of the harness holds, as a clause after its name; "" for any other text."""
    try:
        first: object = json.loads(next((line for line in text.split("\n") if line.strip()), ""))
    except (ValueError, RecursionError):
        return ""
    kind = row_kind(cast("Mapping[str, Any]", first)) if isinstance(first, dict) else None
    return "" if kind is None else _WORDS[kind]
