"""Execute the commands of ``harness``: files to rows, rows to files, and the exit code."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Literal, ParamSpec, TypeVar

from waza_engine.commands.requests_to_end import RequestsToEnd
from waza_engine.early_interruption import INTERRUPTED
from waza_engine.figures import reaches, shown_below
from waza_engine.harness.agent import Agent, AgentOptions, load_adapter
from waza_engine.harness.capturing import CaptureOptions, Capturing
from waza_engine.harness.grading import HarnessGrader, Tally, graded_rows
from waza_engine.harness.rows import (
    STANDARD_STREAM,
    HarnessError,
    Notes,
    Row,
    line_of,
    prompts_in,
    read_rows,
    write_out,
)
from waza_engine.processes.scope import ProcessScope, current_scope
from waza_engine.results.json_values import Json
from waza_engine.runs.settings.table import Budget
from waza_engine.terminal import Notation, complain, json_text, say

DONE, WRONG, LIMITED = 0, 1, 3
Parameters = ParamSpec("Parameters")
ItemT = TypeVar("ItemT")


def _with_clear_errors(command: Callable[Parameters, int]) -> Callable[Parameters, int]:
    """Report a ``HarnessError`` of a command and return its exit code."""

    @wraps(command)
    def carried_out(*args: Parameters.args, **kwargs: Parameters.kwargs) -> int:
        try:
            return command(*args, **kwargs)
        except HarnessError as error:
            complain(str(error))
            return WRONG

    return carried_out


@dataclass(frozen=True, slots=True)
class AgentFlags:
    """The options of a command that asks an agent; ``timeout`` is in milliseconds."""

    adapter: Path
    cwd: Path | None
    timeout: float | None
    workspaces: Path | None
    max_cost: float | None
    max_tokens: int | None


@contextmanager
def _agent(flags: AgentFlags) -> Generator[Agent]:
    """Give the agent of these options; Ctrl-C cancels it. Raises ``HarnessError``."""
    cwd = Path.cwd() if flags.cwd is None else flags.cwd
    if not cwd.is_dir():
        raise HarnessError(f"{cwd} is not a directory; name one with --cwd.")
    budget = Budget(flags.max_cost, flags.max_tokens)
    agent = Agent(AgentOptions(flags.adapter, cwd.absolute(), flags.timeout, flags.workspaces, budget))
    for warning in agent.warnings:
        complain(f"warning: {warning}")
    requests = RequestsToEnd(lambda: threading.Thread(target=agent.cancellation.request).start())
    requests.heed()
    try:
        yield agent
    finally:
        requests.run_is_over()
        agent.close()


@_with_clear_errors
def capture_command(
    flags: AgentFlags,
    prompts: Path | None,
    grader: Path | None,
    *,
    trials: int,
    concurrency: int,
    output: Path | None,
    stdin: bool,
    append: bool,
    resume: bool,
    progress: bool,
    debug: bool,
    fail_under: float | None,
) -> int:
    """Capture answers, several for each prompt if there are ``trials``."""
    output = None if output == STANDARD_STREAM else output
    if resume and (output is None or append):
        raise HarnessError("--resume needs --output with a file, and not --append.")
    if fail_under is not None and grader is None:
        raise HarnessError("--fail-under needs --grader: nothing else gives a verdict.")
    if stdin == (prompts is not None):
        raise HarnessError("Name the file of the prompts, or read them with --stdin, not both.")
    source = STANDARD_STREAM if prompts is None else prompts
    asked = list(prompts_in(source, Notes()))
    if not asked and source == STANDARD_STREAM:
        raise HarnessError("There is no prompt on standard input.")
    with ExitStack() as stack:
        judge = stack.enter_context(HarnessGrader(grader, most=concurrency)) if grader else None
        agent = stack.enter_context(_agent(flags))
        if judge is not None:
            agent.cancellation.on_request(judge.close)
        options = CaptureOptions(trials, concurrency, output, resume, progress, debug)
        capturing = Capturing(agent, asked, judge, options)
        capturing.prepare()
        write_out(map(line_of, capturing.rows()), output, append=append or resume)
        if agent.cancellation.requested:
            return INTERRUPTED
        if agent.limit:
            complain(f"{agent.limit}; what was finished is written.")
            return LIMITED
    return _code_of(capturing.tally, fail_under)


@_with_clear_errors
def run_command(
    prompts: Path,
    flags: AgentFlags | None,
    simple: str | None,
    shell: str | None,
    seconds: float,
    output: Path | None,
    *,
    progress: bool,
) -> int:
    """Write what an agent prints."""
    from waza_engine.harness.agent import StoppedError
    from waza_engine.harness.raw import (
        printed_by_agent,
        printed_by_shell,
        raw_rows,
        shell_template,
        simple_command,
    )

    with ExitStack() as stack:
        if flags is not None:
            printed = printed_by_agent(stack.enter_context(_agent(flags)))
        elif simple is not None:
            printed = printed_by_shell(simple_command(simple), seconds)
        elif shell is not None:
            printed = printed_by_shell(shell_template(shell), seconds)
        else:
            raise HarnessError("One of --schema, --simple and --shell is needed.")
        scope = ProcessScope()
        stack.callback(scope.close)
        current_scope.set(scope)
        rows = raw_rows(
            _shown(prompts_in(prompts, Notes()), lambda prompt: prompt.id, show=progress), printed
        )
        try:
            write_out(map(line_of, rows), output, sources=(prompts,))
        except StoppedError:
            return INTERRUPTED
    return DONE


@_with_clear_errors
def extract_command(rows: Path, schema: Path, output: Path | None, *, progress: bool) -> int:
    """Write the answers in raw rows."""
    from waza_engine.harness.raw import extracted_rows

    adapter, warnings = load_adapter(schema)
    for warning in warnings:
        complain(f"warning: {warning}")
    extracted = extracted_rows(_shown(read_rows(rows), _id_of, show=progress), adapter)
    write_out(map(line_of, extracted), output, sources=(rows,))
    return DONE


@_with_clear_errors
def grade_command(
    rows: Path, grader: Path, output: Path | None, fail_under: float | None, *, progress: bool
) -> int:
    """Write rows with their scores."""
    tally = Tally()
    with HarnessGrader(grader) as judge:
        write_out(map(line_of, graded_rows(rows, judge, tally, progress)), output, sources=(rows,))
    tally.complain()
    return _code_of(tally, fail_under)


@_with_clear_errors
def format_command(rows: Path, style: str, output: Path | None, *, progress: bool) -> int:
    """Write rows in another format."""
    from waza_engine.harness.views import csv_lines, markdown_report

    read = _shown(read_rows(rows), _id_of, show=progress)
    parts: Iterable[bytes]
    notation: Notation = "markdown"
    match style:
        case "csv":
            parts = csv_lines(read)
        case "markdown":
            parts = markdown_report(read)
        case _:
            parts, notation = (line_of(row.block) for row in read), "json"
    write_out(parts, output, notation=notation, sources=(rows,))
    return DONE


@_with_clear_errors
def compare_command(
    files: Sequence[str],
    strategy: str | None,
    grader: Path | None,
    output: Path | None,
    style: str | None,
    kind: Literal["capture", "trials"] | None,
    seed: int | None,
    *,
    progress: bool,
) -> int:
    """Write the report of a comparison."""
    from waza_engine.harness.comparison.markdown import comparison_in_markdown
    from waza_engine.harness.comparison.records import LoadedRun, named_runs
    from waza_engine.harness.comparison.report import capture_report, trials_report
    from waza_engine.harness.comparison.strategies import custom, statistical, weighted
    from waza_engine.harness.views import encoded_lines

    strategy = strategy or ("weighted" if grader is None else "custom")
    if (strategy == "custom") != (grader is not None):
        raise HarnessError("--grader and --strategy custom need each other.")
    with ExitStack() as stack:
        runs = [
            stack.enter_context(LoadedRun(run, kind))
            for run in _shown(named_runs(files), lambda run: str(run.path), show=progress)
        ]
        if len({run.kind for run in runs}) > 1:
            kinds = ", ".join(f"`{run.label}` has {run.kind}" for run in runs)
            raise HarnessError(f"The files do not have the same kind of rows: {kinds}.")
        if grader is not None:
            rank = custom(grader, runs, stack)
        else:
            rank = statistical(random.Random(seed)) if strategy == "statistical" else weighted()
        make = trials_report if runs[0].kind == "trials" else capture_report
        report = make(runs, rank, seed, intervals=strategy == "statistical")
    is_markdown_file = output is not None and output.suffix.lower() in (".md", ".markdown")
    if (style or ("markdown" if is_markdown_file else "json")) == "markdown":
        write_out([encoded_lines(comparison_in_markdown(report))], output, notation="markdown")
    else:
        write_out([_document(report)], output)
    return DONE


@_with_clear_errors
def summarize_command(rows: Path, output: Path | None, *, markdown: bool) -> int:
    """Write captures shortened."""
    from waza_engine.harness.views import summaries, summaries_in_markdown

    shortened = summaries_in_markdown if markdown else summaries
    write_out(
        shortened(read_rows(rows), Notes()),
        output,
        notation="markdown" if markdown else "json",
        sources=(rows,),
    )
    return DONE


@_with_clear_errors
def calibrate_command(
    rows: Path,
    output: Path | None,
    sample: int,
    grader: Path | None,
    seed: int | None,
    *,
    include_passes: bool,
) -> int:
    """Write a report on sampled failures."""
    from waza_engine.harness.review import calibration_report, sampled_failures

    with ExitStack() as stack:
        judge = stack.enter_context(HarnessGrader(grader)) if grader else None
        samples = sampled_failures(read_rows(rows), sample, Notes(), seed=seed, passes=include_passes)
        if not samples:
            complain("There is no failure to review.")
            return DONE
        write_out(calibration_report(samples, judge), output, notation="markdown", sources=(rows,))
    return DONE


@_with_clear_errors
def validate_refs_command(prompts: Path, grader: Path, output: Path | None, fail_under: float | None) -> int:
    """Write the verdicts on reference answers."""
    from waza_engine.harness.review import checked_references

    tally = Tally()
    with HarnessGrader(grader) as judge:
        checked = checked_references(prompts_in(prompts, Notes()), judge, tally)
        write_out(map(line_of, checked), output, sources=(prompts,))
    tally.complain()
    return _code_of(tally, fail_under)


@_with_clear_errors
def balance_command(prompts: Path, output: Path | None, key: str, threshold: float) -> int:
    """Write how many prompts have each value of a metadata key."""
    from waza_engine.harness.review import balance_of

    analysis = balance_of(prompts_in(prompts, Notes()), key, threshold)
    write_out([_document(analysis)], output)
    for category in analysis["categories"]:
        complain(f"  {category['name']}: {category['count']} ({category['percentage']}%)")
    for suggestion in analysis["suggestions"]:
        complain(f"  - {suggestion}")
    return DONE


@_with_clear_errors
def schemas_command(
    name: str | None, output: Path | None, *, as_json: bool, split: bool, list_names: bool
) -> int:
    """List the schemas or write them."""
    from waza_engine.harness.schemas import OWN_NAMES, SCHEMAS, schema_of

    names = (*SCHEMAS, *OWN_NAMES)
    if list_names or (name is None and not as_json and not (split and output)):
        for each in names:
            say(f"  - {each}")
        return DONE
    if name is not None and name not in names:
        raise HarnessError(f"There is no schema `{name}`; the names are {', '.join(names)}.")
    if name is not None:
        write_out([_document(schema_of(name))], output)
    elif split and output is not None:
        for each in names:
            write_out([_document(schema_of(each))], output / f"{each}.json")
        complain(f"{len(names)} schemas written to {output}")
    else:
        write_out([_document({each: schema_of(each) for each in SCHEMAS})], output)
    return DONE


def _document(value: Json) -> bytes:
    return json_text(value, indent=2).encode("utf-8", "replace") + b"\n"


def _shown(items: Iterable[ItemT], name_of: Callable[[ItemT], str], *, show: bool) -> Iterator[ItemT]:
    """Yield the items; ``show`` prints their names on standard error."""
    for item in items:
        if show:
            complain(name_of(item))
        yield item


def _id_of(row: Row) -> str:
    return str(row.block.get("id"))


def _code_of(tally: Tally, fail_under: float | None) -> int:
    if fail_under is None or reaches(tally.rate, fail_under):
        return DONE
    rate, least = shown_below(tally.rate, fail_under)
    complain(f"The pass rate {rate} is below {least}.")
    return WRONG
