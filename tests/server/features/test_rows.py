"""Lenses, hints and hovers of prompts, captures and trials."""

import json
from pathlib import Path

import pytest

from tests.server.project.files import EVAL, opened, put, workspace_with
from waza_engine.harness.rows import Notes, Row
from waza_engine.harness.views import summaries_in_markdown
from waza_language_server.features.hover.hover import hover
from waza_language_server.features.runnables.code_lens import CodeLens, code_lenses
from waza_language_server.features.runnables.row_lenses import (
    HARNESS,
    programs_for,
    row_lenses,
    trials_lenses,
)
from waza_language_server.features.runnables.runnables import MOST_LENSES, runnables
from waza_language_server.features.scores.inlay_hints import inlay_hints
from waza_language_server.project.document import Document, DocumentKind
from waza_language_server.text.span import Span

PROMPTS = """\
{"id": "a", "input": "Add", "hint": "4", "reference": "It is 4"}

{"id": "b", "input": ["One", "Two"]}
{"id": 3, "input": "not a prompt"}
"""
CAPTURE = {
    "id": "a",
    "input": "Add",
    "output": "It is 5",
    "trajectory": [{"type": "tool_call", "name": "Read", "status": "failed", "timestamp": 1}],
    "metadata": {"category": "maths"},
    "timing": {"start": 1, "end": 4, "sessionCreation": 0, "total": 3},
    "toolErrors": True,
    "score": {"pass": False, "score": 0.309, "reasoning": "lacks *the* hint"},
}
ADAPTER = '{"version": 1, "name": "x", "command": ["x"], "sessionMode": "stream"}\n'


OF_SUITE = EVAL.replace("tasks:\n      - tasks/*.yaml", "tasks_from: prompts.jsonl")


def rows(folder: Path, name: str, kind: DocumentKind, *blocks: object) -> Document:
    text = "".join(f"{json.dumps(block)}\n" for block in blocks)
    return opened(put(folder, name, text), kind)


def trials_of(*passed: object) -> dict[str, object]:
    entries = [{"trialNum": n, "output": "o", "pass": each} for n, each in enumerate(passed, 1)]
    return {"id": "a", "input": "x", "k": len(entries), "trials": entries}


def lenses_of(document: Document, folder: Path) -> list[tuple[int, str]]:
    project = workspace_with(document, roots=(folder,)).project
    return shown(document, tuple(row_lenses(document, project)))


def shown(document: Document, lenses: tuple[CodeLens, ...]) -> list[tuple[int, str]]:
    return [(document.lines.line_of(lens.span.start) + 1, lens.title) for lens in lenses]


def test_prompts_without_a_suite_are_asked_with_an_adapter(tmp_path: Path) -> None:
    document = opened(put(tmp_path, "prompts.jsonl", PROMPTS), "prompts")
    project = workspace_with(document, roots=(tmp_path,)).project
    lenses = tuple(row_lenses(document, project))
    assert shown(document, lenses) == [
        (1, "▶ Run"),
        (1, "▶ Trials 5"),
        (1, "Check reference"),
        (3, "▶ Run"),
        (3, "▶ Trials 5"),
    ]
    assert lenses[0].command == HARNESS
    assert lenses[0].argument == {"command": "capture", "file": document.uri, "prompt": "a"}


def test_prompts_of_a_suite_run_as_its_tasks(tmp_path: Path) -> None:
    eval_file = put(tmp_path, "eval.yaml", OF_SUITE)
    document = opened(put(tmp_path, "prompts.jsonl", PROMPTS), "prompts")
    workspace = workspace_with(document, roots=(tmp_path,))
    assert [str(each.id) for each in runnables(document, workspace)] == [f"{eval_file}::a", f"{eval_file}::b"]
    lenses = code_lenses(document, workspace)
    assert shown(document, lenses) == [(1, "▶ Run task"), (3, "▶ Run task")]
    assert shown(document, tuple(trials_lenses(lenses))) == [(1, "▶ Trials 5"), (3, "▶ Trials 5")]
    assert next(trials_lenses(lenses)).argument == {"id": f"{eval_file}::a", "options": {"trials": 5}}
    assert lenses_of(document, tmp_path) == [(1, "Check reference")]


def test_a_long_file_has_its_lenses_at_the_top(tmp_path: Path) -> None:
    blocks = [{"id": str(number), "input": "x"} for number in range(MOST_LENSES + 1)]
    document = rows(tmp_path, "prompts.jsonl", "prompts", *blocks)
    project = workspace_with(document, roots=(tmp_path,)).project
    lenses = tuple(row_lenses(document, project))
    assert shown(document, lenses) == [(1, "▶ Run"), (1, "▶ Trials 5"), (1, "Check reference")]
    assert "prompt" not in lenses[0].argument
    shorter = rows(tmp_path, "prompts.jsonl", "prompts", *blocks[1:])
    assert len(tuple(row_lenses(shorter, project))) == 2 * MOST_LENSES


def test_captures_are_graded_again_and_reviewed(tmp_path: Path) -> None:
    passed = {**CAPTURE, "score": {"pass": True, "score": 1}}
    document = rows(tmp_path, "r.jsonl", "captures", CAPTURE, passed, CAPTURE)
    assert lenses_of(document, tmp_path) == [(1, "↻ Grade again"), (1, "Calibrate 2 failures")]
    assert lenses_of(rows(tmp_path, "r.jsonl", "captures", passed), tmp_path) == [(1, "↻ Grade again")]


def test_adapters_and_graders_of_suites_come_before_those_nearby(tmp_path: Path) -> None:
    text = OF_SUITE.replace("executor: mock", "executor: command\n      adapter: deep/mine.json")
    text = text.replace(
        "- type: text\n        name: mentions_deploy\n        config:\n          contains: [deployed]",
        "- {type: inline, name: g, config: {grader: deep/judge.py}}",
    )
    put(tmp_path, "eval.yaml", text)
    for name in ("deep/mine.json", "agent.json", "adapters/b.json"):
        put(tmp_path, name, ADAPTER)
    for name in ("package.json", "notes.json"):
        put(tmp_path, name, '{"version": "1"}')
    for name in ("deep/judge.py", "graders/c.ts", "my-grader.mjs", "setup.py"):
        put(tmp_path, name, "")
    document = opened(put(tmp_path, "prompts.jsonl", PROMPTS), "prompts")
    found = programs_for(tmp_path / "prompts.jsonl", workspace_with(document, roots=(tmp_path,)).project)
    assert [path.relative_to(tmp_path).as_posix() for path in found.adapters] == [
        "deep/mine.json",
        "agent.json",
        "adapters/b.json",
    ]
    assert [path.relative_to(tmp_path).as_posix() for path in found.graders] == [
        "deep/judge.py",
        "my-grader.mjs",
        "graders/c.ts",
    ]


def hints(document: Document, part: Span | None = None) -> list[str]:
    return [hint.label for hint in inlay_hints(document, workspace_with(document), part)]


def test_graded_records_have_their_verdicts_at_the_end_of_the_line(tmp_path: Path) -> None:
    document = rows(tmp_path, "r.jsonl", "captures", CAPTURE, {**CAPTURE, "score": None})
    [hint] = inlay_hints(document, workspace_with(document))
    assert (hint.label, hint.offset) == ("✗ 0.31", document.text.index("\n"))
    assert hint.tooltip == "lacks `*the*` hint"


@pytest.mark.parametrize(
    ("passed", "label"),
    [
        ((True, True, True, True, False), ["0.80 · pass@5 0.99 · pass^5 0.33"]),
        ((True,), ["1.00 · pass@1 1.00 · pass^1 1.00"]),
        ((True, None), []),
        ((), []),
    ],
)
def test_trials_show_how_often_new_ones_would_pass(
    tmp_path: Path, passed: tuple[bool, ...], label: list[str]
) -> None:
    assert hints(rows(tmp_path, "t.jsonl", "trials", trials_of(*passed))) == label


def test_only_the_visible_records_are_read(tmp_path: Path) -> None:
    document = rows(tmp_path, "t.jsonl", "trials", *[trials_of(True)] * 9)
    start = document.lines.line_span(4).start
    assert len(hints(document, Span(start + 1, start + 2))) == 1


def hover_text(document: Document, at: str) -> str:
    found = hover(document, workspace_with(document), document.text.index(at), documentation="d/")
    return "" if found is None else found.text


def test_a_record_explains_itself_as_summarize_does(tmp_path: Path) -> None:
    document = rows(tmp_path, "r.jsonl", "captures", CAPTURE)
    [written] = summaries_in_markdown([Row(CAPTURE, "r.jsonl:1")], Notes())
    assert hover_text(document, "It is 5") == written.decode().removesuffix("\n---\n\n").strip()
    assert "[TOOL:`Read`] -> `failed`" in hover_text(document, '"trajectory"')


def test_an_incomplete_or_foreign_record_never_fails(tmp_path: Path) -> None:
    for block in ({"id": 3, "output": "x", "input": "y"}, {"output": 1}, [1], "x", {"trials": "x", "k": 1}):
        for kind in ("captures", "trials"):
            document = rows(tmp_path, "r.jsonl", kind, block)
            hints(document)
            hover_text(document, document.text[0])


def test_trials_list_each_verdict(tmp_path: Path) -> None:
    text = hover_text(rows(tmp_path, "t.jsonl", "trials", trials_of(True, False)), "trialNum")
    assert "1 of 2 trials passed: pass@2 0.75" in text
    assert "\n1. ✓ 0.00 `o`\n2. ✗ 0.00 `o`" in text
