"""One typo is reported once, without its consequences elsewhere, and with the problems that it hides."""

import pytest

from tests.server.analysis.drawing import EVAL, TASK, drawn, graders, problems
from tests.server.project.files import workspace_with
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.analysis.fix_validation import FixValidator
from waza_language_server.project.document import Document, DocumentKind
from waza_language_server.syntax.tried_edits import apply
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span

A, B = (
    f"  - type: text\n    name: {name}\n    config:\n      contains: [a]\n      regex_match: [b]\n"
    for name in "ab"
)
METRIC = "  - name: y\n    weight: 0.4\n    threshold: 0.5\n"
METRICS = f"metrics:\n  - name: x\n    weight: 0.6\n    threshold: 0.5\n{METRIC}"
TYPOS: dict[str, tuple[str, str, str, DocumentKind]] = {
    "a key at the margin": (EVAL, "  executor: mock\n", "executor: mock\n", "eval"),
    "a prompt at the margin": (f"{TASK}expected: {{}}\n", "  prompt: Go\n", "prompt: Go\n", "task"),
    "a list too far to the right": (f"{EVAL}{METRICS}graders:\n{A}{B}", "graders:", "  graders:", "eval"),
    "an item too far to the right": (
        f"{EVAL}{METRICS}",
        METRIC,
        METRIC.replace("  -", "    -").replace("\n    ", "\n      "),
        "eval",
    ),
}


@pytest.mark.parametrize(("text", "line", "moved", "kind"), TYPOS.values(), ids=TYPOS)
def test_a_line_at_another_column_is_all(text: str, line: str, moved: str, kind: DocumentKind) -> None:
    changed = text.replace(line, moved, 1)
    code = "misplaced-key" if "prompt" in line else "yaml-indentation"
    known = [problem.code for problem in problems(text, kind)]
    found = [problem for problem in problems(changed, kind) if problem.code not in known]
    assert [problem.code for problem in found] == [code]
    assert apply(changed, found[0].fixes[0].edits) == text


def test_what_is_wrong_besides_is_reported_as_well() -> None:
    text = f"{EVAL}graders:\n{A}".replace("  executor", "executor").replace("contains:", "contians:")
    assert sorted(problem.code for problem in problems(text, "eval")) == ["unknown-key", "yaml-indentation"]


def test_a_fix_that_leaves_a_key_missing_repairs_nothing() -> None:
    fallen = TASK.replace("  prompt", "prompt")
    document = Document("untitled:test", 0, f"{fallen}expected: {{}}\n", "task")
    [typo] = found = diagnose(document, workspace_with())
    validator = FixValidator(document, workspace_with(), found)
    deletion = Fix("Delete", (Edit(Span(at := fallen.index("prompt:"), fallen.index("\n", at) + 1), ""),))
    assert validator.repairs([(typo, typo.fixes[0])])
    assert not validator.repairs([(typo, deletion)], may_reveal=True)


WRONG = graders(A.replace("[a]", "a"))
HIDDEN = {
    "below a dash without its blank": (WRONG.replace("- type", "-type"), "yaml-syntax", "wrong-type"),
    "below a misspelt key": (WRONG.replace("config", "confg"), "unknown-key", "wrong-type"),
    "behind a second document": (
        WRONG.replace("graders:", "---\ngraders:"),
        "several-documents",
        "wrong-type",
    ),
    "beside an open bracket": (
        graders(A.replace("[a]", "[a")).replace("  prompt", "prompt"),
        "misplaced-key",
        "yaml-syntax",
    ),
}


@pytest.mark.parametrize(("text", "one", "other"), HIDDEN.values(), ids=HIDDEN)
def test_a_typo_hides_no_other_mistake(text: str, one: str, other: str) -> None:
    assert {problem.code for problem in problems(text)} == {one, other}


def test_a_misspelt_key_is_renamed_although_more_is_wrong_below_it() -> None:
    document = Document("untitled:test", 0, WRONG.replace("config", "confg"), "task")
    found = diagnose(document, workspace_with())
    chosen = [(each, each.fixes[0]) for each in found if each.code == "unknown-key"]
    assert FixValidator(document, workspace_with(), found).repairs(chosen)


def test_what_is_hidden_below_two_misspelt_keys_is_reported_before_they_are_renamed() -> None:
    text = "tokeens:\n  limts: [a]\n"
    assert [each.code for each in problems(text, "project_config")] == [
        "unknown-key",
        "unknown-key",
        "wrong-type",
    ]


def test_nothing_is_missing_at_an_alias_without_an_anchor() -> None:
    assert drawn(graders("  - type: text\n    name: a\n    config: *options\n")).count("^") == len("*options")
    [problem] = problems(graders("  - <<: *base\n    name: a\n"))
    assert problem.code == "unknown-anchor"


@pytest.mark.parametrize(
    ("marks", "title"),
    [
        ("---", "Delete the `---`"),
        ("...", "Delete the `...`"),
    ],
)
def test_keys_after_a_document_marker_are_not_missing(marks: str, title: str) -> None:
    text = EVAL.replace("config:", f"{marks}\nconfig:")
    [problem] = problems(text, "eval")
    assert problem.code == "several-documents"
    [fix] = problem.fixes
    assert (fix.title, fix.preferred) == (title, False)
    assert problems(apply(text, fix.edits), "eval") == problems(EVAL, "eval") == ()


def test_two_documents_that_cannot_be_one_are_judged_by_the_first() -> None:
    found = problems(f"name: s\n---\n{EVAL}", "eval")
    assert "missing-key" in {problem.code for problem in found}
