"""The budget of a run, and the meter for all its calls: turns, judges, triggers, responders.

Usage is counted after every call. When a limit is reached, no new call starts and active calls are ended;
their cost is counted too, as far as the agent reports it. Before a trial or a trigger prompt starts, its
price is reserved, so that those that are active together do not exceed a limit.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from waza_engine.counting import in_seconds
from waza_engine.executors.executor import (
    Cancellation,
    ExecutionRequest,
    ExecutionResponse,
    Executor,
    ExecutorError,
    Reaching,
    blindness_to_skills,
    ignore,
    why_single_turn,
)
from waza_engine.results.reports.descriptions import dollars
from waza_engine.runs.limits.cancellation import (
    CancelledRunError,
    RunCancellation,
    TooSlowError,
    call_bounded,
)
from waza_engine.runs.settings.table import Budget
from waza_engine.scoring.cost import Cost, Spending, added, cost_of, has_price, tokens_of, total, total_cost
from waza_engine.vocabulary import ModelUsage, PaidAnswer, Usage, token_counts

_LAST_WORDS_SECONDS = 1.5
_GRACE_SECONDS = 10.0
_ROUNDING_USD = 1e-9


class BudgetExceededError(ExecutorError):
    """The call was rejected, or ended, because the run has reached its limit; the message says which."""


def unpriced_models(budget: Budget, models: Iterable[str]) -> list[str]:
    """Return the named models without a list price, when the budget limits the cost.

    The cost of a model without a name is only known when it has answered.
    """
    if budget.max_cost_usd is None:
        return []
    return [model for model in dict.fromkeys(models) if model and not has_price(model)]


@dataclass(frozen=True, slots=True, eq=False)
class Reservation:
    """The reserved price of an active trial, None while no price is known; ``settle`` releases it."""

    price: Spending | None
    _settle: Callable[[Reservation, bool], None]

    def settle(self, *, lost: bool = False) -> None:
        """Release the price: the calls of the trial are counted now. Can be called twice.

        The price of a ``lost`` trial stays reserved: it may have been spent.
        """
        self._settle(self, lost)


NOTHING_RESERVED = Reservation(None, lambda reserved, lost: None)


class Meter:
    """Counts the spending of a run; thread-safe.

    ``cut`` is true when a limit prevented a call. Runs of several models share the limits of one meter: each
    run has a meter of its own ``within`` the shared one. ``prices`` are those of the run's trials.
    ``refusal`` says why this run starts no more calls, regardless of its limits; active calls continue.
    """

    def __init__(self, budget: Budget, within: Meter | None = None) -> None:
        self.budget = budget
        self.cut = False
        self.refusal = ""
        self.prices = TrialPrices()
        self._reserved: set[Reservation] = set()
        self._settled: set[Callable[[], None]] = set()
        self._lost: list[Spending | None] = []
        self._within = within
        self._reason = ""
        self._stopping = RunCancellation()
        self._lock = threading.Lock()
        self._tokens = 0
        self._cost = Cost()
        if budget.max_tokens == 0 or budget.max_cost_usd == 0:
            self._stop(f"{_limit(budget)} allows no call that costs")

    @property
    def reason(self) -> str:
        """Return the limit that was reached, "" if none was."""
        return self._reason if self._within is None else self._within.reason

    @property
    def stopping(self) -> RunCancellation:
        """Requested when a limit is reached."""
        return self._stopping if self._within is None else self._within.stopping

    @property
    def limited(self) -> Spending:
        """Return what its limits have counted so far, of several runs together if they share them."""
        return Spending(self._tokens, self._cost) if self._within is None else self._within.limited

    @property
    def tokens(self) -> int:
        """Tokens spent so far."""
        return self._tokens

    @property
    def cost(self) -> Cost:
        """Return the cost of the counted calls."""
        return self._cost

    def count(self, usage: Usage | None, cost: Cost, *, must_report: bool) -> None:
        """Add a call's usage. With ``must_report``, a call that reports nothing ends a limited run."""
        self._add(tokens_of(usage), cost)
        if self._within is not None:
            self._within.count(usage, cost, must_report=must_report)
            return
        if self._is_reached():
            return
        budget = self.budget
        if must_report and self._is_blind(usage):
            self._stop(f"the agent does not report what it uses, so {_limit(budget)} cannot be kept")
        elif budget.max_cost_usd is not None and budget.max_tokens is None and not cost.known:
            named = (
                ", ".join(f"`{name}`" for name in cost.unpriced if name) or "a model that it does not name"
            )
            why = f"the agent used {named}, which has no known price, so `--max-cost` cannot be kept"
            self._stop(f"{why}; give --max-tokens too")

    def carry(self, spent: Spending) -> None:
        """Add the spending of the run that this one resumes: the limits apply to both together."""
        self._add(spent.tokens, spent.cost)
        if self._within is not None:
            self._within.carry(spent)
        else:
            self._is_reached()

    def keep_reserved(self, task: str) -> None:
        """Keep the price of a trial reserved that was lost in the run that this one resumes."""
        self._limits._lost.append(self.prices.high(task))

    def stop(self, reason: str) -> None:
        """Start no call any more and end the active ones, as at a limit; ``reason`` says why."""
        if self._within is not None:
            self._within.stop(reason)
        else:
            self._stop(reason)

    def reserve(self, task: str) -> Reservation | None:
        """Reserve the price of a trial; return None when it does not fit now.

        Then it may fit after another one is settled (``on_settled``), unless ``reason`` says that the limit
        is reached. While no price is known, trials go one at a time.
        """
        limits = self._limits
        if not limits.budget.limited:
            return NOTHING_RESERVED
        return limits._reserve(self.prices.high(task), self.prices.usual(task))

    def reserve_when_it_fits(self, task: str, cancellation: Cancellation) -> Reservation | None:
        """Reserve as ``reserve`` does and wait until it fits; return None at a limit or a cancellation."""
        woken = threading.Event()
        withdrawals = (self.on_settled(woken.set), cancellation.on_request(woken.set))
        try:
            while not (self.reason or cancellation.requested):
                woken.clear()
                if (reservation := self.reserve(task)) is not None:
                    return reservation
                if not self.reason:
                    woken.wait()
            return None
        finally:
            for withdraw in withdrawals:
                withdraw()

    def on_settled(self, call: Callable[[], None]) -> Callable[[], None]:
        """Call this, from any thread, when there may be room again; return a function that withdraws it."""
        limits = self._limits
        with limits._lock:
            limits._settled.add(call)
        return lambda: limits._settled.discard(call)

    @property
    def _limits(self) -> Meter:
        return self if self._within is None else self._within._limits

    def _reserve(self, high: Spending | None, usual: Spending | None) -> Reservation | None:
        with self._lock:
            others = [reserved.price for reserved in self._reserved]
            if self._reason:
                return None
            if not others and usual is not None and not self._fits([usual]):
                why = self._nearly_reached(usual)
            elif others and (None in others if high is None else not self._fits([*others, high])):
                return None
            else:
                # A trial that runs alone needs room for a usual price only:
                # one expensive trial must not end the run.
                reservation = Reservation(high, self._settle)
                self._reserved.add(reservation)
                return reservation
        self._stop(why)
        return None

    def _fits(self, prices: Iterable[Spending | None]) -> bool:
        known = [price for price in (*prices, *self._lost) if price is not None]
        tokens = self._tokens + sum(price.tokens for price in known)
        usd = self._cost.usd + sum(price.cost.usd for price in known)
        budget = self.budget
        return (budget.max_tokens is None or tokens <= budget.max_tokens) and (
            budget.max_cost_usd is None or usd <= budget.max_cost_usd + _ROUNDING_USD
        )

    def _nearly_reached(self, usual: Spending) -> str:
        budget, lost = self.budget, [price for price in self._lost if price is not None]
        tokens = sum(price.tokens for price in lost)
        if budget.max_tokens is not None and self._tokens + tokens + usual.tokens > budget.max_tokens:
            limit, spent = f"{budget.max_tokens:,} tokens", f"{self._tokens:,} are used"
            reserved = f" and {tokens:,} reserved for lost trials" if tokens else ""
            more = f"the next answer uses about {usual.tokens:,}"
        else:
            limit, spent = dollars(budget.max_cost_usd or 0.0), f"{dollars(self._cost.usd)} are spent"
            usd = sum(price.cost.usd for price in lost)
            reserved = f" and {dollars(usd)} reserved for lost trials" if usd else ""
            more = f"the next answer costs about {dollars(usual.cost.usd)}"
        return f"the limit of {limit} is nearly reached: {spent}{reserved}, and {more}"

    def _settle(self, reservation: Reservation, lost: bool) -> None:
        with self._lock:
            if lost and reservation in self._reserved:
                self._lost.append(reservation.price)
            self._reserved.discard(reservation)
        self._report_settled()

    def _report_settled(self) -> None:
        with self._lock:
            calls = tuple(self._settled)
        for call in calls:
            call()

    def _add(self, tokens: int, cost: Cost) -> None:
        with self._lock:
            self._tokens += tokens
            self._cost = total_cost((self._cost, cost))

    def _is_reached(self) -> bool:
        """Stop the run when one of its limits is reached; return whether that is so."""
        budget = self.budget
        if budget.max_tokens is not None and self._tokens >= budget.max_tokens:
            self._stop(f"the limit of {budget.max_tokens:,} tokens is reached: {self._tokens:,} are used")
        elif budget.max_cost_usd is not None and self._cost.usd >= budget.max_cost_usd - _ROUNDING_USD:
            spent, limit = dollars(self._cost.usd), dollars(budget.max_cost_usd)
            self._stop(f"the limit of {limit} is reached: {spent} are spent")
        else:
            return False
        return True

    def _is_blind(self, usage: Usage | None) -> bool:
        """Return whether a call reported nothing that the limits could count."""
        told_cost = usage is not None and usage.cost_usd is not None
        enough = told_cost and self.budget.max_tokens is None
        return self.budget.limited and not tokens_of(usage) and not enough

    def _stop(self, reason: str) -> None:
        with self._lock:
            self._reason = self._reason or reason
        self._stopping.request()
        self._report_settled()


class _Wrapping:
    """An executor that wraps another one and declares the same capabilities."""

    def __init__(self, executor: Executor) -> None:
        self.name = executor.name
        self.answers_triggers = executor.answers_triggers
        self.has_model = executor.has_model
        self.costs = executor.costs
        self.reports_cost = executor.reports_cost
        self.library = executor.library
        self.warnings = executor.warnings
        self.blind_to_skills = blindness_to_skills(executor)
        self.single_turn = why_single_turn(executor)
        self._executor = executor

    def reach(self) -> None:
        """Check that the service answers, if the executor can. Raises ``ExecutorError``."""
        if isinstance(self._executor, Reaching):
            self._executor.reach()


class MeteredExecutor(_Wrapping):
    """An executor whose calls are counted and limited. One that costs nothing is neither."""

    def __init__(self, executor: Executor, meter: Meter) -> None:
        super().__init__(executor)
        self._meter = meter

    @property
    def reason(self) -> str:
        """Return the limit that was reached, "" if none was."""
        return self._meter.reason

    @property
    def meter(self) -> Meter:
        """The meter that counts its calls."""
        return self._meter

    @property
    def spent(self) -> Cost:
        """Return the cost of the run so far, judges included."""
        return self._meter.cost

    def refuses(self) -> str:
        """Return why no more calls start, "" while they do; the caller then leaves work out."""
        if not self.costs or self._meter.refusal or not self._meter.reason:
            return self._meter.refusal if self.costs else ""
        self._meter.cut = True
        return self._meter.reason

    def execute(self, request: ExecutionRequest, cancellation: Cancellation) -> ExecutionResponse:
        """Execute one turn, or raise ``BudgetExceededError`` if the limit is reached.

        Usage without a model is counted for the requested model.
        """
        if not self.costs:
            request.on_prompt()
            return self._executor.execute(request, cancellation)
        meter = self._meter
        if self.refuses():
            raise BudgetExceededError(meter.reason)
        either = _Either(cancellation, meter.stopping)
        request.on_prompt()
        if meter.refusal:
            # The journal could not note this call.
            raise BudgetExceededError(meter.refusal)
        reported, bill = threading.Event(), _Bill(meter, request)
        complete: list[ExecutionResponse] = []

        def call() -> ExecutionResponse:
            try:
                response = self._executor.execute(replace(request, on_answer=bill.note), either)
                cut = either.requested
                answer = replace(response, usage=_ascribed(response.usage, request.model))
                if not cut:
                    complete.append(answer)
                must_report = not (response.error or request.stop_at_skill or cut)
                bill.count(response.usage, must_report=must_report)
                return answer
            except Exception:
                bill.count_arrived()
                raise
            finally:
                reported.set()

        try:
            return call_bounded(call, request.timeout_seconds + _GRACE_SECONDS, either)
        except CancelledRunError:
            if cancellation.requested:
                bill.count_arrived()
                raise
            # Wait a moment for the cost of the call so far, and for its answer if that is the last one.
            reported.wait(_LAST_WORDS_SECONDS)
            if complete:
                return complete[0]
            bill.count_arrived()
            meter.cut = True
            raise BudgetExceededError(meter.reason) from None
        except TooSlowError:
            bill.count_arrived()
            raise ExecutorError(
                f"the agent did not answer within {in_seconds(request.timeout_seconds)}"
            ) from None

    def close(self) -> None:
        """Close the executor."""
        self._executor.close()


class _Bill:
    """The usage of one call, counted once: from its response, or from the answers that had arrived."""

    def __init__(self, meter: Meter, request: ExecutionRequest) -> None:
        self._meter = meter
        self._request = request
        self._lock = threading.Lock()
        self._counted = False
        self._arrived: list[PaidAnswer] = []

    def note(self, answer: PaidAnswer) -> None:
        """Store an answer as it arrives, and pass it on."""
        answer = replace(answer, usage=_ascribed(answer.usage, self._request.model))
        self._arrived.append(answer)
        self._request.on_answer(answer)

    def count(self, usage: Usage | None, *, must_report: bool = False) -> None:
        """Count the call's usage, unless that was done; when it returns, the meter has it."""
        # The lock is held while the meter counts: a cancelled run reads the meter as soon as this returns.
        with self._lock:
            if not self._counted:
                self._counted = True
                self._meter.count(usage, cost_of(usage, self._request.model), must_report=must_report)

    def count_arrived(self) -> None:
        """Count the answers of a call that broke, or that no caller waits for any more."""
        if self._arrived:
            self.count(total(answer.usage for answer in tuple(self._arrived)))


class Tally(_Wrapping):
    """An executor that records its calls' usage, so that judges are counted apart from the agent.

    ``keep`` gets each of their answers as it arrives.
    """

    def __init__(self, executor: Executor, keep: Callable[[PaidAnswer], None] = ignore) -> None:
        super().__init__(executor)
        self._keep = keep
        self._lock = threading.Lock()
        self._usage: Usage | None = None
        self._arrived: dict[object, list[PaidAnswer]] = {}

    @property
    def usage(self) -> Usage | None:
        """Return the sum so far, with the arrived answers of active calls; None when nothing was reported."""
        return total((self._usage, *(answer.usage for answer in self.arrived)))

    @property
    def arrived(self) -> tuple[PaidAnswer, ...]:
        """The answers of calls that have not ended, or that broke."""
        with self._lock:
            return tuple(answer for answers in self._arrived.values() for answer in answers)

    def execute(self, request: ExecutionRequest, cancellation: Cancellation) -> ExecutionResponse:
        """Execute one turn and add its usage."""
        call = object()

        def paid(answer: PaidAnswer) -> None:
            with self._lock:
                self._arrived.setdefault(call, []).append(answer)
            self._keep(answer)

        response = self._executor.execute(replace(request, on_answer=paid), cancellation)
        with self._lock:
            answers = self._arrived.pop(call, [])
            if response.error or cancellation.requested:
                # The response has their usage; their text is of no use to the caller.
                self._arrived[call] = [replace(answer, usage=None) for answer in answers]
            self._usage = added(self._usage, response.usage)
        return response

    def close(self) -> None:
        """Do nothing: the executor belongs to the run."""


def _limit(budget: Budget) -> str:
    return "`--max-cost`" if budget.max_cost_usd is not None else "`--max-tokens`"


def _ascribed(usage: Usage | None, model: str) -> Usage | None:
    if usage is None or usage.model_metrics or not model or not tokens_of(usage):
        return usage
    asked = ModelUsage(**token_counts(usage), request_cost=usage.premium_requests)
    return replace(usage, model_metrics={model: asked})


class _Either:
    """A cancellation that is requested when one of two others is."""

    def __init__(self, one: Cancellation, other: Cancellation) -> None:
        self._both = (one, other)

    @property
    def requested(self) -> bool:
        return any(cancellation.requested for cancellation in self._both)

    def on_request(self, stop: Callable[[], None]) -> Callable[[], None]:
        once = threading.Lock()

        def stop_once() -> None:
            if once.acquire(blocking=False):
                stop()

        withdrawals = [cancellation.on_request(stop_once) for cancellation in self._both]

        def withdraw() -> None:
            for back in withdrawals:
                back()

        return withdraw


_HIGH = 0.95
_USUAL = 0.5
_MOST_TRIALS = 200
"""The newest trials of a task, or of all tasks, that count."""


class TrialPrices:
    """The spending of trials, by task id and of all together. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all: list[Spending] = []
        self._by_task: dict[str, list[Spending]] = {}

    def add(self, task: str, spent: Spending) -> None:
        """Record the cost of a trial; a trial without cost is ignored."""
        if not spent.anything:
            return
        with self._lock:
            for known in (self._all, self._by_task.setdefault(task, [])):
                known.append(spent)
                del known[:-_MOST_TRIALS]

    def high(self, task: str) -> Spending | None:
        """Return a price that 95 % of the trials do not exceed: of this task or, without any, of all."""
        return self._quantile(task, _HIGH)

    def usual(self, task: str) -> Spending | None:
        """Return the median price of a trial: of this task or, without any, of all."""
        return self._quantile(task, _USUAL)

    def _quantile(self, task: str, share: float) -> Spending | None:
        with self._lock:
            known = list(self._by_task.get(task) or self._all)
        if not known:
            return None
        usd = _at([spent.cost.usd for spent in known], share)
        return Spending(round(_at([spent.tokens for spent in known], share)), Cost(usd))


def _at(values: Sequence[float], share: float) -> float:
    return sorted(values)[math.ceil(share * len(values)) - 1]
