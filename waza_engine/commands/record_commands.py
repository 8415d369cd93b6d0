"""The commands that read recorded runs: reports, reviews, comparisons, histories, gates.

Architecture invariant: as in ``application.py``, a command imports what it needs when it runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from waza_engine.commands.shared_options import (
    AsJson,
    ComparisonFormat,
    FailUnder,
    GateFormat,
    ReportFormat,
    ReportKind,
    TaskPolicy,
    recorded,
    suites_argument,
)

record_commands = typer.Typer()


@record_commands.command(short_help="Show the results of a run, or convert them for CI.")
def report(
    paths: Annotated[list[Path] | None, recorded("[RESULTS|SKILL]...")] = None,
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
    """Show the results of runs, or write them for a CI system, a pull request or a browser.

    A directory with several suites means all of them: they are one report.

    Exit code 0: written, and the run passed. 1: the run failed or was interrupted. 2: no report could be
    written. 4: no graded task failed, but something else broke. Of several suites, the worst code counts.
    """
    from waza_engine.commands.reporting import report_command

    raise typer.Exit(report_command(paths or (Path(),), output_format, output, fail_under))


@record_commands.command(short_help="Join the results of the shards of a run.")
def merge(
    shards: Annotated[
        list[Path], typer.Argument(metavar="RESULTS...", help="The result files of all shards of one run.")
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="Write the results of the whole run here.")
    ],
    output_format: Annotated[
        ReportKind, typer.Option("-f", "--format", help="The format of the report, as that of `report`.")
    ] = ReportKind.TEXT,
    reporter: Annotated[
        list[str] | None,
        typer.Option(metavar="junit:FILE", help="Also write the results as JUnit XML; repeatable."),
    ] = None,
    fail_under: FailUnder = None,
) -> None:
    """Join the results of shards (`waza-engine run --shard 1/4 -o 1.json`) to those of the whole run.

    Shards of another suite, other settings or another version are refused. With a shard missing the run
    counts as interrupted.

    Exit code 0: every graded task passed. 1: a task failed. 2: the results are not the shards of one run.
    4: no graded task failed, but something else broke. 130: a shard is missing or did not end.
    """
    from waza_engine.commands.merge import merge_command

    raise typer.Exit(merge_command(shards, output, output_format, reporter or (), fail_under))


@record_commands.command(short_help="List or record reviews by people.")
def review(
    results: Annotated[
        Path, typer.Argument(metavar="RESULTS", help="A result file, or a suite for its newest results.")
    ] = Path(),
    task: Annotated[str | None, typer.Option(metavar="ID", help="The task, by id or name.")] = None,
    trial: Annotated[int | None, typer.Option(min=1, metavar="NUMBER", help="The trial of the task.")] = None,
    grader: Annotated[str | None, typer.Option(metavar="NAME", help="The name of the human grader.")] = None,
    verdict: Annotated[
        bool | None,
        typer.Option("--pass/--fail", help="Record this verdict; by default, list pending reviews."),
    ] = None,
    score: Annotated[
        float | None, typer.Option(metavar="NUMBER", help="The score, 0 to 1; by default 1 or 0.")
    ] = None,
    comment: Annotated[str, typer.Option(metavar="TEXT", help="The reason for the verdict.")] = "",
    reviewer: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The reviewer; by default $WAZA_REVIEWER, else your user name."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Also list finished reviews.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the answers that need a review by a person, or record a review next to the eval file.

    Exit code 0: done. 2: the results do not exist, or several answers match.
    """
    from waza_engine.commands.review import ReviewRequest, review_command

    request = ReviewRequest(results, task, trial, grader, verdict, score, comment, reviewer)
    raise typer.Exit(review_command(request, as_json=as_json, everything=everything))


@record_commands.command(short_help="Compare two or more runs.")
def compare(
    results: Annotated[
        list[Path],
        typer.Argument(metavar="RESULTS", help="Two or more result files or suites, the oldest first."),
    ],
    output_format: Annotated[
        ComparisonFormat, typer.Option("-f", "--format", help="table, or json (one object with every task).")
    ] = "table",
    everything: Annotated[bool, typer.Option("--all", help="Also show tasks that did not change.")] = False,
) -> None:
    """Compare two or more runs: scores, verdicts, and the change from the first to the last.

    Exit code 0: compared. 1: a task that passed in the first run fails in the last. 2: a file cannot be read.
    """
    from waza_engine.commands.compare import compare_command

    raise typer.Exit(compare_command(results, output_format, everything=everything))


@record_commands.command(short_help="Find the first turn where two runs of a task diverge.")
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
        ReportFormat, typer.Option("-f", "--format", help="text, or json (one object).")
    ] = "text",
) -> None:
    """Find the first turn where two runs of a task diverge, and show what differed before it.

    The command compares skill, model, executor, settings and the files that the task used, line by line if
    their content was recorded.

    Exit code 0: compared. 2: the task does not have two runs.
    """
    from waza_engine.commands.bisect import bisect_command

    raise typer.Exit(bisect_command(eval_file, task, results or (), output_format))


@record_commands.command(short_help="Show the last runs of a suite over time.")
def history(
    paths: Annotated[list[Path] | None, suites_argument()] = None,
    last: Annotated[int, typer.Option(min=1, metavar="NUMBER", help="The number of runs to show.")] = 10,
    output_format: Annotated[
        ReportFormat, typer.Option("-f", "--format", help="text, or json (one object).")
    ] = "text",
) -> None:
    """Show the last runs of suites: scores over time, flaky tasks, and when a task began to fail.

    Result files, also captures and trials of agent-eval-harness, are the runs of one history.

    Exit code 0: shown. 2: a suite has no results.
    """
    from waza_engine.commands.history import history_command

    raise typer.Exit(history_command(paths or (Path(),), last, output_format))


_WRONG_USE = 2


class _Gate(TyperCommand):
    """A command that uses exit code 2 for a result, and 3 for wrong arguments."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; exit with code 3 if one is wrong."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            if getattr(error, "exit_code", 0) == _WRONG_USE:
                error.exit_code = 3  # pyright: ignore[reportAttributeAccessIssue] - errors of usage have it
            raise


@record_commands.command(cls=_Gate, short_help="Fail when results regress against a baseline.")
def gate(
    baseline: Annotated[
        Path, typer.Option(metavar="RESULTS", help="The results to compare with: a file, or a suite.")
    ],
    current: Annotated[
        Path, typer.Option(metavar="RESULTS", help="The results to check: a file, or a suite.")
    ],
    max_regression_pct: Annotated[
        float,
        typer.Option(
            min=0.0, metavar="POINTS", help="The allowed drop of the pass rate, in percentage points."
        ),
    ] = 0.0,
    golden_must_pass: Annotated[
        bool,
        typer.Option(
            "--golden-must-pass", help="Fail if a task with `golden: true` does not pass, or is missing."
        ),
    ] = False,
    on_new_tasks: Annotated[
        TaskPolicy, typer.Option(help="How to treat tasks that the baseline does not have.")
    ] = "allow",
    on_removed_tasks: Annotated[
        TaskPolicy, typer.Option(help="How to treat tasks that only the baseline has.")
    ] = "warn",
    fail_under_trigger: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            metavar="SHARE",
            help="Fail with a smaller share of trigger prompts classified correctly, 0 to 1.",
        ),
    ] = None,
    min_pass_exp_k: Annotated[
        float | None,
        typer.Option(
            "--min-pass-exp-k",
            min=0.0,
            max=1.0,
            metavar="CHANCE",
            help="Fail if pass^k is lower: the mean chance that as many new trials of a task all pass.",
        ),
    ] = None,
    output_format: Annotated[
        GateFormat, typer.Option("-f", "--format", help="The format of the result.")
    ] = "human",
) -> None:
    """Fail when results regress against a baseline.

    Two directories with several suites are compared suite by suite.

    Exit code 0: no regression. 1: the pass rate or the score fell too far, the run is incomplete or in error,
    pass^k is too low, or a policy about new or removed tasks is violated. 2: a golden task did not pass or is
    missing. 3: the results cannot be read.
    """
    from waza_engine.commands.gate import gate_command
    from waza_engine.results.reports.gate import GateLimits

    limits = GateLimits(
        max_regression_pct,
        golden_must_pass,
        on_new_tasks,
        on_removed_tasks,
        fail_under_trigger,
        min_pass_exp_k,
    )
    raise typer.Exit(gate_command(baseline, current, limits, output_format))
