"""``docs/security.md`` says what the code does: its limits are the constants, and what it names exists."""

import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "security.md").read_text("utf-8")
_UNITS = {"s": 1, "MB": 10**6, "MiB": 2**20, "characters": 1, "": 1}


def limits() -> Iterator[tuple[str, str]]:
    for line in PAGE.partition("## Limits")[2].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 3 and cells[2].startswith("`waza_"):
            yield cells[1], cells[2].strip("`")


def test_there_are_limits() -> None:
    assert len(list(limits())) > 20


@pytest.mark.parametrize(("written", "path"), list(limits()))
def test_a_limit_is_the_constant(written: str, path: str) -> None:
    number, _, unit = written.partition(" ")
    module, _, name = path.rpartition(".")
    assert float(number) * _UNITS[unit] == getattr(importlib.import_module(module), name)


def test_each_promise_names_a_test_that_exists() -> None:
    rows = [line for line in PAGE.partition("## Limits")[0].splitlines() if line.startswith("| ")]
    promises = [row for row in rows if not row.startswith(("| promise", "| |", "| trusted", "| not trusted"))]
    assert len(promises) > 30
    for row in promises:
        named = re.findall(r"`([\w./-]+\.(?:py|ts))(?:::(\w+))?`", row.rpartition("| ")[2])
        assert named, row
        for file, test in named:
            assert re.search(rf"def {test}\(" if test else "", (ROOT / file).read_text("utf-8")), (file, test)


def test_every_place_that_is_named_exists() -> None:
    named = set(re.findall(r"`(waza_engine/[\w/]+\.py)`", PAGE))
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []
    targets = re.findall(r"\]\(([^)#]+)", PAGE)
    assert [target for target in targets if not (ROOT / "docs" / target).exists()] == []


def test_the_page_is_linked_from_the_readme() -> None:
    assert "](docs/security.md)" in (ROOT / "README.md").read_text("utf-8")
