"""The steps that were handed to a cluster: the results in their documents, or without one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

from waza_engine.cluster.steps import Step, entry_of
from waza_engine.results.codec.run_documents import trigger_of
from waza_engine.results.codec.trials import arrived_answer_of, trial_document, trial_of, with_answers
from waza_engine.results.json_values import Block, Json, block_of, text_of, texts_of
from waza_engine.results.record import ArrivedAnswer, TrialOutcome, TriggerOutcome
from waza_engine.runs.limits.cancellation import CancelledRunError
from waza_engine.runs.trials.attempts import InterruptedTrialError
from waza_engine.runs.trials.backend import LostTrialError
from waza_engine.runs.trials.context import TrialRequest, TriggerRequest
from waza_engine.runs.trials.hooks import HookError, TaskHooks
from waza_engine.runs.trials.trial import Tell
from waza_engine.runs.trials.triggers import LOST, failed_prompt
from waza_engine.scoring.cost import Cost, Spending, tokens_of, total, total_cost

if TYPE_CHECKING:
    from distributed import Future

    from waza_engine.cluster.host import Request

FoundT = TypeVar("FoundT")
Entries = Callable[[], Sequence[Block]]
"""Reads what the worker of a step has stored before its end."""


class Pending(ABC, Generic[FoundT]):
    """A step that was handed out. ``failure`` is the error with which its worker gave it up.

    ``is_uncertain`` once the scheduler has said anything about it; ``lost`` are the workers that it lost. It
    is for the ``worker`` of an address, "" for any, since ``submitted`` (monotonic seconds).
    """

    def __init__(
        self, step: Step, request: Request, done: Callable[[FoundT | Exception], None], worker: str = ""
    ) -> None:
        self.step: Step = step
        self.request = request
        self.done = done
        self.worker = worker
        self.submitted = 0.0
        self.key = ""
        self.attempt = 1
        self.future: Future | None = None
        self.is_uncertain = False
        self.failure = ""
        self.lost: tuple[str, ...] = ()

    @property
    def task(self) -> tuple[str, int] | None:
        """Return the file and position of the task that it belongs to, None without one."""
        request = self.request
        return (request.file, request.place) if isinstance(request, TrialRequest) else None

    @abstractmethod
    def result(self, document: Block, entries: Entries) -> FoundT | Exception:
        """Return the result in its document."""

    @abstractmethod
    def failed(self, why: str) -> FoundT | Exception:
        """Return the result when no worker could execute it."""

    def lose(self, why: str, entries: Entries) -> tuple[FoundT | Exception, Spending]:
        """Return the result when its worker was lost as it asked an agent, and what that has spent."""
        return self.failed(why), Spending()

    def hear(self, event: Block) -> None:
        """Take an event of its worker."""


class PendingTrial(Pending[TrialOutcome]):
    """A trial; ``keep`` gets it as it was cut off if it is lost."""

    def __init__(
        self,
        request: TrialRequest,
        tell: Tell,
        keep: Callable[[TrialOutcome], None],
        done: Callable[[TrialOutcome | Exception], None],
    ) -> None:
        super().__init__("trial", request, done)
        self._number = request.trial
        self._tell = tell
        self._keep = keep
        self._kind = next(iter(entry_of(request, {})))

    def result(self, document: Block, entries: Entries) -> TrialOutcome | Exception:
        """Return the outcome in its document."""
        if document.get("cancelled"):
            return CancelledRunError()
        outcome = trial_of(block_of(block_of(document, self._kind), "run"), self._number)
        return InterruptedTrialError(outcome) if document.get("interrupted") else outcome

    def failed(self, why: str) -> TrialOutcome:
        """Return a trial in error."""
        return TrialOutcome(self._number, "error", None, error=why)

    def lose(self, why: str, entries: Entries) -> tuple[LostTrialError, Spending]:
        """Return that it is lost, and keep its answers."""
        run: Json = trial_document(TrialOutcome(self._number, "skipped", None, stopped=True))
        answers: list[ArrivedAnswer] = []
        for entry in entries():
            if trial := block_of(entry, self._kind):
                # A trial has the answers before it.
                run, answers = dict(block_of(trial, "run")), []
            elif answer := block_of(entry, "answer"):
                answers.append(arrived_answer_of(answer))
        outcome = trial_of(with_answers(run, answers), self._number)
        used = total((outcome.usage, outcome.judge_usage, outcome.other_usage))
        self._keep(outcome)
        error = (
            f"{why} while the agent was asked, so this trial may have been paid for; "
            "`--resume --retry lost` runs it again"
        )
        return LostTrialError(error), Spending(tokens_of(used), outcome.cost or Cost())

    def hear(self, event: Block) -> None:
        """Report the events of the trial."""
        self._tell(text_of(event.get("text")), event.get("phase"))


class PendingPrompt(Pending[TriggerOutcome]):
    """A trigger prompt. ``reached`` returns the limit that the run has reached."""

    def __init__(
        self,
        request: TriggerRequest,
        asked: Callable[[], None],
        arrived: Callable[[ArrivedAnswer], None],
        reached: Callable[[], str],
        done: Callable[[TriggerOutcome | Exception], None],
    ) -> None:
        super().__init__("prompt", request, done)
        self._failed = partial(failed_prompt, request)
        self._asked = asked
        self._arrived = arrived
        self._reached = reached

    def result(self, document: Block, entries: Entries) -> TriggerOutcome | Exception:
        """Return the outcome in its document."""
        if document.get("is_asked"):
            self._asked()
            self._take_answers(entries())
        if document.get("cancelled"):
            return CancelledRunError()
        found = trigger_of(block_of(document, "trigger"))
        # Workers see a little later what others have spent, so they word it differently.
        was_cut = document.get("cut") and found.error == document.get("limit")
        return replace(found, error=self._reached()) if was_cut else found

    def failed(self, why: str) -> TriggerOutcome:
        """Return a prompt in error."""
        return self._failed(why)

    def lose(self, why: str, entries: Entries) -> tuple[TriggerOutcome, Spending]:
        """Return a lost prompt with its first answer."""
        answers = self._take_answers(entries())
        cost = total_cost(answer.cost for answer in answers if answer.cost is not None)
        output = next((answer.text for answer in answers if answer.text), "")
        lost = self._failed(f"{why} {LOST}", output=output)
        return lost, Spending(sum(tokens_of(answer.usage) for answer in answers), cost)

    def hear(self, event: Block) -> None:
        """Report that an agent is asked."""
        if event.get("phase") == "asking":
            self._asked()

    def _take_answers(self, entries: Sequence[Block]) -> list[ArrivedAnswer]:
        answers = [arrived_answer_of(block_of(entry, "answer")) for entry in entries if "answer" in entry]
        for answer in answers:
            self._arrived(answer)
        return answers


class PendingHooks(Pending[Sequence[str]]):
    """The hooks before or after a task: a warning for each that failed."""

    def __init__(
        self,
        when: TaskHooks,
        request: TrialRequest,
        worker: str,
        done: Callable[[Sequence[str] | Exception], None],
    ) -> None:
        super().__init__(when, request, done, worker)

    def result(self, document: Block, entries: Entries) -> Sequence[str] | Exception:
        """Return the warnings in its document."""
        if document.get("cancelled"):
            return CancelledRunError()
        why = text_of(document.get("hook_error"))
        return self.failed(why) if why else texts_of(document.get("warnings"))

    def failed(self, why: str) -> Sequence[str] | Exception:
        """Return an error of the task before it, and a warning after it."""
        return HookError(why) if self.step == "before_task" else [why]
