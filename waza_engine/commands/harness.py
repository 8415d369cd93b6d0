"""``waza-engine harness``, also ``waza-harness``: the commands of agent-eval-harness that ask agents.

Names, flags and defaults are those of agent-eval-harness 0.12. Long options without a short name that it
lacks are this engine's own: ``--fail-under``, ``--seed``, ``--resume``, ``--max-cost``, ``--max-tokens`` and
``--include-passes``.

Architecture invariant: as ``application``, this module imports only types. A command imports the rest.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import waza_engine.commands.harness_options as option
from waza_engine.commands.harness_rows import row_commands
from waza_engine.terminal import complain, say_lines

if TYPE_CHECKING:
    from waza_engine.harness.agent import Agent, AgentOptions

LIMITED = 3
harness = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Capture, grade and compare the answers of agents, as agent-eval-harness does.",
)


@harness.callback(invoke_without_command=True)
def show_help(context: typer.Context) -> None:
    """Show the help when no command is given."""
    if context.invoked_subcommand is None:
        say_lines(f"{context.get_help()}\n")


def _ask(
    schema: option.Adapter,
    prompts: option.OptionalPrompts = None,
    k: option.Trials = 5,
    output: option.Output = None,
    cwd: option.Cwd = None,
    timeout: option.Timeout = None,
    concurrency: option.Concurrency = 1,
    stdin: option.Stdin = False,
    workspace_dir: option.Workspaces = None,
    progress: option.Progress = False,
    append: option.Append = False,
    grader: option.OptionalGrader = None,
    debug: option.Debug = False,
    fail_under: option.FailUnder = None,
    resume: option.Resume = False,
    max_cost: option.MaxCost = None,
    max_tokens: option.MaxTokens = None,
) -> None:
    from waza_engine.early_interruption import INTERRUPTED
    from waza_engine.harness.agent import AgentOptions
    from waza_engine.harness.capturing import CaptureOptions, Capturing
    from waza_engine.harness.row_grading import HarnessGrader
    from waza_engine.harness.rows import HarnessError, Notes, check_output, line_of, prompts_in, write_out
    from waza_engine.runs.settings.table import Budget

    with option.clear_errors(), ExitStack() as stack:
        output = None if output == option.STANDARD else output
        if resume and (output is None or append):
            raise HarnessError("--resume needs --output with a file, and not --append.")
        if fail_under is not None and grader is None:
            raise HarnessError("--fail-under needs --grader: nothing else gives a verdict.")
        if stdin == (prompts is not None):
            raise HarnessError("Name the file of the prompts, or read them with --stdin, not both.")
        source = prompts or option.STANDARD
        check_output(output, (source, schema, grader))
        asked = list(prompts_in(source, Notes()))
        if not asked and source == option.STANDARD:
            raise HarnessError("There is no prompt on standard input.")
        judge = stack.enter_context(HarnessGrader(grader, most=concurrency)) if grader else None
        budget = Budget(max_cost, max_tokens)
        agent = stack.enter_context(
            _agent(AgentOptions(schema, _folder(cwd), timeout, workspace_dir, budget))
        )
        if judge is not None:
            agent.cancellation.on_request(judge.close)
        options = CaptureOptions(k, concurrency, output, resume, progress, debug)
        capturing = Capturing(agent, asked, judge, options)
        capturing.prepare()
        write_out(map(line_of, capturing.rows()), output, append=append or resume)
        if agent.limit and not capturing.is_complete:
            complain(f"{agent.limit}; what was finished is written.")
            raise typer.Exit(LIMITED)
        if not capturing.is_complete:
            raise typer.Exit(INTERRUPTED)
        option.exit_below(capturing.tally, fail_under)


_CODES = """

    Each row is written as soon as it is finished.

    Exit code 0: done, whatever the verdicts are. 1: an option or a file is wrong, or the pass rate is below
    --fail-under. 3: the budget stopped it. 130: interrupted.
"""


def _command(name: str, what: str, **fixed: Any) -> Callable[..., None]:
    """Return the command that asks, without the parameters that are ``fixed``."""
    command = functools.partial(_ask, **fixed)
    signature = inspect.signature(_ask, eval_str=True)
    left = [each for each in signature.parameters.values() if each.name not in fixed]
    command.__signature__ = signature.replace(parameters=left)  # pyright: ignore[reportAttributeAccessIssue]
    command.__annotations__ = {each.name: each.annotation for each in left}
    command.__name__ = name  # pyright: ignore[reportAttributeAccessIssue]
    command.__doc__ = f"{what}{_CODES}"
    return command


capture = harness.command("capture", short_help="Ask an agent every prompt and store its answers.")(
    _command("capture", "Ask an agent every prompt, and write its answers, steps and times.", k=0)
)
trials = harness.command("trials", short_help="Ask an agent every prompt several times.")(
    _command("trials", "Ask an agent every prompt several times; with a grader, compute pass@k and pass^k.")
)


@harness.command(short_help="Store what an agent prints, for `extract`.")
def run(
    prompts: option.Prompts = option.STANDARD,
    schema: option.OptionalAdapter = None,
    simple: Annotated[
        str | None,
        typer.Option(metavar="COMMAND", help="Run this command, with the prompt in place of `{}`."),
    ] = None,
    shell: Annotated[
        str | None, typer.Option(metavar="COMMAND", help="Run this command, with the prompt in `$PROMPT`.")
    ] = None,
    output: option.Output = None,
    cwd: option.Cwd = None,
    timeout: option.Timeout = None,
    progress: option.Progress = False,
) -> None:
    """Write the lines that an agent prints for each prompt; one of --schema, --simple and --shell is needed.

    Exit code 0: done. 1: an option or a file is wrong. 130: interrupted.
    """
    import waza_engine.harness.raw as raw
    from waza_engine.early_interruption import INTERRUPTED
    from waza_engine.harness.agent import DEFAULT_MILLISECONDS, AgentOptions, StoppedError
    from waza_engine.harness.rows import HarnessError, Notes, echo_ids, line_of, prompts_in, write_out

    with option.clear_errors(), ExitStack() as stack:
        milliseconds = timeout or DEFAULT_MILLISECONDS
        if schema is not None:
            agent = stack.enter_context(_agent(AgentOptions(schema, _folder(cwd), timeout)))
            printed = raw.printed_by_agent(agent)
        elif simple is not None:
            printed = raw.printed_by_shell(raw.simple_command(simple), milliseconds / 1000)
        elif shell is not None:
            printed = raw.printed_by_shell(raw.shell_template(shell), milliseconds / 1000)
        else:
            raise HarnessError("One of --schema, --simple and --shell is needed.")
        asked = echo_ids(prompts_in(prompts, Notes()), show=progress)
        try:
            write_out(map(line_of, raw.raw_rows(asked, printed)), output, sources=(prompts, schema))
        except StoppedError:
            raise typer.Exit(INTERRUPTED) from None


@harness.command(short_help="Serve an agent over standard input and output.")
def headless(
    schema: option.Adapter,
    verbose: Annotated[
        bool, option.switch("--verbose", "Print the lines of the agent on standard error.", "-v")
    ] = False,
) -> None:
    """Serve the agent of an adapter: JSON-RPC 2.0, one message a line.

    The methods are `initialize`, `session/new`, `session/load`, `session/prompt` and `session/cancel`; the
    steps of the agent are `session/update` notifications. All agents end when the input ends.

    Exit code 0: the input has ended. 1: an option or a file is wrong.
    """
    from waza_engine.harness.agent import Agent, AgentOptions
    from waza_engine.harness.headless import Headless
    from waza_engine.json_rpc_lines import serve_lines

    with option.clear_errors():
        agent = Agent(AgentOptions(schema, _folder(None)))
        for warning in agent.warnings:
            complain(f"warning: {warning}")
        serve_lines(lambda wire: Headless(wire, agent, verbose=verbose))


def _folder(cwd: Path | None) -> Path:
    from waza_engine.harness.rows import HarnessError

    folder = cwd or Path.cwd()
    if not folder.is_dir():
        raise HarnessError(f"{folder} is not a directory; name one with --cwd.")
    return folder.absolute()


@contextmanager
def _agent(options: AgentOptions) -> Generator[Agent]:
    """Yield an agent; Ctrl-C cancels it. Raises ``HarnessError``."""
    from waza_engine.commands.requests_to_end import RequestsToEnd
    from waza_engine.harness.agent import opened_agent

    with opened_agent(options) as agent:
        for warning in agent.warnings:
            complain(f"warning: {warning}")
        requests = RequestsToEnd(lambda: threading.Thread(target=agent.cancellation.request).start())
        requests.heed()
        try:
            yield agent
        finally:
            requests.run_is_over()


harness.registered_commands.extend(row_commands.registered_commands)
