"""Recognize the files of agent-eval-harness by their content, and say which command reads them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, cast

from waza_engine.spec.grader_results import result_issues

RowKind: TypeAlias = Literal["prompts", "capture", "trials"]
ROW_SUFFIXES = (".jsonl", ".ndjson")
KEYS_OF_PROMPTS = frozenset({"id", "input", "hint", "reference", "metadata", "timeout"})
_ONLY_OF_PROMPTS = frozenset({"hint", "reference"})
_OF_OTHER_DATASETS = {
    *("messages", "prompt", "completion", "text", "target", "output", "label", "labels", "instruction"),
    *("response", "answer", "answers", "question", "ideal", "expected_output", "chosen", "rejected"),
    *("custom_id", "conversations", "choices"),
}
_NAME_OF_PROMPTS = re.compile(r"(?i)(?:.*[._-])?prompts(?:[._-].*)?\.(?:jsonl|ndjson)\Z")
_WORDS: Mapping[RowKind, str] = {
    "prompts": (
        "holds prompts; name it as `tasks_from` in an eval.yaml, or ask an agent with "
        "`waza-engine harness capture`"
    ),
    "capture": "holds captures of agent-eval-harness, the results of a run and no suite",
    "trials": "holds trials of agent-eval-harness, the results of a run and no suite",
}
PLACEHOLDERS = ("{{input}}", "{{output}}")
"""Where a past turn is put into the `historyTemplate` of an adapter."""
DIGEST = "wazaDigest"
"""The key of a row's metadata that says what decided it: the digests of its answer and of its grader."""
AGENT_ERRORS = "wazaErrors"
"""The key of the metadata of trials with the errors of the agent, by the number of the trial."""
TASK_KEY = "wazaTask"
"""The key of a prompt's metadata with the id of its task: a grader file does not get the id of the prompt."""
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


def verdict_issue(score: object) -> str:
    """Return why a recorded result of a grader is no verdict, "" for one that is; null is a missing value."""
    if not isinstance(score, Mapping):
        return "`score` must be an object with `pass` and `score`"
    written = cast("Mapping[str, Any]", score)
    given = {key: value for key, value in written.items() if value is not None}
    return ", ".join(result_issues(given, "harness-json"))


def agent_errors(row: Mapping[str, Any]) -> list[str]:
    """Return why the agent of a row failed, nothing if it did not; those in ``errors`` are the last ones.

    An agent that was too slow is in the metadata alone. A failing ``exitCode`` is no error after an answer,
    and ``toolErrors`` may be those of a single tool call.
    """
    metadata, written = row.get("metadata"), row.get("errors")
    is_late = isinstance(metadata, Mapping) and cast("Mapping[str, Any]", metadata).get("timedOut") is True
    listed = cast("list[object]", written) if isinstance(written, list) else [written]
    found = ["the agent did not answer in time" if is_late else None, row.get("error"), *listed]
    return [str(error) for error in found if error]


def file_kind(name: str, text: str) -> RowKind | None:
    """Return what a file of JSON Lines surely holds, None for one that may be another tool's.

    Datasets for training and evaluation have `id` and `input`, too: the name or a key has to show that these
    are prompts of the harness. Captures and trials show it by their own keys.
    """
    row = first_row(text)
    is_named = _NAME_OF_PROMPTS.match(name) is not None
    if row is None:
        return "prompts" if is_named and _is_begun(text) else None
    kind = row_kind(row)
    if kind in ("capture", "trials"):
        return kind if "input" in row else None
    if not _ONLY_OF_PROMPTS.isdisjoint(row):
        is_sure = kind is not None and row.keys() <= KEYS_OF_PROMPTS
        return "prompts" if is_sure or (is_named and not row.keys().isdisjoint({"id", "input"})) else None
    is_begun = is_named and "input" in row and _OF_OTHER_DATASETS.isdisjoint(row)
    return "prompts" if is_begun else None


def _is_begun(text: str) -> bool:
    """Return whether a text without a readable row begins like one of a prompt, or is empty."""
    begun = text.lstrip("\ufeff").strip()
    return not begun or begun.startswith(('{"id"', '{"input"')) or begun in ("{", "{}")


def first_row(text: str) -> Mapping[str, Any] | None:
    """Return the first row of a text, None if it is not a JSON object."""
    begin = 1 if text.startswith("\ufeff") else 0
    while begin < len(text):
        end = text.find("\n", begin)
        end = len(text) if end < 0 else end
        if line := text[begin:end].strip():
            try:
                row: object = json.loads(line)
            except (ValueError, RecursionError):
                return None
            return cast("Mapping[str, Any]", row) if isinstance(row, dict) else None
        begin = end + 1
    return None


def is_adapter(data: object, *, is_named: bool = False) -> bool:
    """Return whether parsed JSON says how to drive an agent's command line, mistakes in it included.

    In a file that is named as an adapter, one key of adapters alone is enough.
    """
    if not isinstance(data, Mapping):
        return False
    keys = cast("Mapping[str, object]", data)
    has_command = "version" in keys and isinstance(keys.get("command"), str | list)
    return (is_named or has_command) and not {"sessionMode", "session_mode", "outputEvents"}.isdisjoint(keys)


def describe_harness_file(text: str) -> str:
    """Return what a file of the harness holds, as a clause after its name; "" for any other text."""
    row = first_row(text)
    kind = row_kind(row) if row is not None else None
    return "" if kind is None else _WORDS[kind]
