"""Compare a result with today's suite: the one rule of affected runs and of an editor's stale marks. Light.

The values that decide it are compared (those of the suite here; those of a task and a grader as a whole), the
agent that answered, and the files that it read (``results/inputs.py``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from waza_engine.spec.executors import asks_nobody

# Tasks, graders and metrics are compared one by one; the others name the suite.
_APART = frozenset(
    {"tasks", "tasks_from", "graders", "metrics", "name", "description", "version", "baseline"}
)
# These settings arrange a run and decide no answer.
_ARRANGING = frozenset({"parallel", "workers", "max_workers", "fail_fast", "verbose", "group_by"})


def deciding_values(suite: Mapping[str, object]) -> dict[str, object]:
    """Return the keys of an eval file that decide the answers to all of its tasks, with their values.

    A model decides nothing when the executor never asks it.
    """
    found = {key: value for key, value in suite.items() if key not in _APART}
    config = suite.get("config")
    if isinstance(config, Mapping):
        settings = cast("Mapping[str, object]", config)
        asks_none = asks_nobody(str(settings.get("executor") or ""))
        found["config"] = {
            key: value
            for key, value in settings.items()
            if key not in _ARRANGING and not (key == "model" and asks_none)
        }
    return found


def agent_differs(
    executor: str, model: str, executor_today: str | None, model_today: str | None
) -> tuple[bool, bool]:
    """Return whether the executor of a run, and whether its model, is another one than today's.

    That of the run ("") and today's (None) may be unknown. A model differs only if the executor asked it.
    """
    return bool(executor) and executor_today not in (None, executor), (
        bool(executor) and model_today not in (None, model) and not asks_nobody(executor)
    )
