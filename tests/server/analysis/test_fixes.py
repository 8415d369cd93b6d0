"""The registry of quick fixes: a module a code, found by its name; one that fails adds no fix."""

from collections.abc import Iterator

import pytest

from tests.server.analysis.drawing import TASK, problems
from waza_language_server.analysis import fixes
from waza_language_server.analysis.codes import CODES
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import FileView
from waza_language_server.text.edit import Fix


def test_every_module_is_named_after_a_code() -> None:
    assert fixes.codes() <= set(CODES)
    assert all(callable(fixes.maker_of(code)) for code in fixes.codes())


def test_a_maker_that_fails_adds_no_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(view: FileView, problem: Problem) -> Iterator[Fix]:
        raise ValueError(problem.code)

    def maker_of(code: str) -> object:
        del code
        return failing

    monkeypatch.setattr(fixes, "maker_of", maker_of)
    [problem] = problems(f"{TASK}name: U\n")
    assert (problem.code, problem.fixes) == ("duplicate-key", ())
