"""The commands and their options, as ``--help`` shows them.

Architecture invariant: only types and the table of run settings are imported here; what a command needs is
imported when it runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from waza_engine.commands.new import new
from waza_engine.commands.options import (
    AsJson,
    FailUnder,
    Graders,
    JudgeModel,
    OutputFormat,
    PreflightFormat,
    ReportFormat,
    Tasks,
    executors_like,
    recorded,
)
from waza_engine.commands.record_commands import record_commands
from waza_engine.commands.run_options import with_run_settings
from waza_engine.runs.settings.table import RunSettings
from waza_engine.terminal import complain, say, say_json

application = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Run evaluation suites for AI-agent skills: the engine behind waza-language-server.",
)


@application.command(short_help="Run a suite.")
@with_run_settings
def run(
    eval_file: Annotated[
        Path, typer.Argument(metavar="EVAL", help="The eval.yaml, or the directory it is in.")
    ],
    settings: Mapping[str, Any],
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="The agent's model, instead of the suite's; repeatable: one run for each."
        ),
    ] = None,
    recommend: Annotated[
        bool, typer.Option("--recommend", help="With several models: say which one to take.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write the result document to this file, too."),
    ] = None,
    output_format: Annotated[
        OutputFormat,
        typer.Option(
            "-f",
            "--format",
            help="Text for people, the result document, one event a line, or text and annotations of GitHub.",
        ),
    ] = OutputFormat.TEXT,
    reporter: Annotated[
        list[str] | None,
        typer.Option(metavar="junit:FILE", help="Write the results as JUnit XML, too; repeatable."),
    ] = None,
    fail_under: FailUnder = None,
    verbose: Annotated[
        bool | None,
        typer.Option("-v/ ", "--verbose/--no-verbose", help="Show every grader, and the answers."),
    ] = None,
) -> None:
    """Run a suite and keep its results in .waza/results beside it.

    With a limit, nothing that costs starts once it is reached, and what was finished is kept.

    Exit code 0: everything that was judged passed; with --baseline the skills must also make a difference.
    1: not so. 2: the suite could not be run. 3: a limit of cost or tokens stopped the run. 4: nothing that
    was judged failed, but something else broke: the agent, its provider, a grader. 130: interrupted.
    """
    from waza_engine.commands.run import run_command

    raise typer.Exit(
        run_command(
            RunSettings(eval_file, fail_under=fail_under, **settings),
            output,
            output_format.value,
            verbose=verbose,
            reporters=reporter or (),
            models=model or (),
            recommend=recommend,
        )
    )


@application.command(short_help="Find out offline what stands in the way of a run.")
def preflight(
    eval_file: Annotated[
        Path, typer.Argument(metavar="EVAL", help="The eval.yaml, or the directory it is in.")
    ],
    context_dir: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The fixtures of tasks that name no directory.")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Take for a failure what is not known to work, too.")
    ] = False,
    output_format: Annotated[
        PreflightFormat, typer.Option("-f", "--format", help="Lines for people, or upstream's report.")
    ] = PreflightFormat.HUMAN,
) -> None:
    """Find out what stands in the way of a run: skills, fixtures, graders, programs, judges, results.

    Nothing is started, run, written or asked over a network. A run looks at the same things, and at the
    provider, before it pays for anything.

    Exit code 0: nothing that cannot work. 1: something cannot; with --strict also what is not known. 2: there
    is no such suite.
    """
    from waza_engine.commands.preflight import preflight_command

    raise typer.Exit(preflight_command(eval_file, context_dir, output_format.value, strict=strict))


@application.command(short_help="Grade a recorded run again, without an agent.")
def grade(
    record: Annotated[Path, recorded("RECORD")],
    suite: Annotated[
        Path | None,
        typer.Option(metavar="EVAL", help="The eval.yaml, when it is not found from the record."),
    ] = None,
    task: Tasks = None,
    grader: Graders = None,
    workspace: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="The directory in which file and diff look, when the run's was not kept."
        ),
    ] = None,
    judge_executor: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Ask the judges again through this executor; else their verdicts stay.",
            autocompletion=executors_like,
        ),
    ] = None,
    judge_model: JudgeModel = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write the record with the new verdicts here."),
    ] = None,
    output_format: Annotated[
        ReportFormat, typer.Option("-f", "--format", help="Text for people, or one object with every grader.")
    ] = ReportFormat.TEXT,
) -> None:
    """Grade a recorded run again with the suite as it is now, without an agent.

    Exit code 0: every task passes. 1: some do not. 2: the record cannot be graded. 4: nothing that was judged
    failed, but something broke. 130: interrupted.
    """
    from waza_engine.commands.grade import grade_command
    from waza_engine.runs.regrading.regrade import RegradeRequest

    request = RegradeRequest(
        record, suite, tuple(task or ()), tuple(grader or ()), workspace, judge_executor, judge_model
    )
    raise typer.Exit(grade_command(request, output, output_format.value))


@application.command(short_help="Measure which changes of recorded answers the graders notice.")
def strength(
    record: Annotated[Path, recorded("EVAL")] = Path(),
    suite: Annotated[
        Path | None,
        typer.Option(metavar="EVAL", help="The eval.yaml, when it is not found from the record."),
    ] = None,
    task: Tasks = None,
    grader: Graders = None,
    workspace: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="The directory in which file and diff look, when the run's was not kept."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="NUMBER", help="Another number makes other changes.")] = 0,
    references: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Labelled answers to hold the graders against."),
    ] = None,
    output_format: Annotated[
        ReportFormat, typer.Option("-f", "--format", help="A table, or one object with every grader.")
    ] = ReportFormat.TEXT,
) -> None:
    """Change the recorded answers in many ways, and measure which changes each grader notices.

    A grader that passes on everything is weak. One that fails on the reference of a task, an answer known to
    be good, is told, too. With --references answers that are labelled good or bad are graded as well. No
    agent, judge or program is started.

    Exit code 0: measured, and no grader is weak. 1: one is, or fails on a reference, or a labelled answer is
    judged otherwise. 2: the record cannot be graded, or the labels cannot be used. 130: interrupted.
    """
    from waza_engine.commands.strength import strength_command
    from waza_engine.runs.regrading.regrade import RegradeRequest

    request = RegradeRequest(record, suite, tuple(task or ()), tuple(grader or ()), workspace)
    raise typer.Exit(strength_command(request, output_format.value, seed, references))


application.registered_commands.extend(record_commands.registered_commands)


@application.command("list", short_help="List the suites below a directory, with their tasks.")
def list_suites(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Where to look.")] = Path(),
    as_json: AsJson = False,
) -> None:
    """List the suites below a directory, with their tasks; one that cannot be used says why.

    Exit code 0: listed, also when there are none. 2: there is no such directory.
    """
    from waza_engine.commands.listing import list_command

    raise typer.Exit(list_command(directory, as_json=as_json))


cache_commands = typer.Typer(no_args_is_help=True, help="Results of unchanged tasks, kept from earlier runs.")
application.add_typer(cache_commands, name="cache")
application.add_typer(new, name="new")


@application.command(short_help="Write the JSON Schemas of all suite files.")
def schema(
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write every schema below this directory.")
    ] = None,
    custom: Annotated[
        bool, typer.Option("--custom", help="With the grader types of the plug-ins that are installed.")
    ] = False,
) -> None:
    """Write the JSON Schemas of all suite files; without --out, print them as one object.

    Exit code 0: written. 2: they cannot be.
    """
    from waza_engine.schemas.documents import schemas, write_schemas

    if out is None:
        say_json(schemas(custom=custom))
        return
    try:
        written = write_schemas(out, custom=custom)
    except OSError as error:
        complain(f"The schemas cannot be written to {out}: {error.strerror or error}.")
        raise typer.Exit(2) from None
    say(f"{len(written)} schemas written to {out}")


@cache_commands.command("clear")
def clear_cache(
    cache_dir: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The cache, instead of that of this directory.")
    ] = None,
) -> None:
    """Delete the results that --cache kept.

    Exit code 0: deleted. 2: the directory holds anything else, or only suites below it have caches, so
    nothing was deleted.
    """
    from waza_engine.commands.cache import clear_command

    raise typer.Exit(clear_command(cache_dir))


@application.command(short_help="Serve an editor over JSON-RPC.")
def serve() -> None:
    """Serve an editor: JSON-RPC 2.0 on standard input and output, one message a line.

    Exit code 0: the input has ended, and with it every run.
    """
    from waza_engine.serve import serve as serve_forever

    serve_forever()


@application.callback(invoke_without_command=True)
def options(
    version: Annotated[bool, typer.Option("--version", help="Show the version and leave.")] = False,
) -> None:
    """Options of the command itself."""
    if version:
        from waza_engine import __version__

        say(f"waza-engine {__version__}")
        raise typer.Exit
