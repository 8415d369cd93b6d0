"""The commands and their options.

Architecture invariant: this module imports only types and the table of run settings. A command imports the
rest when it runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from waza_engine.commands.harness import harness
from waza_engine.commands.new import new
from waza_engine.commands.record_commands import record_commands
from waza_engine.commands.shared_options import (
    AsJson,
    FailUnder,
    Graders,
    JudgeModel,
    Layout,
    OutputFormat,
    PreflightFormat,
    ReportFormat,
    SuiteOfRecord,
    Tasks,
    Workspace,
    executors_like,
    recorded,
    suites_argument,
    with_run_settings,
)
from waza_engine.runs.settings.table import RunSettings
from waza_engine.spec.limits import MOST_WORKERS
from waza_engine.terminal import complain, say, say_json
from waza_engine.vocabulary import Target

Tls = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="The certificates of the cluster, made by `cluster certificates`."),
]

Store = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Share trials and suite through an object store, for workers that share no folder.",
    ),
]

application = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Run evaluation suites for AI-agent skills: the engine behind waza-language-server.",
)

cluster_commands = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Prepare a cluster.")
application.add_typer(cluster_commands, name="cluster", short_help="Prepare a cluster.")


@application.command(short_help="Run suites.")
@with_run_settings
def run(
    settings: Mapping[str, Any],
    paths: Annotated[
        list[Path] | None,
        suites_argument(),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Override the suite's model; repeatable: one run for each model."),
    ] = None,
    recommend: Annotated[
        bool, typer.Option("--recommend", help="With several models: recommend one.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Also write the result document to this file; with several suites or models, one file each, "
            "named after them.",
        ),
    ] = None,
    output_format: Annotated[
        OutputFormat,
        typer.Option(
            "-f",
            "--format",
            help="text, json (the result document), jsonl (one event per line), or github (annotations).",
        ),
    ] = "text",
    reporter: Annotated[
        list[str] | None,
        typer.Option(metavar="junit:FILE", help="Also write the results as JUnit XML; repeatable."),
    ] = None,
    layout: Annotated[
        Layout | None,
        typer.Option(
            help="Also write grading.json, timing.json and benchmark.json, and the files of the agents, to "
            "the next <skill>-workspace/iteration-N next to the skill, for the viewer of skill-creator.",
        ),
    ] = None,
    fail_under: FailUnder = None,
    jobs: Annotated[
        int,
        typer.Option("-j", "--jobs", min=1, metavar="NUMBER", help="How many suites run at the same time."),
    ] = 1,
    failed: Annotated[
        bool, typer.Option("--failed", help="Run only what failed when it was last run.")
    ] = False,
    errors: Annotated[
        bool, typer.Option("--errors", help="Run only what broke when it was last run.")
    ] = False,
    watch: Annotated[
        bool,
        typer.Option(
            "--watch", help="Run what each change of a file affects, until Ctrl-C; only free executors."
        ),
    ] = False,
    live: Annotated[
        bool, typer.Option("--live", help="With --watch: grade the newest results again instead of running.")
    ] = False,
    env_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Read the keys that `provider.api_key_env` names and that are not set."
        ),
    ] = None,
    tls: Tls = None,
    store: Store = None,
    verbose: Annotated[
        bool | None,
        typer.Option("-v/ ", "--verbose/--no-verbose", help="Show every grader and the answers."),
    ] = None,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Show only what did not pass.")] = False,
    otel_exporter: Annotated[
        str,
        typer.Option(
            metavar="otlp|console|file", help="Export finished runs as OpenTelemetry traces (extra `otel`)."
        ),
    ] = "",
    otel_endpoint: Annotated[
        str,
        typer.Option(
            metavar="URL", help="The collector of `otlp`, over HTTP; by default as OTEL_EXPORTER_OTLP_* say."
        ),
    ] = "",
    otel_headers: Annotated[
        str, typer.Option(metavar="NAME=VALUE,...", help="Headers for the collector.")
    ] = "",
    otel_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The file of `file`: a JSON object for each span.")
    ] = None,
    otel_include_payloads: Annotated[
        bool,
        typer.Option(
            "--otel-include-payloads", help="Also export prompts, answers, tool arguments and feedback."
        ),
    ] = False,
    listener: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Pass the events to this listener of an installed package; repeatable."
        ),
    ] = None,
) -> None:
    """Run suites and write their results to .waza/results next to each eval file.

    A directory means its own suite or, without one, all suites below it. Several suites share one budget and
    end with a summary. When a run reaches its budget, it starts nothing more and writes the results of
    finished tasks.

    Exit code 0: every graded task passed; with --baseline, skills must also make a difference.
    1: a task failed. 2: a suite could not run. 3: the budget stopped the run. 4: no graded task failed,
    but something else broke: the agent, its provider or a grader. 130: interrupted. Of several suites, the
    worst code counts.
    """
    from waza_engine.commands.run import run_command
    from waza_engine.commands.run_again import RerunOptions, rerun
    from waza_engine.commands.telemetry import TelemetryOptions

    telemetry = TelemetryOptions(
        otel_exporter,
        otel_endpoint,
        otel_headers,
        otel_file,
        otel_include_payloads,
        tuple(listener or ()),
    )
    execute = partial(
        run_command,
        output=output,
        output_format=output_format,
        verbose=verbose,
        reporters=reporter or (),
        models=model or (),
        recommend=recommend,
        telemetry=telemetry,
        jobs=jobs,
        quiet=quiet,
        layout=layout or "",
        certificates=tls,
        store=store,
    )
    again = RerunOptions(failed, errors, watch, live, env_file)
    run_settings = RunSettings(Path(), fail_under=fail_under, **settings)
    raise typer.Exit(rerun(paths or (Path(),), run_settings, again, execute))


@application.command(short_help="Write a suite in the format of another tool.")
def convert(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="FROM",
            help="An eval.yaml (of waza or Vally), evals.json, trigger list, prompts.jsonl or results.",
        ),
    ],
    directory: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="The folder of the new files.")
    ],
    to: Annotated[Target | None, typer.Option("--to", help="The new format. By default waza.")] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Write nothing if anything is lost or differs.")
    ] = False,
    check: Annotated[
        bool,
        typer.Option("--check", help="Only say whether the source or a file in DIR has changed since."),
    ] = False,
    grader: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The grader of prompts.jsonl. Default: grader.* next to it."),
    ] = None,
    adapter: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The adapter of prompts.jsonl. Default: adapter.json next to it."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write a suite in the format of another tool, and list what is left out or differs.

    A result file becomes captures of agent-eval-harness (`--to harness`), and these a result file.

    Exit code 0: written, or with --check nothing has changed. 1: --strict found a loss, --check a change.
    2: the suite cannot be converted.
    """
    from waza_engine.commands.convert import check_command, convert_command

    if check:
        raise typer.Exit(check_command(source, directory, as_json=as_json))
    harness = {"grader": grader, "adapter": adapter}
    raise typer.Exit(
        convert_command(source, to, directory, strict=strict, force=force, as_json=as_json, **harness)
    )


@application.command(short_help="Execute trials of runs on other machines.")
def worker(
    address: Annotated[
        str,
        typer.Argument(metavar="ADDRESS", help="The scheduler, such as tls://host:8786."),
    ],
    slots: Annotated[
        int, typer.Option(min=1, max=MOST_WORKERS, metavar="NUMBER", help="How many trials at a time.")
    ] = 4,
    tls: Tls = None,
) -> None:
    """Execute trials that `waza-engine run --cluster` hands to a Dask scheduler, until that or this ends.

    Agents, programs and keys are those of this machine. The folder of the suite must be at the same path, on
    a disk that all machines share, unless the run has a `--store`.

    Exit code 0: it was ended. 2: it could not start.
    """
    from waza_engine.commands.cluster import worker_command

    raise typer.Exit(worker_command(address, tls, slots))


@cluster_commands.command("certificates", short_help="Make the certificates of a cluster.")
def cluster_certificates(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The new folder.")],
) -> None:
    """Make the certificates of a cluster, which scheduler, workers and coordinator share.

    Exit code 0: they are there. 2: they could not be written.
    """
    from waza_engine.commands.cluster import certificates_command

    raise typer.Exit(certificates_command(folder))


@cluster_commands.command("image", short_help="Write the recipe of an image for workers.")
def cluster_image(
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to a new file instead.")
    ] = None,
) -> None:
    """Print a Dockerfile for the scheduler and the workers of a cluster, with the versions of this machine.

    Exit code 0: it is written. 2: it could not be written.
    """
    from waza_engine.commands.cluster import image_command

    raise typer.Exit(image_command(output))


@cluster_commands.command("check", short_help="Check whether a cluster can run trials.")
def cluster_check(
    cluster: Annotated[str, typer.Argument(metavar="CLUSTER", help="As `run --cluster` takes it.")],
    tls: Tls = None,
    store: Store = None,
) -> None:
    """Open a cluster, and print its workers and how many trials they run at a time.

    Workers that get no trial are named, with the reason. With `--store`, an object is created and read by
    each worker.

    Exit code 0: it can run trials. 2: it cannot.
    """
    from waza_engine.commands.cluster import check_command

    raise typer.Exit(check_command(cluster, tls, store))


@cluster_commands.command("scheduler", short_help="Hand the trials of runs to workers.")
def cluster_scheduler(
    address: Annotated[
        str, typer.Argument(metavar="ADDRESS", help="Where to listen, such as tls://0.0.0.0:8786.")
    ],
    tls: Tls = None,
) -> None:
    """Hand the trials of runs to workers, until it is ended. It stores nothing, and needs no suite.

    Exit code 0: it was ended. 2: it could not start.
    """
    from waza_engine.commands.cluster import scheduler_command

    raise typer.Exit(scheduler_command(address, tls))


@application.command(short_help="Check offline whether suites can run.")
def preflight(
    paths: Annotated[list[Path] | None, suites_argument()] = None,
    context_dir: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The fixtures directory of tasks that do not name one.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Treat unknown results as failures.")] = False,
    output_format: Annotated[
        PreflightFormat, typer.Option("-f", "--format", help="human, or json (upstream's report).")
    ] = "human",
) -> None:
    """Check offline whether suites can run: skills, fixtures, graders, programs, judges and results.

    It starts no program, writes no file and uses no network. A run makes the same checks, and asks the
    provider, before it pays for anything.

    Exit code 0: no check failed. 1: a check failed or, with --strict, has an unknown result. 2: the suite
    does not exist.
    """
    from waza_engine.commands.preflight import preflight_command

    raise typer.Exit(preflight_command(paths or (Path(),), context_dir, output_format, strict=strict))


@application.command(short_help="Grade a recorded run again, without an agent.")
def grade(
    paths: Annotated[list[Path] | None, recorded("[RECORD|SKILL]...")] = None,
    suite: SuiteOfRecord = None,
    task: Tasks = None,
    grader: Graders = None,
    workspace: Workspace = None,
    judge_executor: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Ask the judges again with this executor; by default their verdicts stay.",
            autocompletion=executors_like,
        ),
    ] = None,
    judge_model: JudgeModel = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="Write the record with the new verdicts to this file."
        ),
    ] = None,
    output_format: Annotated[
        ReportFormat, typer.Option("-f", "--format", help="text, or json (one object with every grader).")
    ] = "text",
) -> None:
    """Grade recorded runs again with their suites as they are now, without an agent.

    Exit code 0: every task passes. 1: a task fails. 2: the record cannot be graded. 4: no graded task failed,
    but something else broke. 130: interrupted.
    """
    from waza_engine.commands.grade import grade_command
    from waza_engine.runs.regrading.regrade import RegradeRequest

    request = RegradeRequest(
        Path(), suite, tuple(task or ()), tuple(grader or ()), workspace, judge_executor, judge_model
    )
    raise typer.Exit(grade_command(paths or (Path(),), request, output, output_format))


@application.command(short_help="Run mutation tests on the graders.")
def strength(
    paths: Annotated[list[Path] | None, recorded("[EVAL|SKILL]...")] = None,
    suite: SuiteOfRecord = None,
    task: Tasks = None,
    grader: Graders = None,
    workspace: Workspace = None,
    seed: Annotated[int, typer.Option(metavar="NUMBER", help="Random seed of the mutations.")] = 0,
    references: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Labelled answers to compare the graders with."),
    ] = None,
    output_format: Annotated[
        ReportFormat,
        typer.Option("-f", "--format", help="text (a table), or json (one object with every grader)."),
    ] = "text",
) -> None:
    """Mutate the recorded answers and measure how many mutations each grader detects (mutation testing).

    A grader that passes every mutation is weak. The report also lists graders that fail the reference answer
    of a task, which is known to be good. With --references, labelled answers are graded too. The command
    starts no agent, judge or program.

    Exit code 0: no grader is weak. 1: a grader is weak, fails a reference, or disagrees with a label. 2: the
    record cannot be graded, or the labels cannot be used. 130: interrupted.
    """
    from waza_engine.commands.strength import strength_command
    from waza_engine.runs.regrading.regrade import RegradeRequest

    request = RegradeRequest(Path(), suite, tuple(task or ()), tuple(grader or ()), workspace)
    raise typer.Exit(strength_command(paths or (Path(),), request, output_format, seed, references))


@application.command("mcp", short_help="Serve a coding agent over the Model Context Protocol.")
def mcp(
    root: Annotated[
        Path, typer.Argument(metavar="ROOT", help="The directory whose suites the agent may read and fix.")
    ] = Path(),
    allow_run: Annotated[
        bool,
        typer.Option("--allow-run", help="Add tools that start agents, judges and the programs of a suite."),
    ] = False,
    max_cost: Annotated[
        float | None,
        typer.Option(metavar="USD", min=0, help="The budget of all runs of this session, in US dollars."),
    ] = None,
) -> None:
    """Serve a coding agent over the Model Context Protocol, on standard input and output.

    The agent can check and fix suites, look up graders and schemas, and ask why tasks failed. It can run
    suites only with --allow-run.

    Exit code 0: the agent closed the connection. 2: a package or the directory is missing.
    """
    from importlib.util import find_spec

    from waza_engine.executors.executor_types import installing, missing_packages

    if find_spec("mcp") is None:
        complain(f"`waza-engine mcp` needs more packages: {installing(missing_packages())}")
        raise typer.Exit(2)
    if not root.is_dir():
        complain(f"{root} is not a directory.")
        raise typer.Exit(2)
    from waza_engine.commands.coding_agents import serve_mcp

    serve_mcp(root, allow_run=allow_run, max_cost=max_cost)


application.registered_commands.extend(record_commands.registered_commands)


@application.command("list", short_help="List the suites in a directory, with their tasks.")
def list_suites(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The directory to search.")] = Path(),
    as_json: AsJson = False,
) -> None:
    """List the suites in a directory, with their tasks, or the reason why a suite cannot be used.

    Exit code 0: listed, even if there are none. 2: the directory does not exist.
    """
    from waza_engine.commands.listing import list_command

    raise typer.Exit(list_command(directory, as_json=as_json))


cache_commands = typer.Typer(no_args_is_help=True, help="Manage the cached results of unchanged tasks.")
application.add_typer(cache_commands, name="cache")
application.add_typer(new, name="new")
application.add_typer(harness, name="harness")


@application.command(short_help="Write the JSON Schemas of all suite files.")
def schema(
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the schemas to this directory.")
    ] = None,
    custom: Annotated[
        bool, typer.Option("--custom", help="Include the grader types of installed plug-ins.")
    ] = False,
) -> None:
    """Write the JSON Schemas of all suite files; without --out, print them as one object.

    Exit code 0: written. 2: they cannot be written.
    """
    from waza_engine.schemas.suite_schemas import schemas, write_schemas

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
        Path | None, typer.Option(metavar="DIR", help="The cache directory, instead of this directory's.")
    ] = None,
) -> None:
    """Delete the results that --cache stored.

    Exit code 0: deleted. 2: nothing was deleted, because the directory contains other files, or because only
    suites in its subdirectories have caches.
    """
    from waza_engine.commands.cache import clear_command

    raise typer.Exit(clear_command(cache_dir))


@application.command(short_help="Serve an editor over JSON-RPC.")
def serve() -> None:
    """Serve an editor: JSON-RPC 2.0 on standard input and output, one message per line.

    Exit code 0: the input ended, and every run was stopped.
    """
    from waza_engine.commands.serve import serve as serve_forever

    serve_forever()


@application.callback(invoke_without_command=True)
def options(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """Options of the command itself."""
    if version:
        from waza_engine.version import __version__

        say(f"waza-engine {__version__}")
        raise typer.Exit
