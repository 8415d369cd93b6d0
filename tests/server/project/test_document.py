"""Whether a document says a word, over edits."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from waza_language_server.project.document import Document

TEXTS = st.text("waza: \n", max_size=12)


@given(TEXTS, st.lists(st.tuples(st.integers(0, 12), st.integers(0, 4), TEXTS, st.booleans()), max_size=8))
def test_a_word_is_said_when_it_stands_in_the_text(
    text: str, edits: list[tuple[int, int, str, bool]]
) -> None:
    document = Document("file:///eval.yaml", 0, text, "eval")
    for number, (at, gone, new, asked) in enumerate(edits):
        if asked:
            assert [document.says(word) for word in ("waza:", "a")] == ["waza:" in text, "a" in text]
        text = text[:at] + new + text[at + gone :]
        document = document.replaced(text, number)
    assert [document.says(word) for word in ("waza:", "a")] == ["waza:" in text, "a" in text]
