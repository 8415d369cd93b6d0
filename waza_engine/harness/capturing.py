"""``capture`` and ``trials``: ask an agent every prompt, grade its answers, yield a row for each prompt."""

from __future__ import annotations

import hashlib
import itertools
import json
import queue
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import copy_context
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from waza_engine.counting import counted, cut
from waza_engine.graders.programs.program_output import UnusableAnswerError
from waza_engine.harness.agent import Agent, StoppedError
from waza_engine.harness.journal import Answers, Journal, Wanted, resume
from waza_engine.harness.row_grading import HarnessGrader, Tally
from waza_engine.harness.row_values import has_failed, input_text
from waza_engine.harness.rows import HarnessError, Prompt
from waza_engine.results.json_values import Json
from waza_engine.scoring.pass_estimates import pass_estimates
from waza_engine.spec.harness_files import AGENT_ERRORS, BROKEN_GRADER, DIGEST, agent_errors
from waza_engine.terminal import complain

_PREVIEW_CHARACTERS = 50
ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class CaptureOptions:
    """How prompts are captured. ``trials`` is the number for each prompt, 0 for captures.

    ``progress`` shows prompts and verdicts on standard error, ``debug`` the agent's events as well.
    """

    trials: int = 0
    concurrency: int = 1
    output: Path | None = None
    resume: bool = False
    progress: bool = False
    debug: bool = False


class Capturing:
    """A capture of prompts. ``rows`` is consumed once; ``tally`` has its verdicts by then."""

    def __init__(
        self, agent: Agent, prompts: Sequence[Prompt], grader: HarnessGrader | None, options: CaptureOptions
    ) -> None:
        self._agent = agent
        self._prompts = prompts
        self._grader = grader
        self._options = options
        self._journal = Journal(options.output)
        self._earlier: Answers = defaultdict(list)
        self._taking = threading.Lock()
        self.tally = Tally()
        self.is_complete = False

    def prepare(self) -> None:
        """Read what an earlier process has written, before anything is asked.

        Raises ``HarnessError``, also for prompts that would be paid for in vain.
        """
        self._agent.check(self._prompts)
        output, journal = self._options.output, self._journal
        if self._options.resume and output is not None:
            wanted: Wanted = defaultdict(dict)
            for prompt in self._prompts:
                wanted[prompt.id][self._agent.digest_of(prompt)] = self._verdict_digest(prompt)
            earlier = resume(output, journal, wanted, self._options.trials, graded=bool(self._grader))
            self._earlier = earlier.answers
            self._agent.carry(earlier.spent)
            if earlier.cut_off:
                complain(
                    f"warning: {counted(earlier.cut_off, 'answer')} of the earlier run had been requested "
                    "and did not arrive; the agent gets these prompts again, so they may cost twice."
                )
            return
        if journal.path is not None and journal.path.exists():
            raise HarnessError(
                f"{journal.path} holds answers of a run that did not end; add --resume to go on with it, or "
                "delete the file."
            )
        journal.open()

    def _verdict_digest(self, prompt: Prompt) -> str:
        """Return what decides the rest of a row besides its answer: the grader, and what it is given."""
        grader = "" if self._grader is None else self._grader.digest
        content = json.dumps([grader, prompt.hint, prompt.metadata], sort_keys=True, default=str)
        return hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()[:16]

    def rows(self) -> Iterator[Json]:
        """Yield the row of each prompt as it is finished; those of an earlier process are left out."""
        try:
            waiting = [prompt for prompt in self._prompts if not self._is_finished(prompt)]
            numbered, left = enumerate(waiting, 1), len(waiting)
            for row in in_parallel(
                numbered, self._row, self._options.concurrency, lambda: self._agent.is_stopped
            ):
                yield row
                left -= 1
            self.is_complete = left == 0
        finally:
            if not self.is_complete:
                # An answer that could not be stored must not be followed by others.
                self._agent.cancellation.request()
            self._journal.close(is_complete=self.is_complete)
            self.tally.complain()

    def _is_finished(self, prompt: Prompt) -> bool:
        found = self._earlier[self._agent.digest_of(prompt), -1]
        for passed in found[-1]["verdicts"] if found else ():
            self.tally.add(passed=passed)
        return bool(found and [found.pop()])

    def _row(self, numbered: tuple[int, Prompt]) -> Json | None:
        """Return the row of a prompt, None when the run ended before it was answered."""
        number, prompt = numbered
        shown = cut(input_text(prompt.input, " "), _PREVIEW_CHARACTERS)
        self._show(f"[{number}/{len(self._prompts)}] {prompt.id}: {shown}")
        try:
            return self._trials(prompt) if self._options.trials else self._capture(prompt)
        except StoppedError:
            return None

    def _capture(self, prompt: Prompt) -> Json:
        answer = self._answer(prompt, 0)
        verdict: Json = {}
        errors = [*map(str, answer.get("errors", ()))]
        if self._grader is not None:
            try:
                score = self._graded(prompt, answer, prompt.id)
                self.tally.add(passed=score["pass"], failed=has_failed(answer))
                verdict = {"score": score, **({"outcome": score["outcome"]} if score.get("outcome") else {})}
            except UnusableAnswerError as broken:
                self.tally.add_broken(broken, prompt.id)
                errors.append(str(broken))
        timing = answer["timing"]
        self._show(f"  {'!' if answer['toolErrors'] or errors else '✓'} {prompt.id} ({timing['total']}ms)")
        return {
            "id": prompt.id,
            "input": prompt.input,
            "output": answer["output"],
            **({"hint": prompt.hint} if prompt.hint else {}),
            "trajectory": answer["trajectory"],
            "metadata": {
                **(prompt.metadata or {}),
                "agent": self._agent.adapter.name,
                **answer["metadata"],
                **self._digest(prompt, grader_broke=self._grader is not None and not verdict),
            },
            "timing": timing,
            "toolErrors": answer["toolErrors"],
            **({"errors": errors} if errors else {}),
            **verdict,
        }

    def _trials(self, prompt: Prompt) -> Json:
        count = self._options.trials
        errors: dict[str, str] = {}
        entries = [self._trial(prompt, number, errors) for number in range(1, count + 1)]
        rates: Json = {}
        if self._grader is not None:
            passed = sum(entry["pass"] for entry in entries)
            found = pass_estimates(passed, count)
            rates = {
                "passRate": found.rate.rate,
                "passAtK": found.pass_at_k.rate,
                "passExpK": found.pass_exp_k.rate,
            }
            self._show(f"  → {prompt.id}: {passed} of {count} passed")
        base = self._agent.base_facts
        return {
            "id": prompt.id,
            "input": prompt.input,
            **({"hint": prompt.hint} if prompt.hint else {}),
            "k": count,
            **rates,
            "trials": entries,
            "metadata": {
                **(prompt.metadata or {}),
                "agent": self._agent.adapter.name,
                **base,
                **self._digest(prompt),
                **({AGENT_ERRORS: errors} if errors else {}),
            },
        }

    def _trial(self, prompt: Prompt, number: int, broken_trials: dict[str, str]) -> Json:
        answer = self._answer(prompt, number)
        entry = {
            "trialNum": number,
            "output": answer["output"],
            "trajectory": answer["trajectory"],
            "duration": answer["timing"]["total"] if "timing" in answer else answer["duration"],
        }
        place = f"{prompt.id}, trial {number}"
        errors = agent_errors(answer)
        if errors:
            # The output of a crashed agent may fit a grader by chance.
            self._show(f"    trial {number}: !")
            self.tally.add(passed=False)
            verdict = {} if self._grader is None else {"pass": False}
            broken_trials[str(number)] = errors[0]
            return {**entry, **verdict, "reasoning": f"Error: {errors[0]}"}
        if self._grader is None:
            return entry
        try:
            score = self._graded(prompt, answer, f"{prompt.id}-trial-{number}")
        except UnusableAnswerError as broken:
            self.tally.add_broken(broken, place)
            return {**entry, "pass": False, "reasoning": f"Error: {broken}"}
        self.tally.add(passed=score["pass"])
        self._show(f"    trial {number}: {'✓' if score['pass'] else '✗'}")
        return {**entry, **score}

    def _answer(self, prompt: Prompt, trial: int) -> Json:
        """Return an answer of an earlier process, or ask for one and store it before it is graded."""
        digest = self._agent.digest_of(prompt)
        with self._taking:
            found = self._earlier[digest, trial]
            if found:
                return found.pop(0)
        if self._agent.is_stopped:
            raise StoppedError
        name = f"{prompt.id}-trial-{trial}" if trial else prompt.id
        self._journal.add_request(digest, trial)
        answer, spent = self._agent.ask(prompt, name, heard=self._show_line)
        self._journal.add(digest, trial, answer, spent)
        return answer

    def _graded(self, prompt: Prompt, answer: Json, name: str) -> Json:
        assert self._grader is not None
        values = {
            "input": prompt.input,
            "output": answer["output"],
            "hint": prompt.hint,
            "trajectory": answer["trajectory"],
            "metadata": prompt.metadata,
            "cwd": str(self._agent.directory_for(name)),
        }
        try:
            return self._grader.grade(values)
        except UnusableAnswerError:
            if self._agent.cancellation.requested:
                raise StoppedError from None
            raise

    def _digest(self, prompt: Prompt, *, grader_broke: bool = False) -> Json:
        end = BROKEN_GRADER if grader_broke else ""
        return {DIGEST: f"{self._agent.digest_of(prompt)}:{self._verdict_digest(prompt)}{end}"}

    def _show(self, line: str) -> None:
        if self._options.progress:
            complain(line)

    def _show_line(self, line: str) -> None:
        if self._options.debug:
            complain(f"    {line}")


class _Failure:
    def __init__(self, error: Exception) -> None:
        self.error = error


def in_parallel(
    items: Iterable[ItemT],
    work: Callable[[ItemT], ResultT | None],
    workers: int,
    is_stopped: Callable[[], bool],
) -> Iterator[ResultT]:
    """Yield the results as they come, with so many workers at a time; None is left out.

    No new item is begun once it is stopped. Raises the first error, when the others have ended.
    """
    results: queue.SimpleQueue[list[ResultT] | _Failure | None] = queue.SimpleQueue()
    failures: list[_Failure] = []
    next_items = _one_by_one(items, lambda: bool(failures) or is_stopped())

    def run() -> None:
        try:
            while item := next_items():
                found = work(item[0])
                results.put([] if found is None else [found])
        except Exception as error:  # noqa: BLE001 - raised below
            results.put(_Failure(error))
        results.put(None)

    for _ in range(workers):
        threading.Thread(target=copy_context().run, args=(run,), daemon=True).start()
    while workers:
        ended = results.get()
        if ended is None:
            workers -= 1
        elif isinstance(ended, _Failure):
            failures.append(ended)
        else:
            yield from ended
    if failures:
        raise failures[0].error


def _one_by_one(items: Iterable[ItemT], is_stopped: Callable[[], bool]) -> Callable[[], list[ItemT]]:
    """Return a function for several threads, which returns one more item, or nothing."""
    iterator, taking = iter(items), threading.Lock()

    def taken() -> list[ItemT]:
        with taking:
            return [] if is_stopped() else list(itertools.islice(iterator, 1))

    return taken
