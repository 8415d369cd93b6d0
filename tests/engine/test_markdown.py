"""Text that is no Markdown, inside of Markdown."""

import random

import pytest

from tests.hostile_text import HOSTILE, hidden_in, outside_of_code, rendered
from waza_engine.markdown import cell_sentence, code, fenced, plain, sentence

PIECES = [
    "`",
    "``",
    "```",
    "*",
    "_",
    "[a](b)",
    "<b>",
    "word",
    "|",
    "\\",
    "1.",
    "-",
    "#",
    "@x",
    ".",
    " ",
    "\n",
]


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("found wrong by `polite`, `a b` and 3 more.", "found wrong by `polite`, `a b` and 3 more."),
        ("it said: connect http://x.example now", "it said: connect `http://x.example` now"),
        ("score 0.50 (of 1), don't – well-known", "score 0.50 (of 1), don't – well-known"),
        ("`a``b`", "`a` `b`"),
        ('missing text: "nowhere at all"', 'missing text: `"nowhere at all"`'),
        ('said "a b", then ("c, d"); "e', 'said `"a b",` then `("c, d"); "e`'),
        ('it has 5" nails and "\\"so\\" it" goes', 'it has `5"` nails and `"\\"so\\" it"` goes'),
        ("1. no list", "`1. no list`"),
        ("", ""),
    ],
)
def test_what_a_message_quotes_is_code_and_its_words_are_words(message: str, shown: str) -> None:
    assert sentence(message) == shown


def test_whatever_a_message_quotes_stays_text() -> None:
    for message in (HOSTILE, f"`{HOSTILE}` failed", f"the name: {HOSTILE}"):
        shown = sentence(message)
        assert hidden_in(shown) == set()
        told = outside_of_code(shown)
        for live in ("image", "link_open", "html", "http", "@", "#", "www.", "$("):
            assert live not in told, (live, told)


def test_no_message_becomes_markup_however_its_backticks_stand() -> None:
    rng = random.Random(7)
    for _ in range(2_000):
        message = "".join(rng.choices(PIECES, k=12))
        kinds = {token.type for token in rendered(sentence(message))}
        assert kinds <= {"paragraph_open", "paragraph_close", "text", "code_inline"}, (
            message,
            sentence(message),
        )
        assert "word" not in message or "word" in sentence(message)


def test_a_message_in_a_cell_ends_no_cell() -> None:
    table = f"| a | b |\n|---|---|\n| {cell_sentence('wants `a|b`, not c|d')} | end |\n"
    assert [token.content for token in rendered(table) if token.type in {"text", "code_inline"}][2:] == [
        "wants ",
        "a|b",
        ", not ",
        "c|d",
        "end",
    ]


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("**output** The answer, `as` text.", "output The answer, as text."),
        ("```yaml\na: **b** `c`\n```\n\n- `x`: y", "a: **b** `c`\n\n- x: y"),
        (
            "[the page](https://a.b/c#d) and [`Open ✓ a`](command:waza.open?%5B%5D)",
            "the page (https://a.b/c#d) and Open ✓ a",
        ),
        ("a \\* b \\_ c ** d", "a * b _ c ** d"),
        ("`` a`b `` and `` ` `` and ``a`b``", "a`b and ` and a`b"),
        ("**`x`** and `**`", "x and **"),
    ],
)
def test_markdown_is_read_without_its_marks(markdown: str, expected: str) -> None:
    assert plain(markdown) == expected


def test_what_is_quoted_is_read_as_it_was() -> None:
    made = random.Random(3)
    for _ in range(2_000):
        text = "".join(made.choice([*PIECES, "`", "\\`"]) for _ in range(made.randrange(1, 9)))
        assert plain(fenced(text)) == fenced(text).partition("\n")[2].rpartition("\n")[0]
        words = " ".join(text.split())
        if words:
            assert plain(code(words)) == words


def test_a_table_is_a_list_to_readers_without_markdown() -> None:
    table = "| name | what it is |\n|---|---|\n| `a` | a **bar** `x \\| y` |\n| `b` | more |\n"
    assert plain(f"Before.\n\n{table}\nBehind.") == "Before.\n\n- a: a bar x | y\n- b: more\n\nBehind."


def test_a_wide_table_keeps_its_head() -> None:
    assert plain("| a | b | c |\n|---|:-:|---|\n| 1 | 2 | 3 |") == "a · b · c\n1 · 2 · 3"


def test_bars_in_a_fence_stay() -> None:
    assert plain("```text\n| a | b |\n|---|---|\n```") == "| a | b |\n|---|---|"


def test_a_line_that_is_no_head_stays_above_a_rule() -> None:
    assert plain("Words.\n|---|---|").startswith("Words.\n")
