"""Another name for a grader, a task, a skill or an anchor: every place, each in its own style."""

from pathlib import Path

import pytest

from tests.server.features.suites import EVAL, FIRST, OWN, Opened, open_at_cursor
from waza_language_server.features.renames.rename import RenameError, Renaming, renamable, rename
from waza_language_server.project.document import Document

AT_GRADER = EVAL.replace("name: polite", "name: pol<CURSOR>ite")
AT_TASK = FIRST.replace("first", "fir<CURSOR>st", 1)


def renamed(opened: Opened, name: str, *, renames_files: bool = True) -> Renaming:
    found = rename(opened.document, opened.workspace, opened.offset, name, renames_files=renames_files)
    assert found is not None
    return found


def at_task(folder: Path, tasks: str = "tasks/*.yaml", **others: str) -> Opened:
    files = {"eval.yaml": EVAL.replace("tasks/*.yaml", tasks), "tasks/first.yaml": AT_TASK}
    return open_at_cursor(
        folder, files | {f"tasks/{name}.yaml": text for name, text in others.items()}, "task"
    )


def test_a_grader_is_renamed_in_all_files_of_the_suite_and_nowhere_else(tmp_path: Path) -> None:
    files = {
        "eval.yaml": AT_GRADER,
        "tasks/first.yaml": FIRST,
        "other/eval.yaml": EVAL,
        "other/tasks/own.yaml": OWN,
    }
    opened = open_at_cursor(tmp_path, files, "eval")
    assert opened.after(renamed(opened, "kind").change) == {
        "eval.yaml": EVAL.replace("polite", "kind"),
        "tasks/first.yaml": FIRST.replace("polite", "kind"),
    }


INLINE_OWN = f"{EVAL}    graders: [{{type: text, name: polite, config: {{contains: [a]}}}}]\n"


@pytest.mark.parametrize(
    "files",
    [
        {"eval.yaml": AT_GRADER, "tasks/first.yaml": FIRST, "tasks/own.yaml": OWN},
        {
            "tasks/own.yaml": OWN.replace("name: pol", "name: pol<CURSOR>"),
            "tasks/first.yaml": FIRST,
            "eval.yaml": EVAL,
        },
        {"tasks/own.yaml": OWN.replace("[pol", "[pol<CURSOR>"), "tasks/first.yaml": FIRST, "eval.yaml": EVAL},
        {
            "eval.yaml": INLINE_OWN.replace("name: polite, c", "name: pol<CURSOR>ite, c"),
            "tasks/first.yaml": FIRST,
        },
    ],
    ids=["suite", "task", "expected", "inline"],
)
def test_a_grader_that_overrides_another_stays_its_override(files: dict[str, str], tmp_path: Path) -> None:
    opened = open_at_cursor(tmp_path, files, "task" if next(iter(files)).startswith("tasks") else "eval")
    expected = {name: text.replace("<CURSOR>", "").replace("polite", "kind") for name, text in files.items()}
    assert opened.after(renamed(opened, "kind").change) == expected


def test_a_name_that_needs_quotes_gets_them(tmp_path: Path) -> None:
    opened = open_at_cursor(tmp_path, {"eval.yaml": AT_GRADER, "tasks/first.yaml": FIRST}, "eval")
    assert "graders: ['a, b'] # kept" in opened.after(renamed(opened, "a, b").change)["tasks/first.yaml"]


def test_a_task_takes_its_file_along(tmp_path: Path) -> None:
    opened = at_task(tmp_path)
    found = renamed(opened, "second")
    assert opened.after(found.change) == {"tasks/second.yaml": FIRST.replace("first", "second")}
    assert found.kept_file is None


def test_the_paths_that_list_the_file_follow(tmp_path: Path) -> None:
    opened = at_task(tmp_path, "'./tasks/first.yaml'")
    after = opened.after(renamed(opened, "second").change)
    assert after["eval.yaml"] == EVAL.replace("tasks/*.yaml", "'./tasks/second.yaml'")
    assert set(after) == {"eval.yaml", "tasks/second.yaml"}


def test_a_client_that_renames_no_files_gets_the_text_alone(tmp_path: Path) -> None:
    opened = at_task(tmp_path)
    found = renamed(opened, "second", renames_files=False)
    assert opened.after(found.change) == {"tasks/first.yaml": FIRST.replace("first", "second")}
    assert found.kept_file == tmp_path / "tasks" / "first.yaml"


@pytest.mark.parametrize("name", ["what/ever", "a:b", "third", "..", "trailing."])
def test_a_file_that_cannot_have_the_name_keeps_its_own(tmp_path: Path, name: str) -> None:
    opened = at_task(tmp_path, third="id: other\ninputs: {prompt: Go}\n")
    found = renamed(opened, name)
    assert found.change.renames == ()
    assert found.kept_file is not None


def test_a_file_that_the_suite_would_lose_keeps_its_name(tmp_path: Path) -> None:
    opened = at_task(tmp_path, "tasks/f*.yaml")
    assert renamed(opened, "second").change.renames == ()
    assert renamed(opened, "fifth").change.renames != ()


def test_a_file_that_is_called_otherwise_keeps_its_name(tmp_path: Path) -> None:
    files = {"eval.yaml": EVAL, "tasks/01.yaml": AT_TASK}
    opened = open_at_cursor(tmp_path, files, "task")
    found = renamed(opened, "second")
    assert (found.change.renames, found.kept_file) == ((), None)


def test_an_inline_task_is_renamed_where_it_stands(tmp_path: Path) -> None:
    opened = open_at_cursor(tmp_path, {"eval.yaml": EVAL.replace("id: inline", "id: in<CURSOR>line")}, "eval")
    assert opened.after(renamed(opened, "x").change) == {"eval.yaml": EVAL.replace("inline", "x")}


def test_a_skill_is_not_renamed_from_an_older_version_of_a_file(tmp_path: Path) -> None:
    files = {
        "eval.yaml": EVAL.replace("skill: dep", "skill: d<CURSOR>ep"),
        "SKILL.md": "---\nname: deployer\n---\n",
    }
    opened = open_at_cursor(tmp_path, files, "eval")
    uri = opened.document.uri.replace("file:", "git:") + "?ref=HEAD"
    shown = Document(uri, 0, opened.document.text, "eval")
    with pytest.raises(RenameError, match="only shows one of them"):
        rename(shown, opened.workspace, opened.offset, "shipper", renames_files=True)


def test_an_anchor_is_renamed_with_its_aliases(tmp_path: Path) -> None:
    text = "graders: &<CURSOR>all\n  - {type: text, name: a}\nmore: *all\n"
    opened = open_at_cursor(tmp_path, {"eval.yaml": f"skill: x\n{text}"}, "eval")
    after = opened.after(renamed(opened, "every").change)
    assert after["eval.yaml"].count("every") == 2
    with pytest.raises(RenameError, match="cannot be the name of an anchor"):
        renamed(opened, "two words")
    with pytest.raises(RenameError, match="cannot be the name of an anchor"):
        renamed(opened, "größe")


def test_the_sign_of_an_anchor_in_a_comment_below_it_is_no_anchor(tmp_path: Path) -> None:
    text = (
        "skill: x\n&k x-limits: &a  # as &a, and # &a\n  # &a\n  max_tool_calls: 5\n"
        "graders:\n  - {type: behavior, name: a, config: *<CURSOR>a}\n"
    )
    opened = open_at_cursor(tmp_path, {"eval.yaml": text}, "eval")
    after = opened.after(renamed(opened, "every").change)
    expected = text.replace("x-limits: &a", "x-limits: &every").replace("*<CURSOR>a", "*every")
    assert after["eval.yaml"] == expected


@pytest.mark.parametrize(
    ("files", "kind", "name"),
    [
        ({"eval.yaml": AT_GRADER, "tasks/first.yaml": FIRST}, "eval", "agreement"),
        ({"eval.yaml": AT_GRADER, "tasks/own.yaml": OWN.replace("polite", "own")}, "eval", "own"),
        (
            {"eval.yaml": EVAL, "tasks/own.yaml": OWN.replace("name: p", "name: <CURSOR>p")},
            "task",
            "agreement",
        ),
        ({"eval.yaml": EVAL, "tasks/first.yaml": AT_TASK}, "task", "inline"),
        ({"eval.yaml": AT_GRADER}, "eval", "  "),
    ],
)
def test_a_name_that_is_taken_or_blank_is_refused(
    tmp_path: Path, files: dict[str, str], kind: str, name: str
) -> None:
    opened = open_at_cursor(tmp_path, files, "task" if kind == "task" else "eval")
    with pytest.raises(RenameError):
        renamed(opened, name)


def test_what_can_be_renamed_is_told_without_its_quotes(tmp_path: Path) -> None:
    text = EVAL.replace('graders: ["polite"]', 'graders: ["po<CURSOR>lite"]')
    opened = open_at_cursor(tmp_path, {"eval.yaml": text}, "eval")
    found = renamable(opened.document, opened.workspace, opened.offset)
    assert found is not None
    assert (opened.document.text[found.span.start : found.span.end], found.name) == ("polite", "polite")


@pytest.mark.parametrize("written", ['<CURSOR>"polite"', '"polite"<CURSOR>'])
def test_what_can_be_renamed_holds_the_cursor_at_a_quote(tmp_path: Path, written: str) -> None:
    text = EVAL.replace('graders: ["polite"]', f"graders: [{written}]")
    opened = open_at_cursor(tmp_path, {"eval.yaml": text}, "eval")
    found = renamable(opened.document, opened.workspace, opened.offset)
    assert found is not None
    assert found.name == "polite"
    assert found.span.start <= opened.offset <= found.span.end


def test_a_path_is_renamed_by_moving_its_file(tmp_path: Path) -> None:
    opened = open_at_cursor(tmp_path, {"eval.yaml": EVAL.replace("tasks/*", "tas<CURSOR>ks/*")}, "eval")
    assert renamable(opened.document, opened.workspace, opened.offset) is None


REQUIRED = """\
id: first
name: First
inputs: {prompt: Go}
graders:
- {type: text, name: polite, config: {contains: [a]}}
checkpoints:
- after_turn: 1
  graders: [{type: text, name: polite, config: {contains: [a]}}]
- after_turn: 2
  graders: [{type: text, name: polite, config: {contains: [a]}}]
requirements:
- id: r
  checks:
  - {scope: eval, grader: polite}
  - {scope: task, grader: polite}
  - {scope: checkpoint, after_turn: 2, grader: "polite"}
"""


@pytest.mark.parametrize(
    ("place", "checked"), [("graders:\n- {", "task,"), ("2\n  graders: [{", "2,"), ("eval, ", "")]
)
def test_a_requirement_follows_the_grader_that_it_means(place: str, checked: str, tmp_path: Path) -> None:
    key = "name" if checked else "grader"
    _, tail = REQUIRED.split(place + (f"type: text, {key}: " if checked else f"{key}: "))
    marked = f"{REQUIRED[: len(REQUIRED) - len(tail)]}<CURSOR>{tail}"
    opened = open_at_cursor(tmp_path, {"eval.yaml": EVAL, "tasks/first.yaml": marked}, "task")
    after = opened.after(renamed(opened, "kind").change)
    head, checkpoints, requirements = REQUIRED.partition(
        "  graders: [{type: text, name: polite, config: {contains: [a]}}]\nreq"
    )
    if checked == "2,":
        expected = head + checkpoints.replace("polite", "kind") + requirements.replace('"polite"', '"kind"')
        assert after == {"tasks/first.yaml": expected}
    else:
        # That of the task overrides that of the suite: both have the new name.
        own = head.replace("graders:\n- {type: text, name: polite", "graders:\n- {type: text, name: kind")
        expected = own + checkpoints + requirements.replace("grader: polite", "grader: kind")
        assert after == {"tasks/first.yaml": expected, "eval.yaml": EVAL.replace("polite", "kind")}


@pytest.mark.parametrize("name", [".inf", "-.INF", ".NaN", "<<", "="])
def test_a_name_that_others_take_for_a_sign_gets_quotes(name: str, tmp_path: Path) -> None:
    opened = open_at_cursor(tmp_path, {"eval.yaml": AT_GRADER, "tasks/first.yaml": FIRST}, "eval")
    assert f"graders: ['{name}'] # kept" in opened.after(renamed(opened, name).change)["tasks/first.yaml"]
