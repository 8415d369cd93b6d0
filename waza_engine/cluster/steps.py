"""A step on a worker: claimed, executed, its document written; the same for every engine of clusters.

A step is a trial, a trigger prompt, or the hooks before or after a task.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal

from waza_engine.cluster.host import Host, Request
from waza_engine.cluster.run_store import RunStore
from waza_engine.cluster.worker_runs import WORKER, ActiveRun, LeaseLostError, active_run
from waza_engine.executors.executor import ExecutorError
from waza_engine.masking import masked
from waza_engine.results.codec.run_documents import trigger_document
from waza_engine.results.codec.trials import answer_document, cost_document, cost_of, trial_document
from waza_engine.results.json_values import Block, Json, block_of, nonempty, text_of, whole
from waza_engine.results.record import ArrivedAnswer, TrialOutcome
from waza_engine.runs.limits.budget import Meter
from waza_engine.runs.limits.cancellation import CancelledRunError
from waza_engine.runs.loading.suite_on_disk import SuiteError
from waza_engine.runs.settings.table import Budget
from waza_engine.runs.trials.attempts import InterruptedTrialError
from waza_engine.runs.trials.context import TrialRequest, request_from, trigger_request_from
from waza_engine.runs.trials.hooks import HookError, TaskHooks
from waza_engine.runs.trials.trial import Phase
from waza_engine.runs.trials.triggers import failed_prompt
from waza_engine.scoring.cost import Cost, Spending
from waza_engine.spec.problems import SuiteFileError
from waza_engine.vocabulary import Usage

_BROKEN_SECONDS = 2.0

Step = Literal["trial", "prompt", TaskHooks]
"""The kind of a step."""
Send = Callable[[Json], None]
"""Sends an event of a trial to the coordinator: its ``key`` and ``attempt``, a ``text`` and a ``phase``."""


def execute_step(message: Block, send: Send) -> None:
    """Execute a step unless it was begun before; its document is in the store of the run afterwards.

    ``message`` is made by ``message_of``; its ``address`` is that of this worker. Raises ``OSError`` and
    ``LeaseLostError`` when the store cannot be used: then there is no document.
    """
    run = active_run(message)
    key, attempt, run_store = text_of(message["key"]), whole(message["attempt"]), run.run_store
    try:
        with run.held():
            if run_store.is_stopped or run_store.document(key) or not run_store.claim(key, attempt, WORKER):
                return
            document = _document(_STEPS[message["step"]](message, run, send))
            if run.failure:
                raise LeaseLostError(run.failure)
            if document is not None:
                run_store.finish(key, document)
    except (OSError, LeaseLostError):
        # A worker that cannot write must not take one trial after the other.
        time.sleep(_BROKEN_SECONDS)
        raise


def message_of(
    step: Step, request: Request, run_store: RunStore, suite: Path, run_id: str, spent: Spending, bundle: str
) -> Json:
    """Return the message for a step without its ``key`` and ``attempt``: plain JSON.

    ``suite`` is the directory of the suite, ``spent`` what the run has spent so far. ``bundle`` is the digest
    of the files of the suite for workers that do not see them, "" when all do.
    """
    settings = request.settings
    context = settings.context_directory
    # Workers have working directories of their own.
    settings = replace(
        settings, path=settings.path.absolute(), context_directory=context and context.absolute()
    )
    return {
        "run": run_id,
        "place": run_store.name,
        "suite": str(suite),
        "bundle": bundle,
        "started_in": str(Path.cwd()),
        "step": step,
        "request": replace(request, settings=settings).document(),
        "spent": spending_document(spent),
    }


def spending_document(spent: Spending) -> Json:
    """Return what was spent as JSON."""
    return {"tokens": spent.tokens, "cost": cost_document(spent.cost)}


def spending_of(document: Block) -> Spending:
    """Return what a document says was spent."""
    return Spending(whole(document.get("tokens")), cost_of(document.get("cost")) or Cost())


def entry_of(request: TrialRequest, run: Json) -> Json:
    """Return the line of a journal about a trial; ``run`` is an element of ``runs``."""
    return {"baseline_trial" if request.baseline else "trial": {"test_id": request.task, "run": run}}


class _StepMeter(Meter):
    """Counts one step, within the limits of its run; ends one that spends a multiple of its price."""

    def __init__(self, most: Budget, limits: Meter) -> None:
        super().__init__(Budget(), limits)
        self._most = most
        self.is_runaway = False

    def count(self, usage: Usage | None, cost: Cost, *, must_report: bool) -> None:
        """Add a call's usage."""
        super().count(usage, cost, must_report=must_report)
        most = self._most
        self.is_runaway = not self.reason and (
            (most.max_tokens is not None and self.tokens > most.max_tokens)
            or (most.max_cost_usd is not None and self.cost.usd > most.max_cost_usd)
        )
        if self.is_runaway:
            self.stop("the trial has spent a multiple of what others of its task cost, so it was ended")


class _Step(ABC):
    """One attempt of a step on this worker. ``name`` is for messages."""

    name: ClassVar[str]

    def __init__(self, message: Block, run: ActiveRun, send: Send, request: Request) -> None:
        self.run = run
        self.is_interrupted = False
        limits = Meter(request.settings.budget)
        limits.carry(spending_of(block_of(message, "spent")))
        self.meter = _StepMeter(request.budget, limits)
        self._request = request
        self._bundle = text_of(message["bundle"])
        self._key, self._attempt = text_of(message["key"]), whole(message["attempt"])
        self.address = text_of(message["address"])
        self._send = send
        self.is_permitted = False

    @abstractmethod
    def execute(self, host: Host) -> Json:
        """Return what became of it, as the line of a journal. Raises ``CancelledRunError``."""

    @abstractmethod
    def failed(self, why: str) -> Json:
        """Return the line of a journal when it could not be executed."""

    @property
    def asked(self) -> Json:
        """Return the element of a journal that says that an agent is asked: hooks ask none."""
        return {}

    def host(self) -> Host:
        return self.run.host(self._request, self._bundle)

    def tell(self, host: Host, text: str, phase: Phase | None) -> None:
        if (phase == "asking" and host.agent_costs) or (phase == "grading" and host.judges_cost):
            self._permit()
        self._send({"key": self._key, "attempt": self._attempt, "text": masked(text), "phase": phase})

    def keep_answer(self, answer: ArrivedAnswer) -> None:
        self.store({"answer": answer_document(answer)})

    def store(self, entry: Json) -> None:
        try:
            self.run.run_store.append(self._key, entry)
        except OSError as error:
            # Nothing more may be paid for when it cannot be kept.
            self.run.fail(f"an answer could not be stored: {error.strerror or error}")

    def _permit(self) -> None:
        """Raise ``CancelledRunError`` when the attempt was revoked."""
        if self.is_permitted:
            return
        run_store = self.run.run_store
        try:
            self.is_permitted = run_store.permit(self._key, self._attempt, WORKER, {"asked": self.asked})
        except OSError as error:
            self.run.fail(f"{run_store.name} cannot be written: {error.strerror or error}")
        if not self.is_permitted:
            raise CancelledRunError


class _Trial(_Step):
    name = "trial"

    def __init__(self, message: Block, run: ActiveRun, send: Send) -> None:
        self.request = request_from(message["request"])
        super().__init__(message, run, send, self.request)

    @property
    def asked(self) -> Json:
        request = self.request
        return {
            "test_id": request.task,
            "run_number": request.trial,
            **nonempty(baseline=request.baseline),
        }

    def execute(self, host: Host) -> Json:
        def keep(outcome: TrialOutcome) -> None:
            self.store(self._entry(outcome))

        try:
            outcome = host.execute(
                self.request,
                self.meter,
                lambda text, phase=None: self.tell(host, text, phase),
                keep,
                self.keep_answer,
            )
        except InterruptedTrialError as error:
            outcome, self.is_interrupted = error.outcome, True
            if self.run.failure:
                # There will be no document, and the answers were paid for.
                keep(outcome)
        except HookError as error:
            return self.failed(str(error))
        if self.meter.is_runaway and outcome.stopped:
            outcome = replace(outcome, status="error", stopped=False, error=self.meter.reason)
        return self._entry(outcome)

    def failed(self, why: str) -> Json:
        return self._entry(TrialOutcome(self.request.trial, "error", None, error=why))

    def _entry(self, outcome: TrialOutcome) -> Json:
        return entry_of(self.request, trial_document(outcome))


class _Prompt(_Step):
    name = "trigger prompt"

    def __init__(self, message: Block, run: ActiveRun, send: Send) -> None:
        self.request = trigger_request_from(message["request"])
        super().__init__(message, run, send, self.request)

    @property
    def asked(self) -> Json:
        return {"prompt": self.request.prompt}

    def execute(self, host: Host) -> Json:
        asked = partial(self.tell, host, "", "asking")
        return {
            "trigger": trigger_document(host.try_prompt(self.request, self.meter, asked, self.keep_answer))
        }

    def failed(self, why: str) -> Json:
        return {"trigger": trigger_document(failed_prompt(self.request, why))}


class _Hooks(_Step):
    name = "hook"

    def __init__(self, message: Block, run: ActiveRun, send: Send) -> None:
        self.request = request_from(message["request"])
        self._when: TaskHooks = "after_task" if message["step"] == "after_task" else "before_task"
        super().__init__(message, run, send, self.request)

    def execute(self, host: Host) -> Json:
        try:
            return {"warnings": host.run_hooks(self.request, self._when)}
        except HookError as error:
            return self.failed(str(error))

    def failed(self, why: str) -> Json:
        return {"hook_error": why}


_STEPS: Mapping[Step, Callable[[Block, ActiveRun, Send], _Step]] = {
    "trial": _Trial,
    "prompt": _Prompt,
    "before_task": _Hooks,
    "after_task": _Hooks,
}


def _document(step: _Step) -> Json | None:
    """Return the document of a step; None when it was revoked before anything was paid for."""
    cancelled, entry = False, dict[str, Any]()
    try:
        entry = step.execute(step.host())
    except CancelledRunError:
        if not step.run.cancellation.requested:
            return None
        cancelled = True
    except (SuiteError, SuiteFileError, ExecutorError) as error:
        entry = step.failed(f"the worker {WORKER}: {error}")
    except LeaseLostError:
        raise
    except Exception as error:  # noqa: BLE001 - a defect of ours costs this step, not the further ones
        entry = step.failed(f"the {step.name} broke: {type(error).__name__}: {error}")
    meter = step.meter
    reached = meter.reason != "" and not meter.is_runaway
    return {
        **entry,
        "worker": WORKER,
        "address": step.address,
        "spent": spending_document(Spending(meter.tokens, meter.cost)),
        **nonempty(
            interrupted=step.is_interrupted,
            cancelled=cancelled,
            is_asked=step.is_permitted,
            limit=meter.reason if reached else "",
            cut=reached and meter.cut,
        ),
    }
