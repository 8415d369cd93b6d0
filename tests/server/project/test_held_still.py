"""While the disk is held still each folder and each link is looked at once; else it is seen as it is."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from tests.server.project.files import put
from waza_engine.steps import Steps, finished
from waza_language_server.analysis.problem import Problem
from waza_language_server.check import check_paths
from waza_language_server.features.document_links import document_links
from waza_language_server.project import disk
from waza_language_server.project.disk import Disk, stamp_of
from waza_language_server.project.document import Document
from waza_language_server.project.index import Project
from waza_language_server.project.reach import Links, Reach
from waza_language_server.project.reading_ahead import read_ahead
from waza_language_server.project.uris import uri_of
from waza_language_server.project.workspace import Workspace
from waza_language_server.protocol.services.session import Session
from waza_language_server.protocol.services.workspace_problems import WorkspaceProblems
from waza_language_server.schema.catalog import default_catalog


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> Counter[Path]:
    """How often each file or folder was looked at."""
    looked_at: Counter[Path] = Counter()

    def counting_stamp(path: Path) -> object:
        looked_at[path] += 1
        return stamp_of(path)

    monkeypatch.setattr(disk, "stamp_of", counting_stamp)
    return looked_at


def test_a_check_of_many_files_looks_at_each_folder_as_often_as_one_of_few(
    tmp_path: Path, looked_at: Counter[Path]
) -> None:
    looks: list[tuple[int, int]] = []
    for size in (4, 40):
        folder, tasks = tmp_path / str(size), tmp_path / str(size) / "tasks"
        put(folder, "eval.yaml", "name: s\nskill: s\ntasks: [tasks/*.yaml]\ngraders: []\n")
        for number in range(size):
            put(tasks, f"{number}.yaml", f"id: t{number}\nname: T\ninputs:\n  prompt: Go\n")
        looked_at.clear()
        assert len(list(check_paths([folder]))) == size + 1
        looks.append((looked_at[folder], looked_at[tasks]))
    assert looks[0] == looks[1]


def test_what_is_held_still_around_is_known_within(tmp_path: Path) -> None:
    held = Disk()

    def looking() -> Steps[int]:
        yield
        return len(held.names(tmp_path).value)

    with held.held_still():
        assert held.names(tmp_path).value == ()
        put(tmp_path, "new.yaml", "")
        assert finished(held.held_still_in_steps(looking())) == 0
        assert held.is_still
    assert finished(held.held_still_in_steps(looking())) == 1
    assert not held.is_still


def test_long_work_looks_again_after_a_time(tmp_path: Path) -> None:
    held = Disk()
    seen: list[int] = []

    def looking() -> Steps[None]:
        for number in range(3):
            seen.append(len(held.names(tmp_path).value))
            put(tmp_path, f"{number}.yaml", "")
            yield

    finished(held.held_still_in_steps(looking(), seconds=60))
    finished(held.held_still_in_steps(looking(), seconds=0))
    assert seen == [0, 0, 0, 3, 3, 3]


def test_folders_above_are_not_looked_at_for_each_file_of_a_workspace(
    tmp_path: Path, looked_at: Counter[Path]
) -> None:
    for number in range(30):
        put(tmp_path, f"s{number}/eval.yaml", "name: s\nskill: s\ntasks: [tasks/*.yaml]\ngraders: []\n")
        put(tmp_path, f"s{number}/tasks/one.yaml", "id: one\nname: T\ninputs:\n  prompt: Go\n")
    session = Session([tmp_path])

    def shown(document: Document, problems: tuple[Problem, ...]) -> Steps[list[str]]:
        yield
        return [f"{document.uri} {problem.code}" for problem in problems]

    reports = finished(WorkspaceProblems(session, shown).reports({}))
    assert len(reports) == 30
    # Once a second, and in between where a file is asked for by itself.
    assert looked_at[tmp_path] < 30
    looked_at.clear()
    finished(read_ahead(session.workspace))
    assert looked_at[tmp_path] < 30


def test_links_lead_where_the_system_says(tmp_path: Path) -> None:
    put(tmp_path, "real/below/file.yaml", "")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "real" / "up").symlink_to("..")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "gone").symlink_to("nowhere")
    links = Links()
    links.known = {}
    for path in (
        "real/below/file.yaml",
        "link/below/file.yaml",
        "link/up/link/below",
        "link/../real",
        "link/./below",
        "link/below/",
        "loop/x/y",
        "gone/x",
        "missing/x",
        "",
    ):
        place = f"{tmp_path}/{path}"
        assert links.resolved(place) == os.path.realpath(place), path
    assert links.resolved("relative/x") == os.path.realpath("relative/x")
    with pytest.raises(ValueError, match="null"):
        links.resolved("/x\0y")


def test_a_link_that_is_changed_is_followed_anew_by_the_next_question(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    put(inside, "real/file.yaml", "")
    put(outside, "file.yaml", "")
    link = inside / "link"
    link.symlink_to(inside / "real")
    held = Disk(Reach([inside]))
    boundary = held.reach.around(inside)
    with held.held_still():
        assert boundary.holds(link / "file.yaml")
    link.unlink()
    link.symlink_to(outside)
    assert not boundary.holds(link / "file.yaml")
    with held.held_still():
        assert not boundary.holds(link / "file.yaml")
        # What is opened is looked at anew, whatever is remembered.
        link.unlink()
        link.symlink_to(inside / "real")
        assert held.text(link / "file.yaml").known


def test_the_links_of_a_document_look_at_each_folder_once(tmp_path: Path, looked_at: Counter[Path]) -> None:
    put(tmp_path, "eval.yaml", "name: s\nskill: s\ntasks: [tasks/*.yaml]\ngraders: []\n")
    names = [f"f{number}.txt" for number in range(50)]
    for name in names:
        put(tmp_path, f"fixtures/{name}", "x")
    listed = "".join(f"    - path: {name}\n" for name in names)
    text = f"id: t\nname: T\ninputs:\n  prompt: Go\n  files:\n{listed}"
    task = put(tmp_path, "tasks/t.yaml", text)
    workspace = Workspace(Project([tmp_path]), default_catalog())
    workspace.project.suites_of(task)
    document = Document(uri_of(task), 1, text, "task")
    looked_at.clear()
    links = finished(document_links(document, workspace))
    assert [link.target.name for link in links] == names
    assert looked_at[tmp_path / "fixtures"] == 1
