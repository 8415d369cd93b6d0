"""The frontmatter of a ``SKILL.md`` is checked; what stands below it, and other agents' keys, are not."""

from pathlib import Path

import pytest

from tests.server.analysis.drawing import drawn, fixed, problems, problems_in
from tests.server.project.files import opened, put, workspace_with
from tests.shared_corpus import SUITES, needs_corpus
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.check import open_document
from waza_language_server.features.completion.complete import complete
from waza_language_server.features.renames.rename import rename
from waza_language_server.project.claim import claim
from waza_language_server.project.index import Project
from waza_language_server.project.workspace import Workspace
from waza_language_server.schema.catalog import default_catalog
from waza_language_server.syntax.tried_edits import apply

BODY = "---\n\n# How\n\nname: no key, and {not: [YAML   \n"
GOOD = f"---\nname: explainer\ndescription: Explains code.\n{BODY}"


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        GOOD.replace("\n", "\r\n"),
        f"\ufeff{GOOD}",
        "# No frontmatter\n",
        GOOD.replace("name:", "argument-hint: '[file]'\nhooks: {}\nallowed-tools: Read, Grep\nname:"),
        GOOD.replace("name:", "metadata: {version: 1.0}\ncompatibility: {agent: any}\nlicense: MIT\nname:"),
        GOOD.replace("name:", "mode: true\nname:"),
    ],
)
def test_a_good_skill_has_no_problems(text: str) -> None:
    assert not problems(text, "skill")


def test_misspelt_keys_are_marked_and_repaired() -> None:
    text = GOOD.replace("description", "descripton").replace("name:", "allowed_tools: [Read]\nname:")
    assert drawn(text, "skill") == (
        "\n⋯\n"
        "allowed_tools: [Read]\n"
        "^^^^^^^^^^^^^ warning unknown-key: `allowed_tools` is not a known key of a skill; did you mean "
        "`allowed-tools`?\n"
        "⋯\n"
        "descripton: Explains code.\n"
        "^^^^^^^^^^ warning unknown-key: `descripton` is not a known key of a skill; did you mean "
        "`description`?\n"
    )
    assert "\nallowed-tools: [Read]\n" in fixed(text, "unknown-key", "skill")


def test_what_is_missing_goes_before_the_closing_dashes() -> None:
    text = GOOD.replace("description: Explains code.\n", "")
    after = fixed(text, "recommended-key", "skill")
    assert after.startswith("---\nname: explainer\ndescription:\n---\n")
    assert after.endswith(f"\n{BODY}")


def test_a_missing_name_is_that_of_the_folder(tmp_path: Path) -> None:
    text = GOOD.replace("name: explainer\n", "")
    [problem] = problems_in(tmp_path, "pdf-tools/SKILL.md", text, "skill")
    assert apply(text, problem.fixes[0].edits).startswith(
        "---\ndescription: Explains code.\nname: pdf-tools\n---"
    )


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("description: [a]", "wrong-type"),
        ("description: " + "a" * 1025, "wrong-form"),
        ("user-invocable: maybe", "wrong-type"),
        ("metadata: 3", "wrong-type"),
        ("description: Use when: asked", "yaml-colon"),
    ],
)
def test_values_of_a_wrong_form_are_marked(line: str, code: str) -> None:
    text = GOOD.replace("description: Explains code.", line if "desc" in line else f"description: D\n{line}")
    (problem,) = problems(text, "skill")
    assert problem.span.end <= text.index(BODY)
    assert problem.code == code or code == "yaml-colon"


@pytest.mark.parametrize("name", ["Explainer", "my--skill", "-a", "a" * 65, "my skill"])
def test_a_name_of_another_form_is_marked(name: str) -> None:
    (problem,) = problems(GOOD.replace("explainer", name), "skill")
    assert (problem.code, problem.severity) == ("wrong-form", "warning")


def test_frontmatter_without_an_end_is_an_error_and_is_closed_where_it_ends() -> None:
    text = "---\nname: explainer\ndescription: >-\n  Explains.\n\n# How\n"
    (problem,) = problems(text, "skill")
    assert (problem.code, text[problem.span.start : problem.span.end]) == ("skill-frontmatter", "---")
    assert fixed(text, "skill-frontmatter", "skill") == text.replace("\n\n#", "\n---\n\n#")


def test_the_name_is_that_of_the_folder(tmp_path: Path) -> None:
    for folder in ("skills/explainer", "skills/other", "."):
        found = problems_in(tmp_path, f"{folder}/SKILL.md", GOOD, "skill")
        if folder != "skills/other":
            assert not found
            continue
        (problem,) = found
        assert problem.code == "skill-name"
        assert apply(GOOD, problem.fixes[0].edits) == GOOD.replace("explainer", "other")


def test_a_skill_is_completed_and_renamed_from_its_own_file(tmp_path: Path) -> None:
    text = GOOD.replace("description: Explains code.", "des")
    path = put(tmp_path, "explainer/SKILL.md", text)
    put(tmp_path, "explainer/evals/eval.yaml", "name: e\nskill: explainer\ntasks: [t.yaml]\nconfig: {}\n")
    document = opened(path, "skill")
    workspace = workspace_with(document, roots=(tmp_path,))
    labels = [item.label for item in complete(document, workspace, text.index("des") + 3).items]
    assert "description" in labels
    assert not complete(document, workspace, len(text)).items
    change = rename(document, workspace, text.index("explainer") + 2, "teacher", renames_files=True)
    assert change is not None
    assert [each.new_uri.rpartition("/")[2] for each in change.change.renames] == ["teacher"]
    texts = {file.uri.rpartition("/")[2]: apply(file.text, file.edits) for file in change.change.files}
    assert texts["SKILL.md"] == text.replace("explainer", "teacher")
    assert "skill: teacher\n" in texts["eval.yaml"]


@needs_corpus
def test_skills_of_the_samples_have_no_other_problems_than_long_descriptions() -> None:
    seen = 0
    for path in sorted(SUITES.rglob("SKILL.md")):
        workspace = Workspace(Project([SUITES / path.relative_to(SUITES).parts[0]]), default_catalog())
        document = open_document(workspace.project, path)
        if document is None:
            continue
        seen += 1
        found = diagnose(document, workspace)
        assert all("1024" in problem.message for problem in found), path
    assert seen > 50


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("opening", ["", "\n---\n", "\n \n---\n"])
def test_frontmatter_without_a_beginning_is_an_error_and_is_opened(opening: str, ending: str) -> None:
    text = GOOD.replace("---\n", opening, 1).replace("\n", ending)
    assert claim(Path("SKILL.md"), text) == "skill"
    (problem,) = problems(text, "skill")
    assert problem.code in {"skill-frontmatter", "yaml-syntax"}
    assert fixed(text, problem.code, "skill") == GOOD.replace("\n", ending)


@pytest.mark.parametrize(
    "text", ["", "# Title\n\nname: x\n---\n", "\n---\n\nRule\n", "name: x\n", "\n# T\n---\nname: a\n---\n"]
)
def test_a_page_without_frontmatter_is_none_of_ours(text: str) -> None:
    assert claim(Path("SKILL.md"), text) is None
