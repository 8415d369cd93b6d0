"""The options of ``waza-engine run`` that choose by earlier results, or repeat: failed, errors, watch."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from waza_engine.files import FileError, read_text
from waza_engine.masking import keep_secret
from waza_engine.runs.loading.suite import SuiteError
from waza_engine.runs.settings.table import RunSettings
from waza_engine.spec.loading import load_eval_file
from waza_engine.spec.problems import SuiteFileError
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


_LONGEST = 1_000_000
_LINE = re.compile(r"""(?:export\s+)?([A-Za-z_]\w*)\s*=\s*("[^"]*"|'[^']*'|\S*)(?:\s+#.*)?""", re.ASCII)
# A suite that names one of these as its key could redirect requests, or change what programs do.
_NEVER = re.compile(
    r"PATH|HOME|SHELL|(?:PYTHON|NODE_|LD_|DYLD_|GIT_|SSL_|NPM_).*|"
    r".*_(?:PROXY|URL|URI|HOST|ENDPOINT|BASE|ADDRESS)",
    re.IGNORECASE,
)


def read_keys(file: Path, eval_files: Iterable[Path]) -> None:
    """Set the missing keys of the suites' providers from a file of lines ``NAME=value``; they are masked.

    Raises ``SuiteError`` when the file cannot be read. A suite that cannot be read names no key here: its
    run reports why.
    """
    values = dict(_values(file))
    for name in dict.fromkeys(_key_names(eval_files)):
        if values.get(name) and not os.environ.get(name) and not _NEVER.fullmatch(name):
            os.environ[name] = values[name]
            keep_secret(values[name])


def _values(file: Path) -> Iterator[tuple[str, str]]:
    try:
        text = read_text(file, _LONGEST)
    except (OSError, FileError) as error:
        why = getattr(error, "strerror", None) or error
        raise SuiteError(f"`--env-file {file}` cannot be read: {why}.") from None
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        found = _LINE.fullmatch(stripped)
        if found is None:
            raise SuiteError(f"{file}, line {number}: write `NAME=value`.")
        value = found[2]
        yield found[1], value[1:-1] if value[:1] in ("'", '"') else value


def _key_names(eval_files: Iterable[Path]) -> Iterator[str]:
    for eval_file in eval_files:
        try:
            provider = load_eval_file(eval_file)[0].config.provider
        except SuiteFileError:
            continue
        if provider is not None and provider.api_key_env.strip():
            yield provider.api_key_env.strip()
