"""The most important facts of a trial that did not pass: upstream's ``failure_artifacts``.

The exit code is made up, as upstream's is: 1 for failed, 2 for error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from waza_engine.figures import shown_score
from waza_engine.results.json_values import Json, given
from waza_engine.results.record import TrialOutcome, Validation

FAILURES = ("failed", "error")
"""The statuses of trials that have them."""

LONGEST_BYTES = 10_000
_MOST_LINES = 10
_LONGEST_LINE = 300
_COMPLAINT = re.compile(
    r"\b(error|exception|traceback|panic|fatal|timed out|timeout|denied|refused|not found)\b", re.IGNORECASE
)


def failure_artifacts(trial: TrialOutcome) -> Json:
    """Return them for a trial that failed or broke, nothing for any other."""
    if trial.status not in FAILURES:
        return {}
    said, said_cut = _beginning(trial.output)
    complaint, complaint_cut = _beginning(trial.error)
    failed = [found for found in (trial.validations or {}).values() if not _well(found)]
    return {
        **given(
            stderr=complaint,
            stdout=said,
            failed_graders=[found.name for found in failed],
            error_patterns=list(_complaints(f"{trial.error}\n{trial.output}")),
        ),
        "exit_code": 1 if trial.status == "failed" else 2,
        "triage_summary": "\n".join(_summary(trial, failed)),
        **given(captured_at=trial.captured_at),
        "context": {
            "stdout_truncated": str(said_cut).lower(),
            "stderr_truncated": str(complaint_cut).lower(),
        },
    }


def _summary(trial: TrialOutcome, failed: list[Validation]) -> Iterator[str]:
    yield f"## Trial {trial.number}: {trial.status}"
    yield ""
    if trial.error:
        yield f"- **Error**: {_one_line(trial.error)}"
    for found in failed:
        yield f"- **{found.name}** ({found.type}, {shown_score(found.score)}): {_one_line(found.feedback)}"
    for checkpoint in trial.checkpoints:
        if checkpoint.status in ("failed", "error"):
            yield f"- **Checkpoint after turn {checkpoint.after_turn}**: {checkpoint.status}"


def _well(found: Validation) -> bool:
    return found.shown_status in ("pending", "advisory") or (found.status == "graded" and found.passed)


def _beginning(text: str) -> tuple[str, bool]:
    content = text.encode("utf-8", "replace")
    return content[:LONGEST_BYTES].decode("utf-8", "ignore"), len(content) > LONGEST_BYTES


def _complaints(text: str) -> Iterator[str]:
    """Yield the first lines that speak of an error, each once."""
    found = dict.fromkeys(_one_line(line) for line in text.splitlines() if _COMPLAINT.search(line))
    yield from list(found)[:_MOST_LINES]


def _one_line(text: str) -> str:
    return " ".join(text.split())[:_LONGEST_LINE]
