"""The same files through agent-eval-harness and through ours: equal rows, apart from its listed defects.

What agent-eval-harness answers is recorded in `theirs.json`; `record_theirs.py` writes it.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.command_line import harness
from tests.engine.harness.generated import COUNT, generated
from tests.engine.harness.record_theirs import GENERATED, RECORDED, rows_of
from tests.engine.harness.scenarios import ADAPTER, AGENT, CONTAINS, SCENARIOS, lines, prompt, without_times
from waza_engine.schemas.harness_schemas import SCHEMAS, schema_of

pytestmark = pytest.mark.check


@dataclass(frozen=True)
class Answer:
    """What a program answered."""

    exit_code: int
    output: str
    errors: str

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The output as JSON Lines."""
        return [json.loads(line) for line in self.output.splitlines()]

    @property
    def document(self) -> dict[str, Any]:
        """The output as one JSON object."""
        return json.loads(self.output)


@cache
def recorded() -> dict[str, Any]:
    """Return the answers of agent-eval-harness."""
    return json.loads(RECORDED.read_text("utf-8"))


def theirs(name: str) -> Answer:
    """Return what agent-eval-harness answered in a scenario."""
    found = recorded()["scenarios"][name]
    return Answer(found["exit_code"], found["output"], "\n".join(found["errors"]))


def ours(name: str, folder: Path) -> Answer:
    """Return what our program answers in a scenario."""
    scenario = SCENARIOS[name]
    scenario.write(folder)
    ended = harness(*scenario.arguments(folder), cwd=folder)
    output = (folder / scenario.output).read_text("utf-8") if scenario.output else ended.stdout
    return Answer(ended.returncode, output, ended.stderr)


EQUAL_ROWS = {
    "capture": "CaptureResult",
    "summaries": "SummaryResult",
    "references": "ValidationResult",
}


def both(name: str, folder: Path) -> tuple[Answer, Answer]:
    return theirs(name), ours(name, folder)


@pytest.mark.parametrize("name", EQUAL_ROWS)
def test_rows_are_equal_apart_from_times_and_fit_the_schema(name: str, tmp_path: Path) -> None:
    harness, engine = both(name, tmp_path)
    assert without_times(engine.rows) == without_times(harness.rows)
    for row in engine.rows:
        jsonschema.validate(row, schema_of(EQUAL_ROWS[name]))


def test_trials_are_equal_apart_from_those_of_a_crashed_agent(tmp_path: Path) -> None:
    harness, engine = both("trials", tmp_path)
    (his,), (own,) = without_times(harness.rows), without_times(engine.rows)
    assert [trial["output"] for trial in own["trials"]] == ["half", "half"]
    assert [trial["pass"] for trial in his["trials"]] == [True, True]
    assert [trial["pass"] for trial in own["trials"]] == [False, False]
    assert {trial["reasoning"] for trial in own["trials"]} == {"Error: the agent ended with exit code 7"}
    assert own["metadata"].pop("wazaErrors") == dict.fromkeys("12", "the agent ended with exit code 7")
    verdict = ("pass", "score", "reasoning", "passRate", "passAtK", "passExpK", "trials")
    for row in (his, own):
        row["answers"] = [{key: trial[key] for key in trial.keys() - set(verdict)} for trial in row["trials"]]
    assert {key: own[key] for key in own.keys() - set(verdict)} == {
        key: his[key] for key in his.keys() - set(verdict)
    }
    jsonschema.validate(engine.rows[0], schema_of("TrialResult"))


@pytest.mark.parametrize("first", range(0, COUNT, 50))
def test_generated_suites_give_equal_rows(first: int, tmp_path: Path) -> None:
    recorded_rows = GENERATED.read_text("utf-8").splitlines()[first : first + 50]
    for number, line in enumerate(recorded_rows, first):
        (folder := tmp_path / str(number)).mkdir()
        scenario = generated(number)
        scenario.write(folder)
        ended = harness(*scenario.arguments(folder), cwd=folder)
        assert rows_of(ended.stdout) == json.loads(line), f"suite {number}"
        schema = schema_of("TrialResult" if scenario.command[0] == "trials" else "CaptureResult")
        for row in ended.stdout.splitlines():
            jsonschema.validate(json.loads(row), schema)


def test_csv_is_equal(tmp_path: Path) -> None:
    harness, engine = both("csv", tmp_path)
    assert engine.output.splitlines() == harness.output.splitlines()


def test_the_numbers_of_balance_are_equal_and_fit_the_schema(tmp_path: Path) -> None:
    harness, engine = both("balance", tmp_path)
    numbers = [{**each.document, "suggestions": []} for each in (harness, engine)]
    assert numbers[0] == numbers[1]
    jsonschema.validate(engine.document, schema_of("BalanceAnalysis"))


def test_every_schema_is_exported_as_theirs() -> None:
    assert {name: schema_of(name) for name in SCHEMAS} == recorded()["schemas"]


@pytest.mark.parametrize("name", ["report of captures", "report of trials"])
def test_reports_are_equal_apart_from_ties_and_reasons(name: str, tmp_path: Path) -> None:
    harness, engine = both(name, tmp_path)
    theirs_found, ours_found = (_without_reasons(each.document) for each in (harness, engine))
    overall = ours_found["headToHead"].pop("overall", None), theirs_found["headToHead"].pop("overall", None)
    assert _rounded(ours_found) == _rounded(theirs_found)
    if name == "report of trials":
        assert [(each[0]["aWins"], each[0]["bWins"], each[0]["ties"]) for each in overall] == [
            (1, 1, 1),
            (2, 1, 0),
        ]


def _without_reasons(report: Any) -> Any:
    if isinstance(report, dict):
        left_out = ("reasoning", "generatedAt")
        return {key: _without_reasons(value) for key, value in report.items() if key not in left_out}
    return [_without_reasons(item) for item in report] if isinstance(report, list) else report


def _rounded(report: Any) -> Any:
    return json.loads(json.dumps(report), parse_float=lambda text: round(float(text), 9))


class TestItsDefectsAreNotOurs:
    """Each is a row of docs/compatibility.md."""

    def test_trials_know_the_event_that_ends_a_turn(self, tmp_path: Path) -> None:
        harness, engine = both("trials ignore the result", tmp_path)
        assert [harness.rows[0]["trials"][0][key] for key in ("output", "pass")] == ["", False]
        assert [engine.rows[0]["trials"][0][key] for key in ("output", "pass")] == ["4", True]

    def test_a_grader_that_breaks_costs_its_verdict_alone(self, tmp_path: Path) -> None:
        harness, engine = both("grader error loses the output", tmp_path)
        assert (harness.rows[0]["output"], harness.rows[0]["trajectory"]) == ("", [])
        assert engine.rows[0]["output"] == "The answer to 2+2 is 4"
        assert engine.rows[0]["errors"] == harness.rows[0]["errors"] == ["Grader exited with code 1: no key"]
        assert "score" not in engine.rows[0]
        assert "1 answer could not be graded" in engine.errors

    def test_results_of_modules_are_validated(self, tmp_path: Path) -> None:
        harness, engine = both("module results are not validated", tmp_path)
        assert harness.rows[0]["score"] == {"pass": True, "score": 7, "extra": 1}
        assert "score" not in engine.rows[0]
        assert engine.rows[0]["errors"] == [
            "Invalid grader result: `score` is 7, it must lie between 0 and 1"
        ]

    def test_append_keeps_the_rows_before(self, tmp_path: Path) -> None:
        harness, engine = both("append truncates", tmp_path)
        assert [row["id"] for row in harness.rows] == ["p2"]
        assert [row["id"] for row in engine.rows] == ["p1", "p2"]

    def test_the_time_limit_of_a_prompt_counts(self, tmp_path: Path) -> None:
        harness, engine = both("timeout of a prompt is unused", tmp_path)
        # That of the adapter is 2500 ms, that of the prompt 900 ms.
        assert [each.rows[0]["timing"]["total"] >= 2500 for each in (harness, engine)] == [True, False]
        keys = ("exitCode", "signal", "timedOut")
        for each in (harness, engine):
            assert [each.rows[0]["metadata"][key] for key in keys] == [143, "SIGTERM", True]
            assert (each.rows[0]["toolErrors"], "errors" in each.rows[0]) == (True, False)

    def test_the_path_of_a_session_id_has_an_effect(self, tmp_path: Path) -> None:
        harness, engine = both("session id path is unused", tmp_path)
        assert harness.rows[0]["output"] == "after two"
        assert engine.rows[0]["output"] == "--resume T7 after two"

    def test_the_system_text_of_a_history_has_an_effect(self, tmp_path: Path) -> None:
        harness, engine = both("history system is unused", tmp_path)
        assert harness.rows[0]["output"] == "The answer to Hi is 4"
        assert engine.rows[0]["output"] == "The answer to Be brief.\n\nHi is 4"

    def test_a_format_of_standard_input_without_effect_is_reported(self, tmp_path: Path) -> None:
        harness, engine = both("stdin format is unused", tmp_path)
        assert harness.errors == ""
        assert "`prompt.stdinFormat` has no effect" in engine.errors

    def test_three_calls_of_a_tool_are_three_steps(self, tmp_path: Path) -> None:
        harness, engine = both("tool calls are merged by title", tmp_path)
        calls = [
            [step for step in each.rows[0]["trajectory"] if step["type"] == "tool_call"]
            for each in (harness, engine)
        ]
        assert [len(each) for each in calls] == [1, 3]
        assert {step["status"] for step in calls[1]} == {"completed"}

    def test_a_failing_exit_code_without_a_result_has_a_reason(self, tmp_path: Path) -> None:
        harness, engine = both("a failing exit code", tmp_path)
        assert "errors" not in harness.rows[0]
        assert engine.rows[0]["errors"] == ["the agent ended with exit code 7"]
        assert engine.rows[0]["output"] == harness.rows[0]["output"] == "half"

    def test_an_answer_without_messages_is_a_message(self, tmp_path: Path) -> None:
        harness, engine = both("an answer without messages", tmp_path)
        assert harness.rows[0]["trajectory"] == []
        assert [step["content"] for step in engine.rows[0]["trajectory"]] == ["4"]

    def test_a_last_line_without_a_line_break_is_read(self, tmp_path: Path) -> None:
        harness, engine = both("last line is dropped", tmp_path)
        assert [each.rows[0]["output"] for each in (harness, engine)] == ["", "the last line"]

    def test_lines_are_counted_as_an_editor_counts_them(self, tmp_path: Path) -> None:
        harness, engine = both("line numbers skip blank lines", tmp_path)
        assert "at line 2" in harness.errors
        assert engine.exit_code == 1
        assert engine.errors.splitlines()[0] == "p.jsonl:4: `input` must be a string or a list of strings."

    @pytest.mark.parametrize("name", ["k of zero", "k of letters"])
    def test_a_number_of_trials_must_be_one(self, name: str, tmp_path: Path) -> None:
        harness, engine = both(name, tmp_path)
        assert (harness.exit_code, harness.rows[0]["passRate"]) == (0, None)
        assert (engine.exit_code, engine.output) == (1, "")
        assert engine.errors.startswith("`-k` must be")

    def test_equal_scores_are_a_tie(self, tmp_path: Path) -> None:
        harness, engine = both("no ties", tmp_path)
        assert [each.document["headToHead"]["prompts"][0]["winner"] for each in (harness, engine)] == [
            "one",
            None,
        ]
        assert engine.document["headToHead"]["pairwise"][0]["ties"] == 1

    def test_a_grader_of_compare_has_an_effect(self, tmp_path: Path) -> None:
        harness, engine = both("a grader without custom is ignored", tmp_path)
        assert [each.document["headToHead"]["prompts"][0]["winner"] for each in (harness, engine)] == [
            "one",
            "two",
        ]

    def test_a_relative_grader_of_compare_is_found_from_the_working_directory(self, tmp_path: Path) -> None:
        harness, engine = both("a relative grader of compare", tmp_path)
        assert (harness.exit_code, "Cannot find module" in harness.errors) == (1, True)
        assert engine.document["headToHead"]["prompts"][0]["winner"] == "two"

    def test_an_executable_compares(self, tmp_path: Path) -> None:
        harness, engine = both("an executable that compares", tmp_path)
        assert harness.exit_code == 1
        assert engine.document["headToHead"]["prompts"][0]["winner"] == "one"

    def test_a_label_may_be_one_letter(self, tmp_path: Path) -> None:
        harness, engine = both("labels of one letter", tmp_path)
        assert "not found" in harness.errors
        assert engine.document["meta"]["runs"] == ["a", "b"]

    def test_equal_labels_are_refused(self, tmp_path: Path) -> None:
        harness, engine = both("equal labels", tmp_path)
        assert (harness.exit_code, list(harness.document["quality"])) == (0, ["xy"])
        assert (engine.exit_code, "called `xy`" in engine.errors) == (1, True)

    def test_rows_without_a_verdict_are_no_failures(self, tmp_path: Path) -> None:
        harness, engine = both("ungraded is zero", tmp_path)
        assert harness.document["quality"]["two"]["failCount"] == 1
        quality = engine.document["quality"]["two"]
        assert [quality[key] for key in ("avgScore", "failCount", "ungradedCount")] == [0.8, 0, 1]

    def test_the_capture_of_its_own_pages_is_read_with_a_note(self, tmp_path: Path) -> None:
        harness, engine = both("the capture of its own pages", tmp_path)
        assert harness.exit_code == 1
        assert (engine.exit_code, engine.rows[0]["duration"]) == (0, 250)
        assert "`timing.sessionCreation`, `timing.total` missing" in engine.errors

    def test_the_outcome_of_another_grader_goes_with_its_score(self, tmp_path: Path) -> None:
        harness, engine = both("an outcome of another grader stays", tmp_path)
        assert ("outcome" in harness.rows[0], "outcome" in engine.rows[0]) == (True, False)

    def test_a_pipeline_keeps_the_last_event(self, tmp_path: Path) -> None:
        harness, engine = both("the last event of a pipeline", tmp_path)
        assert harness.rows[0]["rawLines"] == []
        assert engine.rows[0]["rawLines"] == ['{"type": "result", "text": "4"}']

    def test_a_word_on_standard_error_is_no_error(self, tmp_path: Path) -> None:
        harness, engine = both("a word on standard error", tmp_path)
        assert harness.rows[0]["error"] == "note"
        assert "error" not in engine.rows[0]
        assert engine.rows[0]["rawLines"] == ["it's $& {}", "it's $& {}"]


def test_a_crashed_trial_does_not_pass_after_another_grader_either(tmp_path: Path) -> None:
    files = {
        "agent.py": AGENT,
        "a.json": json.dumps(ADAPTER),
        "p.jsonl": lines(prompt("p1", "break", hint="half")),
    }
    for name, text in {**files, "g.py": CONTAINS}.items():
        (tmp_path / name).write_text(text, "utf-8")
    flags = ("trials", "p.jsonl", "-s", "a.json", "-g", "g.py", "-k", "1", "-o", "out.jsonl", "--resume")
    for _ in range(2):
        assert harness(*flags, cwd=tmp_path).returncode == 0
        row = json.loads((tmp_path / "out.jsonl").read_text("utf-8"))
        assert (row["trials"][0]["output"], row["trials"][0]["pass"], row["passRate"]) == ("half", False, 0)
        (tmp_path / "g.py").write_text(f"{CONTAINS}# changed\n", "utf-8")
