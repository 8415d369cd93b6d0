"""The modeline with a schema for other YAML tools, when it is the schema of another kind of file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from waza_engine.later_patterns import compiled_later
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import FileView
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span

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
    if match is None or view.kind == "prompts" or match["word"] == _WORDS.get(view.kind):
        return
    right = _WORDS.get(view.kind)
    span = Span(*match.span("word"))
    message = f"This is the schema of {_TITLES[match['word']]}, by which other tools check this file wrongly."
    fixes: tuple[Fix, ...] = ()
    if right is not None:
        fixes = (Fix(f"Change to `{right}.schema.json`", (Edit(span, right),), preferred=True),)
    yield Problem("wrong-schema", span, message, "warning", fixes)
