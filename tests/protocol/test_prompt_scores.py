"""Results of a suite on the lines of its prompts: hints, marks and stale results."""

from pathlib import Path

import pytest

from tests.engine.suites import run
from tests.protocol.editor import Editor, editing
from tests.protocol.test_stale_results import stale

pytestmark = pytest.mark.check

SUITE = """\
name: greets
skill: greeter
config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}
tasks_from: prompts.jsonl
graders:
  - {type: text, name: speaks, config: {contains: [hello]}}
"""
PROMPTS = '{"id": "one", "input": "Say hello"}\n\n{"id": "two", "input": "Say nothing", "hint": "x"}\n'


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    (tmp_path / "SKILL.md").write_text("---\nname: greeter\ndescription: Greets.\n---\nDo it.\n", "utf-8")
    (tmp_path / "prompts.jsonl").write_text(PROMPTS, "utf-8")
    path = tmp_path / "eval.yaml"
    path.write_text(SUITE, "utf-8")
    run(path)
    return path


def rewrite_with_trials(suite: Path) -> None:
    entry = "{type: inline, name: sometimes, config: {grader: every_other.py}}"
    text = SUITE.replace("{type: text, name: speaks, config: {contains: [hello]}}", entry)
    suite.write_text(text.replace("task: 1", "task: 4"), "utf-8")


async def shown(editor: Editor, uri: str) -> list[tuple[int, str]]:
    return [(hint.position.line, str(hint.label)) for hint in await editor.hints(uri)]


async def test_each_line_shows_its_result_until_that_line_is_changed(suite: Path) -> None:
    async with editing(suite.parent) as editor:
        uri, eval_file = editor.open(suite.parent / "prompts.jsonl"), editor.open(suite)
        fresh, of_suite = [(0, "✓ 1.00"), (2, "✗ 0.00")], (0, "✗ 1 of 2 tasks")
        assert await shown(editor, uri) == fresh
        assert of_suite in await shown(editor, eval_file)
        assert await stale(editor, suite) == []

        editor.replace(uri, 2, PROMPTS.replace('"x"', '"y"'))
        assert await shown(editor, uri) == [fresh[0], (2, "✗ 0.00 · stale: prompts.jsonl +1 −1")]
        assert await stale(editor, suite) == [
            ("", "stale: prompts.jsonl +1 −1", False),
            ("::two", "stale: prompts.jsonl +1 −1", True),
        ]
        assert (0, "✗ 1 of 2 tasks · stale: prompts.jsonl +1 −1") in await shown(editor, eval_file)

        editor.replace(uri, 3, PROMPTS.replace('"id"', ' "id"').replace("\n\n", "\n"))
        assert await shown(editor, uri) == [(0, "✓ 1.00"), (1, "✗ 0.00")]
        assert of_suite in await shown(editor, eval_file)

        editor.replace(uri, 4, '{"id": "new", "input": "hello"}\n' + PROMPTS)
        assert await shown(editor, uri) == [(1, "✓ 1.00"), (3, "✗ 0.00")]


async def test_trials_that_differ_show_how_often_new_ones_would_pass(
    suite: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    # A new file next to the suite would make its results stale.
    counter = tmp_path_factory.mktemp("counter") / "asked"
    grader = suite.with_name("every_other.py")
    grader.write_text(
        "import json, pathlib, sys\n"
        f"file = pathlib.Path({str(counter)!r})\n"
        "number = len(file.read_text()) if file.exists() else 0\n"
        "file.write_text('x' * (number + 1))\n"
        "json.load(sys.stdin)\n"
        "print(json.dumps({'pass': number % 2 == 0, 'score': float(number % 2 == 0)}))\n",
        "utf-8",
    )
    rewrite_with_trials(suite)
    run(suite, tasks=("one",))
    async with editing(suite.parent) as editor:
        labels = await shown(editor, editor.open(suite.parent / "prompts.jsonl"))
        assert (0, "◐ 2/4 trials · pass@4 0.94 · pass^4 0.06") in labels
