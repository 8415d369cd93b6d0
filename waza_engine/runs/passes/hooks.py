"""Commands before and after a run and each task, started without a shell."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from waza_engine.processes.programs import Finished, run_bounded
from waza_engine.runs.limits.cancellation import RunCancellation, TooSlowError, call_bounded
from waza_engine.spec.eval_file import Hook

HOOK_SECONDS = 600.0
_QUOTED_CHARACTERS = 300


class HookError(Exception):
    """A required hook failed; the message names it and says how it failed."""


def run_hooks(
    hooks: Sequence[Hook], suite_directory: Path, cancellation: RunCancellation, *, may_fail: bool = False
) -> list[str]:
    """Run the commands in order and return a warning for each that failed.

    A relative ``working_directory`` is looked up next to the eval file, then in the working directory. Raises
    ``HookError`` for the first failure of a hook with ``error_on_fail``, unless ``may_fail``.
    """
    warnings: list[str] = []
    for hook in hooks:
        complaint = _run(hook, suite_directory, cancellation)
        if complaint is None:
            continue
        if hook.error_on_fail and not may_fail:
            raise HookError(complaint)
        warnings.append(complaint)
    return warnings


def _run(hook: Hook, suite_directory: Path, cancellation: RunCancellation) -> str | None:
    def start() -> Finished:
        return run_bounded(
            hook.command.split(),
            stdin="",
            timeout_seconds=HOOK_SECONDS,
            cwd=_directory(hook, suite_directory),
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
    said = (finished.stderr.strip() or finished.stdout.strip())[-_QUOTED_CHARACTERS:]
    how = finished.ended_words(HOOK_SECONDS)
    return f"the hook `{hook.command}` {how}{f': {said}' if said else ''}"


def _directory(hook: Hook, suite_directory: Path) -> Path:
    if not hook.working_directory:
        return Path.cwd()
    beside = suite_directory / hook.working_directory
    return beside if beside.is_dir() else Path.cwd() / hook.working_directory
