"""The commands of ``harness`` that ask no agent: they grade, show and compare what is there.

Architecture invariant: as ``application``, this module imports only types. A command imports the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Annotated, Any

import typer

import waza_engine.commands.harness_options as option
from waza_engine.terminal import complain, json_text, say

row_commands = typer.Typer()


@row_commands.command(short_help="Find the answers in what an agent printed.")
def extract(
    schema: option.Adapter,
    rows: option.Rows = option.STANDARD,
    output: option.Output = None,
    progress: option.Progress = False,
) -> None:
    """Write the answer and the steps in each row of `run`.

    Exit code 0: done. 1: an option or a file is wrong.
    """
    from waza_engine.harness.agent import load_adapter
    from waza_engine.harness.raw import extracted_rows
    from waza_engine.harness.rows import echo_ids, line_of, read_rows, write_out

    with option.clear_errors():
        adapter, warnings = load_adapter(schema)
        for warning in warnings:
            complain(f"warning: {warning}")
        extracted = extracted_rows(echo_ids(read_rows(rows), show=progress), adapter)
        write_out(map(line_of, extracted), output, sources=(rows, schema))


@row_commands.command(short_help="Grade rows with a grader file.")
def grade(
    grader: option.GraderFile,
    rows: option.Rows = option.STANDARD,
    output: option.Output = None,
    progress: option.Progress = False,
    fail_under: option.FailUnder = None,
) -> None:
    """Write each row with its `score`. A row that the grader cannot grade has the reason instead.

    Exit code 0: done, whatever the verdicts are. 1: an option or a file is wrong, or the pass rate is below
    --fail-under.
    """
    from waza_engine.harness.row_grading import HarnessGrader, Tally, graded_rows
    from waza_engine.harness.rows import line_of, write_out

    tally = Tally()
    with option.clear_errors(), HarnessGrader(grader) as judge:
        graded = graded_rows(rows, judge, tally, show=progress)
        write_out(map(line_of, graded), output, sources=(rows, grader))
    tally.complain()
    option.exit_below(tally, fail_under)


@row_commands.command("format", short_help="Write rows as CSV or Markdown.")
def format_rows(
    rows: option.Rows = option.STANDARD,
    style: Annotated[option.Style, typer.Option("-f", "--style", help="The format.")] = option.Style.JSONL,
    output: option.Output = None,
    progress: option.Progress = False,
) -> None:
    """Write rows as JSON Lines, Markdown or CSV.

    Exit code 0: done. 1: an option or a file is wrong.
    """
    from waza_engine.harness.rows import echo_ids, line_of, read_rows, write_out
    from waza_engine.harness.views import csv_lines, markdown_report

    with option.clear_errors():
        read = echo_ids(read_rows(rows), show=progress)
        match style:
            case option.Style.CSV:
                write_out(csv_lines(read), output, notation="markdown", sources=(rows,))
            case option.Style.MARKDOWN:
                write_out(markdown_report(read), output, notation="markdown", sources=(rows,))
            case option.Style.JSONL:
                write_out((line_of(row.block) for row in read), output, sources=(rows,))


@row_commands.command(short_help="Shorten captures.")
def summarize(
    rows: option.Results,
    output: option.Output = None,
    markdown: Annotated[bool, option.switch("--markdown", "Write Markdown.", "-m")] = False,
) -> None:
    """Write each capture shortened: its answer and tool calls, or with --markdown its numbered steps.

    Exit code 0: done. 1: an option or a file is wrong.
    """
    from waza_engine.harness.rows import Notes, read_rows, write_out
    from waza_engine.harness.views import summaries, summaries_in_markdown

    with option.clear_errors():
        shortened = (summaries_in_markdown if markdown else summaries)(read_rows(rows), Notes())
        write_out(shortened, output, notation="markdown" if markdown else "json", sources=(rows,))


@row_commands.command(short_help="Compare runs of the same prompts.")
def compare(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="LABEL:FILE", help="Two or more files of captures or trials."),
    ] = None,
    run: Annotated[
        list[str] | None, typer.Option(metavar="LABEL:FILE", help="One more file; repeatable.")
    ] = None,
    strategy: Annotated[
        option.Strategy | None,
        typer.Option("-s", "--strategy", help="How runs are ranked; by default weighted, with -g custom."),
    ] = None,
    grader: option.OptionalGrader = None,
    output: option.Output = None,
    style: Annotated[
        option.ReportStyle | None,
        typer.Option("-f", "--format", help="The format; by default markdown for a file `.md`, else json."),
    ] = None,
    input_format: Annotated[
        option.InputFormat, typer.Option(help="The kind of rows.")
    ] = option.InputFormat.AUTO,
    progress: option.Progress = False,
    seed: option.Seed = None,
) -> None:
    """Compare runs of the same prompts: quality, speed, reliability, and which run is ahead for each prompt.

    The weights of captures are COMPARE_QUALITY, COMPARE_LATENCY and COMPARE_RELIABILITY, those of trials
    COMPARE_CAPABILITY, COMPARE_RELIABILITY and COMPARE_CONSISTENCY.

    Exit code 0: done. 1: an option or a file is wrong.
    """
    from waza_engine.harness.comparison.compared_rows import loaded_runs
    from waza_engine.harness.comparison.comparison_markdown import comparison_in_markdown
    from waza_engine.harness.comparison.comparison_report import Comparison
    from waza_engine.harness.comparison.strategies import strategy_of
    from waza_engine.harness.rows import write_out
    from waza_engine.harness.views import encoded_lines

    with option.clear_errors(), ExitStack() as stack:
        kind = None if input_format == option.InputFormat.AUTO else input_format.value
        runs = loaded_runs([*(files or ()), *(run or ())], kind, stack, show=progress)
        rank = strategy_of(None if strategy is None else strategy.value, grader, runs, seed, stack)
        report = Comparison(runs, rank, seed, intervals=strategy == option.Strategy.STATISTICAL)
        sources = [grader, *(run.path for run in runs)]
        is_markdown_file = output is not None and output.suffix.lower() in (".md", ".markdown")
        if style == option.ReportStyle.MARKDOWN or (style is None and is_markdown_file):
            write_out(
                [encoded_lines(comparison_in_markdown(report))], output, notation="markdown", sources=sources
            )
        else:
            write_out(report.as_json(), output, sources=sources)


@row_commands.command(short_help="Sample failures to review the grader.")
def calibrate(
    rows: option.Results,
    output: option.Output = None,
    sample: Annotated[
        int, typer.Option("-s", "--sample", min=0, metavar="NUMBER", help="How many failures.")
    ] = 10,
    grader: option.OptionalGrader = None,
    seed: option.Seed = None,
    include_passes: Annotated[bool, option.switch("--include-passes", "Sample passes, too.")] = False,
) -> None:
    """Write a random sample of the failures as a report to fill in.

    A person decides for each whether the answer or the grader is wrong. With --grader each sample is graded
    again by another grader.

    Exit code 0: done; nothing is written when there is no failure. 1: an option or a file is wrong.
    """
    from waza_engine.harness.calibration import calibration_report, sampled_failures
    from waza_engine.harness.row_grading import HarnessGrader
    from waza_engine.harness.rows import Notes, read_rows, write_out

    with option.clear_errors(), ExitStack() as stack:
        judge = stack.enter_context(HarnessGrader(grader)) if grader else None
        samples = sampled_failures(read_rows(rows), sample, Notes(), seed=seed, passes=include_passes)
        if samples:
            write_out(calibration_report(samples, judge), output, notation="markdown", sources=(rows, grader))
        else:
            complain("There is no failure to review.")


@row_commands.command("validate-refs", short_help="Grade the reference answers of prompts.")
def validate_refs(
    prompts: option.Prompts,
    grader: option.GraderFile,
    output: option.Output = None,
    fail_under: option.FailUnder = None,
) -> None:
    """Write the verdict of a grader on each `reference`, an answer known to be good.

    Exit code 0: done, whatever the verdicts are. 1: an option or a file is wrong, or the pass rate is below
    --fail-under.
    """
    from waza_engine.harness.calibration import checked_references
    from waza_engine.harness.row_grading import HarnessGrader, Tally
    from waza_engine.harness.rows import Notes, line_of, prompts_in, write_out

    tally = Tally()
    with option.clear_errors(), HarnessGrader(grader) as judge:
        checked = checked_references(prompts_in(prompts, Notes()), judge, tally)
        write_out(map(line_of, checked), output, sources=(prompts, grader))
    tally.complain()
    option.exit_below(tally, fail_under)


@row_commands.command(short_help="Count prompts by category.")
def balance(
    prompts: option.Prompts,
    output: option.Output = None,
    key: Annotated[
        str, typer.Option("-k", "--key", metavar="KEY", help="The key in `metadata`.")
    ] = "category",
    threshold: Annotated[
        float,
        typer.Option(
            "-t", "--threshold", metavar="PERCENT", help="Report categories below this, of an even share."
        ),
    ] = 50,
) -> None:
    """Write how many prompts have each category, and which categories are underrepresented.

    Exit code 0: done. 1: an option or a file is wrong.
    """
    from waza_engine.harness.calibration import balance_of
    from waza_engine.harness.rows import Notes, prompts_in, write_out

    with option.clear_errors():
        analysis = balance_of(prompts_in(prompts, Notes()), key, threshold)
        write_out([_document(analysis)], output, sources=(prompts,))
        for suggestion in analysis["suggestions"]:
            complain(suggestion)


@row_commands.command(short_help="Write the JSON Schemas of the rows.")
def schemas(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="One schema, by name.")] = None,
    output: option.Output = None,
    as_json: Annotated[bool, option.switch("--json", "Write all schemas as one object.", "-j")] = False,
    split: Annotated[
        bool, option.switch("--split", "Write each schema to a file in the directory --output.", "-s")
    ] = False,
    list_names: Annotated[bool, option.switch("--list", "List the names.", "-l")] = False,
) -> None:
    """List the JSON Schemas of the rows, or write them.

    Exit code 0: done. 1: an option or a name is wrong.
    """
    from waza_engine.harness.rows import HarnessError, write_out
    from waza_engine.schemas.harness_schemas import SCHEMAS, schema_of
    from waza_engine.schemas.suite_schemas import schemas as schemas_of_suites

    exported = {each: schema_of(each) for each in SCHEMAS}
    # The harness itself does not export this one.
    found = {**exported, "Adapter": {**schemas_of_suites()["adapter.schema.json"], "title": "Adapter"}}
    with option.clear_errors():
        if name is not None and name not in found:
            raise HarnessError(f"There is no schema `{name}`; the names are {', '.join(found)}.")
        if list_names or (name is None and not as_json and not (split and output)):
            for each in found:
                say(f"  - {each}")
        elif name is not None:
            write_out([_document(found[name])], output)
        elif split and output is not None:
            for each, schema in found.items():
                write_out([_document(schema)], output / f"{each}.json")
        else:
            write_out([_document(exported)], output)


def _document(value: Mapping[str, Any]) -> bytes:
    return json_text(value, indent=2).encode("utf-8", "replace") + b"\n"
