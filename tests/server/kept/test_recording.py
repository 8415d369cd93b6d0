"""What problems depend on is noted, all of it: where that has not changed a new server says the same."""

from __future__ import annotations

import builtins
import json
import os
import random
import shutil
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import waza_engine
import waza_language_server
from tests.server.kept.changes import change_something, install, programs_of
from tests.server.kept.suites import EVAL, FILES, documents_of, make, recorded, shown_by_new
from tests.shared_corpus import SUITES
from waza_engine.steps import Steps, finished
from waza_language_server.kept.conditions import Conditions, conditions_of
from waza_language_server.kept.recording import Recorded, recorded_in_steps
from waza_language_server.project.document import Document
from waza_language_server.project.index import Project
from waza_language_server.project.workspace import Workspace
from waza_language_server.schema.catalog import default_catalog

pytestmark = pytest.mark.check

EXAMPLES = Path(__file__).parents[3] / "examples"
ROUNDS = 30


@pytest.fixture(autouse=True)
def own_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = programs_of(tmp_path / "work")
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def test_the_same_is_shown_again_when_nothing_has_changed(tmp_path: Path) -> None:
    root = make(tmp_path / "work")
    kept = everything_kept(root)
    assert {path.name for path in kept} >= {"eval.yaml", "first.yaml", "trigger_tests.yaml", "SKILL.md"}
    assert {*kept} == {*documents_of(root, Project((root,)))}
    for path, (document, found) in kept.items():
        assert holds(found), path
        assert found.shown == shown_by_new(path, document, (root,))
    codes = {problem[2] for _, found in kept.values() for problem in list_of(found.shown)}
    assert codes >= {"missing-program", "missing-file", "no-matching-tasks", "duplicate-task-id"}


CHANGES: dict[str, Callable[[Path], object]] = {
    "a fixture is deleted": lambda root: (root / "evals/one/fixtures/data.txt").unlink(),
    "a fixture appears": lambda root: (root / "evals/one/fixtures/missing.txt").write_text("x"),
    "a task appears": lambda root: (root / "evals/one/tasks/gone.yaml").write_text(FILES[TASK_FILE]),
    "a task has another id": lambda root: (root / "evals/one/tasks/second.yaml").write_text("id: other\n"),
    "the eval file names a grader otherwise": lambda root: (root / "evals/one/eval.yaml").write_text(
        EVAL.replace("greets", "welcomes")
    ),
    "a program is installed": lambda root: install(programs_of(root)),
    "the project takes a problem less gravely": lambda root: (root / ".waza.yaml").write_text(
        "# waza: severity[missing-file=off]\n"
    ),
    "a script is deleted": lambda root: (root / "evals/one/checks/check.py").unlink(),
    "a script becomes a folder": lambda root: swap_for_folder(root / "evals/one/checks/check.py"),
    "the tasks are moved away": lambda root: (root / "evals/one/tasks").rename(root / "elsewhere"),
    "a fixture becomes a link to a folder": lambda root: swap_for_link(
        root / "evals/one/fixtures/data.txt", root / "skills"
    ),
    "hooks are added": lambda root: (root / "evals/one/eval.yaml").write_text(
        EVAL + "hooks: {before_run: [{command: make}]}\n"
    ),
}
TASK_FILE = "evals/one/tasks/first.yaml"


@pytest.mark.parametrize("change", CHANGES)
def test_nothing_is_shown_that_a_change_makes_wrong(tmp_path: Path, change: str) -> None:
    root = make(tmp_path / "work")
    kept = everything_kept(root)
    CHANGES[change](root)
    now = {path: shown_by_new(path, document, (root,)) for path, (document, _) in kept.items()}
    wrong = [path for path, (_, found) in kept.items() if now[path] != found.shown]
    assert wrong, "the change changes nothing"
    assert not any(holds(kept[path][1]) for path in wrong)


def test_nothing_wrong_is_shown_after_any_changes(tmp_path: Path) -> None:
    held = refused = 0
    for seed in range(ROUNDS):
        chance = random.Random(seed)
        root = make(tmp_path / "work")
        kept = everything_kept(root)
        said = [change_something(root, chance) for _ in range(chance.randint(1, 3))]
        for path, (document, found) in kept.items():
            if holds(found):
                held += 1
                assert found.shown == shown_by_new(path, document, (root,)), (seed, said, path)
            else:
                refused += 1
        for left in tmp_path.iterdir():
            shutil.rmtree(left) if left.is_dir() and not left.is_symlink() else left.unlink()
    assert held > ROUNDS
    assert refused > ROUNDS


def test_what_nobody_asks_for_may_change(tmp_path: Path) -> None:
    root = make(tmp_path / "work")
    kept = everything_kept(root)
    (root.parent / "another project").mkdir()
    (root / "evals/one/fixtures/data.txt").write_text("other data\n")
    # As an editor saves that writes beside the file first: the folder has another time and the same names.
    beside = root / "evals/one/tasks/.first.yaml.new"
    beside.write_text("x")
    beside.unlink()
    assert all(holds(found) for _, found in kept.values())


def test_what_was_changed_just_now_is_not_kept_yet(tmp_path: Path) -> None:
    """Within one tick of the file system another change would look like none."""
    root = make(tmp_path / "work")
    ahead = (root / "evals/one/tasks/first.yaml").stat().st_mtime + 3_600
    os.utime(root / "evals/one/tasks/first.yaml", (ahead, ahead))
    project = Project((root,))
    document = documents_of(root, project)[root / "evals/one/tasks/second.yaml"]
    with pytest.raises(AssertionError):
        recorded(document, project, wait_seconds=0.5)


def test_what_changes_while_it_is_looked_at_is_kept_later(tmp_path: Path) -> None:
    root = make(tmp_path / "work")
    project = Project((root,))
    path = root / "evals/one/tasks/first.yaml"
    document = documents_of(root, project)[root / "evals/one/eval.yaml"]

    def shown(_document: Document, _problems: object, seen: Project) -> Steps[object]:
        yield
        path.write_text(f"{path.read_text('utf-8')}# More.\n", "utf-8")
        seen.disk.stamp(path)

    workspace = Workspace(project, default_catalog())
    assert finished(recorded_in_steps(document, workspace, shown)) == "later"


@pytest.mark.parametrize("folder", [EXAMPLES, SUITES])
def test_everything_that_is_asked_of_the_disk_is_noted(folder: Path) -> None:
    if not folder.is_dir():
        pytest.skip("the sample suites are not beside this checkout")
    project = Project((folder,))
    documents = list(documents_of(folder, project).items())
    for path, document in documents[:: max(1, len(documents) // 40)]:
        for around in (Project((folder,)), project):
            with asked_of_the_disk() as asked:
                found = recorded(document, around)
            if found is None:
                continue
            noted = places_of(found.conditions)
            assert not [(what, place) for what, place in asked if place not in noted], path


def everything_kept(root: Path) -> dict[Path, tuple[Document, Recorded]]:
    project = Project((root,))
    kept = {path: (each, recorded(each, project)) for path, each in documents_of(root, project).items()}
    return {path: (document, found) for path, (document, found) in kept.items() if found is not None}


def holds(found: Recorded) -> bool:
    return conditions_of(json.loads(json.dumps(found.conditions.as_json()))).hold()


def list_of(shown: object) -> list[Any]:
    assert isinstance(shown, list)
    return shown


def swap_for_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def swap_for_link(path: Path, target: Path) -> None:
    path.unlink()
    path.symlink_to(target)


@contextmanager
def asked_of_the_disk() -> Generator[list[tuple[str, str]]]:
    """While this lasts, note what the system is asked of files and folders of this project's users."""
    own = [str(Path(package.__file__ or "").parent) for package in (waza_engine, waza_language_server)]
    own += [sys.prefix, sys.base_prefix]
    asked: list[tuple[str, str]] = []

    def noting(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def ask(place: Any, *arguments: Any, **more: Any) -> Any:
            path = os.fspath(place) if isinstance(place, str | os.PathLike) else ""
            if isinstance(path, str) and path and not path.startswith(tuple(own)):
                asked.append((name, path))
            return real(place, *arguments, **more)

        return ask

    with pytest.MonkeyPatch.context() as patch:
        for name in ("stat", "lstat", "scandir", "listdir", "open", "readlink", "access"):
            patch.setattr(os, name, noting(name, getattr(os, name)))
        patch.setattr(builtins, "open", noting("open", builtins.open))
        yield asked


def places_of(conditions: Conditions) -> set[str]:
    """Return where a change would be seen: by a stamp, by a name, or as a step of a path."""
    followed = {*conditions.resolved, *conditions.plain, *filter(None, conditions.resolved.values())}
    for path in map(Path, conditions.plain):
        # What is no link itself may stand in a folder that is one.
        followed.add(str(Path(conditions.resolved.get(str(path.parent)) or path.parent) / path.name))
    steps = {str(above) for path in followed for above in (Path(path), *Path(path).parents)}
    programs = {str(Path(folder) / name) for folder in os.get_exec_path() for name in conditions.programs}
    names = {str(Path(path).parent) for path in conditions.present}
    return {*conditions.stamps, *conditions.present, *conditions.folders, *steps, *programs, *names}
