"""The commands of agent-eval-harness and their options: ``waza-engine harness``, also ``waza-harness``.

Names, flags and defaults are those of agent-eval-harness 0.12. Long options without a short name that it
lacks are this engine's own: ``--fail-under``, ``--seed``, ``--resume``, ``--max-cost``, ``--max-tokens``,
``--include-passes``.

Architecture invariant: as ``application``, this module imports only types.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from waza_engine.terminal import say_lines

harness = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Capture, grade and compare the answers of agents, as agent-eval-harness does.",
)
_STANDARD = Path("-")


class Style(StrEnum):
    """The format of rows."""

    JSONL = "jsonl"
    MARKDOWN = "markdown"
    CSV = "csv"


class Strategy(StrEnum):
    """How runs are ranked."""

    WEIGHTED = "weighted"
    STATISTICAL = "statistical"
    CUSTOM = "custom"


class ReportStyle(StrEnum):
    """The format of a comparison."""

    JSON = "json"
    MARKDOWN = "markdown"


class InputFormat(StrEnum):
    """The kind of rows to compare."""

    AUTO = "auto"
    CAPTURE = "capture"
    TRIALS = "trials"


def _rows(metavar: str, what: str) -> typer.models.ArgumentInfo:
    return typer.Argument(metavar=metavar, help=f"{what}; `-` is standard input.", show_default=False)


Rows: TypeAlias = Annotated[Path, _rows("ROWS", "The rows, one JSON object a line")]
Results: TypeAlias = Annotated[Path, _rows("RESULTS", "The captures, one a line")]
Prompts: TypeAlias = Annotated[Path, _rows("PROMPTS", "The prompts, one a line")]
PromptsOrStdin: TypeAlias = Annotated[Path | None, _rows("PROMPTS", "The prompts, one a line")]
Output: TypeAlias = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="FILE", help="Write to this file, not to standard output."),
]
Adapter: TypeAlias = Annotated[
    Path, typer.Option("-s", "--schema", metavar="ADAPTER", help="The adapter of the agent's command line.")
]
GraderFile: TypeAlias = Annotated[
    Path, typer.Option("-g", "--grader", metavar="FILE", help="The grader: a module or a program.")
]
OptionalGrader: TypeAlias = Annotated[
    Path | None, typer.Option("-g", "--grader", metavar="FILE", help="The grader: a module or a program.")
]
Progress: TypeAlias = Annotated[bool, typer.Option("--progress", help="Show progress on standard error.")]
WorkingDirectory: TypeAlias = Annotated[
    Path | None, typer.Option("-c", "--cwd", metavar="DIR", help="The working directory of the agent.")
]
Timeout: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "-t",
        "--timeout",
        min=1,
        metavar="MS",
        help="The time limit of a turn; overrides prompts and adapter.",
    ),
]
Concurrency: TypeAlias = Annotated[
    int,
    typer.Option(
        "-j", "--concurrency", min=1, metavar="NUMBER", help="How many prompts run at the same time."
    ),
]
Stdin: TypeAlias = Annotated[bool, typer.Option("--stdin", help="Read the prompts from standard input.")]
Workspaces: TypeAlias = Annotated[
    Path | None,
    typer.Option("--workspace-dir", metavar="DIR", help="Give each prompt a directory in this one."),
]
Append: TypeAlias = Annotated[bool, typer.Option("--append", help="Add to the output file.")]
Debug: TypeAlias = Annotated[bool, typer.Option("--debug", help="Show the output of the agent.")]
FailUnder: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--fail-under", min=0.0, max=1.0, metavar="RATE", help="Exit with 1 if the pass rate is below this."
    ),
]
Resume: TypeAlias = Annotated[
    bool, typer.Option("--resume", help="Keep the finished rows of the output file and run the rest.")
]
MaxCost: TypeAlias = Annotated[
    float | None,
    typer.Option("--max-cost", min=0.0, metavar="USD", help="Stop when the agent has cost this much."),
]
MaxTokens: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--max-tokens", min=0, metavar="NUMBER", help="Stop when the agent has used this many tokens."
    ),
]
Seed: TypeAlias = Annotated[
    int | None, typer.Option("--seed", metavar="NUMBER", help="Draw the same random numbers each time.")
]


@harness.callback(invoke_without_command=True)
def show_help(context: typer.Context) -> None:
    """Show the help when no command is given."""
    if context.invoked_subcommand is None:
        say_lines(f"{context.get_help()}\n")


@harness.command(short_help="Ask an agent every prompt and store its answers.")
def capture(
    schema: Adapter,
    prompts: PromptsOrStdin = None,
    output: Output = None,
    cwd: WorkingDirectory = None,
    timeout: Timeout = None,
    concurrency: Concurrency = 1,
    stdin: Stdin = False,
    workspace_dir: Workspaces = None,
    progress: Progress = False,
    append: Append = False,
    grader: OptionalGrader = None,
    debug: Debug = False,
    fail_under: FailUnder = None,
    resume: Resume = False,
    max_cost: MaxCost = None,
    max_tokens: MaxTokens = None,
) -> None:
    """Ask an agent every prompt, and write its answers, steps and times as one JSON object a line.

    Each row is written as soon as it is finished.

    Exit code 0: done, whatever the verdicts are. 1: an option or a file is wrong, or the pass rate is below
    --fail-under. 3: the budget stopped it. 130: interrupted.
    """
    from waza_engine.commands.harness_work import AgentFlags, capture_command

    flags = AgentFlags(schema, cwd, timeout, workspace_dir, max_cost, max_tokens)
    code = capture_command(
        flags,
        prompts,
        grader,
        trials=0,
        concurrency=concurrency,
        output=output,
        stdin=stdin,
        append=append,
        resume=resume,
        progress=progress,
        debug=debug,
        fail_under=fail_under,
    )
    raise typer.Exit(code)


@harness.command(short_help="Ask an agent every prompt several times.")
def trials(
    schema: Adapter,
    prompts: PromptsOrStdin = None,
    k: Annotated[
        int, typer.Option("-k", min=1, metavar="NUMBER", help="How often each prompt is asked.")
    ] = 5,
    output: Output = None,
    cwd: WorkingDirectory = None,
    timeout: Timeout = None,
    concurrency: Concurrency = 1,
    stdin: Stdin = False,
    workspace_dir: Workspaces = None,
    progress: Progress = False,
    append: Append = False,
    grader: OptionalGrader = None,
    debug: Debug = False,
    fail_under: FailUnder = None,
    resume: Resume = False,
    max_cost: MaxCost = None,
    max_tokens: MaxTokens = None,
) -> None:
    """Ask an agent every prompt several times; with a grader each row has its pass rate, pass@k and pass^k.

    Exit code 0: done, whatever the verdicts are. 1: an option or a file is wrong, or the pass rate is below
    --fail-under. 3: the budget stopped it. 130: interrupted.
    """
    from waza_engine.commands.harness_work import AgentFlags, capture_command

    flags = AgentFlags(schema, cwd, timeout, workspace_dir, max_cost, max_tokens)
    code = capture_command(
        flags,
        prompts,
        grader,
        trials=k,
        concurrency=concurrency,
        output=output,
        stdin=stdin,
        append=append,
        resume=resume,
        progress=progress,
        debug=debug,
        fail_under=fail_under,
    )
    raise typer.Exit(code)


@harness.command(short_help="Store what an agent prints, for `extract`.")
def run(
    prompts: Rows = _STANDARD,
    schema: Annotated[
        Path | None, typer.Option("-s", "--schema", metavar="ADAPTER", help="Ask the agent of this adapter.")
    ] = None,
    simple: Annotated[
        str | None,
        typer.Option(metavar="COMMAND", help="Run this command, with the prompt in place of `{}`."),
    ] = None,
    shell: Annotated[
        str | None, typer.Option(metavar="COMMAND", help="Run this command, with the prompt in `$PROMPT`.")
    ] = None,
    output: Output = None,
    cwd: WorkingDirectory = None,
    timeout: Annotated[
        int, typer.Option("-t", "--timeout", min=1, metavar="MS", help="The time limit of a turn.")
    ] = 60_000,
    progress: Progress = False,
) -> None:
    """Write the lines that an agent prints for each prompt; one of --schema, --simple and --shell is needed.

    Exit code 0: done. 1: an option or a file is wrong. 130: interrupted.
    """
    from waza_engine.commands.harness_work import AgentFlags, run_command

    flags = None if schema is None else AgentFlags(schema, cwd, timeout, None, None, None)
    raise typer.Exit(run_command(prompts, flags, simple, shell, timeout / 1000, output, progress=progress))


@harness.command(short_help="Find the answers in what an agent printed.")
def extract(
    schema: Adapter, rows: Rows = _STANDARD, output: Output = None, progress: Progress = False
) -> None:
    """Write the answer and the steps in each row of `run`.

    Exit code 0: done. 1: an option or a file is wrong.
    """
    from waza_engine.commands.harness_work import extract_command

    raise typer.Exit(extract_command(rows, schema, output, progress=progress))


@harness.command(short_help="Grade rows with a grader file.")
def grade(
    grader: GraderFile,
    rows: Rows = _STANDARD,
    output: Output = None,
    progress: Progress = False,
    fail_under: FailUnder = None,
) -> None:
    """Write each row with its `score`. A row that the grader cannot grade has the reason instead.

    Exit code 0: done, whatever the verdicts are. 1: an option or a file is wrong, or the pass rate is below
    --fail-under.
    """
    from waza_engine.commands.harness_work import grade_command

    raise typer.Exit(grade_command(rows, grader, output, fail_under, progress=progress))


@harness.command("format", short_help="Write rows as CSV or Markdown.")
def format_rows(
    rows: Rows = _STANDARD,
    style: Annotated[Style, typer.Option("-f", "--style", help="The format.")] = Style.JSONL,
    output: Output = None,
    progress: Progress = False,
) -> None:
    """Write rows as JSON Lines, Markdown or CSV.

    Exit code 0: done. 1: an option or a file is wrong.
    """
    from waza_engine.commands.harness_work import format_command

    raise typer.Exit(format_command(rows, style.value, output, progress=progress))


@harness.command(short_help="Compare runs of the same prompts.")
def compare(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="LABEL:FILE...", help="Two or more files of captures or trials."),
    ] = None,
    run: Annotated[
        list[str] | None, typer.Option("--run", metavar="LABEL:FILE", help="One more file; repeatable.")
    ] = None,
    strategy: Annotated[
        Strategy | None,
        typer.Option("-s", "--strategy", help="How runs are ranked; by default weighted, with -g custom."),
    ] = None,
    grader: Annotated[
        Path | None, typer.Option("-g", "--grader", metavar="FILE", help="The grader that ranks the runs.")
    ] = None,
    output: Output = None,
    style: Annotated[
        ReportStyle | None,
        typer.Option("-f", "--format", help="The format; by default markdown for a file `.md`, else json."),
    ] = None,
    input_format: Annotated[
        InputFormat, typer.Option("--input-format", help="The kind of rows.")
    ] = InputFormat.AUTO,
    progress: Progress = False,
    seed: Seed = None,
) -> None:
    """Compare runs of the same prompts: quality, speed, reliability, and which run is ahead for each prompt.

    The weights of captures are COMPARE_QUALITY, COMPARE_LATENCY and COMPARE_RELIABILITY, those of trials
    COMPARE_CAPABILITY, COMPARE_RELIABILITY and COMPARE_CONSISTENCY.

    Exit code 0: done. 1: an option or a file is wrong.
    """
    from waza_engine.commands.harness_work import compare_command

    code = compare_command(
        [*(files or ()), *(run or ())],
        None if strategy is None else strategy.value,
        grader,
        output,
        None if style is None else style.value,
        None if input_format == InputFormat.AUTO else input_format.value,
        seed,
        progress=progress,
    )
    raise typer.Exit(code)


@harness.command(short_help="Shorten captures.")
def summarize(
    rows: Results,
    output: Output = None,
    markdown: Annotated[bool, typer.Option("-m", "--markdown", help="Write Markdown.")] = False,
) -> None:
    """Write each capture shortened: its answer and tool calls, or with --markdown its numbered steps.

    Exit code 0: done. 1: an option or a file is wrong.
    """
    from waza_engine.commands.harness_work import summarize_command

    raise typer.Exit(summarize_command(rows, output, markdown=markdown))


@harness.command(short_help="Sample failures to review the grader.")
def calibrate(
    rows: Results,
    output: Output = None,
    sample: Annotated[
        int, typer.Option("-s", "--sample", min=0, metavar="NUMBER", help="How many failures.")
    ] = 10,
    grader: OptionalGrader = None,
    seed: Seed = None,
    include_passes: Annotated[bool, typer.Option("--include-passes", help="Sample passes, too.")] = False,
) -> None:
    """Write a random sample of the failures as a report to fill in.

    A person decides for each whether the answer or the grader is wrong. With
    --grader each sample is graded again by another grader.

    Exit code 0: done; nothing is written when there is no failure. 1: an option or a file is wrong.
    """
    from waza_engine.commands.harness_work import calibrate_command

    code = calibrate_command(rows, output, sample, grader, seed, include_passes=include_passes)
    raise typer.Exit(code)


@harness.command("validate-refs", short_help="Grade the reference answers of prompts.")
def validate_refs(
    prompts: Prompts, grader: GraderFile, output: Output = None, fail_under: FailUnder = None
) -> None:
    """Write the verdict of a grader on each `reference`, an answer known to be good.

    Exit code 0: done, whatever the verdicts are. 1: an option or a file is wrong, or the pass rate is below
    --fail-under.
    """
    from waza_engine.commands.harness_work import validate_refs_command

    raise typer.Exit(validate_refs_command(prompts, grader, output, fail_under))


@harness.command(short_help="Count prompts by category.")
def balance(
    prompts: Prompts,
    output: Output = None,
    key: Annotated[
        str, typer.Option("-k", "--key", metavar="KEY", help="The key in `metadata`.")
    ] = "category",
    threshold: Annotated[
        float,
        typer.Option(
            "-t", "--threshold", metavar="PERCENT", help="The share of an even share that is too little."
        ),
    ] = 50,
) -> None:
    """Write how many prompts have each category, and which categories are underrepresented.

    Exit code 0: done. 1: an option or a file is wrong.
    """
    from waza_engine.commands.harness_work import balance_command

    raise typer.Exit(balance_command(prompts, output, key, threshold))


@harness.command(short_help="Write the JSON Schemas of the rows.")
def schemas(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="One schema, by name.")] = None,
    output: Output = None,
    as_json: Annotated[bool, typer.Option("-j", "--json", help="Write all schemas as one object.")] = False,
    split: Annotated[
        bool, typer.Option("-s", "--split", help="Write each schema to a file in the directory --output.")
    ] = False,
    list_names: Annotated[bool, typer.Option("-l", "--list", help="List the names.")] = False,
) -> None:
    """List the JSON Schemas of the rows, or write them.

    Exit code 0: done. 1: an option or a name is wrong.
    """
    from waza_engine.commands.harness_work import schemas_command

    raise typer.Exit(schemas_command(name, output, as_json=as_json, split=split, list_names=list_names))
