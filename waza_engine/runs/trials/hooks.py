"""Commands before and after a run and each task, started without a shell."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from waza_engine.processes.programs import Finished, run_bounded
from waza_engine.runs.limits.cancellation import RunCancellation, TooSlowError, call_bounded
from waza_engine.runs.trials.context import RunContext
from waza_engine.spec.eval_file import Hook

HOOK_SECONDS = 600.0
TaskHooks = Literal["before_task", "after_task"]
_QUOTED_CHARACTERS = 300


class HookError(Exception):
    """A required hook failed; the message names it and says how it failed."""


def run_hooks(
    hooks: Sequence[Hook],
    suite_directory: Path,
    cancellation: RunCancellation,
    *,
    may_fail: bool = False,
    started_in: Path | None = None,
) -> list[str]:
    """Run the commands in order and return a warning for each that failed.

    A relative ``working_directory`` is looked up next to the eval file, then in the directory in which the
    run was started: ``started_in``, None for that of this process. Raises ``HookError`` for the first failure
    of a hook with ``error_on_fail``, unless ``may_fail``.
    """
    run_directory = started_in or Path.cwd()
    warnings: list[str] = []
    for hook in hooks:
        complaint = _run(hook, _directory(hook, suite_directory, run_directory), cancellation)
        if complaint is None:
            continue
        if hook.error_on_fail and not may_fail:
            raise HookError(complaint)
        warnings.append(complaint)
    return warnings


def run_task_hooks(context: RunContext, when: TaskHooks, started_in: Path | None = None) -> list[str]:
    """Run the hooks before or after a task as ``run_hooks`` does; those after it may fail."""
    suite = context.suite
    return run_hooks(
        getattr(suite.spec.hooks, when),
        suite.directory,
        context.cancellation,
        may_fail=when == "after_task",
        started_in=started_in,
    )


def _run(hook: Hook, directory: Path, cancellation: RunCancellation) -> str | None:
    def start() -> Finished:
        return run_bounded(
            hook.command.split(),
            stdin="",
            timeout_seconds=HOOK_SECONDS,
            cwd=directory,
            environment={},
        )

    try:
        finished = call_bounded(start, HOOK_SECONDS + 10, cancellation)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return f"the hook `{hook.command}` cannot be started: {reason}"
    except TooSlowError:
        return f"the hook `{hook.command}` took longer than {HOOK_SECONDS:g} seconds"
    if finished.exit_code is not None and finished.exit_code in hook.exit_codes:
        return None
    output = (finished.stderr.strip() or finished.stdout.strip())[-_QUOTED_CHARACTERS:]
    how = finished.ended_words(HOOK_SECONDS)
    return f"the hook `{hook.command}` {how}{f': {output}' if output else ''}"


def _directory(hook: Hook, suite_directory: Path, run_directory: Path) -> Path:
    if not hook.working_directory:
        return run_directory
    beside = suite_directory / hook.working_directory
    return beside if beside.is_dir() else run_directory / hook.working_directory
