"""The types and help texts of options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Self, TypeAlias

import typer


def executors_like(incomplete: str) -> list[str]:
    """Return the executors whose names start with ``incomplete``, for shell completion."""
    from waza_engine.spec.executors import EXECUTORS

    return [name for name in EXECUTORS if name.startswith(incomplete)]


def grader_types_like(incomplete: str) -> list[str]:
    """Return the grader types whose names start with ``incomplete``, for shell completion."""
    from waza_engine.graders.registry import grader_types

    return [name for name in grader_types() if name.startswith(incomplete)]


class ReportFormat(StrEnum):
    """The format of a report."""

    TEXT = "text"
    JSON = "json"


class ComparisonFormat(StrEnum):
    """The format of a comparison."""

    TABLE = "table"
    JSON = "json"


class GateFormat(StrEnum):
    """The format of a gate's result."""

    HUMAN = "human"
    JSON = "json"
    MARKDOWN = "markdown"
    GITHUB = "github-actions"


class TaskPolicy(StrEnum):
    """How a gate treats tasks that only one of two runs has."""

    ALLOW = "allow"
    WARN = "warn"
    FAIL = "fail"


class PreflightFormat(StrEnum):
    """The format of a preflight report."""

    HUMAN = "human"
    JSON = "json"


class ReportKind(StrEnum):
    """The format of a stored report; ``purpose`` is its help text."""

    _value_: str
    purpose: str

    def __new__(cls, name: str, purpose: str) -> Self:
        """Return the kind of this name."""
        made = str.__new__(cls, name)
        made._value_ = name
        made.purpose = purpose
        return made

    TEXT = "text", "plain text"
    JSON = "json", "the result document in the current layout"
    JUNIT = "junit", "JUnit XML for a CI system"
    MARKDOWN = "markdown", "Markdown for a pull request"
    GITHUB = "github", "GitHub Actions annotations and step summary"
    HTML = "html", "a page for a browser, in one file"
    CSV = "csv", "a row for each verdict of a grader"


class EvalFormat(StrEnum):
    """A format of eval files."""

    WAZA = "waza"
    EVALS_JSON = "evals.json"
    VALLY = "vally"
    HARNESS = "harness"


class Layout(StrEnum):
    """A layout of other tools in which a run is also written."""

    SKILL_CREATOR = "skill-creator"


class OutputFormat(StrEnum):
    """The format of a run's output."""

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
        help="Select tasks whose id or name matches this pattern; repeatable.",
        callback=_not_blank,
    ),
]
Graders: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--grader",
        metavar="NAME",
        help="Select graders by name; repeatable.",
        callback=_not_blank,
    ),
]
JudgeModel: TypeAlias = Annotated[
    str | None, typer.Option(metavar="NAME", help="The model of judges that do not name one.")
]
FailUnder: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--fail-under",
        min=0.0,
        max=1.0,
        metavar="SCORE",
        help="Fail if the score is below this value, 0 to 1.",
    ),
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def suites_argument() -> Any:
    """Return the argument of suites."""
    return typer.Argument(
        metavar="[PATH|SKILL]...",
        help="Eval files, directories with suites, or names of skills; by default this directory.",
    )


def recorded(metavar: str) -> Any:
    """Return the argument of a recorded run, shown as ``metavar``."""
    return typer.Argument(
        metavar=metavar,
        help="Result files, ours or upstream's; or suites (eval.yaml, directory, name of the skill), "
        "for their newest results.",
    )
