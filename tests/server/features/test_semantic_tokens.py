"""Semantic tokens: kept for graders that an edit leaves alone, and told in words the client knows."""

import time
from pathlib import Path
from typing import get_args

import pytest

from tests.patience import ON_A_BUSY_MACHINE
from tests.server.project.files import workspace_with
from waza_language_server.embedded.language import TokenKind, TokenPart
from waza_language_server.embedded.languages import LANGUAGES, LONGEST_VALUE, load_language
from waza_language_server.features.semantic_tokens import semantic_tokens
from waza_language_server.project.document import Document
from waza_language_server.project.uris import uri_of
from waza_language_server.protocol.feature_table import KINDS, PARTS
from waza_language_server.text.span import Span


def document(text: str) -> Document:
    return Document(uri_of(Path("/nowhere/eval.yaml")), 1, text, "eval")


def suite(graders: int) -> str:
    entry = (
        "  - type: code\n    name: g{0}\n    config:\n      assertions: ['len(output) > {0}']\n"
        "  - type: text\n    name: t{0}\n    config:\n      regex_match: ['a+{0}']\n"
    )
    return "name: s\ngraders:\n" + "".join(entry.format(number) for number in range(graders // 2))


def test_the_client_is_told_every_kind_and_part_once() -> None:
    assert set(KINDS) == set(get_args(TokenKind))
    assert {"", *PARTS} == set(get_args(TokenPart))
    assert len(set(KINDS)) == len(KINDS)
    assert len(set(PARTS)) == len(PARTS)


def test_a_part_is_what_the_whole_says_of_it() -> None:
    shown = document(suite(20))
    start = shown.text.index("g4")
    part = Span(start, shown.text.index("t7"))
    whole = semantic_tokens(shown, workspace_with())
    inside = [each for each in whole if each.start < part.end and each.end > part.start]
    assert list(semantic_tokens(shown, workspace_with(), part)) == inside


def test_a_value_that_is_too_long_keeps_the_colour_of_text() -> None:
    source = "graders:\n- type: text\n  config:\n    regex_match: ['{}']\n"
    short = semantic_tokens(document(source.format("(" * 100)), workspace_with())
    long = semantic_tokens(document(source.format("(" * (LONGEST_VALUE + 1))), workspace_with())
    assert len(short) == 101
    assert [each.kind for each in long] == ["type"]


@pytest.mark.parametrize("language", sorted(LANGUAGES))
@pytest.mark.parametrize(
    "value",
    [
        "(" * 5_000,
        "((a+)+)+" * 600,
        "[" * 9_000,
        "\\" * 9_001,
        "'" * 9_000,
        "a.b(" * 2_000,
        "{{" * 4_000,
        "[x for x in " * 700,
        "*?[" * 3_000,
        "`${" * 3_000,
        "\x00\ud800😀" * 100,
    ],
    ids=lambda value: value[:4].encode("unicode_escape").decode(),
)
def test_whatever_a_value_holds_is_answered(language: str, value: str) -> None:
    answers = load_language(language)
    begun = time.process_time()
    end = 0
    for token in answers.tokens(value):
        assert end <= token.start < token.end <= len(value)
        end = token.end
    answers.check(value)
    for offset in (0, 1, len(value) // 2, len(value)):
        list(answers.complete(value, offset))
        answers.hover(value, offset)
        answers.signature(value, offset)
    assert time.process_time() - begun < 1 + ON_A_BUSY_MACHINE
