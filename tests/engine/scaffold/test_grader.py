"""``waza-engine new grader``: an entry of every type, printed or added to a file that somebody wrote."""

from pathlib import Path

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from tests.command_line import engine
from waza_engine.graders.registry import BUILT_IN_TYPES, create
from waza_engine.scaffold.composing import compose, to_yaml, with_item
from waza_engine.scaffold.file_changes import ScaffoldError
from waza_engine.scaffold.grader import grader_entry, with_grader
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.yaml_reader import parse_yaml

ITEM = "- type: text\n  name: new\n  config:\n    contains:\n      - x\n"
EVAL_OF_TASKS = """\
name: demo
skill: demo
version: "1.0"
config: {trials_per_task: 1, timeout_seconds: 60, executor: mock}
metrics: []
tasks: [tasks/*.yaml]
"""
NEW = {"type": "text", "name": "new", "config": {"contains": ["x"]}}
FILES = {
    "no key": ("id: a\n", "id: a\ngraders:\n  - type: text\n"),
    "no key, no end of line": ("id: a", "id: a\ngraders:\n  - type: text\n"),
    "nothing": ("", "graders:\n  - type: text\n"),
    "comments alone": ("# a\n", "# a\ngraders:\n  - type: text\n"),
    "no value": ("graders:\nid: a\n", "graders:\n  - type: text\n"),
    "no value, a comment": ("graders:  # mine\nid: a\n", "graders:  # mine\n  - type: text\n"),
    "null": ("graders: ~\nid: a\n", "graders: \n  - type: text\n"),
    "an empty list": ("graders: []  # none\nid: a\n", "graders:  # none\n  - type: text\n"),
    "a list": ("graders:\n  - type: code\nid: a\n", "graders:\n  - type: code\n  - type: text\n"),
    "a list without indentation": ("graders:\n- type: code\nid: a\n", ":\n- type: code\n- type: text\n"),
    "wide indentation": ("graders:\n    -   type: code\n", "    -   type: code\n    - type: text\n"),
    "the last key": ("id: a\ngraders:\n  - type: code", "  - type: code\n  - type: text\n"),
    "comments and blank lines": (
        "graders:\n  # one\n  - type: code  # two\n\n# three\nid: a\n",
        "  - type: code  # two\n  - type: text\n",
    ),
    "a block of text at the end": (
        "graders:\n  - type: code\n    config:\n      rubric: |\n        # not a comment\n\nid: a\n",
        "# not a comment\n  - type: text\n",
    ),
    "a kept block": ("graders:\n  - a:\n      b: |+\n        c\n\n\nid: a\n", "c\n\n\n  - type: text\n"),
    "a flow list": ("graders: [{type: code}]\nid: a\n", "graders: [{type: code}, "),
    "a flow list over lines": ("graders: [\n  {type: code},\n]\nid: a\n", "{type: code}, "),
    "windows": ("id: a\r\ngraders:\r\n  - type: code\r\nb: 1\r\n", "  - type: code\r\n  - type: text\r\n"),
    "anchors": ("x: &x [1]\ngraders:\n  - &g {type: code}\ny: *x\nz: *g\n", "{type: code}\n  - type: text\n"),
}  # fmt: skip


@pytest.mark.parametrize(("before", "part"), FILES.values(), ids=FILES)
def test_an_item_is_added_and_nothing_else_changes(before: str, part: str) -> None:
    after = with_item(before, "graders", ITEM, Path("a.yaml"))
    assert after is not None
    assert part in after, after
    old = yaml.safe_load(before) or {}
    assert yaml.safe_load(after) == {**old, "graders": [*(old.get("graders") or []), NEW]}
    assert YAML(typ="safe", pure=True).load(after) == yaml.safe_load(after)
    lines = after.splitlines()
    for line in before.splitlines():
        assert any(each.startswith(line) for each in lines) or "graders" in line, line


@pytest.mark.parametrize(
    "text",
    ["graders: {a: 1}\n", "graders: text\n", "- a\n", "a: 1\n---\nb: 2\n", "{a: 1}\n", "a: 1\n...\n"],
)
def test_a_file_that_cannot_be_extended_safely_is_left_alone(text: str) -> None:
    assert with_item(text, "graders", ITEM, Path("a.yaml")) is None


def test_broken_yaml_is_told_with_its_line() -> None:
    with pytest.raises(SuiteFileError) as told:
        with_item("a: 1\nb: [\n", "graders", ITEM, Path("a.yaml"))
    assert told.value.line >= 2


@pytest.mark.parametrize("grader_type", BUILT_IN_TYPES)
def test_every_type_has_an_entry_that_can_be_built(grader_type: str, tmp_path: Path) -> None:
    entry = yaml.safe_load(grader_entry(grader_type, "my own: name"))[0]
    assert (entry["type"], entry["name"]) == (grader_type, "my own: name")
    assert create(entry).warnings == ()
    path = tmp_path / "eval.yaml"
    path.write_text("graders:\n  - {type: text, name: a, config: {contains: [b]}}\n")
    _, content, name = with_grader(path, grader_type)
    added = yaml.safe_load(content)["graders"][1]
    assert added == {**yaml.safe_load(grader_entry(grader_type))[0], "name": name}


def test_an_entry_is_printed() -> None:
    found = engine("new", "grader", "text", "--name", "says_hello")
    assert (found.returncode, found.stderr) == (0, "")
    assert yaml.safe_load(found.stdout)[0]["name"] == "says_hello"


def test_an_entry_is_added_to_the_file_of_a_suite(tmp_path: Path) -> None:
    path = tmp_path / "eval.yaml"
    path.write_bytes(
        b"\xef\xbb\xbf# mine\r\nname: a\r\ngraders:\r\n  - {type: text, name: reports_deployment}\r\n"
    )
    found = engine("new", "grader", "text", "--to", tmp_path)
    assert (found.returncode, found.stdout) == (0, f"reports_deployment_2 added to {path}\n")
    content = path.read_bytes()
    assert content.startswith(b"\xef\xbb\xbf# mine\r\nname: a\r\ngraders:\r\n  - {type: text")
    assert content.count(b"\n") == content.count(b"\r\n")
    assert yaml.safe_load(content)["graders"][1]["name"] == "reports_deployment_2"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["txt"], "is not a grader type"),
        (["text", "--to", "gone.yaml"], "does not exist"),
        (["text", "--to", "broken.yaml"], "broken.yaml:"),
        (["text", "--to", "odd.yaml"], "cannot be extended safely"),
        (["text", "--to", "taken.yaml", "--name", "a"], "has a grader `a` already"),
        (["text", "--to", "empty"], "no eval.yaml"),
    ],
)
def test_what_cannot_be_added_is_exit_code_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    files = {"broken.yaml": "a: [\n", "odd.yaml": "graders: text\n", "taken.yaml": "graders: [{name: a}]\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    found = engine("new", "grader", *arguments)
    assert found.returncode == 2
    assert said in found.stderr
    assert "Traceback" not in found.stderr
    assert {name: (tmp_path / name).read_text() for name in files} == files


def test_a_type_that_is_not_known_names_those_that_are() -> None:
    with pytest.raises(ScaffoldError, match="`text`"):
        grader_entry("nope")


def test_a_grader_file_is_written_next_to_its_suite(tmp_path: Path) -> None:
    (tmp_path / "eval.yaml").write_text(EVAL_OF_TASKS)
    (tmp_path / "tasks").mkdir()
    task = tmp_path / "tasks" / "one.yaml"
    task.write_text("id: one\nname: One\ninputs: {prompt: Go}\n")
    found = engine("new", "grader", "--kind", "git", "--language", "sh", "--name", "End state", "--to", task)
    assert (found.returncode, found.stderr) == (0, "")
    file = tmp_path / "graders" / "end-state.sh"
    assert found.stdout == f"{file}\nEnd state added to {task}\n"
    assert file.stat().st_mode & 0o111
    [entry] = yaml.safe_load(task.read_text())["graders"]
    assert entry == {"type": "inline", "name": "End state", "config": {"grader": "graders/end-state.sh"}}
    assert create(entry).notices(tmp_path) == ()


def test_an_existing_grader_file_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert engine("new", "grader", "--kind", "hint").returncode == 0
    (tmp_path / "graders" / "hint.py").write_text("mine")
    again = engine("new", "grader", "--kind", "hint")
    assert (again.returncode, "already there" in again.stderr) == (2, True)
    assert (tmp_path / "graders" / "hint.py").read_text() == "mine"
    assert engine("new", "grader", "--kind", "hint", "--force").returncode == 0


@pytest.mark.parametrize("arguments", [[], ["text", "--kind", "hint"]])
def test_either_a_type_or_a_kind_is_needed(arguments: list[str]) -> None:
    found = engine("new", "grader", *arguments)
    assert (found.returncode, "--kind" in found.stderr) == (2, True)


# --- YAML that is composed from a template ---


TEMPLATE = """\
# The name.
name: $name  # short

items:
  - $name
  - [a, b]  # as it is
"""


def test_comments_quotes_and_flow_lists_stay() -> None:
    assert compose(TEMPLATE, name="a: b") == TEMPLATE.replace("$name  ", "'a: b' ").replace("$name", "'a: b'")


@given(st.text(st.characters(codec="utf-8", exclude_characters="\x00\x85\u2028\u2029\ufeff\ufffe\uffff")))
@example("on")
@example("12:30")
@example("first\nsecond\n")
@example("first\n\n  # second")
@example(" indented\nnot")
@example("trailing \nspace")
@example("---\n...")
@example("$name")
def test_every_string_is_read_back_by_both_versions_of_yaml(text: str) -> None:
    composed = compose("a: $a\nb:\n  - c: $a\n", a=text)
    assert parse_yaml(composed, Path("a.yaml")).value == {"a": text, "b": [{"c": text}]}
    assert yaml.safe_load(composed) == {"a": text, "b": [{"c": text}]}


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ([{"a": [1, {"b": "x"}]}, "y"], "- a:\n    - 1\n    - b: x\n- y\n"),
        ({"a": {}, "b": [], "c": None}, "a: {}\nb: []\nc:\n"),
    ],
)
def test_plain_data_become_blocks(data: object, text: str) -> None:
    assert to_yaml(data) == text
