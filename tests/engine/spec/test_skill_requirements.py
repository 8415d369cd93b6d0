"""What a ``SKILL.md`` promises has the ids of ``waza spec verify``, and tests name it by their words."""

import pytest

from waza_engine.spec.skill_requirements import SkillRequirement, SpokenTest, names, skill_requirements

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
