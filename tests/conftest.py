"""Fixtures of all rooms."""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from typing import Protocol

import pytest
from hypothesis import HealthCheck, settings

from tests.leftovers import pytest_configure
from tests.scheduling import VSCODE, pytest_xdist_make_scheduler
from tests.scripted_model import ModelRequest, Reply, ScriptedModel
from tests.stages import pytest_ignore_collect

__all__ = ["pytest_configure", "pytest_ignore_collect", "pytest_xdist_make_scheduler"]

# How fast the machine is decides nothing, and each run looks at the same examples: what a search finds by
# `--hypothesis-profile searching` becomes a test of its own.
settings.register_profile(
    "same",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile("searching", settings.get_profile("same"), derandomize=False)
settings.load_profile("same")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage meanwhile: what is collected stays, and looking took a quarter of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with VS Code, which takes longest."""
    items.sort(key=lambda item: not item.nodeid.startswith(VSCODE))


def pytest_collection_finish() -> None:
    """Leave all tests out of later collections of garbage: these took a third of the time, for nothing."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000)


@pytest.fixture(scope="session", autouse=True)
def state_of_nobody(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the state of the person who runs the tests as it is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(scope="session", autouse=True)
def signals_as_in_a_terminal() -> None:
    """Mind signals that a shell lets a run in the background ignore: what is started ignores them too."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if sys.platform != "win32" and signal.getsignal(signal.SIGQUIT) is signal.SIG_IGN:
        signal.signal(signal.SIGQUIT, signal.SIG_DFL)


@pytest.fixture(scope="session", autouse=True)
def pattern_workers_end() -> Iterator[None]:
    """End the workers of graders that were tried outside of a run; else they end with the process."""
    yield
    patterns = sys.modules.get("waza_engine.graders.matching.patterns")
    if patterns is not None:
        patterns._outside_runs.close()


@pytest.fixture(scope="session", autouse=True)
def loaded_server_ends() -> Iterator[None]:
    """End the process that starts the servers of tests."""
    yield
    started = sys.modules.get("tests.protocol.started_server")
    if started is not None:
        started.end_loaded_server()


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
