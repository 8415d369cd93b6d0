"""A key that a mapping does not know is one problem on that key: a typo, or at home somewhere else."""

import pytest

from tests.server.analysis.drawing import EVAL, TASK, drawn, fixed, graders, problems
from waza_language_server.project.document import DocumentKind
from waza_language_server.syntax.tried_edits import apply

BEHAVIOR = graders("  - {type: behavior, name: a, config: {max_duration_ms: 30000}}\n")
DRAWINGS: dict[str, tuple[str, DocumentKind, str]] = {
    "a misspelt option beside a right one is a warning": (
        graders(
            "  - type: text\n    name: a\n    config:\n      contains: [done]\n      not_contain: [error]\n"
        ),
        "task",
        """
⋯
      not_contain: [error]
      ^^^^^^^^^^^ warning unknown-key: `config` has no key `not_contain`; did you mean `not_contains`?
        = fix: Change to `not_contains`
""",
    ),
    "options beside type belong under config": (
        graders("  - type: text\n    name: a\n    contains: [done]\n"),
        "task",
        """
⋯
    contains: [done]
    ^^^^^^^^ error misplaced-key: `contains` belongs under `config`. Without it the run fails.
      = fix: Move under `config`
""",
    ),
    "should trigger belongs under expected": (
        TASK + "should_trigger: true\n",
        "task",
        """
⋯
should_trigger: true
^^^^^^^^^^^^^^ warning misplaced-key: `should_trigger` belongs under `expected`.
  = fix: Move under `expected`
""",
    ),
    "a key too deep says where it belongs": (
        TASK + ("  expected:\n    output_contains: [a]\n"),
        "task",
        """
⋯
  expected:
  ^^^^^^^^ warning misplaced-key: `expected` belongs at the top of the file, not under `inputs`.
    = fix: Move to the top of the file
""",
    ),
    "a root prompt belongs under inputs": (
        "id: t\nname: T\nprompt: Go\n",
        "task",
        """
⋯
prompt: Go
^^^^^^ error misplaced-key: `prompt` belongs under `inputs`. Without it the run fails.
  = fix: Move under `inputs`
""",
    ),
    "unknown keys of trigger tests are errors": (
        "skill: a\nshould_trigger_prompts:\n  - prompt: Go\n    note: x\n",
        "trigger_tests",
        """
⋯
    note: x
    ^^^^ error unknown-key: This item of `should_trigger_prompts` has no key `note`; a run refuses it.
      = fix: Turn `note` into a comment
      = fix: Delete `note`
""",
    ),
    "an unknown key of the project config is an error": (
        "defaults:\n  modle: m\n",
        "project_config",
        """
⋯
  modle: m
  ^^^^^ error unknown-key: `defaults` has no key `modle`; did you mean `model`?
    = fix: Change to `model`
""",
    ),
    "an option of another type names that type": (
        graders(
            "  - type: code\n    name: a\n    config:\n"
            "      assertions: ['output']\n      max_tool_calls: 3\n"
        ),
        "task",
        """
⋯
      max_tool_calls: 3
      ^^^^^^^^^^^^^^ warning unknown-key: A `code` grader has no option `max_tool_calls` (one of `behavior` graders); it has no effect.
        = fix: Turn `max_tool_calls` into a comment
        = fix: Delete `max_tool_calls`
""",  # noqa: E501
    ),
    "a misspelt key that is only advised is said once": (
        TASK.replace("id: t", "Id: t"),
        "task",
        """
Id: t
^^ warning unknown-key: The file has no key `Id`; did you mean `id`?
  = fix: Change to `id`
""",
    ),
}


@pytest.mark.parametrize(("text", "kind", "drawing"), DRAWINGS.values(), ids=DRAWINGS)
def test_a_mistake_is_one_problem_at_its_characters(text: str, kind: DocumentKind, drawing: str) -> None:
    assert drawn(text, kind, fixes=True) == drawing


def of_text(config: str) -> str:
    return graders(f"  - type: text\n    name: a\n    config:\n      {config}\n")


GOLDEN = "golden: true  # must always pass\n"
EXPECTED = "expected:\n  output_contains: [a]\n"
FIXES: dict[str, tuple[str, str, DocumentKind]] = {
    "a moved key keeps its comments": (f"{TASK}{EXPECTED}  {GOLDEN}", f"{TASK}{GOLDEN}{EXPECTED}", "task"),
    "one directory of skills is a list of one": (
        EVAL.replace("model: m\n", "model: m\n  skill_directory: ../skills\n"),
        EVAL.replace("model: m\n", "model: m\n  skill_directories:\n    - ../skills\n"),
        "eval",
    ),
    "a renamed key takes a list when its new name does": (
        of_text("pattern: 'a+' # twice"),
        of_text("regex_match:\n        - 'a+' # twice"),
        "task",
    ),
    "minutes": (EVAL.replace("timeout_seconds: 60", "timeout-minutes: 1"), EVAL, "eval"),
    "minutes in camel case": (EVAL.replace("timeout_seconds: 60", "timeoutMinutes: 1"), EVAL, "eval"),
    "seconds for milliseconds": (
        BEHAVIOR.replace("max_duration_ms: 30000", "max_duration_seconds: 30"),
        BEHAVIOR,
        "task",
    ),
    "a single value under the name of a list": (TASK.replace("prompt:", "prompts:"), TASK, "task"),
    "a switch under another name": (
        f"{TASK}expected:\n  skill_activated: true\n",
        f"{TASK}expected:\n  should_trigger: true\n",
        "task",
    ),
    "a copied grader that kept its type": (
        of_text("assertions: ['len(output) > 3']"),
        of_text("assertions: ['len(output) > 3']").replace("type: text", "type: code"),
        "task",
    ),
    "a question": (TASK.replace("prompt:", "query:"), TASK, "task"),
    "labels": (f"{TASK}labels: [a]\n", f"{TASK}tags: [a]\n", "task"),
    "iterations": (EVAL.replace("trials_per_task:", "iterations:"), EVAL, "eval"),
    "a time": (EVAL.replace("timeout_seconds:", "max_time:"), EVAL, "eval"),
    "a time without its unit": (EVAL.replace("timeout_seconds:", "timeout:"), EVAL, "eval"),
    "scenarios": (EVAL.replace("tasks:", "scenarios:"), EVAL, "eval"),
    "hooks": (f"{EVAL}hooks:\n  before: []\n", f"{EVAL}hooks:\n  before_run: []\n", "eval"),
    "words to include": (of_text("must_include: [b]"), of_text("contains: [b]"), "task"),
    "camel case": (
        "skill: a\nshouldTriggerPrompts:\n  - prompt: Go\n",
        "skill: a\nshould_trigger_prompts:\n  - prompt: Go\n",
        "trigger_tests",
    ),
}


@pytest.mark.parametrize(("text", "meant", "kind"), FIXES.values(), ids=FIXES)
def test_the_first_fix_writes_what_was_meant(text: str, meant: str, kind: DocumentKind) -> None:
    [problem] = problems(text, kind)
    assert apply(text, problem.fixes[0].edits) == meant


def test_a_list_beside_a_single_value_is_not_taken_for_it() -> None:
    text = f"{TASK}  prompts: [on]\n"
    assert fixed(text, "unknown-key") == text.replace("prompts", "follow_up_prompts")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("skip: true", "enabled: false"),
        ("disabled: false", "enabled: true"),
        ("expected:\n  should_not_trigger: true", "expected:\n  should_trigger: false"),
    ],
)
def test_a_switch_by_a_contrary_name_is_turned(written: str, meant: str) -> None:
    [problem] = problems(f"{TASK}{written}\n")
    [fix] = problem.fixes
    assert not fix.preferred
    assert apply(f"{TASK}{written}\n", fix.edits) == f"{TASK}{meant}\n"


def test_a_needed_key_one_level_too_high_is_said_once() -> None:
    text = EVAL.replace("  timeout_seconds: 60\n", "").replace("config:", "timeout_seconds: 60\nconfig:")
    assert (
        drawn(text, "eval", fixes=True)
        == """
⋯
timeout_seconds: 60
^^^^^^^^^^^^^^^ warning misplaced-key: `timeout_seconds` belongs under `config`.
  = fix: Move under `config`
"""
    )
    assert problems(fixed(text, "misplaced-key", "eval"), "eval") == ()


def test_a_needed_key_one_level_too_deep_is_said_once() -> None:
    text = EVAL.replace("tasks: [tasks/*.yaml]\n", "").replace("config:", "config:\n  tasks: [tasks/*.yaml]")
    assert (
        drawn(text, "eval", fixes=True)
        == """
⋯
  tasks: [tasks/*.yaml]
  ^^^^^ error misplaced-key: `tasks` belongs at the top of the file, not under `config`. Without it the run fails.
    = fix: Move to the top of the file
"""  # noqa: E501
    )
    assert problems(fixed(text, "misplaced-key", "eval"), "eval") == ()


def test_an_unknown_key_whose_value_a_missing_one_needs() -> None:
    text = EVAL.replace("executor: mock", "runner: mock")
    [problem] = problems(text, "eval")
    assert (
        problem.message == "`config` has no key `runner`; did you mean `executor`? Without it the run fails."
    )
    assert apply(text, problem.fixes[0].edits) == EVAL
    assert not problem.fixes[0].preferred


def test_a_name_under_the_wrong_mapping_moves_where_one_is_missing() -> None:
    text = TASK.replace("name: T\n", "") + "  name: T\n"
    (problem,) = problems(text)
    assert problem.message == "`name` belongs at the top of the file, not under `inputs`."


def test_no_key_is_taken_for_its_opposite() -> None:
    text = graders(
        "  - type: text\n    name: a\n    config:\n      contains: [a]\n      exclude_match: [b]\n"
    )
    (problem,) = problems(text)
    assert [fix.title for fix in problem.fixes if fix.preferred] != ["Change to `regex_match`"]


def test_an_unknown_key_of_the_project_file_costs_that_file_and_no_run() -> None:
    assert (
        drawn("defaults:\n  colour: red\n", "project_config")
        == """
⋯
  colour: red
  ^^^^^^ error unknown-key: `defaults` has no key `colour`; nothing in this file has an effect then.
"""
    )


def test_a_switch_is_not_taken_for_a_list_of_patterns() -> None:
    text = graders(
        "  - type: regex\n    name: a\n    config:\n      must_match: [x]\n      should_match: true\n"
    )
    (problem,) = (each for each in problems(text) if each.code == "unknown-key")
    assert "must_match" not in problem.message
    assert [fix.title for fix in problem.fixes] == [
        "Turn `should_match` into a comment",
        "Delete `should_match`",
    ]
    patterns = text.replace("should_match: true", "should_not_match: [x]")
    assert "did you mean `must_not_match`?" in drawn(patterns)


def test_a_time_in_another_unit() -> None:
    text = EVAL.replace("timeout_seconds: 60", "timeout_ms: 60000")
    assert drawn(text, "eval", fixes=True) == (
        "\n⋯\n  timeout_ms: 60000\n"
        "  ^^^^^^^^^^ warning unknown-key: `config` has no key `timeout_ms`; `timeout_seconds` counts "
        "seconds.\n"
        "    = fix: Change to `timeout_seconds: 60`\n"
    )
    assert fixed(text, "unknown-key", "eval") == EVAL


def test_a_time_that_is_no_whole_number_of_its_unit_is_left_to_the_author() -> None:
    text = graders("  - {type: program, name: a, config: {command: sh, timeout_ms: 1500}}\n")
    [problem] = [each for each in problems(text) if each.code == "unknown-key"]
    assert problem.fixes == ()


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_keys_that_have_lost_their_block_move_together(ending: str) -> None:
    flat = (
        EVAL.replace("config:\n", "# how\n")
        .replace("\n  ", "\n")
        .replace("executor: mock", "executor: mock # m")
    )
    meant = EVAL.replace("config:\n", "# how\nconfig:\n").replace("executor: mock", "executor: mock # m")
    flat, meant = flat.replace("\n", ending), meant.replace("\n", ending)
    [problem, *_] = problems(flat, "eval")
    fix = next(fix for fix in problem.fixes if fix.title == "Move all 4 keys under `config`")
    assert apply(flat, fix.edits) == meant
    empty = flat.replace("# how", "config: # how")
    [problem, *_] = [each for each in problems(empty, "eval") if each.code == "misplaced-key"]
    fix = next(fix for fix in problem.fixes if fix.title == "Move all 4 keys under `config`")
    assert apply(empty, fix.edits) == meant.replace(f"# how{ending}config:", "config: # how")


@pytest.mark.parametrize(("switch", "meant"), [("false", "must_not_match"), ("true", "must_match")])
def test_a_pattern_is_meant_as_the_switch_beside_it_says(switch: str, meant: str) -> None:
    text = graders(
        f"  - type: regex\n    name: a\n    config:\n      pattern: rm\n      should_match: {switch}\n"
    )
    found = [problem.message for problem in problems(text) if problem.code == "unknown-key"]
    assert found == [
        f"`config` has no key `pattern`; did you mean `{meant}`? Without it nothing is checked.",
        "A `regex` grader has no option `should_match`; it has no effect.",
    ]


def test_an_option_that_no_grader_has_is_reported_in_proper_words() -> None:
    text = graders(
        "  - type: action_sequence\n    name: a\n    config:\n      expected_actions: [a]\n"
        "      matching_mode: exact_match\n      alternate_sequences: [[b]]\n"
    )
    (problem,) = problems(text)
    assert problem.message.startswith("An `action_sequence` grader has no option")


def test_options_of_an_older_type_may_be_next_to_it() -> None:
    older = "{type: llm, name: a, model: gpt-4o, rubric: Rate it}"
    assert [problem.code for problem in problems(graders(f"  - {older}\n"))] == ["deprecated-grader-type"]
    newer = older.replace("llm", "prompt")
    assert "misplaced-key" in {problem.code for problem in problems(graders(f"  - {newer}\n"))}


def test_a_reason_to_skip_a_task_is_no_switch() -> None:
    assert not any("enabled" in fix.title for each in problems(f"{TASK}skip: later\n") for fix in each.fixes)


@pytest.mark.parametrize("shared", ["x-shared: &g {type: text}", "x-shared:\n  - &g\n    type: text"])
def test_a_key_that_holds_what_is_taken_over_elsewhere_is_none_to_delete(shared: str) -> None:
    text = f"{TASK}{shared}\ngraders:\n  - <<: *g\n    name: a\n    config: {{contains: [x]}}\n"
    [problem] = problems(text)
    assert (problem.code, problem.severity, problem.fixes) == ("unknown-key", "information", ())


@pytest.mark.parametrize("name", ["settings", "check"])
def test_a_block_is_known_by_the_keys_in_it(name: str) -> None:
    right = graders("  - type: text\n    name: a\n    config:\n      contains: [done]\n")
    text = right.replace("    config:", f"    {name}:")
    (found,) = problems(text)
    assert found.code == "unknown-key"
    assert "did you mean `config`?" in found.message
    assert fixed(text, "unknown-key") == right


def test_a_block_of_common_keys_tells_nothing() -> None:
    (found,) = problems(f"{TASK}owner:\n  name: Ana\n")
    assert "did you mean" not in found.message


def test_options_of_another_type_are_reported_once_at_the_type() -> None:
    right = graders(
        "  - type: text\n    name: a\n    config:\n      contains: [yes]\n      not_contains: [no]\n"
    )
    text = right.replace("type: text", "type: code")
    (found,) = problems(text)
    assert text[found.span.start : found.span.end] == "code"
    assert found.message == (
        "A `code` grader has none of these options, which `text` graders have. As it is the run fails."
    )
    assert fixed(text, "unknown-key") == right


@pytest.mark.parametrize(
    "options",
    [
        pytest.param("max_tool_calls: 3, regex_match: [a]", id="one is known to its type"),
        pytest.param("max_tool_call: 3", id="a typo of one that is known"),
        pytest.param("contains: [a], assertions: [output]", id="those of two other types"),
    ],
)
def test_a_type_that_knows_one_of_its_options_is_kept(options: str) -> None:
    text = graders(f"  - type: behavior\n    name: a\n    config: {{{options}}}\n")
    assert all(text[each.span.start : each.span.end] != "behavior" for each in problems(text))


@pytest.mark.parametrize(
    ("written", "titles"),
    [
        ("models: [a, b]", ["Turn `models` into a comment", "Delete `models`"]),
        ("models: {a: b}", ["Turn `models` into a comment", "Delete `models`"]),
        ("models: [a]", ["Change to `model`"]),
    ],
)
def test_a_key_is_not_renamed_to_one_that_its_value_cannot_become(written: str, titles: list[str]) -> None:
    problem, *others = problems(EVAL.replace("model: m", written), "eval")
    assert [fix.title for fix in problem.fixes] == titles
    assert [other.code for other in others] == ["wrong-type"] * ("Change" in titles[0])
