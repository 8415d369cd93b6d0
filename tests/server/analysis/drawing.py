"""Drawing the problems of a small document, for the tests of rules."""

from pathlib import Path

from tests.server.project.files import opened, put, workspace_with
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.analysis.problem import Problem
from waza_language_server.features.annotated_source import annotate_source, carets_of
from waza_language_server.project.document import Document, DocumentKind
from waza_language_server.syntax.tried_edits import apply

TASK = "id: t\nname: T\ninputs:\n  prompt: Go\n"
EVAL = """\
name: demo
skill: demo
config:
  trials_per_task: 1
  timeout_seconds: 60
  executor: mock
  model: m
tasks: [tasks/*.yaml]
"""


def graders(text: str) -> str:
    """Return a task with these grader entries."""
    return f"{TASK}graders:\n{text}"


def problems(text: str, kind: DocumentKind = "task") -> tuple[Problem, ...]:
    return diagnose(Document("untitled:test", 0, text, kind), workspace_with())


def problems_in(folder: Path, name: str, text: str, kind: DocumentKind) -> tuple[Problem, ...]:
    """Write and open a file of a workspace; return its problems."""
    document = opened(put(folder, name, text), kind)
    return diagnose(document, workspace_with(document, roots=(folder,)))


def marked(text: str, kind: DocumentKind = "task") -> list[tuple[str, str]]:
    """Return the code of each problem, and the characters that it marks."""
    return [(problem.code, text[problem.span.start : problem.span.end]) for problem in problems(text, kind)]


def drawn(text: str, kind: DocumentKind = "task", *, fixes: bool = False, context: int = 0) -> str:
    """Return the lines with problems, carets below them."""
    return "\n" + annotate_source(text, carets_of(problems(text, kind), fixes=fixes), context=context)


def fixed(text: str, code: str, kind: DocumentKind = "task") -> str:
    """Return the text after the first fix of the first problem with this code."""
    problem = next(problem for problem in problems(text, kind) if problem.code == code)
    fix = next(fix for fix in problem.fixes if fix.edits)
    return apply(text, fix.edits)
