"""One mistake is one problem, at the characters that are wrong, with what to write instead."""

from tests.server.analysis.drawing import EVAL, TASK, drawn, graders, problems


def test_a_valid_suite_has_no_problem() -> None:
    assert problems(EVAL, "eval") == ()
    assert problems(graders("  - {type: text, name: a, config: {contains: [done]}}\n")) == ()


def test_duplicate_names_point_at_the_other_place() -> None:
    text = graders(
        "  - {type: text, name: a, config: {contains: [x]}}\n"
        "  - {type: text, name: a, config: {contains: [y]}}\n"
    )
    assert drawn(text, fixes=True) == (
        "\n"
        "⋯\n"
        "  - {type: text, name: a, config: {contains: [y]}}\n"
        "                       ^ warning duplicate-grader-name: Another grader is called `a` too; the r"
        "esult of one overwrites that of the other.\n"
        "                         = fix: Rename to `a_2`\n"
    )


def test_a_grader_may_not_have_the_name_under_which_a_list_of_expected_is_recorded() -> None:
    text = graders("  - {type: text, name: _output_contains, config: {contains: [x]}}\n")
    assert drawn(text, fixes=True) == (
        "\n"
        "⋯\n"
        "  - {type: text, name: _output_contains, config: {contains: [x]}}\n"
        "                       ^^^^^^^^^^^^^^^^ warning duplicate-grader-name: `expected.output_contains` "
        "is recorded as `_output_contains`, too; the result of one overwrites that of the other.\n"
        "                         = fix: Rename to `_output_contains_2`\n"
    )


def test_graders_of_different_checkpoints_may_share_a_name() -> None:
    text = TASK + (
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
    )
    assert (
        drawn(text, fixes=True)
        == """
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
"""
    )


def test_merge_keys_count_as_written() -> None:
    text = graders(
        "  - &base\n    type: text\n    name: a\n    config: {contains: [x]}\n  - <<: *base\n    name: b\n"
    )
    assert problems(text) == ()


def test_an_alias_stands_for_its_anchor() -> None:
    text = graders(
        "  - {type: text, name: a, config: &c {contains: [x]}}\n  - {type: text, name: b, config: *c}\n"
    )
    assert problems(text) == ()


def test_wrong_characters_are_counted_in_code_points() -> None:
    text = graders("  - {type: text, name: '日本😋', config: {contians: [x]}}\n")
    assert drawn(text, fixes=True) == (
        "\n"
        "⋯\n"
        "  - {type: text, name: '日本😋', config: {contians: [x]}}\n"
        "                                          ^^^^^^^^ error unknown-key: `config` has no key `cont"
        "ians`; did you mean `contains`? Without it nothing is checked.\n"
        "                                            = fix: Change to `contains`\n"
    )


def test_nothing_cascades_from_broken_yaml() -> None:
    text = graders('  - type: text\n    name: "a\n    config:\n      contains: [x]\n')
    assert (
        drawn(text, fixes=True)
        == """
⋯
    name: "a
          ^^ error yaml-syntax: The quote opened here is never closed; end the text with `"`.
            = fix: Add the closing `"`
"""
    )


def test_several_documents() -> None:
    text = TASK + ("---\nid: u\n")
    assert drawn(text, fixes=True) == (
        "\n"
        "⋯\n"
        "---\n"
        "^^^ error several-documents: A file holds one document; what follows this line is ignored, so m"
        "ove it to a file of its own.\n"
    )


def test_settings_that_are_all_comments_are_the_defaults() -> None:
    for text in ("", "# defaults:\n#   model: m\n", "---\n# nothing yet\n"):
        assert problems(text, "project_config") == ()
        assert [problem.code for problem in problems(text, "eval")] == ["empty-file"] or not text
