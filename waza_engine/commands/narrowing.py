"""The tasks that a run takes because of the newest results: those that failed, broke, or changed since."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from glob import escape
from typing import TypeAlias

from waza_engine.results.freshness import agent_differs
from waza_engine.results.reading.newest_scores import latest_results
from waza_engine.results.reading.scores import PromptResult, TaskResult
from waza_engine.runs.choosing import chosen
from waza_engine.runs.loading.suite import NothingAffectedError, Suite, SuiteError
from waza_engine.runs.passes.affected import outdated
from waza_engine.runs.settings.table import RunSettings
from waza_engine.runs.trials.triggers import chosen_prompts, trigger_tests_of
from waza_engine.spec.trigger_tests import TriggerTests

Narrowing: TypeAlias = Callable[[RunSettings], RunSettings]
"""Returns the settings of a suite with fewer tasks. Raises ``SuiteError``."""
FREE_EXECUTORS = ("mock", "replay")


def only_failed(settings: RunSettings, *, failed: bool, errors: bool) -> RunSettings:
    """Return the settings for the tasks and trigger prompts that failed, or broke, when they were last run.

    Only tasks that the settings select count. Raises ``NothingAffectedError`` when none did, ``SuiteError``
    when another one did not pass or the suite has no results, ``SuiteFileError`` if it cannot be loaded.
    """
    option = "--failed" if failed else "--errors"
    choice = chosen(settings)
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
        raise NothingAffectedError(f"Nothing to run: {found}.")
    return replace(settings, tasks=tuple(map(escape, tasks)), prompts=prompts)


def only_outdated(settings: RunSettings) -> RunSettings:
    """Return the settings for the tasks and trigger prompts that changed since they were last run.

    If all tasks did, all prompts are tried, too. Raises ``NothingAffectedError`` when nothing changed,
    ``SuiteError`` when the run would cost something.
    """
    choice = chosen(settings)
    suite = choice.suite
    check_free(suite, settings)
    found = outdated(suite, choice.tasks, settings, choice.build)
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
