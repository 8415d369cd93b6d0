"""Values in another form than is due, with the fix that regroups them: mappings by name, blocks in blocks."""

from __future__ import annotations

import pytest

from tests.server.analysis.drawing import EVAL, TASK, drawn, fixed, graders, problems
from tests.server.project.files import workspace_with
from waza_engine.steps import finished
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.analysis.trial import Trials
from waza_language_server.features.actions.code_actions import code_actions_in_steps, fix_all_in_steps
from waza_language_server.project.document import Document
from waza_language_server.syntax.tried_edits import apply
from waza_language_server.text.span import Span

BY_NAME = EVAL + "graders:\n  polite: # why\n    type: text\n    config: {contains: [a]}\n"


def test_graders_by_name_become_a_list() -> None:
    assert fixed(BY_NAME, "wrong-type", "eval") == (
        EVAL + "graders:\n  - name: polite # why\n    type: text\n    config: {contains: [a]}\n"
    )


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("\n  1:\n      name: One\n", '\n  -   id: "1"\n      name: One\n'),
        ("\n  'a b': {name: One}\n  c: {}\n", "\n  - {id: 'a b', name: One}\n  - {id: c}\n"),
        (" {a: {name: One}, b: {name: Two}}\n", " [{id: a, name: One}, {id: b, name: Two}]\n"),
        ("\r\n  a:\r\n    name: One\r\n", "\r\n  - id: a\r\n    name: One\r\n"),
    ],
)
def test_tasks_by_id_become_a_list(written: str, meant: str) -> None:
    text = EVAL.replace(" [tasks/*.yaml]\n", written)
    assert fixed(text, "wrong-type", "eval") == EVAL.replace(" [tasks/*.yaml]\n", meant)


@pytest.mark.parametrize(
    "written",
    [
        "  a:\n    name: b\n    type: text\n",
        "  a:\n   type: text\n",
        "  a: &x\n    type: text\n",
        "  a: text\n",
        "  config: {contains: [a]}\n",
        "  a:\n    type: text\n  b:\n",
    ],
)
def test_a_mapping_whose_keys_may_be_no_names_stays_one(written: str) -> None:
    found = problems(f"{EVAL}graders:\n{written}", "eval")
    edits = [edit.text for each in found for fix in each.fixes for edit in fix.edits if fix.preferred]
    assert not any("name" in edit for edit in edits)


@pytest.mark.parametrize(
    ("key", "written", "meant"),
    [
        ("environment", "- name: A\n      value: x\n    - name: B\n      value: y", "A: x\n    B: y"),
        ("environment", "- A: x\n    - B: y", "  A: x\n      B: y"),
        ("environment", "- name: A # c\n      value: x", None),
        ("environment", "- name: A\n      value: x\n    - name: A\n      value: y", None),
        ("environment", "- A\n    - B", None),
    ],
)
def test_a_list_of_names_where_a_mapping_is_due(key: str, written: str, meant: str | None) -> None:
    document = Document("untitled:t", 0, f"{TASK}  {key}:\n    {written}\n", "task")
    [problem] = found = diagnose(document, workspace_with())
    trials = Trials(document, workspace_with(), found)
    offered = [fix for fix in problem.fixes if finished(trials.repairs([(problem, fix)]))]
    texts = [apply(document.text, fix.edits) for fix in offered]
    assert texts == ([document.text.replace(written, meant)] if meant else [])


def test_mcp_servers_as_a_list_become_a_mapping_by_their_names() -> None:
    meant = EVAL.replace(
        "model: m\n",
        "model: m\n  mcp_servers:\n    files: # c\n      command: a\n    other:\n      type: http\n",
    )
    text = meant.replace("files:", "- name: files").replace("other:", "- name: other")
    [problem] = problems(text, "eval")
    assert [apply(text, fix.edits) for fix in problem.fixes] == [meant]
    # One without a name is not made a server for each of its keys unasked.
    [problem] = problems(meant.replace("files:", "-").replace("    other:\n      type: http\n", ""), "eval")
    assert not any(fix.preferred for fix in problem.fixes)


def test_a_block_in_a_block_of_its_name_is_one_mistake() -> None:
    text = EVAL.replace("config:\n", "config:\n  config: # inner\n").replace("\n  t", "\n    t")
    text = text.replace("\n  executor", "\n    executor").replace("\n  model", "\n    model")
    assert (
        drawn(text, "eval", fixes=True)
        == """
⋯
  config: # inner
  ^^^^^^ error misplaced-key: `config` stands in `config`; its keys belong one level further up. Without it \
the run fails.
    = fix: Write `config:` once
"""
    )
    assert fixed(text, "misplaced-key", "eval") == EVAL.replace("config:\n", "config:\n  # inner\n")


def test_a_block_beside_other_keys_of_the_same_mapping_is_unwrapped_there() -> None:
    text = "name: T\nid: t\ninputs:\n  inputs:\n      prompt: |\n        a\n          b\n  context: {a: 1}\n"
    assert fixed(text, "misplaced-key") == (
        "name: T\nid: t\ninputs:\n  prompt: |\n    a\n      b\n  context: {a: 1}\n"
    )


def test_a_block_that_repeats_a_key_around_it_is_left_to_the_author() -> None:
    text = TASK.replace("  prompt: Go\n", "  prompt: Go\n  inputs:\n    prompt: Stay\n")
    assert not any(fix.title.startswith("Write") for each in problems(text) for fix in each.fixes)


def test_a_key_that_stands_twice_on_a_line_is_written_once() -> None:
    text = EVAL.replace("config:", "config: config:")
    assert fixed(text, "yaml-syntax", "eval") == EVAL
    [problem] = problems(TASK.replace("name: T", "name: name: T"))
    assert (problem.fixes[0].title, problem.fixes[0].preferred) == ("Write `name:` once", False)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (" Go\n", "\n  prompt: Go\n"),
        (" 'Go: on' # why\n", "\n  prompt: 'Go: on' # why\n"),
        (" |\n  Go\n\n  on\n", "\n  prompt: |\n    Go\n\n    on\n"),
        ("\n  Go\n  on\n", "\n  prompt: Go\n    on\n"),
    ],
)
def test_a_text_where_a_block_with_a_text_is_due(written: str, meant: str) -> None:
    assert fixed(f"id: t\nname: T\ninputs:{written}", "wrong-type") == f"id: t\nname: T\ninputs:{meant}"


def test_an_anchor_behind_the_key_leaves_the_text_where_it_is() -> None:
    [problem] = [each for each in problems("id: t\nname: T\ninputs: &a Go\n") if each.code == "wrong-type"]
    assert problem.fixes == ()


MERGE = (
    "<<<<<<< HEAD\n  - {name: a, type: text, config: {contains: [x]}}\n{base}=======\n"
    "  - {name: b, type: text, config: {contains: [x]}}\n>>>>>>> other branch\n"
)


@pytest.mark.parametrize("base", ["", "||||||| 1a2b3c\n  - {name: o, type: text}\n"])
@pytest.mark.parametrize(("side", "left"), [(0, "a"), (1, "b")])
def test_one_side_of_a_merge_is_kept(base: str, side: int, left: str) -> None:
    text = graders(MERGE.replace("{base}", base))
    rest = graders(f"  - {{name: {left}, type: text, config: {{contains: [x]}}}}\n")
    marks = [each for each in problems(text) if "merge" in each.message]
    assert len(marks) == 3 + bool(base)
    for mark in marks:
        assert not mark.fixes[side].preferred
        assert apply(text, mark.fixes[side].edits) == rest


@pytest.mark.parametrize("gone", ["<<<<<<< HEAD\n", "=======\n", ">>>>>>> other branch\n"])
def test_a_merge_with_a_mark_less_is_left_to_the_author(gone: str) -> None:
    text = graders(MERGE.replace("{base}", "").replace(gone, ""))
    assert not any(fix.edits for each in problems(text) if "merge" in each.message for fix in each.fixes)


@pytest.mark.parametrize(
    ("grader", "moved"),
    [
        ("- type: text\n  contains: x # c\n", "- type: text\n  config:\n    contains: # c\n      - x\n"),
        ("- type: text\n  contains: [x] # c\n", "- type: text\n  config:\n    contains: [x] # c\n"),
        ("- {type: text, contains: x}\n", "- {type: text, config: {contains: [x]}}\n"),
        ("- type: text\n  contains: x\n  config: {not_contains: [y]}\n", None),
        (
            "- type: text\n  'contains': 5\n  config:\n    not_contains: [y]\n",
            "- type: text\n  config:\n    not_contains: [y]\n    'contains':\n      - 5\n",
        ),
        ("- type: text\n  contains: |\n    x\n", "- type: text\n  config:\n    contains: |\n      x\n"),
    ],
)
def test_a_single_value_that_moves_to_where_a_list_is_due_becomes_one(grader: str, moved: str | None) -> None:
    found = [each for each in problems(graders(grader)) if each.code == "misplaced-key"]
    [fix] = [fix for each in found for fix in each.fixes]
    assert apply(graders(grader), fix.edits) == graders(moved or grader)


def test_a_renamed_key_of_a_block_takes_its_text_with_it() -> None:
    text = "id: t\nname: T\ninput: Go\n"
    assert fixed(text, "unknown-key") == "id: t\nname: T\ninputs:\n  prompt: Go\n"


@pytest.mark.parametrize("value", [" Go\n", " |\n  Go\n\n    on\n", " {a: b}\n"])
@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
def test_a_key_with_a_dot_is_divided(value: str, line_break: str) -> None:
    text = f"id: t\nname: T\ninputs.prompt:{value}hint: x\n".replace("\n", line_break)
    below = value.replace("\n  ", "\n    ")
    meant = f"id: t\nname: T\ninputs:\n  prompt:{below}hint: x\n".replace("\n", line_break)
    [problem] = [each for each in problems(text) if "one key for YAML" in each.message]
    assert apply(text, problem.fixes[0].edits) == meant


@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
def test_keys_with_a_dot_beside_each_other_become_one_block(line_break: str) -> None:
    text = "id: t\nname: T\n# p\ninputs.prompt: |\n  Go\n# f\ninputs.files:\n- {path: a, content: b} # two\n"
    meant = (
        "id: t\nname: T\n# p\ninputs:\n  prompt: |\n    Go\n# f\n  files:\n  - {path: a, content: b} # two\n"
    )
    text, meant = (each.replace("\n", line_break) for each in (text, meant))
    document = Document("untitled:test", 0, text, "task")
    action = finished(fix_all_in_steps(document, workspace_with(), diagnose(document, workspace_with())))
    assert action is not None
    assert apply(text, action.change.files[0].edits) == meant


@pytest.mark.parametrize("value", [" {a: b} # two", "\n  # one\n  a: b"])
def test_a_key_with_a_dot_beside_its_block_moves_into_it(value: str) -> None:
    text = f"{TASK}inputs.context:{value}\n# end\n"
    moved = value.replace("\n", "\n  ")
    assert fixed(text, "unknown-key") == f"{TASK}  context:{moved}\n# end\n"


def test_a_key_with_a_dot_that_its_block_has_is_left_to_the_author() -> None:
    [problem] = problems(EVAL + "config.model: m2\n", "eval")
    assert (problem.code, problem.fixes) == ("unknown-key", ())


def test_keys_with_a_dot_apart_are_repaired_one_after_the_other() -> None:
    text = "id: t\ninputs.prompt: Go\nname: T\ninputs.context: {a: b}\n"
    document = Document("untitled:test", 0, text, "task")
    offered = finished(
        code_actions_in_steps(
            document, workspace_with(), Span(0, len(text)), diagnose(document, workspace_with())
        )
    )
    assert [action.title for action in offered] == ["Write `inputs` as a block"] * 2
    once = fixed(text, "unknown-key")
    assert fixed(once, "unknown-key") == "id: t\ninputs:\n  prompt: Go\n  context: {a: b}\nname: T\n"


def test_a_file_that_is_a_list_with_one_item_is_that_item() -> None:
    text = "- id: t\n  name: T\n  inputs:\n    prompt: Go\n"
    assert fixed(text, "wrong-type") == text.replace("- id", "  id")
    [problem] = problems(text + text)
    assert problem.fixes == ()


@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
@pytest.mark.parametrize(("first", "last"), [("```yaml\n", ""), ("", "```"), ("", "~~~  \n")])
def test_a_fence_of_markdown_is_deleted(first: str, last: str, line_break: str) -> None:
    text = f"{first}{TASK}{last}".replace("\n", line_break)
    found = problems(text)
    assert {each.message for each in found} == {
        "This line is Markdown, which marks a block of code by it; delete it."
    }
    edits = [edit for each in found for edit in each.fixes[0].edits]
    assert apply(text, edits) == TASK.replace("\n", line_break)


def test_a_fence_between_other_lines_may_be_part_of_a_text_and_is_not_deleted_unasked() -> None:
    found = problems(TASK.replace("Go", "Go\n```\ncode\n```") + "tags: [a]\n")
    fixes = [fix for problem in found for fix in problem.fixes if fix.title == "Delete the line"]
    assert fixes
    assert not any(fix.preferred for fix in fixes)


def test_a_fence_in_a_text_is_a_part_of_it() -> None:
    assert problems(TASK.replace("Go", "|\n    ```yaml\n    a: 1\n    ```")) == ()


@pytest.mark.parametrize("written", ["[draft] Summary", "[draft] Summary # why", "[draft]\n  Summary"])
def test_brackets_that_are_a_part_of_a_text_are_not_taken_away(written: str) -> None:
    titles = [
        fix.title for each in problems(TASK.replace("name: T", f"name: {written}")) for fix in each.fixes
    ]
    assert "Write the value without the list" not in titles


@pytest.mark.parametrize("behind", ["", " # why", "\n# why"])
def test_a_list_of_one_text_with_nothing_behind_it_is_written_as_the_text(behind: str) -> None:
    text = TASK.replace("name: T", f"name: [draft]{behind}")
    assert fixed(text, "wrong-type") == TASK.replace("name: T", f"name: draft{behind}")


@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
@pytest.mark.parametrize("written", ["-a\n  -b c", "-a\n  - b c", "-a"])
def test_a_text_of_items_without_spaces_behind_their_dashes_becomes_a_list(
    written: str, line_break: str
) -> None:
    text = f"{TASK}tags:\n  {written}\n# end\n".replace("\n", line_break)
    assert fixed(text, "wrong-type") == text.replace("-a", "- a").replace("-b", "- b")


@pytest.mark.parametrize("written", ["\n  -a\n  b", "\n  '-a'", "\n  --a", " -a"])
def test_a_dash_that_may_be_a_part_of_a_text_stays_one(written: str) -> None:
    [problem] = problems(f"{TASK}tags:{written}\n")
    assert not any("space" in fix.title for fix in problem.fixes)


def test_the_only_item_of_a_list_has_lost_the_blank_behind_its_dash() -> None:
    text = TASK + "expected:\n  outcomes:\n    -type: task_completed # it\n"
    assert fixed(text, "wrong-type") == text.replace("-type", "- type")


@pytest.mark.parametrize(
    ("written", "right"),
    [
        ("{files: [tasks/*.yaml]}", "[tasks/*.yaml]"),
        ("\n  files:\n    - tasks/*.yaml", "\n    - tasks/*.yaml"),
        ("\n  include: [tasks/*.yaml]", "\n  [tasks/*.yaml]"),
    ],
)
def test_a_list_below_a_needless_key_is_written_without_it(written: str, right: str) -> None:
    text, meant = (EVAL.replace("[tasks/*.yaml]", tasks) for tasks in (written, right))
    [problem] = problems(text, "eval")
    [fix] = problem.fixes
    assert fix.title.startswith("Write the list without `")
    assert not fix.preferred
    assert apply(text, fix.edits) == meant
    assert not problems(meant, "eval")


@pytest.mark.parametrize(
    "message",
    [
        "\n    role: user\n    content: Go",
        "\n    - role: user\n      content: Go",
        " {role: user, content: Go}",
    ],
)
def test_a_message_of_a_chat_is_a_prompt(message: str) -> None:
    assert fixed(TASK.replace("prompt: Go", f"prompt:{message}"), "wrong-type") == TASK


def test_the_inputs_of_an_inline_task_are_its_prompt() -> None:
    whole = EVAL.replace(" [tasks/*.yaml]", "\n  - id: a\n    name: A\n    inputs:\n      prompt: Go")
    text = whole.replace("inputs:\n      prompt: Go", "inputs: Go")
    assert fixed(text, "wrong-type", "eval") == whole
