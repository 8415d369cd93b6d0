"""Grader types of plug-ins in the editor: learnt from the engine, once, and only where code may run."""

import os
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.command_line import language_server
from tests.engine.graders.custom_package import ROOT, install_example
from tests.patience import has_ended
from tests.protocol.editor import Editor, editing, write_suite
from tests.protocol.workspace import opened
from waza_language_server.engine.plugin_types import installed_types

pytestmark = pytest.mark.check

SUITE = """\
name: reads
skill: explainer
config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}
tasks: ["tasks/*.yaml"]
graders:
  - type: reading_level
    name: easy
    config:
      max_sentence_words: 20
      max_letters: 7
"""
TASK = "id: one\nname: one\ninputs:\n  prompt: Say hello\n"
TYPE_LINE, LAST_LINE = 5, 9


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install_example(tmp_path_factory.mktemp("installed"))


@pytest.fixture
def installed(site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, (site, ROOT))))
    installed_types.cache_clear()
    yield
    installed_types.cache_clear()


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return write_suite(tmp_path, SUITE, one=TASK)


def engines(editor: Editor) -> list[psutil.Process]:
    children = psutil.Process(editor.process_id).children()
    return [child for child in children if not has_ended(child) and "waza_engine" in child.cmdline()]


async def codes(editor: Editor, uri: str) -> list[str]:
    return [str(problem.code) for problem in await editor.problems(uri)]


@pytest.mark.usefixtures("installed")
async def test_a_type_of_a_package_is_completed_explained_and_checked(suite: Path) -> None:
    async with opened(suite) as (editor, uri):
        await editor.until(lambda: editor.diagnostics.get(uri) is not None
                           and [p.code for p in editor.diagnostics[uri]] == ["unknown-key"])  # fmt: skip
        (problem,) = editor.diagnostics[uri]
        assert (problem.range.start.line, "max_word_letters" in problem.message) == (LAST_LINE, True)
        hover = await editor.hover(uri, TYPE_LINE, 12)
        assert hover is not None
        text = str(hover.contents)
        assert "easy to read" in text
        assert "All about" not in text
        editor.replace(uri, 2, SUITE.replace("      max_letters: 7\n", "      \n"))
        labels = [item.label for item in await editor.complete(uri, LAST_LINE, 6)]
        assert "max_word_letters" in labels
        editor.replace(uri, 3, SUITE.replace("type: reading_level", "type: "))
        assert "reading_level" in [item.label for item in await editor.complete(uri, TYPE_LINE, 10)]


@pytest.mark.usefixtures("installed")
async def test_a_misspelt_type_beside_one_of_a_package_has_a_fix(suite: Path) -> None:
    async with editing(suite.parent) as editor:
        text = SUITE.replace("max_letters", "max_word_letters") + "  - type: txt\n    name: misspelt\n"
        uri = editor.open(suite, text)
        await editor.until(lambda: [p.range.start.line for p in editor.diagnostics.get(uri, ())] == [10])
        assert "Change to `text`" in [action.title for action in await editor.actions(uri, 10)]


@pytest.mark.usefixtures("installed")
async def test_a_client_that_asks_for_diagnostics_is_told_to_ask_again(suite: Path) -> None:
    async with opened(suite, pulls=True) as (editor, uri):
        assert "unknown-grader-type" in await codes(editor, uri)
        await editor.until(lambda: editor.diagnostic_refresh_count)
        assert await codes(editor, uri) == ["unknown-key"]


@pytest.mark.usefixtures("installed")
def test_commands_know_the_types_of_packages(suite: Path) -> None:
    suite.write_text(SUITE.replace("max_sentence", "max_sentnce"), "utf-8")
    assert "has no key `max_sentnce_words`; did you mean" in language_server("check", suite).stdout
    assert "no problems (2 fixed)" in language_server("check", "--fix", suite).stdout
    assert suite.read_text("utf-8") == SUITE.replace("max_letters", "max_word_letters")
    assert "unknown-grader-type" not in language_server("show", suite).stdout


async def test_an_unknown_type_asks_once(suite: Path) -> None:
    async with opened(suite) as (editor, uri):
        await editor.until(lambda: engines(editor))
        (engine,) = engines(editor)
        for version in range(2, 6):
            editor.replace(uri, version, SUITE.replace("reading_level", f"other{version}"))
            await editor.pushed(uri, version)
        assert [problem.code for problem in await editor.pushed(uri, 5)] == ["unknown-grader-type"]
        assert engines(editor) == [engine]


async def test_an_engine_that_cannot_start_leaves_the_type_unknown(suite: Path) -> None:
    async with opened(suite, options={"interpreter": "no-such-python"}) as (editor, uri):
        assert [problem.code for problem in await editor.pushed(uri, 1)] == ["unknown-grader-type"]
        editor.replace(uri, 2, SUITE + "\n")
        assert [problem.code for problem in await editor.pushed(uri, 2)] == ["unknown-grader-type"]
