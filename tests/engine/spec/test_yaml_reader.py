"""YAML as upstream reads it, and one clear error for everything that is not usable."""

import pickle
from pathlib import Path
from typing import Any

import pytest

from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.scalars import resolve_scalar
from waza_engine.spec.reading.yaml_reader import MAX_BYTES, parse_yaml, read_text, read_yaml, read_yaml_file

HERE = Path("suite.yaml")


def value(text: str) -> Any:
    return parse_yaml(text, HERE).value


def fault(text: str) -> SuiteFileError:
    with pytest.raises(SuiteFileError) as caught:
        parse_yaml(text, HERE)
    return caught.value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: yes", {"a": "yes"}),
        ("a: on", {"a": "on"}),
        ("a: 12:30", {"a": "12:30"}),
        ("a: [010, -010, 089, 0, -0]", {"a": [8, -8, 89, 0, 0]}),
        ("a: [0o10, -0o10, 0b11, 0o9]", {"a": [8, -8, 3, "0o9"]}),
        ("a: [0x1F, -0X1f, 0xG]", {"a": [31, -31, "0xG"]}),
        *(
            (f"a: {long}", {"a": long})
            for long in ("0x" + "f" * 5000, "-0o" + "7" * 5000, "0b" + "1" * 20000)
        ),
        ("a: [1_000, 1_0.5, _1, 2024_01_01, 1_a]", {"a": [1000, 10.5, "_1", 20240101, "1_a"]}),
        ("a: 1e3", {"a": 1000.0}),
        ("a: [1e999, -1e999, .inf, -.Inf, .nan]", {"a": ["1e999", "-1e999", ".inf", "-.Inf", ".nan"]}),
        ("a: ~", {"a": None}),
        ("a:", {"a": None}),
        ('a: "5"', {"a": "5"}),
        ("a: !!str 5", {"a": "5"}),
        ("a: !!int '5'", {"a": 5}),
        ('a: [!!float 1, !!float "0.5", !!float .inf]', {"a": [1.0, 0.5, ".inf"]}),
        ('a: [!!bool "true", !!bool "yes", !!null ""]', {"a": [True, "yes", None]}),
        ("a: [!!int five, !!int 0.5, !!float x]", {"a": ["five", "0.5", "x"]}),
        ("a: [!secret 5, !secret x, !<tag:example.com,2026:int> 5]", {"a": ["5", "x", "5"]}),
        ("a: [! 5, ! '5']", {"a": [5, "5"]}),
        ("a: 2024-01-01", {"a": "2024-01-01"}),
        ("1: one", {"1": "one"}),
        ("yes: one", {"yes": "one"}),
        ("a: |\n  x\n  y\n", {"a": "x\ny\n"}),
        ("- [1, {b: c}]", [[1, {"b": "c"}]]),
        ("contains_cs: [True, true, FALSE]", {"contains_cs": ["True", True, "FALSE"]}),
        ("schema: {enum: [True, FALSE]}", {"schema": {"enum": [True, False]}}),
        ("environment: {DEBUG: True, PORT: 8080}", {"environment": {"DEBUG": "True", "PORT": 8080}}),
        ("", None),
        ("# only a comment\n", None),
        ("a: 1\n---\nb: [\n", {"a": 1}),
        ("[&one x, *one]", ["x", "x"]),
        ("- &base {a: 1, b: 2}\n- <<: *base\n  b: 3\n", [{"a": 1, "b": 2}, {"a": 1, "b": 3}]),
        ("[&x {a: 1}, &y {a: 2, b: 2}, {<<: [*x, *y]}]", [{"a": 1}, {"a": 2, "b": 2}, {"a": 1, "b": 2}]),
    ],
)
def test_values_follow_yaml_1_2_and_upstream(text: str, expected: Any) -> None:
    assert value(text) == expected


@pytest.mark.parametrize("written", ["1.0", "1.10", "0x1F", "010", "1_000", "+5", "1e3", "7"])
def test_a_number_keeps_the_text_it_was_written_as(written: str) -> None:
    number = value(f"a: {written}")["a"]
    assert isinstance(number, int | float)
    assert str(number) == written


def test_a_remembered_number_is_a_plain_number_to_other_processes() -> None:
    numbers = value("[1.10, 010]")
    assert [type(number) for number in pickle.loads(pickle.dumps(numbers))] == [float, int]


def test_only_the_first_document_is_read() -> None:
    file = parse_yaml("a: 1\n---\nb: 2\n", HERE)
    assert file.value == {"a": 1}
    assert file.second_document == 2


def test_lines_lead_to_keys_and_items() -> None:
    file = parse_yaml("a: 1\nlist:\n  - x\n  - key: y\nlast:\n  inner: z\n", HERE)
    assert file.line_of(()) == 1
    assert file.line_of(("list",)) == 2
    assert file.line_of(("list", 1, "key")) == 4
    assert file.line_of(("last", "inner")) == 6
    assert file.line_of(("last", "missing")) == 5


@pytest.mark.parametrize(
    ("text", "line", "part"),
    [
        ("a: 1\nb: [1, 2\n", 3, "closed"),
        ('a: 1\nb: "lessons\\.md"\n', 2, "single quotes"),
        ("a: 1\nb: c: d\n", 2, "`:`"),
        ("a: 'open\n", 1, "the quote opened here is never closed"),
        ("a: 1\n\tb: 2\n", 2, "spaces"),
        ("a: 1\na: 2\n", 2, "twice"),
        ("a: *nowhere\n", 1, "no anchor `&nowhere`"),
        ("a: ]\n", 1, "closes nothing"),
        ("a: - b\n", 1, "a list item needs its own line"),
        ('a: "\\xzz"\n', 1, r"`\x` means nothing"),
        ('a: 1\nb: "x \\ud800"\n', 2, r"`\ud800` is half of a character"),
        ('a: "\\ud83d\\ude00"\n', 1, r"write `😀` or `\U0001F600`"),
        ('a: "\\U00110000"\n', 1, "is no character"),
        ("a:\n\t- b\n", 2, "indented with a tab"),
        ("a: &x [*x]\n", 1, "inside"),
        ("a: `x`\n", 1, "quotes"),
        ("? [a]\n: b\n", 1, "key"),
        ("a: {<<: 5}\n", 1, "`<<`"),
    ],
)
def test_broken_yaml_names_the_line_and_the_remedy(text: str, line: int, part: str) -> None:
    error = fault(text)
    assert error.line == line
    assert part in error.message
    assert "\n" not in error.message
    assert "expected <block end>" not in error.message


def test_an_anchor_bomb_is_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    assert "more than 10,000 values" in fault("\n".join(lines)).message


def test_a_deeply_nested_file_is_refused() -> None:
    assert "levels deep" in fault("[" * 100_000).message
    assert "levels deep" in fault("".join(f"{' ' * n}a:\n" for n in range(1_000))).message


def test_a_huge_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "eval.yaml"
    path.write_bytes(b"a: b\n" * (MAX_BYTES // 5 + 1))
    with pytest.raises(SuiteFileError, match="larger than 8 MiB"):
        read_yaml(path)


@pytest.mark.parametrize(
    ("data", "line", "part"),
    [
        (b"a: 1\nb: \xff\xfe\n", 2, "UTF-8"),
        (b"a: 1\n\0\0\n", 2, "binary"),
        (b"a: 1\nb: \x07\n", 2, "does not allow"),
    ],
)
def test_a_file_that_is_not_text_is_refused(tmp_path: Path, data: bytes, line: int, part: str) -> None:
    path = tmp_path / "eval.yaml"
    path.write_bytes(data)
    with pytest.raises(SuiteFileError) as caught:
        read_yaml(path)
    assert (caught.value.line, caught.value.path) == (line, path)
    assert part in caught.value.message


@pytest.mark.parametrize(
    "data", [b"\xef\xbb\xbfa: 1\r\nb: \xf0\x9f\x8e\x89\r\n", "\ufeffa: 1\nb: 🎉\n".encode()]
)
def test_byte_order_marks_windows_line_ends_and_emoji_are_fine(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "eval.yaml"
    path.write_bytes(data)
    assert read_yaml(path) == {"a": 1, "b": "🎉"}


def test_a_missing_file_and_a_directory_are_named(tmp_path: Path) -> None:
    with pytest.raises(SuiteFileError, match="does not exist"):
        read_text(tmp_path / "eval.yaml")
    with pytest.raises(SuiteFileError, match=r"directory|cannot be read"):
        read_text(tmp_path)


def test_the_pure_parser_gives_the_same_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("yaml.CSafeLoader")
    assert value("a: &x {b: [1, 2.50, yes]}\nc: *x\n") == {
        "a": {"b": [1, 2.5, "yes"]},
        "c": {"b": [1, 2.5, "yes"]},
    }
    assert fault("a: 1\nb: [1, 2\n").line == 3
    assert "single quotes" in fault('b: "lessons\\.md"\n').message


def test_a_file_knows_its_path(tmp_path: Path) -> None:
    path = tmp_path / "eval.yaml"
    path.write_text("a: 1", "utf-8")
    assert read_yaml_file(path).path == path


def test_what_is_too_large_for_its_tag_is_text() -> None:
    large = "0x" + "f" * 300
    assert resolve_scalar(large, tag="tag:yaml.org,2002:float") == large
    assert resolve_scalar("0x10", tag="tag:yaml.org,2002:float") == 16.0
