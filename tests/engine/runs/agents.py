"""An executor for tests that notes what it is asked, and single trials of a suite with it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from waza_engine.assertions.evaluator import AssertionEvaluator
from waza_engine.executors.base import Cancellation, ExecutionRequest, ExecutionResponse
from waza_engine.results.record import TrialOutcome
from waza_engine.runs.agent.setup import agent_setup
from waza_engine.runs.events.stream import EventStream, Progress
from waza_engine.runs.limits.budget import Meter, MeteredExecutor
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.loading.suite import load_suite
from waza_engine.runs.settings.table import Budget, RunSettings
from waza_engine.runs.trials.context import RunContext, TrialRequest
from waza_engine.runs.trials.selection import select
from waza_engine.runs.trials.trial import Phase, run_trial

Answer = Callable[[ExecutionRequest], ExecutionResponse]


def says_hello(request: ExecutionRequest) -> ExecutionResponse:
    """Answer every prompt alike."""
    return ExecutionResponse("hello", request.session or "agent-1")


@dataclass
class Agent:
    """Answers with a function of the request, and keeps the requests. It can be called from any thread."""

    answer: Answer = says_hello
    has_model: bool = True
    name: str = "test-agent"
    answers_triggers: bool = False
    costs: bool = False
    reports_cost: bool = False
    library: str = ""
    warnings: tuple[str, ...] = ()
    requests: list[ExecutionRequest] = field(default_factory=list[ExecutionRequest])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def execute(self, request: ExecutionRequest, cancellation: Cancellation) -> ExecutionResponse:
        del cancellation
        with self._lock:
            self.requests.append(request)
        return self.answer(request)

    def close(self) -> None:
        pass


def scripted(*answers: str | Exception) -> Answer:
    """Return a function that gives one answer a request, in order; errors are raised."""
    waiting = list(answers)

    def answer(request: ExecutionRequest) -> ExecutionResponse:
        found = waiting.pop(0)
        if isinstance(found, Exception):
            raise found
        return ExecutionResponse(found, request.session or "agent-1")

    return answer


def tried(
    path: Path, agent: Agent, cancellation: RunCancellation | None = None, warnings: list[str] | None = None
) -> TrialOutcome:
    """Carry out the first trial of the first task. Raises ``SuiteError`` when the run would not start."""
    suite = load_suite(path)
    selected, _ = select(suite, (), ())
    task = selected[0].trial
    assert task is not None, selected[0].source.error
    told: list[str] = [] if warnings is None else warnings
    cancellation = cancellation or RunCancellation()
    with (
        agent_setup(suite, suite.spec.config.model, told.append) as setup,
        AssertionEvaluator() as assertions,
    ):
        executor, settings = MeteredExecutor(agent, Meter(Budget())), RunSettings(path)
        context = RunContext(
            settings=settings,
            suite=suite,
            executor=executor,
            judges=executor,
            assertions=assertions,
            cancellation=cancellation,
            progress=Progress(EventStream("run", lambda _: None, cancellation.request), 1),
            agent=setup,
        )
        request = TrialRequest(settings, task.id, "eval.yaml", place=0, digest="", trial=1)

        def tell(text: str, _phase: Phase | None = None, /) -> None:
            if text.startswith("warning: "):
                told.append(text.removeprefix("warning: "))

        return run_trial(task, request, context, tell)


def only(requests: Sequence[ExecutionRequest]) -> ExecutionRequest:
    """Return the one request there is."""
    assert len(requests) == 1
    return requests[0]
