"""Fixtures of all rooms."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Protocol

import pytest

from tests.leftovers import pytest_configure
from tests.scripted_model import ModelRequest, Reply, ScriptedModel

__all__ = ["pytest_configure"]

# Tests that share an installation, which the first of them makes.
TOGETHER = ("agents", "vscode")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of a file, or of a folder that shares an installation, in one process of several."""
    for item in items:
        folder = item.path.parent.name
        group = folder if folder in TOGETHER else str(item.path)
        item.add_marker(pytest.mark.xdist_group(group))


@pytest.fixture(scope="session", autouse=True)
def pattern_workers_end() -> Iterator[None]:
    """End the workers of graders that were tried outside of a run; else they end with the process."""
    yield
    patterns = sys.modules.get("waza_engine.graders.patterns")
    if patterns is not None:
        patterns._outside_runs.close()


class StartModel(Protocol):
    """Start a scripted model: with the answers of its script, or one function of the request."""

    def __call__(
        self, *script: Reply | Callable[[ModelRequest], Reply], api_key: str = "", streams: bool = True
    ) -> ScriptedModel: ...


@pytest.fixture
def scripted_model() -> Iterator[StartModel]:
    """Start loopback models (``tests/scripted_model.py``); all are closed after the test."""
    with ExitStack() as closing:

        def start(
            *script: Reply | Callable[[ModelRequest], Reply], api_key: str = "", streams: bool = True
        ) -> ScriptedModel:
            replies = [reply for reply in script if not callable(reply)]
            functions = [reply for reply in script if callable(reply)]
            assert not (functions and (replies or len(functions) > 1)), "one function, or answers"
            model = ScriptedModel(functions[0] if functions else replies, api_key=api_key, streams=streams)
            closing.callback(model.close)
            return model

        yield start
