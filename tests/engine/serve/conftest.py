"""One engine for the tests of a module that do not end it."""

from collections.abc import Iterator

import pytest

from tests.engine.serve.client import Engine


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine() as started:
        yield started
