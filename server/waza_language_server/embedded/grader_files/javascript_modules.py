"""Grader files in JavaScript and TypeScript: modules that must export a function `grade`.

The source is searched for a few patterns, not parsed: a module that they do not decide is not reported.
"""

from __future__ import annotations

from collections.abc import Iterator

from waza_engine.later_patterns import compiled_later
from waza_language_server.embedded.grader_files.findings import GraderFinding

_MAY_EXPORT = compiled_later(
    r"\b(?:module|exports|require)\b"
    r"|\bexport\s*(?:\*|\{[^}]*\bgrade\b|(?!\s*default\b)[^;]{0,200}?\bgrade\b"
    r"|default\s++(?!async\b|function\b|\())"
)
"""An export that is, or may be, one of ``grade``."""
_MISTAKES = (
    (
        compiled_later(r"\bexport\s+(?P<place>default)\b"),
        "export the function under this name, not as the default",
    ),
    (
        compiled_later(r"\b(?:const|let|var|function)\s+(?P<place>grade)\b"),
        "write `export` before it, or list it in an `export`",
    ),
    (compiled_later(r"\A(?P<place>\w*)"), "export one"),
)
"""The likely mistakes in a module without such an export, and what to do instead."""


def module_findings(text: str) -> Iterator[GraderFinding]:
    """Yield the problem of a grader module that does not export ``grade``."""
    if _MAY_EXPORT.search(text) is not None:
        return
    for pattern, instead in _MISTAKES:
        if (found := pattern.search(text)) is not None:
            message = f"every answer ends in an error, because no function `grade` is exported; {instead}"
            yield GraderFinding(found.span("place"), message)
            return
