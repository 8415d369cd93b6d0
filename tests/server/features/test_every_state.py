"""Every feature answers in every state of the text: random edits of real files, and no exception."""

import random
from pathlib import Path

import pytest

from tests.server.project.files import workspace_with
from tests.shared_corpus import SUITES, suite_files
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.features.actions.code_actions import code_actions, fix_all, fixed
from waza_language_server.features.completion.complete import Completion, complete
from waza_language_server.features.hover.hover import hover
from waza_language_server.features.runnables.code_lens import code_lenses
from waza_language_server.features.scores.inlay_hints import inlay_hints
from waza_language_server.project.document import Document
from waza_language_server.project.uris import uri_of
from waza_language_server.project.workspace import Workspace
from waza_language_server.syntax.tree import parse

EXAMPLES = Path(__file__).parents[3] / "examples"
TYPED = (
    *('"', "'", "[", "{", ":", "\t", "- ", "\n  ", "|", "#", "&a", "*a", "\0", "\r\n", "é😀", "\u2028"),
    *("---\n", ""),
)


def files() -> list[Path]:
    examples = [path for path in sorted(EXAMPLES.rglob("*.yaml")) if ".waza" not in path.parts]
    return examples + suite_files()[::40]


@pytest.mark.parametrize("path", files(), ids=lambda path: f"{path.parent.parent.name}/{path.name}")
@pytest.mark.parametrize("edits", [0, 1, 2])
def test_every_feature_answers_within_the_text(path: Path, edits: int) -> None:
    workspace = workspace_with(roots=(EXAMPLES, SUITES))
    kind = workspace.project.claim(path)
    if kind is None:
        pytest.skip("not a suite file")
    chance = random.Random(f"{path.name} {edits}")
    text = path.read_bytes().decode()
    for _ in range(edits):
        at = chance.randrange(len(text) + 1)
        text = text[:at] + chance.choice(TYPED) + text[at + chance.choice([0, 0, 1, 5, 40]) :]
    if edits > 1:
        text = text[: chance.randrange(len(text) + 1)]
    document = Document(uri_of(path), 1, text, kind)
    workspace = workspace.with_document(document)
    for lens in code_lenses(document, workspace):
        assert 0 <= lens.span.start <= lens.span.end <= len(text)
    assert all(0 <= hint.offset <= len(text) for hint in inlay_hints(document, workspace))
    for offset in chance.sample(range(len(text) + 1), min(20, len(text) + 1)):
        _check_completion(document, workspace, offset, chance, typed_on=edits > 0)
        explained = hover(document, workspace, offset, documentation="docs/")
        assert explained is None or 0 <= explained.span.start <= explained.span.end <= len(text)


@pytest.mark.parametrize("path", files()[::3], ids=lambda path: f"{path.parent.parent.name}/{path.name}")
def test_fixes_are_found_for_every_problem_without_an_exception(path: Path) -> None:
    workspace = workspace_with(roots=(EXAMPLES, SUITES))
    kind = workspace.project.claim(path)
    if kind is None:
        pytest.skip("not a suite file")
    chance = random.Random(path.name)
    text = path.read_bytes().decode()
    at = chance.randrange(len(text))
    document = Document(uri_of(path), 1, text[:at] + text[at + 1 :], kind)
    workspace = workspace.with_document(document)
    problems = diagnose(document, workspace)
    for problem in problems[:5]:
        code_actions(document, workspace, problem.span, problems)
    fix_all(document, fixed(document, workspace, problems))


def _check_completion(
    document: Document, workspace: Workspace, offset: int, chance: random.Random, *, typed_on: bool
) -> None:
    found = complete(document, workspace, offset).items
    assert len(found) <= 200
    for item in chance.sample(found, min(3, len(found))):
        span = item.edit.span
        assert span.start <= offset <= span.end
        assert "\n" not in document.text[span.start : span.end]
        if not typed_on and item.kind != "key":
            errors = parse(_with(document.text, item)).errors
            assert len(errors) <= len(document.tree.errors), (item.label, offset)


def _with(text: str, item: Completion) -> str:
    span = item.edit.span
    before = text[text.rfind("\n", 0, span.start) + 1 : span.start]
    indent = before[: len(before) - len(before.lstrip(" "))]
    return text[: span.start] + item.text_without_placeholders.replace("\n", f"\n{indent}") + text[span.end :]
