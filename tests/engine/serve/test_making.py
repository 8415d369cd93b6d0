"""The methods that make suites, tasks and graders: what `waza-engine new` does, for an editor."""

from pathlib import Path

import pytest

from tests.engine.serve.client import Engine

SKILL = (
    "---\nname: pdf-filler\ndescription: Fills PDF forms. Use when asked to fill a form.\n---\n# PDF filler\n"
)


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    path = tmp_path / "skills" / "pdf-filler" / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text(SKILL, "utf-8")
    return path


def test_a_suite_is_made_below_the_evals_of_a_folder_and_can_be_run(
    engine: Engine, skill: Path, tmp_path: Path
) -> None:
    (tmp_path / ".git").mkdir()
    made = engine.request("eval.new", skill=str(skill), base=str(tmp_path))["result"]
    assert Path(made["eval"]) == tmp_path / "evals" / "pdf-filler" / "eval.yaml"
    assert all(Path(file).is_file() for file in made["files"])
    assert engine.request("eval.validate", path=made["eval"])["result"] == {"valid": True}


def test_the_eval_file_that_an_editor_has_open_is_answered_and_not_written(
    engine: Engine, skill: Path, tmp_path: Path
) -> None:
    (tmp_path / "eval.yaml").touch()
    made = engine.request("eval.new", skill=str(skill), directory=str(tmp_path), eval_text=True)["result"]
    assert "skill: pdf-filler" in made["eval_text"]
    assert (tmp_path / "eval.yaml").read_bytes() == b""
    assert (tmp_path / "trigger_tests.yaml").is_file()


def test_a_task_and_a_grader_are_added(engine: Engine, skill: Path, tmp_path: Path) -> None:
    suite = engine.request("eval.new", skill=str(skill), directory=str(tmp_path))["result"]["eval"]
    made = engine.request("task.new", path=suite, task_id="fills-two", prompt="Fill two forms")["result"]
    assert "Fill two forms" in Path(made["files"][0]).read_text("utf-8")
    added = engine.request("grader.new", path=suite, type="keyword")["result"]
    assert f"name: {added['name']}" in Path(suite).read_text("utf-8")
    assert engine.request("eval.validate", path=suite)["result"] == {"valid": True}


def test_an_id_is_looked_at_before_a_task_is_made(engine: Engine, skill: Path, tmp_path: Path) -> None:
    suite = engine.request("eval.new", skill=str(skill), directory=str(tmp_path))["result"]["eval"]
    files = sorted(tmp_path.rglob("*.yaml"))

    def problem(identifier: str, **more: bool) -> str | None:
        return engine.request("task.check", path=suite, task_id=identifier, **more)["result"]["problem"]

    assert problem("fills-two") is None
    assert "Windows keeps that name" in (problem("con") or "")
    assert sorted(tmp_path.rglob("*.yaml")) == files, "nothing is written"
    engine.request("task.new", path=suite, task_id="fills-two")
    assert (problem("fills-two") or "").endswith("fills-two.yaml is there already; choose another id.")
    eval_file = Path(suite)
    eval_file.write_text(
        eval_file.read_text("utf-8").replace("tasks/*.yaml", "tasks/fills-two.yaml"), "utf-8"
    )
    assert "where no new file fits; add `- tasks/*.yaml` to it first" in (problem("another") or "")
    assert problem("another", listed=True) is None
    assert "has the id `fills-two` already" in (problem("fills-two", listed=True) or "")
    (Path(suite).parent / "tasks/fills-two.yaml").write_text(
        "id: other\ninputs: {prompt: Fill it}\n", "utf-8"
    )
    assert "fills-two.yaml has the id `other` already" in (problem("other", listed=True) or "")


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("eval.new", {"skill": "/nowhere"}),
        ("eval.new", {}),
        ("eval.new", {"skill": "/nowhere", "force": True}),
        ("task.new", {"path": "/nowhere", "task_id": "a"}),
        ("grader.new", {"path": "/nowhere/eval.yaml", "type": "text"}),
    ],
)
def test_what_cannot_be_made_is_refused_with_a_reason(
    engine: Engine, method: str, params: dict[str, object]
) -> None:
    refusal = engine.request(method, **params)["error"]
    assert refusal["code"] in {-32602, -32000}
    assert refusal["message"]


def test_a_suite_is_converted_and_nothing_is_replaced(engine: Engine, tmp_path: Path) -> None:
    source = tmp_path / "evals.json"
    source.write_text(
        '{"skill_name": "tea", "evals": [{"id": 1, "prompt": "Brew.", "expected_output": "Tea."}]}'
    )
    asked = {"path": str(source), "to": "vally", "directory": str(tmp_path / "out")}
    draft = engine.request("eval.convert", **asked, draft=True)["result"]
    assert not (tmp_path / "out").exists()
    assert engine.request("eval.convert", **asked)["result"] == draft
    assert [Path(file).name for file in draft["files"]] == ["eval.yaml", "converted.json"]
    assert "differs" in {loss["kind"] for loss in draft["losses"]}
    for again in (asked, {**asked, "draft": True}):
        assert "Nothing was written" in engine.request("eval.convert", **again)["error"]["message"]
    message = engine.request("eval.convert", **{**asked, "to": "csv"})["error"]["message"]
    assert message.startswith("`to` must be one of waza, evals.json, vally")
