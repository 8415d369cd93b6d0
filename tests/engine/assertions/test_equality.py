"""The interpreter comes to what Python's `eval` comes to: same verdict, same value, same kind of error."""

import json
from typing import Any

import pytest

from tests.engine.assertions.expressions import CONTEXT, EXPRESSIONS
from tests.engine.assertions.generators import GENERATORS
from tests.engine.assertions.oracle import by_interpreter, differences
from tests.engine.assertions.search import search
from tests.server.analysis import assertion_expressions
from tests.shared_corpus import VERDICTS, needs_corpus, suite_files
from waza_engine.spec.reading.yaml_reader import read_yaml

DELIBERATELY_REFUSED = ("__subclasses__", ".throw(", "__base__")


def is_refused(text: str) -> bool:
    return any(part in text for part in DELIBERATELY_REFUSED)


def test_each_measured_expression() -> None:
    texts = [text for text, _ in EXPRESSIONS if not is_refused(text)]
    assert [found for text in texts for found in differences([text], CONTEXT)] == []


def test_the_measured_expressions_in_one_context() -> None:
    measured = assertion_expressions.MEASURED
    assert len(measured) > 60
    assert differences(measured, assertion_expressions.CONTEXT) == []


@pytest.mark.parametrize("seed", range(4))
def test_a_sample_of_generated_assertions(seed: int) -> None:
    """`make search-assertions` searches as many as you like, on every Python."""
    found, _ = search(200 * len(GENERATORS), seed)
    assert found == []


@needs_corpus
def test_the_recorded_cases() -> None:
    lines = (VERDICTS / "grader_cases.jsonl").read_text("utf-8").splitlines()
    cases = [case for case in map(json.loads, lines) if "assertions" in (case["grader"].get("config") or {})]
    groups = [(case["grader"]["config"]["assertions"], case["context"]) for case in cases]
    pairs = [
        (texts, names(context)) for texts, context in groups if all(isinstance(each, str) for each in texts)
    ]
    assert len(pairs) > 50
    assert [
        found for texts, context in pairs for found in differences(texts, context) if not is_refused(found[0])
    ] == []


@needs_corpus
def test_the_assertions_of_public_suites() -> None:
    texts = corpus_assertions()
    assert len(texts) >= 50
    assert [found for text in texts for found in differences([text], CONTEXT)] == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("re.compile('a').sub(r'\\g<0>', 'banana')", "'banana'"),
        ("re.match('(a)', 'a').expand(r'\\1\\1')", "'aa'"),
    ],
)
def test_templates_of_patterns_work_which_fail_without_built_ins(text: str, value: str) -> None:
    assert next(by_interpreter([text], CONTEXT)).value == value


def names(context: dict[str, Any]) -> dict[str, Any]:
    return {
        "output": context.get("output", ""),
        "outcome": {},
        "transcript": context.get("transcript") or [],
        "tool_calls": context.get("tool_calls") or [],
        "errors": [],
        "duration_ms": context.get("duration_ms", 0),
    }


def corpus_assertions() -> list[str]:
    found: dict[str, None] = {}

    def visit(value: Any) -> None:
        if isinstance(value, dict):
            for key, each in value.items():
                if key == "assertions" and isinstance(each, list):
                    found.update(dict.fromkeys(text for text in each if isinstance(text, str)))
                visit(each)
        elif isinstance(value, list):
            for each in value:
                visit(each)

    for path in suite_files():
        try:
            visit(read_yaml(path))
        except Exception:  # noqa: BLE001 - broken files are in the corpus as well
            continue
    return list(found)
