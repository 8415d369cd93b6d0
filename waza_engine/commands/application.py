"""The commands and their options, as ``--help`` shows them.

Architecture invariant: only types and the table of run settings are imported here; what a command needs is
imported when it runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from waza_engine.commands.new import new
from waza_engine.commands.options import (
    AsJson,
    ComparisonFormat,
    FailUnder,
    GateFormat,
    Graders,
    JudgeModel,
    OutputFormat,
    PreflightFormat,
    ReportFormat,
    ReportKind,
    TaskPolicy,
    Tasks,
    executors_like,
    recorded,
)
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
            RunSettings(eval_file, **settings),
            output,
            output_format.value,
            verbose=verbose,
            reporters=reporter or (),
            models=model or (),
            recommend=recommend,
            fail_under=fail_under,
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
    from waza_engine.runs.regrading import RegradeRequest

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
    seed: Annotated[int, typer.Option(metavar="NUMBER", help="Another number makes other changes.")] = 0,
    output_format: Annotated[
        ReportFormat, typer.Option("-f", "--format", help="A table, or one object with every grader.")
    ] = ReportFormat.TEXT,
) -> None:
    """Change the recorded answers in many ways, and measure which changes each grader notices.

    A grader that passes on everything is weak. No agent, judge or program is started.

    Exit code 0: measured, and no grader is weak. 1: one is. 2: the record cannot be graded. 130: interrupted.
    """
    from waza_engine.commands.strength import strength_command
    from waza_engine.runs.regrading import RegradeRequest

    request = RegradeRequest(record, suite, tuple(task or ()), tuple(grader or ()))
    raise typer.Exit(strength_command(request, output_format.value, seed))


@application.command(short_help="Show results, or write them for a CI system or a pull request.")
def report(
    results: Annotated[Path, recorded("RESULTS")] = Path(),
    output_format: Annotated[
        ReportKind,
        typer.Option(
            "-f",
            "--format",
            help=f"{'; '.join(f'{kind}: {kind.purpose}' for kind in ReportKind)}.",
        ),
    ] = ReportKind.TEXT,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write the report to this file.")
    ] = None,
    fail_under: FailUnder = None,
) -> None:
    """Show the results of a run, or write them for a CI system or a pull request.

    Exit code 0: written, and the run passed. 1: it did not, or did not come to its end. 2: there is no
    report. 4: nothing that was judged failed, but something else broke.
    """
    from waza_engine.commands.reporting import report_command

    raise typer.Exit(report_command(results, output_format, output, fail_under))


@application.command(short_help="List or record reviews by people.")
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
    as_json: AsJson = False,
) -> None:
    """List what waits for a person's review, or record one in reviews.jsonl beside the eval file.

    Exit code 0: done. 2: there are no such results, or more than one verdict fits.
    """
    from waza_engine.commands.review import ReviewRequest, review_command

    request = ReviewRequest(results, task, trial, grader, verdict, score, comment, reviewer)
    raise typer.Exit(review_command(request, as_json=as_json, everything=everything))


@application.command(short_help="Show runs beside each other.")
def compare(
    results: Annotated[
        list[Path],
        typer.Argument(metavar="RESULTS", help="Two result files or suites or more, the oldest first."),
    ],
    output_format: Annotated[
        ComparisonFormat, typer.Option("-f", "--format", help="A table, or one object with every task.")
    ] = ComparisonFormat.TABLE,
    everything: Annotated[
        bool, typer.Option("--all", help="Show the tasks that have not changed, too.")
    ] = False,
) -> None:
    """Show runs beside each other: scores, verdicts, and the change from the first to the last.

    Exit code 0: compared. 1: a task that passed in the first run fails in the last. 2: a file cannot be read.
    """
    from waza_engine.commands.compare import compare_command

    raise typer.Exit(compare_command(results, output_format.value, everything=everything))


@application.command(short_help="Show where two runs of a task part, and what differed.")
def bisect(
    eval_file: Annotated[
        Path, typer.Argument(metavar="EVAL", help="The eval.yaml, or the directory it is in.")
    ],
    task: Annotated[str, typer.Argument(metavar="TASK", help="The id of the task.")],
    results: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[OLD NEW]", help="Two result files; by default the last two with the task."),
    ] = None,
    output_format: Annotated[
        ReportFormat, typer.Option("-f", "--format", help="Text for people, or one object.")
    ] = ReportFormat.TEXT,
) -> None:
    """Show the first turn in which the agent did something else, and what differed before.

    Skill, model, executor and settings are compared, and the files that decided the task, line by line where
    their texts were kept.

    Exit code 0: compared. 2: there are no two runs of the task.
    """
    from waza_engine.commands.bisect import bisect_command

    raise typer.Exit(bisect_command(eval_file, task, results or (), output_format.value))


@application.command(short_help="Show the last runs of a suite over time.")
def history(
    eval_file: Annotated[
        Path, typer.Argument(metavar="EVAL", help="The eval.yaml, or the directory it is in.")
    ] = Path(),
    last: Annotated[int, typer.Option(min=1, metavar="NUMBER", help="How many runs are shown.")] = 10,
    output_format: Annotated[
        ReportFormat, typer.Option("-f", "--format", help="Text for people, or one object.")
    ] = ReportFormat.TEXT,
) -> None:
    """Show the last runs of a suite: scores over time, flaky tasks, and since which run a task is red.

    Exit code 0: shown. 2: there are no results.
    """
    from waza_engine.commands.history import history_command

    raise typer.Exit(history_command(eval_file, last, output_format.value))


_WRONG_USE = 2


class _Gate(TyperCommand):
    """A command whose code 2 says something else than that it was called wrongly."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Return what is left of the arguments; a wrong one ends with code 3."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            if getattr(error, "exit_code", 0) == _WRONG_USE:
                error.exit_code = 3  # pyright: ignore[reportAttributeAccessIssue] - errors of usage have it
            raise


@application.command(cls=_Gate, short_help="Let results pass, or not, beside those of a baseline.")
def gate(
    baseline: Annotated[
        Path, typer.Option(metavar="RESULTS", help="The results to hold against: a file, or a suite.")
    ],
    current: Annotated[Path, typer.Option(metavar="RESULTS", help="The results that are to pass.")],
    max_regression_pct: Annotated[
        float, typer.Option(min=0.0, metavar="POINTS", help="How far the pass rate may fall, in percent.")
    ] = 0.0,
    golden_must_pass: Annotated[
        bool, typer.Option("--golden-must-pass", help="Every task with `golden: true` must pass.")
    ] = False,
    on_new_tasks: Annotated[
        TaskPolicy, typer.Option(help="What to do about tasks that the baseline lacks.")
    ] = TaskPolicy.ALLOW,
    on_removed_tasks: Annotated[
        TaskPolicy, typer.Option(help="What to do about tasks that only the baseline has.")
    ] = TaskPolicy.WARN,
    output_format: Annotated[
        GateFormat, typer.Option("-f", "--format", help="For people, for programs, or for GitHub.")
    ] = GateFormat.HUMAN,
) -> None:
    """Let results pass, or not, beside those of a baseline.

    Exit code 0: they pass. 1: the pass rate fell too far, the run is not whole, or tasks came or went that
    may not. 2: a golden task did not pass. 3: the results cannot be read.
    """
    from waza_engine.commands.gate import gate_command
    from waza_engine.results.reports.gate import GateLimits

    limits = GateLimits(max_regression_pct, golden_must_pass, on_new_tasks.value, on_removed_tasks.value)
    raise typer.Exit(gate_command(baseline, current, limits, output_format))


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
