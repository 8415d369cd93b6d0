"""``waza-engine run --layout skill-creator``: write a run as a folder for skill-creator's viewer, too."""

from __future__ import annotations

import contextlib
from pathlib import Path

from waza_engine.boundary import Boundary, boundary_of_named
from waza_engine.files import FileError, copy_file, make_folder, shown
from waza_engine.masking import masked, masked_across
from waza_engine.results.record import RunOutcome, TrialOutcome
from waza_engine.results.reports.skill_creator import skill_creator_layout
from waza_engine.results.writing.store import clear_errors, encoded, write_output
from waza_engine.runs.agent.workspace import remove_workspace
from waza_engine.runs.loading.suite import Suite
from waza_engine.spec.evals_json import EvalsFile
from waza_engine.spec.loading import load_skill_evals
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.skill_evals import skill_folder
from waza_engine.user_state import forget_workspace, kept_workspace

SKILL_CREATOR = "skill-creator"
ANSWER = "answer.md"


def write_layout(suite: Suite, outcome: RunOutcome) -> Path:
    """Write a run to the next ``<skill>-workspace/iteration-N``, and return that folder.

    The workspace is next to the folder of the skill. ``outputs`` has the answer and the files that the agent
    created or changed, if its workspace was kept. Raises ``ResultsError``.
    """
    folder = skill_folder(suite.path) or suite.directory
    workspace = folder.parent / f"{folder.name}-workspace"
    number = 1
    while (iteration := workspace / f"iteration-{number}").exists():
        number += 1
    prompts = {task.id: task.task.inputs.prompt or "" for task in suite.tasks if task.task is not None}
    folders, others = skill_creator_layout(outcome, _evals(suite), prompts)
    within = boundary_of_named(folder.parent)
    with clear_errors(iteration):
        for trial in folders:
            place = iteration / trial.path
            make_folder(place / "outputs", within=within)
            write_output(place / "outputs" / ANSWER, masked(trial.trial.output).encode("utf-8", "replace"))
            _copy_files(trial.trial, place / "outputs")
            for name, document in trial.files.items():
                write_output(place / name, encoded(masked_across(document)))
        for name, document in others.items():
            make_folder((iteration / name).parent, within=within)
            write_output(iteration / name, encoded(masked_across(document)))
    return iteration


def remove_workspaces(outcome: RunOutcome) -> None:
    """Remove the workspaces that were kept for the layout. One that cannot be removed is left."""
    for run in (outcome, *([outcome.baseline] if outcome.baseline is not None else [])):
        for trial in (trial for task in run.tasks for trial in task.trials):
            workspace = kept_workspace(trial.workspace) if trial.workspace else None
            if workspace is not None:
                with contextlib.suppress(OSError):
                    remove_workspace(workspace)
                    forget_workspace(workspace)


def _evals(suite: Suite) -> EvalsFile | None:
    try:
        found, _ = load_skill_evals(suite.path)
    except SuiteFileError:
        return None
    return found if isinstance(found, EvalsFile) else None


def _copy_files(trial: TrialOutcome, outputs: Path) -> None:
    """Copy the agent's files. One that is gone, or no regular file of its workspace, is left out."""
    if not trial.workspace:
        return
    source = Path(trial.workspace)
    within = Boundary.around(source, name=shown(source))
    for name in (*trial.files_changed.created, *trial.files_changed.changed):
        # The name of the answer is taken.
        target = outputs / (f"files/{name}" if name == ANSWER else name)
        try:
            make_folder(target.parent, within=boundary_of_named(outputs))
            copy_file(source / name, target, within=within)
        except (FileError, OSError):
            continue
