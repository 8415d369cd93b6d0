"""Comments that the editor reads: the schema of a file, suppressed diagnostics."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType

from waza_engine.files import printable
from waza_engine.later_patterns import compiled_later
from waza_engine.spelling import MOST_MEANT, listed, nearest, typo_of
from waza_language_server.analysis.directives import (
    DIRECTIVE,
    EVERY_CODE,
    MARK,
    SETTABLE_SEVERITIES,
    is_in_value,
)
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import FileView, Found
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span

CODE = "unknown-code"
_WORD = compiled_later(r"[^,\s=\]]+")
_PAIR = compiled_later(r"([^,\s=\]]+)[ \t]*+=[ \t]*+([^,\s=\]]+)")


def unknown_codes(view: FileView) -> Found:
    """Yield the words in a file's directives that are neither a code nor a severity."""
    text = view.tree.text
    if MARK not in text:
        return
    from waza_language_server.analysis.codes import CODES

    reported = 0
    for match in DIRECTIVE.finditer(text):
        if match["listed"] is None or is_in_value(view.tree, match.start("what")):
            continue
        start, end = match.span("listed")
        if match["what"] == "severity":
            words = [
                (pair.span(group), known, what)
                for pair in _PAIR.finditer(text, start, end)
                for group, known, what in ((1, CODES, "code"), (2, SETTABLE_SEVERITIES, "severity"))
            ]
        else:
            words = [(word.span(), CODES, "code") for word in _WORD.finditer(text, start, end)]
        for place, known, what in words:
            for problem in _unknown(text, Span(*place), known, what, with_fix=reported < MOST_MEANT):
                reported += 1
                yield problem


def _unknown(
    text: str, span: Span, known: Collection[str], what: str, *, with_fix: bool
) -> Iterator[Problem]:
    written = text[span.start : span.end]
    if written in known or written == EVERY_CODE:
        return
    intended = nearest(written, known) if with_fix else None
    fixes: tuple[Fix, ...] = ()
    advice = ", so this comment has no effect."
    if what == "severity":
        advice = f"; write {listed(SETTABLE_SEVERITIES)}."
    if intended is not None:
        advice = f"; did you mean `{intended}`?"
        preferred = typo_of(written, known) == intended
        fixes = (Fix(f"Change to `{intended}`", (Edit(span, intended),), preferred=preferred),)
    yield Problem(CODE, span, f"There is no {what} `{printable(written)}`{advice}", "information", fixes)


_MODELINE = compiled_later(
    r"(?m)^#[ \t]*+yaml-language-server:[ \t]*+\$schema=[^\s#]*?(?P<word>eval|task|config)\.schema\.json"
)
_LOOKED_AT = 4_000
"""In characters: the comment is at the top of a file."""
_WORDS: Mapping[str, str] = MappingProxyType({"eval": "eval", "task": "task", "project_config": "config"})
_TITLES: Mapping[str, str] = MappingProxyType(
    {"eval": "eval files", "task": "tasks", "config": "`.waza.yaml`"}
)


def wrong_schema(view: FileView) -> Iterator[Problem]:
    """Yield the schema that a modeline names for a file of another kind."""
    match = _MODELINE.search(view.tree.text, 0, _LOOKED_AT)
    if match is None or view.tree.is_json or match["word"] == _WORDS.get(view.kind):
        return
    right = _WORDS.get(view.kind)
    span = Span(*match.span("word"))
    message = (
        f"This is the schema of {_TITLES[match['word']]}, so other tools report false errors in this file."
    )
    fixes: tuple[Fix, ...] = ()
    if right is not None:
        fixes = (Fix(f"Change to `{right}.schema.json`", (Edit(span, right),), preferred=True),)
    yield Problem("wrong-schema", span, message, "warning", fixes)
