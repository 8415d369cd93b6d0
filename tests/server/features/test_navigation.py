"""Definition, references, highlights and symbols: who names what in the files of a suite."""

from pathlib import Path

import pytest

from tests.server.features.suites import EVAL, FIRST, OWN, Opened, open_at_cursor
from waza_language_server.features.navigation import (
    all_references,
    definition,
    highlights,
    workspace_symbols,
)
from waza_language_server.project.document import DocumentKind
from waza_language_server.project.uris import uri_of

SKILL = "---\nname: deployer\ndescription: Deploys.\n---\nDo it.\n"


def suite(folder: Path, kind: DocumentKind = "eval", **changed: str) -> Opened:
    files = {"eval.yaml": EVAL, "tasks/first.yaml": FIRST, "tasks/own.yaml": OWN, "SKILL.md": SKILL}
    names = {"evaluation": "eval.yaml", "first": "tasks/first.yaml", "own": "tasks/own.yaml"}
    files |= {names[name]: text for name, text in changed.items()}
    return open_at_cursor(folder, files, kind)


def defined(opened: Opened) -> list[str]:
    found = definition(opened.document, opened.workspace, opened.offset)
    return [opened.line(place) for place in found]


def named(opened: Opened) -> list[str]:
    found = all_references(opened.document, opened.workspace, opened.offset)
    return [opened.line(place) for place in found]


POLITE = ["eval.yaml:6 polite", "eval.yaml:10 polite", "eval.yaml:16 polite", "tasks/first.yaml:5 polite"]
OWN_POLITE = ["tasks/own.yaml:6 polite", "tasks/own.yaml:9 polite"]
ALIASED = EVAL.replace("config: {contains: [please]}", "config: &here {contains: [please]}").replace(
    "config: {calibrate_grader: polite}", "config: *he<CURSOR>re"
)


@pytest.mark.parametrize(
    ("changed", "text", "definitions", "references"),
    [
        ("evaluation", EVAL.replace("name: polite", "name: pol<CURSOR>ite"), POLITE[:1], POLITE),
        ("first", FIRST.replace("[polite]", "[<CURSOR>polite]"), POLITE[:1], [POLITE[3], *POLITE[:3]]),
        ("own", OWN.replace("[polite]", "[polite<CURSOR>]"), OWN_POLITE[:1], OWN_POLITE),
        (
            "evaluation",
            EVAL.replace("skill: deployer", "skill: deploy<CURSOR>er"),
            ["SKILL.md:2 deployer"],
            ["eval.yaml:2 deployer", "SKILL.md:2 deployer"],
        ),
        (
            "evaluation",
            EVAL.replace("tasks/*", "tas<CURSOR>ks/*"),
            ["tasks/first.yaml:1", "tasks/own.yaml:1"],
            ["eval.yaml:12 tasks/*.yaml"],
        ),
        (
            "first",
            FIRST.replace("first", "fir<CURSOR>st", 1),
            ["tasks/first.yaml:1 first"],
            ["tasks/first.yaml:1 first", "eval.yaml:12 tasks/*.yaml"],
        ),
        ("evaluation", ALIASED, ["eval.yaml:7 here"], ["eval.yaml:7 here", "eval.yaml:10 here"]),
        # Keys and free text name nothing.
        ("evaluation", EVAL.replace("graders:", "grad<CURSOR>ers:", 1), [], []),
        ("evaluation", EVAL.replace("please", "ple<CURSOR>ase"), [], []),
    ],
)
def test_what_a_name_leads_to_and_where_it_stands(
    tmp_path: Path, changed: str, text: str, definitions: list[str], references: list[str]
) -> None:
    opened = suite(tmp_path, "eval" if changed == "evaluation" else "task", **{changed: text})
    assert defined(opened) == definitions
    assert named(opened) == references


def test_a_glob_of_several_files_and_a_path_to_none_are_named_where_they_stand(tmp_path: Path) -> None:
    opened = suite(tmp_path, evaluation=EVAL.replace("tasks/*", "tas<CURSOR>ks/*"))
    marked = highlights(opened.document, opened.workspace, opened.offset)
    assert [opened.document.text[each.span.start : each.span.end] for each in marked] == ["tasks/*.yaml"]
    lost = FIRST.replace("{prompt: Go}", "{prompt: Go, files: [lo<CURSOR>st.txt]}")
    assert named(suite(tmp_path, "task", first=lost)) == ["tasks/first.yaml:3 lost.txt"]


def test_a_fixture_is_found_in_the_folder_of_its_task(tmp_path: Path) -> None:
    own = "id: own\ncontext_dir: fixtures/big\ninputs: {prompt: Go, files: [{path: fo<CURSOR>rm.txt}]}\n"
    files = {"eval.yaml": EVAL, "fixtures/form.txt": "x", "fixtures/big/form.txt": "y", "tasks/own.yaml": own}
    opened = open_at_cursor(tmp_path, files, "task")
    found = definition(opened.document, opened.workspace, opened.offset)
    assert [place.uri for place in found] == [uri_of(tmp_path / "fixtures" / "big" / "form.txt")]


def test_graders_of_two_inline_tasks_are_two(tmp_path: Path) -> None:
    text = """\
        skill: deployer
        config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}
        tasks:
          - id: one
            graders: [{type: text, name: <CURSOR>short, config: {contains: [a]}}]
          - id: two
            graders: [{type: text, name: short, config: {contains: [b]}}]
            expected: {graders: [short]}
        """
    opened = suite(tmp_path, evaluation=text)
    assert len(named(opened)) == 1


def test_a_task_that_two_suites_run_joins_their_graders(tmp_path: Path) -> None:
    files = {
        "eval.yaml": EVAL.replace("tasks/*", "inner/tasks/*"),
        "inner/eval.yaml": EVAL,
        "inner/tasks/first.yaml": FIRST.replace("[polite]", "[pol<CURSOR>ite]"),
    }
    opened = open_at_cursor(tmp_path, files, "task")
    assert defined(opened) == ["inner/eval.yaml:6 polite", "eval.yaml:6 polite"]


def test_a_path_leads_to_its_file(tmp_path: Path) -> None:
    text = EVAL.replace(
        "  - type: human_calibration",
        "  - {type: script, name: own, config: {script: graders/ch<CURSOR>eck.py}}\n"
        "  - type: human_calibration",
    )
    (tmp_path / "graders").mkdir()
    (tmp_path / "graders" / "check.py").write_text("print(1)\n")
    opened = suite(tmp_path, evaluation=text)
    assert defined(opened) == ["graders/check.py:1"]
    assert named(opened) == ["eval.yaml:8 graders/check.py"]


def test_an_alias_leads_to_the_last_anchor_of_its_name_above(tmp_path: Path) -> None:
    text = f"{EVAL}x-one: &here 1\nx-two: *here\nx-three: &here 3\nx-four: *he<CURSOR>re\n"
    opened = suite(tmp_path, evaluation=text)
    last = text.count("\n")
    assert defined(opened) == [f"eval.yaml:{last - 1} here"]
    assert named(opened) == [f"eval.yaml:{last - 1} here", f"eval.yaml:{last} here"]


def test_highlights_stay_in_the_document(tmp_path: Path) -> None:
    opened = suite(tmp_path, evaluation=EVAL.replace("name: polite", "name: pol<CURSOR>ite"))
    found = highlights(opened.document, opened.workspace, opened.offset)
    text = opened.document.text
    assert [(text[: each.span.start].count("\n") + 1, each.writes) for each in found] == [
        (6, True),
        (10, False),
        (16, False),
    ]


def test_symbols_of_the_workspace_are_found_by_their_letters(tmp_path: Path) -> None:
    opened = suite(tmp_path, evaluation=f"<CURSOR>{EVAL}")

    def found(query: str) -> list[str]:
        symbols = workspace_symbols(opened.workspace, query)
        return [f"{each.kind} {each.name} {each.container}" for each in symbols]

    assert found("frst") == ["task first tasks/first.yaml"]
    assert found("AGREE") == ["grader agreement eval.yaml"]
    assert found("deployer") == ["skill deployer SKILL.md"]
    assert len(found("")) == 7
