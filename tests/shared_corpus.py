"""Where the public sample suites and recorded verdicts lie, when this checkout has them beside it."""

import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"
SUITES = SHARED / "corpus" / "suites"
VERDICTS = SHARED / "verdicts"

needs_corpus = pytest.mark.skipif(
    not SUITES.is_dir(), reason="the sample suites are not beside this checkout"
)


def suite_files(*names: str) -> list[Path]:
    """Return the sample files with one of these names (all YAML files without names), sorted."""
    if not SUITES.is_dir():
        return []
    paths = SUITES.rglob("*.y*ml")
    return sorted(path for path in paths if path.is_file() and (not names or path.name in names))


@contextmanager
def writable_suites(folder: Path) -> Generator[Path]:
    """Give a copy of the sample suites below ``folder`` that runs may write to; it is gone afterwards."""
    copies = folder / "suites"
    shutil.copytree(SUITES, copies, copy_function=shutil.copyfile)
    for place in (copies, *(path for path in copies.rglob("*") if path.is_dir())):
        place.chmod(0o755)
    yield copies
    shutil.rmtree(copies)
