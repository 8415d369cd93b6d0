"""The ``config`` block of ``eval.yaml``: how often, how long, with which agent and model a suite runs."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from annotated_types import Le
from pydantic import Field

from waza_engine.spec.block import Block, misspelt
from waza_engine.spec.executors import EXECUTORS
from waza_engine.spec.fields import (
    AnyMap,
    AtMost,
    FixtureList,
    ListOf,
    Number,
    PathList,
    Positive,
    Seconds,
    SecondsOrOff,
    SkillNameList,
    Switch,
    Text,
    WholeNumber,
    kind,
    matching,
    severity,
)
from waza_engine.spec.limits import MOST_ATTEMPTS, MOST_TRIALS, MOST_WORKERS
from waza_engine.spec.schema_version import after_0_38

# A wrong value may be a secret, so the messages do not repeat it.
_ADDRESS = matching(
    r"^\s*https?://(\[[0-9A-Fa-f:.]+\]|[^\s/?#@:\[\]]+)(:[0-9]+)?(/[^\s?#]*)?\s*$",
    "must be a web address without a password, `?` and `#`, such as `http://127.0.0.1:11434/v1`",
    type="string",
)
_VARIABLE = matching(
    r"^\s*([A-Za-z_][A-Za-z0-9_]*)?\s*$",
    "must name an environment variable, not hold the key",
    type=["string", "boolean"],
)


Effort = Literal["low", "medium", "high", "xhigh", "max"]


class Provider(Block):
    """A model provider of one's own, for `copilot-sdk` and `openai`."""

    misspellings: ClassVar = misspelt(
        {
            "base_url": ("baseUrl", "url", "endpoint"),
            "api_key_env": ("api_key", "apiKey"),
            "wire_api": "wireApi",
        }
    )
    uncertain: ClassVar = frozenset({"api_key", "apiKey"})

    type: Literal["openai", "azure", "anthropic"] = Field(
        default="openai", description="The protocol of the server. The executor `openai` knows `openai` only."
    )
    base_url: Annotated[Text, _ADDRESS] = Field(
        description="Where it is, with the version in the path.", examples=["http://127.0.0.1:11434/v1"]
    )
    api_key_env: Annotated[Text, _VARIABLE] = Field(
        default="",
        description=(
            "The **name** of the environment variable that holds the key. Never write a key in a file. "
            "A server on this machine or in its network needs none."
        ),
        examples=["MY_PROVIDER_KEY"],
    )
    wire_api: Literal["completions", "responses"] = Field(
        default="completions", description="The interface of OpenAI that `copilot-sdk` uses."
    )


class EvalConfig(Block):
    """How the suite runs. The number of trials, the time limit and the executor must be given."""

    recommended: ClassVar = (
        {
            "key": "model",
            "severity": "hint",
            "why": (
                "the executor `openai` cannot do without it, others run a default model then, "
                "and results are hard to compare later"
            ),
        },
    )
    misspellings: ClassVar = misspelt(
        {
            "timeout_seconds": (
                "timeout",
                "timeout_sec",
                "timeoutSeconds",
                "max_time",
                "max_seconds",
                "time_limit",
            ),
            "trials_per_task": (
                "trials",
                "runs_per_test",
                "runs_per_task",
                "trialsPerTask",
                "repetitions",
                "repeat",
                "num_trials",
                "epochs",
                "iterations",
                "num_runs",
                "runs",
            ),
            "parallel": ("parallelism", "concurrent"),
            "executor": ("engine", "engine_type"),
            "model": ("model_id", "model_name", "llm"),
            "judge_model": ("grader_model", "judgeModel"),
            "fail_fast": ("failFast", "stop_on_error"),
            "skill_directories": ("skills_directories", "skill_dirs", "skill_directory"),
            "max_attempts": ("attempts", "retries", "max_retries"),
            "workers": ("num_workers", "concurrency", "max_concurrency"),
        }
    )
    # Two retries are three attempts.
    uncertain: ClassVar = frozenset({"retries", "max_retries", "max_time"})

    trials_per_task: Annotated[WholeNumber, Positive, Le(MOST_TRIALS)] = Field(
        description=(
            "How many times each task runs. "
            "More trials show whether a result is stable: a task that passes only in some of them is *flaky*."
        ),
        examples=[1, 3, 5],
        json_schema_extra={"x-waza-missing": "warning"},
    )
    pass_rate: Number = Field(
        default=1.0,
        gt=0,
        le=1,
        description=(
            "The share of its trials that a task needs to pass: `0.66` is 2 of 3. A task may set its own. "
            "Upstream does not know this key; there all trials must pass."
        ),
        examples=[0.66],
    )
    pass_score: Number | None = Field(
        default=None,
        ge=0,
        le=1,
        description=(
            "The score that the run needs to pass, instead of passing tasks: those that fail are reported, "
            "and fail nothing. Upstream does not know this key."
        ),
        examples=[0.8],
    )
    timeout_seconds: Seconds = Field(
        description=(
            "Time limit of one agent call, in seconds. "
            "A task may set its own `timeout_seconds`; every follow-up prompt gets the full time again."
        ),
        examples=[60, 300],
        json_schema_extra={"x-waza-missing": "warning"},
    )
    executor: Annotated[Text, kind("executor"), severity("warning", enum=list(EXECUTORS))] = Field(
        description=(
            "The executor answers the prompts.\n\n"
            + "".join(f"- `{name}`: {row.what}\n" for name, row in EXECUTORS.items())
            + "\nUpstream knows the first two."
        ),
        examples=["mock", "copilot-sdk"],
    )
    model: Annotated[Text, kind("model")] = Field(
        default="",
        description="The agent's model. Any name that the executor knows.",
        examples=["claude-sonnet-4.6"],
    )
    judge_model: Annotated[Text, kind("model")] = Field(
        default="",
        description="The model of `prompt` graders that name none themselves.",
        examples=["gpt-4o-mini"],
    )
    reasoning_effort: Effort | None = Field(
        default=None,
        description=(
            "How long the model of the agent, and of a `responder`, thinks before it answers: for "
            "`copilot-sdk` and `openai`, and for `command` when its adapter has a flag for it."
        ),
        examples=["high"],
        json_schema_extra=after_0_38(),
    )
    judge_reasoning_effort: Effort | None = Field(
        default=None,
        description="The same for judges, unless a `prompt` grader names its own.",
        examples=["low"],
        json_schema_extra=after_0_38(),
    )
    provider: Provider | None = Field(
        default=None,
        description=(
            "A model provider of your own, for `copilot-sdk` and `openai`: any OpenAI-compatible server, "
            "no GitHub login. Upstream takes it from the environment instead."
        ),
        examples=[{"base_url": "http://127.0.0.1:11434/v1"}],
    )
    workspace_tools: Annotated[tuple[Literal["read", "write", "list", "run"], ...], ListOf(texts=False)] = (
        Field(
            default=(),
            description=(
                "Tools that `openai` offers the model, all within the workspace, with the names and "
                "arguments of the Copilot agent.\n\n"
                "- `read`: `view` (`path`, `view_range`)\n"
                "- `write`: `create` (`path`, `file_text`) and `edit` (`path`, `old_str`, `new_str`)\n"
                "- `list`: `glob` (`pattern`, `path`)\n"
                "- `run`: `bash` (`command`, `description`), `powershell` on Windows. "
                "It starts programs with your rights: it is no sandbox.\n\n"
                "The tool `skill` is there whenever there are skills."
            ),
            examples=[["read", "list"]],
        )
    )
    adapter: Annotated[Text, kind("path.suite")] = Field(
        default="",
        description="For `command`: the JSON file that describes how to drive the agent's command line.",
        examples=["adapters/claude.json"],
    )
    recording: Annotated[Text, kind("path.suite")] = Field(
        default="",
        description=(
            "For `replay`: a result file or a transcript file of an earlier run. "
            "Without it the newest results of this suite are replayed."
        ),
        examples=["recordings/baseline.json"],
    )
    parallel: Switch = Field(default=False, description="Run several trials at the same time.")
    workers: Annotated[WholeNumber, AtMost(MOST_WORKERS), severity("warning", minimum=0)] = Field(
        default=0,
        description=(
            "How many trials run at the same time when `parallel` is `true`, of one task or of several. "
            "`0` chooses: the number of processors, at most 8."
        ),
        examples=[4],
    )
    max_workers: Annotated[WholeNumber, AtMost(MOST_WORKERS), severity("warning", minimum=0)] | None = Field(
        default=None,
        description="Older name of `workers`.",
        json_schema_extra={"deprecated": True, "x-waza-replaced-by": "workers"},
    )
    fail_fast: Switch = Field(
        default=False, description="Stop after the first task that fails; the others are skipped."
    )
    max_attempts: Annotated[WholeNumber, AtMost(MOST_ATTEMPTS), severity("warning", minimum=0)] = Field(
        default=1,
        description=(
            "How often a trial is tried at most, the first time included; the last attempt counts. "
            "A failed one is tried again at once, one that met a rate limit or a broken connection "
            "after a pause; other errors are not tried again. `0` means the same as `1`."
        ),
        examples=[2],
    )
    skill_directories: PathList = Field(
        default=(),
        description=(
            "Directories of skills that the agent may use, relative to the directory of `eval.yaml`: each "
            "is a skill, with a `SKILL.md` or an `.agent.md`, or holds skills one level below. `none` loads "
            "no skill. Without it the skills found below `paths.skills` of `.waza.yaml` are used, and the "
            "skill that the suite lies in."
        ),
        examples=[["../../skills"]],
    )
    required_skills: SkillNameList = Field(
        default=(),
        description=(
            "Skills that must be found in `skill_directories` before any task starts. Each entry is the "
            "`name` in the frontmatter of a `SKILL.md` in one of those directories, or one level below."
        ),
        examples=[["code-explainer"]],
    )
    disabled_skills: Annotated[tuple[Text, ...], ListOf("skill.name")] = Field(
        default=(),
        description=(
            "Skills to leave out: a directory of `skill_directories`, its base name, or one skill in it. "
            '`"*"` loads no skill at all, which shows what the agent can do without them.'
        ),
        examples=[["*"]],
    )
    inject_skill_body: Switch = Field(
        default=True,
        description=(
            "Put the whole text of the tested skill into the agent's instructions. `false` "
            "gives only its name and description, so that the agent has to decide by itself to load it."
        ),
    )
    trigger_skill_routing: Switch = Field(
        default=False,
        description=(
            "Tell the agent to load the tested skill when the task is one for it. It has an effect only with "
            "`inject_skill_body: false`, and shows whether an agent that looks finds the skill."
        ),
        json_schema_extra=after_0_38(),
    )
    instruction_files: FixtureList = Field(
        default=(),
        description=(
            "Files below the fixture directory that are copied into every workspace "
            "and added to the agent's instructions. A file that cannot be read ends the trial with an error."
        ),
        examples=[["AGENTS.md"]],
    )
    mcp_servers: AnyMap = Field(
        default_factory=dict[str, object],
        description=(
            "MCP servers for the agent, by name. `type` is `stdio` (the default, with `command` and `args`), "
            "`http` or `sse` (with `url`, `headers`). `${NAME}` stands for an environment variable, and "
            "`env` may be a list of names: never write a secret in a file. "
            "A mock of the same name in `mcp_mocks` takes its place."
        ),
        examples=[{"files": {"type": "stdio", "command": "npx", "args": ["mcp-files"]}}],
    )
    first_event_timeout_seconds: SecondsOrOff = Field(
        default=0,
        description=(
            "Give up when the agent sends no event within this many seconds after a prompt. "
            "`0` switches the check off."
        ),
        examples=[30],
    )
    group_by: Annotated[Text, severity("warning", enum=["", "model"])] = Field(
        default="", description="Group the results. Only `model` is known.", examples=["model"]
    )
    verbose: Switch = Field(
        default=False,
        description=(
            "Print more while running. Use the command's `--verbose`, or `defaults.verbose` of `.waza.yaml`."
        ),
        json_schema_extra={"deprecated": True},
    )
