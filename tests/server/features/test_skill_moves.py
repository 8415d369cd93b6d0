"""Another name for a skill: its folder follows, and no suite has a problem that it did not have before."""

from pathlib import Path

import pytest

from tests.server.features.suites import Opened, open_at_cursor
from tests.server.project.files import put
from waza_language_server.check import check_paths
from waza_language_server.features.renames.rename import RenameError, rename

EVAL = """\
name: deploys
skill: deployer
config:
  trials_per_task: 1
  timeout_seconds: 60
  executor: copilot-sdk
  model: claude-sonnet-4.6
graders:
  - {type: text, name: polite, config: {contains: [please]}}
tasks:
  - {id: inline, name: Inline, inputs: {prompt: Go}, expected: {graders: [polite]}}
"""
AT_SKILL = EVAL.replace("deployer", "dep<CURSOR>loyer")
LISTED = AT_SKILL.replace("config:\n", "config:\n  skill_directories: [DIRECTORY]\n", 1)
SKILL = "---\nname: deployer\ndescription: Deploys. Use when asked to.\n---\nBody.\n"
AGENT = "---\nname: deployer\ndescription: Deploys.\n---\n"
NAMELESS = "---\ndescription: Deploys. Use when asked to.\n---\nBody.\n"


def renamed(opened: Opened, name: str = "shipper", *, renames_files: bool = True) -> dict[str, str]:
    """Return the changed texts and those of renamed folders, under their new names."""
    found = rename(opened.document, opened.workspace, opened.offset, name, renames_files=renames_files)
    assert found is not None
    return opened.after(found.change)


def problems(folder: Path) -> set[str]:
    return {finding.code for report in check_paths([folder]) for finding in report.findings}


def made_anew(opened: Opened, texts: dict[str, str], folder: Path) -> set[str]:
    """Return the problems of the suite as it is after a rename: what moved is written at its new place."""
    for name, text in texts.items():
        put(folder, name, text)
    for path in opened.folder.rglob("*"):
        name = path.relative_to(opened.folder).as_posix()
        if path.is_file() and not (folder / name).exists() and not name.startswith("skills/deployer/"):
            put(folder, name, path.read_text("utf-8"))
    return problems(folder)


@pytest.mark.parametrize("cursor", ["eval", "skill"])
def test_the_folder_is_renamed_with_the_skill_and_all_is_right(tmp_path: Path, cursor: str) -> None:
    files = {"evals/eval.yaml": EVAL, "skills/deployer/SKILL.md": SKILL}
    name = "evals/eval.yaml" if cursor == "eval" else "skills/deployer/SKILL.md"
    files[name] = files[name].replace("deployer", "dep<CURSOR>loyer")
    opened = open_at_cursor(tmp_path / "before", files, "eval" if cursor == "eval" else "skill")
    before = problems(opened.folder)
    after = renamed(opened)
    assert after == {
        "evals/eval.yaml": EVAL.replace("deployer", "shipper"),
        "skills/shipper/SKILL.md": SKILL.replace("deployer", "shipper"),
    }
    assert made_anew(opened, after, tmp_path / "after") <= before


def test_paths_through_the_folder_follow_those_of_the_suite_in_it_stay(tmp_path: Path) -> None:
    listed = EVAL.replace("config:\n", "config:\n  skill_directories: [../skills/deployer]\n", 1)
    inside = AT_SKILL.replace("config:\n", "config:\n  skill_directories: [.., ../../deployer]\n", 1)
    files = {
        "evals/eval.yaml": listed,
        "skills/deployer/evals/eval.yaml": inside,
        "skills/deployer/SKILL.md": SKILL,
    }
    after = renamed(open_at_cursor(tmp_path, files, "eval"))
    assert after["evals/eval.yaml"] == listed.replace("deployer", "shipper")
    assert after["skills/shipper/evals/eval.yaml"] == inside.replace("<CURSOR>", "").replace(
        "deployer", "shipper"
    )
    assert set(after) == {
        "evals/eval.yaml",
        "skills/shipper/evals/eval.yaml",
        "skills/shipper/SKILL.md",
    }


def test_a_skill_that_is_left_out_by_its_directory_stays_left_out(tmp_path: Path) -> None:
    disabled = EVAL.replace("skill: deployer", "skill: other").replace(
        "config:\n", "config:\n  skill_directories: [skills]\n  disabled_skills: [./skills/deployer]\n", 1
    )
    files = {"eval.yaml": disabled, "skills/deployer/SKILL.md": SKILL.replace("deployer", "d<CURSOR>eployer")}
    after = renamed(open_at_cursor(tmp_path, files, "skill"))
    assert after["eval.yaml"] == disabled.replace("deployer", "shipper")


def test_a_skill_without_a_name_is_called_like_its_folder(tmp_path: Path) -> None:
    files = {"eval.yaml": AT_SKILL, "skills/deployer/SKILL.md": NAMELESS}
    after = renamed(open_at_cursor(tmp_path, files, "eval"))
    assert after == {
        "eval.yaml": EVAL.replace("deployer", "shipper"),
        "skills/shipper/SKILL.md": NAMELESS,
    }


def test_a_skill_in_a_hidden_folder_is_renamed_where_the_suite_finds_it(tmp_path: Path) -> None:
    eval_file = LISTED.replace("DIRECTORY", ".claude/skills")
    files = {"eval.yaml": eval_file, ".claude/skills/deployer/SKILL.md": SKILL}
    after = renamed(open_at_cursor(tmp_path, files, "eval"))
    assert after[".claude/skills/shipper/SKILL.md"] == SKILL.replace("deployer", "shipper")


@pytest.mark.parametrize("place", [".agent/skills", ".agents/skills", ".apm/skills", "pack/.claude/skills"])
def test_a_suite_beside_a_skill_that_an_agent_keeps_follows_its_name(tmp_path: Path, place: str) -> None:
    files = {
        "eval.yaml": AT_SKILL,
        f"{place}/deployer/SKILL.md": SKILL,
        f"{place}/deployer/evals/eval.yaml": EVAL,
    }
    after = renamed(open_at_cursor(tmp_path, files, "eval"))
    assert after[f"{place}/shipper/SKILL.md"] == SKILL.replace("deployer", "shipper")
    assert after[f"{place}/shipper/evals/eval.yaml"] == EVAL.replace("deployer", "shipper")


@pytest.mark.parametrize(
    ("file", "text", "new"),
    [
        ("deployer.agent.md", "---\ndescription: Deploys.\n---\n", "shipper.agent.md"),
        ("some.agent.md", AGENT, "some.agent.md"),
    ],
)
def test_an_agent_is_renamed_in_its_file_or_with_it(tmp_path: Path, file: str, text: str, new: str) -> None:
    eval_file = LISTED.replace("DIRECTORY", "agents")
    after = renamed(open_at_cursor(tmp_path, {"eval.yaml": eval_file, f"agents/{file}": text}, "eval"))
    assert after[f"agents/{new}"] == text.replace("deployer", "shipper")


def test_a_folder_that_is_called_otherwise_already_keeps_its_name(tmp_path: Path) -> None:
    files = {"eval.yaml": AT_SKILL, "skills/d/SKILL.md": SKILL}
    after = renamed(open_at_cursor(tmp_path, files, "eval"))
    assert after["skills/d/SKILL.md"] == SKILL.replace("deployer", "shipper")


def test_a_checkout_keeps_its_name(tmp_path: Path) -> None:
    files = {"eval.yaml": AT_SKILL, "SKILL.md": SKILL}
    after = renamed(open_at_cursor(tmp_path / "deployer", files, "eval"))
    assert set(after) == {"eval.yaml", "SKILL.md"}


def test_folders_in_folders_of_one_name_are_all_renamed(tmp_path: Path) -> None:
    files = {"skills/deployer/SKILL.md": SKILL, "skills/deployer/deployer/SKILL.md": SKILL}
    listed = LISTED.replace("DIRECTORY", "skills/deployer, skills/deployer/deployer")
    opened = open_at_cursor(tmp_path, {"eval.yaml": listed, **files}, "eval")
    found = rename(opened.document, opened.workspace, opened.offset, "shipper", renames_files=True)
    assert found is not None
    moves = [(opened.name(each.uri), opened.name(each.new_uri)) for each in found.change.renames]
    assert moves == [
        ("skills/deployer/deployer", "skills/deployer/shipper"),
        ("skills/deployer", "skills/shipper"),
    ]
    (changed,) = [file.edits for file in found.change.files if file.uri.endswith("eval.yaml")]
    assert [edit.text for edit in changed] == ["shipper", "skills/shipper", "skills/shipper/shipper"]


@pytest.mark.parametrize(
    ("files", "name", "reason"),
    [
        ({"skills/deployer/SKILL.md": SKILL}, "Two Words", "must be at most 64 small letters"),
        ({"skills/deployer/SKILL.md": SKILL, "skills/shipper/notes.md": ""}, "shipper", "shipper exists"),
        (
            {
                "skills/deployer/SKILL.md": SKILL,
                "skills/s/SKILL.md": SKILL.replace("name: deployer", "name: shipper"),
            },
            "shipper",
            "Another skill is called `shipper`",
        ),
        (
            {"skills/d/SKILL.md": SKILL.replace("name: d", "name: D")},
            "shipper",
            "called `Deployer` in ",
        ),
        (
            {"skills/deployer/SKILL.md": SKILL, "more/eval.yaml": EVAL.replace("skill: d", "skill: D")},
            "shipper",
            "called `Deployer` in more/eval.yaml",
        ),
        ({"SKILL.md": NAMELESS}, "shipper", "write a `name`"),
    ],
)
def test_a_name_that_would_leave_something_wrong_is_refused(
    tmp_path: Path, files: dict[str, str], name: str, reason: str
) -> None:
    opened = open_at_cursor(tmp_path / "deployer", {"eval.yaml": AT_SKILL, **files}, "eval")
    with pytest.raises(RenameError, match=reason):
        renamed(opened, name)


def test_a_client_that_renames_no_folders_is_told_what_to_do_first(tmp_path: Path) -> None:
    files = {"eval.yaml": AT_SKILL, "skills/deployer/SKILL.md": SKILL}
    opened = open_at_cursor(tmp_path, files, "eval")
    with pytest.raises(RenameError, match=r"lets no server rename files; rename the folder first"):
        renamed(opened, renames_files=False)


def test_a_skill_that_is_not_among_the_files_is_renamed_where_it_is_named(tmp_path: Path) -> None:
    opened = open_at_cursor(tmp_path, {"eval.yaml": AT_SKILL}, "eval")
    assert renamed(opened, renames_files=False) == {"eval.yaml": EVAL.replace("deployer", "shipper")}
