"""What was made of the items of a list, over edits of the text."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from waza_language_server.syntax.kept_items import Exchanged, ItemValues, KeptItems
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.tree import Tree, parse

WORDS = st.sampled_from(["a", "b", "c!", "d!", "*x", "&x e", "{k: *x}"])


def loud(item: Node) -> str:
    value = item.target.value
    return value if value.endswith("!") else ""


def text_of(words: list[str]) -> str:
    return "before: 1\nwords:\n" + "".join(f"- {word}\n" for word in words)


def words_of(tree: Tree) -> Node:
    node = tree.root.get("words") if tree.root is not None else None
    assert node is not None
    return node


def values_of(kept: KeptItems[str], tree: Tree, asked: list[int] | None = None) -> ItemValues[str]:
    def make(item: Node) -> str:
        if asked is not None and isinstance(item.step, int):
            asked.append(item.step)
        return loud(item)

    return kept.of(words_of(tree), make)


def test_only_the_edited_item_is_looked_at_again() -> None:
    kept, words = KeptItems[str](bool), ["a", "b!", "c", "d!"]
    before = parse(text_of(words))
    assert values_of(kept, before).marked == (1, 3)
    words[2] = "longer!"
    asked: list[int] = []
    found = values_of(kept, parse(text_of(words), before), asked)
    assert (asked, found.marked, tuple(found.values)) == ([2], (1, 2, 3), ("", "b!", "longer!", "d!"))


def test_an_item_that_comes_or_goes_moves_the_others() -> None:
    kept = KeptItems[str](bool)
    first = parse(text_of(["a", "b!", "c!"]))
    values_of(kept, first)
    second = parse(text_of(["a", "x", "b!", "c!"]), first)
    asked: list[int] = []
    assert values_of(kept, second, asked).marked == (2, 3)
    assert asked == [1]
    assert values_of(kept, parse(text_of(["a", "x", "c!"]), second)).marked == (2,)


def test_what_an_alias_stands_for_is_looked_up_each_time() -> None:
    kept = KeptItems[str](bool)
    before = parse(text_of(["&x a", "b", "*x"]))
    assert values_of(kept, before).marked == ()
    assert values_of(kept, parse(text_of(["&x a!", "b", "*x"]), before)).marked == (0, 2)


def test_what_follows_from_the_values_is_made_again_when_one_has_changed() -> None:
    kept, made = KeptItems[str](bool), list[int]()

    def count(values: Sequence[str]) -> int:
        made.append(len(values))
        return sum(map(bool, values))

    first = parse(text_of(["a", "b!"]))
    assert values_of(kept, first).derived(count) == 1
    second = parse(text_of(["aa", "b!"]), first)
    assert values_of(kept, second).derived(count) == 1
    assert made == [2]
    assert values_of(kept, parse(text_of(["aa!", "b!"]), second)).derived(count) == 2


@given(st.lists(st.lists(WORDS, min_size=1, max_size=8), min_size=1, max_size=6))
def test_over_any_edits_the_values_are_those_of_the_text_alone(versions: list[list[str]]) -> None:
    kept, tree = KeptItems[str](bool), None
    for words in versions:
        tree = parse(text_of(words), tree)
        found, fresh = values_of(kept, tree), values_of(KeptItems[str](bool), tree)
        assert (found.values, found.marked) == (fresh.values, fresh.marked)


@given(st.lists(st.lists(WORDS, min_size=1, max_size=8), min_size=1, max_size=6))
def test_what_follows_from_the_values_can_be_adapted_to_an_edit(versions: list[list[str]]) -> None:
    def lengths(values: Sequence[str]) -> list[int]:
        return [*map(len, values)]

    def adapted(before: list[int], exchanged: Exchanged[str]) -> list[int] | None:
        start, stop = exchanged.at, exchanged.at + len(exchanged.old)
        assert before[start:stop] == lengths(exchanged.old)
        return None if "d!" in exchanged.new else before[:start] + lengths(exchanged.new) + before[stop:]

    kept, tree = KeptItems[str](bool), None
    for words in versions:
        tree = parse(text_of(words), tree)
        found = values_of(kept, tree)
        assert found.derived(lengths, adapted) == lengths(found.values)


def test_an_edit_is_no_reason_to_look_at_all_values_again() -> None:
    kept, words, looked_at = KeptItems[str](bool), ["a!", "b!", "c"], list[int]()

    def all_of(values: Sequence[str]) -> str:
        looked_at.append(len(values))
        return "".join(values)

    def exchanged(before: str, change: Exchanged[str]) -> str:
        return before.replace("".join(change.old), "".join(change.new))

    first = parse(text_of(words))
    assert values_of(kept, first).derived(all_of) == "a!b!"
    found = values_of(kept, parse(text_of(["x!", *words[1:]]), first))
    assert found.derived(all_of, exchanged) == "x!b!"
    assert looked_at == [3]
