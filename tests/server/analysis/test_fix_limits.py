"""No fix loses what its problem does not cover, whatever the style or the damage of a text."""

import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache

import pytest
import yaml

from tests.server.project.files import workspace_with
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.analysis.problem import Problem
from waza_language_server.features.actions.code_actions import (
    CodeAction,
    code_actions,
    fix_all,
    fixed,
)
from waza_language_server.project.document import Document
from waza_language_server.syntax.tried_edits import apply
from waza_language_server.text.edit import Edit
from waza_language_server.text.span import Span

SUITE = {
    "name": "a",
    "skill": "b",
    "config": {"trials_per_task": 1, "timeout_seconds": 60, "executor": "mock", "model": "x"},
    "graders": [
        {"type": "text", "name": "words", "config": {"contains": ["one", "two: three"], "weight": 2}},
        {"type": "behavior", "name": "calls", "config": {"max_tool_calls": 3, "required_tools": ["bash"]}},
        {"type": "code", "name": "length", "config": {"assertions": ["len(output) > 5"]}},
    ],
    "tasks": ["tasks/*.yaml"],
}
"""One suite in all styles; what a problem does not cover keeps every word of it."""
DAMAGED = 12
"""Damaged texts of each style."""


def styles() -> dict[str, str]:
    """Return the suite as authors and programs write it."""
    block = yaml.safe_dump(SUITE, sort_keys=False)
    return {
        "block": block,
        "crlf": block.replace("\n", "\r\n"),
        "with comments": "".join(f"{line}  # note{at}\n" for at, line in enumerate(block.splitlines())),
        "flow": yaml.safe_dump(SUITE, sort_keys=False, default_flow_style=True, width=10_000),
        "inner flow": yaml.safe_dump(SUITE, sort_keys=False, default_flow_style=None, width=10_000),
        "json": json.dumps(SUITE),
        "json over lines": json.dumps(SUITE, indent=2),
    }


def damaged(text: str, chance: random.Random) -> str:
    """Return a text after one to three mistakes: characters, quotes, keys, entries and lines."""
    for _ in range(chance.randrange(1, 4)):
        at, lines = chance.randrange(len(text)), text.split("\n")
        quotes, entries = (list(re.finditer(each, text)) for each in (r"[\"'\[\]{}]", _ENTRY))
        match chance.randrange(6):
            case 0:
                text = text[:at] + text[at + 1 :]
            case 1:
                text = text[:at] + chance.choice("\"'[]{},:-#\t |>&*`\\+") + text[at:]
            case 2 if quotes:
                gone = chance.choice(quotes)
                text = text[: gone.start()] + text[gone.end() :]
            case 3 if entries:
                again = chance.choice(entries)
                value = chance.choice([again["value"], "7", "yes", "[c]", '"d"'])
                text = f"{text[: again.end()]}, {again['key']}: {value}{text[again.end() :]}"
            case 4 if entries:
                key = chance.choice(entries)
                middle = (key.start("key") + key.end("key")) // 2
                text = text[:middle] + text[middle + 1 :]
            case _:
                row = chance.randrange(len(lines))
                lines.insert(chance.randrange(len(lines)), chance.choice(["", "\t", " "]) + lines[row])
                text = "\n".join(lines)
    return text


_WORD = re.compile(r"[A-Za-z]\w+")
_ENTRY = r"(?P<key>\"?[a-z_]{3,}\"?): *(?P<value>\"[^\"\n]*\"|\[[^\[\]\n]*\]|[\w-]+)(?=[,}])"


def offered(text: str) -> Iterator[tuple[CodeAction, Sequence[Edit]]]:
    """Yield the quick fixes of a text, and at the end the action for all of it."""
    document, workspace = Document("untitled:eval.yaml", 1, text, "eval"), workspace_with()
    problems = diagnose(document, workspace)
    actions = code_actions(document, workspace, Span(0, len(text)), problems)
    together = fix_all(document, fixed(document, workspace, problems))
    for action in (*actions, *([together] if together else [])):
        for change in action.change.files:
            yield action, change.edits  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]


def lines_of(text: str, problem: Problem) -> str:
    """Return the lines of a problem and of its related places, with those indented further below them."""
    found: list[str] = []
    for span in (problem.span, *(each.span for each in problem.related)):
        first, *others = text[text.rfind("\n", 0, span.start) + 1 :].split("\n")
        inside = text.count("\n", span.start, span.end)
        below = (at for at, row in enumerate(others[inside:], inside) if column_of(row) <= column_of(first))
        found += [first, *others[: next(below, len(others))]]
    return "\n".join(found)


def column_of(row: str) -> int:
    """Return the column of a line behind its dashes."""
    return len(row) - len(row.lstrip(" -"))


def lost(before: str, after: str) -> Counter[str]:
    """Return the words that a text has no more, those that a fix has written instead left aside."""
    return Counter(_WORD.findall(before)) - Counter(_WORD.findall(after))


@cache
def fixes_of_damaged(style: str) -> list[tuple[str, CodeAction, Sequence[Edit]]]:
    """Return damaged texts of a style, each with what is offered for it."""
    chance = random.Random(style)
    texts = [damaged(styles()[style], chance) for _ in range(DAMAGED)]
    return [(text, action, edits) for text in texts for action, edits in offered(text)]


@pytest.mark.parametrize("style", styles())
def test_safe_fixes_of_damaged_texts_lose_no_data(style: str) -> None:
    for text, action, edits in fixes_of_damaged(style):
        if action.preferred or action.kind == "source.fixAll":
            after = apply(text, edits)
            gone = lost(text, after)
            # A misspelt word is written right: one comes for each that goes; a repeated one is left once.
            new = lost(after, text)
            unique = Counter({word: count for word, count in gone.items() if word not in after})
            assert sum(unique.values()) <= sum(new.values()), (action.title, text, after)


@pytest.mark.parametrize("style", styles())
def test_fixes_of_damaged_texts_stay_within_their_entry(style: str) -> None:
    for text, action, edits in fixes_of_damaged(style):
        if action.kind != "quickfix":
            continue
        after, (problem,) = apply(text, edits), action.problems
        gone = lost(text, after) - Counter(_WORD.findall(lines_of(text, problem)))
        below = "Delete" in action.title or "Keep" in action.title or "comment" in action.title
        assert below or not gone, (action.title, text, after)


@pytest.mark.parametrize(
    ("written", "repaired"),
    [
        ("{contains: [a], contains: [a]}", "{contains: [a]}"),
        ("{contains: [a], contains: [a], regex_match: [b]}", "{contains: [a], regex_match: [b]}"),
        ('{"contains": ["a"], "contains": ["a"]}', '{"contains": ["a"]}'),
        ("{contains: [a], contains: [b]}", None),
    ],
)
def test_a_key_repeated_on_one_line_leaves_the_rest_of_the_line(written: str, repaired: str | None) -> None:
    text = f"graders: [{{type: text, name: g, config: {written}}}]\nname: a\nskill: b\ntasks: [t.yaml]\n"
    found = [edits for action, edits in offered(text) if action.kind == "source.fixAll"]
    assert [apply(text, edits) for edits in found] == (
        [] if repaired is None else [text.replace(written, repaired)]
    )


@pytest.mark.parametrize("written", ['C:\\\\tmp: x"', 'a: one\\ttwo"'])
def test_a_string_that_lost_its_opening_quote_gets_the_same_one(written: str) -> None:
    text = f"name: a\nskill: b\ndescription: {written}\ntasks: [t.yaml]\n"
    [(_, edits)] = [each for each in offered(text) if each[0].title == "Put the value in quotes"]
    assert apply(text, edits) == text.replace(written, f'"{written}')


@pytest.mark.parametrize("dash", ["- ", "  - "])
def test_a_tab_before_a_key_behind_a_list_is_one_problem(dash: str) -> None:
    text = f"name: a\nskill: b\ntasks:\n{dash}t.yaml\n\tgraders:\n{dash}type: text\n"
    problems = diagnose(Document("untitled:eval.yaml", 1, text, "eval"), workspace_with())
    [tab] = [each for each in problems if each.code.startswith("yaml-")]
    assert apply(text, tab.fixes[0].edits) == text.replace("\tgraders", "graders")


def test_no_key_over_lines_is_renamed() -> None:
    text = (
        'name: a\nskill: b\ntasks: [t.yaml]\ngraders: [{type: text, name: g, "con\n fgi": {contains: [a]}}]\n'
    )
    assert [action.title for action, _ in offered(text) if action.title.startswith("Change")] == []


def test_a_line_behind_a_stray_character_keeps_its_dash() -> None:
    text = "graders:\n  >- type: text\n    name: g\n    config: {contains: [a]}\nskill: b\ntasks: [t.yaml]\n"
    for action, edits in offered(text):
        assert "- " in apply(text, edits).partition("graders:")[2], action.title
