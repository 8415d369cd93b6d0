"""A fix is judged by what it touches, and the verdict is that of the whole document diagnosed again."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.server.project.files import opened, put, workspace_with
from tests.shared_corpus import SUITES, suite_files
from waza_language_server.analysis import grader_problems
from waza_language_server.analysis.changed_places import Changes
from waza_language_server.analysis.diagnose import Found, diagnose, hides
from waza_language_server.analysis.excerpt import Excerpt
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.schema_rules import schema_errors
from waza_language_server.analysis.schema_rules.misplaced_keys import UnknownKey
from waza_language_server.analysis.suite_rules import named_files
from waza_language_server.analysis.trial import Trials
from waza_language_server.project.document import Document
from waza_language_server.project.index import Project
from waza_language_server.project.uris import uri_of
from waza_language_server.project.workspace import Workspace
from waza_language_server.schema.catalog import default_catalog
from waza_language_server.syntax.tree import Tree
from waza_language_server.text.edit import Edit
from waza_language_server.text.span import Span

EXAMPLES = Path(__file__).parents[3] / "examples"
KEY = re.compile(r"(\s*(?:- )?)([A-Za-z_]{3,})(:.*)")
LONGEST = 6_000


class TrialsOfEverything(Trials):
    """Judges the whole document for each fix."""

    def _excerpt(self, tree: Tree, changes: Changes, repaired: Sequence[Problem]) -> Excerpt | None:
        return None


def mutant(text: str, chance: random.Random) -> str:
    """Return a text with a few slips of the pen: misspelt, doubled and deleted lines, wrong values."""
    lines = text.split("\n")
    for _ in range(chance.randrange(1, 5)):
        at = chance.randrange(len(lines))
        match, slip = KEY.match(lines[at]), chance.randrange(6)
        if match and slip < 3:
            word = match[2]
            where = chance.randrange(len(word))
            wrong = chance.choice(["", word[where] * 2, "x"])
            lines[at] = match[1] + word[:where] + wrong + word[where + 1 :] + match[3]
        elif match and slip == 3:
            lines.insert(at, lines[at])
        elif match and slip == 4:
            lines[at] = match[1] + match[2] + ": " + chance.choice(["txt", "yes", "3", "[a]", "'1'", "{}"])
        elif slip == 5 and len(lines) > 1:
            del lines[at]
    return "\n".join(lines)


def files() -> list[Path]:
    found = [*sorted(EXAMPLES.rglob("*.yaml")), *suite_files()[::60]]
    return [path for path in found if ".waza" not in path.parts]


@pytest.mark.parametrize("path", files(), ids=lambda path: f"{path.parent.parent.name}/{path.name}")
def test_the_verdict_is_that_of_the_whole_document(path: Path) -> None:
    workspace = Workspace(Project((EXAMPLES, SUITES)), default_catalog())
    kind = workspace.project.claim(path)
    text = path.read_text("utf-8")
    if kind is None or len(text) > LONGEST:
        pytest.skip("not a suite file, or a long one")
    document = Document(uri_of(path), 1, mutant(text, random.Random(path.name)), kind)
    workspace = workspace.with_document(document)
    problems = diagnose(document, workspace)
    quick = Trials(document, workspace, problems)
    thorough = TrialsOfEverything(document, workspace, problems)
    for problem in problems[:20]:
        for fix in problem.fixes:
            tried = [(problem, fix)]
            assert quick.repairs(tried) == thorough.repairs(tried), (problem, fix.title)


@pytest.mark.parametrize(
    ("head", "comment"),
    [
        ("", " # waza: ignore[unknown-key]"),
        ("# waza: severity[unknown-key=off]\n", ""),
        ("schemaVersion: '1.99'\n", ""),
    ],
)
def test_what_nobody_wants_to_see_keeps_no_fix_back(head: str, comment: str) -> None:
    text = f"{head}{EVAL}graders:\n- type: text\n  config: {{contains: a}}\n  unheard_of: 1{comment}\n"
    document, workspace = Document("untitled:eval.yaml", 1, text, "eval"), workspace_with()
    problems = diagnose(document, workspace)
    text_for_list = next(problem for problem in problems if problem.code == "wrong-type" and problem.fixes)
    for trials in (Trials, TrialsOfEverything):
        tried = trials(document, workspace, problems)
        assert tried.repairs([(text_for_list, text_for_list.fixes[0])]), trials
        assert tried.bring_nothing(text_for_list.fixes[0].edits), trials
        again = [Edit(Span(len(text), len(text)), "- type: nonsense\n")]
        assert not tried.bring_nothing(again), trials


def test_a_path_that_leads_nowhere_is_no_repair_of_a_grader_without_one(tmp_path: Path) -> None:
    text = f"{EVAL}graders:\n- type: trigger\n  name: a\n  config: {{mode: positive}}\n"
    document = opened(put(tmp_path, "eval.yaml", text), "eval")
    workspace = Workspace(Project((tmp_path,)), default_catalog()).with_document(document)
    problems = diagnose(document, workspace)
    missing = next(problem for problem in problems if problem.code == "missing-key" and problem.fixes)
    for trials in (Trials, TrialsOfEverything):
        tried = trials(document, workspace, problems)
        assert not tried.repairs([(missing, missing.fixes[0])], may_reveal=True), trials


def test_trying_a_fix_judges_the_touched_grader_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    graders = "".join(f"- type: text\n  name: g{at}\n  config: {{contians: [a]}}\n" for at in range(200))
    document = Document(
        "untitled:t", 1, f"id: t\nname: T\ninputs: {{prompt: Go}}\ngraders:\n{graders}", "task"
    )
    problems = diagnose(document, workspace_with())
    judged: list[str] = []
    judge = grader_problems._checked  # pyright: ignore[reportPrivateUsage]

    def counted(*given: Any) -> Found:
        judged.append("")
        return judge(*given)

    monkeypatch.setattr(grader_problems, "_checked", counted)
    trials = Trials(document, workspace_with(), problems)
    tried = [(problem, fix) for problem in problems for fix in problem.fixes]
    assert len(tried) == 200
    assert all(trials.repairs([each]) for each in tried)
    assert len(judged) == 200


def test_the_disk_is_asked_for_the_files_of_the_touched_grader_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graders = "".join(
        f"- type: program\n  name: g{at}\n  config: {{command: python3, args: [check{at}.py], timout: 3}}\n"
        for at in range(50)
    )
    document = opened(put(tmp_path, "eval.yaml", f"{EVAL}graders:\n{graders}"), "eval")
    workspace = Workspace(Project((tmp_path,)), default_catalog()).with_document(document)
    problems = diagnose(document, workspace)
    assert [problem.code for problem in problems].count("missing-file") == 50
    asked: list[str] = []
    look = named_files.found_at

    def counted(project: Project, folder: Path, bases: Sequence[Path], written: str, *kind: Any) -> Any:
        asked.append(written)
        return look(project, folder, bases, written, *kind)

    monkeypatch.setattr(named_files, "found_at", counted)
    trials = Trials(document, workspace, problems)
    tried = [(problem, problem.fixes[0]) for problem in problems if problem.code == "unknown-key"]
    assert all(trials.repairs([each]) for each in tried)
    assert asked == [f"check{at}.py" for at in range(50)]


@pytest.mark.parametrize(
    "added",
    [
        "ref: github.com/a/b/c.yaml",
        "type: program\n  config: {command: no-such-program-here}",
        "type: program\n  config: {command: ./nowhere.sh}",
        "type: human_calibration\n  config: {calibrate_grader: nobody}",
    ],
)
def test_what_other_files_say_of_a_touched_grader_is_known(tmp_path: Path, added: str) -> None:
    text = f"{EVAL}graders:\n- name: g\n  type: text\n  config: {{contains: [a]}}\n- name: h\n  type: text\n"
    text += "  config: {contains: [b]}\n"
    document = opened(put(tmp_path, "eval.yaml", text), "eval")
    workspace = Workspace(Project((tmp_path,)), default_catalog()).with_document(document)
    start, end = text.index("type:"), text.index("- name: h") - 1
    problems = diagnose(document, workspace)
    for trials in (Trials, TrialsOfEverything):
        tried = trials(document, workspace, problems)
        assert not tried.bring_nothing([Edit(Span(start, end), added)]), trials


EVAL = "name: s\nskill: s\nversion: '1'\nconfig: {executor: mock, trials_per_task: 1, timeout_seconds: 9}\n"
GRADERS = "graders:\n" + "".join(f"- type: text\n  name: g{at}\n" for at in range(3))
LONG = {
    "unknown keys of the file": EVAL + GRADERS + "".join(f"unheard_of_{at}: {at}\n" for at in range(60)),
    "misspelt keys of the file": EVAL + GRADERS + "".join(f"skil{at}: {at}\n" for at in range(60)),
    "a misspelt needed key among others": f"nam: s\n{EVAL[8:]}" + "".join(f"x_{at}: 1\n" for at in range(60)),
    "options of one grader": f"{EVAL}graders:\n- type: text\n  name: g\n  config:\n    contains: [a]\n"
    + "".join(f"    contans{at}: [b]\n" for at in range(60)),
    "items of a list in a block": f"{EVAL}{GRADERS}hooks:\n  before_run:\n"
    + "".join(f"  - comand: x{at}\n" for at in range(60)),
    "mock servers": f"{EVAL}{GRADERS}mcp_mocks:\n" + "".join(f"- nam: x{at}\n" for at in range(60)),
    "beside text that cannot be read": f"{EVAL}description: 'open\n{GRADERS}"
    + "".join(f"unheard_of_{at}: {at}\n" for at in range(60)),
    "beside a key that is there twice": f"{EVAL}skill: t\n{GRADERS}"
    + "".join(f"unheard_of_{at}: {at}\n" for at in range(60)),
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_the_verdict_on_a_long_document_is_that_of_the_whole(text: str) -> None:
    document, workspace = Document("untitled:eval.yaml", 1, text, "eval"), workspace_with()
    problems = diagnose(document, workspace)
    quick = Trials(document, workspace, problems)
    thorough = TrialsOfEverything(document, workspace, problems)
    tried = [(problem, fix) for problem in problems[:3] + problems[-3:] for fix in problem.fixes]
    assert tried
    for each in tried:
        assert quick.repairs([each]) == thorough.repairs([each]), each


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_what_a_fix_leaves_alone_is_not_explained_again(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    document, workspace = Document("untitled:eval.yaml", 1, text, "eval"), workspace_with()
    problems = diagnose(document, workspace)
    explained: list[str] = []
    explain = schema_errors._explain  # pyright: ignore[reportPrivateUsage]

    def counted(*given: Any) -> None:
        explained.append("")
        return explain(*given)

    tell = schema_errors.unknown_key

    def told(*given: Any) -> UnknownKey:
        explained.append("")
        return tell(*given)

    monkeypatch.setattr(schema_errors, "_explain", counted)
    monkeypatch.setattr(schema_errors, "unknown_key", told)
    trials = Trials(document, workspace, problems)
    problem = next(problem for problem in reversed(problems) if problem.fixes)
    assert trials.repairs([(problem, problem.fixes[0])])
    # Where slips hide others, what is hidden shows in the whole alone: that is judged once.
    assert len(explained) < (80 if hides(document) else 20)


def test_what_was_found_with_one_catalog_is_not_said_with_another() -> None:
    document = Document("untitled:t", 1, "graders:\n- type: acme\n  name: a\n", "task")

    def codes(known: str) -> set[str]:
        catalog = default_catalog().with_types({known: {"type": "object"}})
        return {problem.code for problem in diagnose(document, Workspace(Project(), catalog))}

    for _ in range(20):
        assert "unknown-grader-type" not in codes("acme")
        assert "unknown-grader-type" in codes("acme_2")


def test_a_misspelt_block_gets_its_key_whatever_else_is_wrong_in_it() -> None:
    config = "{trials_per_task: 1, timeout_seconds: 60, executor: mock, model: m}"
    text = f"name: demo\nskill: demo\nconfig: {config}\ntask: []\n"
    document = Document("untitled:test", 0, text, "eval")
    workspace = workspace_with(document)
    found = diagnose(document, workspace)
    problem = next(each for each in found if each.code == "unknown-key")
    trials = Trials(document, workspace, found)
    [fix] = problem.fixes
    assert trials.repairs([(problem, fix)], may_reveal=True)
    assert not trials.repairs([(problem, fix)])
