"""Names in a Vally eval file: ids of tasks, names of graders, grader types that do not exist. Light."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from waza_engine.spec.vally.versions import slug_of
from waza_engine.spelling import typo_of
from waza_engine.vocabulary import unique_names

VERDICT = "verdict"
"""The name of the grader that decides a trial."""
OF_CONSTRAINTS: Mapping[str, str] = {
    "max_turns": "turn-count",
    "max_tokens": "token-budget",
    "max_tool_calls": "tool-call-count",
    "max_duration": "wall-time",
    "max_duration_ms": "wall-time",
    "expect_tools": "tool-calls",
    "reject_tools": "tool-calls",
    "expect_skills": "skill-invocation",
    "reject_skills": "skill-invocation",
}
"""The grader types that constraints become, in their order."""


def task_ids(names: Iterable[str]) -> Mapping[str, str]:
    """Return the ids of the tasks that stimuli become, by their names."""
    different = dict.fromkeys(names)
    return dict(zip(different, unique_names(slug_of(name) or name for name in different), strict=True))


def grader_names(named: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the names of the graders of a stimulus, those of the file first, by their own names and types."""
    names = unique_names([VERDICT, *(name or keyword for name, keyword in named)])
    next(names)
    yield from names


def type_for_skills(names: Iterable[str]) -> str:
    """Return the grader type that checks skills; any skill is a call of the tool that loads them."""
    return "tool-calls" if "*" in names else "skill-invocation"


def misspelt_type_words(written: str, known: Iterable[str]) -> str:
    """Return that a grader type is a typo, and of which one; "" for a type that a plug-in may bring."""
    intended = typo_of(written, known)
    return "" if intended is None else f"There is no grader type `{written}`; did you mean `{intended}`?"
