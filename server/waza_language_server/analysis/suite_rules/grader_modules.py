"""Files that grade: how a run starts them, what they read, and the result that they give.

The problems are shown where the suite names the file, and lead into it. The file itself is no document of
the server: an editor would have to send every Python and TypeScript file of the workspace.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, cast

from waza_engine.checkpoint import checkpoint
from waza_engine.files import printable
from waza_engine.spec.grader_results import Vocabulary
from waza_engine.spec.program_files import is_module, why_not_started
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import Found, SuiteView
from waza_language_server.analysis.suite_rules.grader_files import files_needed
from waza_language_server.analysis.suite_rules.named_files import hooks_may_make
from waza_language_server.embedded.grader_files.findings import LONGEST, GraderFinding
from waza_language_server.project.search_folders import bases_of_run, found_at
from waza_language_server.project.suite_file import scalar_text
from waza_language_server.project.uris import path_of, uri_of
from waza_language_server.schema.locate import grader_type
from waza_language_server.text.edit import Related
from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from pathlib import Path

    from waza_language_server.project.facts import Fact
    from waza_language_server.project.index import Project
    from waza_language_server.syntax.nodes import Node

_CODE = "grader-file"
_TYPES = frozenset({"inline", "script", "program"})
_PROTOCOLS = frozenset({"harness-json", "waza-json", "auto"})
_MOST = 10
"""The most findings of one file that are shown where it is named."""


def grader_modules(view: SuiteView) -> Found:
    """Yield what is wrong in the files of graders, at the values that name them."""
    path, project = path_of(view.document.uri), view.workspace.project
    suites = project.suites_of(path) if path is not None else ()
    if any(hooks_may_make(project.tree(suite.path).root) for suite in suites):
        return
    for grader in view.graders.of_types(_TYPES):
        checkpoint()
        vocabulary = _vocabulary(grader)
        for needed in files_needed(grader) if vocabulary is not None else ():
            written = needed.node.value.strip()
            for suite in suites:
                bases = bases_of_run(project, suite.folder)
                place = next(found_at(project, suite.folder, bases, written, "file"), None)
                if place is not None and vocabulary is not None:
                    is_inline = grader_type(grader) == "inline"
                    yield from _problems(project, place, needed.node, vocabulary, is_inline=is_inline)
                    break


def _vocabulary(grader: Node) -> Vocabulary | None:
    """Return the words of the result of a grader, None if it has no result or an unknown one."""
    node = grader.get("config", "protocol")
    written = scalar_text(node) if node is not None else None
    if written is None and grader_type(grader) == "inline":
        return "auto"
    # Scripts of the `script` type may leave their verdict out.
    is_read = written in _PROTOCOLS and grader_type(grader) != "script"
    return cast("Vocabulary", written) if is_read else None


def _problems(
    project: Project, file: Path, node: Node, vocabulary: Vocabulary, *, is_inline: bool
) -> Iterator[Problem]:
    if is_inline and file.suffix != ".py" and not is_module(file):
        if reason := why_not_started(file):
            yield Problem(_CODE, node.span, f"{reason}.", "warning")
        return
    if file.suffix != ".py" and not (is_inline and is_module(file)):
        return
    read = partial(_findings, file.suffix, vocabulary)
    for start, end, line, finding in project.disk.derived(file, f"grader {vocabulary}", read):
        message = f"Line {line} of `{printable(file.name)}`: {finding.message}."
        severity = "information" if finding.is_advice else "warning"
        related = (Related(Span(start, end), finding.message, uri_of(file)),)
        yield Problem(_CODE, node.span, message, severity, related=related)


def _findings(
    suffix: str, vocabulary: Vocabulary, text: Fact[str]
) -> tuple[tuple[int, int, int, GraderFinding], ...]:
    """Return the findings of a file in source order, each with its offsets and line."""
    if not text.known or len(text.value) > LONGEST:
        return ()
    # Most suites name no grader file, and the server starts without these modules.
    if suffix == ".py":
        from waza_language_server.embedded.grader_files.python_programs import program_findings as find
    else:
        from waza_language_server.embedded.grader_files.javascript_modules import module_findings as find
    found = sorted(find(text.value, vocabulary), key=lambda finding: finding.place)
    counted = ((*each.place, text.value.count("\n", 0, each.place[0]) + 1, each) for each in found[:_MOST])
    return tuple(counted)
