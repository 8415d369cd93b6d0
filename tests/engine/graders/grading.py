"""Short ways to grade something in a test."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from waza_engine.graders.base import GraderError, GradingContext, Verdict
from waza_engine.graders.registry import create
from waza_engine.vocabulary import SkillInvocation, ToolCall, Usage


def grade(type_name: str, config: dict[str, Any] | None, **context: Any) -> Verdict:
    """Grade with one grader; the keyword arguments are those of the grading context."""
    entry: dict[str, Any] = {"type": type_name, "name": "g"}
    if config is not None:
        entry["config"] = config
    return create(entry).grade(GradingContext(**context))


def result(verdict: Verdict) -> tuple[float, bool]:
    """Return the rounded score and the verdict."""
    return round(verdict.score, 4), verdict.passed


def calls(*names: str) -> tuple[ToolCall, ...]:
    """Return calls without arguments; names may stand in one text, separated by blanks."""
    return tuple(ToolCall(name) for text in names for name in text.split())


def skills(names: str) -> tuple[SkillInvocation, ...]:
    return tuple(SkillInvocation(name) for name in names.split())


def usage(tokens: int = 0, turns: int = 0) -> Usage:
    return Usage(turns=turns, input_tokens=tokens)


def folder(root: Path, files: dict[str, str]) -> Path:
    """Write files below a folder."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())
    return root


@contextmanager
def refused(*words: str) -> Generator[None]:
    """Expect a ``GraderError`` that says these words, in one sentence free of library wording."""
    with pytest.raises(GraderError) as caught:
        yield
    message = str(caught.value)
    for word in words:
        assert word in message, message
    assert "\n" not in message
    for foreign in ("pydantic", "Input should", "Field required", "Extra inputs", "validation error"):
        assert foreign not in message


def failed_paths(verdict: Verdict) -> list[tuple[str | int, ...]]:
    return [check.path for check in verdict.checks if not check.passed]


def only(items: Sequence[Any]) -> Any:
    assert len(items) == 1
    return items[0]
