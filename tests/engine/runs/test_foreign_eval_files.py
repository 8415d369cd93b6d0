"""Eval files of other tools are named and refused, not listed, and told beside a new suite."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.engine.suites import GREETS, task, write_suite
from waza_engine.commands.listing import list_command
from waza_engine.runs.loading.suite import load_suite
from waza_engine.runs.preflight.report import preflight
from waza_engine.runs.settings.table import RunSettings
from waza_engine.scaffold.suite import new_suite
from waza_engine.spec.foreign_evals import ForeignEvalError
from waza_language_server.check import check_paths

SCENARIOS = "scenarios:\n  - {name: a, prompt: p}\n"
VALLY = (
    "name: v\nconfig: {executor: mock}\nstimuli:\n  - {name: A b, prompt: p, graders: [{type: completed}]}\n"
)
# The YAML reader refuses the two halves of an emoji.
CASES = json.dumps(
    {"skill_name": "tea", "evals": [{"id": 1, "prompt": "\U0001f375", "expected_output": "x"}]}
)
IS_SCENARIOS = "this is a skill-validator eval file (1 scenario), which waza does not run"
IS_CASES = "this is an evals.json file (skill `tea`, 1 case), which waza does not run"


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "text", "what", "advice"),
    [
        ("eval.yaml", SCENARIOS, IS_SCENARIOS, "write its scenarios as tasks of an eval.yaml of waza"),
        ("evals.json", CASES, IS_CASES, "write its cases as tasks of an eval.yaml"),
    ],
)
def test_it_is_refused_with_the_name_of_its_format(
    tmp_path: Path, name: str, text: str, what: str, advice: str
) -> None:
    path = written(tmp_path / name, text)
    with pytest.raises(ForeignEvalError) as refused:
        load_suite(path)
    assert refused.value.message == f"{what}; {advice}"
    (finding,) = preflight(RunSettings(path)).findings
    assert finding.sentence.endswith(f"{name}: {what}; {advice}")
    (report,) = check_paths([path])
    assert report.note == f"{what}, so nothing was checked"


def test_it_is_not_listed_or_checked_among_suites(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path / "other" / "eval.yaml", SCENARIOS)
    written(tmp_path / "other" / "evals.json", CASES)
    written(tmp_path / "other" / "SKILL.md", "---\nname: other\ndescription: d\n---\n")
    suite = write_suite(tmp_path / "ours", {"a": task("a")}, graders=GREETS)
    assert list_command(tmp_path, as_json=True) == 0
    printed = capsys.readouterr()
    assert [each["path"] for each in json.loads(printed.out)["suites"]] == [str(suite)]
    assert printed.err == ""
    assert list_command(tmp_path, as_json=False) == 0
    printed = capsys.readouterr()
    assert "other" not in printed.out
    assert IS_SCENARIOS in printed.err
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


def test_a_new_suite_names_the_vally_file_that_its_skill_has(tmp_path: Path) -> None:
    skill = written(tmp_path / "skill" / "SKILL.md", "---\nname: tea\ndescription: Brews tea.\n---\n")
    (tmp_path / ".git").mkdir()
    path = written(tmp_path / "skill" / "eval.yml", VALLY)
    warning = f"{path.resolve()} is a Vally eval file (1 stimulus); run it as it is"
    assert new_suite(skill, tmp_path / "suite").warnings == (warning,)


@pytest.mark.parametrize("place", ["skill/evals.json", "skill/evals/evals.json", "suite/tea.evals.json"])
def test_a_new_suite_names_the_evals_that_its_skill_has(tmp_path: Path, place: str) -> None:
    skill = written(tmp_path / "skill" / "SKILL.md", "---\nname: tea\ndescription: Brews tea.\n---\n")
    (tmp_path / ".git").mkdir()
    assert new_suite(skill, tmp_path / "suite").warnings == ()
    path = written(tmp_path / place, CASES)
    written(tmp_path / "skill" / "evaluation.json", "{}")
    written(tmp_path / "skill" / "eval.yml", "[")
    what = IS_CASES.removeprefix("this is ")
    advice = "write its cases as tasks of an eval.yaml"
    assert new_suite(skill, tmp_path / "suite").warnings == (f"{path.resolve()} is {what}; {advice}",)
