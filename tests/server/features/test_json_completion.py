"""Completion in ``evals.json`` and trigger lists: what is accepted leaves valid JSON."""

import json
from pathlib import Path

import pytest

from tests.server.features.completing import CURSOR, labels, taken
from tests.server.project.files import put, workspace_with
from waza_language_server.features.completion.complete import complete
from waza_language_server.project.document import Document
from waza_language_server.project.uris import uri_of


def evals(case: str) -> str:
    return '{"skill_name": "csv", "evals": [' + case + ', {"id": 2}]}'


@pytest.mark.parametrize(
    ("case", "label", "after"),
    [
        ('{"id": 1, <CURSOR>}', "prompt", '{"id": 1, "prompt": ""}'),
        ('{"id": 1, pro<CURSOR>}', "prompt", '{"id": 1, "prompt": ""}'),
        ('{"id": 1, "pro<CURSOR>"}', "prompt", '{"id": 1, "prompt": ""}'),
        ('{"id": 1, "p<CURSOR>": "x"}', "prompt", '{"id": 1, "prompt": "x"}'),
        ('{"id":1,"a<CURSOR>":[]}', "assertions", '{"id":1,"assertions":[]}'),
        (
            '{\n\t"id": 1,\n\t<CURSOR>\n\t"prompt": "x"\n}',
            "files",
            '{\n\t"id": 1,\n\t"files": [""],\n\t"prompt": "x"\n}',
        ),
        ('{"id": 1, "assertions": [<CURSOR>]}', "type", '{"id": 1, "assertions": [{"type": ""}]}'),
        ('{"assertions": [{"type": "<CURSOR>"}]}', "must_not", '{"assertions": [{"type": "must_not"}]}'),
        ('{"assertions": [{"type":<CURSOR>}]}', "must_not", '{"assertions": [{"type": "must_not"}]}'),
        ("<CURSOR>", "{id, prompt, assertions}", '{"id": , "prompt": "", "assertions": [""]}'),
    ],
)
def test_an_accepted_item_leaves_json(case: str, label: str, after: str) -> None:
    text = taken(evals(case), label, "evals_json")
    assert text == evals(after)
    json.loads(text.replace('"id": ,', '"id": 1,'))


def test_an_empty_file_begins_with_a_skill_and_its_cases() -> None:
    assert taken("\n<CURSOR>", "{skill_name, evals}", "evals_json") == '\n{"skill_name": "", "evals": [{}]}'


def test_keys_that_are_there_are_not_offered_again() -> None:
    offered = labels(evals('{"id": 1, "<CURSOR>", "prompt": "x"}'), "evals_json")
    assert offered[0] == "expected_output"
    assert not {"id", "prompt"} & set(offered)


@pytest.mark.parametrize(
    "case", ['{"id": 1} <CURSOR>', '{"prompt": "a, {b: <CURSOR>}"}', '{"prompt": "a" <CURSOR>}']
)
def test_nothing_is_offered_behind_a_value_or_in_a_prompt(case: str) -> None:
    assert labels(evals(case), "evals_json") == []


@pytest.mark.parametrize(
    ("text", "label", "after"),
    [
        (
            '[\n  {"query": "a", "<CURSOR>"}\n]',
            "should_trigger",
            '[\n  {"query": "a", "should_trigger": }\n]',
        ),
        ('[{"should_trigger": <CURSOR>}]', "false", '[{"should_trigger": false}]'),
        ("[<CURSOR>]", "{should_trigger, query}", '[{"should_trigger": , "query": ""}]'),
        ('{"evals": [{"<CURSOR>"}]}', "prompt", '{"evals": [{"prompt": ""}]}'),
    ],
)
def test_trigger_lists(text: str, label: str, after: str) -> None:
    assert taken(text, label, "trigger_list") == after


def test_files_are_those_of_the_skill_and_of_the_folder_of_the_file(tmp_path: Path) -> None:
    put(tmp_path, "SKILL.md", "---\nname: csv\ndescription: d\n---\n")
    put(tmp_path, "evals/files/a.csv", "x")
    text = evals('{"files": ["evals/files/<CURSOR>", ""]}')
    path = put(tmp_path, "evals/evals.json", text)
    document = Document(uri_of(path), 0, text.replace(CURSOR, ""), "evals_json")
    workspace = workspace_with(document, roots=(tmp_path,))
    items = complete(document, workspace, text.index(CURSOR)).items
    assert [item.label for item in items] == ["evals/files/a.csv"]
