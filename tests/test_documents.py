"""Each link of a document leads to a file and a heading, and the index lists each page."""

import re
from pathlib import Path

import pytest

from tests.test_plain_language import documents

ROOT = Path(__file__).resolve().parents[1]
PAGES = [path.relative_to(ROOT).as_posix() for path in documents()]


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


def test_the_contributor_guide_lists_each_kind_of_addition() -> None:
    guide = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    assert [page for page in PAGES if page.startswith("docs/howto/") and f"]({page})" not in guide] == []
