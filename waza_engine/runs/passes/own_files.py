"""The files that define a suite: they are compared by their meaning, wherever else they are read."""

from __future__ import annotations

import os
from pathlib import Path

from waza_engine.runs.loading.suite import Suite
from waza_engine.runs.trials.triggers import FILE_NAME as TRIGGER_TESTS
from waza_engine.spec.reading.task_globs import GlobError, matches


class OwnFiles:
    """The eval file, the trigger prompts, and the task files, including deleted ones.

    A skill may lie in the folder of its suite, so that all of these lie in the folder of the skill.
    """

    def __init__(self, suite: Suite) -> None:
        directory = Path(os.path.realpath(suite.directory))
        named = (suite.path, suite.directory / TRIGGER_TESTS, *(task.path for task in suite.tasks))
        self._known = {Path(os.path.realpath(path)) for path in named}
        self._directory = directory
        self._patterns = [element for element in suite.spec.tasks if isinstance(element, str)]

    def __contains__(self, path: Path) -> bool:
        """Return whether a file is one of them."""
        real = Path(os.path.realpath(path))
        return real in self._known or any(self._picks_up(pattern, real) for pattern in self._patterns)

    def _picks_up(self, pattern: str, path: Path) -> bool:
        try:
            return matches(self._directory, pattern, path)
        except GlobError:
            return False
