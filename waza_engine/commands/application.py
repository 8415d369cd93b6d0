"""The commands and their options, as ``--help`` shows them.

Architecture invariant: only option types are imported here; what a command needs is imported when it runs.
"""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from waza_engine.commands.new import new

application = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Run evaluation suites for AI-agent skills: the engine behind waza-language-server.",
)


class ReportFormat(StrEnum):
    """How a finished thing is told."""

    TEXT = "text"
    JSON = "json"


class ComparisonFormat(StrEnum):
    """How a comparison is told."""

    TABLE = "table"
    JSON = "json"


class ReportKind(StrEnum):
    """What a report is for."""

    TEXT = "text"
    JSON = "json"
    JUNIT = "junit"
    MARKDOWN = "markdown"


class OutputFormat(StrEnum):
    """How a run is told."""

    TEXT = "text"
    JSON = "json"
    JSONL = "jsonl"


@application.command()
def run(
    eval_file: Annotated[
        Path, typer.Argument(metavar="EVAL", help="The eval.yaml, or the directory it is in.")
    ],
    task: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Only tasks whose id or name matches this pattern; repeatable."),
    ] = None,
    grader: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only the graders of this name; repeatable.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write the result document to this file, too."),
    ] = None,
    output_format: Annotated[
        OutputFormat,
        typer.Option("--format", help="Text for people, the result document, or one event a line."),
    ] = OutputFormat.TEXT,
    executor: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who answers the prompts, instead of the suite's.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="The agent's model, instead of the suite's.")
    ] = None,
    trials: Annotated[
        int | None, typer.Option(min=1, metavar="NUMBER", help="Trials of each task, instead of the suite's.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, metavar="NUMBER", help="How many tasks run at the same time.")
    ] = None,
    reporter: Annotated[
        list[str] | None,
        typer.Option(metavar="junit:FILE", help="Write the results as JUnit XML, too; repeatable."),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("-v", "--verbose", help="Show every grader, and the answers.")
    ] = False,
) -> None:
    """Run a suite and keep its results in .waza/results beside it.

    Exit code 0: every task passed. 1: some did not. 2: the suite could not be run. 130: interrupted.
    """
    from waza_engine.commands.run import run_command
    from waza_engine.runs.run import RunRequest

    request = RunRequest(
        path=eval_file,
        tasks=tuple(task or ()),
        graders=tuple(grader or ()),
        trials=trials,
        executor=executor,
        model=model,
        workers=workers,
    )
    raise typer.Exit(
        run_command(request, output, output_format.value, verbose=verbose, reporters=reporter or ())
    )


@application.command()
def grade(
    record: Annotated[Path, typer.Argument(metavar="RECORD", help="A result file, ours or upstream's.")],
    suite: Annotated[
        Path | None,
        typer.Option(metavar="EVAL", help="The eval.yaml, when it is not found from the record."),
    ] = None,
    task: Annotated[
        list[str] | None, typer.Option(help="Only tasks whose id or name matches this pattern; repeatable.")
    ] = None,
    grader: Annotated[
        list[str] | None, typer.Option(help="Only the graders of this name; repeatable.")
    ] = None,
    workspace: Annotated[
        Path | None,
        typer.Option(help="The directory in which file and diff look, when the run's was not kept."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the record with the new verdicts here.")
    ] = None,
    output_format: Annotated[
        ReportFormat, typer.Option("--format", help="Text for people, or one object with every grader.")
    ] = ReportFormat.TEXT,
) -> None:
    """Grade a recorded run again with the suite as it is now, without an agent.

    Exit code 0: every task passes. 1: some do not. 2: the record cannot be graded. 130: interrupted.
    """
    from waza_engine.commands.grade import grade_command
    from waza_engine.runs.regrading import RegradeRequest

    request = RegradeRequest(record, suite, tuple(task or ()), tuple(grader or ()), workspace)
    raise typer.Exit(grade_command(request, output, output_format.value))


@application.command()
def report(
    results: Annotated[
        Path,
        typer.Argument(
            metavar="RESULTS",
            help="A result file, ours or upstream's; or an eval.yaml or its directory: its newest results.",
        ),
    ] = Path(),
    output_format: Annotated[
        ReportKind,
        typer.Option(
            "--format",
            "-f",
            help=(
                "Text for people, the document in today's layout, "
                "JUnit XML for a CI system, or Markdown for a pull request."
            ),
        ),
    ] = ReportKind.TEXT,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the report to this file.")
    ] = None,
) -> None:
    """Show the results of a run, or write them for a CI system or a pull request.

    Exit code 0: written. 2: it cannot be.
    """
    from waza_engine.commands.reporting import report_command

    raise typer.Exit(report_command(results, output_format.value, output))


@application.command()
def review(
    results: Annotated[
        Path, typer.Argument(metavar="RESULTS", help="A result file, or a suite: then its newest results.")
    ] = Path(),
    task: Annotated[str | None, typer.Option(metavar="ID", help="The task, by id or name.")] = None,
    trial: Annotated[int | None, typer.Option(min=1, metavar="NUMBER", help="The trial of the task.")] = None,
    grader: Annotated[str | None, typer.Option(metavar="NAME", help="The grader that asks.")] = None,
    verdict: Annotated[
        bool | None, typer.Option("--pass/--fail", help="Record this verdict; without it, list what waits.")
    ] = None,
    score: Annotated[
        float | None, typer.Option(metavar="NUMBER", help="The score, 0 to 1; by default 1 or 0.")
    ] = None,
    comment: Annotated[str, typer.Option(metavar="TEXT", help="Why.")] = "",
    reviewer: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who says so; by default $WAZA_REVIEWER, else you.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="List what is reviewed already, too.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one object instead of lines.")] = False,
) -> None:
    """List what waits for a person's review, or record one in reviews.jsonl beside the eval file.

    Exit code 0: done. 2: there are no such results, or more than one verdict fits.
    """
    from waza_engine.commands.review import ReviewRequest, review_command

    request = ReviewRequest(results, task, trial, grader, verdict, score, comment, reviewer)
    raise typer.Exit(review_command(request, as_json=as_json, everything=everything))


@application.command()
def compare(
    results: Annotated[
        list[Path], typer.Argument(metavar="RESULTS", help="Two result files or more, the oldest first.")
    ],
    output_format: Annotated[
        ComparisonFormat, typer.Option("--format", "-f", help="A table, or one object with every task.")
    ] = ComparisonFormat.TABLE,
) -> None:
    """Show runs beside each other: scores, verdicts, and the change from the first to the last.

    Exit code 0: compared. 2: a file cannot be read.
    """
    from waza_engine.commands.compare import compare_command

    raise typer.Exit(compare_command(results, output_format.value))


@application.command("list")
def list_suites(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Where to look.")] = Path(),
    as_json: Annotated[bool, typer.Option("--json", help="Print one object instead of lines.")] = False,
) -> None:
    """List the suites below a directory, with their tasks."""
    from waza_engine.commands.listing import list_command

    raise typer.Exit(list_command(directory, as_json=as_json))


application.add_typer(new, name="new")


@application.command()
def schema(
    out: Annotated[Path | None, typer.Option(help="Write every schema below this directory.")] = None,
) -> None:
    """Write the JSON Schemas of all suite files; without --out, print them as one object."""
    import json

    from waza_engine.spec.json_schema import schemas, write_schemas

    if out is None:
        sys.stdout.write(json.dumps(schemas(), indent=2, ensure_ascii=False) + "\n")
        return
    try:
        written = write_schemas(out)
    except OSError as error:
        sys.stderr.write(f"The schemas cannot be written to {out}: {error.strerror or error}.\n")
        raise typer.Exit(2) from None
    sys.stdout.write(f"{len(written)} schemas written to {out}\n")


@application.command()
def serve() -> None:
    """Serve an editor: JSON-RPC 2.0 on standard input and output, one message a line."""
    from waza_engine.serve import serve as serve_forever

    serve_forever()


@application.callback(invoke_without_command=True)
def options(
    version: Annotated[bool, typer.Option("--version", help="Show the version and leave.")] = False,
) -> None:
    """Options of the command itself."""
    if version:
        from waza_engine import __version__

        sys.stdout.write(f"waza-engine {__version__}\n")
        raise typer.Exit
