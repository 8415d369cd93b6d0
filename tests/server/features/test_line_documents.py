"""Prompts, captures, trials and adapters in every state of their text; completion, hover, links, symbols."""

import json
import random
from pathlib import Path

import pytest

from tests.server.project.files import EVAL, opened, put, workspace_with
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.features.actions.code_actions import code_actions, fix_all, fixed
from waza_language_server.features.completion.complete import complete
from waza_language_server.features.completion.item import Completion
from waza_language_server.features.document_structure import document_links, folds, outline, selections
from waza_language_server.features.hover.hover import hover
from waza_language_server.features.navigation import definition
from waza_language_server.features.new_line import indent_new_line
from waza_language_server.features.runnables.code_lens import code_lenses
from waza_language_server.features.scores.inlay_hints import inlay_hints
from waza_language_server.features.semantic_tokens import semantic_tokens
from waza_language_server.project.document import Document, DocumentKind
from waza_language_server.project.uris import uri_of
from waza_language_server.syntax.tried_edits import apply
from waza_language_server.text.span import Span

PROMPTS = r"""{"id": "a", "input": "Sum \ud83d\ude00", "metadata": {"category": "basics", "level": 1}}
{"id": "b", "input": ["x", "y"], "hint": "z", "metadata": {"category": "basics"}}

{"id": "c", "input": "x", "timeout": 60000, "metadata": {"category": "expert", "level": 2}}
"""
CAPTURE = {
    "id": "a",
    "input": "x",
    "output": "y",
    "trajectory": [{"type": "message", "content": "c", "timestamp": 1}],
    "metadata": {},
    "timing": {"start": 1, "end": 2, "sessionCreation": 0, "total": 1},
    "toolErrors": False,
}
TRIALS = {
    "id": "a",
    "input": "x",
    "k": 1,
    "trials": [{"trialNum": 1, "output": "y", "trajectory": [], "duration": 1}],
}
ADAPTER = {
    "version": 1,
    "name": "a",
    "command": ["./agent.py"],
    "sessionMode": "stream",
    "prompt": {"flag": "-p"},
}
TEXTS: dict[DocumentKind, str] = {
    "prompts": PROMPTS,
    "captures": "\r\n".join([json.dumps(CAPTURE)] * 2),
    "trials": "\ufeff" + json.dumps(TRIALS) + "\n",
    "adapter": json.dumps(ADAPTER, indent=2),
}
TYPED = (
    *(
        '"',
        "'",
        "[",
        "{",
        "}",
        "]",
        ":",
        ",",
        "\t",
        "\n",
        "\\",
        "//",
        "é😀",
        "\u2028",
        "\0",
        "\r\n",
        "\ufeff",
    ),
    *("null", "tru", '"a":', r"\ud83d", ""),
)


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("seed", range(8))
def test_every_feature_answers_in_every_state(tmp_path: Path, kind: DocumentKind, seed: int) -> None:
    chance, text = random.Random(seed), TEXTS[kind]
    for _ in range(seed % 4):
        at = chance.randrange(len(text) + 1)
        text = text[:at] + chance.choice(TYPED) + text[at + chance.choice([0, 0, 1, 5, 40]) :]
    name = "adapter.json" if kind == "adapter" else "rows.jsonl"
    document = opened(put(tmp_path, name, ""), kind, text)
    workspace = workspace_with(document, roots=(tmp_path,))
    problems = diagnose(document, workspace)
    spans = [problem.span for problem in problems]
    spans += [lens.span for lens in code_lenses(document, workspace)]
    spans += [link.span for link in document_links(document, workspace)]
    spans += [symbol.whole for symbol in outline(document)]
    assert all(0 <= span.start <= span.end <= len(text) for span in spans)
    assert all(0 <= hint.offset <= len(text) for hint in inlay_hints(document, workspace))
    code_actions(document, workspace, Span(0, len(text)), problems)
    fix_all(document, fixed(document, workspace, problems))
    folds(document, 100)
    semantic_tokens(document, workspace)
    for offset in chance.sample(range(len(text) + 1), 15):
        for item in complete(document, workspace, offset).items:
            assert item.edit.span.start <= offset <= item.edit.span.end
            assert "\n" not in item.edit.text or kind == "adapter"
        hover(document, workspace, offset, documentation="docs/")
        selections(document, offset)
        assert indent_new_line(document, workspace, offset) is None


def test_all_safe_fixes_together_leave_other_lines_as_they_are() -> None:
    text = PROMPTS.replace('"hint": "z"', '"hnt" :"z"').replace('"id": "c"', '"id" : 3').replace("\n", "\r\n")
    document = Document("untitled:a", 1, text, "prompts")
    workspace = workspace_with(document)
    action = fix_all(document, fixed(document, workspace, diagnose(document, workspace)))
    assert action is not None
    [file] = action.change.files
    assert apply(text, file.edits) == text.replace('"hnt"', '"hint"').replace(" 3,", ' "3",')


def offers(marked: str, kind: DocumentKind = "prompts") -> dict[str, Completion]:
    offset = marked.index("¦")
    text = marked.replace("¦", "")
    document = Document("untitled:a", 1, text, kind)
    return {item.label: item for item in complete(document, workspace_with(document), offset).items}


def accepted(marked: str, label: str, kind: DocumentKind = "prompts") -> str:
    edit = offers(marked, kind)[label]
    return apply(
        marked.replace("¦", ""), [edit.edit.__class__(edit.edit.span, edit.text_without_placeholders)]
    )


@pytest.mark.parametrize("text", ["¦", PROMPTS + "¦", PROMPTS.replace("\n\n", "\n¦\n"), "\ufeff  ¦\r\n"])
def test_an_empty_line_becomes_a_prompt(text: str) -> None:
    assert [*offers(text)] == ["{id, input}"]
    assert '{"id": "", "input": ""}' in accepted(text, "{id, input}")


def test_keys_of_a_line_are_those_that_it_lacks() -> None:
    assert [*offers(PROMPTS + '{"id": "d", ¦}')] == ["input", "hint", "reference", "metadata", "timeout"]
    assert accepted('{"id": "d", "in¦"}', "input") == '{"id": "d", "input": ""}'
    assert offers('{"id": "d"}¦') == {}


def test_metadata_offers_the_keys_and_values_of_other_lines() -> None:
    begun = PROMPTS + '{"id": "d", "metadata": {'
    assert [*offers(begun + "¦}}")] == ["category", "level"]
    assert accepted(begun + "¦}}", "category") == begun + '"category": ""}}'
    assert accepted(begun + '"¦": 1}}', "level") == begun + '"level": 1}}'
    assert [*offers(begun + '"category": ¦}}')] == ["basics", "expert"]
    assert accepted(begun + '"category": "¦"}}', "expert") == begun + '"category": "expert"}}'
    assert accepted(begun + '"category":¦}}', "expert") == begun + '"category": "expert"}}'
    assert accepted(begun + '"level": ¦}}', "2") == begun + '"level": 2}}'
    assert [*offers(begun + '"level": "¦"}}')] == []
    assert [*offers(begun + '"category": "own¦"}}')] == ["basics", "expert"]


def test_adapters_have_keys_and_allowed_values() -> None:
    assert "sessionMode" in offers('{"version": 1, "command": ["a"], "ses¦"}', "adapter")
    assert [*offers('{"version": 1, "sessionMode": "¦"}', "adapter")] == ["stream", "iterative"]
    assert "emitAs" in offers('{"outputEvents": [{"match": {}, ¦}]}', "adapter")


def hovered(marked: str, kind: DocumentKind = "prompts") -> str:
    offset = marked.index("¦")
    document = Document("untitled:a", 1, marked.replace("¦", ""), kind)
    found = hover(document, workspace_with(document), offset, documentation="docs/")
    return "" if found is None else found.text


def test_keys_say_what_they_are_for() -> None:
    assert "The content of a good answer" in hovered(PROMPTS.replace('"hint"', '"hi¦nt"'))
    assert "Time limit in milliseconds" in hovered(PROMPTS.replace('"timeout"', '"time¦out"'))
    assert "all of k trials pass" in hovered('{"id": "a", "pass¦ExpK": 1}', "trials")
    assert hovered('{"id": "a", "metadata": {"cat¦egory": "x"}}\n' + PROMPTS) == (
        'In 4 lines of this file.\n\n- `"basics"`: 2 lines\n- `"x"`: 1 line\n- `"expert"`: 1 line'
    )


def test_the_lines_are_the_symbols() -> None:
    document = Document("untitled:a", 1, PROMPTS, "prompts")
    assert [(symbol.name, symbol.kind) for symbol in outline(document)] == [(name, "task") for name in "abc"]


def test_a_suite_links_to_its_prompts_and_adapter_and_this_to_its_program(tmp_path: Path) -> None:
    suite = put(tmp_path, "eval.yaml", EVAL.replace("config:\n", "config:\n      adapter: a/a.json\n", 1))
    adapter = put(tmp_path, "a/a.json", TEXTS["adapter"])
    program = put(tmp_path, "agent.py", "")
    document = opened(adapter, "adapter")
    workspace = workspace_with(document, roots=(tmp_path,))
    assert [link.target for link in document_links(document, workspace)] == [program]
    assert adapter in [link.target for link in document_links(opened(suite, "eval"), workspace)]


@pytest.mark.parametrize(
    ("command", "named"),
    [
        (["./agent.sh", "-v"], {"./agent.sh": "a/agent.sh"}),
        (["agent.sh"], {}),
        (
            ["python3", "agent.py", "tools/more.py"],
            {"agent.py": "agent.py", "tools/more.py": "a/tools/more.py"},
        ),
        (["python3", "agent", "missing.py", ".", "../../x"], {}),
    ],
)
def test_the_files_of_a_command_are_links_and_definitions_as_a_run_finds_them(
    tmp_path: Path, command: list[str], named: dict[str, str]
) -> None:
    put(tmp_path, "eval.yaml", EVAL.replace("config:\n", "config:\n      adapter: a/a.json\n", 1))
    adapter = put(tmp_path, "a/a.json", json.dumps(ADAPTER | {"command": command}))
    for name in ("a/agent.sh", "agent.py", "a/tools/more.py", "agent"):
        put(tmp_path, name, "")
    document = opened(adapter, "adapter")
    workspace = workspace_with(document, roots=(tmp_path,))
    links = {
        document.text[each.span.start + 1 : each.span.end - 1]: each.target
        for each in document_links(document, workspace)
    }
    assert links == {written: tmp_path / name for written, name in named.items()}
    for written in command:
        places = definition(document, workspace, document.text.index(json.dumps(written)) + 1)
        wanted = [uri_of(tmp_path / named[written])] if written in named else []
        assert [place.uri for place in places] == wanted
