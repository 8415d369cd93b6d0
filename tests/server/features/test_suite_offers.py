"""Which skill an empty eval file is most likely meant for."""

from pathlib import Path

import pytest

from tests.server.project.files import workspace_with
from waza_language_server.features.completion.complete import complete
from waza_language_server.features.new_suite import suite_offers
from waza_language_server.project.document import Document
from waza_language_server.project.uris import uri_of

SKILLS = ("alpha", "docx", "pdf", "pdf-filler", "pdf-merge", "web-search")


@pytest.mark.parametrize(
    ("folder", "first"),
    [
        ("evals/pdf", ["pdf", "pdf-filler", "pdf-merge"]),
        ("evals/docx-skill", ["docx"]),
        ("evals/pdf-filler/smoke", ["pdf-filler", "pdf", "pdf-merge"]),
        ("evals/pdf_filler", ["pdf-filler"]),
        ("tests/WebSearch", ["web-search"]),
        ("evals/merge", ["pdf-merge"]),
        ("skills/web-search/evals", ["web-search"]),
        ("evals", list(SKILLS)),
        ("", list(SKILLS)),
    ],
)
def test_the_skill_that_the_folders_mean_comes_first(tmp_path: Path, folder: str, first: list[str]) -> None:
    for name in SKILLS:
        _write_skill(tmp_path / "skills" / name, name)
    assert _offered(tmp_path, folder)[: len(first)] == first


def test_the_skill_of_a_whole_workspace_comes_behind_what_the_folders_name(tmp_path: Path) -> None:
    _write_skill(tmp_path, "everything")
    for name in SKILLS:
        _write_skill(tmp_path / "skills" / name, name)
    assert _offered(tmp_path, "evals/docx")[0] == "docx"
    assert _offered(tmp_path, "evals")[0] == "everything"


def test_a_skill_may_be_called_otherwise_than_its_folder(tmp_path: Path) -> None:
    _write_skill(tmp_path / "skills" / "alpha", "alpha")
    _write_skill(tmp_path / "skills" / "forms", "fills-pdfs")
    assert _offered(tmp_path, "evals/forms")[0] == "fills-pdfs"


def test_the_same_skill_comes_first_behind_the_key(tmp_path: Path) -> None:
    for name in SKILLS:
        _write_skill(tmp_path / "skills" / name, name)
    path = tmp_path / "evals" / "pdf-filler" / "eval.yaml"
    path.parent.mkdir(parents=True)
    document = Document(uri_of(path), 1, "name: x\nskill: ", "eval")
    workspace = workspace_with(document, roots=(tmp_path,))
    items = complete(document, workspace, len(document.text)).items
    assert [item.label for item in items][:3] == ["pdf-filler", "pdf", "pdf-merge"]
    assert {item.label for item in items} == set(SKILLS)


def _offered(root: Path, folder: str) -> list[str]:
    path = root / folder / "eval.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    document = Document(uri_of(path), 1, "", "eval")
    return [offer.skill for offer in suite_offers(document, workspace_with(document, roots=(root,)))]


def _write_skill(folder: Path, name: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: Does it.\n---\n", "utf-8")
