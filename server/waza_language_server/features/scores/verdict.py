"""Verdicts next to the lines that they are about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from waza_engine.frozen import frozen

if TYPE_CHECKING:
    from waza_language_server.project.changed_inputs import ChangedInput
    from waza_language_server.syntax.nodes import Node

HintKind = Literal["score", "check", "verdict", "inherited", "skill", "requirement", "history"]
"""The subject of a hint: a grader, one of its checks or an expectation, a suite or a part of it other than a
grader, the suite's graders in a task file and effective values, the suites of a skill, a requirement of a
skill, a suite or task over its runs."""


@frozen()
class Verdict:
    """A few characters for the line on which ``node`` begins; ``tooltip`` is Markdown.

    ``is_old`` of an expectation says that it may no longer hold, which its label does not.
    """

    node: Node
    label: str
    tooltip: str
    changes: tuple[ChangedInput, ...] = ()
    kind: HintKind = "verdict"
    is_old: bool = False
