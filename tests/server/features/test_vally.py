"""Completion, hover and quick fixes in Vally's files: from its schemas, never from those of suites."""

from pathlib import Path

import pytest

from tests.server.project.files import workspace_with
from waza_engine.spec.vally.grader_options import GRADERS
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.features.actions.code_actions import code_actions
from waza_language_server.features.completion.complete import complete
from waza_language_server.features.hover.hover import hover
from waza_language_server.project.document import Document, DocumentKind
from waza_language_server.project.index import Project
from waza_language_server.project.uris import uri_of
from waza_language_server.project.workspace import Workspace
from waza_language_server.schema.catalog import default_catalog
from waza_language_server.text.span import Span


def at_cursor(text: str, kind: DocumentKind = "vally_eval") -> tuple[Document, int]:
    return Document("untitled:a.eval.yaml", 0, text.replace("|", "", 1), kind), text.index("|")


def labels(text: str, kind: DocumentKind = "vally_eval") -> list[str]:
    document, offset = at_cursor(text, kind)
    return [item.label for item in complete(document, workspace_with(), offset).items]


STIMULUS = "stimuli:\n  - name: a\n    prompt: Go\n"


@pytest.mark.parametrize(
    ("text", "first"),
    [
        (f"|\n{STIMULUS}", ["description", "name", "version"]),
        (f"{STIMULUS}    |\n", ["description", "turns", "graders"]),
        (f"defaults:\n  |\n{STIMULUS}", ["runs", "timeout", "model"]),
        (f"{STIMULUS}    graders:\n      - type: tool-calls\n        config:\n          |", ["required"]),
        (f"{STIMULUS}    constraints:\n      |", ["max_turns", "max_tokens"]),
        (f"defaults:\n  executor: |\n{STIMULUS}", []),
        (f"defaults:\n  reasoning_effort: |\n{STIMULUS}", ["low", "medium", "high", "xhigh"]),
        (f"{STIMULUS}    graders:\n      - type: git|", []),
    ],
)
def test_keys_and_values(text: str, first: list[str]) -> None:
    found = labels(text)
    assert set(first) <= set(found)
    assert not {"tasks", "skill", "trials_per_task", "tool_constraint"} & set(found)


def test_older_keys_come_last() -> None:
    assert labels(f"|\n{STIMULUS}")[-1] == "config"
    assert labels(f"{STIMULUS}    constraints:\n      |")[-1] == "max_duration_ms"


def test_grader_types_are_those_of_vally() -> None:
    assert set(labels(f"{STIMULUS}    graders:\n      - type: |\n")) == GRADERS.keys()
    assert set(labels(f"{STIMULUS}    graders:\n      - |\n")) > GRADERS.keys()


def test_names_of_environments_and_paths_of_skills(tmp_path: Path) -> None:
    (tmp_path / ".vally.yaml").write_text("environments: {docs: {}, dotnet: {}}\n")
    (tmp_path / "skills" / "tea").mkdir(parents=True)
    for text, expected in (
        (f"environment: |\n{STIMULUS}", ["docs", "dotnet"]),
        (f"environment:\n  skills:\n    - skills/|\n{STIMULUS}", ["skills/tea/"]),
    ):
        document, offset = at_cursor(text)
        document = Document(uri_of(tmp_path / "a.eval.yaml"), 0, document.text, "vally_eval")
        workspace = Workspace(Project([tmp_path]), default_catalog()).with_document(document)
        found = [item.label for item in complete(document, workspace, offset).items]
        assert set(expected) <= set(found)


def test_keys_of_the_project_file() -> None:
    assert labels("|", "vally_project") == ["paths", "environments", "suites", "plugins", "metadata"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("con|fig: {runs: 1}\n", "write `defaults` instead"),
        (f"{STIMULUS}    simu|lation: {{}}\n", "**Since** Vally 0.17."),
        (f"{STIMULUS}    graders:\n      - type: out|put-matches\n", "found in the last answer"),
        (f"{STIMULUS}    graders:\n      - type: wall-time\n        config: {{m|ax: 3s}}\n", "longest time"),
        (f"scoring: {{thres|hold: 0.8}}\n{STIMULUS}", "Without it every grader must pass."),
    ],
)
def test_hover(text: str, expected: str) -> None:
    document, offset = at_cursor(text)
    found = hover(document, workspace_with(), offset, documentation="file:///docs/")
    assert found is not None
    assert expected in found.text
    assert "file:///docs/" not in found.text


def test_a_quick_fix_is_offered_as_a_code_action() -> None:
    text = f"config: {{runs: 1, timeout: 120}}\n{STIMULUS}    graders: [{{type: completed}}]\n"
    document = Document("untitled:a.eval.yaml", 0, text, "vally_eval")
    workspace = workspace_with().with_document(document)
    found = code_actions(document, workspace, Span(0, len(text)), diagnose(document, workspace))
    assert {"Rename to `defaults`", "Write `120s`"} <= {action.title for action in found}
