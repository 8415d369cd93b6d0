"""What is offered and applied depends on the text alone: however long it takes, it is the same."""

import time
from dataclasses import replace
from itertools import count

import pytest

from tests.server.project.files import workspace_with
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.analysis.problem import Problem
from waza_language_server.features.actions.code_actions import (
    CodeAction,
    Fixed,
    code_actions,
    fixed,
    fixes_at,
    not_tried,
)
from waza_language_server.project.document import Document
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span

HEAD = "name: a\nskill: b\ngraders:\n"
SUITES = [
    HEAD + "".join(f"- type: text\n  nme: g{at}\n  config:\n    contans: [a]\n" for at in range(12)),
    HEAD + "".join(f"- type: txt\n  name: g{at}\n" for at in range(30)),
    HEAD + "".join(f"- type: text\n  nme: g{at}\n  confg:\n    contans: [a]\n" for at in range(4)),
    HEAD
    + "- type: text\n  name: a\n  config: {contians: [a]\n- type: behavior\n  confg: {max_tool_cals: 3}\n",
    "naem: a\nskil: b\nconfg:\n  trials: 2\n",
]


def fixes_of(text: str) -> tuple[Fixed, tuple[CodeAction, ...]]:
    document = Document("untitled:eval.yaml", 1, text, "eval")
    problems = diagnose(document, workspace_with())
    found = fixed(document, workspace_with(), problems)
    span = Span(0, len(text))
    return found, code_actions(document, workspace_with(), span, problems)


@pytest.mark.parametrize("text", SUITES, ids=["keys", "types", "hidden", "unreadable", "entries"])
def test_the_same_is_repaired_and_offered_however_fast_the_clock_goes(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fixed, menu = fixes_of(text)
    for name in ("perf_counter", "monotonic", "process_time", "thread_time", "time"):
        monkeypatch.setattr(time, name, count(1e9, 1e6).__next__)
    on_busy_machine, same_menu = fixes_of(text)
    assert (on_busy_machine.edits, on_busy_machine.count) == (fixed.edits, fixed.count)
    assert [action.title for action in same_menu] == [action.title for action in menu]
    assert fixed.untried == 0
    assert fixes_of(fixed.document.text)[0].count == 0


def test_fixes_that_were_not_tried_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("waza_language_server.features.actions.code_actions.MOST_JUDGED_CHARACTERS", 0)
    monkeypatch.setattr("waza_language_server.features.actions.code_actions.FEWEST_VALIDATIONS", 1)
    text = HEAD + "- type: text\n  nme: a\n- type: behavior\n  name: b\n  config: {max_tool_cals: 3}\n"
    document = Document("untitled:eval.yaml", 1, text, "eval")
    problems = list(diagnose(document, workspace_with()))
    for index, problem in enumerate(problems):
        if "max_tool_cals" in problem.message:
            bad = Fix("Change", (Edit(problem.span, "required_tools"),), preferred=True)
            problems[index] = replace(problem, fixes=(bad,))
    found = fixed(document, workspace_with(), problems)
    assert found.untried > 0
    assert f"({found.untried})" in not_tried(found.untried)


def test_a_menu_has_the_first_fixes_of_a_selection() -> None:
    problems = [Problem("code", Span(at, at + 1), "", fixes=(Fix("Fix", ()),) * 2) for at in range(30)]
    assert len(fixes_at(Span(0, 100), problems)) == 60
    assert len(fixes_at(Span(9, 9), problems)) == 4
