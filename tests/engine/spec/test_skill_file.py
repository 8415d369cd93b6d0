"""SKILL.md: frontmatter and body."""

from pathlib import Path

import pytest

from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.skill_file import load_skill_file
from waza_engine.spec.skill_requirements import SkillRequirement, SpokenTest, names, skill_requirements


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


# --- what a SKILL.md promises ---


SUMMARIZER = """\
Summarize PR diffs.
USE FOR: summarize a PR diff, summarize PR
  discussion (short).
DO NOT USE FOR: code review of security PRs (use security-review).
INVOKES: gh.
"""


def ids(description: str, body: str = "", parameters: tuple[str, ...] = ()) -> dict[str, str]:
    return {found.id: found.text for found in skill_requirements(description, parameters, body)}


def test_phrases_are_told_apart_by_commas_up_to_the_next_label() -> None:
    assert ids(SUMMARIZER) == {
        "req-use-001": "summarize a PR diff",
        "req-use-002": "summarize PR discussion",
        "req-dont-001": "code review of security PRs",
    }


def test_of_a_list_with_quotes_what_is_quoted_counts() -> None:
    found = ids('Use for: "fill a form, quickly", or when asked “merge these”. DO NOT USE FOR: "print".')
    assert list(found.values()) == ["fill a form, quickly", "merge these", "print"]


def test_parameters_of_the_frontmatter_come_before_those_of_the_body() -> None:
    body = """\
# Deployer
- no: parameter
## Parameters
- `environment`: Target
* region - Azure region
- bare

| Name | Meaning |
|------|:-------:|
| `count` | How many |
## Steps
- one: step
"""
    found = skill_requirements("Deploys.", ("first: one",), body)
    assert [(each.id, each.text, each.line) for each in found] == [
        ("req-param-001", "first: one", None),
        ("req-param-002", "environment: Target", 3),
        ("req-param-003", "region: Azure region", 4),
        ("req-param-004", "bare", 5),
        ("req-param-005", "count: How many", 9),
    ]


def requirement(text: str, kind: str = "use") -> SkillRequirement:
    (found,) = skill_requirements(f"{'DO NOT USE' if kind == 'dont' else 'USE'} FOR: {text}", (), "")
    return found


@pytest.mark.parametrize(
    ("phrase", "test", "named"),
    [
        ("fill forms", "Please fill-forms now", True),
        ("fill forms", "Fill this form", True),
        ("fill forms", "Fill this", False),
        ("extract text from scanned pages", "extract the text of pages", True),
        ("extract text from scanned pages", "extract pages", False),
        ("the new", "the new", True),
        ("the new", "something else", False),
        ("résumé", "Rate my résumé!", True),
        ("fill forms", "", False),
    ],
)
def test_a_test_names_a_phrase_or_all_of_its_words_but_one_of_many(
    phrase: str, test: str, named: bool
) -> None:
    assert names(SpokenTest.of([test]), requirement(phrase)) is named


def test_what_a_skill_is_not_for_is_named_where_it_stays_silent() -> None:
    wanted = requirement("print pages", "dont")
    assert not names(SpokenTest.of(["print pages"]), wanted)
    assert names(SpokenTest.of(["print pages"], avoids=True), wanted)
    assert names(SpokenTest.of(["print pages", "negative"]), wanted)
