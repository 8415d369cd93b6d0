"""Edits made one after the other, as edits of the first text."""

import itertools
import random

from waza_language_server.syntax.tried_edits import apply
from waza_language_server.text.edit import Edit, Edits, composed
from waza_language_server.text.span import Span


def some_edits(text: str, chance: random.Random) -> Edits:
    """Return up to three edits of a text that do not meet."""
    places = sorted(chance.sample(range(len(text) + 1), min(len(text) + 1, 2 * chance.randrange(4)) // 2 * 2))
    news = ("", "x", "yz")
    return tuple(
        Edit(Span(start, end), chance.choice(news))
        for start, end in zip(places[::2], places[1::2], strict=True)
    )


def test_they_do_at_once_what_the_rounds_do() -> None:
    chance = random.Random(1)
    for _ in range(500):
        text = after = "abcdefghij"[: chance.randrange(1, 11)]
        rounds: list[Edits] = []
        for _ in range(chance.randrange(1, 5)):
            rounds.append(some_edits(after, chance))
            after = apply(after, rounds[-1])
        edits = composed(text, rounds)
        assert apply(text, edits) == after
        assert all(one.span.end < other.span.start for one, other in itertools.pairwise(edits))


def test_what_no_round_touches_is_in_no_edit() -> None:
    rounds = [(Edit(Span(1, 2), "BB"),), (Edit(Span(2, 3), "C"), Edit(Span(6, 7), "F"))]
    assert composed("abcdef", rounds) == (Edit(Span(1, 2), "BC"), Edit(Span(5, 6), "F"))
