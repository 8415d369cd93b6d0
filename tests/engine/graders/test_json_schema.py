"""The answer as JSON: `json_schema`, with the worked examples"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.engine.graders.grading import folder, grade, refused, result

NAME = {"type": "object", "required": ["name"]}


@pytest.mark.parametrize(
    ("schema", "output", "expected"),
    [
        (NAME, '{"name": "Alice", "age": 30}', (1.0, True)),
        (NAME, '{"age": 30}', (0.0, False)),
        (NAME, "not json at all", (0.0, False)),
        ({"type": "array", "items": {"type": "string"}}, '["a", "b"]', (1.0, True)),
        ({}, "  3 \n", (1.0, True)),
        ({}, "NaN", (0.0, False)),
        ({}, '```json\n{"name": 1}\n```', (0.0, False)),
        ({}, "[" * 100_000, (0.0, False)),
        ({"pattern": "^a+$"}, '"aaa"', (1.0, True)),
        ({"pattern": r"^\pL+\z"}, '"äé"', (1.0, True)),
        ({"patternProperties": {"^x": {"type": "string"}}}, '{"x1": 1}', (0.0, False)),
        ({"format": "email"}, '"not an address"', (1.0, True)),
        ({"multipleOf": 0.1}, "0.3", (1.0, True)),
        ({"multipleOf": 0.1}, "0.35", (0.0, False)),
        ({"multipleOf": 2}, "4.0", (1.0, True)),
        ({"multipleOf": 2}, "true", (1.0, True)),
        ({"const": 1}, "1.0", (1.0, True)),
        ({"const": 1}, "true", (0.0, False)),
        ({"uniqueItems": True}, "[1, true, 1.5]", (1.0, True)),
        ({"uniqueItems": True}, "[1, 1.0]", (0.0, False)),
        ({"dependencies": {"a": ["b"]}}, '{"a": 1}', (0.0, False)),
        ({"dependencies": {"a": ["b"]}}, '{"a": 1, "b": 2}', (1.0, True)),
        ({"dependencies": {"a": {"required": ["b"]}}}, '{"a": 1}', (0.0, False)),
        ({"dependencies": {"a": ["b"]}}, '{"c": 1}', (1.0, True)),
        ({"dependencies": {"a": ["b"]}}, '["a"]', (1.0, True)),
        ({}, "1e400", (0.0, False)),
        ({"type": "integer"}, "1" * 400, (0.0, False)),
        ({"type": "object"}, f'{{"a": -{"1" * 400}}}', (0.0, False)),
        ({"type": "integer"}, "1" * 300, (1.0, True)),
        ({"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer"}, "1.0", (1.0, True)),
        ({}, "\ufeff{}", (0.0, False)),
        ({}, "\u00a01", (0.0, False)),
    ],
)
def test_json_schema(schema: dict[str, Any], output: str, expected: tuple[float, bool]) -> None:
    assert result(grade("json_schema", {"schema": schema}, output=output)) == expected


@pytest.mark.parametrize(
    ("rule", "output", "told"),
    [
        ({"type": "string"}, "null", 'null is not of type "string"'),
        ({"const": True}, "false", "true was expected"),
        ({"enum": [None, "x"]}, '{"a": [true]}', '{"a": [true]} is not one of [null, "x"]'),
        ({"uniqueItems": True}, '["True", "True"]', '["True", "True"] has non-unique elements'),
        ({"additionalProperties": False}, '{"False": 1}', "not allowed ('False' was unexpected)"),
    ],
)
def test_what_does_not_fit_is_quoted_as_json(rule: dict[str, Any], output: str, told: str) -> None:
    assert grade("json_schema", {"schema": rule}, output=output).feedback.endswith(told)


def test_a_number_that_is_too_large_is_told_by_its_first_digits() -> None:
    said = grade("json_schema", {"schema": {}}, output=f"[{'7' * 5000}]").feedback
    assert said == f"the answer is not JSON: the number {'7' * 40}… is too large"


@pytest.mark.parametrize(
    ("schema", "output", "expected"),
    [
        (NAME, 'Here you are:\n```json\n{"name": "x"}\n```\nBye', (1.0, True)),
        (NAME, '{"name": 1} and {"name": 2}', (0.0, False)),
        (NAME, "nothing here", (0.0, False)),
        (NAME, 'a { b {"name": 1}', (1.0, True)),
        ({"type": "array"}, '[{"name": "x"}, {"name": "y"}]', (1.0, True)),
        ({"type": "string"}, '"neither an object nor an array"', (0.0, False)),
        ({"type": "integer"}, "7", (0.0, False)),
    ],
)
def test_extract_json_takes_the_only_object_or_array(
    schema: dict[str, Any], output: str, expected: tuple[float, bool]
) -> None:
    assert result(grade("json_schema", {"schema": schema, "extract_json": True}, output=output)) == expected


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("uuid", "2EB8AA08-aa98-11ea-b4aa-73b441d16380", "2eb8aa08aa9811eab4aa73b441d16380"),
        ("duration", "P1Y2M3DT4H5M6S", "P1DT"),
        ("duration", "P12W", "P1D1Y"),
        ("period", "2024-01-01T00:00:00Z/PT8H", "PT8H/PT8H"),
        ("period", "P1D/2024-01-01T00:00:00Z", "2024-01-01"),
        ("semver", "1.2.3-rc.1+build.01", "1.2.3-01"),
        ("hostname", "api.example.com.", "api..example.com"),
        ("hostname", "xn--x", "-a.example.com"),
        ("email", "a@example.com.", "a@-example.com"),
        ("email", "a@[127.0.0.1]", "a..b@example.com"),
        ("date-time", "1998-12-31T15:59:60-08:00", "2024-01-01T00:00:60Z"),
        ("email", "a@example.org", "not an address"),
        ("date", "2020-02-29", "2020-13-01"),
        ("date-time", "2020-02-29T12:00:00Z", "2020-02-29 12:00"),
        ("ipv4", "127.0.0.1", "127.0.0.256"),
        ("uri", "https://example.org/a?b#c", "example.org"),
        ("regex", r"^\pL+\z", "("),
        ("idn-hostname", "-nobody checks this-", None),
    ],
)
def test_formats_are_checked_in_older_drafts_alone(name: str, right: str, wrong: str | None) -> None:
    schema = {"$schema": "http://json-schema.org/draft-07/schema#", "format": name}
    assert result(grade("json_schema", {"schema": schema}, output=json.dumps(right))) == (1.0, True)
    assert result(grade("json_schema", {"schema": schema}, output="7")) == (1.0, True)
    if wrong is not None:
        assert result(grade("json_schema", {"schema": schema}, output=json.dumps(wrong))) == (0.0, False)
        assert grade("json_schema", {"schema": {"format": name}}, output=json.dumps(wrong)).passed


@pytest.mark.parametrize(
    "dialect",
    [
        "http://json-schema.org/draft-07/schema#",
        "http://json-schema.org/draft-07/schema",
        "https://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft-04/schema",
        "http://json-schema.org/draft/2020-12/schema",
        "https://json-schema.org/draft/2019-09/schema#",
        "http://json-schema.org/schema#",
    ],
)
def test_a_dialect_is_known_by_each_of_its_addresses(dialect: str) -> None:
    # Patterns stay those of the graders where the schema refers to itself.
    tree = {"$schema": dialect, "pattern": r"^\pL+\z", "items": {"$ref": "#"}}
    assert result(grade("json_schema", {"schema": tree}, output='[["äé"]]')) == (1.0, True)
    assert result(grade("json_schema", {"schema": tree}, output='[["a1"]]')) == (0.0, False)


@pytest.mark.parametrize(
    "dialect", ["https://example.com/schema", "json", 7, "", "ftp://json-schema.org/schema"]
)
def test_an_unknown_dialect_is_refused(dialect: object) -> None:
    with refused("`config.schema`", "not a known JSON Schema dialect"):
        grade("json_schema", {"schema": {"$schema": dialect}}, output="{}")


OLD = '"$schema": "http://json-schema.org/draft-04/schema#"'
BESIDE = {
    "answer.json": '{"items": {"$ref": "name.json"}}',
    "name.json": '{"type": "string"}',
    "old/answer.json": f'{{{OLD}, "items": {{"$ref": "name.json"}}}}',
    "old/name.json": f'{{{OLD}, "type": "string", "pattern": "^\\\\pL+\\\\z"}}',
}


@pytest.mark.parametrize(
    ("config", "wrong"),
    [
        ({"schema_file": "answer.json"}, "[1]"),
        ({"schema_file": "old/answer.json"}, '["a1"]'),
        ({"schema": {"items": {"$ref": "name.json"}}}, "[1]"),
    ],
    ids=["a file", "a file of an old draft", "an inline schema"],
)
def test_a_schema_refers_to_files_beside_the_eval(tmp_path: Path, config: dict[str, Any], wrong: str) -> None:
    suite = folder(tmp_path, BESIDE)
    assert result(grade("json_schema", config, output='["äé"]', suite_directory=suite)) == (1.0, True)
    assert result(grade("json_schema", config, output=wrong, suite_directory=suite)) == (0.0, False)


def test_a_missing_schema_file_matters_only_for_json(tmp_path: Path) -> None:
    config = {"schema_file": "none.json"}
    assert result(grade("json_schema", config, output="no json", suite_directory=tmp_path)) == (0.0, False)
    with refused("`config.schema_file`", "cannot be read"):
        grade("json_schema", config, output="{}", suite_directory=tmp_path)


@pytest.mark.parametrize("ref", ["https://example.com/schema.json", "file:///etc/passwd", "other.json"])
def test_a_reference_out_of_the_schema_is_refused(ref: str) -> None:
    with refused("`config.schema`", "never fetched"):
        grade("json_schema", {"schema": {"$ref": ref}}, output="{}")


def test_a_schema_that_refers_to_itself_is_an_error() -> None:
    with refused("refers to itself without end"):
        grade("json_schema", {"schema": {"$ref": "#"}}, output="{}")


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({}, ["nothing to check", "`schema` or `schema_file`"]),
        ({"schema": None}, ["nothing to check"]),
        ({"schema": []}, ["`config.schema` must be a block"]),
        ({"schema": {"type": "bogus"}}, ["the schema is invalid at $.type"]),
        ({"schema": {"pattern": "("}}, ["the schema is invalid"]),
        ({"schema": {"$schema": "https://example.com/mine"}}, ["not a known JSON Schema dialect"]),
    ],
)
def test_schemas_that_cannot_be_used(config: dict[str, Any], words: list[str]) -> None:
    with refused(*words):
        grade("json_schema", config, output="{}")


def test_a_reference_that_leads_nowhere_is_an_error_even_if_no_value_meets_it() -> None:
    schema = {"properties": {"x": {"$ref": "#/$defs/none"}}}
    with refused("refers to `#/$defs/none`"):
        grade("json_schema", {"schema": schema}, output="{}")
    named_so = {"properties": {"$ref": {"type": "string"}}, "enum": [{"$ref": "#/none"}]}
    assert result(grade("json_schema", {"schema": named_so}, output='{"$ref": "#/none"}')) == (1.0, True)


@pytest.mark.parametrize(
    ("output", "why"),
    [
        ("", "it is empty"),
        ('{"a": 1', "it breaks off at line 1, column 8"),
        ('{\n  "a": yes please\n}', "at line 2, column 8 stands `yes please }`"),
        ("x" * 50, f"at line 1, column 1 stands `{'x' * 40}…`"),
        ("[NaN]", "NaN is no JSON number"),
        ("[" * 100_000, "it is nested too deeply"),
    ],
)
def test_an_answer_that_is_no_json_is_told_where(output: str, why: str) -> None:
    found = grade("json_schema", {"schema": {"type": "object"}}, output=output)
    assert found.feedback == f"the answer is not JSON: {why}"


def doubling(levels: int) -> dict[str, Any]:
    """Return a schema that asks the last thing two times as often for each level."""
    below = {f"l{n}": {"allOf": [{"$ref": f"#/$defs/l{n + 1}"}] * 2} for n in range(levels)}
    return {"$ref": "#/$defs/l0", "$defs": {**below, f"l{levels}": {"type": "object"}}}


def test_a_schema_that_finds_problems_without_end_is_an_error() -> None:
    with refused("more than 20000 problems"):
        grade("json_schema", {"schema": doubling(40)}, output="1")


def test_a_schema_that_takes_too_long_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("waza_engine.graders.matching.json_schemas.CHECK_SECONDS", 0.2)
    with refused("longer than 0.2 seconds"):
        grade("json_schema", {"schema": doubling(40)}, output="{}")


def test_items_that_cannot_be_sorted_are_compared_in_time() -> None:
    items = [{"n": number} for number in range(20_000)]
    schema = {"uniqueItems": True}
    assert result(grade("json_schema", {"schema": schema}, output=json.dumps(items))) == (1.0, True)
    items.append({"n": 7})
    assert result(grade("json_schema", {"schema": schema}, output=json.dumps(items))) == (0.0, False)


def test_a_schema_may_not_be_of_any_size() -> None:
    with refused("larger than 1000000 characters"):
        grade("json_schema", {"schema": {"enum": ["x" * 1_000_000]}}, output="1")
