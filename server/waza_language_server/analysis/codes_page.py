"""The page ``docs/diagnostics.md``: each code with its example, as the editor draws it.

It makes documentation and is no part of the running server; so it alone may use the features above this room.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from waza_engine.terminal import say_document
from waza_language_server.analysis.codes import GROUPS
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import Rule
from waza_language_server.features.annotated_source import annotate_source, carets_of
from waza_language_server.project.document import Document, DocumentKind
from waza_language_server.project.index import Project
from waza_language_server.project.uris import uri_of

_FILE_NAMES = {
    "eval": "eval.yaml",
    "task": "tasks/task.yaml",
    "trigger_tests": "trigger_tests.yaml",
    "project_config": ".waza.yaml",
}
_INTRODUCTION = """\
# Diagnostics

Every problem that the editor and `waza-language-server check` report has a code. An *error* breaks or voids
a run; a *warning* is most likely not what was meant; *information* and *hints* are advice. The drawings show
what an editor underlines, and the fixes it offers.
"""


def diagnostics_page() -> str:
    """Return the whole page as Markdown."""
    parts = [_INTRODUCTION, *_contents()]
    for title, rules in GROUPS.items():
        parts.append(f"## {title}\n")
        parts += [_section(rule) for rule in rules]
    return "\n".join(parts)


def problems_of(rule: Rule, text: str) -> tuple[Problem, ...]:
    """Return the problems with the rule's code in a text, with the rule's other files beside it."""
    if not rule.files:
        document = Document("untitled:example", 0, text, _kind(rule))
        return tuple(problem for problem in diagnose(document) if problem.code == rule.code)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder).resolve() / "suite" / _FILE_NAMES[rule.kind]
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
        for name, content in rule.files.items():
            other = (path.parent / name).resolve()
            other.parent.mkdir(parents=True, exist_ok=True)
            other.write_text(content, encoding="utf-8")
        document = Document(uri_of(path), 0, text, _kind(rule))
        project = Project([path.parents[1]]).with_document(document)
        return tuple(problem for problem in diagnose(document, project) if problem.code == rule.code)


def _contents() -> Iterator[str]:
    yield "| code | severity | |\n|---|---|---|"
    rows = (f"| [`{rule.code}`](#{rule.code}) | {rule.severity} | {rule.title} |" for rule in _rules())
    yield "\n".join(rows) + "\n"


def _section(rule: Rule) -> str:
    drawn = annotate_source(rule.example, carets_of(problems_of(rule, rule.example), fixes=True), context=2)
    remedy = f"No fix is offered: {rule.no_fix}" if rule.no_fix else "The first fix makes of it:"
    lines = [
        f"### {rule.code}",
        f"**{rule.title}** ({rule.severity}). {rule.why}",
        f"```text\n{_shortened(drawn)}```",
        remedy,
    ]
    if not rule.no_fix:
        lines.append(f"```yaml\n{rule.fixed}```")
    return "\n\n".join(lines) + "\n"


def _rules() -> Iterator[Rule]:
    for rules in GROUPS.values():
        yield from rules


def _shortened(text: str) -> str:
    rows = (row if len(row) <= 200 else f"{row[:199]}…" for row in text.splitlines())
    return "".join(f"{row}\n" for row in rows)


def _kind(rule: Rule) -> DocumentKind:
    if rule.kind == "prompts":
        raise ValueError("prompts have no rules")
    return rule.kind


if __name__ == "__main__":
    say_document(diagnostics_page().encode())
