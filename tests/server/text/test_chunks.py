"""Long sequences of which an edit copies a small part, beside tuples."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from waza_language_server.text.chunks import Chunks

SIZES = st.sampled_from([0, 1, 5, 31, 32, 255, 256, 257, 600, 1500])
EDITS = st.lists(st.tuples(st.integers(0, 1600), st.integers(0, 400), st.sampled_from([0, 1, 2, 40, 700])))


@given(SIZES, EDITS)
def test_an_edit_gives_what_it_gives_of_a_tuple(size: int, edits: list[tuple[int, int, int]]) -> None:
    plain: tuple[object, ...] = tuple(object() for _ in range(size))
    chunks = Chunks(plain)
    for at, gone, more in edits:
        start = min(at, len(plain))
        stop = min(start + gone, len(plain))
        new = tuple(object() for _ in range(more))
        before, known = chunks, plain
        plain, chunks = (*plain[:start], *new, *plain[stop:]), chunks.spliced(start, stop, new)
        assert (tuple(before), tuple(chunks), len(chunks)) == (known, plain, len(plain))
        assert before.common_ends(chunks) == _common_ends(known, plain)
        assert chunks == Chunks(plain)
        assert (before == chunks) == (known == plain)
    for index in (0, len(plain) // 2, len(plain) - 1):
        assert not plain or chunks[index] is plain[index]
    for part in (slice(3, 300), slice(-5, None), slice(None, None, 7), slice(9, 2)):
        assert chunks[part] == plain[part]


def test_an_edit_shares_all_but_what_stands_around_it() -> None:
    before = Chunks(range(10_000))
    after = before.spliced(5_000, 5_001, (-1,))
    shared = {id(piece) for piece in before.pieces} & {id(piece) for piece in after.pieces}
    assert len(shared) == len(before.pieces) - 1


def test_many_edits_leave_no_tiny_pieces() -> None:
    chunks = Chunks(range(2_000))
    for _ in range(1_900):
        chunks = chunks.spliced(7, 8, ())
    assert (len(chunks), len(chunks.pieces)) == (100, 1)


def _common_ends(old: tuple[object, ...], new: tuple[object, ...]) -> tuple[int, int]:
    most = min(len(old), len(new))
    head = next((at for at in range(most) if old[at] is not new[at]), most)
    most -= head
    return head, next((at for at in range(most) if old[-1 - at] is not new[-1 - at]), most)
