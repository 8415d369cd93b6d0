"""Squiggles as a client gets them: pushed or pulled, in its encoding, of the newest text, cleared in time."""

from pathlib import Path

import psutil
import pytest
from lsprotocol import types

from tests.protocol.editor import TASK, Editor, editing, suite_with, write_suite
from waza_language_server.protocol.services.shown_problems import MOST_SHOWN

pytestmark = [pytest.mark.check, pytest.mark.asyncio(loop_scope="module")]

SUITE = suite_with("""\
graders:
  - type: text
    name: greets
    config:
      contains: [hello]
""")
MISSPELT = SUITE.replace("contains", "containz")


@pytest.fixture
def suite(own_folder: Path) -> Path:
    return write_suite(own_folder, SUITE, one=TASK)


def places(diagnostics: list[types.Diagnostic]) -> list[tuple[int, int, int]]:
    """Return (line, first column, last column) of each."""
    return [(d.range.start.line, d.range.start.character, d.range.end.character) for d in diagnostics]


async def test_a_client_that_waits_gets_them_pushed_with_the_version(editor: Editor, suite: Path) -> None:
    uri = editor.open(suite, MISSPELT, version=7)
    diagnostics = await editor.pushed(uri, 7)
    assert places(diagnostics) == [(8, 6, 14)]
    assert (diagnostics[0].source, diagnostics[0].code) == ("waza", "unknown-key")


async def test_a_client_that_asks_gets_none_pushed(suite: Path) -> None:
    async with editing(suite.parent, pulls=True) as editor:
        uri = editor.open(suite, MISSPELT)
        assert places(await editor.problems(uri)) == [(8, 6, 14)]
        editor.replace(uri, 2, SUITE)
        assert await editor.problems(uri) == []
        assert editor.publications == {}


async def test_asking_twice_says_that_nothing_changed(suite: Path) -> None:
    async with editing(suite.parent, pulls=True) as editor:
        uri = editor.open(suite, MISSPELT)
        first = await editor.pull(uri)
        params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri), None, first.result_id)
        again = await editor.text_document_diagnostic_async(params)
        assert again == types.RelatedUnchangedDocumentDiagnosticReport(result_id=first.result_id or "")
        editor.insert(uri, 2, 0, 0, "# moved down\n")
        moved = await editor.text_document_diagnostic_async(params)
        assert isinstance(moved, types.RelatedFullDocumentDiagnosticReport)


async def test_only_the_newest_of_many_edits_is_judged(editor: Editor, suite: Path) -> None:
    uri = editor.open(suite)
    await editor.pushed(uri, 1)
    for version in range(2, 102):
        editor.insert(uri, version, 6, 16, "s")
    await editor.pushed(uri, 101)
    assert editor.publications[uri] < 60


async def test_several_changes_in_one_message_build_on_each_other(editor: Editor, suite: Path) -> None:
    uri = editor.open(suite)
    at = types.Position(8, 14)
    first = types.TextDocumentContentChangePartial(types.Range(at, at), "z")
    after = types.Position(8, 15)
    second = types.TextDocumentContentChangePartial(types.Range(at, after), "y")
    editor.edit(uri, 2, first, second)
    (diagnostic,) = await editor.pushed(uri, 2)
    assert "`containsy`" in diagnostic.message


async def test_closing_clears_them(editor: Editor, suite: Path) -> None:
    uri = editor.open(suite, MISSPELT)
    assert await editor.pushed(uri, 1)
    editor.close(uri)
    await editor.until(lambda: not editor.diagnostics[uri])


async def test_an_edit_of_the_suite_reaches_its_open_tasks(editor: Editor, suite: Path) -> None:
    task = suite.parent / "tasks" / "one.yaml"
    own = TASK + "graders:\n  - type: text\n    name: greets\n    config:\n      contains: [hi]\n"
    evaluation, uri = editor.open(suite), editor.open(task, own)
    await editor.until(lambda: editor.diagnostics.get(uri))
    editor.replace(evaluation, 2, SUITE.replace("greets", "welcomes"))
    await editor.until(lambda: not editor.diagnostics[uri])


async def test_a_file_changed_outside_is_looked_at_again(suite: Path) -> None:
    missing = SUITE.replace("tasks/*.yaml", "tasks/two.yaml")
    async with editing(suite.parent, pulls=True) as editor:
        uri = editor.open(suite, missing)
        before = await editor.problems(uri)
        other = suite.parent / "tasks" / "two.yaml"
        other.write_text(TASK.replace("one", "two"), "utf-8")
        editor.changed(other, kind=types.FileChangeType.Created)
        await editor.until(lambda: editor.diagnostic_refresh_count)
        assert len(await editor.problems(uri)) <= len(before)


async def test_suite_files_and_results_are_watched(suite: Path) -> None:
    async with editing(suite.parent) as editor:
        await editor.until(lambda: editor.registrations)
        options: object = editor.registrations[0].register_options
        assert editor.registrations[0].method == types.WORKSPACE_DID_CHANGE_WATCHED_FILES
        assert ".waza/results/*.json" in str(options)


@pytest.mark.parametrize(
    ("encoding", "column"),
    [
        (types.PositionEncodingKind.Utf8, 29),
        (types.PositionEncodingKind.Utf16, 26),
        (types.PositionEncodingKind.Utf32, 25),
    ],
)
async def test_columns_count_as_the_client_does(
    suite: Path, encoding: types.PositionEncodingKind, column: int
) -> None:
    text = SUITE.replace("      contains: [hello]", '      {contains: ["é😀"], containz: [a]}')
    async with editing(suite.parent, encodings=[encoding]) as editor:
        uri = editor.open(suite, text)
        (diagnostic,) = await editor.pushed(uri, 1)
        assert places([diagnostic]) == [(8, column, column + len("containz"))]
        # An edit behind the emoji must land where the client means it.
        editor.edit(uri, 2, types.TextDocumentContentChangePartial(diagnostic.range, "not_contains"))
        assert await editor.pushed(uri, 2) == []


async def test_a_file_becomes_ours_while_it_is_typed(editor: Editor, suite: Path) -> None:
    other = suite.parent / "more.yaml"
    uri = editor.open(other, "")
    assert await editor.lenses(uri) == []
    editor.replace(uri, 2, MISSPELT)
    assert places(await editor.pushed(uri, 2)) == [(8, 6, 14)]


async def test_an_unsaved_untitled_suite_is_checked(editor: Editor, own_folder: Path) -> None:
    editor.open_uri("untitled:Untitled-1", MISSPELT)
    await editor.until(lambda: "untitled:Untitled-1" in editor.diagnostics)
    assert "unknown-key" in [d.code for d in editor.diagnostics["untitled:Untitled-1"]]


async def test_a_pattern_that_would_take_gigabytes_is_one_problem_among_others(suite: Path) -> None:
    bomb = "(" * 200 + "a" + "){1,1000}" * 200
    text = MISSPELT + f"  - type: text\n    name: b\n    config:\n      regex_match: ['{bomb}', 'a(?=b)']\n"
    async with editing(suite.parent, pulls=True) as editor:
        uri = editor.open(suite, text)
        codes = [problem.code for problem in await editor.problems(uri)]
        assert sorted(map(str, codes)) == ["invalid-pattern", "pattern-not-portable", "unknown-key"]
        assert psutil.Process(editor.process_id).memory_info().rss < 300_000_000


@pytest.mark.parametrize("pulls", [False, True])
async def test_of_very_many_problems_the_gravest_are_shown_and_the_last_says_how_many_are_not(
    suite: Path, *, pulls: bool
) -> None:
    errors = "".join(f"  - {{type: text, name: g{at}, config: 1}}\n" for at in range(MOST_SHOWN))
    warnings = "".join(f"unknown{at}: 1\n" for at in range(40))
    async with editing(suite.parent, pulls=pulls) as editor:
        uri = editor.open(suite, SUITE + errors + warnings)
        if not pulls:
            # Those at the beginning are shown before.
            await editor.until(lambda: len(editor.diagnostics.get(uri, ())) == MOST_SHOWN)
        shown = await editor.problems(uri)
        assert len(shown) == MOST_SHOWN
        assert {problem.severity for problem in shown} == {types.DiagnosticSeverity.Error}
        assert places(shown) == sorted(places(shown))
        assert "40 more problems are not shown" in shown[-1].message
        assert "waza-language-server check" in shown[-1].message
        assert not any("not shown" in problem.message for problem in shown[:-1])
