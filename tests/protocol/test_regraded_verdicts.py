"""What tasks and suites come to when recorded answers are graded again: as their graders say."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.protocol.editor import Editor, write_suite

pytestmark = [pytest.mark.check, pytest.mark.asyncio(loop_scope="module")]

EVAL = """\
name: greets
skill: greeter
config: {executor: mock, model: none}
graders:
  - {type: text, name: polite, config: {contains: [please]}}
metrics:
  - {name: task_completion, weight: 1.0, threshold: 0.8}
tasks: [tasks/*.yaml]
"""
ONE = "id: one\ninputs: {prompt: Hello}\n"
TWO = "id: two\ninputs: {prompt: Hello}\nexpected: {output_contains: [Mock]}\n"
INLINE = EVAL.replace("[tasks/*.yaml]", "\n  - {id: one, inputs: {prompt: Hello}}")
RIGHT = "contains: [Mock]"


@pytest.fixture
def suite(own_folder: Path) -> Path:
    return write_suite(own_folder, EVAL, one=ONE, two=TWO)


async def ask(editor: Editor, name: str, target: str) -> None:
    answer: dict[str, Any] = await editor.command(name, {"id": target})
    assert answer["message"] is None


@asynccontextmanager
async def recorded(editor: Editor, suite: Path, *tasks: str) -> AsyncGenerator[list[str]]:
    """Open a suite and tasks of it in the editor, and run it there; yield the URIs."""
    uris = [editor.open(path) for path in (suite, *(suite.parent / f"tasks/{task}.yaml" for task in tasks))]
    await ask(editor, "waza.run", str(suite))
    yield uris
    for uri in uris:
        editor.close(uri)


def corrected(text: str) -> str:
    return text.replace("contains: [please]", RIGHT)


async def test_a_task_is_as_stale_as_the_graders_of_its_suite(editor: Editor, suite: Path) -> None:
    async with recorded(editor, suite, "one") as (eval_file, task):
        assert await editor.labels(task) == ["✗ 0.00", "✗ polite (suite)"]
        editor.replace(eval_file, 2, corrected(EVAL))
        assert await editor.labels(task) == ["✗ 0.00 · stale", "✗ polite (suite) · stale"]
        editor.replace(eval_file, 3, EVAL.replace("graders:\n", "graders:\n  - {type: diff, name: new}\n"))
        assert (await editor.labels(task))[0] == "✗ 0.00 · stale"
        editor.replace(eval_file, 4, EVAL)
        assert await editor.labels(task) == ["✗ 0.00", "✗ polite (suite)"]


async def test_so_is_one_that_stands_in_the_eval_file(editor: Editor, own_folder: Path) -> None:
    suite = write_suite(own_folder, INLINE)
    async with recorded(editor, suite) as (uri,):
        assert (await editor.labels(uri))[-1] == "✗ 0.00"
        editor.replace(uri, 2, corrected(INLINE))
        assert (await editor.labels(uri))[-1] == "✗ 0.00 · stale"
        await ask(editor, "waza.regrade", str(suite))
        assert (await editor.labels(uri))[-1] == "↻ ✓ 1.00"


async def test_a_suite_comes_to_what_its_graders_say_now(editor: Editor, suite: Path) -> None:
    async with recorded(editor, suite, "two") as (eval_file, task):
        editor.replace(eval_file, 2, corrected(EVAL))
        await ask(editor, "waza.regrade", str(suite))
        assert await editor.labels(eval_file) == ["↻ ✓ 2/2 tasks", "✓", "↻ ✓ 1.00", "↻ ✓ 1.00"]
        assert await editor.labels(task) == ["↻ ✓ 1.00", "↻ ✓ 1 of the suite", "✓"]


async def test_what_was_graded_again_is_stale_with_the_next_edit(editor: Editor, suite: Path) -> None:
    async with recorded(editor, suite, "two") as (eval_file, task):
        editor.replace(eval_file, 2, corrected(EVAL))
        await ask(editor, "waza.regrade", str(suite))
        editor.replace(eval_file, 3, EVAL)
        assert (await editor.labels(eval_file))[0] == "↻ ✓ 2/2 tasks · stale"
        assert (await editor.labels(task))[0] == "↻ ✓ 1.00 · stale"
        editor.replace(eval_file, 4, corrected(EVAL))
        editor.replace(task, 2, TWO.replace("[Mock]", "[Real]"))
        assert (await editor.labels(eval_file))[0] == "↻ ✓ 2/2 tasks · stale"
        assert (await editor.labels(task))[0] == "↻ ✓ 1.00 · stale"
        editor.replace(task, 3, TWO.replace("Hello", "Goodbye"))
        assert (await editor.labels(task))[0] == "↻ ✓ 1.00 · stale"
        editor.replace(task, 4, TWO)
        assert (await editor.labels(eval_file))[0] == "↻ ✓ 2/2 tasks"


async def test_each_task_is_told_as_it_was_graded_last(editor: Editor, suite: Path) -> None:
    async with recorded(editor, suite, "one", "two") as (eval_file, one, two):
        editor.replace(eval_file, 2, corrected(EVAL))
        await ask(editor, "waza.regrade", f"{suite}::one")
        assert (await editor.labels(eval_file))[0] == "↻ ✗ 1 of 2 tasks · stale"
        assert (await editor.labels(one))[0] == "↻ ✓ 1.00"
        assert (await editor.labels(two))[0] == "✗ 0.50 · stale"
        await ask(editor, "waza.regrade", f"{suite}::two")
        assert (await editor.labels(eval_file))[0] == "↻ ✓ 2/2 tasks"


TWO_GRADERS = EVAL.replace(
    "metrics:", "  - {type: text, name: short, config: {not_contains: [Mock]}}\nmetrics:"
)


async def test_one_grader_counts_with_what_the_others_said(editor: Editor, own_folder: Path) -> None:
    suite = write_suite(own_folder, TWO_GRADERS, one=ONE, two=TWO)
    async with recorded(editor, suite, "two") as (eval_file, two):
        assert (await editor.labels(two))[0] == "✗ 0.33"
        editor.replace(eval_file, 2, corrected(TWO_GRADERS))
        await ask(editor, "waza.regrade", f"{suite}::::polite")
        assert (await editor.labels(two))[0] == "↻ ✗ 0.67"
        assert (await editor.labels(eval_file))[0] == "↻ ✗ 2 of 2 tasks"
        both = corrected(TWO_GRADERS).replace("not_contains: [Mock]", "not_contains: [rude]")
        editor.replace(eval_file, 3, both)
        assert (await editor.labels(two))[0] == "↻ ✗ 0.67 · stale"
        await ask(editor, "waza.regrade", f"{suite}::::short")
        assert (await editor.labels(two))[0] == "↻ ✓ 1.00"
        assert (await editor.labels(eval_file))[0] == "↻ ✓ 2/2 tasks"
        editor.replace(eval_file, 4, TWO_GRADERS.replace("not_contains: [Mock]", "not_contains: [rude]"))
        assert (await editor.labels(two))[0] == "↻ ✓ 1.00 · stale"
        editor.replace(eval_file, 5, both)
        assert (await editor.labels(two))[0] == "↻ ✓ 1.00"


async def test_a_grader_of_the_task_turns_its_task_and_the_suite(editor: Editor, own_folder: Path) -> None:
    own = "graders:\n  - {type: text, name: own, config: {contains: [please]}}\n"
    suite = write_suite(own_folder, corrected(EVAL), one=ONE + own, two=TWO)
    async with recorded(editor, suite, "one") as (eval_file, one):
        assert (await editor.labels(one))[0] == "✗ 0.50"
        editor.replace(one, 2, ONE + corrected(own))
        await ask(editor, "waza.regrade", f"{suite}::one::own")
        assert (await editor.labels(one))[0] == "↻ ✓ 1.00"
        assert (await editor.labels(eval_file))[0] == "↻ ✓ 2/2 tasks"


async def test_after_all_one_grader_alone_leaves_the_verdict_stale(editor: Editor, suite: Path) -> None:
    async with recorded(editor, suite, "two") as (eval_file, two):
        await ask(editor, "waza.regrade", str(suite))
        editor.replace(eval_file, 2, corrected(EVAL))
        await ask(editor, "waza.regrade", f"{suite}::::polite")
        assert (await editor.labels(two))[0] == "↻ ✗ 0.50 · stale"
        await ask(editor, "waza.regrade", str(suite))
        assert (await editor.labels(two))[0] == "↻ ✓ 1.00"


JUDGE = "  - {type: prompt, name: kind, config: {prompt: Was it kind?}}\n"


async def test_a_rewritten_judge_makes_its_task_stale(editor: Editor, own_folder: Path) -> None:
    text = corrected(EVAL).replace("metrics:", f"{JUDGE}metrics:")
    suite = write_suite(own_folder, text, two=TWO)
    async with recorded(editor, suite, "two") as (eval_file, two):
        editor.replace(eval_file, 2, text.replace("kind?", "rude?"))
        await ask(editor, "waza.regrade", str(suite))
        for uri in (two, eval_file):
            (label, *_) = await editor.labels(uri)
            assert label.startswith("↻ !")
            assert label.endswith("· stale")


async def test_the_next_run_replaces_what_was_graded_again(editor: Editor, suite: Path) -> None:
    async with recorded(editor, suite, "two") as (eval_file, two):
        await ask(editor, "waza.regrade", str(suite))
        assert (await editor.labels(eval_file))[0] == "↻ ✗ 2 of 2 tasks"
        await ask(editor, "waza.run", str(suite))
        assert (await editor.labels(eval_file))[0] == "✗ 2 of 2 tasks"
        assert (await editor.labels(two))[0] == "✗ 0.50"
