"""Evaluating the assertions of `code` graders with ``language: javascript``, through Node.js."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from waza_engine.assertions.evaluator import DEADLINE_SECONDS, AssertionOutcome
from waza_engine.graders.base import GraderError
from waza_engine.graders.processes import Finished, run_bounded

_WRAPPER = Path(__file__).with_name("javascript_worker.js")
_MEMORY_MEGABYTES = 512
_START_SECONDS = 10.0


def evaluate_javascript(
    assertions: Sequence[str], context: Mapping[str, Any], *, deadline_seconds: float = DEADLINE_SECONDS
) -> list[AssertionOutcome]:
    """Evaluate in order, in one shared context. Raises ``GraderError`` without a working Node.js."""
    node = shutil.which("node")
    if node is None:
        raise GraderError("assertions in JavaScript need Node.js; install it, or write them in Python")
    outcomes: list[AssertionOutcome] = []
    while len(outcomes) < len(assertions):
        remaining = assertions[len(outcomes) :]
        finished = _run(node, remaining, context, deadline_seconds)
        replies = [json.loads(line) for line in finished.stdout.splitlines() if line.endswith("}")]
        outcomes += [
            AssertionOutcome(reply["passed"], reply["error"], reply["timed_out"]) for reply in replies
        ]
        if len(replies) < len(remaining):
            outcomes.append(_lost(finished, deadline_seconds))
    return outcomes


def _run(node: str, assertions: Sequence[str], context: Mapping[str, Any], deadline: float) -> Finished:
    request = {
        "context": dict(context),
        "assertions": list(assertions),
        "deadline_ms": round(deadline * 1000),
    }
    try:
        return run_bounded(
            [node, f"--max-old-space-size={_MEMORY_MEGABYTES}", str(_WRAPPER)],
            stdin=json.dumps(request, default=str),
            timeout_seconds=_START_SECONDS + deadline * len(assertions),
            cwd=_WRAPPER.parent,
            environment={"NODE_OPTIONS": ""},
        )
    except OSError as error:
        raise GraderError(f"Node.js cannot be started: {error.strerror}") from None


def _lost(finished: Finished, deadline: float) -> AssertionOutcome:
    if finished.timed_out:
        return AssertionOutcome(False, f"it took longer than {deadline:g} seconds", timed_out=True)
    return AssertionOutcome(False, "it crashed Node.js or needs too much memory")
