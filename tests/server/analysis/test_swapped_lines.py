"""Lines in each other's place, files of which half is indented, and lists with other signs than dashes."""

from __future__ import annotations

import pytest

from tests.server.analysis.drawing import EVAL, TASK, graders, problems
from waza_language_server.project.document import DocumentKind
from waza_language_server.syntax.tried_edits import apply

TWO = graders(
    "  - type: text\n    name: a\n    config: {contains: [x]}\n"
    "  - type: text\n    name: b\n    config: {contains: [y]}\n"
)
TRIGGERS = """\
skill: s
should_trigger_prompts:
  - prompt: Fill this form
    reason: asks for it
should_not_trigger_prompts:
  - prompt: Write a poem
"""


def undone(meant: str, broken: str, at: str, kind: DocumentKind = "task") -> str:
    """Assert that one problem is told of a text, at ``at``, whose first fix undoes it; return its message."""
    assert broken != meant
    [problem] = problems(broken, kind)
    assert broken[problem.span.start : problem.span.end] == at
    assert apply(broken, problem.fixes[0].edits) == meant
    assert not problem.fixes[0].preferred
    return problem.message


@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
@pytest.mark.parametrize("name", ["a", "b"])
def test_a_dash_one_line_too_low(name: str, line_break: str) -> None:
    meant, right, wrong = (
        each.replace("\n", line_break)
        for each in (
            TWO,
            f"  - type: text\n    name: {name}\n",
            f"    type: text\n  - name: {name}\n",
        )
    )
    message = undone(meant, meant.replace(right, wrong), "-")
    assert message == "The dash of this item belongs one line further up, in front of `type`."


@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
@pytest.mark.parametrize("rest", ["", "  context: {k: v}\n", "tags: [a]\n"])
def test_a_block_one_line_below_what_it_holds(rest: str, line_break: str) -> None:
    meant = (TASK + rest).replace("\n", line_break)
    rows = f"inputs:{line_break}", f"  prompt: Go{line_break}"
    message = undone(meant, meant.replace(rows[0] + rows[1], rows[1] + rows[0]), "prompt")
    assert message == "`prompt` belongs below `inputs`, which stands one line too low."


@pytest.mark.parametrize(
    ("meant", "first", "at", "kind"),
    [
        (TWO + "tags: [a]\n", "inputs:", "inputs:", "task"),
        (TRIGGERS, "should_trigger_prompts:", "should_trigger_prompts:", "trigger_tests"),
        (EVAL.replace("  model: m", "  model: m # c"), "config:", "config:", "eval"),
    ],
)
def test_the_rest_of_a_file_that_is_indented(meant: str, first: str, at: str, kind: DocumentKind) -> None:
    start = meant.index(first)
    rest = "".join(f"  {row}" if row.strip() else row for row in meant[start:].splitlines(keepends=True))
    message = undone(meant, meant[:start] + rest, at, kind)
    assert message == "This key stands 2 spaces too far to the right, with the lines below it."


def test_a_part_of_a_file_that_is_indented() -> None:
    meant = TASK + "tags: [a]\nexpected:\n  output_contains: [a]\n"
    broken = meant.replace("inputs:\n  prompt: Go\ntags", "  inputs:\n    prompt: Go\n  tags")
    undone(meant, broken, "inputs:")


@pytest.mark.parametrize("signs", [("1.", "2."), ("1)", "2)")])
def test_a_numbered_list_of_graders(signs: tuple[str, str]) -> None:
    broken = graders(
        f"  {signs[0]} type: text\n     name: a\n     config: {{contains: [x]}}\n"
        f"  {signs[1]} type: text\n     name: b\n     config: {{contains: [y]}}\n"
    )
    meant = broken.replace(signs[0], "- ").replace(signs[1], "- ")
    assert not problems(meant)
    undone(meant, broken, signs[0])


def test_the_only_item_of_a_list_with_another_sign() -> None:
    meant = graders("  - type: text\n    name: a\n    config: {contains: [x]}\n")
    undone(meant, meant.replace("- type", "1. type"), "1.")
    meant = f"{TASK}tags:\n  - x y\n"
    undone(meant, meant.replace("- x", "> x"), ">")


def test_a_text_behind_such_a_sign_is_no_item_where_a_text_is_due() -> None:
    [problem] = problems(f"{TASK}description:\n  > x\n")
    assert "Write `-` for `>`" not in [fix.title for fix in problem.fixes]


@pytest.mark.parametrize("rows", ["\tfiles:\n\t  - path: a.txt\n", "\tfiles:\n\t- path: a.txt\n"])
def test_a_key_with_tabs_below_a_text_is_not_made_a_part_of_it(rows: str) -> None:
    text = f"id: t\nname: T\ninputs:\n  prompt: >\n    Go\n    there\n\n{rows}expected: {{}}\n"
    undone(text.replace("\t", "  "), text, "\t")


def test_a_value_below_its_key_in_the_last_lines_of_an_item() -> None:
    meant = (
        "skill: s\nshould_trigger_prompts:\n- prompt: Fill this form\n  confidence: high\n- prompt: Sign it\n"
    )
    undone(meant, meant.replace(" high", "\n  high"), "high", "trigger_tests")


def test_the_first_item_of_a_list_without_its_dash_at_the_column_of_the_others() -> None:
    text = f"{TASK}  files:\n    path: a.txt\n    content: x\n    - path: b.txt\n"
    undone(text.replace("    path: a.txt\n    content", "    - path: a.txt\n      content"), text, "path")


def test_the_first_line_of_a_text_alone_at_the_margin() -> None:
    meant = f"{TASK}description: |\n  One.\n  Two.\nhint: x\n"
    undone(meant, meant.replace("  One", "One"), "One.")


def test_a_key_alone_above_its_list() -> None:
    undone(
        TRIGGERS,
        TRIGGERS.replace("should_trigger", "  should_trigger"),
        "should_trigger_prompts:",
        "trigger_tests",
    )


@pytest.mark.parametrize(("value", "at"), [("true", "true"), ("x # y", "x")])
def test_a_value_above_the_block_of_its_key(value: str, at: str) -> None:
    meant = f"cache:{value.removeprefix(at)}\n  enabled: true\ndefaults:\n  model: m\n"
    undone(meant, meant.replace("cache:", f"cache: {at}", 1), at, "project_config")


@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("head", "item", "kind"),
    [
        (
            f"{TASK}checkpoints:\n  - after_turn: 1\n    graders:\n",
            "      - type: text\n        # c\n        name: a\n        config:\n          contains: [x]\n",
            "task",
        ),
        (f"{EVAL}hooks:\n  before_run:\n", "    - command: x\n      working_directory: .\n", "eval"),
    ],
)
def test_the_only_item_of_a_list_at_the_column_of_its_key(
    head: str, item: str, kind: DocumentKind, line_break: str
) -> None:
    fallen = "".join(f"{row[4:]}\n" for row in item.replace("- ", "  ", 1).splitlines())
    first = fallen.split(":")[0].strip()
    meant, broken = (f"{head}{each}".replace("\n", line_break) for each in (item, fallen))
    message = undone(meant, broken, first, kind)
    assert message.startswith(f"`{first}` begins an item of `")


@pytest.mark.parametrize(
    ("written", "at", "meant"),
    [
        (
            "\n    - DEBUG=1\n    # c\n    - URL=a=b # d\n",
            "- DEBUG=1",
            "\n    DEBUG: '1'\n    # c\n    URL: a=b # d\n",
        ),
        (' [A=x, "B=a, b"]\n', '[A=x, "B=a, b"]', " {A: x, B: 'a, b'}\n"),
    ],
)
def test_variables_as_a_list(written: str, at: str, meant: str) -> None:
    undone(f"{TASK}  environment:{meant}", f"{TASK}  environment:{written}", at)


@pytest.mark.parametrize("written", ["[A=x, B]", "[A=x, A=y]", "[x y]"])
def test_lists_that_are_no_variables(written: str) -> None:
    [problem] = problems(f"{TASK}  environment: {written}\n")
    assert "Write keys with values" not in [fix.title for fix in problem.fixes]


def test_the_first_line_of_an_item_too_far_to_the_right_of_its_other_keys() -> None:
    meant = (
        f"{TASK}  follow_up_prompts: [Go on]\ncheckpoints:\n  - after_turn: 1\n    graders:\n"
        "      - type: text\n        name: a\n        config: {contains: [x]}\n"
    )
    message = undone(meant, meant.replace("  - after", "     - after"), "- after_turn: 1")
    assert message == "This item stands 3 spaces too far to the right of its other keys."


@pytest.mark.parametrize("signs", [("1. ", "2. "), ("1) ", "2) "), ("+ ", "+ ")])
def test_texts_with_numbers_become_items_without_them(signs: tuple[str, str]) -> None:
    meant = f"{TASK}expected:\n  output_contains:\n    - all done\n    - saved\n"
    broken = meant.replace("- all", f"{signs[0]}all").replace("- saved", f"{signs[1]}saved")
    [problem] = problems(broken)
    assert apply(broken, problem.fixes[0].edits) == meant


def test_a_number_in_front_of_one_line_stays() -> None:
    broken = f"{TASK}expected:\n  output_contains:\n    1. done\n    saved\n"
    [problem] = problems(broken)
    assert "- 1. done" in apply(broken, problem.fixes[0].edits)
