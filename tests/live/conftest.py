"""A live session on the suite of a test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from waza_engine.lab.live.live_session import LiveSession
from waza_engine.lab.live.work import LiveRequest


@pytest.fixture
def session(suite: tuple[Path, Path]) -> Iterator[LiveSession]:
    found = LiveSession(LiveRequest(suite[1], suite[0]))
    yield found
    found.close()
