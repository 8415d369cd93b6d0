"""A judged suite by the words of the documentation alone: rubrics by name, files of another folder."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.command_line import engine
from tests.conftest import StartModel
from tests.engine.graders.judging import passes, verdicts
from tests.engine.suites import openai_config, task, write_suite
from waza_engine.executors.executor import Cancellation
from waza_engine.runs.regrading.regrade import RegradedTask, Regrading

ASK_FOR_VERDICTS = (
    "groundedness",
    "helpfulness",
    "instruction-following",
    "refusal-correctness",
    "tool-use-appropriateness",
)
ASK_FOR_RATINGS = {
    "intent_resolution": ({"score": 4}, 0.75),
    "response_completeness": ({"score": 4}, 0.75),
    "task_adherence": ({"flagged": False}, 1.0),
    "task_completion": ({"success": True}, 1.0),
    "tool_call_accuracy": ({"tool_calls_success_level": 5}, 1.0),
    "tool_input_accuracy": ({"result": 1}, 1.0),
    "tool_output_utilization": ({"label": 1}, 1.0),
    "tool_selection": ({"score": 1}, 1.0),
}
READS = "id: a\nname: A\nhint: zephyr\ninputs: {prompt: What does it say?, files: [notes.txt]}\n"


def test_every_rubric_of_the_engine_judges_by_its_name_what_another_folder_holds(
    scripted_model: StartModel, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "notes.txt").write_text("the word is zephyr", "utf-8")
    names = [*ASK_FOR_VERDICTS, *ASK_FOR_RATINGS]
    model = scripted_model(
        *(answer for _ in ASK_FOR_VERDICTS for answer in verdicts(passes("Well done."))),
        *(json.dumps(rating) for rating, _ in ASK_FOR_RATINGS.values()),
    )
    config = openai_config(model.base_url, executor="mock", seconds=60)
    graders = "".join(f"- {{type: prompt, name: {name}, config: {{rubric: {name}}}}}\n" for name in names)
    suite = write_suite(tmp_path / "suite", {"a": READS}, graders=graders, config=config)
    found = engine(
        "run", suite, "--judge-executor", "openai", "--context-dir", tmp_path / "elsewhere", "-f", "json"
    )
    assert (found.returncode, found.stderr) == (0, "")
    given = json.loads(found.stdout)["tasks"][0]["runs"][0]["validations"]
    assert {name: verdict["score"] for name, verdict in given.items()} == {
        **dict.fromkeys(ASK_FOR_VERDICTS, 1.0),
        **{name: score for name, (_, score) in ASK_FOR_RATINGS.items()},
    }
    assert all(verdict["passed"] for verdict in given.values())
    assert "the word is zephyr" in model.requests[0].prompt


def test_a_name_that_no_rubric_has_says_which_there_are(scripted_model: StartModel, tmp_path: Path) -> None:
    model = scripted_model()
    config = openai_config(model.base_url, executor="mock", seconds=60)
    graders = "- {type: prompt, name: judged, config: {rubric: groundednes}}\n"
    suite = write_suite(
        tmp_path, {"a": READS.replace(", files: [notes.txt]", "")}, graders=graders, config=config
    )
    found = engine("run", suite, "--judge-executor", "openai")
    assert found.returncode != 0
    assert "`groundedness`" in found.stdout + found.stderr
    assert model.requests == []


def test_what_judges_said_until_a_grading_was_interrupted_is_kept(
    scripted_model: StartModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = scripted_model(*(answer for _ in range(3) for answer in verdicts(passes())))
    config = openai_config(model.base_url, executor="mock", seconds=60)
    judge = "- {type: prompt, name: judge, config: {prompt: Good?}}\n"
    suite = write_suite(tmp_path, {"a": task("a"), "b": task("b")}, graders=judge, config=config)
    assert engine("run", suite).returncode == 4
    grade = Regrading.grade

    def interrupted(regrading: Regrading, cancellation: Cancellation) -> Iterator[RegradedTask]:
        yield next(grade(regrading, cancellation))
        # Nothing can be written any more once the process is killed.
        stored.append(output.read_text("utf-8"))
        raise KeyboardInterrupt

    monkeypatch.setattr(Regrading, "grade", interrupted)
    output = tmp_path / "again.json"
    stored: list[str] = []
    found = engine("grade", suite, "--judge-executor", "openai", "-o", output)
    assert (found.returncode, "new verdicts of 1 of 2 tasks" in found.stderr) == (130, True)
    written = json.loads(output.read_text("utf-8"))
    assert [each["status"] for each in written["tasks"]] == ["passed", "error"]
    assert written["metadata"]["engine"]["regraded"]["tasks"] == ["a"]
    assert json.loads(stored[0])["tasks"] == written["tasks"]
