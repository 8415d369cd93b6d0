"""The options of ``waza-engine run`` that choose by earlier results, or repeat: failed, errors, watch."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from glob import escape
from itertools import islice
from pathlib import Path
from typing import Protocol, TypeAlias

from waza_engine.counting import counted
from waza_engine.early_interruption import INTERRUPTED
from waza_engine.files import FileError, read_text
from waza_engine.masking import keep_secret
from waza_engine.results.freshness import agent_differs
from waza_engine.results.reading.newest_scores import latest_results
from waza_engine.results.reading.scores import PromptResult, TaskResult
from waza_engine.results.reading.suite_conclusion import lasting_reasons
from waza_engine.runs.choosing import choose_tasks
from waza_engine.runs.loading.discovery import eval_files_of
from waza_engine.runs.loading.suite_on_disk import NothingAffectedError, Suite, SuiteError
from waza_engine.runs.passes.affected import outdated_tasks
from waza_engine.runs.passes.deciding_files import current_inputs
from waza_engine.runs.settings.table import RunSettings
from waza_engine.runs.trials.triggers import chosen_prompts, trigger_tests_of
from waza_engine.spec.loading import load_eval_file
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.searched_folders import is_environment, is_searched
from waza_engine.spec.trigger_tests import TriggerTests
from waza_engine.terminal import complain, say


@dataclass(frozen=True, slots=True)
class RerunOptions:
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


def rerun(paths: Sequence[Path], settings: RunSettings, again: RerunOptions, run: RunCommand) -> int:
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
            from waza_engine.runs.resuming import paths_and_record

            suites = paths_and_record(paths)[0] if settings.resume else paths
            read_keys(again.env_file, eval_files_of(suites))
    except SuiteError as error:
        complain(str(error))
        return 2
    if not (again.failed or again.errors or again.watch):
        return run(paths, settings)
    if again.failed or again.errors:
        narrowing = partial(only_failed, failed=again.failed, errors=again.errors)
        return run(paths, settings, narrowing=narrowing)
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


Narrowing: TypeAlias = Callable[[RunSettings], RunSettings]
"""Returns the settings of a suite with fewer tasks. Raises ``SuiteError``."""
FREE_EXECUTORS = ("mock", "replay")


def only_failed(settings: RunSettings, *, failed: bool, errors: bool) -> RunSettings:
    """Return the settings for the tasks and trigger prompts that failed, or broke, when they were last run.

    Only tasks that the settings select count. Raises ``NothingAffectedError`` when none did, ``SuiteError``
    when another one or the run did not pass, or the suite has no results, ``SuiteFileError`` if it cannot be
    loaded.
    """
    option = "--failed" if failed else "--errors"
    choice = choose_tasks(settings)
    suite = choice.suite
    newest = latest_results(suite.directory, eval_file=suite.path.name)
    if newest is None:
        raise SuiteError(f"{suite.path} has no results yet; run it without `{option}` first.")

    def is_wanted(result: TaskResult | PromptResult) -> bool:
        if isinstance(result, TaskResult):
            return (failed and result.status == "failed") or (errors and result.status == "error")
        return (errors and bool(result.error)) or (failed and not (result.right or result.error))

    ids = {task.id for task in newest.tasks.values() if is_wanted(task)}
    tasks = tuple(dict.fromkeys(task.source.id for task in choice.tasks if task.source.id in ids))
    prompts = () if settings.limited else _prompts(suite, {p.prompt for p in newest.prompts if is_wanted(p)})
    if not tasks and not prompts:
        words = " or ".join(word for word, is_asked in (("failed", failed), ("broke", errors)) if is_asked)
        found = f"no task of {suite.path} {words} when it was last run"
        results = [(task.source.id, newest.tasks.get(task.source.id)) for task in choice.tasks]
        others = [name for name, result in results if result is None or not _is_settled(result)]
        others += () if settings.limited else _prompts(suite, {p.prompt for p in newest.prompts if p.error})
        if others:
            # Exit code 0 would say that everything passed.
            named = f"`{others[0]}` and {len(others) - 1} more have" if others[1:] else f"`{others[0]}` has"
            raise SuiteError(f"N{found[1:]}, but {named} not passed; run it without `{option}`.")
        whole = None if settings.limited else newest.whole
        if reasons := lasting_reasons(newest) or (lasting_reasons(whole) if whole else ()):
            why = "; ".join(reasons)
            raise SuiteError(f"N{found[1:]}, but that run did not pass: {why}; run it without `{option}`.")
        raise NothingAffectedError(f"Nothing to run: {found}.")
    return replace(settings, tasks=tuple(map(escape, tasks)), prompts=prompts)


def only_outdated(settings: RunSettings) -> RunSettings:
    """Return the settings for the tasks and trigger prompts that changed since they were last run.

    If all tasks did, all prompts are tried, too. Raises ``NothingAffectedError`` when nothing changed,
    ``SuiteError`` when the run would cost something.
    """
    choice = choose_tasks(settings)
    suite = choice.suite
    check_free(suite, settings)
    found = outdated_tasks(suite, choice.tasks, settings, choice.build)
    prompts = _untried_prompts(suite, settings)
    if not found and not prompts:
        raise NothingAffectedError(f"No task of {suite.path} has changed since it was last run.")
    if len(found) == len(choice.tasks):
        return settings
    return replace(settings, tasks=tuple(escape(task.source.id) for task in found), prompts=prompts)


def _is_settled(result: TaskResult) -> bool:
    """Return whether a task passed, has no grader or waits for a person, in the last run that planned it."""
    is_good = result.status in ("passed", "skipped") and result.was_run and not result.is_cut_short
    return is_good and result.later is None


def check_free(suite: Suite, settings: RunSettings) -> None:
    """Raise ``SuiteError`` unless a run needs no model: nobody confirms the runs that an edit starts."""
    names = (suite.spec.config.executor, settings.judge_executor or FREE_EXECUTORS[0])
    costly = next((name for name in names if name not in FREE_EXECUTORS), None)
    if costly is not None:
        raise SuiteError(
            f"{suite.path}: `--watch` does not run the executor `{costly}`, which may cost; "
            "add `--live` to grade the newest results again, or `--executor mock`."
        )


def _untried_prompts(suite: Suite, settings: RunSettings) -> tuple[str, ...]:
    """Return the selected trigger prompts without a result of the suite's agent; changed ones are new."""
    if settings.limited and not settings.prompts:
        return ()
    newest, config = latest_results(suite.directory, eval_file=suite.path.name), suite.spec.config
    tried = {
        (result.prompt, result.should_trigger)
        for result in (newest.prompts if newest is not None else ())
        if (origin := result.origin) is not None
        and not any(agent_differs(origin.executor, origin.model, config.executor, config.model))
    }
    wanted = chosen_prompts(trigger_tests_of(suite), settings.prompts, suite)
    return tuple(dict.fromkeys(text for text, should in _listed(wanted) if (text, should) not in tried))


def _prompts(suite: Suite, wanted: Collection[str]) -> tuple[str, ...]:
    listed = _listed(trigger_tests_of(suite) if wanted else None)
    return tuple(dict.fromkeys(text for text, _ in listed if text in wanted))


def _listed(tests: TriggerTests | None) -> Iterator[tuple[str, bool]]:
    """Yield each prompt and whether it should trigger the skill."""
    if tests is not None:
        yield from ((each.prompt, True) for each in tests.should_trigger_prompts)
        yield from ((each.prompt, False) for each in tests.should_not_trigger_prompts)


_SECONDS_BETWEEN_LOOKS = 0.5
_MOST_FILES = 10_000

_State: TypeAlias = Mapping[Path, tuple[int, int]]
"""The files of a suite, each with the time of its last change in nanoseconds and its size in bytes."""


def watch(
    paths: Sequence[Path],
    settings: RunSettings,
    execute: Callable[[Sequence[Path]], int],
    *,
    live: bool = False,
) -> int:
    """Execute a command for all suites, then for those whose files change, until Ctrl-C.

    ``execute`` gets the eval files, and reports the errors of a suite itself. With ``live`` it starts no
    agent; without, a suite whose executor may cost is refused.
    """
    suites: dict[Path, _WatchedSuite] = {}
    try:
        while True:
            try:
                found = eval_files_of(paths)
                if not (suites or live):
                    _check_free(found, settings)
            except SuiteError as error:
                complain(str(error))
                return 2
            suites = {path: suites.get(path) or _WatchedSuite(path, settings) for path in found}
            changed = [path for path, suite in suites.items() if suite.has_changed()]
            if changed:
                if execute(changed) == INTERRUPTED:
                    return INTERRUPTED
                say(f"watching {counted(len(suites), 'suite')}; Ctrl-C ends it")
            pause()
    except KeyboardInterrupt:
        return INTERRUPTED


def pause() -> None:
    """Wait until it is time to look for changes again."""
    time.sleep(_SECONDS_BETWEEN_LOOKS)


class _WatchedSuite:
    """The files in the directory of a suite, and those outside that its tasks read."""

    def __init__(self, eval_file: Path, settings: RunSettings) -> None:
        self._eval_file = eval_file
        self._settings = replace(settings, path=eval_file)
        self._outside: frozenset[Path] = frozenset()
        self._state: _State = {}

    def has_changed(self) -> bool:
        """Return whether a file was added, changed or deleted since the last call; true for the first."""
        if self._seen() == self._state:
            return False
        # A suite that cannot be loaded keeps the files that it had.
        with contextlib.suppress(SuiteError, SuiteFileError):
            choice = choose_tasks(self._settings)
            read = current_inputs(choice.suite, choice.tasks).files
            self._outside = frozenset(self._eval_file.parent / file.path for file in read)
        self._state = self._seen()
        return True

    def _seen(self) -> _State:
        found: dict[Path, tuple[int, int]] = {}
        for path in {*islice(_files_below(self._eval_file.parent), _MOST_FILES), *self._outside}:
            with contextlib.suppress(OSError):
                status = path.stat()
                found[path] = status.st_mtime_ns, status.st_size
        return found


def _files_below(root: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(root):
        inside = None if folder == os.fspath(root) else Path(folder).name
        folders[:] = (
            [] if inside and is_environment(files) else [n for n in folders if is_searched(n, inside)]
        )
        yield from (Path(folder) / name for name in files)


def _check_free(suites: Sequence[Path], settings: RunSettings) -> None:
    for path in suites:
        # The run reports why a suite cannot be loaded.
        with contextlib.suppress(SuiteFileError):
            check_free(choose_tasks(replace(settings, path=path)).suite, settings)
