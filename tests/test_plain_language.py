"""Documents, docstrings, comments and messages are written in plain English.

The markers are phrases that readers stumble over: fronted clauses, passive verbs without a subject, and words
that mean something else elsewhere.
"""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
GENERATED = ("docs/graders.md", "docs/diagnostics.md")

GROUPS = (
    "documents",
    "generated documents",
    *(f"{part} {kind}" for part in ("engine", "server") for kind in ("docstrings", "comments", "strings")),
    "extension comments",
    "extension strings",
)

_OPENING = r"(?:^|(?<=[.!] )|(?<=\n\n))"
MARKERS: Mapping[str, str] = {
    # Instead: the subject first. A question may begin like this.
    "What …, Of which …": _OPENING + r"(?:What|Which|Of (?:what|which|whom|whose))\b(?![^.]*\?)",
    "Who …, Whoever …": _OPENING + r"Who(?:ever|se)?\b(?![^.]*\?)",
    "Whether …": _OPENING + r"Whether\b",  # Return whether
    "stands at": r"\b(?:stands?|stood|standing) (?:at|in|on|beside|behind|before|below|above|under|there)\b",
    "is told": r"\b(?:is|are|was|were|be|been|being) told\b",  # is reported
    "tells of": r"\b(?:tell|tells|told) of\b|\btells (?:what|which)\b",  # reports
    "is said": r"\b(?:is|are|was|were) said\b",
    "is asked for": r"\b(?:is|are|was|were) asked (?:for|of|again|anyway)\b",  # is requested
    "is none": r"(?<!there )\b(?:is|are|was|were) none\b(?! of)",  # does not exist, is not a …
    "anew": r"\banew\b",  # again
    "otherwise than": r"\botherwise than\b",  # differently from
    "comes to": r"\b(?:what(?: \w+){0,4}|it|they|that|and|has|have) (?:comes?|came) to\b",  # the result is
    "slip": r"\bslips? (?:of the pen|in|of)\b",  # typo
    "how manieth": r"\bhow manieth\b",  # index
    "nobody": r"\bnobody (?:judges|knows|asks|needs|is|has)\b",  # no judge model
}
_PYTHON = re.compile(
    r"""(?mx)
    (?P<docstrings> ^[ \t]*(?P<quotes>\"{3}) [\s\S]*? (?P=quotes))
    | (?P<strings> \"{3} [\s\S]*? \"{3} | '{3} [\s\S]*? '{3} | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*')
    | (?P<comments> (?:^[ \t]*\#[^\n]*\n)+ | \#[^\n]*)
    """
)
_MARKER = {name: re.compile(pattern) for name, pattern in MARKERS.items()}


def texts() -> Iterator[tuple[str, str, str]]:
    """Yield each text that is shipped: its group, its file, and its words without code."""
    for path in documents():
        name = path.relative_to(ROOT).as_posix()
        group = "generated documents" if name in GENERATED else "documents"
        yield group, name, prose_of_markdown(_read(path))
    for group, package in (("engine", "waza_engine"), ("server", "server/waza_language_server")):
        for path in sorted((ROOT / package).rglob("*.py")):
            for kind, text in texts_of_python(_read(path)):
                yield f"{group} {kind}", path.relative_to(ROOT).as_posix(), text
    extension = ROOT / "vscode-extension"
    for path in sorted((extension / "src").rglob("*.ts")):
        for kind, text in texts_of_typescript(_read(path)):
            yield f"extension {kind}", path.relative_to(ROOT).as_posix(), text
    for text in json.loads(_read(extension / "package.nls.json")).values():
        yield "extension strings", "vscode-extension/package.nls.json", without_code(text)


def documents() -> list[Path]:
    """Return the documents that people read."""
    places = (
        "*.md",
        "docs/**/*.md",
        "examples/**/README.md",
        "vscode-extension/*.md",
        "vscode-extension/walkthrough/*.md",
    )
    return sorted(path for place in places for path in ROOT.glob(place))


def texts_of_python(source: str) -> Iterator[tuple[str, str]]:
    """Yield the docstrings, comments and strings of a Python module."""
    for match in _PYTHON.finditer(source):
        kind = match.lastgroup or ""
        text = match[0].strip()
        if kind == "comments":
            yield kind, without_code(re.sub(r"(?m)^[ \t]*#+:? ?", "", text))
        else:
            yield kind, without_code(text.strip("\"'"))


def texts_of_typescript(source: str) -> Iterator[tuple[str, str]]:
    """Yield the comments and strings of a TypeScript module."""
    pattern = r"(?m)(?P<comment>/\*[\s\S]*?\*/|(?:^[ \t]*//.*\n)+)|(?P<string>\"[^\"\n]*\"|'[^'\n]*'|`[^`]*`)"
    for match in re.finditer(pattern, source):
        if match["comment"]:
            yield "comments", without_code(re.sub(r"(?m)^\s*(?:/\*\*?|\*/?|//) ?|\*/", "", match[0]))
        else:
            yield "strings", without_code(match[0][1:-1])


def prose_of_markdown(text: str) -> str:
    """Return the sentences of a Markdown page: without code, headings and bold words."""
    text = re.sub(r"(?ms)^ *```.*?^ *```|^#.*?$|\*\*[^*]+\*\*", "\n", text)
    text = re.sub(r"(?m)^ *(?:[-*]|\d+\.) +|\|", "\n\n", text)
    return without_code(text)


def without_code(text: str) -> str:
    """Return a text whose code is a single word, on as few lines as its paragraphs."""
    text = re.sub(r"``.+?``|`[^`]+`", "X", text)
    return re.sub(r"(?<!\n)\n[ \t]*(?!\n)", " ", re.sub(r"\n\s*\n\s*", "\n\n", text)).strip()


def markers_in(text: str) -> Iterator[str]:
    """Yield each marker of a text with the words around it."""
    for name, pattern in _MARKER.items():
        for match in pattern.finditer(text):
            around = text[max(match.start() - 30, 0) : match.end() + 40]
            yield f"{name}: {' '.join(around.split())}"


@cache
def findings() -> Mapping[str, list[str]]:
    """Return the markers of each group, with their files."""
    found: dict[str, list[str]] = {group: [] for group in GROUPS}
    for group, file, text in texts():
        found[group] += [f"{file}: {marker}" for marker in markers_in(text)]
    return found


@pytest.mark.parametrize("group", GROUPS)
def test_no_text_has_a_marker(group: str) -> None:
    assert findings()[group] == []


@pytest.mark.parametrize(
    "sentence",
    [
        "What is wrong is shown.",
        "It fails. Whoever asks again gets it.",
        "Whether a file is read.",
        "The value stands beside its key.",
        "The mistake is told.",
        "A suite that is none is left alone.",
        "It is written anew.",
        "It is written otherwise than before.",
        "Of which nothing is known.",
        "Show what a run came to.",
    ],
)
def test_a_marker_is_found(sentence: str) -> None:
    assert list(markers_in(sentence))


@pytest.mark.parametrize(
    "sentence",
    [
        "What is wrong with it?",
        "Return whether a file is read.",
        "The value is next to its key.",
        "None of them is read.",
        "The run comes to an end.",
        "Messages are short: what is wrong, and where.",
        "The default applies if there is none.",
    ],
)
def test_plain_sentences_have_no_marker(sentence: str) -> None:
    assert list(markers_in(sentence)) == []


def test_each_kind_of_text_is_read() -> None:
    python = '"""Is told."""\n# Is told.\nx = f"Is told {1}."\n'
    assert sorted(kind for kind, _ in texts_of_python(python)) == ["comments", "docstrings", "strings"]
    assert list(texts_of_typescript('/** Is told. */\nx("is told");\n')) == [
        ("comments", "Is told."),
        ("strings", "is told"),
    ]
    assert prose_of_markdown("# What is it\n\n`is told` **What.** Text.\n").split() == ["X", "Text."]


def _read(path: Path) -> str:
    return path.read_text("utf-8")
