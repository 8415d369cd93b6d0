"""``waza-engine new``: a suite from a skill, a task for a suite, a grader entry.

Architecture invariant: only option types are imported here, as in ``application``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from waza_engine.commands.options import executors_like, grader_types_like
from waza_engine.terminal import complain, say, say_json, say_lines

MADE, NOT_MADE = 0, 2

new = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Make a new suite, task or grader to start from. Nothing is overwritten without --force.",
)


@new.command("suite", short_help="Make a suite from a skill.")
def new_suite_command(
    skill: Annotated[
        Path, typer.Argument(metavar="SKILL", help="The SKILL.md, or the folder it is in.")
    ] = Path(),
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Where the suite goes; otherwise evals/<skill>, as .waza.yaml says."
        ),
    ] = None,
    executor: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Who answers the prompts; mock needs no agent.",
            autocompletion=executors_like,
        ),
    ] = "mock",
    model: Annotated[str | None, typer.Option(metavar="NAME", help="The agent's model.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the written files as one object.")] = False,
) -> None:
    """Make a suite from a skill: eval.yaml, tasks, trigger tests and a fixture, ready to run.

    Prompts come from what the skill's description says about when to use it, and when not.

    Exit code 0: written. 2: it cannot be, and nothing was.
    """
    from waza_engine.scaffold.files import write_files
    from waza_engine.scaffold.problems import ScaffoldError
    from waza_engine.scaffold.suite import DEFAULT_MODEL, new_suite

    try:
        made = new_suite(skill, out, executor=executor, model=model or DEFAULT_MODEL)
        paths = write_files(made.directory, made.files, force=force)
    except ScaffoldError as error:
        complain(str(error))
        raise typer.Exit(NOT_MADE) from None
    for warning in made.warnings:
        complain(f"warning: {warning}")
    _tell(paths, as_json=as_json, then=f"waza-engine run {made.directory}")


@new.command("task")
def new_task_command(
    identifier: Annotated[str, typer.Argument(metavar="ID", help="The id of the task, its file's name.")],
    suite: Annotated[
        Path, typer.Option(metavar="EVAL", help="The eval.yaml, or the directory it is in.")
    ] = Path(),
    prompt: Annotated[str, typer.Option(metavar="TEXT", help="What the agent is asked.")] = "",
    name: Annotated[str, typer.Option(metavar="TEXT", help="What reports call it; otherwise its id.")] = "",
    from_task: Annotated[
        str, typer.Option(metavar="TASK", help="Make it of this task's newest recorded answer.")
    ] = "",
    force: Annotated[bool, typer.Option("--force", help="Replace the file when it is there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the written file as one object.")] = False,
) -> None:
    """Make a task file where the suite's patterns pick it up.

    Exit code 0: written. 2: it cannot be, and nothing was.
    """
    from waza_engine.scaffold.files import write_files
    from waza_engine.scaffold.problems import ScaffoldError
    from waza_engine.scaffold.task import new_task

    if from_task:
        _save_recorded(identifier, suite, from_task, as_json=as_json)
        return
    try:
        made = new_task(identifier, suite, prompt=prompt, name=name)
        paths = write_files(made.path.parent, {made.path.name: made.text}, force=force)
    except ScaffoldError as error:
        complain(str(error))
        raise typer.Exit(NOT_MADE) from None
    _tell(paths, as_json=as_json, then=f"waza-engine run {suite} --task {identifier}")


def _save_recorded(identifier: str, suite: Path, task: str, *, as_json: bool) -> None:
    from waza_engine.runs.loading.discovery import eval_file_of
    from waza_engine.runs.loading.suite import SuiteError
    from waza_engine.scaffold.problems import ScaffoldError
    from waza_engine.scaffold.recorded_task import save_recorded

    try:
        paths = save_recorded(eval_file_of(suite).absolute(), task, identifier)
    except (ScaffoldError, SuiteError) as error:
        complain(str(error))
        raise typer.Exit(NOT_MADE) from None
    _tell(paths, as_json=as_json, then=f"waza-engine run {suite} --task {identifier}")


@new.command("grader", short_help="Print a grader to paste, or add it to a file.")
def new_grader_command(
    grader_type: Annotated[
        str,
        typer.Argument(
            metavar="TYPE",
            help="One of the types in docs/graders.md, such as text.",
            autocompletion=grader_types_like,
        ),
    ],
    name: Annotated[
        str, typer.Option(metavar="NAME", help="The name under which its results are stored.")
    ] = "",
    to: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Add it to `graders` of this eval or task file, instead of printing it."
        ),
    ] = None,
) -> None:
    """Print a grader to paste, or add it to a file; nothing else in the file changes.

    Exit code 0: printed or added. 2: it cannot be, and nothing was.
    """
    from waza_engine.scaffold.files import write_content
    from waza_engine.scaffold.grader import grader_entry, with_grader
    from waza_engine.scaffold.problems import ScaffoldError

    try:
        if to is None:
            say_lines(grader_entry(grader_type, name))
            return
        path, content, chosen = with_grader(to, grader_type, name)
        write_content(path, content)
    except ScaffoldError as error:
        complain(str(error))
        raise typer.Exit(NOT_MADE) from None
    say(f"{chosen} added to {path}")


def _tell(paths: Sequence[Path], *, as_json: bool, then: str) -> None:
    if as_json:
        say_json({"files": [str(path) for path in paths]})
        return
    for path in paths:
        say(str(path))
    say()
    say(f"Next: {then}")
