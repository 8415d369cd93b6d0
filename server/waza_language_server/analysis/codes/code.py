"""The metadata of one diagnostic code, and files without a problem with which examples begin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType

from waza_engine.frozen import frozen
from waza_language_server.analysis.problem import Severity
from waza_language_server.schema.catalog import SchemaName

_NO_FILES: Mapping[str, str] = MappingProxyType({})


@frozen()
class Code:
    """One code: a title, the usual severity, why it matters, and an example that has the problem.

    ``fixed`` is the example repaired by the first fix, or by hand when there is none; ``no_fix`` then
    explains why. ``files`` are other files that the rule reads, by their path from the example's folder.
    """

    code: str
    title: str
    severity: Severity
    why: str
    example: str
    fixed: str
    no_fix: str = ""
    kind: SchemaName = "task"
    files: Mapping[str, str] = field(default_factory=lambda: _NO_FILES)


TASK = "id: t\nname: T\ninputs:\n  prompt: Go\n"
CONFIG = "config:\n  trials_per_task: 1\n  timeout_seconds: 60\n  executor: mock\n  model: m\n"
EVAL = f"name: demo\nskill: demo\n{CONFIG}tasks: [tasks/*.yaml]\n"


def graders(text: str) -> str:
    """Return a task with these grader entries."""
    return f"{TASK}graders:\n{text}"
