"""Evaluating assertions: upstream's answers, and no assertion that can harm the run."""

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import psutil
import pytest

from tests.engine.assertions.expressions import CONTEXT, EXPRESSIONS, FALSE, TRUE
from tests.patience import ON_A_BUSY_MACHINE, ends
from waza_engine.assertions import names
from waza_engine.assertions.evaluator import AssertionEvaluator, AssertionOutcome
from waza_engine.graders.base import GradingContext
from waza_engine.graders.code import assertion_context

FOREVER = "re.search('(a+)+$', 'a' * 60 + 'b')"
posix_only = pytest.mark.skipif(sys.platform in {"win32", "darwin"}, reason="memory cannot be limited here")


@pytest.fixture(scope="module")
def evaluator() -> Iterator[AssertionEvaluator]:
    with AssertionEvaluator(deadline_seconds=1) as shared:
        yield shared


def evaluate(evaluator: AssertionEvaluator, *assertions: str, **context: Any) -> list[AssertionOutcome]:
    return evaluator.evaluate(assertions, {**CONTEXT, **context})


@pytest.mark.parametrize(("expression", "expected"), EXPRESSIONS, ids=[text for text, _ in EXPRESSIONS])
def test_expression(evaluator: AssertionEvaluator, expression: str, expected: str) -> None:
    [outcome] = evaluate(evaluator, expression)
    assert outcome.passed is (expected == TRUE)
    if expected in (TRUE, FALSE):
        assert outcome.error is None
    else:
        assert expected in str(outcome.error)


def test_no_assertions_give_no_outcomes(evaluator: AssertionEvaluator) -> None:
    assert evaluate(evaluator) == []


@pytest.mark.parametrize("name", ["function", "args", "keywords", "value", "template", "frame", "name"])
def test_a_keyword_may_have_the_name_of_a_parameter_of_ours(evaluator: AssertionEvaluator, name: str) -> None:
    texts = [
        f"dict({name}=1) == {{'{name}': 1}}",
        f"(lambda {name}: {name})({name}=1) == 1",
        f"'{{{name}}}'.format({name}=1) == '1'",
        f"dict.update({{}}, {name}=1) is None",
    ]
    assert evaluate(evaluator, *texts) == [AssertionOutcome(True)] * len(texts)


def test_names_bound_by_a_walrus_stay_for_the_next_assertions(evaluator: AssertionEvaluator) -> None:
    assert [outcome.passed for outcome in evaluate(evaluator, "(n := 3) > 1", "n == 3")] == [True, True]
    assert evaluate(evaluator, "n == 3")[0].passed is False


@pytest.mark.parametrize(
    ("assertion", "reason"),
    [
        ("(lambda f: f(f))(lambda f: f(f))", "calls itself without end"),
        ("(" * 5000 + "1" + ")" * 5000, "too many nested parentheses"),
        ("'\\0'.join([]) or \0", "null bytes"),
        ("[x for x in output].foo", "AttributeError"),
        ("str.mro()", "the attribute `mro` is not allowed"),
        ("re.sys", "module 're' has no attribute 'sys'"),
        *(
            pytest.param(assertion, "needs more than the allowed memory of 1000 MB", marks=posix_only)
            for assertion in ("'a' * 10**12", "[0] * 10**9", "'a' * 10**9 + 'b' * 10**9")
        ),
    ],
)
def test_a_bad_assertion_is_a_failure_with_a_reason(
    evaluator: AssertionEvaluator, assertion: str, reason: str
) -> None:
    [outcome, after] = evaluate(evaluator, assertion, "True")
    assert outcome.passed is False
    assert reason in str(outcome.error)
    assert after.passed is True


@pytest.mark.parametrize("assertion", [FOREVER, "[0 for a in output * 9999 for b in a * 9999999]"])
def test_a_hang_costs_one_assertion(evaluator: AssertionEvaluator, assertion: str) -> None:
    started = time.monotonic()
    outcomes = evaluate(evaluator, "(n := 3) > 1", assertion, "n == 3")
    assert [outcome.passed for outcome in outcomes] == [True, False, True]
    assert outcomes[1] == AssertionOutcome(False, "it took longer than 1 second", timed_out=True)
    assert time.monotonic() - started < 5 + ON_A_BUSY_MACHINE


def test_a_hang_in_a_cold_worker_is_noticed_as_fast() -> None:
    with AssertionEvaluator(deadline_seconds=0.5) as cold:
        started = time.monotonic()
        assert cold.evaluate([FOREVER], CONTEXT)[0].timed_out
        assert time.monotonic() - started < 8 + ON_A_BUSY_MACHINE


def test_a_crash_of_the_interpreter_costs_one_assertion() -> None:
    with AssertionEvaluator(deadline_seconds=30) as evaluator:
        evaluator.evaluate(["True"], CONTEXT)
        [worker] = evaluator.process_ids()
        threading.Timer(0.5, psutil.Process(worker).kill).start()
        outcomes = evaluator.evaluate(["True", FOREVER, "len(output) > 0"], CONTEXT)
        assert [outcome.passed for outcome in outcomes] == [True, False, True]
        assert outcomes[1] == AssertionOutcome(False, "it crashed the interpreter")


def test_what_an_assertion_prints_does_not_reach_the_wire(evaluator: AssertionEvaluator) -> None:
    [printing, after] = evaluate(evaluator, "re.compile('a|b', re.DEBUG)", "1 == 2")
    assert (printing, after) == (AssertionOutcome(True), AssertionOutcome(False))


def test_errors_stay_short(evaluator: AssertionEvaluator) -> None:
    [outcome] = evaluate(evaluator, "{}[output]", output="x" * 100_000)
    assert len(str(outcome.error)) < 600


@pytest.mark.parametrize(
    "context",
    [
        {"output": "\ud83c half an emoji"},
        {"output": "line\u2028separator\x85\n\x00"},
        {"output": "x" * 5_000_000},
        {"transcript": [{"type": "a", "value": float("inf"), "when": object()}]},
    ],
)
def test_any_context_reaches_the_worker(evaluator: AssertionEvaluator, context: dict[str, Any]) -> None:
    [outcome] = evaluate(
        evaluator, f"len(output) == {len(context.get('output', CONTEXT['output']))}", **context
    )
    assert outcome == AssertionOutcome(True)


def test_a_warm_worker_is_reused_and_forgets_nothing_and_knows_nothing() -> None:
    with AssertionEvaluator() as evaluator:
        evaluator.evaluate(["(secret := 1)"], CONTEXT)
        first = evaluator.process_ids()
        [outcome] = evaluator.evaluate(["secret == 1"], CONTEXT)
        assert outcome.passed is False
        assert evaluator.process_ids() == first


def test_many_threads_share_a_few_workers() -> None:
    with AssertionEvaluator(workers=2) as evaluator:
        results: list[list[bool]] = []

        def check(number: int) -> None:
            outcomes = evaluator.evaluate([f"duration_ms == {number}", "False"], {"duration_ms": number})
            results.append([outcome.passed for outcome in outcomes])

        threads = [threading.Thread(target=check, args=(number,)) for number in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert results == [[True, False]] * 20
        assert len(evaluator.process_ids()) <= 2


def test_nothing_starts_before_it_is_needed() -> None:
    with AssertionEvaluator() as evaluator:
        assert evaluator.process_ids() == []


def test_close_leaves_no_process() -> None:
    evaluator = AssertionEvaluator()
    evaluator.evaluate(["True"], CONTEXT)
    workers = evaluator.process_ids()
    evaluator.close()
    evaluator.close()
    assert len(workers) == 1
    assert not any(psutil.pid_exists(worker) for worker in workers)
    with pytest.raises(RuntimeError, match="closed"):
        evaluator.evaluate(["True"], CONTEXT)


def test_close_ends_an_evaluation_that_hangs() -> None:
    evaluator = AssertionEvaluator(deadline_seconds=60)
    evaluator.evaluate(["True"], CONTEXT)
    workers = evaluator.process_ids()
    threading.Timer(0.3, evaluator.close).start()
    started = time.monotonic()
    with pytest.raises(RuntimeError, match="closed"):
        evaluator.evaluate([FOREVER], CONTEXT)
    assert time.monotonic() - started < 10 + ON_A_BUSY_MACHINE
    assert not any(psutil.pid_exists(worker) for worker in workers)


@pytest.mark.parametrize("assertion", ["True", FOREVER])
def test_a_worker_ends_when_its_parent_is_gone(assertion: str) -> None:
    code = (
        "import os, threading, time\n"
        "from waza_engine.assertions.evaluator import AssertionEvaluator\n"
        "evaluator = AssertionEvaluator(deadline_seconds=1)\n"
        "evaluator.evaluate(['True'], {})\n"
        f"threading.Thread(target=evaluator.evaluate, args=([{assertion!r}], {{}}), daemon=True).start()\n"
        "time.sleep(0.3)\n"
        "print(*evaluator.process_ids(), flush=True)\n"
        "os._exit(0)\n"
    )
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    worker = int(finished.stdout)
    assert ends(worker)


# --- names, which the editor completes and explains ---


def test_the_context_has_exactly_the_documented_names() -> None:
    assert set(assertion_context(GradingContext())) == set(names.CONTEXT_NAMES)


def test_every_name_exists_in_the_worker() -> None:
    with AssertionEvaluator() as evaluator:
        known = sorted(names.ALL_NAMES)
        outcomes = evaluator.evaluate([f"[{name}]" for name in known], assertion_context(GradingContext()))
    assert [name for name, outcome in zip(known, outcomes, strict=True) if not outcome.passed] == []


def test_every_name_has_a_line_of_documentation() -> None:
    assert set(names.DOCS) == names.ALL_NAMES
    assert all(text and "\n" not in text for text in names.DOCS.values())


def test_the_names_load_nothing_heavy() -> None:
    code = (
        "import sys, waza_engine.assertions.names\n"
        "print([m for m in ('pydantic', 'psutil', 'subprocess', 'json', 'jsonschema') if m in sys.modules])"
    )
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert finished.stdout.strip() == "[]"
