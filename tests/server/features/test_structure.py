"""Outline, folding, growing selections and links of suite files."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.server.features.suites import Opened, open_at_cursor
from waza_language_server.features.document_structure import (
    Fold,
    OutlineSymbol,
    document_links,
    folds,
    outline,
    selections,
)
from waza_language_server.project.document import Document

EVAL = """\
name: deploys
# where it is tested
# and why
skill: deployer
config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}
graders:
  - type: text
    name: polite
    config:
      contains: [
        please,
      ]
  - type: json_schema
    config:
      schema_file: answer.json<CURSOR>

tasks:
  - tasks/*.yaml
  - id: inline
    inputs:
      prompt: |
        # not a comment
        # but a prompt
      files:
        - path: fixtures/a.txt
    graders:
      - {type: text, name: "short one", config: {contains: [x]}}
"""
FILES = {
    "eval.yaml": EVAL,
    "tasks/b.yaml": "id: b\nname: B\ninputs: {prompt: Go}\n",
    "tasks/a.yaml": "id: a\nname: A\ninputs: {prompt: Go}\n",
    "SKILL.md": "---\nname: deployer\ndescription: Deploys.\n---\nDo it.\n",
    "answer.json": "{}",
    "fixtures/a.txt": "a",
}


@pytest.fixture
def opened(tmp_path: Path) -> Opened:
    return open_at_cursor(tmp_path, FILES, "eval")


def drawn(found: Sequence[OutlineSymbol], depth: int = 0) -> Iterator[str]:
    for each in found:
        yield "  " * depth + " ".join(word for word in (each.kind, each.name, each.detail) if word)
        yield from drawn(each.below, depth + 1)


def test_the_outline_names_graders_and_tasks_and_what_they_are_made_of(opened: Opened) -> None:
    assert "\n".join(drawn(outline(opened.document))) == dedent("""\
        value name deploys
        value skill deployer
        block config
        list graders
          grader polite text
            block config
              list contains
                value please
          grader json_schema
            block config
        list tasks
          value tasks/*.yaml
          task inline
            block inputs
              list files
                item fixtures/a.txt
            list graders
              grader short one text
                block config
                  list contains
                    value x""")


def test_the_outline_of_long_lists_has_names_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("waza_language_server.features.document_structure.MOST_IN_DETAIL", 2)
    text = """\
        tags: [a, b, c]
        graders:
          - {type: text, name: one, config: {contains: [x]}}
          - {type: text, name: two, config: {contains: [x]}}
          - {type: text, name: three, config: {contains: [x]}}
        tasks: [a.yaml, b.yaml, c.yaml]<CURSOR>
        """
    opened = open_at_cursor(tmp_path, {"eval.yaml": dedent(text)}, "eval")
    assert [*drawn(outline(opened.document))] == [
        "list tags",
        *("list graders", "  grader one text", "  grader two text", "  grader three text"),
        *("list tasks", "  value a.yaml", "  value b.yaml", "  value c.yaml"),
    ]


@pytest.mark.parametrize(
    ("item", "shown"),
    [("{}", "0"), ("[]", "0"), ("", "0"), ("{a}", "0"), ("{a: b}", "a: b"), ("[{}]", "0")],
)
def test_an_item_without_a_name_is_called_by_its_beginning(tmp_path: Path, item: str, shown: str) -> None:
    """Also while the author is about to write it, between brackets that an editor has closed."""
    opened = open_at_cursor(
        tmp_path, {"eval.yaml": f"skill: a\ntasks: [x.yaml]\ngraders:\n  - {item}<CURSOR>\n"}, "eval"
    )
    graders = outline(opened.document)[2]
    assert [each.name for each in graders.below] == [shown]


def test_what_is_selected_of_a_symbol_is_its_name(opened: Opened) -> None:
    graders = outline(opened.document)[3]
    polite = graders.below[0]
    assert opened.document.text[polite.named.start : polite.named.end] == "polite"
    assert opened.document.text[polite.whole.start : polite.whole.end].startswith("type: text")


def test_blocks_items_texts_and_comments_fold(opened: Opened) -> None:
    lines = opened.document.text.splitlines()
    found = [
        f"{lines[fold.start].strip()} ... {lines[fold.end].strip()}{' (comment)' if fold.is_comment else ''}"
        for fold in folds(opened.document)
    ]
    assert found == [
        "# where it is tested ... # and why (comment)",
        "graders: ... schema_file: answer.json",
        "- type: text ... ]",
        "config: ... ]",
        "contains: [ ... please,",
        "- type: json_schema ... schema_file: answer.json",
        "config: ... schema_file: answer.json",
        'tasks: ... - {type: text, name: "short one", config: {contains: [x]}}',
        '- id: inline ... - {type: text, name: "short one", config: {contains: [x]}}',
        "inputs: ... - path: fixtures/a.txt",
        "prompt: | ... # but a prompt",
        "files: ... - path: fixtures/a.txt",
        'graders: ... - {type: text, name: "short one", config: {contains: [x]}}',
    ]


def test_a_fold_hides_nothing_that_follows_in_brackets() -> None:
    text = "{name: a, description: one\n  two, tags: [b,\n  c], skill: d}\n"
    document = Document("untitled:a", 0, text, "eval")
    assert folds(document) == ()
    assert folds(document.replaced("tags: [b,\n  c,\n  d] # e\n", 1)) == (Fold(0, 2),)


def test_of_more_than_a_client_takes_the_outermost_fold(opened: Opened) -> None:
    lines = opened.document.text.splitlines()
    assert [lines[fold.start] for fold in folds(opened.document, 2)] == ["graders:", "tasks:"]


def test_a_selection_grows_from_the_value_to_the_document(opened: Opened) -> None:
    text = opened.document.text
    inside = text.index("short one") + 2
    found = [text[span.start : span.end] for span in selections(opened.document, inside)]
    assert found[:6] == [
        "short one",
        '"short one"',
        'name: "short one"',
        '{type: text, name: "short one", config: {contains: [x]}}',
        '- {type: text, name: "short one", config: {contains: [x]}}',
        'graders:\n      - {type: text, name: "short one", config: {contains: [x]}}',
    ]
    assert found[-1] == text


def test_paths_and_the_skill_are_links(opened: Opened) -> None:
    text = opened.document.text
    found = [
        (
            text[link.span.start : link.span.end],
            link.target.relative_to(opened.folder).as_posix(),
            link.tooltip,
        )
        for link in document_links(opened.document, opened.workspace)
    ]
    assert sorted(found) == [
        ("answer.json", "answer.json", ""),
        ("deployer", "SKILL.md", ""),
        ("fixtures/a.txt", "fixtures/a.txt", ""),
        ("tasks/*.yaml", "tasks/a.yaml", "the first of 2 files"),
    ]


def test_what_leads_nowhere_is_no_link(tmp_path: Path) -> None:
    lost = {"eval.yaml": EVAL}
    found = open_at_cursor(tmp_path, lost, "eval")
    assert document_links(found.document, found.workspace) == ()


LINES = st.lists(
    st.sampled_from(
        [*EVAL.replace("<CURSOR>", "").splitlines(), "", "  - ", "\t- x", "? a", "'", "- [a,", "é: 😀"]
    ),
    max_size=30,
)


@given(LINES, st.data())
def test_everything_lies_inside_of_what_is_around_it_whatever_the_text(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], data: st.DataObject
) -> None:
    written = "\n".join(lines)
    found = open_at_cursor(tmp_path_factory.getbasetemp(), {"eval.yaml": f"{written}<CURSOR>"}, "eval")
    text = found.document.text
    count = text.count("\n")

    def check(symbols: Sequence[OutlineSymbol], start: int, end: int) -> None:
        for each in symbols:
            assert start <= each.whole.start <= each.named.start <= each.named.end <= each.whole.end <= end
            assert each.name
            check(each.below, each.whole.start, each.whole.end)

    check(outline(found.document), 0, len(text))
    places = folds(found.document)
    assert all(0 <= fold.start < fold.end <= count for fold in places)
    assert [fold.start for fold in places] == sorted({fold.start for fold in places})
    offset = data.draw(st.integers(0, len(text)))
    spans = selections(found.document, offset)
    assert all(
        inner != outer and outer.start <= inner.start <= inner.end <= outer.end
        for inner, outer in pairwise(spans)
    )
    assert spans[0].start <= offset <= spans[0].end


def test_scripts_of_programs_are_links(tmp_path: Path) -> None:
    text = (
        "graders:\n"
        "- {type: program, name: a, config: {command: bun, args: [checks/look.py, -i, checks/gone.py]}}\n"
        "- {type: program, name: b, config: {command: './checks/run.sh'}}\n"
        "- {type: program, name: c, config: {command: bash, args: [-c, 'sh checks/run.sh']}}\n"
    )
    files = {"eval.yaml": f"{text}<CURSOR>", "checks/look.py": "", "checks/run.sh": ""}
    found = open_at_cursor(tmp_path, files, "eval")
    links = document_links(found.document, found.workspace)
    assert [text[link.span.start : link.span.end] for link in links] == ["checks/look.py", "./checks/run.sh"]
