"""Problems of prompts, captures, trials and adapters, at their exact characters; a run agrees with them."""

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.server.analysis.drawing import drawn, fixed, problems
from waza_engine.executors.adapter.output_lines import is_path
from waza_engine.executors.command import adapter_warnings
from waza_engine.runs.loading.dataset import prompt_tasks
from waza_engine.spec.adapter import PATH
from waza_engine.spec.loading import load_adapter_file
from waza_engine.spec.problems import SuiteFileError
from waza_language_server.project.document import DocumentKind
from waza_language_server.syntax.tried_edits import apply

BROKEN = """\
{"id": "a", "input": "x", "expected": "4"}

{"id": "a", "input": [], "metdata": {"category": "b"}}
  \t
{"id": 3, "input": "\U0001f600", "timeout": 60}
{"id": "d", "input": "x" "hint": "y"}
{"id": "e", "input": ["x", " ", 3], "hint": null}
[1]
"""


def test_all_lines_are_checked_at_their_exact_characters() -> None:
    assert (
        drawn(BROKEN, "prompts")
        == """
{"id": "a", "input": "x", "expected": "4"}
                          ^^^^^^^^^^ warning unknown-key: This line has no key `expected`; did you mean `hint`?
⋯
{"id": "a", "input": [], "metdata": {"category": "b"}}
       ^^^ error duplicate-task-id: The id `a` is taken by line 1; each line needs its own.
                     ^^ error empty-value: `input` is empty; it needs at least one item.
                         ^^^^^^^^^ warning unknown-key: This line has no key `metdata`; did you mean `metadata`?

^^^^ warning whitespace-line: This line has only whitespace, which agent-eval-harness refuses; leave it empty.
{"id": 3, "input": "😀", "timeout": 60}
       ^ error unquoted-text: `3` is a number, but a string is expected; put it in quotes.
                                    ^^ warning unlikely-value: `timeout` is in milliseconds; write `60000` for 60 seconds.
{"id": "d", "input": "x" "hint": "y"}
                         ^^^^^^ error json-syntax: A comma is missing before this.
{"id": "e", "input": ["x", " ", 3], "hint": null}
                           ^^^ error wrong-form: Every item of `input` must not be blank.
                                ^ error unquoted-text: `3` is a number, but a string is expected; put it in quotes.
                                            ^^^^ error empty-value: `hint` is `null`; write a value, or delete the key: the content of a good answer, for graders and judges.
[1]
^^^ error wrong-type: A line must be a JSON object: `{"id": …, "input": …}`.
"""  # noqa: E501
    )


LINE = '{"id": "a", "input": "Hi"}'


@pytest.mark.parametrize(
    ("line", "code", "repaired"),
    [
        (
            '{"id": "a", "input": "x", "expected" : "4"}',
            "unknown-key",
            '{"id": "a", "input": "x", "hint" : "4"}',
        ),
        ('{"id":"a","input":"x","metdata":{}}', "unknown-key", '{"id":"a","input":"x","metadata":{}}'),
        ('{"id": 3,\t"input": "x"}', "unquoted-text", '{"id": "3",\t"input": "x"}'),
        (
            '{"id": "a", "input": "x", "timeout":60 }',
            "unlikely-value",
            '{"id": "a", "input": "x", "timeout":60000 }',
        ),
        ('{"id": "a", "input": "x" "hint": "y"}', "json-syntax", '{"id": "a", "input": "x", "hint": "y"}'),
        ('{"id": "a", "input": "x", "input": "y"}', "duplicate-key", '{"id": "a", "input": "x"}'),
        (
            '{"id": "a", "input": "\\ud83d\\ude00", "hnt": "y"}',
            "unknown-key",
            '{"id": "a", "input": "\\ud83d\\ude00", "hint": "y"}',
        ),
    ],
)
@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
def test_a_fix_changes_its_own_characters_alone(line: str, code: str, repaired: str, line_break: str) -> None:
    text = line_break.join(["\ufeff{}", line, "", '{"b":  1 }'])
    assert fixed(text, code, "prompts") == text.replace(line, repaired)


@pytest.mark.parametrize("seed", range(10))
def test_no_fix_touches_another_line(seed: int) -> None:
    chance = random.Random(seed)
    lines = BROKEN.splitlines()
    chance.shuffle(lines)
    text = "\r\n".join(lines) if seed % 2 else "\n".join(lines)
    for problem in problems(text, "prompts"):
        start = text.rfind("\n", 0, problem.span.start) + 1
        end = text.find("\n", problem.span.end)
        end = len(text) if end < 0 else end
        for fix in problem.fixes:
            assert all(start <= edit.span.start and edit.span.end <= end for edit in fix.edits), (
                problem,
                fix,
            )
            after = apply(text, fix.edits)
            assert after[:start] == text[:start]
            assert after.endswith(text[end:])


VALUES = [
    *("x", "", " ", 1, None, True, [], {}, ["x"], ["x", 1], ["x", " "], -1, 0, 1e3, 60, 604800001, 1e12)
]


@pytest.mark.parametrize("seed", range(30))
def test_a_run_refuses_the_lines_that_have_errors_and_no_others(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    lines: list[str] = []
    for number in range(4):
        row: dict[str, object] = {"id": f"p{number}", "input": "x"}
        for _ in range(chance.randrange(3)):
            key = chance.choice(
                ["id", "input", "hint", "reference", "metadata", "timeout", "expected", "idd"]
            )
            row[key] = chance.choice(VALUES)
        if chance.random() < 0.15:
            row.pop(chance.choice([*row]))
        line = json.dumps(row)
        if chance.random() < 0.15:
            at = chance.randrange(len(line))
            line = line[:at] + chance.choice(["", ",", '"', "NaN", "}", "\\"]) + line[at + 1 :]
        lines.append(chance.choice([line, line, f"{line}\n", f" {line}\r"]))
    agree(tmp_path, "\n".join(lines))


@pytest.mark.parametrize(
    "text",
    [
        f"{LINE}\n{LINE}",
        '{"id": "a", "input": "x", "hint": "y", "hint": "z"}',
        '{"id": "a", "input": "x", "metadata": {"a": NaN}}',
        '{"id": "a", "input": "\\ud83d"}',
        f"{LINE}\n\ufeff{LINE}",
        f"\ufeff{LINE}\r\n",
        '{"id": "", "input": "x"}',
        '{"id": "a", "input": "x", "metadata": {"a": {"b": [1, null]}}}',
        "// prompts\n" + LINE,
        "null",
        '{"id": "a",\n "input": "x"}',
        "[" * 5_000,
        f'{LINE}\n{{"id": "b", "input": "x", "metadata": {{"a": "1e999", "b": 1e999}}}}',
        f'{LINE}\n{{"id": "b", "input": "x", "metadata": {{"a": {"9" * 5_000}}}}}',
        f"{LINE}\n\u00a0\n{LINE.replace('a', 'b')}",
    ],
)
def test_a_run_and_the_editor_agree(tmp_path: Path, text: str) -> None:
    agree(tmp_path, text)


def agree(folder: Path, text: str) -> None:
    """Assert that a run refuses a file at the lines at which the editor has errors.

    The editor checks the value of a misspelt key by what is intended; a run leaves the key out.
    """
    path = folder / "prompts.jsonl"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    found = [(text.count("\n", 0, each.span.start) + 1, each) for each in problems(text, "prompts")]
    errors = [each for _, each in found if each.severity == "error"]
    misspelt = {line for line, each in found if each.code == "unknown-key"}
    expected = sorted({line for line, each in found if each in errors})
    try:
        prompt_tasks(path)
        refused: list[int] = []
    except SuiteFileError as error:
        refused = [error.line, *map(int, re.findall(r"; line (\d+): ", error.message))]
    either = {*refused} ^ {*expected}
    assert either <= misspelt - {*refused}, [each.message for each in errors]


def test_a_run_names_all_lines_that_it_refuses(tmp_path: Path) -> None:
    path = tmp_path / "prompts.jsonl"
    path.write_text("\n".join(["{}", LINE, "{", *['{"id": 1}'] * 12]))
    with pytest.raises(SuiteFileError) as caught:
        prompt_tasks(path)
    message = str(caught.value)
    assert "prompts.jsonl:1: `id` is missing" in message
    assert "; line 3: this is not JSON" in message
    assert "; line 11: " in message
    assert message.endswith("; and in 4 more lines")


@given(st.text("$.a[]*01' é\n", max_size=12) | st.just("$.a.b[0].c[*].d"))
def test_the_schema_knows_the_same_paths_as_an_executor(path: str) -> None:
    assert (re.search(PATH, path) is not None) == (not path or is_path(path))


ADAPTER: dict[str, Any] = {
    "version": 1,
    "name": "a",
    "command": ["a"],
    "sessionMode": "stream",
    "prompt": {"flag": "-p"},
    "output": {"flag": "", "value": ""},
    "outputEvents": [
        {"match": {"path": "$.t", "value": "x"}, "emitAs": "message", "extract": {"content": "$.c"}}
    ],
    "result": {"matchPath": "$.t", "matchValue": "r", "contentPath": "$.c"},
}


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({}, []),
        ({"prompt": {"flag": "-p", "stdin": True}}, ["`flag` and `stdin: true` exclude each other"]),
        (
            {"resume": {"flag": "-r", "sessionIdPath": "session"}},
            ["`sessionIdPath` leads nowhere; write `$.a.b`"],
        ),
        ({"outputEvents": ADAPTER["outputEvents"] * 2}, ["This mapping has no effect"]),
        ({"outputEvents": ADAPTER["outputEvents"] * 2, "x-waza": {"event_matching": "all"}}, []),
        ({"sesionMode": "x"}, ["The file has no key `sesionMode`"]),
        ({"version": 2}, ["`version` cannot be `2`"]),
        ({"command": []}, ["`command` is empty"]),
        ({"timeout": -1}, ["`timeout` must be greater than 0"]),
    ],
)
def test_adapters_are_checked_as_their_executor_does(
    tmp_path: Path, keys: dict[str, object], said: list[str]
) -> None:
    text = json.dumps({**ADAPTER, **keys}, indent=2)
    found = problems(text, "adapter")
    assert len(found) == len(said), found
    assert all(words in each.message for words, each in zip(said, found, strict=True))
    path = tmp_path / "a.json"
    path.write_text(text)
    try:
        load_adapter_file(path)
        is_refused = False
    except SuiteFileError:
        is_refused = True
    assert is_refused == any(each.severity == "error" for each in found)


def test_a_path_without_its_beginning_is_completed() -> None:
    text = json.dumps({**ADAPTER, "resume": {"flag": "-r", "sessionIdPath": "session.id"}})
    assert fixed(text, "wrong-form", "adapter") == text.replace('"session.id"', '"$.session.id"')


def test_of_a_flag_next_to_standard_input_either_can_be_deleted() -> None:
    text = json.dumps({**ADAPTER, "prompt": {"flag": "-p", "stdin": True}})
    [problem] = problems(text, "adapter")
    assert [fix.title for fix in problem.fixes] == ["Delete `stdin`", "Delete `flag`"]
    assert apply(text, problem.fixes[0].edits) == text.replace(', "stdin": true', "")


@pytest.mark.parametrize(
    ("kind", "row", "severities"),
    [
        ("captures", {"id": "a", "input": "x", "output": "y", "trajectory": [], "timing": {}}, {"warning"}),
        (
            "captures",
            {"id": "a", "input": "x", "output": 1, "trajectory": [], "timing": {}},
            {"error", "warning"},
        ),
        (
            "trials",
            {"id": "a", "input": ["x"], "k": 1, "trials": [{"trialNum": 1, "output": "y"}]},
            {"warning"},
        ),
        ("trials", {"id": "a", "input": ["x"], "k": 0, "trials": []}, set()),
    ],
)
def test_records_that_commands_read_have_warnings_for_the_harness_alone(
    kind: DocumentKind, row: object, severities: set[str]
) -> None:
    assert {each.severity for each in problems(json.dumps(row), kind)} == severities


@pytest.mark.parametrize("kind", ["captures", "trials"])
def test_a_file_of_records_may_still_be_empty(kind: DocumentKind) -> None:
    assert problems("", kind) == ()
    [problem] = problems("", "prompts")
    assert problem.code == "empty-file"
    assert (
        problem.message
        == "The file has no prompts, so a suite has no tasks in it; write one JSON object a line."
    )


TRIAL = '{"trialNum": 1, "output": "y", "trajectory": [], "duration": 1}'


def test_rates_and_the_number_of_trials_are_checked() -> None:
    row = f'{{"id": "a", "input": "x", "k": 3, "passRate": 2, "passAtK": -1, "trials": [{TRIAL}]}}'
    found = sorted(problems(row, "trials"), key=lambda each: each.span)
    assert [(each.code, each.severity, each.message) for each in found] == [
        (
            "unlikely-value",
            "warning",
            "`k` is 3, but the line has 1 trial; the others are missing in `trials`.",
        ),
        ("out-of-range", "warning", "`passRate` must be at most 1, not 2."),
        ("out-of-range", "warning", "`passAtK` must be at least 0, not -1."),
    ]
    assert (
        problems(row.replace('"k": 3, "passRate": 2, "passAtK": -1', '"k": 1, "passRate": 0.5'), "trials")
        == ()
    )


def step(written: str) -> str:
    return (
        f'{{"id": "a", "input": "x", "output": "y", "trajectory": [{written}], "metadata": {{}}, '
        '"timing": {"start": 1, "end": 2, "sessionCreation": 0, "total": 1}, "toolErrors": false}'
    )


def test_a_line_of_another_kind_of_results_has_one_problem() -> None:
    trials = f'{{"id": "a", "input": "x", "k": 1, "trials": [{TRIAL}]}}'
    [problem] = problems(f"{step('')}\n{trials}", "captures")
    assert problem.message == "This line holds trials, the file captures; move it to a file of trials."
    [problem] = problems(f"{trials}\n{step('')}", "trials")
    assert problem.message == "This line holds a capture, the file trials; move it to a file of captures."


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (
            '{"type": "mesage", "content": "x", "timestamp": 1}',
            "`type` cannot be `mesage`; did you mean `message`? "
            "It must be `thought`, `message`, `tool_call` or `plan`.",
        ),
        (
            '{"type": "tool_call", "name": "a", "content": "x", "timestamp": 1}',
            "`status` is missing in this item of `trajectory`: the state of the tool call; "
            "`failed` counts as an error.",
        ),
    ],
)
def test_a_step_is_checked_by_its_type(written: str, message: str) -> None:
    assert message in [each.message for each in problems(step(written), "captures")]
    assert "It must be `thought`." not in str(problems(step(written), "captures"))


def test_no_fix_writes_a_comment_into_json() -> None:
    line = '{"id": "a", "input": "x", "metada\\ud83dtoolErrors": false}'
    titles = {fix.title for problem in problems(line, "prompts") for fix in problem.fixes}
    assert not {title for title in titles if "comment" in title}
    assert any(title.startswith("Delete") for title in titles)


CONVERSATION = {
    "version": 1,
    "name": "a",
    "command": ["a"],
    "sessionMode": "iterative",
    "prompt": {"stdin": True},
    "x-waza": {"output_mode": "text"},
}


@pytest.mark.parametrize(
    ("changed", "span"),
    [
        ({"historyTemplate": "Before: {input}"}, '"Before: {input}"'),
        ({"historyTemplate": {"turnFormat": "so far"}}, '"so far"'),
        ({"historyTemplate": "{{input}}"}, None),
        ({"historyTemplate": "so far", "sessionMode": "stream"}, None),
        ({"sessionMode": "stream", "resume": {"flag": "-r", "sessionIdPath": "$.ids[*]"}}, '"$.ids[*]"'),
        ({"sessionMode": "stream", "resume": {"flag": "-r", "sessionIdPath": "$.ids[0]"}}, None),
        ({"sessionMode": "iterative", "resume": {"flag": "-r", "sessionIdPath": "$.ids[*]"}}, None),
    ],
)
def test_what_loses_the_past_of_a_conversation_is_reported_as_by_a_run(
    tmp_path: Path, changed: dict[str, Any], span: str | None
) -> None:
    path = tmp_path / "adapter.json"
    path.write_text(text := json.dumps(CONVERSATION | changed), "utf-8")
    adapter, _ = load_adapter_file(path)
    found = problems(text, "adapter")
    assert [text[each.span.start : each.span.end] for each in found] == ([] if span is None else [span])
    assert len(list(adapter_warnings(path, adapter, ""))) == len(found)


def test_single_braces_become_placeholders() -> None:
    text = json.dumps(CONVERSATION | {"historyTemplate": "U: {input}, A: {output}"})
    doubled = text.replace("{input}, A: {output}", "{{input}}, A: {{output}}")
    assert fixed(text, "unlikely-value", "adapter") == doubled
