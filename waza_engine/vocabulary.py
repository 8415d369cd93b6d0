"""The vocabulary of a run that every package uses: an agent's calls and usage, and a grader's checks.

Light: the readers of results load it without any models.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal, cast

from waza_engine.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

KNOWN_ARGUMENTS = ("path", "file_text", "command", "description", "skill")
"""The arguments of a tool call that upstream always writes, "" for those that were not given."""
CANCELLED = "the run was cancelled"
"""The beginning of the reason of a run that a person has ended."""
COULD_NOT_GRADE = "The grader could not grade: "
"""The beginning of the feedback of a grader that broke."""
Target = Literal["waza", "evals.json", "vally", "harness"]
"""A format that suites are converted to."""
METRICS = ("trigger_accuracy", "task_completion", "behavior_quality", "pass_at_k", "pass_exp_k")
"""The metrics of a whole suite that are computed."""
METRIC_ALIASES = {"pass@k": "pass_at_k", "pass^k": "pass_exp_k"}
MEASURES_JUDGES = "human_calibration"
"""The type of graders whose labels measure a judge: they fail no task."""
DECIDES_TRIALS = "score"
"""The type of graders that judge the verdicts of the others: in error, they make a trial an error."""
LONGEST_COMPARED = 20_000
"""The length in characters of the longest string that is stored with the check that compared it."""


@frozen()
class Commit:
    """The commit of a suite's repository when a run began: its full hash.

    ``dirty`` says whether something that decides the run was not in it, None if git did not answer in time.
    """

    hash: str
    dirty: bool | None = None

    @property
    def words(self) -> str:
        """Return it for people: ``abc1234 with uncommitted changes``."""
        return f"{self.hash[:7]}{' with uncommitted changes' if self.dirty else ''}"


@frozen()
class ToolCall:
    """One tool call of the agent, in start order."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    id: str = ""
    result: Any = None
    success: bool = False


@frozen()
class CommandInvocation:
    """One call of a mocked program, its arguments without secrets.

    ``response`` is the position of the canned answer from 0, -1 when none fitted.
    """

    command: str
    arguments: tuple[str, ...] = ()
    exit_code: int = 0
    response: int = 0


@frozen()
class ToolDenial:
    """One call of a tool that the ``tools`` of an agent file did not allow; ``kind`` is upstream's word."""

    tool: str
    kind: str = ""
    reason: str = ""


@frozen()
class SkillInvocation:
    """One skill that the agent invoked, in order, by the name with which it did."""

    name: str
    path: str = ""

    def is_of(self, skill: str) -> bool:
        """Return whether it is of this skill: ``/writer`` and ``plugin:writer`` are of ``writer``."""
        mine, other = self.name.removeprefix("/"), skill.removeprefix("/")
        if ":" in mine and ":" in other:
            return mine == other
        return mine.rpartition(":")[2] == other.rpartition(":")[2]


TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
"""The counts that have a price, by their names in each record of usage."""


def token_counts(usage: object) -> dict[str, int]:
    """Return the counts of tokens of any record that has them."""
    return {name: getattr(usage, name) for name in TOKENS}


@frozen()
class ModelUsage:
    """The usage of one model. ``request_cost`` counts premium requests."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    request_count: int = 0
    request_cost: float = 0.0


@frozen()
class Usage:
    """Token counts of a session; turns are agent turns.

    ``cost_usd`` is the agent's own report in US dollars, None when it reports none. ``model_metrics`` divides
    the counts by model; ``provider`` is ``custom`` when the tokens came from a provider of the user's own, at
    ``provider_host``.
    """

    turns: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    premium_requests: float = 0.0
    model_metrics: Mapping[str, ModelUsage] = field(default_factory=dict[str, ModelUsage])
    provider: str = ""
    provider_host: str = ""
    cost_usd: float | None = None


@frozen()
class PaidAnswer:
    """An answer of a model as it arrives in the middle of a turn: its text, calls and usage."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None


@frozen()
class Check:
    """One check inside a grader, and the path of its rule in the grader's ``config``.

    ``path`` leads from the config block to the value that defines it, e.g. ``("assertions", 2)`` or
    ``("content_patterns", 0, "must_match", 1)``: the editor shows the outcome at that line. If two whole
    strings were compared and differ they are ``expected`` and ``actual``, for a diff view. ``rule`` is the
    value there, as it was judged; "" if the details of the verdict have it.
    """

    path: tuple[str | int, ...]
    passed: bool
    message: str = ""
    expected: str = ""
    actual: str = ""
    rule: str = ""

    @staticmethod
    def of_texts(path: tuple[str | int, ...], complaint: str, expected: str, actual: str) -> Check:
        """Return a check of two strings, passed without an error message; long strings are not stored."""
        if not complaint or max(len(expected), len(actual)) > LONGEST_COMPARED:
            return Check(path, not complaint, complaint)
        return Check(path, False, complaint, expected, actual)


PARTS_OF_SUITES = {
    "graders": "graders",
    "tasks": "tasks",
    "tasks_from": "tasks",
    "assertions": "assertions",
    "expectations": "assertions",
}
"""Keys of a suite file, or of a task or case in it, whose misspelling nothing else reveals.

A run would pass without what they hold.
"""

EXPECTED_LISTS = ("output_contains", "output_not_contains", "output_contains_any")
"""The lists of a task's ``expected`` that are graded, each recorded under its name with a ``_`` before it."""


def grader_label(name: str) -> str:
    """Return a grader's name for people: ``expected.output_contains`` for a list."""
    key = name.removeprefix("_")
    return f"expected.{key}" if name != key and key in EXPECTED_LISTS else name


Wordless = Literal["start", "timeout", "signal", "raised", "unusable", "silent", "surroundings"]
"""Why a check did not judge the answer.

Of a program: it could not be started, was killed, was ended by a signal. Of assertions: those that are not
true raised something, or could be true of no answer. Of a judge: it gave no verdict, or its provider failed.
"""


def unjudged_details(kind: Wordless, why: str) -> dict[str, object]:
    """Return the details of a failed check that said nothing of the answer: why that is so."""
    return {"error": {"kind": kind, "message": why}}


def unjudged_reason(details: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the kind and the reason that ``unjudged_details`` wrote, None where it wrote none."""
    error: object = details.get("error")
    if not isinstance(error, dict):
        return None
    found = cast("dict[str, object]", error)
    kind, why = found.get("kind"), found.get("message")
    return (kind, why) if isinstance(kind, str) and isinstance(why, str) else None


def checkpoint_grader(grader: str, turn: int) -> str:
    """Return the name of a checkpoint's grader, distinct from one of the task."""
    return f"{grader} after turn {turn}"


def unique_names(names: Iterable[str]) -> Iterator[str]:
    """Yield names; of several that are equal, as ids of tasks may be, the later ones have a number."""
    seen: set[str] = set()
    for name in names:
        number, unique = 1, name
        while unique in seen:
            number += 1
            unique = f"{name}-{number}"
        seen.add(unique)
        yield unique
