"""``evals.json`` in every state of its text, and edits of names and files that change it."""

import json
import random
from pathlib import Path

import pytest

from tests.server.project.files import opened, put, workspace_with
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.features.actions.code_actions import code_actions, fix_all, fixed
from waza_language_server.features.completion.complete import complete
from waza_language_server.features.document_structure import document_links, folds, outline, selections
from waza_language_server.features.hover.hover import hover
from waza_language_server.features.new_line import indent_new_line
from waza_language_server.features.renames.moved_files import moved_files
from waza_language_server.features.renames.rename import rename
from waza_language_server.features.runnables.code_lens import code_lenses
from waza_language_server.features.scores.inlay_hints import inlay_hints
from waza_language_server.features.semantic_tokens import semantic_tokens
from waza_language_server.project.workspace import Workspace
from waza_language_server.syntax.tried_edits import apply
from waza_language_server.text.span import Span
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
TYPED = (
    *('"', "'", "[", "{", "}", "]", ":", ",", "\t", "\n", "\\", "#", "//", "é😀", "\u2028", "\0", "\r\n"),
    *("null", "tru", '"a":', r"\ud83d", ""),
)


@pytest.fixture
def evals(tmp_path: Path) -> Path:
    put(tmp_path, "csv/SKILL.md", SKILL)
    put(tmp_path, "csv/evals/files/a.csv", "x")
    return put(tmp_path, "csv/evals/evals.json", EVALS)


def workspace_around(evals: Path) -> Workspace:
    return workspace_with(opened(evals, "evals_json"), roots=(evals.parents[2],))


@pytest.mark.parametrize("seed", range(30))
def test_every_feature_answers_in_every_state(evals: Path, seed: int) -> None:
    chance, text = random.Random(seed), EVALS
    for _ in range(seed % 4):
        at = chance.randrange(len(text) + 1)
        text = text[:at] + chance.choice(TYPED) + text[at + chance.choice([0, 0, 1, 5, 40]) :]
    document = opened(evals, "evals_json").replaced(text, 2)
    workspace = workspace_around(evals).with_document(document)
    problems = diagnose(document, workspace)
    spans = [problem.span for problem in problems]
    spans += [lens.span for lens in code_lenses(document, workspace)]
    spans += [link.span for link in document_links(document, workspace)]
    spans += [symbol.whole for symbol in outline(document)]
    assert all(0 <= span.start <= span.end <= len(text) for span in spans)
    assert all(0 <= hint.offset <= len(text) for hint in inlay_hints(document, workspace))
    code_actions(document, workspace, Span(0, len(text)), problems)
    fix_all(document, fixed(document, workspace, problems))
    folds(document, 100)
    semantic_tokens(document, workspace)
    for offset in chance.sample(range(len(text) + 1), min(25, len(text) + 1)):
        for item in complete(document, workspace, offset).items:
            assert item.edit.span.start <= offset <= item.edit.span.end
        hover(document, workspace, offset, documentation="docs/")
        selections(document, offset)
        assert indent_new_line(document, workspace, offset) is None


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
