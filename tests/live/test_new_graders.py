"""A grader made of what is selected in a recorded trial stands where it should, and passes as it promises."""

import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tests.live.bed import TASK, passes_by_task, recorded_bed
from waza_engine.commands.live import LiveSessions
from waza_engine.lab.live.live_session import LiveSession
from waza_engine.lab.live.recorded_rules import read_trial
from waza_engine.lab.live.work import LiveRequest
from waza_engine.lab.new_graders import NewGrader, new_graders
from waza_engine.masking import read_environment
from waza_engine.results.reports.result_page import trial_page
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.features.actions.new_graders import NewGrader as Offered
from waza_language_server.features.actions.new_graders import new_graders as as_actions
from waza_language_server.project.document import Document
from waza_language_server.project.index import Project
from waza_language_server.project.uris import path_of, uri_of
from waza_language_server.project.workspace import Workspace
from waza_language_server.schema.catalog import default_catalog
from waza_language_server.syntax.tried_edits import apply

pytestmark = pytest.mark.check

GRADERS = "- {type: behavior, name: few, config: {max_tool_calls: 9}}\n"
LINE = '- ⚙ `bash` `{"command": "npm test 0", "path": "main.py", "skill": "writer"}`'
TASK_FILES = {
    "no list": TASK.format("t0"),
    "no line break at the end": TASK.format("t0").rstrip("\n"),
    "an empty list": TASK.format("t0") + "graders: []  # none yet\n",
    "nothing behind the key": TASK.format("t0") + "graders: # none yet\n",
    "null": TASK.format("t0") + "graders: null\nexpected: {output_contains: [o]}\n",
    "a list": TASK.format("t0")
    + "graders:\n# the first\n- {type: text, name: own, config: {contains: [o]}} # kept\n\n# the end\n",
    "a list that is indented": TASK.format("t0")
    + "graders:\n    - type: text\n      name: own\n      config: {contains: [o]}\nexpected: {}\n",
    "a list in brackets": TASK.format("t0")
    + "graders: [{type: text, name: own, config: {contains: [o]}}, ] # kept\n",
    "all in brackets": "{id: t0, name: t0, inputs: {prompt: Say hello}}\n",
    "other line breaks": TASK.format("t0").replace("\n", "\r\n"),
}


class Bed:
    """A suite with a recorded run, and its live session."""

    def __init__(self, folder: Path, graders: str = GRADERS) -> None:
        self.path, self.record = recorded_bed(folder, graders)
        self.session = LiveSession(LiveRequest(self.record, self.path))

    def made(self, selected: str, task: str = "t0", trial: int = 1) -> list[NewGrader]:
        return new_graders(self.session, task, trial, selected)

    def words(self, selected: str, task: str = "t0", trial: int = 1) -> list[str]:
        return [grader.words for grader in self.made(selected, task, trial)]

    def page(self, task: str, trial: int) -> str:
        found = read_trial(self.session, task, trial)
        assert found is not None
        return trial_page(found.title, found.outcome, found.prompt, found.judged, found.started).text

    def actions(self, selected: str, task: str = "t0", trial: int = 1) -> list[Offered]:
        from dataclasses import asdict

        workspace = Workspace(Project([self.path.parent]), default_catalog())
        told = [asdict(grader) for grader in self.made(selected, task, trial)]
        return as_actions(workspace, self.path, task, told)

    def task_file(self, task: str) -> Path:
        return next(path for path in (self.path.parent / "tasks").iterdir() if path.stem == task)


@pytest.fixture
def bed(tmp_path: Path) -> Iterator[Bed]:
    found = Bed(tmp_path / "suite")
    yield found
    found.session.close()


def problems(path: Path, text: str) -> list[str]:
    document = Document(uri_of(path), 1, text, "eval" if path.name == "eval.yaml" else "task")
    workspace = Workspace(Project([path.parent]), default_catalog()).with_document(document)
    return sorted(problem.code for problem in diagnose(document, workspace))


def check(bed: Bed, action: Offered, task: str, trial: int) -> None:
    """Apply an action: no problem is new, and the new grader passes on as many trials as its title says."""
    (file,) = action.change.files
    path = path_of(file.uri)
    assert path is not None
    text = apply(file.text, file.edits)
    assert problems(path, text) == problems(path, file.text), f"{action.title}\n{text}"
    name = re.findall(r"name: \"?([\w-]+)", text)
    new = next(each for each in name if each not in re.findall(r"name: \"?([\w-]+)", file.text))
    found = passes_by_task(bed.path, bed.record, new, {path: text})
    own = [passed for each, passed in found if each == task]
    assert own[trial - 1], f"{action.title}\n{text}"
    promised = re.search(r"passes on (\d+) of (\d+) recorded trial", action.title)
    assert promised is not None
    counted = own if " in this task " in action.title else [passed for _, passed in found]
    assert (sum(counted), len(counted)) == tuple(map(int, promised.groups())), f"{action.title}\n{text}"
    assert ("in this task" in action.title) == (len({each for each, _ in found}) == 1)


def test_words_of_the_answer_become_a_text_or_a_pattern(bed: Bed) -> None:
    assert [(one.type, one.config, one.words) for one in bed.made(" example.org/1\n")] == [
        ("text", {"contains": ["example.org/1"]}, 'the answer contains "example.org/1"'),
        ("text", {"regex_match": ["example\\.org/\\d+"]}, "the answer matches example\\.org/\\d+"),
    ]
    assert bed.words("done.\nDeployed to") == [
        'the answer contains "done. Deployed to"',
        "the answer matches done\\.\\s+Deployed\\s+to",
    ]


def test_a_pattern_is_only_offered_where_it_says_more_than_the_text_and_not_any_number(bed: Bed) -> None:
    assert bed.words("Deployed") == ['the answer contains "Deployed"']
    assert bed.words("1") == ['the answer contains "1"']


def test_the_line_of_a_call_becomes_that_call_with_its_arguments_or_its_tool(bed: Bed) -> None:
    assert [(one.type, one.config, one.words) for one in bed.made(LINE)] == [
        (
            "tool_calls",
            {
                "expect": [
                    {
                        "tool": "^bash$",
                        "args": {
                            "command": {"equals": "npm test 0"},
                            "path": {"equals": "main.py"},
                            "skill": {"equals": "writer"},
                        },
                    }
                ]
            },
            "the agent calls bash with command npm test 0, path main.py, skill writer",
        ),
        ("tool_calls", {"required_tools": ["bash"]}, "the agent calls bash"),
    ]


def test_a_part_of_a_call_becomes_what_it_is(bed: Bed) -> None:
    assert bed.words("`bash`") == bed.words("bash") == ["the agent calls bash"]
    assert bed.words('"command": "npm test 2"') == ["the agent calls bash with command npm test 2"]
    assert bed.words("test 2") == ['the agent calls bash with "test 2" in command']


def test_lines_of_several_calls_become_one_grader(bed: Bed) -> None:
    other = LINE.replace("`bash`", "`edit` (failed)").replace("test 0", "test 1")
    (made,) = bed.made(f"{LINE}\n{other}")
    assert [each["tool"] for each in made.config["expect"]] == ["^bash$", "^edit$"]


def test_what_was_neither_answered_nor_called_becomes_nothing(bed: Bed) -> None:
    for selected in ("", "   ", "zebra", "x" * 400, "#### Answer", f"{LINE}\nzebra"):
        assert bed.made(selected) == []
    assert bed.made("Deployed", trial=9) == []
    assert bed.made("Deployed", task="gone") == []


def test_the_title_counts_the_trials_of_the_task_and_of_the_suite(bed: Bed) -> None:
    assert [action.title for action in bed.actions("Deployed")] == [
        'New grader in this task (passes on 1 of 2 recorded trials): the answer contains "Deployed"',
        "New grader in the suite (passes on 2 of 6 recorded trials of 3 tasks): "
        'the answer contains "Deployed"',
    ]


def test_text_that_holds_a_credential_is_not_offered(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = LiveSessions(lambda _: None)
    try:
        name = sessions.open({}, bed.record, bed.path)["session"]
        asked = {"session": name, "task": "t0", "trial": 1}
        with monkeypatch.context() as environment:
            environment.setenv("WAZA_TEST_API_KEY", "the function")
            read_environment()
            assert sessions.graders({**asked, "text": "Hello, the function"}) == {"graders": []}
            assert sessions.graders({**asked, "text": "Hello"})["graders"]
    finally:
        read_environment()
        sessions.close_all()


@pytest.mark.parametrize("written", TASK_FILES)
def test_it_comes_last_in_the_list_of_the_task_as_its_author_writes(bed: Bed, written: str) -> None:
    file = bed.task_file("t0")
    file.write_bytes(TASK_FILES[written].encode())
    actions = [action for action in bed.actions("done.\nDeployed") if "in this task" in action.title]
    assert len(actions) == 2
    for action in actions:
        check(bed, action, "t0", 1)
        (edit,) = action.change.files
        after = apply(edit.text, edit.edits)
        assert re.findall("#.*", after) == re.findall("#.*", edit.text)
        assert after.count("\r\n") == (after.count("\n") if "\r" in edit.text else 0)


def test_a_task_in_the_eval_file_gets_it_there(tmp_path: Path) -> None:
    bed = Bed(tmp_path / "suite")
    try:
        bed.task_file("t0").unlink()
        inline = "- id: t0\n  name: t0\n  inputs: {prompt: Say hello}\n- tasks/*.yaml\n"
        text = bed.path.read_text("utf-8").replace("tasks: ['tasks/*.yaml']\n", f"tasks:\n{inline}")
        bed.path.write_text(text, "utf-8")
        actions = bed.actions("Deployed to")
        assert [action.where for action in actions] == [
            "in this task",
            "in the suite",
        ] * 2
        for action in actions:
            check(bed, action, "t0", 1)
    finally:
        bed.session.close()


def test_a_name_that_the_suite_has_gets_a_number(tmp_path: Path) -> None:
    bed = Bed(tmp_path / "suite", "- {type: text, name: contains_deployed, config: {contains: [x]}}\n")
    try:
        own, _ = bed.actions("Deployed")
    finally:
        bed.session.close()
    assert "name: contains_deployed_2\n" in own.change.files[0].edits[0].text


def test_whatever_is_selected_anywhere_on_a_page_what_is_offered_holds(bed: Bed) -> None:
    random, checked = Random(11), 0
    places = [(task, trial) for task in ("t0", "t1", "t2") for trial in (1, 2)]
    for _ in range(40):
        task, trial = random.choice(places)
        page = bed.page(task, trial)
        start = random.randrange(len(page))
        line = page.rfind("\n", 0, start) + 1, page.find("\n", start)
        selected = (
            page[slice(*line)] if random.random() < 0.3 else page[start : start + random.randint(2, 40)]
        )
        for action in bed.actions(selected, task, trial):
            check(bed, action, task, trial)
            checked += 1
    assert checked > 10
