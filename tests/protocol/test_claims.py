"""Which open documents are ours: after every message what a session that has just begun would say of them."""

import random
from pathlib import Path

import pytest

from tests.protocol.editor import TASK, editing, suite_with, write_suite
from waza_language_server.project.uris import uri_of
from waza_language_server.protocol.services.session import Change, Session

pytestmark = pytest.mark.check

SUITE = suite_with("""\
graders:
  - {type: text, name: greets, config: {contains: [hello]}}
""")
OF_CASES = SUITE.replace("tasks/", "cases/")
FOREIGN = "providers: [openai]\nprompts: [hello]\ntests: []\n"
NO_TASK = "note: one\n"
EVALS = (SUITE, OF_CASES, FOREIGN, "", SUITE.replace('tasks: ["', 'tasks: ["x'))
TASKS = (TASK, NO_TASK, "name: one\ntags: [a]\n", FOREIGN)
TEXTS = {
    ".waza.yaml": ("files: {evalFile: suite.yaml}\n", "files: {evalFile: other.yaml}\n", ""),
    "eval.yaml": EVALS,
    "suite.yaml": EVALS,
    "tasks/one.yaml": TASKS,
    "cases/two.yaml": TASKS,
    "cases/eval.yaml": EVALS,
}


@pytest.mark.parametrize("saves", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_claims_are_those_of_a_session_that_has_just_begun(tmp_path: Path, seed: int, *, saves: bool) -> None:
    randomness = random.Random(seed)
    paths = {uri_of(tmp_path / name): tmp_path / name for name in TEXTS}
    for name, texts in TEXTS.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(randomness.choice(texts), "utf-8")
    session = Session([tmp_path])
    unsaved: set[str] = set()
    for version in range(1, 60):
        uri, path = randomness.choice(list(paths.items()))
        text = randomness.choice(TEXTS[path.relative_to(tmp_path).as_posix()])
        what = randomness.choice(["edit", "edit", "edit", "save", "close", "disk"])
        if what == "disk":
            path.write_text(text, "utf-8")
            session.files_changed()
        elif what == "close":
            session.close(uri)
        elif session.text(uri) is None:
            session.open(uri, "yaml", version, text or FOREIGN)
        elif what == "edit":
            session.change(uri, version, [Change(text)])
            unsaved.add(uri)
        if (what == "edit" and saves) or what == "save":
            session.saved(uri)
            unsaved.discard(uri)
        if what == "close":
            unsaved.discard(uri)
        if randomness.random() < 0.7:
            compare(session, tmp_path, unsaved, randomness)
    for uri in session.uris:
        session.saved(uri)
    compare(session, tmp_path, set(), randomness)


def compare(session: Session, root: Path, unsaved: set[str], randomness: random.Random) -> None:
    """Compare with a new session, unless what an author is still writing is kept for a while."""
    session.read_all()
    told = {uri: document.kind for uri in session.uris if (document := session.document(uri))}
    fresh = Session([root])
    uris = list(session.uris)
    randomness.shuffle(uris)
    for uri in uris:
        fresh.open(uri, "yaml", 1, session.text(uri) or "")
    fresh.read_all()
    expected = {uri: document.kind for uri in uris if (document := fresh.document(uri))}
    if all(uri not in told or expected.get(uri) == told[uri] for uri in unsaved):
        assert told == expected


@pytest.mark.parametrize("pulls", [False, True])
async def test_a_file_is_ours_as_long_as_an_open_suite_names_it(tmp_path: Path, *, pulls: bool) -> None:
    suite = write_suite(tmp_path, SUITE)
    case = suite.parent / "cases" / "two.yaml"
    case.parent.mkdir()
    case.write_text(NO_TASK, "utf-8")
    async with editing(suite.parent, pulls=pulls) as editor:
        task = editor.open(case)
        uri = editor.open(suite)

        async def settled(codes: set[str]) -> None:
            if pulls:
                await editor.problems(uri)
                assert {str(one.code) for one in await editor.problems(task)} == codes
            else:
                await editor.until(lambda: {str(d.code) for d in editor.diagnostics.get(task, [])} == codes)

        assert await editor.lenses(task) == []
        editor.replace(uri, 2, OF_CASES)
        await settled({"unknown-key", "missing-key", "recommended-key"})
        assert len(await editor.lenses(task)) == 1
        editor.replace(uri, 3, SUITE)
        await settled(set())
        assert await editor.lenses(task) == []
        editor.replace(uri, 4, OF_CASES)
        await settled({"unknown-key", "missing-key", "recommended-key"})
        # What stood there was not saved.
        editor.close(uri)
        if pulls:
            assert await editor.problems(task) == []
        else:
            await editor.until(lambda: not editor.diagnostics.get(task))


def test_a_file_that_is_open_by_two_uris_is_unsaved_until_both_are_closed(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, SUITE, one="id: saved\nname: One\ninputs: {prompt: Go}\n")
    task = tmp_path / "tasks" / "one.yaml"
    uri, other = uri_of(task), uri_of(task).replace("one.yaml", "%6Fne.yaml")
    session = Session([tmp_path])
    session.open(uri_of(suite), "yaml", 1, SUITE)

    def said() -> str | None:
        session.read_all()
        return session.project.outline(task).id

    for opened in (uri, other):
        session.open(opened, "yaml", 1, "id: unsaved\nname: One\ninputs: {prompt: Go}\n")
    assert said() == "unsaved"
    session.close(other)
    assert said() == "unsaved"
    session.close(uri)
    assert said() == "saved"


def test_a_document_is_claimed_again_when_it_is_saved(tmp_path: Path) -> None:
    task = tmp_path / "tasks" / "one.yaml"
    suite = tmp_path / "eval.yaml"
    session = Session([tmp_path])
    session.open(uri_of(task), "yaml", 1, "name: one\ntags: [a]\n")
    assert session.document(uri_of(task)) is None
    session.open(uri_of(suite), "yaml", 1, "name: s\nskill: s\ntasks: [tasks/*.yaml]\ngraders: []\n")
    for path in (suite, task):
        session.check_claims_again(uri_of(path))
    document = session.document(uri_of(task))
    assert document is not None
    assert document.kind == "task"
