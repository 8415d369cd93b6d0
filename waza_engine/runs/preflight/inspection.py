"""Inspect a suite before it runs: only files are read, nothing is started, written or requested.

A file that a hook of the run may still create is only a warning.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

from waza_engine.executors.executor import (
    Executor,
    ExecutorError,
    Reaching,
    blindness_to_skills,
    why_single_turn,
)
from waza_engine.processes.git import GitError, git
from waza_engine.results.writing.store import ResultsError, check_results_writable
from waza_engine.runs.agent.agent_skills import SkillSet, check_required, suite_skills, task_skills
from waza_engine.runs.agent.trial_workspace import WorkspaceError, fixture_files, fixture_problems, prompt_of
from waza_engine.runs.loading.suite_on_disk import Suite, SuiteError
from waza_engine.runs.trials.selection import SelectedTask


def inspect_suite(
    suite: Suite, tasks: Sequence[SelectedTask], *, judge: str, loads_skills: bool
) -> list[Finding]:
    """Return the problems that prevent these tasks.

    ``judge`` is the name of the executor that is asked to judge if it has no model, else ``""``;
    ``loads_skills`` says whether the agent uses skills at all.
    """
    found = [*_skill_findings(suite, tasks, loads_skills=loads_skills)]
    for task in tasks:
        found += _task_findings(suite, task)
    if judge:
        found += _judge_findings(suite, tasks, judge)
    if suite.spec.hooks.before_run or suite.spec.hooks.before_task:
        found = [_softened_for_hooks(finding) for finding in found]
    return [*_results_findings(suite), *dict.fromkeys(found)]


def unseen_skills(
    suite: Suite, tasks: Sequence[SelectedTask], blindness: str, *, triggers: bool
) -> Iterator[Finding]:
    """Yield graders that cannot grade if the agent's use of skills is unknown: ``blindness`` is why."""
    if not blindness:
        return
    graders = {
        built.name: None
        for task in tasks
        if task.trial is not None and task.trial.graded
        for built in task.trial.all_graders
        if built.grader is not None and built.grader.judges_skill_use
    }
    why, _, remedy = blindness.partition("; ")
    judging = ["the trigger prompts"] * triggers + [f"grader `{name}`" for name in graders]
    if judging:
        message = f"nothing can be said by {', '.join(judging)}: {why}"
        yield Finding("skill.unseen", "invalid", str(suite.path), message, remedy)


def useless_turns(tasks: Sequence[SelectedTask], executor: Executor | None) -> Iterator[Finding]:
    """Yield prompts that ask nothing, and conversations that the agent cannot go on with, if it costs."""
    if executor is None or not executor.costs:
        return
    why, _, remedy = why_single_turn(executor).partition("; ")
    for task in tasks:
        if task.trial is None:
            continue
        inputs, source, name = task.trial.spec.inputs, str(task.source.path), task.source.id
        try:
            prompt = prompt_of(task.trial.spec, task.source.path)
        except WorkspaceError:
            # The trial reports it, and sends no prompt.
            continue
        if not all(each.strip() for each in (prompt, *inputs.follow_up_prompts)):
            which = "a follow-up prompt" if prompt.strip() else "the prompt"
            message, remediation = f"{which} of `{name}` is empty", "write what the agent is asked"
            yield Finding("task.prompt", "invalid", source, message, remediation, name)
        if why and (inputs.follow_up_prompts or inputs.responder is not None):
            yield Finding("task.turns", "invalid", source, f"`{name}` has several turns: {why}", remedy, name)


def _results_findings(suite: Suite) -> Iterator[Finding]:
    try:
        check_results_writable(suite.directory)
    except ResultsError as error:
        yield Finding(
            "results.place",
            "invalid",
            str(suite.path),
            str(error).rstrip("."),
            "make the folder writable, or name a file with `-o`",
        )


def _skill_findings(suite: Suite, tasks: Sequence[SelectedTask], *, loads_skills: bool) -> Iterator[Finding]:
    of_suite, source = suite_skills(suite), str(suite.path)
    try:
        check_required(suite, of_suite)
    except SuiteError as error:
        message = str(error).removeprefix(f"{source}: ").rpartition("; ")[0]
        yield Finding("skill.required", "invalid", source, message, "correct `skill_directories` or the name")
    if not (loads_skills and suite.spec.skill) or of_suite.switched_off:
        return
    sets = [task_skills(suite, task.source.task, of_suite) for task in tasks if task.source.task is not None]
    if any(_has(found, suite.spec.skill) for found in (of_suite, *sets)):
        return
    searched = ", ".join(map(str, of_suite.searched)) or "no directory"
    yield Finding(
        "skill.tested",
        "unresolved",
        source,
        f"the tested skill `{suite.spec.skill}` is not found, so the agent runs without it "
        f"(searched {searched})",
        "name its folder in `config.skill_directories`",
        warns=True,
    )


def _has(found: SkillSet, name: str) -> bool:
    """Return whether a skill has this name, or a folder with it."""
    wanted = name.casefold()
    return found.named(name) is not None or any(
        skill.path.parent.name.casefold() == wanted for skill in found.skills
    )


def _task_findings(suite: Suite, task: SelectedTask) -> Iterator[Finding]:
    source = str(task.source.path)
    if task.source.task is None or task.trial is None:
        if task.source.error:
            yield Finding(
                "task.configuration", "invalid", source, task.source.error, "correct the file", task.source.id
            )
        return
    spec = task.trial.spec
    listed = suite.spec.config.instruction_files
    for code, complaint in fixture_problems(spec, task.source.path, suite.directory, listed):
        yield Finding(code, "invalid", source, complaint, "add the file or correct its path", task.source.id)
    for built in task.trial.all_graders:
        # A grader of the suite is reported once, at the eval file, however many tasks have it.
        of_suite = any(built.entry is entry for entry in suite.spec.graders)
        place, task_id = (str(suite.path), "") if of_suite else (source, task.source.id)
        if built.error:
            yield Finding(
                "grader.configuration",
                "invalid",
                place,
                f"grader `{built.name}`: {built.error.rstrip('.')}",
                "correct the grader",
                task_id,
            )
        for notice in built.notices:
            yield Finding(
                "grader.unavailable",
                "invalid",
                place,
                f"grader `{built.name}`: {notice.rstrip('.')}",
                "correct it, or leave the grader out",
                task_id,
            )


def _judge_findings(suite: Suite, tasks: Sequence[SelectedTask], executor: str) -> Iterator[Finding]:
    names = {
        built.name
        for task in tasks
        if task.trial is not None
        for built in task.trial.all_graders
        if built.grader is not None and built.grader.judged
    }
    if names:
        listed = ", ".join(f"`{name}`" for name in sorted(names))
        yield Finding(
            "grader.judge",
            "invalid",
            str(suite.path),
            f"the executor `{executor}` has no model to judge {listed}",
            "name one that has with `--judge-executor`, for example `--judge-executor openai`",
            warns=True,
        )


def _softened_for_hooks(finding: Finding) -> Finding:
    made_by_hooks = finding.code.startswith(("skill.", "resource.", "instruction.", "context.", "prompt."))
    if finding.code == "grader.unavailable" or made_by_hooks:
        return replace(
            finding, state="unresolved", remediation=f"a hook may do it, else {finding.remediation}"
        )
    return finding


State = Literal["verified", "unresolved", "unsupported", "invalid"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that prevents a run, or may.

    ``invalid`` cannot work, ``unresolved`` cannot be known yet, ``unsupported`` is beyond this engine.
    ``message`` says what is wrong, ``remediation`` what to do, a clause each. ``task`` is the id of its task.
    ``warns`` is true when nothing else in the run reports it.
    """

    code: str
    state: State
    source: str
    message: str
    remediation: str
    task: str = ""
    warns: bool = False

    @property
    def severity(self) -> Literal["info", "warning", "error"]:
        """Return its severity: errors end a run that costs before it begins."""
        if self.state == "verified":
            return "info"
        return "error" if self.state == "invalid" else "warning"

    @property
    def sentence(self) -> str:
        """Return what is wrong, where, and what to do."""
        return f"{self.source}: {self.message}; {self.remediation}"


_SHOWN = 5
_MOST_ASKED = 500
# Without an answer there is nothing to grade; these findings are reported at their task.
_OF_ONE_TASK = ("task.configuration", "grader.configuration")


def pass_preflight(
    suite: Suite,
    tasks: Sequence[SelectedTask],
    agent: Executor,
    judges: Executor,
    *,
    kept: bool,
    triggers: bool = False,
) -> list[str]:
    """Return the warnings of a run that may begin.

    A run that costs nothing is not ended: the task then reports its own problem. ``kept`` says that the
    results are also written to another directory, ``triggers`` that trigger prompts are tried. Raises
    ``SuiteError`` for what would be paid in vain.
    """
    found = inspect_suite(
        suite, tasks, judge="" if judges.has_model else judges.name, loads_skills=agent.costs
    )
    found += unseen_skills(suite, tasks, blindness_to_skills(agent), triggers=triggers)
    found += useless_turns(tasks, agent)
    costs = agent.costs or judges.costs
    stopping = [finding for finding in found if costs and _stops(finding, kept=kept)]
    if stopping:
        raise SuiteError(*_sentences(stopping))
    warnings = [f"{finding.message}; {finding.remediation}" for finding in found if finding.warns]
    return warnings + _ignored_fixtures(suite, tasks)


def check_reachable(suite: Suite, *executors: Executor) -> None:
    """Raise ``SuiteError`` when an executor's service does not answer or rejects the key."""
    for executor in executors:
        if isinstance(executor, Reaching):
            try:
                executor.reach()
            except ExecutorError as error:
                raise SuiteError(f"{suite.path}: {error}.") from None


def _ignored_fixtures(suite: Suite, tasks: Sequence[SelectedTask]) -> list[str]:
    """Return a warning about fixtures that git ignores: they are here, and in no other checkout."""
    hooks, config = suite.spec.hooks, suite.spec.config
    if hooks.before_run or hooks.before_task:
        return []
    specs = [task.trial.spec for task in tasks if task.trial is not None]
    found = (
        file for spec in specs for file in fixture_files(spec, suite.directory, config.instruction_files)
    )
    paths = list(islice(dict.fromkeys(map(str, found)), _MOST_ASKED))
    try:
        ignored = git("check-ignore", "--", *paths, at=suite.directory).splitlines() if paths else []
    except GitError:  # no path is ignored, or there is no repository
        return []
    if not ignored:
        return []
    names = ", ".join(f"`{os.path.relpath(path, suite.directory)}`" for path in ignored[:_SHOWN])
    more = f" and {len(ignored) - _SHOWN} more" if len(ignored) > _SHOWN else ""
    return [
        f"git ignores {names}{more}, so no other checkout has this fixture; "
        "add it with `git add -f`, or correct `.gitignore`"
    ]


def _stops(finding: Finding, *, kept: bool) -> bool:
    if finding.code in _OF_ONE_TASK or (kept and finding.code == "results.place"):
        return False
    return finding.state == "invalid"


def _sentences(findings: Sequence[Finding]) -> list[str]:
    shown = [f"{finding.sentence}." for finding in findings[:_SHOWN]]
    if len(findings) > _SHOWN:
        shown.append(f"{len(findings) - _SHOWN} more; `waza-engine preflight` lists them all.")
    return shown
