"""``waza-engine preflight``: check offline for problems that would prevent a run, in upstream's report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from waza_engine.commands.each_suite import Ended, for_each_suite
from waza_engine.commands.printer import Part, Printer
from waza_engine.counting import counted
from waza_engine.executors.executor import Executor, ExecutorError, ExecutorSettings, blindness_to_skills
from waza_engine.executors.executor_types import create_executor
from waza_engine.masking import read_environment
from waza_engine.runs.agent.trial_workspace import fixture_directory
from waza_engine.runs.loading.discovery import eval_file_of, foreign_eval_files
from waza_engine.runs.loading.suite_on_disk import Suite, SuiteError, SuiteTask, load_suite
from waza_engine.runs.preflight.inspection import Finding, State, inspect_suite, unseen_skills, useless_turns
from waza_engine.runs.settings.options import with_options
from waza_engine.runs.settings.table import RunSettings
from waza_engine.runs.trials.selection import SelectedTask, select
from waza_engine.runs.trials.triggers import trigger_tests_of
from waza_engine.spec.foreign_evals import ForeignEvalError
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.project_config import ProjectConfig
from waza_engine.spec.task_file import Requirement, TaskFile
from waza_engine.terminal import complain, say_json

READY, NOT_READY, NOT_LOOKED_AT = 0, 1, 2
_MARKS: dict[str, Part] = {"error": ("✗", "red"), "warning": ("⚠", "yellow"), "info": ("✓", "green")}


def preflight_command(
    paths: Sequence[Path], context_directory: Path | None, output_format: str, *, strict: bool
) -> int:
    """Print the findings and return the exit code; ``output_format`` is ``human`` or ``json``."""
    read_environment()
    if context_directory is not None and not context_directory.is_dir():
        complain(f"There is no context directory {context_directory}.")
        return NOT_LOOKED_AT

    for other in foreign_eval_files(paths):
        complain(str(other))

    def inspect(path: Path) -> Ended:
        eval_file = eval_file_of(path)
        if not eval_file.is_file():
            raise SuiteError(f"There is no eval file {path}.")
        found = preflight(RunSettings(eval_file, context_directory=context_directory))
        ready = not found.fails(strict=strict)
        totals = _totals(found)
        if output_format == "json":
            say_json(found.document())
        else:
            _print(found, totals)
        mark: Part = ("✓ ready", "green") if ready else ("✗ not ready", "red")
        return Ended(READY if ready else NOT_READY, (mark, totals))

    return for_each_suite(paths, inspect, ("result", "findings"), as_json=output_format == "json")


def _print(found: Preflight, totals: str) -> None:
    printer = Printer()
    for finding in found.findings:
        printer.line(_MARKS[finding.severity], " ", (finding.code, "bold"), f"  {finding.sentence}")
    if found.findings:
        printer.line()
    printer.line(totals)


def _totals(found: Preflight) -> str:
    errors = sum(finding.severity == "error" for finding in found.findings)
    warnings = sum(finding.severity == "warning" for finding in found.findings)
    enabled = sum(bool(task["enabled"]) for task in found.tasks)
    tasks = f"{counted(enabled, 'task')}, executor {found.executor or 'unknown'}"
    return f"{tasks}: {_counted(errors, 'error')}, {_counted(warnings, 'warning')}"


def _counted(count: int, what: str) -> str:
    return f"{count or 'no'} {what}{'' if count == 1 else 's'}"


KIND, VERSION = "waza.preflight", "1.0"


@dataclass(frozen=True, slots=True)
class Preflight:
    """Findings about a suite before it runs. ``complete`` is false when a part could not be inspect_suite.

    ``tasks``, ``capabilities`` and ``dependencies`` are objects of upstream's document.
    """

    source: str
    executor: str = ""
    complete: bool = False
    tasks: Sequence[dict[str, Any]] = ()
    capabilities: Sequence[dict[str, Any]] = ()
    dependencies: Sequence[dict[str, Any]] = ()
    findings: Sequence[Finding] = field(default_factory=tuple[Finding, ...])

    def fails(self, *, strict: bool) -> bool:
        """Return whether something cannot work, or with ``strict`` whether anything is not known to."""
        bad: set[State] = {"invalid", "unresolved", "unsupported"} if strict else {"invalid"}
        return any(finding.state in bad for finding in self.findings)

    def document(self) -> dict[str, Any]:
        """Return upstream's document."""
        return {
            "kind": KIND,
            "schemaVersion": VERSION,
            "source": self.source,
            "executor": self.executor,
            "complete": self.complete,
            "tasks": list(self.tasks),
            "capabilities": list(self.capabilities),
            "dependencies": list(self.dependencies),
            "diagnostics": [_diagnostic(finding) for finding in self.findings],
        }


def preflight(settings: RunSettings) -> Preflight:
    """Inspect a suite as a run with these settings would; errors become findings."""
    source = str(settings.path)
    try:
        suite = with_options(load_suite(settings.path, disabled=True), settings, ProjectConfig())
        selected, _ = select(suite, (), ())
        triggers = trigger_tests_of(suite) is not None
    except ForeignEvalError as error:
        return _not_loaded(source, str(error.path), f"this is {error.found.refusal}", error.found.advice)
    except SuiteFileError as error:
        message = error.beside("the file").removeprefix("the file: ").removeprefix("the file, ")
        return _not_loaded(source, str(error.path), message)
    except SuiteError as error:
        return _not_loaded(source, source, str(error).removeprefix(f"{source}: "))
    executor, found = _executor(suite)
    costs = executor is not None and executor.costs
    judge = executor.name if executor is not None and not executor.has_model else ""
    if executor is not None:
        executor.close()
    found += inspect_suite(suite, selected, judge=judge, loads_skills=costs)
    blindness = "" if executor is None else blindness_to_skills(executor)
    found += unseen_skills(suite, selected, blindness, triggers=triggers)
    found += useless_turns(selected, executor)
    found += _tasks_alike(suite, selected)
    if suite.tasks and all(task.task is not None and not task.task.enabled for task in suite.tasks):
        message = "every task is switched off by `enabled: false`"
        found.append(Finding("eval.configuration", "invalid", source, message, "switch one on"))
    tasks: list[dict[str, Any]] = []
    for task in suite.tasks:
        requirements, complaints = planned_requirements(suite, task)
        found += complaints
        tasks.append(
            {
                "id": task.id,
                "name": task.name,
                "source": str(task.path),
                "enabled": task.task is None or task.task.enabled is not False,
                "context_dir": ""
                if task.task is None
                else str(fixture_directory(task.task, suite.directory)),
                "requirements": requirements,
            }
        )
    return Preflight(
        source,
        suite.spec.config.executor,
        complete=all(task.task is not None for task in suite.tasks),
        tasks=tasks,
        capabilities=list(_capabilities(executor)),
        dependencies=list(_dependencies(suite, selected)),
        findings=sorted(
            found, key=lambda finding: (finding.source, finding.task, finding.code, finding.message)
        ),
    )


def _not_loaded(eval_file: str, source: str, message: str, advice: str = "correct it") -> Preflight:
    finding = Finding("eval.configuration", "invalid", source, message.rstrip("."), advice)
    return Preflight(eval_file, findings=[finding])


def _executor(suite: Suite) -> tuple[Executor | None, list[Finding]]:
    config, source = suite.spec.config, str(suite.path)
    try:
        made = create_executor(config.executor, ExecutorSettings(suite.directory, config, suite.path.name))
    except ExecutorError as error:
        message = str(error).rstrip(".")
        remediation = error.remediation or "correct `config`"
        return None, [Finding("runtime.executor", "invalid", source, message, remediation)]
    if not made.costs:
        return made, []
    message = "only a run checks if the provider answers, accepts the key and has the model"
    return made, [
        Finding(
            "runtime.availability",
            "unresolved",
            source,
            message,
            "try one task with `--task` and `--max-tokens`",
        )
    ]


def _tasks_alike(suite: Suite, tasks: Sequence[SelectedTask]) -> Iterator[Finding]:
    counts = Counter(task.source.id for task in tasks)
    for task in tasks:
        if counts[task.source.id] > 1:
            message = f"another task has the id `{task.source.id}`, too"
            yield Finding(
                "task.id", "unresolved", str(task.source.path), message, "give each its own", task.source.id
            )


def _capabilities(executor: Executor | None) -> Iterator[dict[str, Any]]:
    works: State = "verified" if executor is not None else "invalid"
    agent: State = "verified" if executor is not None and executor.costs else "unsupported"
    judge: State = "verified" if executor is not None and executor.has_model else "unsupported"
    for name, state, meaning in (
        ("task_execution", works, "The executor is available; only a run shows if it answers."),
        ("mcp_servers", agent, "The executor passes MCP servers and their mocks to an agent."),
        ("judging", judge, "The executor has a model that can judge."),
    ):
        yield {"name": name, "state": state, "meaning": meaning}


def _dependencies(suite: Suite, tasks: Sequence[SelectedTask]) -> Iterator[dict[str, Any]]:
    spec = suite.spec
    mocked = {mock.name.strip() for mock in spec.mcp_mocks}
    for name in sorted(mocked):
        yield _dependency("mcp", name, "mocked", "verified")
    for name in sorted(set(spec.config.mcp_servers) - mocked):
        yield _dependency("mcp", name, "live", "unresolved")
    hooks = spec.hooks
    if hooks.before_run or hooks.after_run or hooks.before_task or hooks.after_task:
        yield _dependency("hooks", "lifecycle", "subprocess", "unresolved")
    for task in tasks:
        for built in () if task.trial is None else task.trial.all_graders:
            if built.grader is None or not (built.grader.judged or built.grader.runs_program):
                continue
            state: State = "unresolved" if built.grader.judged else "invalid" if built.notices else "verified"
            mode = "model" if built.grader.judged else "subprocess"
            yield {**_dependency("grader", built.name, mode, state), "task_id": task.source.id}


def _dependency(kind: str, name: str, mode: str, state: State) -> dict[str, Any]:
    return {"kind": kind, "name": name, "mode": mode, "state": state}


def _diagnostic(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "state": finding.state,
        "severity": finding.severity,
        "source": finding.source,
        **({"task_id": finding.task} if finding.task else {}),
        "message": finding.message,
        "remediation": finding.remediation,
    }


_COVERED = "Graders check it; only a run shows if it is met."
_UNCOVERED = "No grader checks it."
_BROKEN = "It names a grader that does not exist."


def planned_requirements(suite: Suite, task: SuiteTask) -> tuple[list[dict[str, Any]], list[Finding]]:
    """Return the requirements as upstream's document has them, and their errors."""
    planned: list[dict[str, Any]] = []
    found: list[Finding] = []
    if task.task is None:
        return planned, found
    ids = Counter(requirement.id for requirement in task.task.requirements)
    faults = {name: f"the id `{name}` is of {count} requirements" for name, count in ids.items() if count > 1}
    for requirement in task.task.requirements:
        if any(check.scope != "checkpoint" and check.after_turn is not None for check in requirement.checks):
            what = f"the requirement `{requirement.id}` has `after_turn` outside of a checkpoint"
            faults[requirement.id + ".after_turn"] = what
    for fault in faults.values():
        remedy = "correct the requirement"
        found.append(Finding("requirement.configuration", "invalid", str(task.path), fault, remedy, task.id))
    for requirement in task.task.requirements:
        missing = _missing(suite, task.task, requirement)
        state: State = "invalid" if missing else "verified" if requirement.checks else "unresolved"
        planned.append(
            {
                "id": requirement.id,
                "category": requirement.category,
                "description": requirement.description,
                "state": state,
                "meaning": _BROKEN if missing else _COVERED if requirement.checks else _UNCOVERED,
                **({"checks": [_check(check) for check in requirement.checks]} if requirement.checks else {}),
            }
        )
        if state != "verified":
            names = ", ".join(f"`{name}`" for name in missing)
            message = f"names {names}, but no grader has this name" if missing else "is checked by no grader"
            found.append(
                Finding(
                    "requirement.check" if missing else "requirement.uncovered",
                    "invalid" if missing else "unresolved",
                    str(task.path),
                    f"the requirement `{requirement.id}` {message}",
                    "correct its `checks`",
                    task.id,
                )
            )
    return planned, found


def _missing(suite: Suite, task: TaskFile, requirement: Requirement) -> list[str]:
    graders = {
        "eval": {entry.name for entry in suite.spec.graders},
        "task": {entry.name for entry in task.graders},
        "checkpoint": {entry.name for point in task.checkpoints for entry in point.graders},
    }
    return [
        check.grader for check in requirement.checks if check.grader not in graders.get(check.scope, set())
    ]


def _check(check: Any) -> dict[str, Any]:
    turn = {} if check.after_turn is None else {"after_turn": check.after_turn}
    return {"scope": check.scope, "grader": check.grader, **turn}
