"""Shared options of graders that run a program: its directory, its time limit, its input."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from annotated_types import Le
from pydantic import Field

from waza_engine.graders.base import GradingContext
from waza_engine.spec.fields import WholeNumber
from waza_engine.spec.limits import LONGEST_SECONDS

TimeLimit: TypeAlias = Annotated[
    Annotated[WholeNumber, Le(LONGEST_SECONDS)] | None,
    Field(
        description=(
            "The longest run allowed, in seconds. "
            "Default: `graders.programTimeout` of `.waza.yaml`, else 30; zero and less mean the default."
        ),
        examples=[60],
    ),
]
AnswerWords: TypeAlias = Annotated[
    Literal["auto", "harness-json", "waza-json"],
    Field(
        description=(
            "The words of the answer: `harness-json` (`pass`, `score`, `reasoning`, `outcome`), `waza-json` "
            "(`passed`, `score`, `message`, `details`), or whichever of them is printed."
        ),
    ),
]


def starting_directory(context: GradingContext, arguments: Sequence[str]) -> Path:
    """Return the working directory, or the folder at or above the eval file with a file missing here.

    Public suites write program paths from the repository root; a suite that is run from elsewhere still finds
    its own.
    """
    here = Path.cwd()
    suite = context.suite_directory
    for argument in arguments:
        if not argument or argument.startswith("-") or Path(argument).is_absolute() or "\0" in argument:
            continue
        for folder in (here, suite, *suite.parents):
            if _is_file(folder / argument):
                return folder
    return here


def grader_environment(context: GradingContext) -> dict[str, str]:
    """Return the variables that a grading program gets besides the inherited ones."""
    return {"WAZA_WORKSPACE_DIR": str(context.workspace) if context.workspace is not None else ""}


def time_limit(written: int | None, context: GradingContext) -> float:
    """Return the longest run in seconds: as written, else the project's; zero and less mean the default."""
    return float(written) if written and written > 0 else context.program_timeout_seconds


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False
