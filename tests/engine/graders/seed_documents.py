"""The grader examples of three reference documents, taken out of their text."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from tests.shared_corpus import SHARED

SEEDS = {
    "A": SHARED / "seeds" / "000_e5fec7039114e4d4.txt",
    "B": SHARED / "seeds" / "001_9846e3ce7acb6a49.txt",
    "D": SHARED / "seeds" / "004_11a5cd837773baf2.txt",
}


@dataclass(frozen=True, slots=True)
class Example:
    """A grader entry of a document; ``name`` tells the entries of one document apart."""

    document: str
    name: str
    entry: Mapping[str, Any]


def grader_examples() -> list[Example]:
    """Return every grader entry of the documents A and B, in order; none without the documents."""
    if not all(path.is_file() for path in SEEDS.values()):
        return []
    found: list[Example] = []
    for document in "AB":
        for text in _fenced(_text(document), "yaml"):
            found += _named(document, _entries_of_block(text), found)
    return found


def blocks_that_are_no_yaml() -> list[str]:
    """Return the first lines of the blocks of A and B that no YAML reader takes."""
    return [
        text.splitlines()[0]
        for document in "AB"
        for text in _fenced(_text(document), "yaml")
        if not any(True for _ in _documents(text))
    ]


def grader_files(language: str) -> list[str]:
    """Return the grader files of document D in a language that it shows, and the scripts of A and B."""
    texts = [text for document in "ABD" for text in _fenced(_text(document), language)]
    return [text for text in texts if "export const grade" in text or "json.load(sys.stdin)" in text]


def json_blocks() -> list[str]:
    """Return the JSON blocks of document D."""
    return list(_fenced(_text("D"), "json"))


def _text(document: str) -> str:
    return SEEDS[document].read_text("utf-8")


def _fenced(text: str, language: str) -> Iterator[str]:
    yield from re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)


def _named(document: str, entries: Sequence[Mapping[str, Any]], before: Sequence[Example]) -> list[Example]:
    named: list[Example] = []
    for entry in entries:
        name = str(entry.get("name") or entry.get("type"))
        twins = sum(e.document == document and e.name.split("#")[0] == name for e in (*before, *named))
        named.append(Example(document, f"{name}#{twins + 1}" if twins else name, entry))
    return named


def _entries_of_block(text: str) -> list[Mapping[str, Any]]:
    return [entry for document in _documents(text) for entry in _entries(document)]


def _documents(text: str) -> Iterator[Any]:
    """Yield what a block says; one that shows several variants of a key is taken apart at its comments."""
    keys = re.findall(r"^(\w+):", text, re.M)
    parts = re.split(r"^#.*\n", text, flags=re.M) if len(set(keys)) < len(keys) else [text]
    for part in parts:
        try:
            found = yaml.safe_load(part)
        except yaml.YAMLError:
            # A block may show foreign code before the YAML that it becomes.
            start = part.find("- type:")
            try:
                found = yaml.safe_load(part[start:]) if start > 0 else None
            except yaml.YAMLError:
                found = None
        if found is not None:
            yield found


def _entries(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, list):
        for item in value:
            yield from _entries(item)
    elif isinstance(value, dict):
        if isinstance(value.get("type"), str) and ("name" in value or "config" in value):
            yield value
        elif set(value) == {"assertions"}:
            yield {"type": "code", "name": "assertions", "config": value}
        elif set(value) == {"rubric"}:
            yield {"type": "prompt", "name": "rubric", "config": value}
        else:
            for item in value.values():
                yield from _entries(item)
