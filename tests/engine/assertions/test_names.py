"""The names of the assertion language, which the editor completes and explains."""

import subprocess
import sys

from waza_engine.assertions import names
from waza_engine.assertions.evaluator import AssertionEvaluator
from waza_engine.graders.base import GradingContext
from waza_engine.graders.code import assertion_context


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
