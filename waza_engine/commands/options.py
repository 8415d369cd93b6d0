"""The types of options that several commands share, and the words of their help."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Self, TypeAlias

import typer


def executors_like(incomplete: str) -> list[str]:
    """Return the executors whose names begin so, for the Tab key."""
    from waza_engine.spec.executors import EXECUTORS

    return [name for name in EXECUTORS if name.startswith(incomplete)]


def grader_types_like(incomplete: str) -> list[str]:
    """Return the grader types whose names begin so, for the Tab key."""
    from waza_engine.graders.registry import grader_types

    return [name for name in grader_types() if name.startswith(incomplete)]


class ReportFormat(StrEnum):
    """How a finished thing is told."""

    TEXT = "text"
    JSON = "json"


class ComparisonFormat(StrEnum):
    """How a comparison is told."""

    TABLE = "table"
    JSON = "json"


class GateFormat(StrEnum):
    """How a gate is told."""

    HUMAN = "human"
    JSON = "json"
    MARKDOWN = "markdown"
    GITHUB = "github-actions"


class TaskPolicy(StrEnum):
    """What a gate makes of tasks that only one of two runs has."""

    ALLOW = "allow"
    WARN = "warn"
    FAIL = "fail"


class PreflightFormat(StrEnum):
    """How the findings before a run are told."""

    HUMAN = "human"
    JSON = "json"


class ReportKind(StrEnum):
    """What a report is for; ``purpose`` is what the help says of it."""

    _value_: str
    purpose: str

    def __new__(cls, name: str, purpose: str) -> Self:
        """Return the kind of this name."""
        made = str.__new__(cls, name)
        made._value_ = name
        made.purpose = purpose
        return made

    TEXT = "text", "text for people"
    JSON = "json", "the document in today's layout"
    JUNIT = "junit", "JUnit XML for a CI system"
    MARKDOWN = "markdown", "Markdown for a pull request"
    GITHUB = "github", "annotations of GitHub Actions, and the summary of the step"


class OutputFormat(StrEnum):
    """How a run is told."""

    TEXT = "text"
    JSON = "json"
    JSONL = "jsonl"
    GITHUB = "github"


def _not_blank(texts: list[str] | None) -> list[str] | None:
    if not all(map(str.strip, texts or ())):
        raise typer.BadParameter("is blank; name one, or leave it out")
    return texts


Tasks: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--task",
        metavar="PATTERN",
        help="Only tasks whose id or name matches this pattern; repeatable.",
        callback=_not_blank,
    ),
]
Graders: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--grader",
        metavar="NAME",
        help="Only the graders of this name; repeatable.",
        callback=_not_blank,
    ),
]
JudgeModel: TypeAlias = Annotated[
    str | None, typer.Option(metavar="NAME", help="The model of judges that name none.")
]
FailUnder: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--fail-under", min=0.0, max=1.0, metavar="SCORE", help="No pass with a score below this, 0 to 1."
    ),
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one object instead of lines.")]


def recorded(metavar: str) -> Any:
    """Return the argument that takes a recorded run, under the name that the command gives it."""
    return typer.Argument(
        metavar=metavar,
        help="A result file, ours or upstream's; or an eval.yaml or its directory: its newest results.",
    )
