"""``waza-engine new``: a suite, a task, a grader entry, a CI workflow.

Architecture invariant: only option types are imported here, as in ``application``.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from waza_engine.commands.command_words import command_line
from waza_engine.commands.shared_options import executors_like, grader_types_like
from waza_engine.scaffold.grader_patterns import GraderKind, GraderLanguage
from waza_engine.terminal import complain, say, say_json, say_lines

MADE, NOT_MADE = 0, 2

new = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Create a suite, task, grader or CI workflow. Nothing is overwritten without --force.",
)


@new.command("suite", short_help="Create a suite for a skill.")
def new_suite_command(
    skill: Annotated[
        Path, typer.Argument(metavar="SKILL", help="The SKILL.md, or the folder it is in.")
    ] = Path(),
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="The directory of the suite; by default evals/<skill>, or what .waza.yaml says.",
        ),
    ] = None,
    executor: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="The executor that answers the prompts; mock needs no agent.",
            autocompletion=executors_like,
        ),
    ] = "mock",
    model: Annotated[str | None, typer.Option(metavar="NAME", help="The agent's model.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the written files as one object.")] = False,
) -> None:
    """Create a suite for a skill: eval.yaml, tasks, trigger tests and a fixture, ready to run.

    The prompts come from the skill's description of when to use it, and when not to.

    Exit code 0: written. 2: the suite cannot be created; nothing was written.
    """
    from waza_engine.scaffold.file_changes import write_files
    from waza_engine.scaffold.suite_from_skill import DEFAULT_MODEL, new_suite

    with _clear_errors():
        made = new_suite(skill, out, executor=executor, model=model or DEFAULT_MODEL, force=force)
        paths = write_files(made.directory, made.files, force=force)
    for warning in made.warnings:
        complain(f"warning: {warning}")
    _print_written(paths, as_json=as_json, then=command_line("run", _short(made.directory)))


@new.command("task")
def new_task_command(
    identifier: Annotated[
        str, typer.Argument(metavar="ID", help="The id of the task, and the name of its file.")
    ],
    suite: Annotated[
        Path, typer.Option(metavar="EVAL", help="The eval.yaml, or the directory it is in.")
    ] = Path(),
    prompt: Annotated[str, typer.Option(metavar="TEXT", help="The prompt for the agent.")] = "",
    name: Annotated[str, typer.Option(metavar="TEXT", help="The name in reports; by default its id.")] = "",
    from_task: Annotated[
        str, typer.Option(metavar="TASK", help="Create it from this task's newest recorded answer.")
    ] = "",
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the written file as one object.")] = False,
) -> None:
    """Create a task file that matches the suite's `tasks:` patterns.

    Exit code 0: written. 2: the task cannot be created; nothing was written.
    """
    from waza_engine.runs.loading.discovery import eval_file_of
    from waza_engine.scaffold.file_changes import write_files
    from waza_engine.scaffold.recorded_task import save_recorded
    from waza_engine.scaffold.task import new_task

    with _clear_errors():
        if from_task:
            paths = save_recorded(eval_file_of(suite).absolute(), from_task, identifier)
        else:
            made = new_task(identifier, suite, prompt=prompt, name=name)
            paths = write_files(made.path.parent, {made.path.name: made.text}, force=force)
    _print_written(paths, as_json=as_json, then=command_line("run", suite, "--task", identifier))


@new.command("grader", short_help="Print a grader to paste, or add it to a file; write a grader file.")
def new_grader_command(
    grader_type: Annotated[
        str,
        typer.Argument(
            metavar="TYPE",
            help="One of the types in docs/graders.md, such as text; not needed with --kind.",
            autocompletion=grader_types_like,
        ),
    ] = "",
    name: Annotated[str, typer.Option(metavar="NAME", help="The name of the grader in results.")] = "",
    to: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Add it to `graders` in this eval or task file instead."),
    ] = None,
    kind: Annotated[
        GraderKind | None, typer.Option(help="Write a grader file (type inline) of this kind.")
    ] = None,
    language: Annotated[
        GraderLanguage, typer.Option(help="The language of the grader file.")
    ] = GraderLanguage.PYTHON,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing grader file.")] = False,
) -> None:
    """Print a grader to paste, or add it to a file; nothing else in the file changes.

    With --kind a grader file is written as well, into `graders/` next to the eval file or, without --to,
    below the working directory.

    Exit code 0: printed, written or added. 2: the grader cannot be created; nothing was written.
    """
    from waza_engine.scaffold.file_changes import ScaffoldError, write_content
    from waza_engine.scaffold.grader import grader_entry, grader_file, with_grader, write_grader_file

    with _clear_errors():
        if (kind is None) == (not grader_type):
            raise ScaffoldError("Name the TYPE of the grader, or with --kind the kind of grader file.")
        file = None
        if kind is not None:
            grader_type, name = "inline", name or str(kind)
            file = grader_file(to, name, language)
        written = "" if file is None else f"{file.parent.name}/{file.name}"
        entry = grader_entry(grader_type, name, written)
        added = None if to is None else with_grader(to, grader_type, name, written)
        if file is not None and kind is not None:
            write_grader_file(file, kind, force=force)
            say(str(file))
        if added is None:
            say_lines(entry)
            return
        path, content, chosen = added
        write_content(path, content)
    say(f"{chosen} added to {path}")


@new.command("workflow", short_help="Create a workflow for a CI system.")
def new_workflow_command(
    system: Annotated[str, typer.Argument(metavar="[github|gitlab|azure]", help="The CI system.")] = "github",
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the written file as one object.")] = False,
) -> None:
    """Create a workflow that checks and runs all suites of the repository and reports the results.

    Exit code 0: written. 2: the workflow cannot be created; nothing was written.
    """
    from waza_engine.scaffold.workflow import new_workflow

    with _clear_errors():
        paths = new_workflow(system, force=force)
    _print_written(paths, as_json=as_json, then="commit the file")


@contextmanager
def _clear_errors() -> Generator[None]:
    """Report in one sentence why nothing is created, and exit."""
    from waza_engine.runs.loading.suite_on_disk import SuiteError
    from waza_engine.scaffold.file_changes import ScaffoldError

    try:
        yield
    except (ScaffoldError, SuiteError) as error:
        complain(str(error))
        raise typer.Exit(NOT_MADE) from None


def _short(path: Path) -> Path:
    """Return a path from the working directory when it is in there."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _print_written(paths: Sequence[Path], *, as_json: bool, then: str) -> None:
    if as_json:
        say_json({"files": [str(path) for path in paths]})
        return
    for path in paths:
        say(str(path))
    say()
    say(f"Next: {then}")
