"""Fixtures of all rooms."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Protocol

import pytest

from tests.scripted_model import ModelRequest, Reply, ScriptedModel


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
