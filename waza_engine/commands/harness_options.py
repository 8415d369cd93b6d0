"""The options that the commands of ``harness`` share, and how each of these commands ends."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from waza_engine.terminal import complain

if TYPE_CHECKING:
    from waza_engine.harness.row_grading import Tally

WRONG = 1
"""The exit code for wrong options and files, as agent-eval-harness has it."""
STANDARD = Path("-")


class Style(StrEnum):
    """The format of rows."""

    JSONL = "jsonl"
    MARKDOWN = "markdown"
    CSV = "csv"


class Strategy(StrEnum):
    """How runs are ranked."""

    WEIGHTED = "weighted"
    STATISTICAL = "statistical"
    CUSTOM = "custom"


class ReportStyle(StrEnum):
    """The format of a comparison."""

    JSON = "json"
    MARKDOWN = "markdown"


class InputFormat(StrEnum):
    """The kind of rows to compare."""

    AUTO = "auto"
    CAPTURE = "capture"
    TRIALS = "trials"


def _rows(metavar: str, what: str) -> Any:
    return typer.Argument(metavar=metavar, help=f"{what}; `-` is standard input.", show_default=False)


def _file(*names: str, metavar: str = "FILE", what: str) -> Any:
    return typer.Option(*names, metavar=metavar, help=what)


def _number(*names: str, metavar: str = "NUMBER", least: float | None = None, what: str) -> Any:
    return typer.Option(*names, metavar=metavar, min=least, help=what)


def switch(name: str, what: str, short: str | None = None) -> Any:
    """Return an option without a value."""
    return typer.Option(*filter(None, (short, name)), help=what)


_GRADER = _file("-g", "--grader", what="The grader: a module or a program.")

Rows: TypeAlias = Annotated[Path, _rows("ROWS", "The rows, one JSON object a line")]
Results: TypeAlias = Annotated[Path, _rows("RESULTS", "The captures, one a line")]
Prompts: TypeAlias = Annotated[Path, _rows("PROMPTS", "The prompts, one a line")]
OptionalPrompts: TypeAlias = Annotated[Path | None, _rows("PROMPTS", "The prompts, one a line")]
Output: TypeAlias = Annotated[
    Path | None, _file("-o", "--output", what="Write to this file, not to standard output.")
]
Adapter: TypeAlias = Annotated[
    Path, _file("-s", "--schema", metavar="ADAPTER", what="The adapter of the agent's command line.")
]
OptionalAdapter: TypeAlias = Annotated[
    Path | None, _file("-s", "--schema", metavar="ADAPTER", what="Ask the agent of this adapter.")
]
GraderFile: TypeAlias = Annotated[Path, _GRADER]
OptionalGrader: TypeAlias = Annotated[Path | None, _GRADER]
Progress: TypeAlias = Annotated[bool, switch("--progress", "Show progress on standard error.")]
Cwd: TypeAlias = Annotated[
    Path | None, _file("-c", "--cwd", metavar="DIR", what="The working directory of the agent.")
]
Timeout: TypeAlias = Annotated[
    int | None,
    _number("-t", "--timeout", metavar="MS", least=1, what="Limit each turn; overrides prompts and adapter."),
]
Concurrency: TypeAlias = Annotated[
    int, _number("-j", "--concurrency", least=1, what="How many prompts are asked at the same time.")
]
Trials: TypeAlias = Annotated[int, _number("-k", least=1, what="How often each prompt is asked.")]
Stdin: TypeAlias = Annotated[bool, switch("--stdin", "Read the prompts from standard input.")]
Workspaces: TypeAlias = Annotated[
    Path | None, _file("--workspace-dir", metavar="DIR", what="Give each prompt a directory in this one.")
]
Append: TypeAlias = Annotated[bool, switch("--append", "Add to the output file.")]
Debug: TypeAlias = Annotated[bool, switch("--debug", "Show what the agent prints.")]
FailUnder: TypeAlias = Annotated[
    float | None,
    typer.Option(min=0.0, max=1.0, metavar="RATE", help="Exit with 1 if the pass rate is below this."),
]
Resume: TypeAlias = Annotated[
    bool, switch("--resume", "Keep the finished rows of the output file and run the rest.")
]
MaxCost: TypeAlias = Annotated[
    float | None, _number(metavar="USD", least=0, what="Stop when the agent has cost this much.")
]
MaxTokens: TypeAlias = Annotated[int | None, _number(least=0, what="Stop when it has used this many tokens.")]
Seed: TypeAlias = Annotated[int | None, _number(what="Draw the same random numbers each time.")]


@contextmanager
def clear_errors() -> Generator[None]:
    """Report wrong files and options in one sentence, and exit with 1."""
    from waza_engine.harness.rows import HarnessError

    try:
        yield
    except HarnessError as error:
        complain(str(error))
        raise typer.Exit(WRONG) from None


def exit_below(tally: Tally, fail_under: float | None) -> None:
    """Exit with 1 when the pass rate is below a limit."""
    from waza_engine.number_formats import format_below, reaches

    if fail_under is not None and not reaches(tally.rate, fail_under):
        rate, least = format_below(tally.rate, fail_under)
        complain(f"The pass rate {rate} is below {least}.")
        raise typer.Exit(WRONG)
