"""What the tests of graders share."""

from collections.abc import Iterator

import pytest

from waza_engine.assertions.evaluator import AssertionEvaluator
from waza_engine.graders.matching import patterns
from waza_engine.spec import pattern_syntax, re2_adapter
from waza_language_server.embedded.regex import patterns as pattern_findings


@pytest.fixture(scope="module")
def evaluator() -> Iterator[AssertionEvaluator]:
    with AssertionEvaluator() as shared:
        yield shared


@pytest.fixture(params=["re2", "regex"])
def pattern_library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Run a test twice: with RE2, and as where it cannot be installed."""
    if request.param == "regex":
        monkeypatch.setattr(re2_adapter, "_re2", lambda: None)
    _forget_patterns()
    yield request.param
    _forget_patterns()


def _forget_patterns() -> None:
    patterns._kept_outcome.cache_clear()
    patterns._kept_searcher.cache_clear()
    pattern_syntax._cached_searcher.cache_clear()
    pattern_findings.pattern_fault.cache_clear()
