"""``docs/engine.md`` says what the code does: its limits are the constants, files and events exist."""

import importlib
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import pytest

from waza_engine.executors.executor import ExecutionRequest
from waza_engine.runs.events.stream import EventKind

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "engine.md").read_text("utf-8")
_UNITS = {"s": 1, "MB": 10**6, "MiB": 2**20, "characters": 1, "": 1}


def limits() -> Iterator[tuple[str, str]]:
    section = PAGE.partition("## Limits")[2].partition("\n## ")[0]
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 4 and "waza_engine." in cells[3]:
            yield cells[1], cells[3].strip("`")


def constant(path: str) -> Any:
    module, _, name = path.rpartition(".")
    if module.endswith(".ExecutionRequest"):
        return next(field.default for field in fields(ExecutionRequest) if field.name == name)
    return getattr(importlib.import_module(module), name)


@pytest.mark.parametrize(("written", "path"), list(limits()))
def test_a_limit_is_the_constant(written: str, path: str) -> None:
    number, _, unit = written.partition(" ")
    assert float(number) * _UNITS[unit] == constant(path)


def test_there_are_limits() -> None:
    assert len(list(limits())) > 10


def test_every_file_that_is_named_exists() -> None:
    named = set(re.findall(r"`(waza_engine/[\w/]+(?:\.py)?/?)`", PAGE))
    assert len(named) > 15
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_every_link_leads_somewhere() -> None:
    targets = re.findall(r"\]\(([^)#]+)", PAGE)
    assert [target for target in targets if not (ROOT / "docs" / target).exists()] == []


def test_every_event_is_described_and_no_other() -> None:
    section = PAGE.partition("## Events")[2]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    assert {kind for row in rows for kind in re.findall(r"`(\w+)`", row)} == set(get_args(EventKind))


def test_the_page_is_linked_from_the_readme() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    for page in ("docs/engine.md", "docs/results.md", "docs/graders.md"):
        assert f"]({page})" in readme
