"""A repository may hold pipes, devices and links under any name: the server neither waits nor leaves it."""

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.command_line import language_server
from tests.protocol.editor import editing, suite_with, write_suite
from waza_language_server.project.uris import uri_of

pytestmark = [pytest.mark.check, pytest.mark.skipif(sys.platform == "win32", reason="makes pipes and links")]

SUITE = suite_with("""\
graders:
  - {type: text, name: greets, config: {contains: [hello]}}
""")
TASK = "id: one\nname: One\ninputs:\n  prompt: Say hello\n  files:\n    - path: \n"
PLACES = (
    ".waza.yaml",
    "../.waza.yaml",
    "../../.waza.yaml",
    "../../eval.yaml",
    "wazaEval.yaml",
    "SKILL.md",
    "../SKILL.md",
    "trigger_tests.yaml",
    "tasks/two.yaml",
    "fixtures/pipe.txt",
    "skills/other/SKILL.md",
    ".waza/results/x.json",
    ".waza/results/x.partial.jsonl",
    "results/x.json",
    "results.json",
    "reviews.jsonl",
)
THINGS: dict[str, Callable[[Path], object]] = {
    "pipes": os.mkfifo,
    "devices": lambda place: place.symlink_to("/dev/zero"),
    "descriptors": lambda place: place.symlink_to("/proc/self/fd/0"),
    "folders": Path.mkdir,
    "links to nothing": lambda place: place.symlink_to("nowhere"),
    "links to themselves": lambda place: place.symlink_to(place.name),
}


def surrounded(folder: Path, make: Callable[[Path], object]) -> Path:
    """Write a suite two folders down with such things around it; return its eval file."""
    suite = write_suite(folder / "deep" / "suite", SUITE, one=TASK)
    for place in PLACES:
        path = Path(os.path.normpath(suite.parent / place))
        path.parent.mkdir(parents=True, exist_ok=True)
        make(path)
    return suite


@pytest.mark.parametrize("what", THINGS)
async def test_the_server_answers_whatever_lies_around_a_suite(tmp_path: Path, what: str) -> None:
    suite = surrounded(tmp_path, THINGS[what])
    async with asyncio.timeout(100), editing(tmp_path, pulls=True) as editor:
        for path, line, character in ((suite, 3, 9), (suite.parent / "tasks" / "one.yaml", 5, 12)):
            uri = editor.open(path)
            codes = {problem.code for problem in await editor.problems(uri)}
            assert ("unreadable-task" in codes) == (path == suite and what != "links to nothing")
            await editor.complete(uri, line, character)
            await editor.hover(uri, 0, 1)
            assert await editor.lenses(uri)
            await editor.hints(uri)


@pytest.mark.parametrize("what", THINGS)
def test_a_named_thing_that_is_no_file_gets_one_sentence(tmp_path: Path, what: str) -> None:
    THINGS[what](tmp_path / "eval.yaml")
    done = language_server("show" if what == "folders" else "check", tmp_path / "eval.yaml")
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_named_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    suite = write_suite(tmp_path / "elsewhere", SUITE)
    (tmp_path / "repository" / "eval.yaml").symlink_to(suite)
    assert "Run suite" in language_server("show", tmp_path / "repository" / "eval.yaml").stdout


async def test_a_task_file_without_text_is_said_at_its_glob(tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "repository", SUITE, one=TASK)
    (tmp_path / "secret.yaml").write_text(TASK)
    (suite.parent / "tasks" / "two.yaml").symlink_to("../../secret.yaml")
    async with editing(suite.parent, pulls=True) as editor:
        (problem,) = await editor.problems(editor.open(suite))
        assert problem.code == "unreadable-task"
        assert "`tasks/two.yaml` cannot be used: a link leads out of the workspace" in str(problem.message)
        assert (problem.range.start.line, problem.range.start.character) == (3, 8)


async def test_links_within_the_workspace_work_however_it_was_reached(tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "repository" / "suite", SUITE)
    (tmp_path / "repository" / "shared").mkdir()
    (tmp_path / "repository" / "shared" / "one.yaml").write_text(TASK)
    (suite.parent / "tasks").rmdir()
    (suite.parent / "tasks").symlink_to("../shared")
    (tmp_path / "opened").symlink_to("repository")
    async with editing(tmp_path / "opened", pulls=True) as editor:
        assert await editor.problems(editor.open(tmp_path / "opened" / "suite" / "eval.yaml")) == []


@pytest.mark.parametrize("written", ["/", "../..", "../../..", "/etc", "out"])
async def test_completion_lists_nothing_outside_the_workspace(tmp_path: Path, written: str) -> None:
    workspace = tmp_path / "workspace"
    suite = write_suite(workspace / "suite", SUITE, one=f"context_dir: {written}\n{TASK}")
    (tmp_path / "secret.txt").write_text("x")
    (suite.parent / "out").symlink_to(tmp_path)
    async with editing(workspace, pulls=True) as editor:
        task = editor.open(suite.parent / "tasks" / "one.yaml")
        names = [item.label for item in await editor.complete(task, 6, 12)]
        assert not any("secret" in name or "passwd" in name for name in names)
        asks = f"  - {{type: json_schema, name: g, config: {{schema_file: {written}/"
        lines = [*SUITE.splitlines()[:5], f"{asks}}}}}"]
        evaluation = editor.open(suite, "\n".join(lines))
        assert await editor.complete(evaluation, 5, len(asks)) == []


async def test_a_folder_that_holds_itself_is_listed_once(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, SUITE, one=TASK)
    (tmp_path / "fixtures").mkdir()
    (tmp_path / "fixtures" / "a.txt").write_text("x")
    (tmp_path / "fixtures" / "b").symlink_to(".")
    (tmp_path / "again").symlink_to(".")
    async with editing(tmp_path, pulls=True) as editor:
        task = editor.open(suite.parent / "tasks" / "one.yaml")
        assert [item.label for item in await editor.complete(task, 5, 12)] == ["a.txt"]
        evaluation = editor.open(suite, SUITE.replace('["tasks/*.yaml"]', '[""]'))
        names = [item.label for item in await editor.complete(evaluation, 3, 9)]
        assert "tasks/*.yaml" in names
        assert not any("again" in name for name in names)


async def test_names_that_are_no_utf_8_are_neither_offered_nor_a_hurdle(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, SUITE, one=TASK)
    name = os.fsdecode(b"caf\xe9.yaml")
    (tmp_path / "tasks" / name).write_text(TASK)
    (tmp_path / "fixtures").mkdir()
    (tmp_path / "fixtures" / name).write_text("x")
    async with editing(tmp_path, pulls=True) as editor:
        task = editor.open(tmp_path / "tasks" / "one.yaml")
        problems = await editor.problems(task)
        (same,) = [problem for problem in problems if problem.code == "duplicate-task-id"]
        assert "`caf\ufffd.yaml` has the id" in str(same.message)
        assert same.related_information is not None
        assert same.related_information[0].location.uri == uri_of(tmp_path / "tasks" / name)
        assert await editor.complete(task, 5, 12) == []
        odd = editor.open(tmp_path / "tasks" / name)
        assert "duplicate-task-id" in {problem.code for problem in await editor.problems(odd)}
        assert await editor.problems(editor.open(suite)) == []
    assert "Traceback" not in language_server("check", tmp_path).stderr
