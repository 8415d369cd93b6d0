"""``evals.json`` and trigger lists: which are valid, and what is said of mistakes, at which line."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waza_engine.spec.evals_json import EvalsFile, TriggerList
from waza_engine.spec.loading import load_eval_file, load_skill_evals
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.json_reader import parse_json

CASE: dict[str, Any] = {"id": 1, "prompt": "p", "expected_output": "o", "assertions": ["It is so."]}


def evals(*cases: dict[str, Any], **more: Any) -> str:
    return json.dumps({"skill_name": "tea", "evals": list(cases), **more}, indent=1)


def error_of(folder: Path, text: str, name: str = "evals.json") -> str:
    path = folder / name
    path.write_text(text, "utf-8")
    with pytest.raises(SuiteFileError) as refused:
        load_eval_file(path)
    return f"{refused.value.line}: {refused.value.message}"


@pytest.mark.parametrize(
    "case",
    [
        CASE,
        {**CASE, "id": "first-case"},
        {"id": 1, "prompt": "p", "expected_output": "o"},
        {"id": 1, "prompt": "p", "expected_output": "o", "expectations": ["It is so."]},
        {**CASE, "expectations": ["Another."], "files": ["evals/files/a.csv", {"path": "b", "content": ""}]},
        {**CASE, "slug": "a", "case_set": "train", "name": "n"},
        {**CASE, "assertions": [{"name": "n", "description": "d", "type": "content", "pattern": "(?i)x"}]},
        {**CASE, "assertions": [{"type": "must_not", "pattern": "x", "path": "out.md"}]},
        {**CASE, "assertions": [{"type": "file_exists", "path": "out.md"}, {"description": "A sentence."}]},
        {**CASE, "assertions": [{"name": "A sentence."}], "files": []},
        {**CASE, "prompt": "\U0001f375 and \u2028"},
    ],
)
def test_valid_cases(tmp_path: Path, case: dict[str, Any]) -> None:
    path = tmp_path / "evals.json"
    path.write_text(evals(case, schema_version=1), "utf-8")
    document, warnings = load_skill_evals(path)
    assert isinstance(document, EvalsFile)
    assert document.evals[0].id == str(case["id"])
    assert warnings == ()


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ({"id": 1, "expected_output": "o"}, "4: `evals[0].prompt` is missing"),
        ({"id": 1, "prompt": " ", "expected_output": "o"}, "6: `evals[0].prompt` must not be blank"),
        ({"id": 1, "prompt": "p", "assertions": "x"}, "7: `evals[0].assertions` must be a list: `[ … ]`"),
        ({"id": 1, "prompt": "p", "assertions": ["a", ""]}, "9: `evals[0].assertions[1]` must not be blank"),
        ({"id": 1, "prompt": "p", "assertions": [3, ["a"]]}, "9: `evals[0].assertions[1]` must be text"),
        (
            {"id": 1, "prompt": "p", "assertions": []},
            "4: `evals[0]`: give at least one of `assertions`, `expectations` or `expected_output`",
        ),
        (
            {"id": 1, "prompt": "p", "assertions": [{"type": "content"}]},
            "8: `evals[0].assertions[0]`: `content` needs `pattern`, the regular expression that must be "
            "found",
        ),
        (
            {"id": 1, "prompt": "p", "assertions": [{"type": "file_exists", "pattern": "x"}]},
            "8: `evals[0].assertions[0]`: `file_exists` needs `path`, the file that must exist",
        ),
        (
            {"id": 1, "prompt": "p", "assertions": [{"type": "contents", "pattern": "x"}]},
            "9: `evals[0].assertions[0].type` is `contents`, which is not one of `content`, `must_not` or "
            "`file_exists`",
        ),
        (
            {"id": 1, "prompt": "p", "assertions": [{}]},
            "8: `evals[0].assertions[0]`: write `description`, the sentence to judge, or a `type`",
        ),
        (
            {"id": 1, "prompt": "p", "expected_output": "o", "files": [{"content": "x"}]},
            "9: `evals[0].files[0].path` is missing",
        ),
    ],
)
def test_a_mistake_is_reported_at_its_line(tmp_path: Path, case: dict[str, Any], message: str) -> None:
    assert error_of(tmp_path, evals(case)) == message


def test_mistakes_of_the_whole_file(tmp_path: Path) -> None:
    assert error_of(tmp_path, '{"skill_name": "", "evals": [{}]}').startswith("1: `skill_name` must not be")
    assert error_of(tmp_path, '{\n"skill_name": "x",\n"evals": []}') == "3: `evals` must not be empty"
    assert error_of(tmp_path, '{"skill_name": "x",\n"evals": [1,]}').startswith("2: this is not JSON")
    assert error_of(tmp_path, "[" * 100_000).endswith("it is nested too deeply")
    assert error_of(tmp_path, '{"a": 1,\n"b": NaN}') == "2: this is not JSON: it has no `NaN`; write `null`"
    assert error_of(tmp_path, '{"a": 1,\n"b": 1e999}').startswith("2: column 6: the number is too large")
    assert error_of(tmp_path, "") == "1: there is nothing in it; write a JSON object: `{ … }`"


def test_a_key_that_is_set_twice_is_refused_at_its_line(tmp_path: Path) -> None:
    text = evals(CASE).replace('"id"', '"prompt": "q",\n"id"')
    line = text[: text.rindex('"prompt"')].count("\n") + 1
    assert error_of(tmp_path, text) == f"{line}: `prompt` is set twice in this mapping; keep one of the two"
    assert error_of(tmp_path, '[{"a": [{}, {"b": 1,\n"b": 2}]},\n{"c": 1, "c": 1}]').startswith("2: `b`")


def test_a_file_in_which_every_case_has_a_mistake_is_refused_at_the_first(tmp_path: Path) -> None:
    cases = [{"id": number, "prompt": "p"} for number in range(20_000)]
    assert error_of(tmp_path, evals(*cases)).startswith("4: `evals[0]`: give at least one")


def test_unknown_keys_have_no_effect_and_a_suggestion(tmp_path: Path) -> None:
    path = tmp_path / "evals.json"
    path.write_text(evals({**CASE, "title": "x", "owner": "me"}, owner="me"), "utf-8")
    _, warnings = load_skill_evals(path)
    assert [f"{warning.line}: {warning.message}" for warning in warnings] == [
        "11: `evals[0].title` is not a known key and has no effect; write `name`",
        "12: `evals[0].owner` is not a known key and has no effect",
        "15: `owner` is not a known key and has no effect",
    ]


def test_misspelt_assertions_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "evals.json"
    path.write_text(evals({**CASE, "expectation": ["x"]}), "utf-8")
    with pytest.raises(SuiteFileError, match="the run has none of these assertions; write `expectations`"):
        load_skill_evals(path)


QUERY = {"query": "q", "should_trigger": True}


@pytest.mark.parametrize("document", [[QUERY], {"evals": [QUERY]}, {"skill_name": "x", "evals": [QUERY]}])
def test_both_forms_of_a_trigger_list(tmp_path: Path, document: object) -> None:
    path = tmp_path / "triggers.json"
    path.write_text(json.dumps(document), "utf-8")
    found, _ = load_skill_evals(path)
    assert isinstance(found, TriggerList)
    assert [(query.words, query.should_trigger) for query in found.queries] == [("q", True)]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"query": "q"}, "6: `[1].should_trigger` is missing"),
        ({"should_trigger": False}, "6: `[1]`: give at least one of `query` or `prompt`"),
        ({"query": "q", "should_trigger": "no"}, "8: `[1].should_trigger` must be `true` or `false`"),
        ({"query": 3, "should_trigger": True}, "7: `[1].query` must be text"),
    ],
)
def test_a_mistake_in_a_trigger_list(tmp_path: Path, entry: dict[str, Any], message: str) -> None:
    text = json.dumps([QUERY, entry], indent=1)
    assert error_of(tmp_path, text, "triggers.json") == message


def test_an_empty_trigger_list_says_what_belongs_in_it(tmp_path: Path) -> None:
    message = error_of(tmp_path, "[]", "triggers.json")
    assert message.endswith("a trigger list has prompts, each with `query` and `should_trigger`")


def test_a_trigger_list_without_a_skill_says_where_to_name_it(tmp_path: Path) -> None:
    message = error_of(tmp_path, json.dumps([QUERY]), "triggers.json")
    assert message.startswith("1: the trigger list names no skill, and no folder above it has a SKILL.md")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(), children, max_size=4),
    max_leaves=12,
)


@given(JSON, st.sampled_from([None, 0, 2]))
def test_every_line_that_is_found_holds_the_key_or_item(value: Any, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    file = parse_json(text, Path("x.json"))
    lines = text.split("\n")

    def visit(part: Any, location: tuple[str | int, ...]) -> None:
        line = lines[file.line_of(location) - 1]
        if location:
            wanted = json.dumps(location[-1]) if isinstance(location[-1], str) else json.dumps(part)[0]
            assert wanted in line
        entries = (
            part.items() if isinstance(part, dict) else enumerate(part if isinstance(part, list) else ())
        )
        for key, item in entries:
            visit(item, (*location, key))

    visit(value, ())
