"""The options of ``waza-engine run`` that choose by earlier results, or repeat: failed, errors, watch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from waza_engine.runs.loading.suite import SuiteError
from waza_engine.runs.settings.table import RunSettings
from waza_engine.terminal import complain

if TYPE_CHECKING:
    from waza_engine.commands.narrowing import Narrowing


@dataclass(frozen=True, slots=True)
class RunAgain:
    """The options: which tasks, whether to go on after each change, and a file of keys."""

    failed: bool = False
    errors: bool = False
    watch: bool = False
    live: bool = False
    env_file: Path | None = None


class RunCommand(Protocol):
    """Runs suites and returns the exit code."""

    def __call__(self, paths: Sequence[Path], settings: RunSettings, *, narrowing: Narrowing = ...) -> int:
        """Run them; ``narrowing`` is as for ``run_command``."""
        ...


def run_again(paths: Sequence[Path], settings: RunSettings, again: RunAgain, run: RunCommand) -> int:
    """Run the suites with these options, and return the exit code."""
    try:
        if again.live and not again.watch:
            raise SuiteError("`--live` is an option of `--watch`; `waza-engine grade` grades results once.")
        if again.watch and (again.failed or again.errors):
            raise SuiteError("`--watch` runs what has changed; leave `--failed` and `--errors` out.")
        if settings.resume and (again.failed or again.errors or again.watch):
            raise SuiteError(
                "`--resume` goes on with a whole run; use `--retry` in place of `--failed` and such."
            )
        if again.env_file is not None:
            from waza_engine.commands.env_file import read_keys
            from waza_engine.runs.loading.discovery import eval_files_of
            from waza_engine.runs.resuming import paths_and_record

            suites = paths_and_record(paths)[0] if settings.resume else paths
            read_keys(again.env_file, eval_files_of(suites))
    except SuiteError as error:
        complain(str(error))
        return 2
    if not (again.failed or again.errors or again.watch):
        return run(paths, settings)
    from waza_engine.commands.narrowing import only_failed, only_outdated

    if again.failed or again.errors:
        narrowing = partial(only_failed, failed=again.failed, errors=again.errors)
        return run(paths, settings, narrowing=narrowing)
    from waza_engine.commands.watching import watch

    if not again.live:
        return watch(paths, settings, lambda changed: run(changed, settings, narrowing=only_outdated))
    return watch(paths, settings, partial(_grade, settings), live=True)


def _grade(settings: RunSettings, eval_files: Sequence[Path]) -> int:
    """Grade the newest results of suites again, without judges."""
    from waza_engine.commands.grade import grade_command
    from waza_engine.runs.regrading.regrade import RegradeRequest

    request = RegradeRequest(Path(), tasks=settings.tasks, graders=settings.graders)
    return grade_command(eval_files, request, None, "text")
