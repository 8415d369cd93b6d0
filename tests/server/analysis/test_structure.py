"""One mistake is one problem, at the characters that are wrong, with what to write instead."""

import pytest

from tests.server.analysis.drawing import EVAL, TASK, drawn, graders, problems
from waza_language_server.project.document import DocumentKind

CONTAINS = "config: {contains: [x]}"
VALID: dict[str, tuple[str, DocumentKind]] = {
    "a suite": (EVAL, "eval"),
    "a grader": (graders(f"  - {{type: text, name: a, {CONTAINS}}}\n"), "task"),
    "merge keys count as written": (
        graders(f"  - &base\n    type: text\n    name: a\n    {CONTAINS}\n  - <<: *base\n    name: b\n"),
        "task",
    ),
    "an alias has the value of its anchor": (
        graders(
            "  - {type: text, name: a, config: &c {contains: [x]}}\n  - {type: text, name: b, config: *c}\n"
        ),
        "task",
    ),
}


@pytest.mark.parametrize(("text", "kind"), VALID.values(), ids=VALID)
def test_a_valid_file_has_no_problem(text: str, kind: DocumentKind) -> None:
    assert problems(text, kind) == ()


DRAWINGS: dict[str, tuple[str, DocumentKind, str]] = {
    "duplicate names point at the other place": (
        graders(
            "  - {type: text, name: a, config: {contains: [x]}}\n"
            "  - {type: text, name: a, config: {contains: [y]}}\n"
        ),
        "task",
        """
⋯
  - {type: text, name: a, config: {contains: [y]}}
                       ^ warning duplicate-grader-name: Another grader is called `a` too; the result of one overwrites that of the other.
                         = fix: Rename to `a_2`
""",  # noqa: E501
    ),
    "a grader may not have the name under which a list of expected is recorded": (
        graders("  - {type: text, name: _output_contains, config: {contains: [x]}}\n"),
        "task",
        """
⋯
  - {type: text, name: _output_contains, config: {contains: [x]}}
                       ^^^^^^^^^^^^^^^^ warning duplicate-grader-name: `expected.output_contains` is recorded as `_output_contains`, too; the result of one overwrites that of the other.
                         = fix: Rename to `_output_contains_2`
""",  # noqa: E501
    ),
    "graders of different checkpoints may share a name": (
        TASK
        + (
            "  follow_up_prompts: [More]\n"
            "checkpoints:\n"
            "  - name: one\n"
            "    after_turn: 1\n"
            "    graders:\n"
            "      - {type: text, name: a, config: {contains: [x]}}\n"
            "  - name: two\n"
            "    after_turn: 2\n"
            "    graders:\n"
            "      - {type: text, name: a, config: {contains: [x]}}\n"
        ),
        "task",
        """
⋯
  - name: one
    ^^^^ warning unknown-key: This item of `checkpoints` has no key `name`; it has no effect.
      = fix: Turn `name` into a comment
      = fix: Delete `name`
⋯
  - name: two
    ^^^^ warning unknown-key: This item of `checkpoints` has no key `name`; it has no effect.
      = fix: Turn `name` into a comment
      = fix: Delete `name`
""",
    ),
    "wrong characters are counted in code points": (
        graders("  - {type: text, name: '日本😋', config: {contians: [x]}}\n"),
        "task",
        """
⋯
  - {type: text, name: '日本😋', config: {contians: [x]}}
                                          ^^^^^^^^ error unknown-key: `config` has no key `contians`; did you mean `contains`? Without it nothing is checked.
                                            = fix: Change to `contains`
""",  # noqa: E501
    ),
}


@pytest.mark.parametrize(("text", "kind", "drawing"), DRAWINGS.values(), ids=DRAWINGS)
def test_a_mistake_is_one_problem_at_its_characters(text: str, kind: DocumentKind, drawing: str) -> None:
    assert drawn(text, kind, fixes=True) == drawing


def test_settings_that_are_all_comments_are_the_defaults() -> None:
    for text in ("", "# defaults:\n#   model: m\n", "---\n# nothing yet\n"):
        assert problems(text, "project_config") == ()
        assert [problem.code for problem in problems(text, "eval")] == ["empty-file"] or not text
