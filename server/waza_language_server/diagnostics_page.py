"""The page ``docs/diagnostics.md``: each code with its example, as the editor draws it.

``python -m waza_language_server.diagnostics_page`` prints it. It is not part of the running server.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from waza_engine.terminal import say_document
from waza_language_server.analysis.codes import GROUPS
from waza_language_server.analysis.codes.code import Code
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.analysis.problem import Problem
from waza_language_server.features.annotated_source import annotate_source, carets_of
from waza_language_server.project.document import Document
from waza_language_server.project.index import Project
from waza_language_server.project.uris import uri_of
from waza_language_server.project.workspace import Workspace
from waza_language_server.schema.catalog import default_catalog

_FILE_NAMES = {
    "eval": "eval.yaml",
    "task": "tasks/task.yaml",
    "trigger_tests": "trigger_tests.yaml",
    "project_config": ".waza.yaml",
    "skill": "SKILL.md",
    "vally_eval": "demo.eval.yaml",
    "vally_project": ".vally.yaml",
}
_LANGUAGES = {"evals_json": "json", "adapter": "json", "prompts": "json"}
_INTRODUCTION = """\
# Diagnostics

Every problem that the editor and `waza-language-server check` report has a code. An *error* breaks or
invalidates a run; a *warning* is most likely a mistake; *information* and *hints* are advice. The drawings
show what an editor underlines, and the fixes it offers.

## Suppress a diagnostic

* `# waza: ignore[code]` at the end of a line, or alone on the line above, suppresses a code there. For a
  string of several lines, write it where the string begins: `- | # waza: ignore[code]`.
* `# waza: ignore-file[code]` suppresses a code in the entire file.
* Without brackets, both suppress all codes.

## Change the severity

`# waza: severity[code=hint, other=off]` sets the severity of codes (`error`, `warning`, `information`,
`hint`, `off`): in `.waza.yaml` for the project, in any other file for that file. The editor's setting
`waza.diagnostics.severity` applies if neither does.

For CI, use `waza-language-server check --format sarif`, `--format github`, `gitlab` or
`junit`. `waza-language-server explain CODE` prints the paragraph of a code.
"""


def diagnostics_page() -> str:
    """Return the whole page as Markdown."""
    parts = [_INTRODUCTION, *_contents()]
    for title, entries in GROUPS.items():
        parts.append(f"## {title}\n")
        parts += [section(entry) for entry in entries]
    return "\n".join(parts)


def problems_of(entry: Code, text: str) -> tuple[Problem, ...]:
    """Return the problems with a code in a text, next to the other files of its example."""
    if not entry.files:
        document = Document("untitled:example", 0, text, entry.kind)
        workspace = Workspace(Project(), default_catalog())
        return tuple(problem for problem in diagnose(document, workspace) if problem.code == entry.code)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder).resolve() / "suite" / _FILE_NAMES[entry.kind]
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
        for name, content in entry.files.items():
            other = (path.parent / name).resolve()
            other.parent.mkdir(parents=True, exist_ok=True)
            other.write_text(content, encoding="utf-8")
        document = Document(uri_of(path), 0, text, entry.kind)
        workspace = Workspace(Project([path.parents[1]]), default_catalog()).with_document(document)
        return tuple(problem for problem in diagnose(document, workspace) if problem.code == entry.code)


def _contents() -> Iterator[str]:
    yield "| code | severity | |\n|---|---|---|"
    rows = (f"| [`{entry.code}`](#{entry.code}) | {entry.severity} | {entry.title} |" for entry in _entries())
    yield "\n".join(rows) + "\n"


def section(entry: Code) -> str:
    """Return the paragraph of a code as Markdown: the reason, an example, and the example after its fix."""
    drawn = annotate_source(
        entry.example, carets_of(problems_of(entry, entry.example), fixes=True), context=2
    )
    remedy = f"No fix is offered: {entry.no_fix}" if entry.no_fix else "After the first fix:"
    lines = [
        f"### {entry.code}",
        f"**{entry.title}** ({entry.severity}). {entry.why}",
        f"```text\n{_shortened(drawn)}```",
        remedy,
    ]
    if not entry.no_fix:
        lines.append(f"```{_LANGUAGES.get(entry.kind, 'yaml')}\n{entry.fixed}```")
    return "\n\n".join(lines) + "\n"


def _entries() -> Iterator[Code]:
    for entries in GROUPS.values():
        yield from entries


def _shortened(text: str) -> str:
    rows = (row if len(row) <= 200 else f"{row[:199]}…" for row in text.splitlines())
    return "".join(f"{row}\n" for row in rows)


if __name__ == "__main__":
    say_document(diagnostics_page().encode(), "markdown")
