"""The objects that everything in a run shares, instead of options passed from file to file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from waza_engine.assertions.evaluator import AssertionEvaluator
from waza_engine.executors.executor import Executor, ignore
from waza_engine.results.json_values import plain
from waza_engine.results.record import Answerer, ArrivedAnswer
from waza_engine.runs.agent.setup import AgentSetup
from waza_engine.runs.events.stream import Progress
from waza_engine.runs.limits.budget import MeteredExecutor
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.loading.suite_on_disk import Suite
from waza_engine.runs.settings.table import Budget, RunSettings, settings_from
from waza_engine.scoring.cost import cost_of
from waza_engine.terminal import json_text
from waza_engine.vocabulary import PaidAnswer


@dataclass(frozen=True, slots=True)
class RunContext:
    """The settings of a run, and its live objects.

    A pass has its own (``of_pass``): ``suite`` has the settings applied, in a ``baseline`` without skills,
    and ``agent`` is its setup. ``executor`` is the agent's, ``judges`` that of the judges; both count their
    usage. ``baseline_outputs`` holds the agent's answers without skills: by task id, a string for each trial.
    Programs of graders get ``program_timeout_seconds``, unless they have their own. ``keep_answer`` gets each
    answer that is paid for as it arrives, from any thread.
    """

    settings: RunSettings
    suite: Suite
    executor: MeteredExecutor
    judges: Executor
    assertions: AssertionEvaluator
    cancellation: RunCancellation
    progress: Progress
    agent: AgentSetup
    program_timeout_seconds: float = 30.0
    baseline: bool = False
    baseline_outputs: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    keep_answer: Callable[[ArrivedAnswer], None] = lambda answer: None

    @property
    def model(self) -> str:
        """Return the model that the agent is to use, "" for the executor's own."""
        return self.suite.spec.config.model

    @property
    def trials(self) -> int:
        """The trials of each task."""
        return self.suite.spec.config.trials_per_task

    def paid(
        self, executor: Executor, by: Answerer, *, task: str = "", trial: int = 0, prompt: str = ""
    ) -> Callable[[PaidAnswer], None]:
        """Return a function that stores paid answers of an executor, for a trial or trigger prompt."""
        place = ArrivedAnswer(by, task=task, trial=trial, prompt=prompt, baseline=self.baseline)
        return (
            (lambda answer: self.keep_answer(arrived_answer(answer, place, self.model)))
            if executor.costs
            else ignore
        )

    def of_pass(self, suite: Suite, agent: AgentSetup, *, baseline: bool) -> RunContext:
        """Return the context of a pass with its suite and agent."""
        return replace(self, suite=suite, agent=agent, baseline=baseline)

    def baseline_output(self, task_id: str, trial: int) -> str | None:
        """Return the same trial's answer without skills, the last one's if there were fewer."""
        outputs = self.baseline_outputs.get(task_id, ())
        return outputs[min(trial, len(outputs)) - 1] if outputs else None


def arrived_answer(answer: PaidAnswer, place: ArrivedAnswer, model: str = "") -> ArrivedAnswer:
    """Return an answer as a journal stores it; ``place`` has its author and its trial."""
    return replace(
        place,
        text=answer.text,
        calls=tuple(f"{call.name} {json_text(plain(call.arguments))}" for call in answer.calls),
        usage=answer.usage,
        cost=None if answer.usage is None else cost_of(answer.usage, model),
    )


@dataclass(frozen=True, slots=True)
class TrialRequest:
    """The trial to execute, as plain data.

    ``task`` is the id of the task; ids may occur twice. ``file`` is its file, relative to the suite, and
    ``place`` its index there (``SuiteTask``): no other task has to be loaded. ``digest`` is that of the files
    from which it was loaded (``Suite.digest_of``). ``trial`` counts from 1, 0 means all of them: their hooks.
    ``attempt`` is the first one to make, from 1: earlier ones are used up. A ``baseline`` has no skills;
    ``baseline_output`` is the answer of the same trial there, for graders that compare. ``budget`` is the
    most that the trial may spend where the meter of the run does not see it: a multiple of its price.
    """

    settings: RunSettings
    task: str
    file: str
    place: int
    digest: str
    trial: int
    attempt: int = 1
    baseline: bool = False
    baseline_output: str | None = None
    budget: Budget = field(default_factory=Budget)

    def document(self) -> dict[str, Any]:
        """Return the request as JSON."""
        return {**asdict(self), "settings": self.settings.document()}


def request_from(document: Mapping[str, Any]) -> TrialRequest:
    """Return the request that a document was made of. Raises ``KeyError`` and ``TypeError`` for another."""
    settings, budget = settings_from(document["settings"]), Budget(**document["budget"])
    given: dict[str, Any] = {**document, "settings": settings, "budget": budget}
    return TrialRequest(**given)


@dataclass(frozen=True, slots=True)
class TriggerRequest:
    """The trigger prompt to try, as plain data: it is sent ``repetitions`` times.

    ``file`` is that of any task, relative to the suite, "" without tasks: no other one has to be loaded.
    ``commands`` are the programs that any task mocks. ``budget`` is as for a trial.
    """

    settings: RunSettings
    prompt: str
    should_trigger: bool
    confidence: str
    skill: str
    repetitions: int = 1
    file: str = ""
    commands: tuple[str, ...] = ()
    budget: Budget = field(default_factory=Budget)

    @property
    def baseline(self) -> bool:
        """Return whether it has no skills: a baseline has no trigger prompts."""
        return False

    def document(self) -> dict[str, Any]:
        """Return the request as JSON."""
        return {**asdict(self), "settings": self.settings.document()}


def trigger_request_from(document: Mapping[str, Any]) -> TriggerRequest:
    """Return the request that a document was made of. Raises ``KeyError`` and ``TypeError`` for another."""
    settings, budget = settings_from(document["settings"]), Budget(**document["budget"])
    commands = tuple(document["commands"])
    given: dict[str, Any] = {**document, "settings": settings, "budget": budget, "commands": commands}
    return TriggerRequest(**given)
