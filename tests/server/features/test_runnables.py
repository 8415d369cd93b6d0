"""What can be run from a file, and the lenses that offer it."""

from pathlib import Path

import pytest

from tests.server.project.files import EVAL, opened, put, small_suite, workspace_with
from waza_language_server.features.annotated_source import Lens, annotate_source
from waza_language_server.features.runnables.code_lens import code_lenses
from waza_language_server.features.runnables.runnables import runnables
from waza_language_server.project.document import Document, DocumentKind
from waza_language_server.project.runnable_id import RunnableId

SUITE = """\
# My suite
name: deploy
skill: deployer
graders:
  - type: text
    name: mentions_deploy
  - name: "is short"
    type: behavior
  - type: file
tasks:
  - tasks/*.yaml
"""


def lenses(path: Path, kind: DocumentKind, text: str, *, running: bool = False) -> str:
    document = opened(path, kind, text)
    target = {RunnableId(path)} if running else set[RunnableId]()
    found = code_lenses(document, workspace_with(document), target)
    return annotate_source(text, [Lens(lens.span.start, lens.title) for lens in found])


def test_a_suite_and_its_named_graders_have_lenses(tmp_path: Path) -> None:
    assert lenses(tmp_path / "eval.yaml", "eval", SUITE) == (
        """\
# My suite
▶ Run suite
name: deploy
skill: deployer
graders:
  ▶ Run grader
  - type: text
    name: mentions_deploy
  ▶ Run grader
  - name: "is short"
    type: behavior
  - type: file
tasks:
  - tasks/*.yaml
"""
    )


def test_lenses_survive_broken_text(tmp_path: Path) -> None:
    broken = SUITE.replace("type: behavior", 'type: "beha').replace("skill: deployer", "skill: [")
    drawn = lenses(tmp_path / "eval.yaml", "eval", broken)
    assert drawn.count("▶ Run suite") == 1
    assert drawn.count("▶ Run grader") == 2


def test_the_lens_of_what_runs_cancels_it_and_no_lens_moves(tmp_path: Path) -> None:
    before = lenses(tmp_path / "eval.yaml", "eval", SUITE)
    during = lenses(tmp_path / "eval.yaml", "eval", SUITE, running=True)
    assert during == before.replace("▶ Run suite", "✗ Cancel")


def test_lists_without_indentation_and_crlf_have_the_same_lenses(tmp_path: Path) -> None:
    text = "skill: x\r\ngraders:\r\n- type: text\r\n  name: a\r\ntasks: []\r\n"
    document = opened(tmp_path / "eval.yaml", "eval", text)
    found = runnables(document, workspace_with())
    assert [(runnable.id.kind, text[runnable.span.start : runnable.span.end]) for runnable in found] == [
        ("suite", "skill"),
        ("grader", "type"),
    ]


def test_a_task_that_is_switched_off_is_not_offered_nor_are_its_graders(tmp_path: Path) -> None:
    graders = "graders: [{type: text, name: own}]"
    tasks = f"  - {{id: on, name: On, {graders}}}\n  - {{id: off, name: Off, enabled: SWITCH, {graders}}}\n"
    text = f"name: s\nskill: s\ngraders:\n  - {{type: text, name: whole}}\ntasks:\n{tasks}"
    for switch, offered in (("false", []), ("true", ["off", "off::own"]), ("'false'", ["off", "off::own"])):
        document = opened(tmp_path / "eval.yaml", "eval", text.replace("SWITCH", switch))
        found = runnables(document, workspace_with())
        ids = [str(each.id).partition("eval.yaml")[2].removeprefix("::") for each in found]
        assert ids == ["", "::whole", "on", "on::own", *offered]


def test_a_suite_with_every_task_switched_off_has_no_lens(tmp_path: Path) -> None:
    put(tmp_path, "tasks/a.yaml", "id: a\nname: A\nenabled: false\ninputs: {prompt: x}\n")
    inline = "tasks:\n  - {id: off, name: Off, enabled: false, inputs: {prompt: x}}\n"
    text = f"name: s\nskill: s\ngraders:\n  - {{type: text, name: whole}}\n{inline}  - tasks/*.yaml\n"
    assert "▶" not in lenses(tmp_path / "eval.yaml", "eval", text)
    assert "▶ Run suite" in lenses(tmp_path / "eval.yaml", "eval", text.replace("enabled: false, ", ""))
    put(tmp_path, "tasks/a.yaml", "id: a\nname: A\ninputs: {prompt: x}\n")
    assert "▶ Run suite" in lenses(tmp_path / "eval.yaml", "eval", text)


def test_a_task_file_that_is_switched_off_has_no_lens(tmp_path: Path) -> None:
    small_suite(tmp_path)
    text = "id: first\nname: First\nenabled: false\ngraders:\n  - {type: text, name: own}\n"
    document = opened(tmp_path / "tasks/first.yaml", "task", text)
    assert runnables(document, workspace_with(document)) == ()
    assert "▶" not in lenses(tmp_path / "tasks/first.yaml", "task", text)


def test_ids_are_paths(tmp_path: Path) -> None:
    eval_path = small_suite(tmp_path)
    text = "id: first\nname: First\ngraders:\n  - {type: text, name: own}\n"
    document = opened(tmp_path / "tasks/first.yaml", "task", text)
    suite = eval_path.as_posix()
    assert [str(runnable.id) for runnable in runnables(document, workspace_with(document))] == [
        f"{suite}::first",
        f"{suite}::first::own",
    ]
    document = opened(eval_path, "eval")
    assert [str(runnable.id) for runnable in runnables(document, workspace_with(document))] == [
        suite,
        f"{suite}::::mentions_deploy",
    ]


def test_a_task_that_no_suite_runs_has_no_lens(tmp_path: Path) -> None:
    document = opened(tmp_path / "task.yaml", "task", "id: a\ninputs: {prompt: x}\n")
    assert code_lenses(document, workspace_with(document)) == ()


def test_a_task_of_two_suites_is_offered_for_each(tmp_path: Path) -> None:
    put(tmp_path, "eval.yaml", EVAL)
    put(tmp_path, "wazaEval.yaml", EVAL)
    document = opened(put(tmp_path, "tasks/a.yaml", "id: a\n"), "task")
    found = code_lenses(document, workspace_with(document))
    assert [lens.title for lens in found] == [
        f"▶ Run task in {tmp_path.name}/eval.yaml",
        f"▶ Run task in {tmp_path.name}/wazaEval.yaml",
    ]
    assert [lens.argument["id"] for lens in found] == [
        str(RunnableId(tmp_path / "eval.yaml", "a")),
        str(RunnableId(tmp_path / "wazaEval.yaml", "a")),
    ]


def test_a_task_without_an_id_is_run_by_the_name_of_its_file(tmp_path: Path) -> None:
    small_suite(tmp_path)
    document = opened(put(tmp_path, "tasks/other.yaml", "name: Other\n"), "task")
    (found,) = runnables(document, workspace_with(document))
    assert (found.id.task, found.label) == ("other", "Other")


@pytest.mark.parametrize("text", ["", "# nothing\n", "- a\n- b\n", "\x00\x01", "just words"])
def test_odd_files_have_none(tmp_path: Path, text: str) -> None:
    document = opened(tmp_path / "eval.yaml", "eval", text)
    assert runnables(document, workspace_with()) == ()


def test_an_unsaved_document_has_none() -> None:
    assert runnables(Document("untitled:1", 1, SUITE, "eval"), workspace_with()) == ()


PROMPTS = """\
skill: deployer
should_trigger_prompts:
  - prompt: Deploy it
    confidence: high
  - {prompt: "Ship it"}
  - prompt: Deploy it
  - plain text
should_not_trigger_prompts:
  - reason: It is none
    prompt: Deploy it
"""


def test_each_trigger_prompt_has_a_lens(tmp_path: Path) -> None:
    put(tmp_path, "eval.yaml", EVAL)
    assert lenses(tmp_path / "trigger_tests.yaml", "trigger_tests", PROMPTS) == (
        """\
skill: deployer
should_trigger_prompts:
  ▶ Run prompt
  - prompt: Deploy it
    confidence: high
  ▶ Run prompt
  - {prompt: "Ship it"}
  - prompt: Deploy it
  - plain text
should_not_trigger_prompts:
  ▶ Run prompt
  - reason: It is none
    prompt: Deploy it
"""
    )


def test_a_prompt_is_known_by_its_text_and_what_is_expected_of_it(tmp_path: Path) -> None:
    put(tmp_path, "eval.yaml", EVAL)
    document = opened(tmp_path / "trigger_tests.yaml", "trigger_tests", PROMPTS)
    found = runnables(document, workspace_with(document))
    suite = tmp_path / "eval.yaml"
    assert [(runnable.id, runnable.id.kind, runnable.label) for runnable in found] == [
        (RunnableId(suite, prompt="Deploy it"), "prompt", "Deploy it"),
        (RunnableId(suite, prompt="Ship it"), "prompt", "Ship it"),
        (RunnableId(suite, prompt="Deploy it", should_trigger=False), "prompt", "Deploy it"),
    ]
