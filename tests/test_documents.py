"""Documents say what the code does: each link leads somewhere, limits are the constants, names exist."""

import importlib
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import pytest

from tests.test_plain_language import documents
from waza_engine.executors.executor import ExecutionRequest
from waza_engine.runs.events.stream import EventKind

ROOT = Path(__file__).resolve().parents[1]
PAGES = [path.relative_to(ROOT).as_posix() for path in documents()]
ENGINE, SECURITY = ((ROOT / "docs" / f"{name}.md").read_text("utf-8") for name in ("engine", "security"))
_UNITS = {"s": 1, "MB": 10**6, "MiB": 2**20, "characters": 1, "": 1}


def anchors_of(text: str) -> set[str]:
    """Return the anchors of a page as GitHub writes them."""
    headings = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in re.findall(r"(?m)^#+ (.*)$", text))
    return {heading.strip().replace(" ", "-") for heading in headings} | set(
        re.findall(r'id="([^"]+)"', text)
    )


@pytest.mark.parametrize("page", PAGES)
def test_each_link_leads_to_a_file_and_a_heading(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    prose = re.sub(r"(?ms)^ *```.*?^ *```|`[^`]+`(?!\])", "", text)
    links = [*re.findall(r"\]\(([^)\s]+)\)", prose), *re.findall(r'(?:src|srcset)="([^"]+)"', text)]
    for link in links:
        name, _, anchor = link.partition("#")
        if "://" not in link and not name.startswith("../out/"):  # built with the extension
            target = (ROOT / page).parent / name if name else ROOT / page
            assert target.exists(), link
            assert not anchor or anchor in anchors_of(target.read_text("utf-8")), link


def test_the_index_lists_each_page() -> None:
    index = (ROOT / "docs" / "README.md").read_text("utf-8")
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"}
    assert pages - set(re.findall(r"\]\(([\w-]+\.md)\)", index)) == set()


@pytest.mark.parametrize("name", ["engine", "results", "graders", "security"])
def test_a_page_is_linked_from_the_readme(name: str) -> None:
    assert f"](docs/{name}.md)" in (ROOT / "README.md").read_text("utf-8")


def test_the_contributor_guide_lists_each_kind_of_addition() -> None:
    guide = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    assert [page for page in PAGES if page.startswith("docs/howto/") and f"]({page})" not in guide] == []


def limits(page: str) -> Iterator[tuple[str, str]]:
    """Yield the limits of a page, each with the name of its constant."""
    section = page.partition("## Limits")[2].partition("\n## ")[0]
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) > 2 and cells[-1].startswith("`waza_"):
            yield cells[1], cells[-1].strip("`")


def constant(path: str) -> Any:
    module, _, name = path.rpartition(".")
    if module.endswith(".ExecutionRequest"):
        return next(field.default for field in fields(ExecutionRequest) if field.name == name)
    return getattr(importlib.import_module(module), name)


@pytest.mark.parametrize(("written", "path"), [*limits(ENGINE), *limits(SECURITY)])
def test_a_limit_is_the_constant(written: str, path: str) -> None:
    number, _, unit = written.partition(" ")
    assert float(number) * _UNITS[unit] == constant(path)


def test_there_are_limits() -> None:
    assert len(list(limits(ENGINE))) > 10
    assert len(list(limits(SECURITY))) > 20


def test_every_place_in_the_code_that_is_named_exists() -> None:
    of_engine = re.findall(r"`(waza_engine/[\w/]+(?:\.py)?/?)`", ENGINE)
    of_security = re.findall(r"`(waza_engine/[\w/]+\.py)`", SECURITY)
    assert len(set(of_engine)) > 15
    assert of_security
    assert [name for name in of_engine + of_security if not (ROOT / name).exists()] == []


def test_every_event_is_described_and_no_other() -> None:
    section = ENGINE.partition("## Events")[2]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    assert {kind for row in rows for kind in re.findall(r"`(\w+)`", row)} == set(get_args(EventKind))


def test_each_promise_of_security_names_a_test_that_exists() -> None:
    rows = [line for line in SECURITY.partition("## Limits")[0].splitlines() if line.startswith("| ")]
    promises = [row for row in rows if not row.startswith(("| promise", "| |", "| trusted", "| not trusted"))]
    assert len(promises) > 30
    for row in promises:
        named = re.findall(r"`([\w./-]+\.(?:py|ts))(?:::(\w+))?`", row.rpartition("| ")[2])
        assert named, row
        for file, test in named:
            assert re.search(rf"def {test}\(" if test else "", (ROOT / file).read_text("utf-8")), (file, test)
