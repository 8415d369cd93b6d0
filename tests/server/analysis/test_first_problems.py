"""What is said of the beginning of a long file is said of the whole, too, whatever stands further down."""

from __future__ import annotations

import random
from itertools import islice

import pytest

from tests.bench.documents import eval_file
from tests.server.project.files import workspace_with
from tests.shared_corpus import needs_corpus, suite_files
from waza_engine.steps import finished
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.analysis.first_problems import first_problems
from waza_language_server.analysis.problem import Problem
from waza_language_server.project.document import Document, DocumentKind
from waza_language_server.syntax.beginning import CHARACTERS, LONG

HEAD = (
    "name: demo\nskill: demo\nconfig: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: m}\n"
)
GOOD = '  - type: text\n    name: good_{n}\n    config:\n      contains:\n        - "deployed to {n}"\n'
WRONG = "  - type: text\n    name: wrong_{n}\n    confg:\n      contains: [done]\n"
CODE = '  - type: code\n    name: code_{n}\n    config: {{assertions: ["len(outptu) > {n}"]}}\n'
Key = tuple[str, int, int, str, str]


def long_list() -> str:
    graders = (GOOD, WRONG, GOOD, CODE)
    return "graders:\n" + "".join(graders[n % 4].format(n=n) for n in range(5 * LONG // (4 * len(GOOD))))


def keys(problems: tuple[Problem, ...]) -> set[Key]:
    return {(each.code, each.span.start, each.span.end, each.message, each.severity) for each in problems}


def first_and_whole(text: str, kind: DocumentKind = "eval") -> tuple[set[Key] | None, set[Key]]:
    """Return what is said first, and what is said when the beginning was read before; that is checked."""
    document = Document("untitled:test", 0, text, kind)
    workspace = workspace_with()
    first = finished(first_problems(document, workspace))
    whole = diagnose(document, workspace)
    afresh = diagnose(Document("untitled:test", 0, text, kind), workspace_with())
    assert keys(whole) == keys(afresh)
    assert [each.span for each in whole] == [each.span for each in afresh]
    return (None if first is None else keys(first[1])), keys(whole)


def test_the_problems_of_the_first_graders_are_known_first() -> None:
    text = HEAD + "tasks: [tasks/*.yaml]\n" + long_list()
    first, whole = first_and_whole(text)
    assert first is not None
    last = max(end for _, _, end, *_ in first)
    assert {code for code, *_ in first} == {"unknown-key", "assertion-unknown-name"}
    assert first == {each for each in whole if each[0] != "no-matching-tasks" and each[2] <= last}
    assert CHARACTERS // 2 < last < CHARACTERS


@pytest.mark.parametrize(
    "text", ["", HEAD, HEAD + long_list()[: LONG // 2], HEAD + "description: x\n" * LONG]
)
def test_of_a_short_file_or_one_without_a_list_nothing_is_known_first(text: str) -> None:
    assert first_and_whole(text)[0] is None


def test_reading_the_beginning_first_is_not_reading_it_twice() -> None:
    document = Document("untitled:test", 0, eval_file(1_000), "eval")
    found = finished(first_problems(document, workspace_with()))
    assert found is not None
    first, whole = found[0].tree.root, document.tree.root
    assert first is not None
    assert whole is not None
    items = [(first.get("graders", at), whole.get("graders", at)) for at in range(40)]
    assert all(
        before is not None and after is not None and before.green is after.green for before, after in items
    )


FURTHER_DOWN = {
    "the list once more": "graders:\n  - type: code\n    name: other\n",
    "the list once more, quoted": '"graders": []\n',
    "the list once more, quoted oddly": '"grad\\x65rs": []\n',
    "a key of the beginning once more": "skill: other\n",
    "a merge": "<<: {graders: []}\n",
    "a complex key": "? graders\n: []\n",
    "an alias that multiplies itself": "a: &a [1, 2, 3]\nb: &b [*a, *a, *a]\n"
    + "".join(f"{chr(99 + n)}: &{chr(99 + n)} [{', '.join(8 * ['*' + chr(98 + n)])}]\n" for n in range(8)),
    "a newer version": 'schemaVersion: "1.999"\n',
    "a comment that leaves problems out": "# waza: ignore-file[unknown-key]\n",
    "a comment that makes them hints": "# waza: severity[unknown-key=hint]\n",
    "a second document": "---\ngraders: []\n",
    "the end of the document": "...\nfoo\n",
    "an open quote": '  - type: text\n    name: "open\n',
    "an open bracket": "  - {type: text, name: [open\n",
    "a line out of line": " name: pushed\n",
    "a tab": "\t- type: text\n",
    "a closing bracket": "]\n",
    "a character that nobody reads": "  - name: a\u2028b\n",
    "a return alone": "tags: a\rgraders: []\n",
    "an item out of line": "   - type: text\n     name: far\n",
    "text": "This is not YAML: at all: no\n",
    "no newline": "tags",
}


@pytest.mark.parametrize("rest", FURTHER_DOWN.values(), ids=FURTHER_DOWN)
def test_whatever_stands_further_down(rest: str) -> None:
    first, whole = first_and_whole(HEAD + long_list() + rest)
    assert first is None or first <= whole


def test_crossed_lines_keep_their_problems() -> None:
    first, whole = first_and_whole((HEAD + long_list()).replace("\n", "\r\n"))
    assert first
    assert first <= whole


def test_fragments_anywhere_further_down() -> None:
    chance = random.Random(7)
    fragments = [
        *FURTHER_DOWN.values(),
        '"',
        "'",
        "{",
        "[",
        "- ",
        "|",
        ">",
        "&a ",
        "*a",
        "!!map ",
        "%",
        "\n",
        "\n\n",
        " ",
        ":",
        "#",
    ]
    said = 0
    for _ in range(20):
        text = HEAD + long_list()
        for _ in range(chance.randrange(1, 4)):
            at = chance.randrange(CHARACTERS // 2, len(text))
            text = text[:at] + chance.choice(fragments) + text[at:]
        first, whole = first_and_whole(text)
        assert first is None or first <= whole, text[CHARACTERS // 2 :]
        said += first is not None
    assert said > 2


def lists_of_graders(text: str) -> str | None:
    """Return a text with its list of graders repeated until it is long, None when it has none."""
    document = Document("untitled:test", 0, text, "eval")
    layout = document.tree.layout
    listed = (
        next((each for each in layout.sections if each.text.startswith("graders:") and each.items), None)
        if layout
        else None
    )
    if listed is None:
        return None
    items = "".join(item.text for item in listed.items)
    items = items.replace("config:", "confg:", 1) + ("" if items.endswith("\n") else "\n")
    head = listed.text[: listed.starts[0]]
    return text.replace(listed.text, head + items * (LONG // len(items) + 2), 1)


@needs_corpus
def test_the_suites_of_the_corpus_made_long() -> None:
    texts = (path.read_text("utf-8", "replace") for path in suite_files("eval.yaml"))
    made_long = filter(None, map(lists_of_graders, texts))
    said = 0
    for text in islice(made_long, 15):
        first, whole = first_and_whole(text)
        assert first is None or first <= whole
        said += bool(first)
    assert said > 3


def test_a_text_that_changes_meanwhile_is_read_afresh() -> None:
    document = Document("untitled:test", 0, HEAD + long_list(), "eval")
    finished(first_problems(document, workspace_with()))
    edited = document.replaced(
        document.text.replace("wrong_1", "wronger_1").replace("outptu", "output", 3), 1
    )
    afresh = Document("untitled:test", 1, edited.text, "eval")
    assert keys(diagnose(edited, workspace_with())) == keys(diagnose(afresh, workspace_with()))
