"""What is remembered of the items of a list, over edits of the text."""

from hypothesis import given
from hypothesis import strategies as st

from waza_language_server.syntax.nodes import ItemMemo, Node
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


def values_of(memo: ItemMemo[str], tree: Tree, asked: list[int] | None = None) -> list[str]:
    def make(item: Node) -> str:
        if asked is not None and isinstance(item.step, int):
            asked.append(item.step)
        return loud(item)

    return memo.of(words_of(tree), make)


def test_only_a_new_item_is_looked_at() -> None:
    memo, words = ItemMemo[str](), ["a", "b!", "c", "d!"]
    tree = parse(text_of(words))
    assert values_of(memo, tree) == ["", "b!", "", "d!"]
    words[1:3] = ["x", "b!", "longer!"]
    asked: list[int] = []
    assert values_of(memo, parse(text_of(words), tree), asked) == ["", "", "b!", "longer!", "d!"]
    assert asked == [1, 3]


def test_what_an_alias_stands_for_is_looked_up_each_time() -> None:
    memo = ItemMemo[str]()
    before = parse(text_of(["&x a", "b", "*x"]))
    assert values_of(memo, before) == ["", "", ""]
    assert values_of(memo, parse(text_of(["&x a!", "b", "*x"]), before)) == ["a!", "", "a!"]


@given(st.lists(st.lists(WORDS, min_size=1, max_size=8), min_size=1, max_size=6))
def test_over_any_edits_the_values_are_those_of_the_text_alone(versions: list[list[str]]) -> None:
    memo, tree = ItemMemo[str](), None
    for words in versions:
        tree = parse(text_of(words), tree)
        assert values_of(memo, tree) == values_of(ItemMemo[str](), tree)
