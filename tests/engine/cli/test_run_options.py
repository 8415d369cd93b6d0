"""Options of ``waza-engine run`` that decide what is run, what it may cost and where results go."""

import json
import os
from pathlib import Path

import pytest

from tests.command_line import engine, stderr_of, stdout_of
from tests.conftest import StartModel
from tests.engine.executors.talking import write_skill
from tests.engine.suites import CONFIG, GREETS, config_with, openai_config, task, write_prompts, write_suite
from tests.scripted_model import Answer, ModelRequest, Reply, Tokens

SAYS = "- {type: text, name: says, config: {contains: [hello]}}\n"


def test_exit_code_3_when_the_limit_stops_the_run(scripted_model: StartModel, tmp_path: Path) -> None:
    model = scripted_model(*[Answer("hello", usage=Tokens(1000, 0))] * 3)
    tasks = {name: task(name) for name in "abc"}
    path = write_suite(tmp_path, tasks, graders=SAYS, config=openai_config(model.base_url, model="gpt-4o"))
    found = engine("run", path, "--max-cost", "0.003")
    assert found.returncode == 3
    # A second trial, at the price of the first, would pass the limit.
    assert "1,000 tokens, $0.0025" in found.stdout
    assert "the limit of $0.0030 is nearly reached" in found.stderr
    assert "no trial ran" in found.stdout
    assert len(model.requests) == 1


def test_several_models_share_the_limit_and_have_files_of_their_own(
    scripted_model: StartModel, tmp_path: Path
) -> None:
    model = scripted_model(*[Answer("hello", usage=Tokens(60, 0))] * 9)
    path = write_suite(
        tmp_path, {"a": task("a")}, graders=SAYS, config=openai_config(model.base_url, model="gpt-4o")
    )
    models = ("--model", "gpt-4o", "--model", "org/small", "--model", "third")
    found = engine("run", path, *models, "--max-tokens", "100", "-o", tmp_path / "out.json")
    assert found.returncode == 3
    assert [request.model for request in model.requests] == ["gpt-4o", "org/small"]
    names = sorted(file.name for file in tmp_path.glob("out*"))
    assert names == ["out_gpt-4o.json", "out_org-small.json", "out_third.json"]
    documents = [json.loads((tmp_path / name).read_text("utf-8")) for name in names]
    assert [document["config"]["model_id"] for document in documents] == ["gpt-4o", "org/small", "third"]
    assert documents[1]["summary"]["cost"]["tokens"] == 60


@pytest.mark.parametrize("option", ["--model", "--judge-model"])
@pytest.mark.parametrize("name", ["", "  "])
def test_a_model_without_a_name_is_none(tmp_path: Path, option: str, name: str) -> None:
    found = engine("run", write_suite(tmp_path, {"a": task("a")}, graders=GREETS), option, name)
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr == f"`{option}` names no model; write its name, or leave the option out.\n"
    assert not (tmp_path / ".waza").exists()


def test_the_best_of_several_models_is_recommended(scripted_model: StartModel, tmp_path: Path) -> None:
    def answer(request: ModelRequest) -> Reply:
        return "hello" if request.model == "good" else "bye"

    model = scripted_model(answer)
    path = write_suite(
        tmp_path, {"a": task("a")}, graders=SAYS, config=openai_config(model.base_url, model="gpt-4o")
    )
    found = engine("run", path, "--model", "bad", "--model", "good", "--recommend", "--format", "json")
    assert found.returncode == 1
    documents = json.loads(found.stdout)
    recommendation = documents[0]["metadata"]["recommendation"]
    assert recommendation["recommended_model"] == "good"
    assert [entry["model"] for entry in recommendation["models"]] == ["good", "bad"]
    kept = [json.loads(file.read_text("utf-8")) for file in (tmp_path / ".waza" / "results").glob("*.json")]
    assert all(document["metadata"]["recommendation"] == recommendation for document in kept)


def test_models_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, config=CONFIG)
    assert "twice" in stderr_of("run", path, "--model", "a", "--model", "a")
    assert "two or more" in stderr_of("run", path, "--model", "a", "--recommend")


@pytest.mark.parametrize("models", [("org/x", "org:x"), ("x", "X"), ()])
def test_no_result_takes_the_file_of_another(tmp_path: Path, models: tuple[str, ...]) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, config=CONFIG)
    file = tmp_path / "out.json"
    options = [part for model in models for part in ("--model", model)] or ["--reporter", f"junit:{file}"]
    assert "would be written twice" in stderr_of("run", path, *options, "-o", file)
    assert not (tmp_path / ".waza").exists()
    assert engine("run", path, "-o", os.devnull, "--reporter", f"junit:{os.devnull}").returncode != 2


def test_no_result_takes_the_file_of_the_suite_and_no_report_that_of_its_results(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, config=CONFIG)
    assert "is the suite itself" in stderr_of("run", path, "-o", path)
    engine("run", path, "-o", record := tmp_path / "out.json")
    assert "is the suite itself" in stderr_of("grade", record, "-o", path)
    before = record.read_bytes()
    assert "holds the results themselves" in stderr_of("report", record, "-f", "markdown", "-o", record)
    assert record.read_bytes() == before


def test_the_cache_is_told_and_cleared(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, graders=SAYS)
    cache = ("--cache", "--cache-dir", tmp_path / "cache")
    assert "from the cache" not in engine("run", path, *cache).stdout
    found = engine("run", path, *cache)
    assert "✓ a  1.00  from the cache" in found.stdout
    assert "1 of 1 task taken from the cache" in found.stdout
    assert stdout_of("cache", "clear", "--cache-dir", tmp_path / "cache").startswith("1 result deleted")
    assert "nothing is deleted" in stderr_of("cache", "clear", "--cache-dir", tmp_path)
    assert path.is_file()


def test_a_baseline_is_told_task_by_task(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills", "writer")
    skills = config_with("skill_directories: [skills]")
    path = write_suite(tmp_path, {"a": task("a"), "b": task("b", prompt="Bye")}, graders=SAYS, config=skills)
    found = stdout_of("run", path, "--baseline", code=1)
    assert "✓ a  1.00  without skills" in found
    assert "100 % with skills, 100 % without" in found
    assert "50 % of the tasks pass with skills, 50 % without: the skills do not help" in found
    again = engine("grade", path, "-o", tmp_path / "again.json").stdout
    older = "50 % without (those were not graded again): the skills do not help"
    assert (older in again, older in engine("report", tmp_path / "again.json").stdout) == (True, True)


def test_answers_alone_pass_and_say_how_to_grade_them(tmp_path: Path) -> None:
    assert "waza-engine grade" in stdout_of(
        "run", write_suite(tmp_path, {"a": task("a", prompt="Bye")}, graders=SAYS), "--skip-graders"
    )


def test_a_warning_of_every_trial_is_printed_once(tmp_path: Path) -> None:
    text = "id: a\nname: a\ninputs: {prompt: Hi, files: [{path: gone.txt}]}\n"
    path = write_suite(tmp_path, {"a": text})
    for extra in ((), ("--format", "json")):
        found = engine("run", path, "--trials", "3", *extra)
        assert found.stderr.count("gone.txt") == 1
        assert found.stderr.startswith("a: warning: ")


def test_an_answer_stands_below_its_task_and_trial(tmp_path: Path) -> None:
    found = engine("run", write_suite(tmp_path, {"a": task("a")}), "--trials", "2", "-v")
    assert "a, trial 2\n  │ Mock response for: Say hello\n" in found.stdout


def test_json_leaves_what_is_no_warning_out_of_standard_error(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")})
    write_prompts(tmp_path, "Write!")
    found = engine("run", path, "--format", "json")
    assert (found.returncode, found.stderr) == (0, "")


def test_a_task_file_names_the_suite_to_run(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {"a": "id: first\ninputs: {prompt: hello}\n"}, graders=SAYS)
    assert stderr_of("run", tmp_path / "tasks" / "a.yaml", cwd=tmp_path) == (
        f"{tmp_path / 'tasks' / 'a.yaml'} is a task; "
        f"run it with its suite: `waza-engine run {suite.name} --task first`.\n"
    )


def test_a_file_that_is_neither_suite_nor_task_says_what_is_wrong_with_it(tmp_path: Path) -> None:
    write_suite(tmp_path, {"a": task("a")}, graders=SAYS)
    other = tmp_path / "other.yaml"
    other.write_text("id: a\n")
    assert f"{other}:1: `config` is missing" in engine("run", other).stderr


@pytest.mark.parametrize("words", ["run --executor", "run --judge-executor", "grade --judge-executor"])
def test_an_option_that_names_no_executor_does_not_blame_the_file(tmp_path: Path, words: str) -> None:
    suite = write_suite(tmp_path, {"a": task("a")}, graders=SAYS)
    command, option = words.split()
    if command == "grade":
        engine("run", suite)
    found = stderr_of(command, suite, option, "moc")
    assert found.startswith("`moc` is not an executor; choose one of `mock`, ")
    assert str(suite) not in found
