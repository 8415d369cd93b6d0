"""Reading the changed piece alone gives the same tree as reading the whole text afresh."""

import random
from collections.abc import Iterator

import pytest

from tests.server.syntax.outline import outline
from waza_language_server.project.document import Document
from waza_language_server.syntax import pieces
from waza_language_server.syntax.green import Green
from waza_language_server.syntax.libyaml_events import Reading, read
from waza_language_server.syntax.pieces import read_whole
from waza_language_server.syntax.tree import Tree, parse

LAYOUTS = {
    "indented lists": (
        "name: x\nconfig:\n  model: m\n\ngraders:\n  # first\n  - name: a\n    type: text\n    config:\n"
        '      regex_match:\n        - "(?i)x"\n\n  - name: b\n    weight: 2 # two\n  - name: c\n\n'
        "tasks:\n  - 't/*.yaml'\n"
    ),
    "dashes below the key": "tasks:\n- a\n- b: 1\n  c: |\n    - x\n\n    y\n- - d\n  - e\nname: z\n",
    "flow style": "{name: x, graders: [{name: a, type: text}, {name: b}], tasks: [t]}\n",
    "flow values": "graders:\n  - {name: a, config: {b: [1, 2]}}\n  - {name: c}\ntags: [a,\n  b]\n",
    "Windows breaks": "a: x\r\ngraders:\r\n  - name: a\r\n    type: t\r\n  - name: b\r\ntasks:\r\n- c\r\n",
    "old Mac line breaks": "name: x\rgraders:\r  - name: a\r  - name: b\r",
    "triggers": "should_trigger_prompts:\n  - prompt: 'a'\n    reason: b\n  - prompt: c\nskill: s\n",
    "documents": "---\nname: x\ngraders:\n  - a\n---\nname: y\n",
    "anchors": "g:\n  - &a\n    name: x\n  - *a\n  - <<: *a\n    text: |\n      *bold* & more\n",
    "long quotes": 'graders:\n  - name: "a\n      b"\n    c: \'d\n\n  - e\'\n  - name: f\nk: "l\nm"\nn: o\n',
    "list at the top": "- name: a\n  type: b\n- name: c\n# end\n- d\n",
    "indented mapping": "  name: x\n  graders:\n    - a\n    - b\n",
    "odd characters": "\ufeffname: x\x85y\ngraders:\n  - a\u2028b\n  - c\x0c\n  - d\n",
    "directives": "%YAML 1.2\n---\nname: x\ngraders:\n  - a\n",
    "explicit keys": "? a\n: b\n? c\n: - d\n  - e\n",
    "folded text": "a: one\n  two\n\n  three\nb: >+\n  x\n\n\nc:\n  - >-\n    y\n    z\n  - '\n    w'\n",
    "comments": "# a\nname: x # b\n  # c\ngraders: # d\n# e\n  # f\n  - a # g\n\n  # h\n  - b\n# i\n",
    "empty": "\n",
    "a long list": "name: x\ngraders:\n" + "".join(f"  - a{number}: b\n" for number in range(70)) + "k: v\n",
}
BITS = [
    *"abc:-#\"'[]{}&*!|>%@,?\n\n\n \t\r\x85\u2028\ufeff",
    ": ", "- ", "  ", "\n  - ", "\n- ", "\n    ", "---\n", "\n---\n", "...\n", "# ", "key: v\n", "k:\n",
    "'", '"', "&a ", "*a", "\r\n", "<<: *a", "{a: ", "|\n", "é😋", "\n ", "? ", "%Y",
]  # fmt: skip


def edited(text: str, randomness: random.Random, start: int | None = None) -> str:
    """Return the text with one random edit, at ``start`` when that is given."""
    start = randomness.randrange(len(text) + 1) if start is None else start
    kind = randomness.random()
    if kind < 0.5:
        return text[:start] + randomness.choice(BITS) + text[start:]
    end = min(len(text), start + randomness.choice([1, 1, 1, 2, 4, 20]))
    if kind < 0.85:
        return text[:start] + text[end:]
    return text[:start] + randomness.choice(BITS) + text[end:]


def same(left: Tree, right: Tree) -> bool:
    return outline(left) == outline(right) and left.errors == right.errors


@pytest.mark.parametrize("name", LAYOUTS)
def test_an_edited_tree_equals_a_fresh_one(name: str) -> None:
    randomness = random.Random(name)
    for _ in range(15):
        text = LAYOUTS[name]
        tree = parse(text)
        for _ in range(8):
            text = edited(text, randomness)
            tree = parse(text, tree)
            assert same(tree, parse(text)), text


@pytest.mark.parametrize(
    "name", ["indented lists", "dashes below the key", "Windows breaks", "comments", "a long list"]
)
def test_an_edit_between_a_key_and_its_first_item_gives_a_fresh_tree(name: str) -> None:
    randomness = random.Random(name)
    layout = LAYOUTS[name]
    key = layout.index("tasks:" if name.startswith("dashes") else "graders:")
    for _ in range(15):
        text = layout
        tree = parse(text)
        for _ in range(4):
            text = edited(text, randomness, randomness.randrange(key, key + 30))
            tree = parse(text, tree)
            assert same(tree, parse(text)), text


@pytest.mark.parametrize("name", LAYOUTS)
def test_reading_pieces_together_gives_what_each_gives_on_its_own(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    randomness = random.Random(name)
    texts = [LAYOUTS[name]]
    for _ in range(40):
        texts.append(edited(randomness.choice(texts), randomness))
    together = [parse(text) for text in texts]
    monkeypatch.setattr(pieces, "MOST_TOGETHER", 1)
    for tree in together:
        assert same(tree, parse(tree.text)), tree.text


@pytest.mark.parametrize("name", LAYOUTS)
def test_typing_and_deleting_leads_back_to_the_same_tree(name: str) -> None:
    text = LAYOUTS[name]
    first = tree = parse(text)
    randomness = random.Random(name)
    for _ in range(15):
        at = randomness.randrange(len(text) + 1)
        typed = randomness.choice(["x", "\n", '"', "- ", "k: v"])
        for size in [*range(1, len(typed) + 1), *range(len(typed) - 1, -1, -1)]:
            tree = parse(text[:at] + typed[:size] + text[at:], tree)
        assert same(tree, first)


def strictly_readable(randomness: random.Random) -> Iterator[str]:
    for name, layout in LAYOUTS.items():
        if name in {"documents", "odd characters", "directives"}:
            continue
        yield layout
        for _ in range(60):
            text = edited(edited(layout, randomness), randomness)
            if (
                not any(char in text for char in "\x85\u2028\ufeff%")
                and "---" not in text
                and "..." not in text
            ):
                yield text


def test_cutting_a_text_changes_nothing_about_a_valid_one() -> None:
    checked = refused = 0
    for text in strictly_readable(random.Random(3)):
        tree = parse(text)
        whole = read_whole(text)
        if read(text).error is None:
            checked += 1
            assert not [fault for fault in tree.errors if fault.code.startswith("yaml-")], text
            expected = Tree(text, tree.root, ())
            if whole.root is not None and tree.root is not None:
                root = type(tree.root)(whole.root.green, whole.root.offset)
                expected = Tree(text, root, ())
                assert outline(tree) == outline(expected), text
            else:
                assert (whole.root, tree.root) == (None, None)
        else:
            refused += 1
            assert tree.errors, text
    assert checked > 200
    assert refused > 200


SUITE = (
    "name: x\ngraders:\n"
    + "".join(f"  - name: g{i}\n    type: text\n" for i in range(50))
    + "tasks:\n  - t\n"
)


def items(tree: Tree) -> list[Green]:
    assert tree.root is not None
    node = tree.root.get("graders")
    assert node is not None
    return [item.green for item in node.items]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("name: g20\n", "name: g20x\n"),
        ("name: x\n", "name: x\nskill: y\n"),
        ("  - name: g20\n", "  - \n  - name: g20\n"),
        ("  - name: g20\n", '  - name: "g20\n'),
        ("tasks:\n", "ta\n"),
        ("tasks:\n", "tasks:\n  - u\n"),
        ("name: g20\n    type: text\n", "name: g20\n    type: te: xt\n"),
    ],
)
def test_items_the_edit_left_alone_keep_their_nodes(old: str, new: str) -> None:
    before = parse(SUITE)
    after = parse(SUITE.replace(old, new, 1), before)
    kept = set(map(id, items(before))) & set(map(id, items(after)))
    assert len(kept) >= 49


def test_a_document_is_parsed_once_and_shares_its_items_with_the_next_version() -> None:
    first = Document("file:///eval.yaml", 1, SUITE, "eval")
    assert first.tree is first.tree
    second = first.replaced(SUITE.replace("g7", "h7"), 2)
    third = second.replaced(SUITE.replace("g7", "h8"), 3)
    assert (third.version, third.kind, third.uri) == (3, "eval", first.uri)
    assert sum(a is b for a, b in zip(items(first.tree), items(third.tree), strict=True)) == 49


@pytest.mark.parametrize(
    ("old", "new", "most"),
    [
        ("g20\n", "g20x\n", 2),
        ("name: x\n", "name: xy\n", 1),
        ("graders:\n", "graders: # b\n  # c\n\n", 1),
        ("  - name: g20\n", "  -\n  - name: g20\n", 3),
    ],
)
def test_an_edit_reads_the_touched_piece_alone(
    old: str, new: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = parse(SUITE)
    texts: list[str] = []

    def counting_read(text: str) -> Reading:
        texts.append(text)
        return read(text)

    monkeypatch.setattr(pieces, "read", counting_read)
    parse(SUITE.replace(old, new, 1), before)
    assert 1 <= len(texts) <= most
    assert sum(map(len, texts)) < 100
