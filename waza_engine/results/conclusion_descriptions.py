"""The conclusion of a run in words: results of its tasks, why it did not pass, how it ended. Light."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from waza_engine.counting import counted

_LONGEST_REASON = 300
_FOLDERS = re.compile(r"^(?:/|[A-Za-z]:\\)[^\n]*?[/\\](?=[^/\\]+\.\w+:(?:\d+:)? )")
"""The folders of the file that a reason begins with: its name is enough."""


TASKS, WHOLE_RUN, WHOLE_SUITE, SKILLS, BASELINE, SCORE, PROMPTS = (
    "tasks",
    "the whole run",
    "the suite",
    "the skills",
    "the run without skills",
    "the score",
    "trigger prompts",
)


@dataclass(frozen=True, slots=True)
class Counts:
    """The number of tasks with each result. ``flaky`` ones are also counted under their result."""

    total: int
    passed: int
    failed: int
    errored: int
    skipped: int
    lost: int
    not_run: int
    flaky: int

    @property
    def judged(self) -> int:
        """Of how many tasks the pass rate is: not of those that were skipped or did not run."""
        return self.passed + self.failed + self.errored

    def pass_rate(self, written: float) -> float:
        """Return the share of the judged tasks that passed; the written one if no task was judged.

        Upstream counts tasks without a verdict as passed.
        """
        return self.passed / self.judged if self.judged else written


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a run did not pass: an answer, a metric or the skills (``failed``), or an error (``errored``).

    ``about`` is its subject: ``tasks``, the name of a metric, or one of the constants above. One that
    ``is_counted`` repeats the numbers of tasks, and is left out next to them.
    """

    words: str
    kind: Literal["failed", "errored", "unjudged"]
    about: str
    is_counted: bool = False


def describe_end(
    verdict: str,
    reasons: Sequence[Reason],
    counts: Counts,
    results: Sequence[str],
    broken: Sequence[str],
) -> str:
    """Return how a run ended, in one line: ``2 of 3 tasks passed, 1 failed``; what stopped it first.

    Errors come first, too, unless some answers were found wrong: these would be overlooked after them.
    ``results`` are the results of tasks and trigger prompts, in words; ``broken`` are the reasons for missing
    verdicts, the most telling first.
    """
    first = next((reason.words for reason in reasons), "")
    before, after = "", ""
    if verdict in ("interrupted", "limited", "unjudged"):
        before = first
    elif verdict in ("errored", "broken"):
        of_run = [reason.words for reason in reasons if reason.about == WHOLE_RUN]
        before = next(filter(None, [*of_run, *broken]), first)
        if counts.failed and not of_run:
            before, after = "", before
    elif verdict == "failed":
        # The results of tasks and prompts are given by their numbers.
        after = next((reason.words for reason in reasons if reason.about not in (TASKS, PROMPTS)), "")
    return " · ".join(words for words in (_shortened(before), ", ".join(results), _shortened(after)) if words)


def describe_counts(counts: Counts) -> str:
    """Return the number of tasks by result: ``1 of 4 tasks passed, 2 failed, 1 in error``."""
    rest = [word for word in describe_other_counts(counts) if word]
    return ", ".join([f"{counts.passed} of {counted(counts.total, 'task')} passed", *rest])


def describe_graders_run(run: int, of: int) -> str:
    """Return how many graders of a suite were run: ``1 of 4 graders was run``; ``of`` is 0 where unknown."""
    if not of:
        return "not all graders were run"
    return f"{run} of {counted(of, 'grader')} {'was' if run == 1 else 'were'} run"


def describe_other_counts(counts: Counts) -> list[str]:
    """Return the same for each other verdict of the tasks."""
    return [
        f"{count} {word}"
        for count, word in (
            (counts.failed, "failed"),
            (counts.errored, "in error"),
            (counts.skipped, "skipped"),
            (counts.lost, "lost"),
            (counts.not_run, "not run"),
        )
        if count
    ]


def describe_prompts(right: int, wrong: int, errored: int) -> str:
    """Return how many trigger prompts were answered rightly: ``1 of 2 trigger prompts right``; "" of none."""
    tried = right + wrong
    if not tried and not errored:
        return ""
    if not tried:
        return f"{counted(errored, 'trigger prompt')} could not be tried"
    untried = f", {errored} could not be tried" if errored else ""
    return f"{right} of {counted(tried, 'trigger prompt')} right{untried}"


def _shortened(text: str) -> str:
    line = _FOLDERS.sub("", " ".join(text.split()))
    return line if len(line) <= _LONGEST_REASON else f"{line[: _LONGEST_REASON - 1]}…"
