"""Serialized diagnostics: of one that was sent before, only the range is written again.

All problems of a document are sent after each edit, pushed or pulled, and all but a few are unchanged.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from waza_language_server.protocol.convert import LONGEST_MESSAGE

if TYPE_CHECKING:
    from collections.abc import Callable

    from waza_language_server.analysis.problem import Problem
    from waza_language_server.project.index import Project
    from waza_language_server.protocol.convert import Converter

_MOST_KEPT = 5_000


class WrittenProblems:
    """The cache of serialized problems; one for each session, as clients differ in what they show."""

    def __init__(self, as_json: Callable[[Any], Any]) -> None:
        """``as_json`` returns a value of the protocol as it goes over the wire."""
        self._as_json = as_json
        self._written: dict[tuple[str, str, str, str | None], str] = {}

    def written(self, problem: Problem, convert: Converter, project: Project, more: str = "") -> str:
        """Return a problem as JSON, with ``more`` after its message."""
        if problem.related or more or len(problem.message) > LONGEST_MESSAGE:
            # A message that is cut off may be as long as the file: nothing of it is kept.
            diagnostic = convert.diagnostic(problem, project)
            diagnostic.message += more
            return json.dumps(self._as_json(diagnostic))
        what = problem.code, problem.message, problem.severity, problem.tag
        rest = self._written.get(what)
        if rest is None:
            if len(self._written) >= _MOST_KEPT:
                self._written.clear()
            members = self._as_json(convert.diagnostic(problem, project))
            del members["range"]
            rest = self._written[what] = json.dumps(members)[1:]
        return f'{{"range": {convert.written_range(problem.span)}, {rest}'
