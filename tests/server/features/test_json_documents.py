"""``evals.json`` in every state of its text, and edits of names and files that change it."""

import json
from pathlib import Path

import pytest

from tests.server.project.files import opened, put, workspace_with
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.features.actions.code_actions import fix_all, fixed
from waza_language_server.features.renames.moved_files import moved_files
from waza_language_server.features.renames.rename import rename
from waza_language_server.project.workspace import Workspace
from waza_language_server.syntax.tried_edits import apply
from waza_language_server.text.workspace_edit import WorkspaceEdit

SKILL = "---\nname: csv\ndescription: Charts of CSV files.\n---\n"
EVALS = r"""{
  "skill_name": "csv",
  "evals": [
    {
      "id": 1,
      "prompt": "Sum \ud83d\ude00 a.csv",
      "expected_output": "A sum.",
      "files": ["evals/files/a.csv"],
      "assertions": ["It names the total.", {"type": "content", "pattern": "tot(al|\\d+)"}]
    },
    {"id": "two", "prompt": "x", "expectations": [{"type": "file_exists", "path": "b.md"}]}
  ]
}
"""


@pytest.fixture
def evals(tmp_path: Path) -> Path:
    put(tmp_path, "csv/SKILL.md", SKILL)
    put(tmp_path, "csv/evals/files/a.csv", "x")
    return put(tmp_path, "csv/evals/evals.json", EVALS)


def workspace_around(evals: Path) -> Workspace:
    return workspace_with(opened(evals, "evals_json"), roots=(evals.parents[2],))


def test_all_safe_fixes_together_keep_valid_json(evals: Path) -> None:
    text = EVALS.replace('"prompt": "x"', '"promt": "x"')
    text = text.replace('["evals/files/a.csv"]', '"evals/files/a.csv"')
    document = opened(evals, "evals_json").replaced(text, 2)
    workspace = workspace_around(evals).with_document(document)
    action = fix_all(document, fixed(document, workspace, diagnose(document, workspace)))
    assert action is not None
    assert after(action.change, evals) == EVALS


def test_a_renamed_skill_has_its_new_name_in_its_evals(evals: Path) -> None:
    workspace = workspace_around(evals)
    document = opened(evals.parents[1] / "SKILL.md", "skill")
    renaming = rename(document, workspace, SKILL.index("csv"), "charts", renames_files=True)
    assert renaming is not None
    assert after(renaming.change, evals) == EVALS.replace('"csv"', '"charts"')


def test_a_renamed_file_has_its_new_name_in_its_cases(evals: Path) -> None:
    file = evals.parent / "files" / "a.csv"
    change = moved_files(workspace_around(evals), {file: file.with_name("b c.csv")})
    assert after(change, evals) == EVALS.replace("files/a.csv", "files/b c.csv")


def after(change: WorkspaceEdit, path: Path) -> str:
    """Return the text of a file after a change; it has to be JSON."""
    (edited,) = [file for file in change.files if file.uri.endswith(path.name)]
    text = apply(edited.text, edited.edits)
    json.loads(text)
    return text
