"""What can be written at the cursor: in whole, half-typed and broken files, in every layout."""

import json
import os
from pathlib import Path

import pytest

from tests.server.features.completing import completions, item, labels, taken
from tests.server.features.results import grade, write_results
from tests.server.project.files import EVAL, put, small_suite, workspace_with
from waza_language_server.features.completion.complete import Completions, complete
from waza_language_server.project.document import Document, DocumentKind
from waza_language_server.project.uris import uri_of
from waza_language_server.syntax.tree import parse

CODE = "graders:\n  - type: code\n    config:\n      assertions:\n        - "
ANCHORED = "tasks:\n  - &first {id: a, tags: &words [x]}\n"
JSON = '{"config": {"executor": VALUE, "model": "m"}, "graders": [{"type": GRADER, "config": {}}]}'
CALIBRATES = (
    "graders:\n  - {type: prompt, name: judge}\n  - type: human_calibration\n    name: me\n"
    "    config:\n      calibrate_grader: <CURSOR>\n"
)
EXPECTS = "graders: [{type: code, name: good}]\ntasks:\n- id: a\n  expected:\n    graders:\n      "
OF_EVENTS = ["type", "content", "message"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("config:\n  executor: <CURSOR>\n", ["mock", "copilot-sdk", "openai", "command", "replay"]),
        ("config:\n  parallel: <CURSOR>\n", ["true", "false"]),
        ("config: {fail_fast: <CURSOR>", ["true", "false"]),
        ("config:\n  group_by: <CURSOR>\n", ["model"]),
        (
            "graders:\n  - type: skill_invocation\n    config:\n      mode: <CURSOR>\n",
            ["exact_match", "in_order", "any_order"],
        ),
        (CALIBRATES, ["judge"]),
        (f"{ANCHORED}  - *<CURSOR>\n", ["*first", "*words"]),
        (f"{ANCHORED}  - *fi<CURSOR>rst\n", ["*first", "*words"]),
        (f"{ANCHORED}  - <<: <CURSOR>\n", ["*first"]),
        (f"{ANCHORED}  - id: b\n    <<: [*<CURSOR>]\n", ["*first"]),
        (f"tasks:\n  - *<CURSOR>\n{ANCHORED.removeprefix('tasks:')}", []),
        (f'{EXPECTS}- "<CURSOR>"\n', ["good"]),
        (f"{EXPECTS}- 'g<CURSOR>'\n", ["good"]),
        (f'{EXPECTS}["<CURSOR>"]\n', ["good"]),
        (f'{CODE}"[e for e in transcript if e[\'<CURSOR>"\n', OF_EVENTS),
        (f'{CODE}"any(transcript[0][\\"<CURSOR>\\"])"\n', OF_EVENTS),
        (f"{CODE}'any(transcript[0][''<CURSOR>''])'\n", OF_EVENTS),
        (f'{CODE}"any(transcript[0][\\x22<CURSOR>\\x22])"\n', OF_EVENTS),
        (f"{CODE}\"[e for e in transcript\n        if e['<CURSOR>']]\"\n", OF_EVENTS),
        (f"{CODE}|\n          [e for e in transcript\n           if e['<CURSOR>']]\n", OF_EVENTS),
    ],
)
def test_what_the_schema_and_the_file_know_is_offered(source: str, expected: list[str]) -> None:
    assert labels(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        # In comments, beside other text, and where it would break what stands there.
        "# <CURSOR>",
        "skill: x # <CURSOR>\n",
        "graders:\n <CURSOR> - type: text\n",
        "graders:\n  <CURSOR>- type: text\n",
        "config:\n<CURSOR>  executor: mock\n",
        "config:\n  executor: <CURSOR>'mock'\n",
        "config:\n  executor: 'mock'<CURSOR>\n",
        "tasks:\n  -<CURSOR> 'tasks/*.yaml'\n",
        "graders:\n- type: code\n  config:\n    assertions:\n    - ><CURSOR>-\n      len(output)\n",
        "config: {model: m, <CURSOR># why\n}\n",
        "config: {model: m, # why<CURSOR>\n}\n",
        'tasks: ["tasks/*.yaml"<CURSOR>]\n',
        'graders: [{type: code, config: {assertions: ["output"<CURSOR>, "errors"]}}]\n',
        'graders: [{type: code, config: {assertions: [<CURSOR>"output"]}}]\n',
        "graders: [{type: text}<CURSOR>]\n",
        "{name: x}\n<CURSOR>",
        "config:\n  <CURSOR># why\n  model: m\n",
        "<CURSOR># why\nname: m\n",
        "config:\n  executor: <CURSOR># why\n",
        # In front of a block in brackets.
        *(
            source.replace("GRADER", '"text"').replace("VALUE", value)
            for source in (JSON, "config: {executor: VALUE, model: m}\n")
            for value in ("<CURSOR> {}", "<CURSOR>{}", " <CURSOR>[1]", "<CURSOR>\n  # why\n  {}")
        ),
        # A new name, a text in an assertion, the anchor of a key, and what parts documents.
        "graders:\n  - {type: text, name: a}\n  - type: text\n    name: <CURSOR>\n",
        f"{CODE}\"'out<CURSOR>' in output\"\n",
        "graders:\n  - &g <CURSOR>\n",
        "graders:\n  - &g ty<CURSOR>\n",
        "---<CURSOR>\nname: x\n",
        "%YA<CURSOR>\n---\nname: x\n",
        "name: x\n...<CURSOR>\n",
        "tasks:\n  - 'tas<CURSOR>'\n",
    ],
)
def test_nothing_is_offered_where_nothing_can_be_written(source: str) -> None:
    assert labels(source) == []


TAKEN: dict[str, tuple[str, str, str]] = {
    "a half typed key": (
        "skill: x\ngra<CURSOR>\ntasks: []\n",
        "graders",
        "skill: x\ngraders:\n  - type: \ntasks: []\n",
    ),
    "a key that has its colon": ("ski<CURSOR>ll: x\n", "name", "name: x\n"),
    "a list that is indented as others are": (
        "metrics:\n  - name: a\n<CURSOR>",
        "tasks",
        "metrics:\n  - name: a\ntasks:\n  - ",
    ),
    "a list at the margin as others are": (
        "metrics:\n- name: a\n<CURSOR>",
        "tasks",
        "metrics:\n- name: a\ntasks:\n- ",
    ),
    "a mapping with what it needs": (
        "skill: x\n<CURSOR>",
        "config",
        "skill: x\nconfig:\n  trials_per_task: 1\n  timeout_seconds: 60\n  executor: mock",
    ),
    "a cursor at the wrong column": (
        "config:\n  executor: mock\n   <CURSOR>",
        "parallel",
        "config:\n  executor: mock\n  parallel: true",
    ),
    "a key alone in brackets": (
        "config: {executor: mock, <CURSOR>}\n",
        "skill_directories",
        "config: {executor: mock, skill_directories: }\n",
    ),
    "lines that end as in the file": (
        "skill: x\r\n<CURSOR>",
        "graders",
        "skill: x\r\ngraders:\r\n  - type: ",
    ),
    "the first column behind a byte order mark": (
        "\ufeffname: x\n<CURSOR>\n",
        "skill",
        "\ufeffname: x\nskill: \n",
    ),
    "a whole grader in a list at the margin": (
        "graders:\n- type: text\n  name: a\n- <CURSOR>\n",
        "code",
        "graders:\n- type: text\n  name: a\n- type: code\n  name: answer_quality\n  config:\n"
        "    assertions:\n    - len(output) > 100\n    - \"'function' in output.lower()\"\n",
    ),
    "a type with the options that are missing": (
        "graders:\n  - name: mine\n    type: <CURSOR>\n",
        "code",
        "graders:\n  - name: mine\n    type: code\n    config:\n      assertions:\n"
        "        - len(output) > 100\n        - \"'function' in output.lower()\"\n",
    ),
    "a type alone where options are": (
        "graders:\n  - type: te<CURSOR>\n    config: {contains: [a]}\n",
        "text",
        "graders:\n  - type: text\n    config: {contains: [a]}\n",
    ),
    "a type alone in quotes": ('graders:\n  - type: "<CURSOR>"\n', "text", 'graders:\n  - type: "text"\n'),
    "a type alone in brackets": (
        "graders:\n  - {type: <CURSOR>}\n",
        "text",
        "graders:\n  - {type: text}\n",
    ),
    "a type right behind its colon": (
        "graders:\n  - config: {}\n    name: b\n    type:<CURSOR>\n",
        "text",
        "graders:\n  - config: {}\n    name: b\n    type: text\n",
    ),
    "the config of a type": (
        "graders:\n  - type: skill_invocation\n    name: a\n    <CURSOR>\n",
        "config",
        "graders:\n  - type: skill_invocation\n    name: a\n    config:\n      mode: in_order\n"
        "      required_skills:\n        - azure-prepare\n        - azure-deploy\n",
    ),
    "a value in its quotes": (
        'config:\n  executor: "m<CURSOR>"\n',
        "mock",
        'config:\n  executor: "mock"\n',
    ),
    "a name with a comma in brackets": (
        "graders: [{type: code, name: 'a, b'}]\ntasks:\n- id: t\n  expected: {graders: [<CURSOR>]}\n",
        "a, b",
        "graders: [{type: code, name: 'a, b'}]\ntasks:\n- id: t\n  expected: {graders: ['a, b']}\n",
    ),
    "an alias behind its key": (
        f"{ANCHORED}  - <<: <CURSOR>\n",
        "*first",
        f"{ANCHORED}  - <<: *first\n",
    ),
    "a key in quotes": ('{"name": "x", "<CURSOR>"}', "config", '{"name": "x", "config": }'),
    "a key in quotes with its value": (
        '{"name": "x", "<CURSOR>": {}}',
        "config",
        '{"name": "x", "config": {}}',
    ),
    "a key in an open quote": ('{"na<CURSOR>, "skill": "x"}', "name", '{"name": , "skill": "x"}'),
    "a key without quotes in JSON": ('{"skill": "x", <CURSOR>}', "name", '{"skill": "x", "name": }'),
    "a key in single quotes": ("'sk<CURSOR>'\nname: x\n", "skill", "'skill': \nname: x\n"),
    "between entries": (
        "config: {workers: 2,<CURSOR> model: m}",
        "executor",
        "config: {workers: 2, executor: , model: m}",
    ),
    "between entries behind a blank": (
        "config: {workers: 2, <CURSOR> model: m}",
        "executor",
        "config: {workers: 2, executor: , model: m}",
    ),
    "in front of a line break": (
        "config: {<CURSOR>\n  model: m}\n",
        "executor",
        "config: {executor: ,\n  model: m}\n",
    ),
    "in front of another key": (
        "config: {ex<CURSOR> model: m}\n",
        "executor",
        "config: {executor: , model: m}\n",
    ),
    "at the end of brackets": (
        "config: {model: m, ex<CURSOR>}\n",
        "executor",
        "config: {model: m, executor: }\n",
    ),
    "behind a comment": (
        "config: {model: m, # it's, {\n  <CURSOR>}\n",
        "executor",
        "config: {model: m, # it's, {\n  executor: }\n",
    ),
    "between lines of JSON": (
        '{\n  "name": "x",<CURSOR>\n  "skill": "s"\n}\n',
        "config",
        '{\n  "name": "x", "config": ,\n  "skill": "s"\n}\n',
    ),
    "on a line of JSON": (
        '{\n  "name": "x",\n  "<CURSOR>"\n  "skill": "s"\n}\n',
        "config",
        '{\n  "name": "x",\n  "config": ,\n  "skill": "s"\n}\n',
    ),
    "in front of an item": (
        "graders: [<CURSOR>{type: text}]\n",
        "name",
        "graders: [{name: }, {type: text}]\n",
    ),
    "between items": (
        'graders: [{type: code, config: {assertions: ["output",<CURSOR> "errors"]}}]\n',
        "outcome",
        'graders: [{type: code, config: {assertions: ["output", "outcome", "errors"]}}]\n',
    ),
    "an open quote at the end of a line": (
        'tasks: []\nconfig: {executor: "mo<CURSOR>,\n  model: "m"}\n',
        "mock",
        'tasks: []\nconfig: {executor: "mock",\n  model: "m"}\n',
    ),
    "an open quote in front of another entry": (
        'config: {executor: "<CURSOR>, "model": "m"}\n',
        "mock",
        'config: {executor: "mock", "model": "m"}\n',
    ),
    "an open quote in front of a brace": (
        'config: {executor: "<CURSOR>}\n',
        "mock",
        'config: {executor: "mock"}\n',
    ),
    "a whole text in quotes": (
        'config: {executor: "mo<CURSOR>ck"}\n',
        "openai",
        'config: {executor: "openai"}\n',
    ),
    "an open quote in front of a colon": (
        '{\n  "<CURSOR>: "x",\n  "skill": "s"\n}\n',
        "name",
        '{\n  "name": "x",\n  "skill": "s"\n}\n',
    ),
    "in front of a colon and an anchor": (
        "name: x\n<CURSOR>: &cfg\n  model: m\n",
        "config",
        "name: x\nconfig: &cfg\n  model: m\n",
    ),
}


@pytest.mark.parametrize(("source", "label", "expected"), TAKEN.values(), ids=TAKEN)
def test_what_is_taken_is_written_in_the_layout_of_the_file(source: str, label: str, expected: str) -> None:
    assert taken(source, label) == expected


@pytest.mark.parametrize(
    ("source", "label", "expected", "kind"),
    [
        (
            "id: a\nexpected:\n  behavior:\n    max_tool_calls: 3\n    <CURSOR>\n",
            "required_tools",
            "id: a\nexpected:\n  behavior:\n    max_tool_calls: 3\n    required_tools:\n      - \n",
            "task",
        ),
        ("id: a\ninputs:\n  <CURSOR>", "prompt", "id: a\ninputs:\n  prompt: |\n    ", "task"),
        (
            "skill: x\nshould_trigger_prompts:\n  - <CURSOR>",
            "prompt",
            "skill: x\nshould_trigger_prompts:\n  - prompt: ",
            "trigger_tests",
        ),
    ],
    ids=["a nested key", "a prompt is block text", "that of a trigger test is one line"],
)
def test_so_it_is_in_other_files(source: str, label: str, expected: str, kind: DocumentKind) -> None:
    assert taken(source, label, kind) == expected


@pytest.mark.parametrize(("typed", "label"), [("  <CURSOR>", "code"), ("  -<CURSOR> x", "human")])
def test_a_whole_grader_gets_its_dash(typed: str, label: str) -> None:
    text = taken(f"graders:\n{typed}\n", label)
    assert text.startswith(f"graders:\n  - type: {label}\n    name: ")
    assert "\n    config:\n" in text


def test_keys_of_a_new_file_needed_ones_first() -> None:
    found = labels("<CURSOR>")
    assert {"name", "skill", "config", "graders", "tasks"} <= set(found)
    assert found.index("config") < found.index("baseline")


def test_keys_that_are_written_are_not_offered_again() -> None:
    assert "skill" not in labels("skill: x\n<CURSOR>\ntasks: []\n")


def test_a_key_brings_its_description_and_signature() -> None:
    found = item("graders:\n  - type: behavior\n    config:\n      <CURSOR>\n", "max_tool_calls")
    assert found.detail == "max_tool_calls: integer ≥ 0 = 0 (no limit)"
    assert "tool calls" in found.documentation


def test_the_options_are_those_of_the_grader_type() -> None:
    assert "max_tool_calls" in labels("graders:\n  - type: behavior\n    config:\n      <CURSOR>\n")
    assert "contains" in labels("graders:\n  - type: text\n    config:\n      <CURSOR>\n")


def test_options_are_found_when_the_type_comes_last_and_the_file_is_broken() -> None:
    broken = 'name: "x\ngraders:\n  - config:\n      <CURSOR>\n    type: behavior\n'
    assert "max_tool_calls" in labels(broken)


def test_a_boolean_key_offers_both_values_the_other_than_the_default_first() -> None:
    assert item("config:\n  <CURSOR>\n", "parallel").edit.text == "parallel: ${1|true,false|}"


def test_deprecated_types_come_last_and_say_so() -> None:
    found = completions("graders:\n  - type: <CURSOR>\n")[1].items
    assert [one.label for one in found if one.deprecated] == [
        "keyword",
        "llm",
        "llm_comparison",
        "regex",
        "script",
    ]
    assert all(one.deprecated for one in found[-5:])


def test_every_whole_grader_reads_as_written() -> None:
    _, found = completions("graders:\n- <CURSOR>\n")
    for one in (one for one in found.items if one.kind == "grader"):
        tree = parse(taken("graders:\n- <CURSOR>\n", one.label))
        assert tree.errors == ()
        entry = tree.root.get("graders", 0) if tree.root else None
        assert entry is not None
        assert [pair.key.value for pair in entry.entries][:2] == ["type", "name"]


def test_names_of_graders_of_the_suite(tmp_path: Path) -> None:
    small_suite(tmp_path)
    source = "id: a\nexpected:\n  graders:\n    - <CURSOR>\ngraders:\n  - {type: text, name: own}\n"
    found = labels(source, "task", tmp_path / "tasks/first.yaml")
    assert "mentions_deploy" in found
    assert "own" not in found


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_comment_stays_on_its_line_when_more_lines_are_written(ending: str) -> None:
    source = "graders:\n  - type: ll<CURSOR>  # ${why} \\d\n"
    after = taken(source.replace("\n", ending), "llm")
    assert f"  - type: llm  # ${{why}} \\d{ending}    name: " in after
    assert after.count("#") == 1
    assert "    config: # of both\n      contains:" in taken(
        "graders:\n  - type: text\n    con<CURSOR> # of both\n", "config"
    )


def test_task_files_and_globs(tmp_path: Path) -> None:
    path = small_suite(tmp_path)
    put(tmp_path, "tasks/deep/second.yml", "id: second\nname: Second\ninputs: {prompt: x}\n")
    put(tmp_path, "tasks/[a]/third.yaml", "id: third\nname: Third\ninputs: {prompt: x}\n")
    found = completions("skill: x\ngraders: []\ntasks:\n  - <CURSOR>\n", "eval", path)[1].items
    shown = [(one.label, one.detail) for one in found if one.kind == "file"]
    assert ("tasks/*.yaml", "1 file") in shown
    assert ("tasks/deep/second.yml", "Second") in shown
    # Signs of globs in names stand for themselves.
    assert ("tasks/[[]a]/*.yaml", "1 file") in shown
    assert ("tasks/[[]a]/third.yaml", "Third") in shown


def test_fixtures_of_the_suite(tmp_path: Path) -> None:
    small_suite(tmp_path)
    put(tmp_path, "fixtures/src/a.py", "")
    source = "id: a\ninputs:\n  prompt: x\n  files:\n    - path: <CURSOR>\n"
    assert labels(source, "task", tmp_path / "tasks/first.yaml") == ["src/a.py"]
    assert "src/a.py" in labels(source.replace("path: ", ""), "task", tmp_path / "tasks/first.yaml")


def test_models_that_the_project_uses(tmp_path: Path) -> None:
    put(tmp_path, "a/eval.yaml", EVAL.replace("claude-sonnet-4.6", "special-model"))
    path = put(tmp_path, "b/eval.yaml", EVAL)
    assert "special-model" in labels("skill: x\ntasks: []\nconfig:\n  model: <CURSOR>\n", "eval", path)


def test_tools_that_the_last_run_called_come_first(tmp_path: Path) -> None:
    path = small_suite(tmp_path)
    results = write_results(path, {"first": [[grade("mentions_deploy", 1.0)]]})
    results.write_text(
        results.read_text().replace('"tools_used": []', '"tools_used": ["powershell", "view"]')
    )
    source = (
        "skill: x\ntasks: [tasks/*.yaml]\ngraders:\n  - type: behavior\n    config:\n"
        "      required_tools: [<CURSOR>]\n"
    )
    assert labels(source, "eval", path)[:2] == ["powershell", "view"]


def test_long_lists_are_cut_to_what_fits_and_asked_for_again(tmp_path: Path) -> None:
    small_suite(tmp_path)
    for number in range(300):
        put(tmp_path, f"fixtures/file{number}.txt", "")
    source = "id: a\ninputs:\n  files:\n    - path: file29<CURSOR>\n"
    found = completions(source, "task", tmp_path / "tasks/first.yaml")[1]
    assert found.incomplete
    assert {one.label for one in found.items} == {
        "file29.txt",
        *(f"file29{digit}.txt" for digit in range(10)),
    }


def test_names_in_an_assertion() -> None:
    assert labels(f'{CODE}"<CURSOR>"\n')[:3] == ["output", "outcome", "transcript"]
    assert {"len", "any", "re"} <= set(labels(f"{CODE}len(out<CURSOR>\n"))


@pytest.mark.parametrize(
    ("typed", "label", "expected"),
    [
        ('"len(out<CURSOR>) > 1"', "output", '"len(output) > 1"'),
        ("len(out<CURSOR>) > 1", "output", "len(output) > 1"),
        ("'out<CURSOR>", "output", "'output"),
        ("<CURSOR>", "output", '"output"'),
        ('"[c for c in tool_calls if c[\'na<CURSOR>"', "name", '"[c for c in tool_calls if c[\'name"'),
        ('"re.se<CURSOR>"', "search(r'', output)", "\"re.search(r'', output)\""),
        ("'re.se<CURSOR>'", "search(r'', output)", "'re.search(r'''', output)'"),
        ('"output.lo<CURSOR>"', "lower", '"output.lower()"'),
        # What is there already stays.
        ("output.lo<CURSOR>wer().strip()", "upper", "output.upper().strip()"),
        ("'output.<CURSOR>count(''a'')'", "find('')", "'output.find(''a'')'"),
        ("<CURSOR>output.strip()", "errors", "errors.strip()"),
        ("output[:<CURSOR>]", "duration_ms", "output[:duration_ms]"),
        ('"\\u006fut<CURSOR>p\\x75t.strip()"', "errors", '"errors.strip()"'),
        ('"output.str<CURSOR>ip\\x28)"', "lower", '"output.lower\\x28)"'),
        # Blocks hold a name as it is, on a line that is still blank, too.
        ("|\n          <CURSOR>", "output", "|\n          output"),
        ("|\n          <CURSOR>output", "errors", "|\n          errors"),
        (
            "|-\n          len(output) and\n          <CURSOR>",
            "errors",
            "|-\n          len(output) and\n          errors",
        ),
        (
            ">-\n          len(output) and\n          <CURSOR>not 1",
            "errors",
            ">-\n          len(output) and\n          errors 1",
        ),
        # The key of a dict, of which not even the quote is written.
        ("tool_calls[0][<CURSOR>]", "'name'", "tool_calls[0]['name']"),
        ("'tool_calls[0][na<CURSOR>]'", "'name'", "'tool_calls[0][''name'']'"),
    ],
)
def test_what_is_typed_inside_an_assertion_is_replaced(typed: str, label: str, expected: str) -> None:
    assert taken(f"{CODE}{typed}\n", label) == f"{CODE}{expected}\n"


def test_a_rubric_is_one_of_ours_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "rubrics").mkdir()
    (tmp_path / "rubrics" / "tone.md").write_text("Be kind.")
    grader = "graders:\n- type: prompt\n  name: judge\n  config:\n    rubric: {}<CURSOR>\n"
    path = tmp_path / "eval.yaml"
    offered = labels(grader.format(""), path=path)
    assert {"groundedness", "task_completion", "rubrics/"} <= set(offered)
    assert "rubrics/tone.md" in labels(grader.format("rubrics/"), path=path)


def test_a_long_assertion_is_not_looked_into() -> None:
    """Reading it from every place in it took minutes."""
    assert "len" in labels(f"{CODE}'{'_' * 9_000} <CURSOR>'\n")
    assert labels(f"{CODE}'{'_' * 100_000} <CURSOR>'\n") == []


def test_a_grader_of_a_package_takes_its_own_keys_and_no_type_with_its_options() -> None:
    head = "graders:\n  - name: a\n    "
    assert "ref" in labels(f"{head}<CURSOR>")
    beside = labels(f"{head}ref: example.com/acme/graders@v1\n    <CURSOR>")
    assert {"weight", "config", "type"} <= set(beside)
    assert "text" not in beside


def test_types_that_most_suites_use_come_first() -> None:
    assert labels("graders:\n  - type: <CURSOR>\n")[:3] == ["text", "code", "trigger"]


def test_needed_keys_come_first_then_those_that_most_suites_use() -> None:
    found = labels("graders: [x]\n<CURSOR>\n")
    assert found[:3] == ["config", "name", "skill"]
    assert found.index("metrics") < found.index("hooks")
    text = labels("graders:\n  - type: text\n    config:\n      <CURSOR>\n")
    assert text[:3] == ["regex_match", "regex_not_match", "contains"]


def test_metrics_are_offered() -> None:
    assert labels("metrics:\n  - name: <CURSOR>\n")[:2] == ["trigger_accuracy", "task_completion"]


def test_programs_on_the_path_are_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, mode in (("bash", 0o755), ("lint-answers", 0o755), ("lint.txt", 0o644)):
        (tmp_path / name).touch(mode)
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path), "relative"]))
    monkeypatch.setenv("PATHEXT", "")
    source = "graders:\n  - type: program\n    config:\n      command: <CURSOR>\n"
    assert labels(source) == ["bash"]
    assert labels(source.replace("<CURSOR>", "li<CURSOR>")) == ["lint-answers"]


@pytest.mark.parametrize("value", ["<CURSOR>3", "3<CURSOR>", "<CURSOR>", " <CURSOR>null", "mo<CURSOR>"])
def test_in_json_a_text_is_written_in_its_quotes(value: str) -> None:
    source = JSON.replace("GRADER", '"text"').replace("VALUE", value)
    assert json.loads(taken(source, "mock"))["config"] == {"executor": "mock", "model": "m"}
    source = JSON.replace("VALUE", '"mock"').replace("GRADER", value)
    assert json.loads(taken(source, "regex"))["graders"] == [{"type": "regex", "config": {}}]


ASSERTIONS = "graders:\n  - type: code\n    config:\n     assertions:\n"


@pytest.mark.parametrize(
    ("source", "label", "line"),
    [
        ("config:\n  executor: &e mo<CURSOR>\n", "mock", "  executor: &e mock\n"),
        ("config: {executor: !!str <CURSOR>}\n", "mock", "config: {executor: !!str mock}\n"),
        ("graders:\n  - &g type: te<CURSOR>xt\n    name: a\n", "text", "  - &g type: text\n"),
        (f"{ASSERTIONS}      - &a 'len(ou<CURSOR>t)'\n", "output", "      - &a 'len(output)'\n"),
    ],
)
def test_a_value_is_completed_behind_its_anchor(source: str, label: str, line: str) -> None:
    assert line in taken(source, label)


@pytest.mark.parametrize(
    ("source", "offered"),
    [
        ("%YAML 1.2\n<CURSOR>\n---\nname: x\n", False),
        ("%YAML 1.2\n# more\nn<CURSOR>", False),
        ("# about\n\n<CURSOR>\n\n# more\n---\nname: x\n", False),
        ("# about\r\n<CURSOR>\r\n---\r\nname: x\r\n", False),
        ("<CURSOR>\n---x: y\n", True),
        ("# %YAML\n<CURSOR>\nname: x\n", True),
        ("%YAML 1.2\n---\n<CURSOR>\n", True),
        ("---\n<CURSOR>\nname: x\n", True),
    ],
)
def test_above_the_beginning_of_the_document_no_key_is_offered(source: str, offered: bool) -> None:
    assert ("config" in labels(source)) is offered


def test_the_tags_of_the_suite_are_offered_without_those_that_stand_here(tmp_path: Path) -> None:
    inline = "name: s\nskill: x\ntasks: [tasks/*.yaml, {id: i, inputs: {prompt: x}, tags: [slow]}]\n"
    put(tmp_path, "eval.yaml", inline)
    put(tmp_path, "tasks/b.yaml", "id: b\ntags: [edge, smoke]\n")
    path = put(tmp_path, "tasks/a.yaml", "id: a\n")
    assert labels("id: a\ntags: [smoke, <CURSOR>]\n", "task", path) == ["slow", "edge"]
    assert taken("id: a\ntags:\n- <CURSOR>\n", "edge", "task", path) == "id: a\ntags:\n- edge\n"


def test_the_fixture_of_a_context_is_offered(tmp_path: Path) -> None:
    small_suite(tmp_path)
    put(tmp_path, "fixtures/big/form.txt", "")
    path = tmp_path / "tasks" / "first.yaml"
    assert "fixture" in labels("id: a\ninputs:\n  context:\n    <CURSOR>\n", "task", path)
    assert "fixtures/" in labels("id: a\ninputs:\n  context:\n    fixture: <CURSOR>\n", "task", path)


HALF_TYPED: list[tuple[DocumentKind, str]] = [
    ("eval", "name: s\nskill: typ<CURSOR>\ntasks: []\n"),
    ("eval", "name: s\nskill: 'typ<CURSOR>'\ntasks: []\n"),
    ("eval", "skill: x\nconfig: {model: typ<CURSOR>}\n"),
    ("eval", "skill: x\nconfig:\n  judge_model: typ<CURSOR>\n"),
    ("eval", "graders:\n  - type: prompt\n    config: {prompt: x, model: typ<CURSOR>}\n"),
    ("eval", "graders:\n- {type: behavior, config: {required_tools: [typ<CURSOR>]}}\n"),
    ("eval", "tasks:\n- {id: a, inputs: {prompt: x}, tags: [typ<CURSOR>]}\n"),
    ("task", "id: a\ntags: [typ<CURSOR>]\n"),
    ("task", "id: a\ntags:\n  - typ<CURSOR>\n  - edge\n"),
    ("task", "id: a\nexpected:\n  behavior:\n    forbidden_tools:\n      - typ<CURSOR>\n"),
    ("task", "id: a\nexpected:\n  graders: [typ<CURSOR>]\n"),
    ("trigger_tests", "skill: typ<CURSOR>\n"),
]


@pytest.mark.parametrize(("kind", "source"), HALF_TYPED)
def test_the_half_typed_word_is_not_offered(kind: DocumentKind, source: str, tmp_path: Path) -> None:
    small_suite(tmp_path)
    places: dict[DocumentKind, str] = {"eval": "eval.yaml", "task": "tasks/first.yaml"}
    path = tmp_path / places.get(kind, "trigger_tests.yaml")
    assert "typ" not in labels(source, kind, path)


@pytest.mark.parametrize("word", ["slow", "edge"])
def test_a_word_that_is_written_elsewhere_too_is_offered(word: str, tmp_path: Path) -> None:
    put(tmp_path, "eval.yaml", "name: s\nskill: x\ntasks: [tasks/*.yaml]\n")
    put(tmp_path, "tasks/b.yaml", "id: b\ntags: [edge, slow]\n")
    path = put(tmp_path, "tasks/a.yaml", "id: a\n")
    assert word in labels(f"id: a\ntags: [{word}<CURSOR>]\n", "task", path)


def skills_offered(folder: Path, source: str, path: Path) -> Completions:
    text = source.replace("<CURSOR>", "")
    document = Document(uri_of(path), 1, text, "eval")
    return complete(document, workspace_with(document, roots=(folder,)), source.index("<CURSOR>"))


def test_the_skills_of_the_whole_workspace_are_offered_and_narrowed_as_one_types(tmp_path: Path) -> None:
    for number in range(250):
        put(
            tmp_path,
            f"packages/p{number}/skills/skill-{number}/SKILL.md",
            f"---\nname: skill-{number}\n---\n",
        )
    put(tmp_path, "zebra/.claude/skills/my-2/SKILL.md", "---\nname: my-skill-2\n---\n")
    path = tmp_path / "evals" / "eval.yaml"
    everything = skills_offered(tmp_path, "skill: <CURSOR>\n", path)
    assert everything.incomplete
    typed = skills_offered(tmp_path, "skill: skill-24<CURSOR>\n", path)
    assert {item.label for item in typed.items} >= {"skill-24", *(f"skill-24{digit}" for digit in range(10))}
    some = skills_offered(tmp_path, "config: {disabled_skills: [skill-2<CURSOR>]}\n", path)
    found = [item.label for item in some.items]
    assert "skill-249" in found
    assert found.index("my-skill-2") > found.index("skill-249"), "what begins so comes first"


def test_the_path_of_a_skill_is_that_of_one_first(tmp_path: Path) -> None:
    for name in ("deploy", "review"):
        put(tmp_path, f"packages/{name}/skills/{name}/SKILL.md", f"---\nname: {name}\n---\n")
    path = put(tmp_path, "packages/review/evals/eval.yaml", "name: s\n")
    source = "graders:\n- type: trigger\n  config:\n    skill_path: <CURSOR>\n"
    found = [item.label for item in skills_offered(tmp_path, source, path).items]
    assert found[:2] == ["packages/review/skills/review", "packages/deploy/skills/deploy"]
    assert "packages/" in found


def test_where_a_folder_is_meant_no_file_is_offered(tmp_path: Path) -> None:
    evaluation = small_suite(tmp_path)
    put(tmp_path, "fixtures/big/form.txt", "")
    path = tmp_path / "tasks" / "first.yaml"
    assert "fixtures/" in labels("id: a\ncontext_dir: <CURSOR>\n", "task", path)
    assert labels("id: a\ncontext_dir: fixtures/<CURSOR>\n", "task", path) == ["fixtures/big/"]
    found = labels("config:\n  skill_directories: [<CURSOR>]\n", "eval", evaluation)
    assert "fixtures/" in found
    assert "eval.yaml" not in found


@pytest.mark.parametrize(("option", "expected"), [("expect_tools", "^bash$"), ("allow_only", "bash")])
def test_a_tool_of_a_block_is_a_pattern_but_a_name_in_allow_only(option: str, expected: str) -> None:
    used = "graders:\n- {type: behavior, config: {required_tools: [bash]}}\n"
    written = f"- type: tool_constraint\n  config:\n    {option}:\n    - tool: <CURSOR>\n"
    path = Path("/nowhere/eval.yaml")
    assert expected in labels(used + written, "eval", path)
