"""Eval files of other tools are named; those that do not run fail no run, and a skill's evals are found."""

import json
from pathlib import Path

import pytest

from tests.engine.suites import GREETS, task, write_suite
from waza_engine.commands.listing import list_command
from waza_engine.commands.preflight import preflight, preflight_command
from waza_engine.commands.run import run_command
from waza_engine.runs.loading.discovery import eval_files_of
from waza_engine.runs.loading.suite_on_disk import SuiteError, load_suite
from waza_engine.runs.settings.table import RunSettings
from waza_engine.scaffold.file_changes import ScaffoldError
from waza_engine.scaffold.suite_from_skill import new_suite
from waza_engine.spec.foreign_evals import ForeignEvalError
from waza_language_server.check import check_paths

VALLY = (
    "name: v\nconfig: {executor: mock}\nstimuli:\n  - {name: A b, prompt: p, graders: [{type: completed}]}\n"
)
VALIDATOR = "scenarios:\n  - {name: a, prompt: p, assertions: []}\n"
CASES = json.dumps(
    {"skill_name": "tea", "evals": [{"id": 1, "prompt": "\U0001f375", "expected_output": "x"}]}
)
IS_VALIDATOR = "this is a skill-validator eval file (1 scenario), which waza does not run"
ADVICE = "write its scenarios as tasks of an eval.yaml of waza"
SKILL = "---\nname: tea\ndescription: Brews tea.\n---\n"


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def run_paths(*paths: Path) -> int:
    return run_command(paths, RunSettings(paths[0]), None, "text")


def test_one_that_does_not_run_is_refused_with_the_name_of_its_format(tmp_path: Path) -> None:
    path = written(tmp_path / "eval.yaml", VALIDATOR)
    with pytest.raises(ForeignEvalError) as refused:
        load_suite(path)
    assert refused.value.message == f"{IS_VALIDATOR}; {ADVICE}"
    (finding,) = preflight(RunSettings(path)).findings
    assert finding.sentence.endswith(f"eval.yaml: {IS_VALIDATOR}; {ADVICE}")
    (report,) = check_paths([path])
    assert report.note == f"{IS_VALIDATOR}, so nothing was checked"
    with pytest.raises(SuiteError, match="this is a skill-validator eval file"):
        eval_files_of([tmp_path])


def test_it_is_not_listed_or_checked_among_suites(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path / "other" / "eval.yaml", VALIDATOR)
    written(tmp_path / "other" / "SKILL.md", "---\nname: other\ndescription: d\n---\n")
    suite = write_suite(tmp_path / "ours", {"a": task("a")}, graders=GREETS)
    assert list_command(tmp_path, as_json=True) == 0
    printed = capsys.readouterr()
    assert [each["path"] for each in json.loads(printed.out)["suites"]] == [str(suite)]
    assert list_command(tmp_path, as_json=False) == 0
    printed = capsys.readouterr()
    assert "other" not in printed.out
    assert IS_VALIDATOR in printed.err
    assert "other" not in {report.path.parent.name for report in check_paths([tmp_path]) if report.note}
    checked = {report.path.relative_to(tmp_path).as_posix() for report in check_paths([tmp_path])}
    assert {name for name in checked if name.startswith("other")} == {"other/SKILL.md"}


@pytest.mark.parametrize("name", ["eval.yaml", "a.eval.yaml", "b.eval.yml"])
def test_a_vally_file_is_a_suite(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "v" / name, VALLY)
    written(tmp_path / "v" / "c.eval.yaml", "prompts: [a]\n")
    assert list_command(tmp_path, as_json=True) == 0
    (suite,) = json.loads(capsys.readouterr().out)["suites"]
    assert (suite["path"], [task["id"] for task in suite["tasks"]]) == (str(path), ["a-b"])
    assert preflight(RunSettings(path)).findings == []


def test_it_fails_no_run_of_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path / "other" / "eval.yaml", VALIDATOR)
    write_suite(tmp_path / "ours", {"a": task("a", prompt="Say hello")}, graders=GREETS)
    assert run_paths(tmp_path) == 0
    printed = capsys.readouterr()
    assert "✓ passed: 1 of 1 task passed" in printed.out
    assert IS_VALIDATOR in printed.err
    assert preflight_command([tmp_path], None, "human", strict=False) == 0
    assert IS_VALIDATOR in capsys.readouterr().err


def test_evals_of_a_skill_are_listed_as_a_suite(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "evals" / "evals.json", CASES)
    written(tmp_path / "other" / "evals.json", '{"evals": 3}')
    assert list_command(tmp_path, as_json=False) == 0
    assert capsys.readouterr().out.splitlines() == [f"{path}  tea evals, 1 task", "  1"]
    assert eval_files_of([tmp_path]) == [path]


def test_evals_of_a_skill_do_not_run_beside_an_eval_file_for_it(tmp_path: Path) -> None:
    written(tmp_path / "tea" / "evals" / "evals.json", CASES)
    suite = write_suite(tmp_path / "writing", {"a": task("a")})
    assert len(eval_files_of([tmp_path])) == 2
    suite.write_text(suite.read_text("utf-8").replace("skill: writer", "skill: tea"), "utf-8")
    assert eval_files_of([tmp_path]) == [suite]


@pytest.mark.parametrize("place", ["skill/evals.json", "skill/evals/evals.json", "skill/evals/eval.yaml"])
def test_a_second_suite_is_written_only_on_request(tmp_path: Path, place: str) -> None:
    skill = written(tmp_path / "skill" / "SKILL.md", SKILL)
    (tmp_path / ".git").mkdir()
    assert new_suite(skill, base=tmp_path).warnings == ()
    path = written(tmp_path / place, VALIDATOR if place.endswith("yaml") else CASES)
    written(tmp_path / "skill" / "evaluation.json", "{}")
    written(tmp_path / "skill" / "eval.yml", "[")
    with pytest.raises(ScaffoldError) as refused:
        new_suite(skill, base=tmp_path)
    what = IS_VALIDATOR if place.endswith("yaml") else "this is an evals.json file (skill `tea`, 1 case)"
    advice = ADVICE if place.endswith("yaml") else "run it with `waza-engine run`"
    found = f"{path.resolve()} is {what.removeprefix('this is ')}; {advice}"
    assert refused.value.what == f"The skill has evals: {found}."
    assert new_suite(skill, base=tmp_path, force=True).warnings == (found,)
    assert new_suite(skill, tmp_path / "suite").warnings == (found,)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("evals.json", CASES[:-2]),
        ("evals.json", ""),
        ("evals.json", CASES.replace("skill_name", "skil_name")),
        ("evals.json", '[{"query": "q", "should_trigger": "yes"}]'),
        ("eval.vally.yaml", VALLY.replace("\n  - {", "\n - {a: [").replace("name: A", "nme: A")),
        ("eval.vally.yaml", "name: v\nstimuli: []\n"),
    ],
)
def test_evals_with_a_mistake_are_not_left_out_of_a_run_of_all_suites(
    tmp_path: Path, name: str, text: str
) -> None:
    suite = write_suite(tmp_path / "ours", {"a": task("a")}, graders=GREETS)
    faulty = written(tmp_path / "skills" / "tea" / "evals" / name, text)
    assert eval_files_of([tmp_path]) == [suite, faulty]
    assert run_paths(tmp_path) == 2


def test_other_files_with_a_name_of_evals_stay_out_of_a_run_of_all_suites(tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "ours", {"a": task("a")}, graders=GREETS)
    written(tmp_path / "data" / "evals.json", '{"evals": {"loss": 0.5}}')
    assert eval_files_of([tmp_path]) == [suite]
