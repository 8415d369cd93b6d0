"""Whether anything can be run from a file, and whether it was: commands are offered where they work."""

from pathlib import Path

import pytest

from tests.protocol.editor import Editor, editing, write_suite
from tests.server.features.results import grade, write_results

pytestmark = pytest.mark.check

EVAL = "name: greets\nskill: greeter\nconfig: {executor: mock, model: none}\ntasks: [tasks/*.yaml]\n"


async def state(editor: Editor, path: Path) -> tuple[bool, bool] | None:
    asked = {"textDocument": {"uri": editor.open(path)}}
    answer = await editor.protocol.send_request_async("waza/suiteState", asked)
    return None if answer is None else (answer.canRun, answer.recorded)


async def test_a_suite_its_task_and_its_skill_can_be_run_and_later_have_a_record(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, EVAL, one="id: one\ninputs: {prompt: Hello}\n")
    (tmp_path / "SKILL.md").write_text("---\nname: greeter\n---\n", "utf-8")
    files = [suite, tmp_path / "tasks" / "one.yaml", tmp_path / "SKILL.md"]
    async with editing(tmp_path) as editor:
        for file in files:
            assert await state(editor, file) == (True, False)
    write_results(suite, {"one": [[grade("a", 1.0)]]})
    async with editing(tmp_path) as editor:
        for file in files:
            assert await state(editor, file) == (True, True)


async def test_trigger_tests_can_be_run_when_they_have_a_prompt_and_a_suite(tmp_path: Path) -> None:
    write_suite(tmp_path, EVAL, one="id: one\ninputs: {prompt: Hello}\n")
    triggers = tmp_path / "trigger_tests.yaml"
    triggers.write_text("skill: greeter\nshould_trigger_prompts:\n  - prompt: Greet them\n", "utf-8")
    alone = tmp_path / "alone" / "trigger_tests.yaml"
    alone.parent.mkdir()
    alone.write_text(triggers.read_text("utf-8"), "utf-8")
    async with editing(tmp_path) as editor:
        assert await state(editor, triggers) == (True, False)
        assert await state(editor, alone) == (False, False)
    triggers.write_text("skill: greeter\nshould_trigger_prompts:\n", "utf-8")
    async with editing(tmp_path) as editor:
        assert await state(editor, triggers) == (False, False)


async def test_what_cannot_be_run_says_so(tmp_path: Path) -> None:
    (tmp_path / "SKILL.md").write_text("---\nname: alone\n---\n", "utf-8")
    (tmp_path / "eval.yaml").touch()
    (tmp_path / "other.yaml").write_text("a: 1\n", "utf-8")
    async with editing(tmp_path) as editor:
        assert await state(editor, tmp_path / "SKILL.md") == (False, False)
        assert await state(editor, tmp_path / "eval.yaml") == (False, False)
        assert await state(editor, tmp_path / "other.yaml") is None
