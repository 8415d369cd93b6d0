"""``waza-engine run --layout skill-creator``: write a run as a folder for skill-creator's viewer, too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any, cast

from waza_engine.boundary import Boundary, boundary_of_named
from waza_engine.files import FileError, copy_file, make_folder, printable
from waza_engine.masking import masked, masked_across
from waza_engine.results.json_values import Json
from waza_engine.results.record import RunOutcome, TaskOutcome, TrialOutcome, Validation
from waza_engine.results.result_file_names import file_segment
from waza_engine.results.writing.store import clear_errors, encoded, write_output
from waza_engine.runs.agent.trial_workspace import remove_kept_workspace
from waza_engine.runs.loading.suite_on_disk import Suite
from waza_engine.spec.evals_json import EvalCase, EvalsFile
from waza_engine.spec.loading import load_skill_evals
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.skill_evals import graders_of_case, skill_folder
from waza_engine.user_state import known_workspace
from waza_engine.vocabulary import unique_names

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
            workspace = known_workspace(trial.workspace) if trial.workspace else None
            if workspace is not None:
                remove_kept_workspace(workspace)


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
    within = Boundary.around(source, name=printable(source))
    for name in (*trial.files_changed.created, *trial.files_changed.changed):
        # The name of the answer is taken.
        target = outputs / (f"files/{name}" if name == ANSWER else name)
        try:
            make_folder(target.parent, within=boundary_of_named(outputs))
            copy_file(source / name, target, within=within)
        except (FileError, OSError):
            continue


WITH, WITHOUT = "with_skill", "without_skill"
_STATISTICS = ("pass_rate", "time_seconds", "tokens")


@dataclass(frozen=True, slots=True)
class TrialFolder:
    """One trial: its folder below the iteration, and its files there by their names."""

    path: str
    trial: TrialOutcome
    files: Mapping[str, Json]


def skill_creator_layout(
    run: RunOutcome, evals: EvalsFile | None, prompts: Mapping[str, str]
) -> tuple[list[TrialFolder], Mapping[str, Json]]:
    """Return the folders of the trials, and the other files of the iteration by their paths.

    ``evals`` is the ``evals.json`` of the run: its assertions are listed as they are written there, and those
    of another suite are its graders. ``prompts`` are those of the tasks by their ids.
    """
    cases = {case.id: case for case in evals.evals} if evals is not None else {}
    ids = _ids([task.id for task in run.tasks])
    folders: list[TrialFolder] = []
    others: dict[str, Json] = {}
    runs: list[Json] = []
    first = WITHOUT if run.header.settings.get("no_skills") else WITH
    passes = [(first, run.tasks), *([(WITHOUT, run.baseline.tasks)] if run.baseline is not None else [])]
    for configuration, tasks in passes:
        names = list(unique_names(file_segment(task.name or task.id) for task in tasks))
        for task, name in zip(tasks, names, strict=True):
            case = cases.get(task.id)
            metadata = {
                "eval_id": ids.get(task.id, task.id),
                "eval_name": task.name or task.id,
                "prompt": prompts.get(task.id, ""),
                "assertions": [text for text, _, _ in _assertions(_first_trial(task), case)],
            }
            others[f"eval-{name}/eval_metadata.json"] = metadata
            several = len(task.trials) > 1
            for trial in task.trials:
                grading = _grading(trial, case)
                files = {"grading.json": grading, "timing.json": _timing(trial)}
                path = f"eval-{name}/{configuration}"
                if several:
                    # The viewer looks for it in the folder of the run or the one above.
                    path, files["eval_metadata.json"] = f"{path}/run-{trial.number}", metadata
                folders.append(TrialFolder(path, trial, files))
                runs.append(_run(metadata, configuration, trial, grading))
    others["benchmark.json"] = _benchmark(run, runs)
    return folders, others


def _first_trial(task: TaskOutcome) -> TrialOutcome:
    return task.trials[0] if task.trials else TrialOutcome(1, "error", None)


def _ids(written: Sequence[str]) -> Mapping[str, int | str]:
    """Return the ids as numbers if all are: the viewer sorts by them, and does not compare both kinds."""
    numeric = all(each.isdecimal() for each in written)
    return {each: int(each) if numeric else each for each in written}


def _grading(trial: TrialOutcome, case: EvalCase | None) -> Json:
    results = [
        {"text": text, "passed": passed, "evidence": evidence}
        for text, passed, evidence in _assertions(trial, case)
    ]
    passed = sum(bool(result["passed"]) for result in results)
    calls = Counter(call.name for call in trial.tool_calls or ())
    return {
        "expectations": results,
        "summary": {
            "passed": passed,
            "failed": len(results) - passed,
            "total": len(results),
            "pass_rate": round(passed / len(results), 4) if results else 0.0,
        },
        "execution_metrics": {
            "tool_calls": dict(calls),
            "total_tool_calls": calls.total(),
            "errors_encountered": int(bool(trial.error))
            + sum(verdict.status == "error" for verdict in (trial.validations or {}).values()),
            "output_chars": len(trial.output),
        },
    }


def _assertions(trial: TrialOutcome, case: EvalCase | None) -> Iterator[tuple[str, bool, str]]:
    """Yield the assertions in their order, with whether each passed, and why."""
    verdicts = trial.validations or {}
    if case is None:
        for name, verdict in verdicts.items():
            yield name, _passed(verdict), _why(verdict, trial)
        return
    found: dict[str, tuple[bool, str]] = {}
    order = [each if isinstance(each, str) else each.sentence for each in case.all_assertions]
    for texts, grader in graders_of_case(case, lambda _: {}):
        verdict = verdicts.get(grader["name"])
        decided = _decided(verdict)
        for text in texts:
            order += [text] if text not in order else []
            found[text] = decided.get(text) or (_passed(verdict), _why(verdict, trial))
    for text in order:
        yield text, *found[text]


def _decided(verdict: Validation | None) -> Mapping[str, tuple[bool, str]]:
    """Return the results of a judge by criterion, with the evidence."""
    if verdict is None or verdict.status != "graded":
        return {}
    results = cast("Sequence[Mapping[str, Any]]", verdict.details.get("criteria") or ())
    return {str(each["text"]): (each["passed"] is True, str(each["evidence"])) for each in results}


def _passed(verdict: Validation | None) -> bool:
    return verdict is not None and verdict.status == "graded" and verdict.passed


def _why(verdict: Validation | None, trial: TrialOutcome) -> str:
    if verdict is not None and verdict.status == "graded":
        return verdict.feedback
    why = trial.error if verdict is None else verdict.feedback
    return f"Not judged: {why or 'the grader did not run'}"


def _timing(trial: TrialOutcome) -> Json:
    usage = trial.usage
    return {
        "total_tokens": 0 if usage is None else usage.input_tokens + usage.output_tokens,
        "duration_ms": trial.duration_ms,
        "total_duration_seconds": round(trial.duration_ms / 1000, 1),
    }


def _run(metadata: Json, configuration: str, trial: TrialOutcome, grading: Json) -> Json:
    metrics, timing = grading["execution_metrics"], _timing(trial)
    return {
        "eval_id": metadata["eval_id"],
        "eval_name": metadata["eval_name"],
        "configuration": configuration,
        "run_number": trial.number,
        "result": {
            **grading["summary"],
            "time_seconds": timing["total_duration_seconds"],
            "tokens": timing["total_tokens"],
            "tool_calls": metrics["total_tool_calls"],
            "errors": metrics["errors_encountered"],
        },
        "expectations": grading["expectations"],
        "notes": [],
    }


def _benchmark(run: RunOutcome, runs: Sequence[Json]) -> Json:
    header = run.header
    summary: Json = {}
    for configuration in dict.fromkeys(each["configuration"] for each in runs):
        results = [each["result"] for each in runs if each["configuration"] == configuration]
        summary[configuration] = {key: _spread([each[key] for each in results]) for key in _STATISTICS}
    if WITH in summary and WITHOUT in summary:
        change = {key: summary[WITH][key]["mean"] - summary[WITHOUT][key]["mean"] for key in _STATISTICS}
        summary["delta"] = {
            "pass_rate": f"{change['pass_rate']:+.2f}",
            "time_seconds": f"{change['time_seconds']:+.1f}",
            "tokens": f"{change['tokens']:+.0f}",
        }
    return {
        "metadata": {
            "skill_name": header.skill,
            "executor_model": header.model or header.executor,
            "analyzer_model": header.judge_model,
            "timestamp": header.started.isoformat(),
            "evals_run": list(dict.fromkeys(each["eval_id"] for each in runs)),
            "runs_per_configuration": header.trials_per_task,
        },
        "runs": list(runs),
        "run_summary": summary,
        "notes": [],
    }


def _spread(values: Sequence[float]) -> Json:
    return {
        "mean": round(mean(values), 4),
        "stddev": round(stdev(values), 4) if len(values) > 1 else 0.0,
        "min": min(values),
        "max": max(values),
    }
