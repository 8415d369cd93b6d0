"""One mistake is one problem, at the characters that are wrong, with what to write instead."""

from __future__ import annotations

from tests.server.analysis.drawing import EVAL, TASK, drawn, fixed, problems


def graders(text: str) -> str:
    return f"{TASK}graders:\n{text}"


def test_a_valid_suite_has_no_problem() -> None:
    assert problems(EVAL, "eval") == ()
    assert problems(graders("  - {type: text, name: a, config: {contains: [done]}}\n")) == ()


def test_a_misspelt_option_is_one_problem_on_its_key() -> None:
    text = graders("  - type: text\n    name: a\n    config:\n      contians: [done]\n")
    assert drawn(text, fixes=True) == (
        "\n"
        "⋯\n"
        "      contians: [done]\n"
        "      ^^^^^^^^ error unknown-key: `config` has no key `contians`; did you mean `contains`? With"
        "out it nothing is checked.\n"
        "        = fix: Change to `contains`\n"
    )


def test_a_misspelt_option_beside_a_right_one_is_a_warning() -> None:
    text = graders(
        "  - type: text\n    name: a\n    config:\n      contains: [done]\n      not_contain: [error]\n"
    )
    assert (
        drawn(text, fixes=True)
        == """
⋯
      not_contain: [error]
      ^^^^^^^^^^^ warning unknown-key: `config` has no key `not_contain`; did you mean `not_contains`?
        = fix: Change to `not_contains`
"""
    )


def test_an_unknown_type_is_one_problem_on_its_value() -> None:
    text = graders("  - type: tekst\n    name: a\n    config:\n      contains: [done]\n      whatever: 1\n")
    assert drawn(text, fixes=True) == (
        "\n"
        "⋯\n"
        "  - type: tekst\n"
        "          ^^^^^ error unknown-grader-type: There is no grader type `tekst`; did you mean `text`"
        "? The types are `action_sequence`, `behavior`, `code`, `diff`, `file`, `human`, `human_calibrat"
        "ion`, `json_schema`, `program`, `prompt`, `skill_invocation`, `text`, `tool_calls`, `tool_const"
        "raint` and `trigger`.\n"
        "            = fix: Change to `text`\n"
    )


def test_a_missing_type_is_reported_on_the_entry() -> None:
    text = graders("  - name: a\n    config:\n      contains: [done]\n")
    assert (
        drawn(text, fixes=True)
        == """
⋯
  - name: a
    ^^^^ error missing-grader-type: This grader has no `type`; without one a run cannot grade.
      = fix: Insert `type: text`
"""
    )


def test_an_empty_type_is_reported_at_the_key() -> None:
    text = graders("  - name: a\n    type:\n    config:\n      contains: [done]\n")
    assert (
        drawn(text, fixes=True)
        == """
⋯
    type:
    ^^^^ error missing-grader-type: This grader has no `type`; without one a run cannot grade.
      = fix: Insert `type: text`
"""
    )


def test_options_beside_type_belong_under_config() -> None:
    text = graders("  - type: text\n    name: a\n    contains: [done]\n")
    assert (
        drawn(text, fixes=True)
        == """
⋯
    contains: [done]
    ^^^^^^^^ error misplaced-key: `contains` belongs under `config`. Without it the run fails.
      = fix: Move under `config`
"""
    )


def test_should_trigger_belongs_under_expected() -> None:
    text = TASK + "should_trigger: true\n"
    assert (
        drawn(text, fixes=True)
        == """
⋯
should_trigger: true
^^^^^^^^^^^^^^ warning misplaced-key: `should_trigger` belongs under `expected`.
  = fix: Move under `expected`
"""
    )


def test_a_key_too_deep_says_where_it_belongs() -> None:
    text = TASK + ("  expected:\n    output_contains: [a]\n")
    assert (
        drawn(text, fixes=True)
        == """
⋯
  expected:
  ^^^^^^^^ warning misplaced-key: `expected` belongs at the top of the file, not under `inputs`.
    = fix: Move to the top of the file
"""
    )


def test_a_root_prompt_belongs_under_inputs() -> None:
    text = "id: t\nname: T\nprompt: Go\n"
    assert (
        drawn(text, fixes=True)
        == """
⋯
prompt: Go
^^^^^^ error misplaced-key: `prompt` belongs under `inputs`. Without it the run fails.
  = fix: Move under `inputs`
"""
    )


def test_timeout_is_called_timeout_seconds() -> None:
    text = EVAL.replace("timeout_seconds: 60", "timeout: 60")
    assert drawn(text, "eval", fixes=True) == (
        "\n"
        "⋯\n"
        "  timeout: 60\n"
        "  ^^^^^^^ error unknown-key: `config` has no key `timeout`; did you mean `timeout_seconds`? Wit"
        "hout it the run fails.\n"
        "    = fix: Change to `timeout_seconds`\n"
    )


def test_a_missing_config_is_reported_at_the_first_key() -> None:
    text = "name: demo\nskill: demo\ntasks: [a.yaml]\n"
    assert drawn(text, "eval", fixes=True) == (
        "\n"
        "name: demo\n"
        "^^^^ error missing-key: `config` is missing in the file: how the suite runs: trials, time limit"
        ", executor, model.\n"
        "  = fix: Insert `config`\n"
    )


def test_a_key_without_value_is_missing() -> None:
    text = EVAL.replace("executor: mock", "executor:")
    assert (
        drawn(text, "eval", fixes=True)
        == """
⋯
  executor:
  ^^^^^^^^ error empty-value: `executor` has no value: write `mock` or `copilot-sdk`.
"""
    )


def test_an_optional_key_without_value_is_fine() -> None:
    text = TASK + ("tags:\ndescription:\n")
    assert problems(text) == ()


def test_an_empty_config_is_an_error() -> None:
    text = graders("  - type: text\n    name: a\n    config:\n")
    assert drawn(text, fixes=True) == (
        "\n"
        "⋯\n"
        "    config:\n"
        "    ^^^^^^ error empty-value: `config` has no value: what must and must not appear in the answe"
        "r; every item of every list is one check.\n"
    )


def test_text_where_a_number_is_due() -> None:
    text = EVAL.replace("trials_per_task: 1", 'trials_per_task: "1"')
    assert (
        drawn(text, "eval", fixes=True)
        == """
⋯
  trials_per_task: "1"
                   ^^^ error wrong-type: `trials_per_task` must be a whole number, not text.
                     = fix: Remove the quotes
"""
    )


def test_a_fraction_where_a_whole_number_is_due() -> None:
    text = EVAL.replace("trials_per_task: 1", "trials_per_task: 1.5")
    assert (
        drawn(text, "eval", fixes=True)
        == """
⋯
  trials_per_task: 1.5
                   ^^^ error wrong-type: `trials_per_task` must be a whole number, not `1.5`.
                     = fix: Change to `1`
"""
    )


def test_yes_where_a_switch_is_due() -> None:
    text = TASK + "enabled: yes\n"
    assert (
        drawn(text, fixes=True)
        == """
⋯
enabled: yes
         ^^^ error wrong-type: `enabled` must be `true` or `false`, not text.
           = fix: Write `true`
"""
    )


def test_text_where_a_list_is_due() -> None:
    text = EVAL.replace("tasks: [tasks/*.yaml]", "tasks: tasks/*.yaml")
    assert (
        drawn(text, "eval", fixes=True)
        == """
⋯
tasks: tasks/*.yaml
       ^^^^^^^^^^^^ error wrong-type: `tasks` must be a list, not text.
         = fix: Make it a list
"""
    )


def test_an_unquoted_version_is_a_warning() -> None:
    text = EVAL + "version: 1.0\n"
    assert (
        drawn(text, "eval", fixes=True)
        == """
⋯
version: 1.0
         ^^^ warning unquoted-text: `1.0` is a number in YAML, and text is meant; put it in quotes.
           = fix: Put it in quotes
"""
    )


def test_a_number_in_a_list_of_text_is_information() -> None:
    text = graders("  - {type: text, name: a, config: {contains: [42, true]}}\n")
    assert drawn(text, fixes=True) == (
        "\n"
        "⋯\n"
        "  - {type: text, name: a, config: {contains: [42, true]}}\n"
        "                                              ^^ information unquoted-text: `42` is a number in"
        " YAML, and text is meant; put it in quotes.\n"
        "                                                = fix: Put it in quotes\n"
        "                                                  ^^^^ information unquoted-text: `true` is a b"
        "oolean in YAML, and text is meant; put it in quotes.\n"
        "                                                    = fix: Put it in quotes\n"
    )


def test_an_unknown_executor_is_a_warning() -> None:
    text = EVAL.replace("executor: mock", "executor: claude")
    assert drawn(text, "eval", fixes=True) == (
        "\n"
        "⋯\n"
        "  executor: claude\n"
        "            ^^^^^^ warning value-not-allowed: `executor` cannot be `claude`; it must be `mock` "
        "or `copilot-sdk`.\n"
        "              = fix: Change to `mock`\n"
        "              = fix: Change to `copilot-sdk`\n"
    )


def test_unknown_keys_of_trigger_tests_are_errors() -> None:
    text = "skill: a\nshould_trigger_prompts:\n  - prompt: Go\n    note: x\n"
    assert (
        drawn(text, "trigger_tests", fixes=True)
        == """
⋯
    note: x
    ^^^^ error unknown-key: This item of `should_trigger_prompts` has no key `note`; a run refuses it.
      = fix: Delete `note`
"""
    )


def test_prompts_in_camel_case() -> None:
    text = "skill: a\nshouldTriggerPrompts:\n  - prompt: Go\n"
    assert drawn(text, "trigger_tests", fixes=True) == (
        "\n"
        "⋯\n"
        "shouldTriggerPrompts:\n"
        "^^^^^^^^^^^^^^^^^^^^ error unknown-key: The file has no key `shouldTriggerPrompts`; did you mea"
        "n `should_trigger_prompts`?\n"
        "  = fix: Change to `should_trigger_prompts`\n"
    )


def test_only_the_chosen_form_is_explained() -> None:
    text = graders(
        "  - type: diff\n"
        "    name: a\n"
        "    config:\n"
        "      expected_files:\n"
        "        - path: a.txt\n"
        "          contain: [x]\n"
    )
    assert drawn(text, fixes=True) == (
        "\n"
        "⋯\n"
        "          contain: [x]\n"
        "          ^^^^^^^ error unknown-key: This item of `expected_files` has no key `contain`; did yo"
        "u mean `contains`? Without it nothing is checked.\n"
        "            = fix: Change to `contains`\n"
    )


def test_a_grader_that_is_text() -> None:
    text = graders("  - text\n")
    assert (
        drawn(text, fixes=True)
        == """
⋯
  - text
    ^^^^ error wrong-type: Every item of `graders` must be a mapping of keys, not text.
"""
    )


def test_graders_that_are_a_mapping() -> None:
    text = graders("  type: text\n  name: a\n")
    assert (
        drawn(text, fixes=True)
        == """
⋯
  type: text
  ^^^^^^^^^^ error wrong-type: `graders` must be a list, not a mapping.
"""
    )


def test_a_file_that_is_a_list() -> None:
    text = "- a\n- b\n"
    assert (
        drawn(text, fixes=True)
        == """
- a
^^^ error wrong-type: The file must be a mapping of keys, not a list.
"""
    )


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


def test_graders_of_different_checkpoints_may_share_a_name() -> None:
    text = TASK + (
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
      = fix: Delete `name`
⋯
  - name: two
    ^^^^ warning unknown-key: This item of `checkpoints` has no key `name`; it has no effect.
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


def test_an_unknown_key_of_the_project_config_is_an_error() -> None:
    text = "defaults:\n  modle: m\n"
    assert (
        drawn(text, "project_config", fixes=True)
        == """
⋯
  modle: m
  ^^^^^ error unknown-key: `defaults` has no key `modle`; did you mean `model`?
    = fix: Change to `model`
"""
    )


def test_a_moved_key_keeps_its_comments_and_leaves_no_empty_mapping() -> None:
    text = (
        "id: t\n"
        "name: T\n"
        "inputs:\n"
        "  prompt: Go\n"
        "expected:\n"
        "  output_contains: [a]\n"
        "  golden: true  # must always pass\n"
    )
    assert fixed(text, "misplaced-key") == (
        "id: t\n"
        "name: T\n"
        "inputs:\n"
        "  prompt: Go\n"
        "golden: true  # must always pass\n"
        "expected:\n"
        "  output_contains: [a]\n"
    )


def test_a_list_is_made_of_text_at_the_right_indentation() -> None:
    text = graders("  - type: text\n    name: a\n    config:\n      contains: done  # soon\n")
    assert fixed(text, "wrong-type") == graders(
        "  - type: text\n    name: a\n    config:\n      contains:\n        - done  # soon\n"
    )


def test_an_inserted_key_stands_where_the_documentation_lists_it() -> None:
    text = graders("  - config:\n      contains: [done]\n    type: text\n")
    assert fixed(text, "recommended-key") == graders(
        "  - config:\n      contains: [done]\n    type: text\n    name: text_check\n"
    )


def test_an_older_type_is_converted_with_its_options() -> None:
    text = graders(
        "  - type: keyword\n    name: a\n    config:\n      keywords: [x]\n      must_not_contain: [y]\n"
    )
    assert fixed(text, "deprecated-grader-type") == graders(
        "  - type: text\n    name: a\n    config:\n      contains: [x]\n      not_contains: [y]\n"
    )


def test_an_older_type_with_options_that_have_no_counterpart_is_left_alone() -> None:
    text = graders(
        "  - type: keyword\n    name: a\n    config:\n      keywords: [x]\n      must_contain: [y]\n"
    )
    (problem,) = (problem for problem in problems(text) if problem.code == "deprecated-grader-type")
    assert problem.fixes == ()
