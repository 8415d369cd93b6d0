"""Comments with which authors suppress problems or change their severity.

``# waza: ignore[code]`` at the end of a line, or alone above it, suppresses problems of this line, and those
in a text over several lines that begins or ends there; ``# waza: ignore-file[code]`` suppresses those of the
file. ``# waza: severity[code=hint, other=off]`` sets the severity of a code: in ``.waza.yaml`` for the
project, elsewhere for the file. They are comments because upstream drops a ``.waza.yaml`` that has a key it
does not know.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, cast

from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_language_server.analysis.problem import SEVERITIES, Problem, Severity
from waza_language_server.project.uris import path_of
from waza_language_server.syntax.nodes import Node

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.syntax.tree import Tree

EVERY_CODE = "*"
SETTABLE_SEVERITIES = (*SEVERITIES, "off")
"""The severities that a comment may set."""
_NO_CODES: frozenset[str] = frozenset()
MARK = "waza:"
"""The word that every such comment contains."""
DIRECTIVE = compiled_later(
    r"(?m)(?P<before>^[ \t]*+|[ \t])#[ \t]*+waza:[ \t]*+(?P<what>ignore-file|ignore|severity)\b"
    r"(?:[ \t]*+\[(?P<listed>[^\]\r\n]{0,2000})\])?"
)
"""One such comment: its effect, and the codes between its brackets."""


@frozen()
class Directives:
    """Codes to suppress by line and in the entire file, and severities by code."""

    lines: Mapping[int, frozenset[str]] = field(default_factory=dict[int, frozenset[str]])
    file: frozenset[str] = frozenset()
    severities: Mapping[str, str] = field(default_factory=dict[str, str])


def apply_severities(
    problems: Sequence[Problem], document: Document, workspace: Workspace
) -> tuple[Problem, ...]:
    """Return the problems that are not suppressed, with the configured severities."""
    if not problems:
        return ()
    directives = directives_of(document)
    severities = {**workspace.severities, **_of_project(document, workspace), **directives.severities}
    if not severities and not directives.lines and not directives.file:
        return tuple(problems)
    found: list[Problem] = []
    for problem in problems:
        if not _is_ignored(problem, document, directives):
            changed = _with_severity(problem, severities.get(problem.code))
            found += () if changed is None else (changed,)
    return tuple(found)


def directives_of(document: Document) -> Directives:
    """Return the directives of a document."""
    text, lines = document.text, document.lines
    if MARK not in text:
        return Directives()
    by_line: dict[int, frozenset[str]] = {}
    of_file: frozenset[str] = frozenset()
    severities: dict[str, str] = {}
    for match in DIRECTIVE.finditer(text):
        if is_in_value(document.tree, match.start("what")):
            continue
        listed = match["listed"]
        if match["what"] == "severity":
            severities.update(_severities_in(listed or ""))
            continue
        codes = _codes_in(listed)
        if match["what"] == "ignore-file":
            of_file |= codes
            continue
        line = lines.line_of(match.start("what"))
        alone = match.start("before") == lines.line_span(line).start and not match["before"].strip()
        for each in (line, line + 1) if alone else (line,):
            by_line[each] = by_line.get(each, frozenset()) | codes
    return Directives(by_line, of_file, severities)


def severities_of(text: str) -> Mapping[str, str]:
    """Return the severities in the directives of a project file."""
    if MARK not in text:
        return {}
    found = (match for match in DIRECTIVE.finditer(text) if match["what"] == "severity")
    return {
        code: severity for match in found for code, severity in _severities_in(match["listed"] or "").items()
    }


def known_severities(given: object) -> Mapping[str, str]:
    """Return the severities by code that a client sent, without invalid entries."""
    if not isinstance(given, dict):
        return {}
    pairs = cast("dict[object, object]", given).items()
    return {
        code: severity
        for code, severity in pairs
        if isinstance(code, str) and isinstance(severity, str) and severity in SETTABLE_SEVERITIES
    }


def _of_project(document: Document, workspace: Workspace) -> Mapping[str, str]:
    path, project = path_of(document.uri), workspace.project
    config = project.config_of(path) if path is not None else None
    if config is None:
        return {}
    opened = project.documents.get(config)
    if opened is not None:
        return severities_of(opened.text)
    return project.disk.derived(config, "severities", lambda text: severities_of(text.value))


def _is_ignored(problem: Problem, document: Document, directives: Directives) -> bool:
    if {problem.code, EVERY_CODE} & directives.file:
        return True
    if not directives.lines:
        return False
    return any(
        {problem.code, EVERY_CODE} & directives.lines.get(line, _NO_CODES)
        for line in _lines_of(problem, document)
    )


def _lines_of(problem: Problem, document: Document) -> Iterator[int]:
    """Yield the line of a problem, and the first and last line of the scalar around it.

    A comment inside a scalar is a part of it.
    """
    lines = document.lines
    line = lines.line_of(problem.span.start)
    yield line
    scalar = _scalar_around(document.tree, problem.span.start)
    if scalar is not None:
        yield lines.line_of(scalar.span.start)
        if document.text[scalar.span.start] not in "|>":
            yield lines.line_of(scalar.span.end)


def _with_severity(problem: Problem, severity: str | None) -> Problem | None:
    if severity is None or severity == problem.severity:
        return problem
    return None if severity == "off" else replace(problem, severity=cast("Severity", severity))


def _codes_in(listed: str | None) -> frozenset[str]:
    """Return the codes of a list; every code without a list."""
    if listed is None:
        return frozenset({EVERY_CODE})
    return frozenset(code.strip() for code in listed.split(",") if code.strip())


def _severities_in(listed: str) -> dict[str, str]:
    pairs = (pair.partition("=") for pair in listed.split(","))
    return {
        code.strip(): severity.strip()
        for code, _, severity in pairs
        if severity.strip() in SETTABLE_SEVERITIES
    }


def is_in_value(tree: Tree, offset: int) -> bool:
    """Return whether a scalar contains this offset, so that it is text and not a comment."""
    node = _scalar_around(tree, offset)
    if node is None:
        return False
    # The line of the indicator that begins a block scalar may have a comment.
    start = node.span.start
    return not (tree.text[start] in "|>" and not {"\n", "\r"} & set(tree.text[start:offset]))


def _scalar_around(tree: Tree, offset: int) -> Node | None:
    root = tree.root
    node = root.at(offset) if root is not None else None
    if node is None or node.kind != "scalar" or not node.span.start < offset < node.span.end:
        return None
    return node
