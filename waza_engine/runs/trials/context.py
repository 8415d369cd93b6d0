"""What all that happens in a run shares, in place of options handed on from file to file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from waza_engine.assertions.evaluator import AssertionEvaluator
from waza_engine.executors.base import Executor
from waza_engine.runs.agent.setup import AgentSetup
from waza_engine.runs.events.progress import Progress
from waza_engine.runs.limits.budget import MeteredExecutor
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.loading.suite import Suite
from waza_engine.runs.settings.table import RunSettings


@dataclass(frozen=True, slots=True)
class RunContext:
    """The settings of a run, and what is alive in it.

    A pass has its own (``of_pass``): ``suite`` is as the settings want it, in a ``baseline`` without skills,
    and ``agent`` what was set up for it. ``executor`` is the agent's, ``judges`` asks the judges; both count
    what they use. ``baseline_outputs`` holds what the agent answered without skills: by task id, a text for
    each trial. Programs of graders get ``program_timeout_seconds``, unless they say otherwise.
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

    @property
    def model(self) -> str:
        """The model that the agent is asked to use, "" for the executor's own."""
        return self.suite.spec.config.model

    @property
    def trials(self) -> int:
        """The trials of each task."""
        return self.suite.spec.config.trials_per_task

    def of_pass(self, suite: Suite, agent: AgentSetup, *, baseline: bool) -> RunContext:
        """Return the context of a pass with its suite and agent."""
        return replace(self, suite=suite, agent=agent, baseline=baseline)

    def baseline_output(self, task_id: str, trial: int) -> str | None:
        """Return what the same trial answered without skills, the last one's answer when there were fewer."""
        outputs = self.baseline_outputs.get(task_id, ())
        return outputs[min(trial, len(outputs)) - 1] if outputs else None
