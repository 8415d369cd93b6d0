"""SKILL.md: frontmatter and body."""

from pathlib import Path

import pytest

from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.skill_file import load_skill_file


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "SKILL.md"
    path.write_text(text, "utf-8")
    return path


def test_name_description_and_body(tmp_path: Path) -> None:
    skill = load_skill_file(
        written(tmp_path, "---\nname: explainer\ndescription: >\n  Explains\n  code.\n---\n# How\n")
    )
    assert (skill.name, skill.description, skill.body) == ("explainer", "Explains code.\n", "# How\n")


def test_keys_that_are_not_known_are_left_out(tmp_path: Path) -> None:
    assert load_skill_file(written(tmp_path, "---\nname: a\nowner: me\n---\n")).name == "a"


def test_without_frontmatter_everything_is_body(tmp_path: Path) -> None:
    skill = load_skill_file(written(tmp_path, "# How\n---\n"))
    assert (skill.name, skill.body) == ("", "# How\n---\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: the file is empty"),
        ("---\nname: a\n", "1: the frontmatter has no closing line `---`"),
        ("---\nname: a\nname: b\n---\n", "3: `name` is set twice in this mapping; keep one of the two"),
        ("---\n- a\n---\n", "2: the frontmatter must be a block of keys, one `key: value` a line"),
        ("---\nname: a\ndescription: [x]\n---\n", "3: `description` must be text"),
    ],
)
def test_a_broken_skill_is_one_sentence_at_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SuiteFileError) as caught:
        load_skill_file(written(tmp_path, text))
    assert f"{caught.value.line}: {caught.value.message}" == message
