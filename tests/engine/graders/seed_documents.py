"""The grader examples of the four reference documents, taken out of their text."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from tests.shared_corpus import SHARED
from waza_engine.graders.registry import BUILT_IN_TYPES, grader_type

SEEDS = {
    "A": SHARED / "seeds" / "000_e5fec7039114e4d4.txt",
    "B": SHARED / "seeds" / "001_9846e3ce7acb6a49.txt",
    "C": SHARED / "seeds" / "003_48343127db5bc48b.txt",
    "D": SHARED / "seeds" / "004_11a5cd837773baf2.txt",
}
_NESTED_KEYS = {
    "content_patterns": ("path", "must_match", "must_not_match"),
    "expected_files": ("path", "snapshot", "contains"),
}
_QUOTED = r"""(?:"(?:[^"\\]|\\.)*"|'[^']*')"""
_SCHEMA_KEYS = ("type", "required", "properties", "enum")


@dataclass(frozen=True, slots=True)
class Example:
    """A grader entry of a document; ``name`` tells the entries of one document apart."""

    document: str
    name: str
    entry: Mapping[str, Any]


def grader_examples() -> list[Example]:
    """Return every grader entry of the documents A, B and C, in order; none without the documents."""
    if not all(path.is_file() for path in SEEDS.values()):
        return []
    found: list[Example] = []
    for document in "AB":
        for text in _fenced(_text(document), "yaml"):
            found += _named(document, _entries_of_block(text), found)
    flat = " ".join(_text("C").split())
    found += _named("C", _flat_entries(flat), found)
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


def _flat_entries(text: str) -> list[Mapping[str, Any]]:
    """Return the entries of document C, whose line breaks were lost: keys and types say where things end."""
    starts = [match.start() for match in re.finditer(r"- type: (\w+) name: ", text)]
    ends = [*starts[1:], len(text)]
    # A table or a heading after an example ends it.
    rest = re.compile(r"\| (?:Option|Field|Prefix|Mode) \||Section titled")
    return [_flat_entry(rest.split(text[start:end])[0]) for start, end in zip(starts, ends, strict=True)]


def _flat_entry(text: str) -> Mapping[str, Any]:
    head = re.match(r"- type: (\w+) name: (\w+) (?:weight: ([\d.]+)(?: #[^:]*?)? )?(?:# .*? )?config: ", text)
    assert head is not None, text[:100]
    kind, name, weight = head.groups()
    assert kind in BUILT_IN_TYPES
    keys = [field.alias or key for key, field in grader_type(kind).config_model.model_fields.items()]
    entry: dict[str, Any] = {"type": kind, "name": name, "config": _flat_block(text[head.end() :], keys)}
    return {**entry, "weight": float(weight)} if weight else entry


def _flat_block(text: str, keys: Sequence[str]) -> dict[str, Any]:
    """Return the keys of a block; it ends where no value follows any more."""
    found: dict[str, Any] = {}
    marks = list(re.finditer(rf"(?:(?<=\s)|^)({'|'.join(sorted(keys, key=len, reverse=True))}):\s", text))
    for mark, following in zip(marks, [*marks[1:], None], strict=True):
        key, raw = mark[1], text[mark.end() : following.start() if following else len(text)]
        if key == "schema":
            return {key: _flat_schema(text[mark.end() :])[0]}
        if key in found:
            break
        if key in _NESTED_KEYS:
            # Keys inside belong to the items.
            items = re.split(r"(?=- path:)", text[mark.end() :])
            found[key] = [
                _flat_block(item[2:], _NESTED_KEYS[key]) for item in items if item.startswith("- path:")
            ]
            break
        found[key] = _flat_value(raw)
    return found


def _flat_value(raw: str) -> Any:
    raw = raw.strip()
    if raw.startswith("|"):
        return re.split(r" # \d\. ", raw[1:].strip())[0]
    if raw.startswith("- "):
        items: list[Any] = []
        while (item := re.match(rf"- ({_QUOTED}|[\w.-]+)(?: # [^-]*)?\s*", raw)) is not None:
            items.append(yaml.safe_load(_unstuck(item[1])))
            raw = raw[item.end() :]
        return items
    scalar = re.match(rf"\[(?:{_QUOTED}|[^\]\"'])*\]|{_QUOTED}|[\w.:/-]+", raw)
    assert scalar is not None, raw[:80]
    return yaml.safe_load(_unstuck(scalar[0]))


def _unstuck(text: str) -> str:
    """Return a value without the next heading, which may stick to it: `trueBehavior`, `30Example`."""
    stuck = re.match(r"(true|false|\d+|[a-z][\w./-]*?)(?=[A-Z][a-z])", text)
    return stuck[1] if stuck else text


def _flat_schema(text: str) -> tuple[dict[str, Any], str]:
    found: dict[str, Any] = {}
    while (
        (key := re.match(r"\s*(\w+): ", text)) is not None and key[1] in _SCHEMA_KEYS and key[1] not in found
    ):
        text = text[key.end() :]
        if key[1] == "properties":
            properties: dict[str, Any] = {}
            while (name := re.match(r"\s*(\w+): ", text)) is not None and name[1] not in _SCHEMA_KEYS:
                properties[name[1]], text = _flat_schema(text[name.end() :])
            found["properties"] = properties
            continue
        value = re.match(r"\[[^\]]*\]|[a-z]+", text)
        assert value is not None, text[:80]
        found[key[1]] = yaml.safe_load(value[0])
        text = text[value.end() :].lstrip()
    return found, text
