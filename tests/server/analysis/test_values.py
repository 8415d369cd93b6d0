"""A value of the wrong type, none of the allowed ones or beyond its limits is one problem on that value."""

from pathlib import Path
from typing import Any, cast

import pytest

from tests.server.analysis.drawing import EVAL, TASK, drawn, fixed, graders, marked, problems
from waza_engine.spec.reading.yaml_reader import parse_yaml
from waza_language_server.project.document import DocumentKind
from waza_language_server.syntax.tree import parse
from waza_language_server.syntax.tried_edits import apply

DRAWINGS: dict[str, tuple[str, DocumentKind, str]] = {
    "text where a number is due": (
        EVAL.replace("trials_per_task: 1", 'trials_per_task: "1"'),
        "eval",
        """
⋯
  trials_per_task: "1"
                   ^^^ error wrong-type: `trials_per_task` must be a whole number, not text.
                     = fix: Remove the quotes
""",
    ),
    "a fraction where a whole number is due": (
        EVAL.replace("trials_per_task: 1", "trials_per_task: 1.5"),
        "eval",
        """
⋯
  trials_per_task: 1.5
                   ^^^ error wrong-type: `trials_per_task` must be a whole number, not `1.5`.
                     = fix: Change to `1`
""",
    ),
    "a switch in quotes": (
        TASK + "enabled: 'true'\n",
        "task",
        """
⋯
enabled: 'true'
         ^^^^^^ error wrong-type: `enabled` must be `true` or `false`, not text.
           = fix: Remove the quotes
""",
    ),
    "a number for a switch": (
        EVAL.replace("executor: mock", "parallel: 1\n  executor: mock"),
        "eval",
        """
⋯
  parallel: 1
            ^ error wrong-type: `parallel` must be `true` or `false`, not `1`.
              = fix: Write `true`
""",
    ),
    "an unquoted version is a warning": (
        EVAL + "version: 1.0\n",
        "eval",
        """
⋯
version: 1.0
         ^^^ warning unquoted-text: `1.0` is a number in YAML, but a string is expected; put it in quotes.
           = fix: Put it in quotes
""",
    ),
    "a number in a list of text is information": (
        graders("  - {type: text, name: a, config: {contains: [42, true]}}\n"),
        "task",
        """
⋯
  - {type: text, name: a, config: {contains: [42, true]}}
                                              ^^ information unquoted-text: `42` is a number in YAML, but a string is expected; put it in quotes.
                                                = fix: Put it in quotes
                                                  ^^^^ information unquoted-text: `true` is a boolean in YAML, but a string is expected; put it in quotes.
                                                    = fix: Put it in quotes
""",  # noqa: E501
    ),
    "an unknown executor is a warning": (
        EVAL.replace("executor: mock", "executor: claude"),
        "eval",
        """
⋯
  executor: claude
            ^^^^^^ warning value-not-allowed: `executor` cannot be `claude`; it must be `mock`, `copilot-sdk`, `openai`, `command` or `replay`.
              = fix: Change to `mock`
              = fix: Change to `copilot-sdk`
              = fix: Change to `openai`
              = fix: Change to `command`
              = fix: Change to `replay`
""",  # noqa: E501
    ),
    "only the chosen form is explained": (
        graders(
            "  - type: diff\n"
            "    name: a\n"
            "    config:\n"
            "      expected_files:\n"
            "        - path: a.txt\n"
            "          contain: [x]\n"
        ),
        "task",
        """
⋯
          contain: [x]
          ^^^^^^^ error unknown-key: This item of `expected_files` has no key `contain`; did you mean `contains`? Without it nothing is checked.
            = fix: Change to `contains`
""",  # noqa: E501
    ),
    "a grader that is text": (
        graders("  - text\n"),
        "task",
        """
⋯
  - text
    ^^^^ error wrong-type: Every item of `graders` must be a mapping of keys, not text.
""",
    ),
    "a file that is a list": (
        "- a\n- b\n",
        "task",
        """
- a
^^^ error wrong-type: The file must be a mapping of keys, not a list.
""",
    ),
    "an absent value is none of the choices that are named": (
        EVAL.replace("executor: mock", "group_by: tags\n  executor: mock"),
        "eval",
        """
⋯
  group_by: tags
            ^^^^ warning value-not-allowed: `group_by` cannot be `tags`; it must be `model`.
              = fix: Change to `model`
""",
    ),
}


@pytest.mark.parametrize(("text", "kind", "drawing"), DRAWINGS.values(), ids=DRAWINGS)
def test_a_mistake_is_one_problem_at_its_characters(text: str, kind: DocumentKind, drawing: str) -> None:
    assert drawn(text, kind, fixes=True) == drawing


ITEM = "graders:\n  - type: text\n    name: a\n    config:\n"
INPUTS = "id: t\nname: T\ninputs:\n"
TRIGGERS = "skill: a\nshould_trigger_prompts:"
FIXES: dict[str, tuple[str, str, DocumentKind]] = {
    "a misspelt false": (f"{TASK}enabled: flase\n", f"{TASK}enabled: false\n", "task"),
    "a misspelt true": (f"{TASK}enabled: ture\n", f"{TASK}enabled: true\n", "task"),
    "an outcome without its dash": (
        f"{TASK}expected:\n  outcomes:\n    type: task_completed\n",
        f"{TASK}expected:\n  outcomes:\n  - type: task_completed\n",
        "task",
    ),
    **{
        f"keys with dashes and {len(margin)} spaces where a mapping is due": (
            f"{INPUTS}{margin}- prompt: Go\n{margin}- context: {{a: b}}\n",
            f"{INPUTS}{margin}  prompt: Go\n{margin}  context: {{a: b}}\n",
            "task",
        )
        for margin in ("", "  ")
    },
    "text for a list, at the right indentation": (
        f"{TASK}{ITEM}      contains: done  # soon\n",
        f"{TASK}{ITEM}      contains:\n        - done  # soon\n",
        "task",
    ),
    "text for items with one needed key": (
        f"{TRIGGERS} Do it\n",
        f"{TRIGGERS}\n  - prompt: Do it\n",
        "trigger_tests",
    ),
    **{
        f"a single value in a list: {written!r}": (
            f"{INPUTS}  prompt:{written}\n",
            f"{INPUTS}  prompt: {meant}\n",
            "task",
        )
        for written, meant in (
            (" [Go]", "Go"),
            (" [ Go, ]", "Go"),
            ("\n    - Go", "Go"),
            ("\n  - 'Go: on'", "'Go: on'"),
        )
    },
}


@pytest.mark.parametrize(("text", "meant", "kind"), FIXES.values(), ids=FIXES)
def test_a_value_of_another_type_becomes_what_was_meant(text: str, meant: str, kind: DocumentKind) -> None:
    assert fixed(text, "wrong-type", kind) == meant


SIXTY, ONE = "timeout_seconds: 60", "trials_per_task: 1"
NUMBERS = ("'010'", "'500ms'", "'60%'", "'4x'", "'sixty'", "'0,6,1'", f"'{'9' * 400}s'", "'-5s'", "'0,0'")
IN_DOUBT: dict[str, tuple[str, DocumentKind]] = {
    **{each: (EVAL.replace(SIXTY, f"timeout_seconds: {each}"), "eval") for each in NUMBERS},
    **{each: (EVAL.replace(ONE, f"trials_per_task: {each}"), "eval")
       for each in ("!!int one", "!!int '0.5'", "!other 1", "!!str 1")},
    **{each: (EVAL.replace("executor: mock", f"parallel: {each}\n  executor: mock"), "eval")
       for each in ("!!str true", "!!str 'true'")},
    **{each: (f"{TASK}enabled: {each}\n", "task")
       for each in ("[ &x true ]", "[!!bool true]", "[true, # a\n  ]", "\n  - &x true")},
    "items with one key in common": (f"{INPUTS}  - prompt: Go\n  - prompt: Stop\n", "task"),
    "several values for one": (f"{INPUTS}  prompt: [Go, Stop]\n", "task"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "kind"), IN_DOUBT.values(), ids=IN_DOUBT)
def test_what_nobody_can_tell_is_left_to_the_author(text: str, kind: DocumentKind) -> None:
    [problem] = problems(text, kind)
    assert (problem.code, problem.fixes) == ("wrong-type", ())


def test_an_older_spelling_of_a_switch_is_fine() -> None:
    assert problems(TASK + "enabled: yes\n") == ()


def test_a_word_for_a_switch_asks_which_of_the_two() -> None:
    [problem] = problems(TASK + "enabled: maybe\n")
    found = [(fix.title, fix.preferred) for fix in problem.fixes]
    assert found == [("Change to `true`", False), ("Change to `false`", False)]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (" a, b c,d", "\n  - a\n  - b c\n  - d"),
        (' \'["a, b", "c"]\'', "\n  - a, b\n  - c"),
    ],
)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_what_was_meant_to_be_a_list_is_asked_for(written: str, meant: str, ending: str) -> None:
    text = (TASK + f"tags:{written}\nname_of: 🙂\n").replace("\n", ending)
    wrong = [each for each in problems(text) if each.code == "wrong-type"]
    assert fixed(text, "wrong-type") == (TASK + f"tags:{meant}\nname_of: 🙂\n").replace("\n", ending)
    assert not any(fix.preferred for each in wrong for fix in each.fixes)


@pytest.mark.parametrize(
    ("plain", "written"),
    [
        ("trials_per_task: 1", "trials_per_task: !!int '1'"),
        ("trials_per_task: 1", "trials_per_task: ! 1"),
        ("model: m", "model: !local m"),
        ("model: m", "model: !!str 5"),
        ("executor: mock", "executor: mock\n  parallel: !!bool 'true'"),
        ("executor: mock", "executor: mock\n  judge_model: !!null ''"),
    ],
)
def test_a_tag_says_what_a_text_is(plain: str, written: str) -> None:
    assert problems(EVAL.replace(plain, written), "eval") == ()


def test_the_editor_reads_tags_as_a_run_does() -> None:
    values = ["1", "0.5", "true", "yes", "~", "x", "1e999", ".nan", "0x1F", "010", "1" * 500, "1" * 350]
    tags = ["", "! ", *(f"!!{name} " for name in ("int", "float", "bool", "null", "str", "other")), "!x "]
    items = [f"- {tag}{quote}{value}{quote}" for tag in tags for value in values for quote in ("", "'", '"')]
    items += [f'- {tag}""' for tag in tags]
    text = "\n".join(items)
    root = parse(text).root
    assert root is not None
    run = cast("list[Any]", parse_yaml(text, Path("suite.yaml")).value)
    for line, seen, read in zip(items, root.items, run, strict=True):
        assert (line, seen.to_python()) == (line, read)


def test_graders_that_are_a_mapping() -> None:
    text = graders("  type: text\n  name: a\n")
    assert (
        drawn(text, fixes=True)
        == """
⋯
  type: text
  ^^^^^^^^^^ error wrong-type: `graders` must be a list, not a mapping.
    = fix: Make it a list
"""
    )
    assert fixed(text, "wrong-type") == graders("- type: text\n  name: a\n")


def test_a_list_where_one_of_a_few_words_is_due_is_one_problem() -> None:
    text = EVAL.replace("mock", "[]")
    assert [problem.code for problem in problems(text, "eval")] == ["wrong-type"]


def test_a_number_where_one_of_a_few_words_is_due_is_one_problem() -> None:
    text = "skill: s\nshould_trigger_prompts:\n  - prompt: Go\n    confidence: 1\n"
    (problem,) = problems(text, "trigger_tests")
    assert problem.message == "`confidence` cannot be `1`; it must be `high` or `medium`."


def test_quotes_are_not_offered_where_the_text_would_be_wrong_too() -> None:
    text = EVAL + "schemaVersion: true\n"
    assert "Put it in quotes" not in drawn(text, "eval", fixes=True)


def test_a_key_in_place_of_the_name_of_its_variable() -> None:
    provider = "model: m\n  provider:\n    base_url: http://127.0.0.1:1/v1\n    api_key_env: sk-123"
    assert (
        drawn(EVAL.replace("model: m", provider), "eval")
        == """
⋯
    api_key_env: sk-123
                 ^^^^^^ error wrong-form: `api_key_env` must name an environment variable, not hold the key.
"""
    )


@pytest.mark.parametrize(
    ("written", "severity"),
    [("Mock", "error"), ("mcok", "error"), ("openia", "error"), ("claude", "warning")],
)
def test_a_misspelt_executor_is_an_error_and_one_of_a_fork_a_warning(written: str, severity: str) -> None:
    [problem] = problems(EVAL.replace("executor: mock", f"executor: {written}"), "eval")
    assert (problem.code, problem.severity) == ("value-not-allowed", severity)


def test_an_empty_word_is_called_empty() -> None:
    text = f"{TASK}graders:\n  - {{type: code, name: g, config: {{assertions: [x], language: ''}}}}\n"
    assert "`language` cannot be empty; it must be `python` or `javascript`." in drawn(text)


def test_what_yaml_1_1_reads_otherwise_is_a_hint() -> None:
    text = graders("  - type: text\n    name: c\n    config:\n      contains: [no, 12:30, 'on', y]\n")
    assert marked(text) == [("yaml-1-1", "no"), ("yaml-1-1", "12:30")]
    assert 'contains: ["no", 12:30' in fixed(text, "yaml-1-1")


def test_a_command_without_a_value() -> None:
    text = EVAL + "hooks:\n  before_run:\n    - command:\n"
    [problem] = problems(text, "eval")
    assert "*" not in problem.message


def test_the_only_key_of_an_item_without_a_value() -> None:
    text = TASK.replace("Go\n", "Go\n  files:\n    - path:\n")
    assert (
        drawn(text)
        == """
⋯
    - path:
      ^^^^ error nothing-checked: `path` is empty, and this item of `files` needs it.
"""
    )


def test_a_colon_in_an_item_that_is_text() -> None:
    text = TASK + "expected:\n  output_contains:\n    - The result is: it's done\n"
    assert drawn(text, fixes=True) == (
        "\n⋯\n    - The result is: it's done\n"
        "      ^^^^^^^^^^^^^^^^^^^^^^^^ error wrong-type: Every item of `output_contains` must be text,"
        " not a mapping: the `: ` in it turns its first words into a key.\n"
        "        = fix: Put it in quotes\n"
    )
    assert fixed(text, "wrong-type") == text.replace(
        "The result is: it's done", "'The result is: it''s done'"
    )


@pytest.mark.parametrize("quote", ["'", '"'])
def test_a_colon_in_a_text_of_an_assertion(quote: str) -> None:
    expression = f"output.startswith({quote}Result: {quote})"
    text = graders(f"  - type: code\n    name: a\n    config:\n      assertions:\n        - {expression}\n")
    written = "'" + expression.replace("'", "''") + "'"
    [problem] = problems(text)
    assert "`: `" in problem.message
    assert fixed(text, problem.code) == text.replace(expression, written)


def test_a_value_that_is_right_where_it_is_written_is_wrong_at_its_alias() -> None:
    text = TASK + "tags: &a [x]\ntimeout_seconds: *a\n"
    assert (
        drawn(text)
        == """
⋯
timeout_seconds: *a
                 ^^ error wrong-type: `timeout_seconds` must be a whole number, not a list.
"""
    )


def test_a_value_that_is_wrong_at_both_places_is_repaired_where_it_is_written() -> None:
    text = graders(
        "  - {type: text, name: a, weight: &w 0, config: {contains: [a]}}\n"
        "  - {type: text, name: b, weight: *w, config: {contains: [b]}}\n"
    )
    found = [(text[each.span.start : each.span.end], len(each.fixes) > 0) for each in problems(text)]
    assert found == [("0", False), ("*w", False)]
    assert problems(text.replace("&w 0", "&w 2")) == ()


@pytest.mark.parametrize(("template", "sure"), [("{{name}}", True), ("{{ a.b }}", True), ("{name}", False)])
def test_a_template_is_put_in_quotes(template: str, sure: bool) -> None:
    text = TASK.replace("prompt: Go", f"prompt: {template} # why")
    (problem,) = problems(text)
    assert problem.message == ("`prompt` must be text, not a mapping: `{` begins one; put it in quotes.")
    assert [fix.preferred for fix in problem.fixes] == [sure]
    after = fixed(text, "wrong-type", "eval")
    assert after == TASK.replace("prompt: Go", f"prompt: '{template}' # why")
    assert problems(after) == ()


def test_the_name_of_a_tool_in_the_older_form_was_meant_to_be_a_pattern() -> None:
    text = graders(
        "  - type: tool_calls\n    name: a\n    config: {required: [{name: bash}], forbidden: [{tool: rm}]}\n"
    )
    found = problems(text)
    assert [(each.code, each.fixes[0].title) for each in found] == [
        ("unknown-key", "Change to `pattern`"),
        ("unknown-key", "Change to `pattern`"),
    ]
    assert not any(fix.preferred for each in found for fix in each.fixes)


def test_a_value_that_is_right_at_no_other_key_is_not_swapped() -> None:
    text = EVAL.replace("executor: mock", "executor: mok")
    titles = [fix.title for problem in problems(text, "eval") for fix in problem.fixes]
    assert not any("Swap" in title for title in titles)


@pytest.mark.parametrize("pattern", ["a|b", "a;b"])
def test_signs_of_a_pattern_part_no_items(pattern: str) -> None:
    text = graders(f"  - type: text\n    name: a\n    config:\n      regex_match: {pattern}\n")
    assert [[fix.title for fix in each.fixes] for each in problems(text)] == [["Make it a list"]]


@pytest.mark.parametrize(
    ("written", "meant"),
    [("'edit '", "edit"), ("^edit$", "edit"), ("'edit|create'", None), ("'mcp.*'", None)],
)
def test_a_pattern_as_the_name_of_a_tool_is_a_hint(written: str, meant: str | None) -> None:
    text = graders(f"  - type: behavior\n    name: a\n    config: {{required_tools: [{written}]}}\n")
    [problem] = problems(text)
    assert (problem.code, problem.severity) == ("blank-in-tool-name", "hint")
    assert [apply(text, fix.edits) for fix in problem.fixes] == (
        [text.replace(written, meant)] if meant is not None else []
    )


@pytest.mark.parametrize("name", ["'*'", "a/b", "server.tool", "functions/edit-file"])
def test_names_of_tools_as_there_are_some_are_no_patterns(name: str) -> None:
    assert not problems(
        graders(f"  - type: behavior\n    name: a\n    config: {{required_tools: [{name}]}}\n")
    )


@pytest.mark.parametrize("written", ["-20", "-1", "-20, max_tokens: 9"])
def test_a_count_below_zero_may_be_its_limit(written: str) -> None:
    text = graders(f"  - type: behavior\n    name: b\n    config: {{max_tool_calls: {written}}}\n")
    [problem] = problems(text)
    assert problem.code == "out-of-range"
    assert [fix.title for fix in problem.fixes] == ["Change to `0`"]
