"""An executor for tests that notes what it is asked, and single trials of a suite with it."""

import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from waza_engine.assertions.evaluator import AssertionEvaluator
from waza_engine.executors.executor import Cancellation, ExecutionRequest, ExecutionResponse
from waza_engine.results.record import TrialOutcome, TriggerOutcome
from waza_engine.runs.agent.setup import agent_setup
from waza_engine.runs.events.stream import EventStream, Progress
from waza_engine.runs.limits.budget import Meter, MeteredExecutor
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.loading.suite_on_disk import Suite, load_suite
from waza_engine.runs.settings.table import Budget, RunSettings
from waza_engine.runs.trials.context import RunContext, TrialRequest, TriggerRequest
from waza_engine.runs.trials.selection import select
from waza_engine.runs.trials.trial import Phase, run_trial
from waza_engine.runs.trials.triggers import run_triggers, trigger_tests_of, try_prompt
from waza_engine.spec.trigger_tests import TriggerPrompt

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
    with _context(suite, agent, cancellation or RunCancellation(), told) as context:
        request = TrialRequest(context.settings, task.id, "eval.yaml", place=0, digest="", trial=1)

        def tell(text: str, _phase: Phase | None = None, /) -> None:
            if text.startswith("warning: "):
                told.append(text.removeprefix("warning: "))

        return run_trial(task, request, context, tell)


def tried_prompts(
    path: Path,
    agent: Agent,
    cancellation: RunCancellation | None = None,
    lines: list[str] | None = None,
    *,
    repetitions: int = 1,
    workers: int = 1,
) -> list[TriggerOutcome]:
    """Try the trigger prompts of a suite."""
    suite = load_suite(path)
    tests = trigger_tests_of(suite)
    assert tests is not None
    told: list[str] = [] if lines is None else lines
    with _context(suite, agent, cancellation or RunCancellation(), told) as context:

        def attempt(prompt: TriggerPrompt, should: bool) -> TriggerOutcome:
            settings = context.settings
            request = TriggerRequest(
                settings, prompt.prompt, should, prompt.confidence, tests.skill, repetitions
            )
            return try_prompt(request, context)

        return list(run_triggers(tests, attempt, lambda _found, line: told.append(line), workers))


@contextmanager
def _context(
    suite: Suite, agent: Agent, cancellation: RunCancellation, told: list[str]
) -> Generator[RunContext]:
    with (
        agent_setup(suite, suite.spec.config.model, told.append) as setup,
        AssertionEvaluator() as assertions,
    ):
        executor = MeteredExecutor(agent, Meter(Budget()))
        yield RunContext(
            settings=RunSettings(suite.path),
            suite=suite,
            executor=executor,
            judges=executor,
            assertions=assertions,
            cancellation=cancellation,
            progress=Progress(EventStream("run", lambda _: None, cancellation.request), 1),
            agent=setup,
        )


def cancel_when(come: Callable[[], object], cancellation: RunCancellation) -> None:
    """Cancel a run, in another thread, when something has come."""

    def cancel() -> None:
        come()
        cancellation.request()

    threading.Thread(target=cancel, daemon=True).start()


def only(requests: Sequence[ExecutionRequest]) -> ExecutionRequest:
    """Return the one request there is."""
    assert len(requests) == 1
    return requests[0]
