"""The stages of the tests: a module belongs to one by its marker, and the other stages do not import it.

``make test`` runs the modules without a marker, ``make check`` those with ``pytestmark = pytest.mark.check``
(programs, servers, editors), ``make test-model`` those marked ``model``. pytest would import every module to
deselect its tests: half a minute in each process.
"""

import re
from pathlib import Path

import pytest

_MODULE_MARKERS = re.compile(r"^pytestmark = (?:\[[^\]]*\]|.*)", re.MULTILINE)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Return True for a test module that ``-m`` deselects as a whole, else None."""
    if not (collection_path.name.startswith("test_") and collection_path.suffix == ".py"):
        return None
    markers = markers_of_module(collection_path)
    expression = re.findall(r"(not )?\b(?!and\b|not\b)(\w+)", config.option.markexpr)
    return True if any(bool(negated) == (marker in markers) for negated, marker in expression) else None


def markers_of_module(path: Path) -> set[str]:
    """Return the names of the markers in the ``pytestmark`` of a module, which is not imported."""
    written = _MODULE_MARKERS.search(path.read_text("utf-8"))
    return set(re.findall(r"pytest\.mark\.(\w+)", written[0])) if written else set()
