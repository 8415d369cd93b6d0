"""``.waza.yaml``: the locations of a project's suites, and the defaults of its commands.

The nearest one counts, searched in the directory of the suite, then upwards.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from annotated_types import Le
from pydantic import Field

from waza_engine.spec.block import CamelBlock, misspelt
from waza_engine.spec.fields import (
    ListOfBlocks,
    NotNegative,
    PlainText,
    Positive,
    RequiredText,
    SchemaKeywords,
    Seconds,
    Switch,
    Text,
    WholeNumber,
    kind,
    matching,
    severity,
)
from waza_engine.spec.limits import MOST_WORKERS

_FILE_NAME = matching(r"^(?!\s*\.{1,2}\s*$)(?=.*\S)[^/\\]+$", "must be a file name without a directory")
_SUFFIX = matching(
    r"^(?!.*\.\.)[^/\\]*$", "must be a file name ending such as `.yaml`, without a directory or `..`"
)
_NOT_BLANK = matching(r"\S", "must not be blank")


WITHOUT_EFFECT = "nothing in this file has an effect then"
"""The effect of an unknown key: upstream drops the whole file."""


class Section(CamelBlock):
    """A section of `.waza.yaml`. Unknown keys are errors."""

    unknown_keys: ClassVar[Literal["warning", "error"]] = "error"
    unknown_key_effect: ClassVar = WITHOUT_EFFECT


class Paths(Section):
    """Where skills, suites and results are, relative to `.waza.yaml`."""

    skills: Annotated[Text, kind("path.suite")] = Field(
        default="skills/", description="Directory of the skills."
    )
    evals: Annotated[Text, kind("path.suite")] = Field(
        default="evals/", description="Directory of the suites, one directory a skill."
    )
    results: Text = Field(
        default="results/",
        description=(
            "Directory for a second copy of the results. With another value than the default each run writes "
            "one there, `<UTC time>/<model>.json`; they are kept in `.waza/results` beside the suite anyway."
        ),
    )


class Defaults(Section):
    """Defaults of the commands when neither a flag nor the suite sets a value."""

    misspellings: ClassVar = misspelt(
        {
            "engine": "executor",
            "judgeModel": "judge_model",
            "sessionLog": "session_log",
            "timeout": "timeout_seconds",
            "workers": "max_workers",
            "model": "model_name",
        }
    )

    engine: Annotated[
        Text,
        severity(
            "warning",
            enum=["", "copilot-sdk", "mock"],
        ),
    ] = Field(default="copilot-sdk", description="The executor that new suites are created with.")
    model: Annotated[Text, kind("model")] = Field(
        default="claude-sonnet-4.6", description="The model that new suites are created with."
    )
    judge_model: Annotated[Text, kind("model")] = Field(
        default="",
        description="The model of `prompt` graders that name none.",
        examples=["gpt-4o-mini"],
    )
    timeout: Seconds = Field(
        default=300, description="Time limit that new suites are created with, in seconds."
    )
    parallel: Switch = Field(default=False, description="Run tasks at the same time.")
    workers: Annotated[WholeNumber, NotNegative, Le(MOST_WORKERS)] = Field(
        default=0, description="How many at the same time; `0` chooses."
    )
    verbose: Switch = Field(default=False, description="Print more while running.")
    session_log: Switch = Field(
        default=False,
        description="Log every run to a file in `.waza/sessions` beside the suite.",
    )


class Cache(Section):
    """Results of unchanged tasks can be taken from a cache instead of running them again."""

    enabled: Switch = Field(default=False, description="Use the cache.")
    dir: Text = Field(default=".waza-cache", description="Directory of the cache.")


class Server(Section):
    """The dashboard."""

    port: Annotated[WholeNumber, Positive] = Field(default=3000, description="Its port.")
    results_dir: Text = Field(default="results/", description="Directory of the result files that it shows.")


class Development(Section):
    """The `dev` command, which improves a skill step by step."""

    model: Annotated[Text, kind("model")] = Field(
        default="claude-sonnet-4-20250514", description="The model that rewrites the skill."
    )
    target: Text = Field(
        default="medium-high", description="The adherence level to reach.", examples=["high"]
    )
    max_iterations: Annotated[WholeNumber, Positive] = Field(default=5, description="How many steps at most.")


_Limits = Annotated[
    dict[str, Annotated[WholeNumber, NotNegative]],
    SchemaKeywords(
        {
            "type": "object",
            "additionalProperties": {"type": "integer", "minimum": 0},
            "x-waza-key-kind": "glob",
        }
    ),
]


class TokenLimits(Section):
    """How many tokens a file may have, by pattern."""

    defaults: _Limits = Field(
        default_factory=dict[str, int], description="Limit by pattern.", examples=[{"*.md": 2000}]
    )
    overrides: _Limits = Field(
        default_factory=dict[str, int],
        description="Limits of single files; they win.",
        examples=[{"README.md": 5000}],
    )


class Tokens(Section):
    """When a skill file is too long."""

    warning_threshold: Annotated[WholeNumber, NotNegative] = Field(
        default=500,
        description="Number of tokens from which a skill file gets a warning.",
    )
    fallback_limit: Annotated[WholeNumber, NotNegative] = Field(
        default=1000, description="Limit of files that no pattern names."
    )
    limits: TokenLimits | None = Field(
        default=None,
        description="Limits by pattern. They replace the built-in ones as a whole.",
        examples=[{"defaults": {"*.md": 2000}}],
    )


class GraderDefaults(Section):
    """Settings of graders."""

    program_timeout: Seconds = Field(
        default=30,
        description="Time limit of a `program` grader without its own `timeout`, in seconds.",
    )


class Storage(Section):
    """Where results are uploaded."""

    provider: Text = Field(default="", description="The storage service.", examples=["azure-blob"])
    account_name: Text = Field(default="", description="Name of the account.", examples=["myaccount"])
    container_name: Text = Field(default="waza-results", description="Name of the container.")
    enabled: Switch = Field(default=False, description="Upload results.")


class Files(Section):
    """How the files of a suite are called."""

    eval_file: Annotated[PlainText, _FILE_NAME] = Field(
        default="eval.yaml",
        description="Name of the suite file. `eval.yaml` is still found where it is missing.",
    )
    task_glob: Annotated[PlainText, _NOT_BLANK, kind("glob")] = Field(
        default="tasks/*.yaml",
        description="Pattern of task files that new suites are created with.",
    )
    task_file_suffix: Annotated[PlainText, _SUFFIX] = Field(
        default=".yaml", description="How new task files end."
    )


class Registry(Section):
    """A place where upstream looks for published graders."""

    name: RequiredText = Field(description="Its name; no other has the same.", examples=["public"])
    url: RequiredText = Field(description="Where it is.", examples=["https://github.com/waza-evals"])
    priority: WholeNumber = Field(default=0, description="The highest one is asked first.", examples=[10])


class ProjectConfig(Section):
    """Settings of a project."""

    paths: Paths = Field(
        default_factory=Paths,
        description="Where skills, suites and results are.",
        examples=[{"evals": "evals/"}],
    )
    files: Files = Field(
        default_factory=Files,
        description="How the files of a suite are called.",
        examples=[{"evalFile": "eval.yaml"}],
    )
    defaults: Defaults = Field(
        default_factory=Defaults,
        description="Defaults of the commands.",
        examples=[{"judgeModel": "gpt-4o-mini"}],
    )
    cache: Cache = Field(
        default_factory=Cache, description="Reuse results of unchanged tasks.", examples=[{"enabled": True}]
    )
    server: Server = Field(default_factory=Server, description="The dashboard.", examples=[{"port": 3000}])
    dev: Development = Field(
        default_factory=Development, description="The `dev` command.", examples=[{"maxIterations": 5}]
    )
    tokens: Tokens = Field(
        default_factory=Tokens,
        description="When a skill file is too long.",
        examples=[{"warningThreshold": 500}],
    )
    graders: GraderDefaults = Field(
        default_factory=GraderDefaults, description="Settings of graders.", examples=[{"programTimeout": 60}]
    )
    storage: Storage = Field(
        default_factory=Storage, description="Where results are uploaded.", examples=[{"enabled": False}]
    )
    registries: ListOfBlocks[Registry] = Field(
        default=(),
        description="Where upstream looks for published graders. This engine does not look.",
        examples=[[{"name": "public", "url": "https://github.com/waza-evals"}]],
    )
