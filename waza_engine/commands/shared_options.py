"""The types and help texts of options that several commands share."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeAlias, get_type_hints

import typer

from waza_engine.runs.settings.table import Setting, SettingKind, setting_rows


def executors_like(incomplete: str) -> list[str]:
    """Return the executors whose names start with ``incomplete``, for shell completion."""
    from waza_engine.spec.executors import EXECUTORS

    return [name for name in EXECUTORS if name.startswith(incomplete)]


def grader_types_like(incomplete: str) -> list[str]:
    """Return the grader types whose names start with ``incomplete``, for shell completion."""
    from waza_engine.graders.registry import grader_types

    return [name for name in grader_types() if name.startswith(incomplete)]


ReportFormat = Literal["text", "json"]
"""The format of a report."""
ComparisonFormat = Literal["table", "json"]
"""The format of a comparison."""
GateFormat = Literal["human", "json", "markdown", "github-actions"]
"""The format of a gate's result."""
TaskPolicy = Literal["allow", "warn", "fail"]
"""How a gate treats tasks that only one of two runs has."""
PreflightFormat = Literal["human", "json"]
"""The format of a preflight report."""
Layout = Literal["skill-creator"]
"""A layout of other tools in which a run is also written."""
OutputFormat = Literal["text", "json", "jsonl", "github"]
"""The format of a run's output."""


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
SuiteOfRecord: TypeAlias = Annotated[
    Path | None, typer.Option(metavar="EVAL", help="The eval.yaml, if the record does not name it.")
]
Workspace: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="The directory that `file` and `diff` read, if the run did not keep its own."
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


_TYPES: dict[SettingKind, Any] = {
    "texts": list[str] | None,
    "text": str | None,
    "number": int | None,
    "amount": float | None,
    "choice": bool | None,
    "flag": bool,
    "path": Path | None,
}
_EXECUTORS = ("executor", "judge_executor")


def with_run_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with an option for every setting that has one, in the place of ``settings``.

    The command gets the given options, by field of ``RunSettings``.
    """
    rows = {name: row for name, row in setting_rows().items() if row.option}

    @functools.wraps(command)
    def with_options(**given: Any) -> None:
        settings = {name: given.pop(name) for name in rows}
        settings |= {name: tuple(settings[name] or ()) for name, row in rows.items() if row.kind == "texts"}
        command(settings=settings, **given)

    signature = inspect.signature(command)
    types = get_type_hints(command, include_extras=True)
    parameters: list[inspect.Parameter] = []
    for name, parameter in signature.parameters.items():
        if name == "settings":
            parameters += [_option(field, row) for field, row in rows.items()]
        else:
            kind = inspect.Parameter.KEYWORD_ONLY
            parameters.append(parameter.replace(kind=kind, annotation=types[name]))
    with_options.__dict__["__signature__"] = signature.replace(parameters=parameters)
    with_options.__annotations__ = {}
    return with_options


def _option(name: str, row: Setting) -> inspect.Parameter:
    is_number = row.kind in ("number", "amount")
    option = typer.Option(
        row.option,
        metavar=row.metavar or None,
        help=row.help,
        min=row.minimum if is_number else None,
        max=row.maximum,
        autocompletion=executors_like if name in _EXECUTORS else None,
    )
    default = False if row.kind == "flag" else None
    annotation = Annotated[_TYPES[row.kind], option]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
