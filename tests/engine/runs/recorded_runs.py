"""Runs of public suites as upstream recorded them, repeated by this engine with the mock executor."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.shared_corpus import VERDICTS
from waza_engine.results.record import RunOutcome
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.loading.suite import SuiteError
from waza_engine.runs.run import prepare
from waza_engine.runs.settings.table import RunSettings
from waza_engine.spec.problems import SuiteFileError


@dataclass(frozen=True, slots=True)
class Replay:
    """A recorded run beside ours: an outcome, or why the suite could not be loaded."""

    record: dict[str, Any]
    outcome: RunOutcome | None
    refused: str = ""


def records() -> list[dict[str, Any]]:
    path = VERDICTS / "mock_runs.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.is_file() else []


def replay(record: dict[str, Any], snapshots: Path) -> Replay:
    """Run the suite of a record; the working directory must be its snapshot's root, as when recorded."""
    path = snapshots / record["snapshot"] / record["path"]
    path.write_text(rewritten(path.read_text("utf-8")), "utf-8")
    try:
        prepared = prepare(RunSettings(path))
    except (SuiteFileError, SuiteError) as error:
        return Replay(record, None, str(error))
    return Replay(record, prepared.run(lambda _: None, RunCancellation()).outcome)


def rewritten(text: str) -> str:
    """Apply the changes that were made to the text before recording: the mock executor, one trial."""
    line = r"[ \t]+.*\r?\n|[ \t]*(?:#.*)?\r?\n"
    block = re.search(rf"^config:[ \t]*(#.*)?\r?\n((?:{line})*)", text, re.M)
    if block is None:
        return text
    body = block[2]
    for key, value in (("executor", "mock"), ("trials_per_task", "1")):
        body, found = re.subn(rf"^([ \t]+){key}:.*$", rf"\g<1>{key}: {value}", body, count=1, flags=re.M)
        if not found:
            indent = re.match(r"(?:[ \t]*(?:#.*)?\n)*([ \t]+)", body)
            body = f"{indent[1] if indent else '  '}{key}: {value}\n{body}"
    return text[: block.start(2)] + body + text[block.end(2) :]
