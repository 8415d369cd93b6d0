"""A pytest plugin: with ``--waza`` the tasks of suites are collected as tests.

The first test of a suite runs all of its collected tasks, so that there is one record of a session. Its last
one fails for whatever is wrong with the run besides its tasks: trigger prompts, metrics, the run itself.
Without ``--waza`` nothing of the engine is imported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

import pytest

if TYPE_CHECKING:
    from waza_engine.api import Result
    from waza_engine.results.task_conclusion import TaskConclusion

_SUITE_KEYS = {"tasks", "tasks_from", "config", "metrics"}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the plugin."""
    group = parser.getgroup("waza", "waza evaluation suites")
    group.addoption("--waza", action="store_true", help="Collect the tasks of eval.yaml files as tests.")
    group.addoption(
        "--waza-run",
        action="store_true",
        help="Run suites with the agent that they name, which may cost money. Without it, only suites of the "
        "mock agent run; of others the newest record is graded again.",
    )
    parser.addini("waza", "Collect the tasks of eval.yaml files as tests.", type="bool", default=False)


def pytest_configure(config: pytest.Config) -> None:
    """Refuse to pay for each suite once for every worker of ``pytest-xdist`` that gets one of its tests."""
    if config.getoption("--waza-run") and config.getoption("dist", "no") not in ("no", "loadfile"):
        raise pytest.UsageError(
            "`--waza-run` would run each suite once in every worker, and pay each time; add `--dist loadfile`"
        )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> SuiteFile | None:
    """Collect an eval file if that was requested."""
    config = parent.config
    if not (config.getoption("--waza") or config.getini("waza")):
        return None
    from waza_engine.spec.foreign_evals import is_named_as_evals
    from waza_engine.spec.reading.searched_folders import EVAL_NAMES

    if not (file_path.name in EVAL_NAMES or is_named_as_evals(file_path.name)) or _is_foreign(file_path):
        return None
    return cast("Any", SuiteFile).from_parent(parent, path=file_path)


class SuiteFile(pytest.File):
    """An eval file. Its tasks run together, when the first of them is tested."""

    _result: Result | None = None
    _ended: BaseException | None = None

    def collect(self) -> Iterator[pytest.Item]:
        """Yield an item for each enabled task, and one for the verdict of the suite."""
        from waza_engine.api import SuiteError, SuiteFileError, load_suite
        from waza_engine.masking import masked
        from waza_engine.vocabulary import unique_names

        try:
            suite = load_suite(self.path)
        except (SuiteError, SuiteFileError) as error:
            raise self.CollectError(str(error)) from error
        ids = [task.id for task in suite.tasks]
        for task_id, name, key in zip(ids, unique_names(map(masked, ids)), unique_names(ids), strict=True):
            item = cast("Any", TaskItem).from_parent(self, name=name)
            item.task_id, item.key = task_id, key
            yield item
        yield cast("Any", VerdictItem).from_parent(self, name="suite verdict")

    @property
    def result(self) -> Result:
        """Return the result of the selected tests. If there is none, each of them ends with the reason."""
        if self._ended is not None:
            raise self._ended
        if self._result is None:
            try:
                self._result = self._run_or_grade()
            except (pytest.fail.Exception, pytest.skip.Exception) as ended:
                self._ended = ended
                raise
        return self._result

    def _run_or_grade(self) -> Result:
        """Run the selected tasks, for its verdict the whole suite, or grade its newest record again."""
        from waza_engine.api import ResultsError, SuiteError, SuiteFileError, grade, load_suite, run
        from waza_engine.spec.executors import EXECUTORS

        items = [item for item in self.session.items if item.parent is self]
        is_whole = any(isinstance(item, VerdictItem) for item in items)
        tasks = [] if is_whole else [escape(item.task_id) for item in items if isinstance(item, TaskItem)]
        # An evals.json names no agent.
        names_agent = self.path.suffix != ".json"
        try:
            suite = load_suite(self.path)
            executor = EXECUTORS.get(suite.spec.config.executor or "")
            if names_agent and (
                (executor is not None and not executor.costs) or self.config.getoption("--waza-run")
            ):
                return run(suite, tasks=tasks, fail_fast=self.config.getoption("maxfail") == 1)
        except (ResultsError, SuiteError, SuiteFileError) as error:
            _fail(str(error))
        try:
            return grade(suite, tasks=tasks)
        except ResultsError as error:
            how = "`--waza-run` runs it with its agent" if names_agent else "run it with `waza-engine run`"
            pytest.skip(f"{error} ({how})")
        except (SuiteError, SuiteFileError) as error:
            _fail(str(error))


class _SuiteItem(pytest.Item):
    @property
    def result(self) -> Result:
        assert isinstance(self.parent, SuiteFile)
        return self.parent.result

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the location of the test, as pytest prints it."""
        return self.path, None, self.name


class TaskItem(_SuiteItem):
    """A task of a suite; its name is the id, with a number if it is not the first one with that id.

    Credentials are masked in the name, which pytest prints; ``key`` is what the results call the task.
    """

    task_id = ""
    key = ""

    def runtest(self) -> None:
        """Fail with the reason of the task and of each grader against it."""
        from waza_engine.results.task_conclusion import tasks_by_name

        found = tasks_by_name(self.result.tasks).get(self.key)
        if found is None or found.verdict == "skipped":
            pytest.skip(found.reason if found is not None else "The task has no result.")
        if found.verdict != "passed":
            _fail(_failure(found))


class VerdictItem(_SuiteItem):
    """The verdict of the run, as far as no task shows it."""

    @property
    def without_result(self) -> list[str]:
        """Return the ids of the suite's tasks that the graded record does not have."""
        from waza_engine.api import load_suite

        known = {task.id for task in self.result.tasks}
        return [task.id for task in load_suite(self.path).tasks if task.id not in known]

    def runtest(self) -> None:
        """Fail with the reasons against the run that are not about its tasks."""
        from waza_engine.results.conclusion_descriptions import TASKS

        conclusion = self.result.conclusion
        if self.result.record is None:
            _fail("The results could not be written.")
        if reasons := [reason.words for reason in conclusion.reasons if reason.about != TASKS]:
            _fail("\n".join(reasons))
        if missing := self.without_result:
            pytest.skip(f"The record has no result of {', '.join(missing)}.")
        if conclusion.verdict == "unjudged":
            pytest.skip(conclusion.words)


def _fail(message: str) -> NoReturn:
    from waza_engine.masking import masked

    pytest.fail(masked(message), pytrace=False)


def _failure(task: TaskConclusion) -> str:
    against = [each for each in task.graders if each.verdict in ("failed", "errored")]
    lines = [f"{grader.name} ({grader.type}): {grader.feedback}" for grader in against]
    return "\n".join([task.error or task.reason, *lines])


def _is_foreign(path: Path) -> bool:
    """Return whether a file belongs to another tool that calls its files so, too, and does not run here."""
    from waza_engine.runs.loading.discovery import is_faulty
    from waza_engine.spec.foreign_evals import foreign_eval, is_named_as_evals
    from waza_engine.spec.problems import SuiteFileError
    from waza_engine.spec.reading.json_reader import parse_json
    from waza_engine.spec.reading.yaml_reader import parse_yaml, read_text

    if is_faulty(path):
        # Its mistake is an error of the collection, as in other suites.
        return False
    try:
        text = read_text(path)
        value = parse_json(text, path).value if path.suffix == ".json" else parse_yaml(text, path).value
    except SuiteFileError:
        return False
    found = foreign_eval(value)
    if found is not None or is_named_as_evals(path.name):
        return found is None or not found.runs
    return isinstance(value, Mapping) and _SUITE_KEYS.isdisjoint(value)
