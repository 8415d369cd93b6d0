"""The settings of a run: one table, from which the command line, JSON-RPC and written requests are made.

A setting is a field of ``RunSettings`` with its row. Light: ``--help`` loads this and no models.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, cast, get_args, get_type_hints

from waza_engine.spec.limits import LONGEST_SECONDS, MOST_TRIALS, MOST_WORKERS

RETRIES = ("lost", "errors", "failed")
"""The trials of an earlier run that may run again: cut off while they were paid for, broken, failed."""

SettingKind = Literal["texts", "text", "number", "amount", "choice", "flag", "path"]
"""The type of a setting's value.

In order: a list of strings, a string, a whole number, a number, yes or no or as in the suite, a switch, a
path.
"""


@dataclass(frozen=True, slots=True)
class Setting:
    """The row of a setting; ``setting_rows`` adds what follows from its type and its option.

    ``option`` is its name on the command line, ``parameter`` that in JSON-RPC, by default that of the option;
    "" where it cannot be given, as in JSON-RPC if it is not ``remote``. ``minimum`` and ``maximum`` hold for
    numbers. A ``recorded`` setting decides the numbers of a run, so its results store it as requested;
    settings that a suite may have too are stored with their final value (``options.py``).
    """

    help: str
    option: str = ""
    parameter: str = ""
    remote: bool = True
    metavar: str = ""
    minimum: int = 0
    maximum: int | None = None
    recorded: bool = False
    kind: SettingKind = "text"


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that a run may spend: US dollars, and tokens in and out. None is no limit."""

    max_cost_usd: float | None = None
    max_tokens: int | None = None

    @property
    def limited(self) -> bool:
        """Return whether there is a limit at all."""
        return self.max_cost_usd is not None or self.max_tokens is not None


@dataclass(frozen=True, slots=True)
class RunSettings:
    """The settings that the caller of a run requests; an option overrides the suite.

    None keeps the value of the suite or ``.waza.yaml``. ``tasks`` are globs on ids and names, ``tags`` on
    tags, ``graders`` exact names, ``prompts`` trigger prompts, or globs on them. ``timeout_seconds`` applies
    to every task. With a ``session_directory`` a log is written. ``judge_executor`` runs the judges, instead
    of the executor of the agent. With ``resume`` the run of ``record``, or the newest that did not end, goes
    on; ``retry`` are kinds of its trials that run again (``resuming.py``).
    """

    path: Path
    tasks: Annotated[
        tuple[str, ...],
        Setting(
            "Run only tasks whose id or name matches this pattern; repeatable.", "--task", parameter="tasks"
        ),
    ] = ()
    tags: Annotated[
        tuple[str, ...],
        Setting("Run only tasks with a tag that matches this pattern; repeatable.", "--tags", recorded=True),
    ] = ()
    prompts: Annotated[
        tuple[str, ...],
        Setting(
            "Run only trigger prompts that match this text or pattern, and no tasks; repeatable.",
            "--prompt",
            parameter="prompts",
            recorded=True,
        ),
    ] = ()
    changed_since: Annotated[
        str | None,
        Setting(
            "Run only tasks that are affected by changes in git since this commit.",
            "--changed-since",
            metavar="COMMIT",
            recorded=True,
        ),
    ] = None
    graders: Annotated[
        tuple[str, ...],
        Setting(
            "Run only graders with this name; repeatable.", "--grader", parameter="graders", metavar="NAME"
        ),
    ] = ()
    executor: Annotated[str | None, Setting("Override the suite's executor.", "--executor")] = None
    # The command takes several models and makes a run of each.
    model: Annotated[str | None, Setting("Override the suite's model.", parameter="model")] = None
    judge_model: Annotated[
        str | None, Setting("The model of judges that do not name one.", "--judge-model")
    ] = None
    judge_executor: Annotated[
        str | None,
        Setting("The executor of judges, if it differs from the agent's.", "--judge-executor", recorded=True),
    ] = None
    trials: Annotated[
        int | None,
        Setting("Override the number of trials of each task.", "--trials", minimum=1, maximum=MOST_TRIALS),
    ] = None
    workers: Annotated[
        int | None,
        Setting(
            "Override how many trials run at the same time.", "--workers", minimum=1, maximum=MOST_WORKERS
        ),
    ] = None
    # The caller opens it, and passes its backend to `prepare`.
    cluster: Annotated[
        str | None,
        Setting(
            "Run the trials in worker processes: started here, of a scheduler, or as a file says.",
            "--cluster",
            metavar="local[:NUMBER]|ADDRESS|FILE",
        ),
    ] = None
    parallel: Annotated[bool | None, Setting("Run trials in parallel.", "--parallel/--no-parallel")] = None
    timeout_seconds: Annotated[
        int | None,
        Setting(
            "Override the time limit of an agent call, for all tasks.",
            "--timeout",
            metavar="SECONDS",
            minimum=1,
            maximum=LONGEST_SECONDS,
            recorded=True,
        ),
    ] = None
    fail_fast: Annotated[
        bool | None, Setting("Stop after the first task that does not pass.", "--fail-fast/--no-fail-fast")
    ] = None
    max_cost_usd: Annotated[
        float | None,
        Setting(
            "Stop when agent and judges have cost this many US dollars.",
            "--max-cost",
            metavar="USD",
            recorded=True,
        ),
    ] = None
    max_tokens: Annotated[
        int | None,
        Setting("Stop when agent and judges have used this many tokens.", "--max-tokens", recorded=True),
    ] = None
    # The command shares its option with `report`: a run that failed it must not pass it later.
    fail_under: Annotated[
        float | None, Setting("Fail if the score is below this value, 0 to 1.", recorded=True)
    ] = None
    fail_under_trigger: Annotated[
        float | None,
        Setting(
            "Fail if the trigger accuracy is below this value, 0 to 1.",
            "--fail-under-trigger",
            metavar="SHARE",
            recorded=True,
        ),
    ] = None
    baseline: Annotated[
        bool | None,
        Setting("Run everything a second time without skills, and compare.", "--baseline/--no-baseline"),
    ] = None
    cache: Annotated[
        bool | None, Setting("Reuse the results of unchanged tasks.", "--cache/--no-cache", recorded=True)
    ] = None
    cache_directory: Annotated[
        Path | None, Setting("The cache directory, instead of .waza-cache next to .waza.yaml.", "--cache-dir")
    ] = None
    context_directory: Annotated[
        Path | None, Setting("The fixtures directory of tasks that do not name one.", "--context-dir")
    ] = None
    skip_graders: Annotated[
        bool,
        Setting(
            "Record answers only; grade them later with `waza-engine grade`.", "--skip-graders", recorded=True
        ),
    ] = False
    keep_workspace: Annotated[
        bool, Setting("Keep the workspaces; the results name their directories.", "--keep-workspace")
    ] = False
    transcript_directory: Annotated[
        Path | None,
        Setting("Write a transcript of each task to this directory.", "--transcript-dir", remote=False),
    ] = None
    session_log: Annotated[
        bool | None,
        Setting(
            "Log the run to .waza/sessions, one JSON object per line.",
            "--session-log/--no-session-log",
            remote=False,
        ),
    ] = None
    session_directory: Annotated[
        Path | None, Setting("Log the run to this directory instead.", "--session-dir", remote=False)
    ] = None
    no_skills: Annotated[bool, Setting("Run without skills.", "--no-skills")] = False
    shard: Annotated[
        str | None,
        Setting(
            "Run only this part of the tasks, such as 2/5; `waza-engine merge` joins the results.",
            "--shard",
            remote=False,
            metavar="NUMBER/OF",
        ),
    ] = None
    shard_by: Annotated[
        str | None,
        Setting(
            "How tasks are dealt out: history balances recorded durations; by default by their ids.",
            "--shard-by",
            remote=False,
            metavar="WAY",
        ),
    ] = None
    resume: Annotated[
        bool,
        Setting(
            "Go on with a run that did not end: the newest, or that of a result file or run id in PATH.",
            "--resume",
            remote=False,
        ),
    ] = False
    record: Annotated[Path | None, Setting("The result file to go on with.")] = None
    retry: Annotated[
        tuple[str, ...],
        Setting(
            "With --resume, also run these trials again: lost, errors or failed; repeatable.",
            "--retry",
            remote=False,
            metavar="WHICH",
        ),
    ] = ()

    @property
    def budget(self) -> Budget:
        """The most that the run may spend."""
        return Budget(self.max_cost_usd, self.max_tokens)

    @property
    def limited(self) -> bool:
        """Return whether only a part of the suite is requested, regardless of changes."""
        return bool(self.tasks or self.graders or self.tags or self.prompts)

    @property
    def prompts_alone(self) -> bool:
        """Return whether trigger prompts are requested, and no task."""
        return bool(self.prompts) and not (self.tasks or self.graders or self.tags)

    def recorded(self) -> dict[str, Any]:
        """Return the settings as the results store them, by name; unset ones are false or None."""
        return {
            name: bool(value) if row.kind in ("choice", "flag") else _written(value)
            for name, row in setting_rows().items()
            if row.recorded
            for value in (getattr(self, name),)
        }

    def document(self) -> dict[str, Any]:
        """Return the settings as JSON, without those that the suite decides."""
        given = {part.name: getattr(self, part.name) for part in fields(self)}
        defaults = {part.name: part.default for part in fields(self)}
        return {name: _written(value) for name, value in given.items() if value != defaults[name]}


@cache
def setting_rows() -> Mapping[str, Setting]:
    """Return the rows of the table by the name of their field, in order."""
    types = get_type_hints(RunSettings, include_extras=True)
    return {name: _completed(*get_args(found)) for name, found in types.items() if name != "path"}


_KINDS: Mapping[object, tuple[SettingKind, str]] = {
    tuple[str, ...]: ("texts", "PATTERN"),
    str | None: ("text", "NAME"),
    int | None: ("number", "NUMBER"),
    float | None: ("amount", ""),
    bool | None: ("choice", ""),
    bool: ("flag", ""),
    Path | None: ("path", "DIR"),
}
"""The kind of each type of a field, and how its value is shown on the command line."""


def _completed(value: object, row: Setting) -> Setting:
    kind, metavar = _KINDS[value]
    option = row.option.partition("/")[0].removeprefix("--").replace("-", "_")
    parameter = row.parameter or option if row.remote else ""
    return replace(row, kind=kind, metavar=row.metavar or metavar, parameter=parameter)


def settings_from(document: Mapping[str, Any]) -> RunSettings:
    """Return the settings that a document was made of. Raises ``KeyError`` and ``TypeError`` for another."""
    given = {name: _read(name, value) for name, value in document.items() if name != "path"}
    return RunSettings(Path(document["path"]), **given)


def _written(value: object) -> object:
    match value:
        case Path():
            return str(value)
        case tuple():
            return list(cast("tuple[object, ...]", value))
        case _:
            return value


def _read(name: str, value: Any) -> Any:
    match setting_rows()[name].kind:
        case "path":
            return Path(value)
        case "texts":
            return tuple(value)
        case _:
            return value
