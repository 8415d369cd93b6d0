"""The engine's affected tasks are those whose results an editor marks as stale."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.engine.suites import run
from tests.server.project.files import put, workspace_with
from waza_engine.commands.methods import Methods
from waza_language_server.features.scores.stale_results import stale_results

EVAL = """\
name: my-eval
skill: my-skill
config: {trials_per_task: 1, timeout_seconds: 20, executor: mock, model: one, parallel: false}
graders:
  - {type: text, name: says, config: {contains: [hello]}}
tasks: [tasks/*.yaml]
"""
FILES = {
    "eval.yaml": EVAL,
    "tasks/a.yaml": "id: a\nname: a\ninputs: {prompt: hello, files: [notes.txt]}\n",
    "tasks/b.yaml": "id: b\nname: b\ninputs: {prompt: hello}\n",
    "fixtures/notes.txt": "one\n",
}
EDITS = (
    ("eval.yaml", "model: one", "model: two"),
    ("eval.yaml", "timeout_seconds: 20", "timeout_seconds: 30"),
    ("eval.yaml", "trials_per_task: 1", "trials_per_task: 2"),
    ("eval.yaml", "parallel: false", "parallel: true"),
    ("eval.yaml", "name: my-eval", "name: other"),
    ("eval.yaml", "skill: my-skill", "skill: other-skill"),
    ("eval.yaml", "contains: [hello]", "contains: [hello, o]"),
    ("eval.yaml", "tasks: [", "inputs: {x: '1'}\ntasks: ["),
    ("eval.yaml", "graders:", "# A comment.\ngraders:"),
    ("eval.yaml", "graders:", "hooks: {before_task: [{command: 'true'}]}\ngraders:"),
    ("tasks/a.yaml", "prompt: hello", "prompt: hello you"),
    ("tasks/b.yaml", "inputs:", "graders: [{type: text, name: own, config: {contains: [hello]}}]\ninputs:"),
    ("fixtures/notes.txt", "one", "two"),
)


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("suite")
    for name, text in FILES.items():
        put(folder, name, text)
    run(folder / "eval.yaml")
    return folder / "eval.yaml"


def edit(suite: Path, *edits: tuple[str, str, str]) -> None:
    written = dict(FILES)
    for file, old, new in edits:
        written[file] = written[file].replace(old, new)
    for file, text in written.items():
        put(suite.parent, file, text)


def affected(suite: Path) -> set[str]:
    return set(Methods(lambda _: None).table["run.affected"]({"path": str(suite)})()["tasks"])


def stale(suite: Path) -> set[str]:
    found = stale_results(workspace_with().project, suite)
    tasks = {each.id.task for each in found if each.id.task is not None}
    return {"a", "b"} if any(each.whole and each.id.task is None for each in found) else tasks


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edits=st.sets(st.sampled_from(EDITS), max_size=3))
def test_engine_and_editor_agree_on_what_has_changed(suite: Path, edits: set[tuple[str, str, str]]) -> None:
    edit(suite, *edits)
    assert affected(suite) == stale(suite)


@pytest.mark.parametrize(("number", "expected"), [(0, ""), (1, "ab"), (4, "")])
def test_a_model_that_is_not_asked_decides_nothing(suite: Path, number: int, expected: str) -> None:
    edit(suite, EDITS[number])
    assert (affected(suite), stale(suite)) == (set(expected), set(expected))
