"""The commands that look at what was recorded: reports, reviews, comparisons, histories, gates.

Architecture invariant: as in ``application.py``, what a command needs is imported when it runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from waza_engine.commands.options import (
    AsJson,
    ComparisonFormat,
    FailUnder,
    GateFormat,
    ReportFormat,
    ReportKind,
    TaskPolicy,
    recorded,
)

record_commands = typer.Typer()


@record_commands.command(short_help="Show results, or write them for a CI system or a pull request.")
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


@record_commands.command(short_help="List or record reviews by people.")
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


@record_commands.command(short_help="Show runs beside each other.")
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


@record_commands.command(short_help="Show where two runs of a task part, and what differed.")
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


@record_commands.command(short_help="Show the last runs of a suite over time.")
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


@record_commands.command(cls=_Gate, short_help="Let results pass, or not, beside those of a baseline.")
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
    fail_under_trigger: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            metavar="SHARE",
            help="Fail with a smaller share of trigger prompts classified correctly, 0 to 1.",
        ),
    ] = None,
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

    limits = GateLimits(
        max_regression_pct, golden_must_pass, on_new_tasks.value, on_removed_tasks.value, fail_under_trigger
    )
    raise typer.Exit(gate_command(baseline, current, limits, output_format))
