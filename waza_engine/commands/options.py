"""The types of options that several commands share, and the words of their help."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, TypeAlias

import typer


class ReportFormat(StrEnum):
    """How a finished thing is told."""

    TEXT = "text"
    JSON = "json"


class ComparisonFormat(StrEnum):
    """How a comparison is told."""

    TABLE = "table"
    JSON = "json"


class ReportKind(StrEnum):
    """What a report is for."""

    TEXT = "text"
    JSON = "json"
    JUNIT = "junit"
    MARKDOWN = "markdown"


class OutputFormat(StrEnum):
    """How a run is told."""

    TEXT = "text"
    JSON = "json"
    JSONL = "jsonl"


Tasks: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--task", metavar="PATTERN", help="Only tasks whose id or name matches this pattern; repeatable."
    ),
]
Graders: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--grader", metavar="NAME", help="Only the graders of this name; repeatable."),
]
JudgeModel: TypeAlias = Annotated[
    str | None, typer.Option(metavar="NAME", help="The model of judges that name none.")
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one object instead of lines.")]


def recorded(metavar: str) -> Any:
    """Return the argument that takes a recorded run, under the name that the command gives it."""
    return typer.Argument(
        metavar=metavar,
        help="A result file, ours or upstream's; or an eval.yaml or its directory: its newest results.",
    )
