"""Small suites on disk, and running them."""

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import dedent
from typing import TypeVar

from waza_engine.results.reading.newest_scores import latest_results
from waza_engine.results.reading.scores import RunResult
from waza_engine.results.record import RunOutcome, TaskOutcome, TrialOutcome, Validation
from waza_engine.runs.events.stream import RunEvent
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.preparing import prepare
from waza_engine.runs.run import RunReport
from waza_engine.runs.settings.table import RunSettings

T = TypeVar("T")
CONFIG = "config: {trials_per_task: 1, timeout_seconds: 20, executor: mock}\n"
GREETS = "- {type: text, name: greets, config: {contains: [hello]}}\n"
COMMAND_CONFIG = (
    "config: {trials_per_task: 1, timeout_seconds: 20, executor: command, adapter: adapter.json}\n"
)
HANGS = """\
- type: program
  name: hangs
  config: {command: python3, args: [-c, 'import time; time.sleep(60)'], timeout: 60}
"""


def write_suite(
    directory: Path,
    tasks: Mapping[str, str],
    *,
    graders: str = "",
    config: str = CONFIG,
    more: str = "",
) -> Path:
    """Write an eval file with graders as YAML items and tasks as name → YAML; return its path."""
    (directory / "tasks").mkdir(parents=True, exist_ok=True)
    for name, text in tasks.items():
        (directory / "tasks" / f"{name}.yaml").write_text(dedent(text), "utf-8")
    listed = f"graders:\n{dedent(graders)}" if graders else ""
    path = directory / "eval.yaml"
    text = f"name: suite\nskill: writer\n{config}tasks: ['tasks/*.yaml']\n{listed}{dedent(more)}"
    path.write_text(text, "utf-8")
    return path


def config_with(more: str) -> str:
    """Return ``CONFIG`` with further keys."""
    return CONFIG.replace("}", f", {more}}}") if more else CONFIG


def openai_config(
    base_url: str, more: str = "", model: str = "small", executor: str = "openai", seconds: int = 20
) -> str:
    """Return the configuration of a suite that asks a model, at least for its judges."""
    asked = config_with(f"model: {model}, provider: {{base_url: '{base_url}'}}, {more}")
    return asked.replace("mock", executor, 1).replace("20", str(seconds), 1)


def write_prompts(
    directory: Path, *should: str, should_not: Sequence[str] = (), skill: str = "writer"
) -> Path:
    """Write the trigger prompts of a suite."""
    listed = {"should_trigger_prompts": should, "should_not_trigger_prompts": should_not}
    blocks = {
        "skill": skill,
        **{key: [{"prompt": text} for text in texts] for key, texts in listed.items() if texts},
    }
    path = directory / "trigger_tests.yaml"
    path.write_text(json.dumps(blocks), "utf-8")
    return path


def noting_hooks(directory: Path, *names: str) -> str:
    """Return hooks of a suite that write their names into the file ``log`` of a directory."""
    note = directory / "note.py"
    note.write_text("import sys, pathlib\npathlib.Path(sys.argv[1]).open('a').write(sys.argv[2] + ' ')\n")
    command = f"python3 {note} {directory / 'log'}"
    return "hooks:\n" + "".join(f"  {name}: [{{command: {command} {name}}}]\n" for name in names)


def task(identifier: str, more: str = "", prompt: str = "Say hello") -> str:
    """Return a task file with a prompt; ``more`` are further top-level keys."""
    return f"id: {identifier}\nname: Task {identifier}\ninputs: {{prompt: {prompt}}}\n{dedent(more)}"


def run(path: Path, **options: object) -> tuple[RunReport, list[RunEvent]]:
    """Run a suite to its end; ``options`` are those of ``RunSettings``."""
    events: list[RunEvent] = []
    report = prepare(RunSettings(path, **options)).run(events.append, RunCancellation())  # type: ignore[arg-type]
    return report, events


def recorded(path: Path, **options: object) -> Path:
    """Run a suite to its end and return its result file; ``options`` are those of ``RunSettings``."""
    report, _ = run(path, **options)
    assert report.results_file is not None
    return report.results_file


def newest(directory: Path, **options: str) -> RunResult:
    """Return the newest results of a suite, which there are."""
    found = latest_results(directory, **options)
    assert found is not None
    return found


def replaced(path: Path, old: str, new: str) -> None:
    """Replace the first of a text in a file."""
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


def present(value: T | None) -> T:
    """Return a value that must be there."""
    assert value is not None
    return value


def until_kept(directory: Path, task_id: str) -> None:
    """Wait until a finished task stands in a suite's results: the next one begins while it is written."""
    deadline = time.monotonic() + 60
    while (found := latest_results(directory)) is None or task_id not in found.tasks:
        assert time.monotonic() < deadline, f"task {task_id} is not kept"
        time.sleep(0.005)


def only_task(report: RunReport) -> TaskOutcome:
    assert len(report.outcome.tasks) == 1
    return report.outcome.tasks[0]


def only_trial(report: RunReport) -> TrialOutcome:
    found = only_task(report)
    assert len(found.trials) == 1, found.error
    return found.trials[0]


def verdicts(report: RunReport) -> dict[str, Validation]:
    return dict(only_trial(report).validations or {})


def statuses(outcome: RunOutcome) -> dict[str, list[str]]:
    """Return the status of each trial by the ids of the tasks."""
    return {found.id: [trial.status for trial in found.trials] for found in outcome.tasks}
