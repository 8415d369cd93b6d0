"""Trigger prompts: does the skill start for the right prompts, and only for them."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from waza_engine.executors.executor import ExecutionRequest, ExecutionResponse, ExecutorError
from waza_engine.results.record import TriggerOutcome
from waza_engine.results.reports.descriptions import describe_invocations
from waza_engine.runs.agent.command_mocks import blocked_programs
from waza_engine.runs.agent.trial_workspace import Workspace, WorkspaceError, trigger_workspace
from waza_engine.runs.limits.cancellation import CancelledRunError
from waza_engine.runs.loading.suite_on_disk import Suite, SuiteError
from waza_engine.runs.trials.context import RunContext, TriggerRequest
from waza_engine.runs.trials.conversation import execute
from waza_engine.spec.evals_json import TriggerList
from waza_engine.spec.loading import load_skill_evals, load_trigger_tests
from waza_engine.spec.reading.suite_reader import DISK
from waza_engine.spec.skill_evals import trigger_tests_of_list
from waza_engine.spec.trigger_tests import TriggerPrompt, TriggerTests

FILE_NAME = "trigger_tests.yaml"
LOST = "while the agent was asked, so this may have been paid for; `--resume --retry lost` asks again"
"""How the error of a trigger prompt ends whose result is lost."""
_MOST_WORKERS = 8
_SHOWN_CHARACTERS = 120


def trigger_tests_of(suite: Suite) -> TriggerTests | None:
    """Return the prompts of a trigger list, else those next to the eval file, None without a file.

    Raises ``SuiteFileError``.
    """
    if suite.is_trigger_list:
        document = load_skill_evals(suite.path)[0]
        assert isinstance(document, TriggerList)
        return trigger_tests_of_list(document, suite.path)
    return load_trigger_tests(suite.directory / FILE_NAME)[0] if has_triggers(suite) else None


def trigger_file(suite: Suite) -> Path:
    """Return the place of the trigger prompts of a suite; there may be no such file."""
    return suite.path if suite.is_trigger_list else suite.directory / FILE_NAME


def has_triggers(suite: Suite) -> bool:
    """Return whether the suite is a trigger list, or has a file of trigger prompts next to it."""
    return DISK.is_named(trigger_file(suite))


def chosen_prompts(tests: TriggerTests | None, patterns: Sequence[str], suite: Suite) -> TriggerTests | None:
    """Return the trigger prompts that equal or match one of the patterns; all without patterns.

    Raises ``SuiteError`` when there is none such.
    """
    if not patterns:
        return tests
    if tests is None:
        raise SuiteError(f"There are no trigger prompts: {suite.directory} has no {FILE_NAME}.")
    lists = ("should_trigger_prompts", "should_not_trigger_prompts")
    known: dict[str, tuple[TriggerPrompt, ...]] = {name: getattr(tests, name) for name in lists}
    texts = {prompt.prompt for listed in known.values() for prompt in listed}
    # A prompt may look like a pattern.
    wanted = {
        text
        for pattern in patterns
        for text in ({pattern} if pattern in texts else texts)
        if text == pattern or fnmatchcase(text, pattern)
    }
    if not wanted:
        raise SuiteError(f"No trigger prompt matches {', '.join(f'`{pattern}`' for pattern in patterns)}.")
    chosen = {name: tuple(one for one in listed if one.prompt in wanted) for name, listed in known.items()}
    return tests.model_copy(update=chosen)


def run_triggers(
    tests: TriggerTests,
    attempt: Callable[[TriggerPrompt, bool], TriggerOutcome],
    tell: Callable[[TriggerOutcome, str], None],
    workers: int,
    earlier: Sequence[TriggerOutcome] = (),
) -> Iterator[TriggerOutcome]:
    """Yield the result of each prompt, in the order of the file; ``workers`` are tried at the same time.

    ``attempt`` tries a prompt that should trigger, or should not; ``tell`` is called when it is done, with
    one line about it. Both from any thread. The prompts of ``earlier`` are not sent. Raises
    ``CancelledRunError`` and ``SuiteError`` after the finished ones.
    """
    prompts = [
        *((True, prompt) for prompt in tests.should_trigger_prompts),
        *((False, prompt) for prompt in tests.should_not_trigger_prompts),
    ]
    known = {found.prompt: found for found in earlier}
    done, telling = itertools.count(1), threading.Lock()

    def tried(prompt: TriggerPrompt, should: bool) -> TriggerOutcome:
        kept = known.get(prompt.prompt)
        outcome = attempt(prompt, should) if kept is None else _again(kept, prompt, should=should)
        with telling:
            where = f"trigger prompt {next(done)}/{len(prompts)}"
            tell(outcome, f"{where}: {_result(outcome)}: {_shortened(outcome.prompt)}")
        return outcome

    count = max(1, min(workers, len(prompts)))
    with ThreadPoolExecutor(count, thread_name_prefix="trigger") as pool:
        waiting = [pool.submit(copy_context().run, tried, prompt, should) for should, prompt in prompts]
        try:
            for position, future in enumerate(waiting):
                try:
                    outcome = future.result()
                except (CancelledRunError, SuiteError):
                    pool.shutdown(cancel_futures=True)
                    yield from _done(waiting[position + 1 :])
                    raise
                yield outcome
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def prompts_at_a_time(workers: int) -> int:
    """Return how many trigger prompts are tried at the same time; zero is one a processor, at most 8."""
    return workers if workers > 0 else min(os.cpu_count() or 1, _MOST_WORKERS)


def _done(ended: Sequence[Future[TriggerOutcome]]) -> Iterator[TriggerOutcome]:
    for future in ended:
        if not future.cancelled() and future.exception() is None:
            yield future.result()


def _result(outcome: TriggerOutcome) -> str:
    if outcome.error:
        return f"error ({_shortened(outcome.error)})"
    did = "triggered" if outcome.did_trigger else "did not trigger"
    did += describe_invocations(outcome)
    return f"{did}, {'as expected' if outcome.did_trigger == outcome.should_trigger else 'which is wrong'}"


def _again(earlier: TriggerOutcome, prompt: TriggerPrompt, *, should: bool) -> TriggerOutcome:
    """Return a result of the run that this one goes on with; the prompt may be expected differently now."""
    did = not should if earlier.error else earlier.did_trigger
    return replace(earlier, should_trigger=should, did_trigger=did, confidence=prompt.confidence)


def try_prompt(
    request: TriggerRequest, context: RunContext, asked: Callable[[], None] = lambda: None
) -> TriggerOutcome:
    """Return the result of a trigger prompt; ``asked`` is called right before an agent gets it.

    Raises ``CancelledRunError``.
    """
    should, executor = request.should_trigger, context.executor
    paid = context.paid(executor, "agent", prompt=request.prompt)
    with blocked_programs(request.commands) as commands:

        def prepared(workspace: Workspace) -> ExecutionRequest:
            first = context.agent.trigger_request(request.prompt, request.skill, workspace)
            return replace(first, on_prompt=asked, on_answer=paid, commands=commands)

        answers = [_answer(prepared, context) for _ in range(request.repetitions)]

    def is_triggered(response: ExecutionResponse) -> bool:
        return any(each.is_of(request.skill) for each in response.skill_invocations)

    # An error after the skill was invoked does not change the answer.
    error = next((why for response, why in answers if why and not is_triggered(response)), "")
    invoked = [invocation for response, _ in answers for invocation in response.skill_invocations]
    triggered = sum(
        should if executor.answers_triggers else is_triggered(response) for response, _ in answers
    )
    return TriggerOutcome(
        prompt=request.prompt,
        should_trigger=should,
        # A prompt that could not be tried counts as answered wrongly.
        did_trigger=not should if error else 2 * triggered >= len(answers),
        confidence=request.confidence,
        output=answers[0][0].output,
        error=error,
        skills=tuple(invocation.name for invocation in invoked),
        asked=len(answers),
        triggered=triggered,
    )


def failed_prompt(request: TriggerRequest, why: str, *, output: str = "") -> TriggerOutcome:
    """Return the result of a trigger prompt that could not be tried."""
    return TriggerOutcome(
        prompt=request.prompt,
        should_trigger=request.should_trigger,
        did_trigger=not request.should_trigger,
        confidence=request.confidence,
        output=output,
        error=why,
    )


def is_lost(outcome: TriggerOutcome) -> bool:
    """Return whether a prompt may have been paid for, and its result is lost."""
    return outcome.error.endswith(LOST)


def _answer(
    prepared: Callable[[Workspace], ExecutionRequest], context: RunContext
) -> tuple[ExecutionResponse, str]:
    suite, executor = context.suite, context.executor
    try:
        # An executor that answers by definition needs no files to do it.
        files = not executor.answers_triggers
        instructions = suite.spec.config.instruction_files
        with trigger_workspace(suite.directory, instructions, files=files) as workspace:
            response = execute(executor, prepared(workspace), context.cancellation)
    except (ExecutorError, WorkspaceError) as error:
        return ExecutionResponse(""), str(error)
    return response, response.error or ""


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN_CHARACTERS else line[:_SHOWN_CHARACTERS] + "…"
