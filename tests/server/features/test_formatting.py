"""Formatting changes blanks and nothing else: values, comments and the second run say so for all samples."""

from __future__ import annotations

import random
import re

import pytest

from tests.server.analysis.drawing import EVAL
from tests.shared_corpus import needs_corpus, suite_files
from waza_engine.steps import finished
from waza_language_server.features.formatting import format_in_steps
from waza_language_server.project.document import Document
from waza_language_server.syntax.tree import parse
from waza_language_server.syntax.tried_edits import apply
from waza_language_server.text.line_index import LineIndex
from waza_language_server.text.span import Span


def formatted(text: str, span: Span | None = None) -> str:
    return apply(text, finished(format_in_steps(Document("untitled:a", 0, text, "eval"), span)))


def test_blanks_beside_dashes_and_colons_and_indentation_become_regular() -> None:
    source = """\
# About
name:   demo
config:
  executor :  mock   # free
  model: "a  b"
graders:
  # first
  -   type: text
      name: x
      config:
          regex_match:
            -    "a"
            # second
            -  b: c
               d: [1,   2]

  - type: code
"""
    assert (
        formatted(source)
        == """\
# About
name: demo
config:
  executor: mock   # free
  model: "a  b"
graders:
  # first
  - type: text
    name: x
    config:
      regex_match:
        - "a"
        # second
        - b: c
          d: [1,   2]

  - type: code
"""
    )


def test_texts_of_several_lines_move_as_a_whole() -> None:
    source = """\
inputs:
    prompt: |
          Go
            deeper
          # no comment

          end
    other: >-
       a
       b
    quoted: "one
        two"
    list:  [a,
            b]
name: x
"""
    after = formatted(source)
    assert parse(after).root is not None
    assert "    prompt: |\n        Go\n          deeper\n        # no comment\n\n        end\n" in after
    assert "    other: >-\n        a\n        b\n" in after
    assert formatted(after) == after


def test_a_header_with_a_number_keeps_the_blanks_of_its_text() -> None:
    source = "a:\n  - x:   |2\n         one\n       two\n  -   y: |2\n         one\n"
    before, after = parse(source).root, parse(formatted(source)).root
    assert before is not None
    assert after is not None
    assert after.to_python() == before.to_python()


def test_lists_stay_at_their_key_where_the_author_writes_them_there() -> None:
    source = "tasks:\n-   a\n- b\ngraders:\n  - type: text\n"
    assert formatted(source) == "tasks:\n- a\n- b\ngraders:\n- type: text\n"


def test_line_breaks_of_windows_stay() -> None:
    assert formatted("a:   b  \r\nc:\r\n   - d\r\n") == "a: b\r\nc:\r\n   - d\r\n"


def test_anchors_and_tags_stand_one_blank_from_what_they_belong_to() -> None:
    source = """\
base:   &base   # shared
    type:  &t   text
    text: !!str   &words    |
           Go
list:  &l
  -   &one   a
  -   &two
    k:   v
  -  *one
  - !t   {a:   b}
  -   &none
graders:
    - <<:   *base
      name:   x
"""
    laid_out = """\
base: &base   # shared
    type: &t text
    text: !!str &words |
        Go
list: &l
  - &one a
  - &two
    k: v
  - *one
  - !t {a:   b}
  - &none
graders:
  - <<: *base
    name: x
"""
    assert formatted(source) == laid_out
    untouched(source, laid_out)


@pytest.mark.parametrize(
    "source",
    [
        "a: [1, 2\nb:   c\n",
        "&k a:   1\n",
        "a:\n  &x\n  b:   1\n",
        "a:\n  - &x\n    word\nb:   1\n",
        "a:   1\n---\nb:   2\n",
        "a:   1\na: 2\n",
        "? a\n:   b\n",
        "just text\n",
        "# nothing\n",
        "",
    ],
)
def test_where_something_is_in_doubt_nothing_changes(source: str) -> None:
    assert formatted(source) == source


def test_the_lines_of_a_range_alone_change() -> None:
    source = "name:   x\nskill:   y\nversion:   z\n"
    offset = source.index("skill")
    assert formatted(source, Span(offset, offset + 2)) == "name:   x\nskill: y\nversion:   z\n"


def test_a_line_that_cannot_move_alone_keeps_its_column() -> None:
    source = "a:\n    b:   1\n    c:   2\nd:\n  e: 1\n"
    offset = source.index("b:")
    whole = "d:\n  e: 1\n" + source
    assert formatted(whole, Span(offset + 10, offset + 11)).replace("b: 1", "b:   1") == whole


COMMENT = re.compile(r"#.*")


def untouched(before: str, after: str) -> None:
    """Check that only blanks changed, that scalars are the same, and that the second run changes nothing."""
    assert re.sub(r"\s", "", before) == re.sub(r"\s", "", after)
    assert [each.rstrip() for each in COMMENT.findall(before)] == [
        each.rstrip() for each in COMMENT.findall(after)
    ]
    old, new = parse(before).root, parse(after).root
    assert (old is None) == (new is None)
    if old is not None and new is not None:
        assert new.to_python() == old.to_python()
    assert formatted(after) == after


@needs_corpus
def test_every_sample_keeps_its_meaning_and_its_comments() -> None:
    changed = 0
    for path in suite_files():
        text = path.read_bytes().decode("utf-8", "replace")
        after = formatted(text)
        changed += after != text
        untouched(text, after)
    assert changed


@needs_corpus
def test_samples_with_other_blanks_keep_their_meaning_and_their_comments() -> None:
    chance = random.Random(7)
    for path in suite_files()[::5]:
        text = path.read_bytes().decode("utf-8", "replace")
        lines = text.split("\n")
        for number in chance.sample(range(len(lines)), min(len(lines), 12)):
            lines[number] = re.sub(
                r"^( *)(- |\w+:) ?", lambda found: found[0] + " " * chance.randrange(3), lines[number]
            )
        deeper = "\n".join(" " * (len(line) - len(line.lstrip(" "))) + line for line in lines)
        for spoiled in ("\n".join(lines), deeper):
            untouched(spoiled, formatted(spoiled))
            start = chance.randrange(len(spoiled) + 1)
            part = formatted(spoiled, Span(start, min(start + 200, len(spoiled))))
            assert re.sub(r"\s", "", part) == re.sub(r"\s", "", spoiled)
            old, new = parse(spoiled).root, parse(part).root
            assert old is None or (new is not None and new.to_python() == old.to_python())


@needs_corpus
def test_samples_with_anchors_keep_their_meaning_and_their_comments() -> None:
    chance = random.Random(11)
    changed = 0
    for path in suite_files()[::9]:
        lines = path.read_bytes().decode("utf-8", "replace").split("\n")
        for number in chance.sample(range(len(lines)), min(len(lines), 12)):
            words = " " * chance.randrange(1, 4) + chance.choice(["&a{}", "&a{}  !!str", "!t &a{}"])
            lines[number] = re.sub(
                r"^( *(?:- )?\w+:|  +-)(?= [^|>]|$)",
                lambda found, words=words, number=number: found[0] + words.format(number),
                lines[number],
            )
        spoiled = "\n".join(lines)
        after = formatted(spoiled)
        changed += after != spoiled
        untouched(spoiled, after)
    assert changed


def test_a_file_that_is_laid_out_stays() -> None:
    assert formatted(EVAL) == EVAL


def lines_looked_at(monkeypatch: pytest.MonkeyPatch, graders: int) -> tuple[int, int]:
    """Return how often lines are looked at, in all and at most without a pause; comments stand far left."""
    text = "graders:\n" + "".join(f"# {n}\n  - type: text\n    name: a{n}\n" for n in range(graders))
    document = Document("untitled:a", 0, text, "eval")
    looked, counts = LineIndex.line_span, [0]

    def counted(index: LineIndex, line: int) -> Span:
        counts[-1] += 1
        return looked(index, line)

    monkeypatch.setattr(LineIndex, "line_span", counted)
    for _ in format_in_steps(document):
        counts += [0]
    return sum(counts), max(counts)


def test_the_work_grows_with_the_file_and_pauses_all_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    few, longest = lines_looked_at(monkeypatch, 300)
    monkeypatch.undo()
    many, still_longest = lines_looked_at(monkeypatch, 1200)
    assert many < 5 * few
    assert longest < 3000
    assert still_longest < 3000


def test_comments_stand_like_what_is_at_their_depth_above_or_below() -> None:
    source = "a:\n    # of b\n    b: 1\n      # alone\n# at the margin\nc:\n    d: 1\n    # of d\n"
    after = "a:\n    # of b\n    b: 1\n      # alone\n# at the margin\nc:\n    d: 1\n    # of d\n"
    assert formatted(source) == after
    deep = source.replace("    d", "   d").replace("    # of d", "   # of d")
    assert formatted(deep) == after


def test_a_bracket_at_the_column_of_its_key_stays_there() -> None:
    source = """\
metrics:
- name: a
graders:
  - type: code
    config:
      assertions: [
        output,
      ]
"""
    assert formatted(source).endswith("""\
- type: code
  config:
    assertions: [
      output,
    ]
""")
