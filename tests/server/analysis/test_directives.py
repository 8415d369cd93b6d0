"""Comments and settings say which problems are wanted and how grave they are."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.server.analysis.drawing import TASK, problems
from tests.server.project.files import opened, put, workspace_with
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.analysis.directives import known_severities
from waza_language_server.project.document import Document

MISSPELT = "tagz: [a]\n"


def codes(text: str) -> list[tuple[str, str]]:
    return [(problem.code, problem.severity) for problem in problems(text)]


@pytest.mark.parametrize(
    "text",
    [
        f"{TASK}tagz: [a]  # waza: ignore[unknown-key]\n",
        f"{TASK}tagz: [a]  # because # waza: ignore[wrong-type, unknown-key]\n",
        f"{TASK}tagz: [a]  # waza: ignore\n",
        f"{TASK}# waza: ignore[unknown-key]\ntagz: [a]\n",
        f"# waza: ignore-file[unknown-key]\n{TASK}{MISSPELT}",
        f"{TASK}{MISSPELT}# waza: severity[unknown-key=off]\n",
    ],
)
def test_a_comment_leaves_a_problem_out(text: str) -> None:
    assert codes(f"{TASK}{MISSPELT}") == [("unknown-key", "warning")]
    assert codes(text) == []


@pytest.mark.parametrize(
    "text",
    [
        f"{TASK}tagz: [a]  # waza: ignore[wrong-type]\n",
        f"{TASK}tagz: [a]  # waza: ignore[]\n",
        f"{TASK}tags: [a]  # waza: ignore\ntagz: [a]\n",
        f"{TASK.replace('Go', '|')}    # waza: ignore-file\n{MISSPELT}",
    ],
)
def test_a_comment_leaves_out_only_what_it_names(text: str) -> None:
    assert codes(text) == [("unknown-key", "warning")]


ASSERTIONS = f"{TASK}graders:\n  - type: code\n    name: c\n    config:\n      assertions:\n"
IGNORE = "# waza: ignore[assertion-unknown-name]"


@pytest.mark.parametrize(
    "item",
    [
        f"- | {IGNORE}\n          len(output) > 3 and\n          outptu\n",
        f"- >- {IGNORE}\n          len(output) > 3 and\n          outptu\n",
        f"{IGNORE}\n        - |\n          len(output) > 3 and\n          outptu\n",
        f"- 'len(output) > 3 and {IGNORE}\n          outptu' {IGNORE}\n",
        f"{IGNORE}\n        - len(output) > 3 and\n          outptu\n",
        f"- outptu > '3' {IGNORE}\n",
    ],
)
def test_a_comment_at_a_text_over_several_lines_is_about_all_of_it(item: str) -> None:
    assert "assertion-unknown-name" not in dict(codes(f"{ASSERTIONS}        {item}"))
    assert "assertion-unknown-name" in dict(codes(f"{ASSERTIONS}        {item}        - outptu > 4\n"))


def test_a_comment_inside_a_string_is_a_part_of_it() -> None:
    text = f"{ASSERTIONS}        - |\n          outptu {IGNORE}\n"
    assert codes(text) == [("assertion-unknown-name", "error")]


def test_a_comment_says_how_grave_a_code_is() -> None:
    assert codes(f"# waza: severity[unknown-key=error]\n{TASK}{MISSPELT}") == [("unknown-key", "error")]


def test_the_file_wins_over_the_project_and_the_project_over_the_client(tmp_path: Path) -> None:
    put(tmp_path, ".waza.yaml", "# waza: severity[unknown-key=hint]\npaths: {}\n")
    task = put(tmp_path, "tasks/a.yaml", TASK + MISSPELT)
    own = put(tmp_path, "tasks/b.yaml", f"{TASK}{MISSPELT}# waza: severity[unknown-key=error]\n")
    settings = {"unknown-key": "off"}
    workspace = replace(workspace_with(roots=(tmp_path,)), severities=settings)
    found = [diagnose(opened(path, "task"), workspace)[0].severity for path in (task, own)]
    assert found == ["hint", "error"]
    assert diagnose(Document("untitled:t", 0, TASK + MISSPELT, "task"), workspace) == ()


def test_what_a_client_gives_and_is_no_severity_is_passed_over() -> None:
    assert known_severities({"a": "off", "b": "loud", "c": 3, 4: "off"}) == {"a": "off"}
    assert known_severities(["a"]) == {}


@pytest.mark.parametrize(
    ("comment", "marked", "right"),
    [
        ("# waza: ignore[unknwon-key]", "unknwon-key", "unknown-key"),
        ("# waza: ignore-file[wrong-type, tags]", "tags", None),
        ("# waza: severity[unknown-key=errr]", "errr", "error"),
        ("# waza: severity[unknownkey=off, wrong-type=hint]", "unknownkey", "unknown-key"),
    ],
)
def test_a_comment_that_names_no_code_is_marked(comment: str, marked: str, right: str | None) -> None:
    text = f"{TASK}{comment}\ntags: [a]\n"
    (problem,) = problems(text)
    assert (problem.code, text[problem.span.start : problem.span.end]) == ("unknown-code", marked)
    assert [fix.title for fix in problem.fixes] == ([f"Change to `{right}`"] if right else [])


@pytest.mark.parametrize(
    "text",
    [
        f"{TASK}tags: [a]  # waza: ignore[*]\n",
        f"{TASK}tags: [a]  # waza: severity[unknown-key = off , wrong-type=hint]\n",
        f"{TASK.replace('Go', '|')}    # waza: ignore[nothing]\n",
    ],
)
def test_other_comments_and_texts_are_left_alone(text: str) -> None:
    assert problems(text) == ()
