"""What was read of broken pieces is kept as long as it is wanted, and takes a bounded room."""

from waza_language_server.syntax.kept_readings import LONGEST, MOST_CHARACTERS, KeptReadings


def test_what_was_wanted_last_stays() -> None:
    kept: KeptReadings[int] = KeptReadings()
    texts = [f"{number:05}".ljust(LONGEST) for number in range(MOST_CHARACTERS // LONGEST)]
    for number, text in enumerate(texts):
        kept.keep(text, number)
        assert kept.known(texts[0]) == 0
    assert [text for text in texts if kept.known(text) is None] == texts[1:2]


def test_small_pieces_count_for_what_their_trees_take() -> None:
    kept: KeptReadings[int] = KeptReadings()
    texts = [f"- {number}: a: b" for number in range(20_000)]
    for number, text in enumerate(texts):
        kept.keep(text, number)
    assert sum(kept.known(text) is not None for text in texts) < 6_000
