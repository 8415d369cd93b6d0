"""The base of a grader type: its configuration model, its documentation and its grade.

A grader type is one file in this package. It declares a configuration model and a ``Grader`` subclass::

    @register
    class TextGrader(Grader[TextConfig]):
        '''Checks the agent's answer for substrings and patterns. (This docstring is the documentation.)'''

        type = "text"
        title = "Text"
        config_model = TextConfig
        example = '''
            - type: text
              name: mentions_deploy
              config:
                contains: [deployed to]
        '''

        def grade(self, context: GradingContext) -> Verdict: ...

The JSON Schema branch, completion, hover, ``docs/graders.md`` and the registry entry are derived from it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from waza_engine.frozen import frozen
from waza_engine.spec.block import Block
from waza_engine.spec.reading.suite_reader import DISK, SuiteFiles
from waza_engine.vocabulary import Check as Check
from waza_engine.vocabulary import ModelUsage as ModelUsage
from waza_engine.vocabulary import SkillInvocation as SkillInvocation
from waza_engine.vocabulary import ToolCall as ToolCall
from waza_engine.vocabulary import Usage as Usage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from waza_engine.assertions.evaluator import AssertionEvaluator
    from waza_engine.graders.judge import Judge
    from waza_engine.scoring.task_scores import Graded


class GraderConfig(Block):
    """Base of every grader's ``config`` block, and of the blocks inside it."""

    _without_one: ClassVar[str] = "nothing to check: "
    marks_nullable: ClassVar[bool] = False


class GraderError(Exception):
    """The grader cannot grade: a broken configuration, a path outside the workspace, a missing program.

    The run marks this one grader ``error`` with score 0 and keeps everything else (design, "broken grader").
    Its message is shown to the author as it is: one sentence that says what is wrong and what to write
    instead.
    """


class SurroundingsError(GraderError):
    """The grader cannot grade because of its surroundings: its judge's provider fails or is unreachable."""


@frozen()
class GradingContext:
    """The result of one trial, and the base of relative paths.

    ``tool_calls`` is None when there was no agent session at all (the "no session digest" of the reference);
    ``usage`` is None when the executor reports none; ``workspace`` is None when nothing was kept on disk.
    ``duration_ms`` is the trial's wall clock in milliseconds. ``judge`` is None when no executor can judge;
    ``session`` is the agent's session for a judge that continues it, and ``baseline_output`` the answer of
    the run without skills, None when there was none. ``turns`` are all prompts of a conversation, the first
    included. ``hint``, ``reference`` and ``metadata`` are the task's own values for its graders. Schemas,
    rubrics and snapshots are read through ``files``. ``verdicts`` are those of the graders before it.
    """

    output: str = ""
    transcript: Sequence[Mapping[str, Any]] = ()
    tool_calls: Sequence[ToolCall] | None = ()
    skill_invocations: Sequence[SkillInvocation] = ()
    usage: Usage | None = None
    duration_ms: int = 0
    prompt: str = ""
    workspace: Path | None = None
    suite_directory: Path = field(default_factory=Path.cwd)
    fixtures_directory: Path | None = None
    assertions: AssertionEvaluator | None = None
    program_timeout_seconds: float = 30.0
    task_id: str = ""
    task_name: str = ""
    task_description: str = ""
    judge: Judge | None = None
    session: str = ""
    baseline_output: str | None = None
    turns: Sequence[str] = ()
    hint: str = ""
    reference: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    files: SuiteFiles = DISK
    verdicts: Mapping[str, Graded] = field(default_factory=dict[str, "Graded"])


@frozen()
class Verdict:
    """A grader's verdict on one trial.

    ``score`` is 0..1; ``status`` is ``pending`` while a human review is missing.
    """

    score: float
    passed: bool
    feedback: str
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])
    checks: Sequence[Check] = ()
    status: str = "graded"


ConfigT = TypeVar("ConfigT", bound=GraderConfig)


class Grader(ABC, Generic[ConfigT]):
    """A grader type. An instance is one configured grader; ``grade`` may be called from several threads.

    ``entry_keys`` names config keys that may also be next to ``type`` (references A and B write ``rubric``
    and ``model`` of judges, and ``assertions`` of task-level graders there). ``other_names`` are those that
    other tools and older versions have for the type; the editor suggests it. ``replaced_by`` names the
    successor of a deprecated type; ``deprecation`` says what to change in a package whose type has none, in
    one sentence. ``warnings`` are the parts of the entry without effect (unknown keys), one
    sentence each.

    The class attributes describe the type to the engine, for plug-ins too:

    * ``judged``: it asks a model, which costs, so grading a record again keeps its verdict.
    * ``needs_workspace``: it cannot grade without the files that the agent left; when these are gone, grading
      a record again keeps its verdict.
    * ``reads_fixtures``: it reads the fixture folder; a cached verdict is valid while that is unchanged.
    * ``runs_program``: it starts a program, which may miss the agent's files when these are gone.
    * ``reads_disk``: it reads files other than through ``files``, so its verdict depends on these.
    * ``evaluates``: it evaluates expressions of the suite in a worker.
    * ``reviewed``: a person gives the verdict, again for each answer, so it is never taken from a cache.
    * ``reads_verdicts``: it judges the verdicts of the other graders of the trial.
    * ``judges_tool_choice``: a pass says that the agent chose its tools well; comparisons count how many do.
    * ``judges_skill_use``: it compares the skills that the agent used, so it cannot grade if an executor does
      not report them.
    """

    type: ClassVar[str]
    title: ClassVar[str]
    config_model: ClassVar[type[GraderConfig]]
    example: ClassVar[str]
    other_names: ClassVar[tuple[str, ...]] = ()
    entry_keys: ClassVar[tuple[str, ...]] = ()
    replaced_by: ClassVar[str | None] = None
    deprecation: ClassVar[str] = ""
    judged: ClassVar[bool] = False
    needs_workspace: ClassVar[bool] = False
    reads_fixtures: ClassVar[bool] = False
    runs_program: ClassVar[bool] = False
    reads_disk: ClassVar[bool] = False
    evaluates: ClassVar[bool] = False
    reviewed: ClassVar[bool] = False
    reads_verdicts: ClassVar[bool] = False
    judges_tool_choice: ClassVar[bool] = False
    judges_skill_use: ClassVar[bool] = False

    def __init__(self, name: str, config: ConfigT) -> None:
        self.name = name
        self.config = config
        self.warnings: tuple[str, ...] = ()

    @property
    def longest_seconds(self) -> float:
        """Return how long one grading may take by its own limits, in seconds; 0 without limits."""
        return 0.0

    @property
    def compares(self) -> bool:
        """Return whether it compares with the run without skills, and so does not grade that run."""
        return False

    @property
    def continues_session(self) -> bool:
        """Return whether its judge continues the agent's session, which is over once the run is."""
        return False

    @property
    def writes_files(self) -> bool:
        """Return whether it writes files, such as snapshots, and so grades only on request."""
        return False

    def notices(self, suite_directory: Path, files: SuiteFiles = DISK) -> tuple[str, ...]:
        """Return what would keep this grader from grading, one sentence each, before an agent is paid.

        These are only warnings: a hook of the run may still fix them. Must be quick and change nothing.
        """
        del suite_directory, files
        return ()

    @abstractmethod
    def grade(self, context: GradingContext) -> Verdict:
        """Grade one trial. Raises ``GraderError`` when it cannot."""


def verdict_of_checks(checks: Sequence[Check], *, all_passed: str, **details: Any) -> Verdict:
    """Score = passed checks / all checks, 1.0 without checks.

    The feedback is the failed checks' messages joined by ``"; "``, else ``all_passed`` and the notes.
    """
    failures = [check.message for check in checks if not check.passed]
    score = (len(checks) - len(failures)) / len(checks) if checks else 1.0
    return Verdict(
        score=score,
        passed=not failures,
        feedback="; ".join(failures or [all_passed, *(check.message for check in checks if check.message)]),
        details={**details, "failures": failures or None},
        checks=tuple(checks),
    )
