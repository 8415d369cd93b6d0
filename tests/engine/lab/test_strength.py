import json
import shutil
import tempfile
from pathlib import Path

import pytest

from tests.command_line import engine
from tests.engine.lab.recorded import record, strengths, trial, write_record
from tests.engine.suites import CONFIG, run, task, write_suite
from waza_engine.lab.measuring import GraderStrength
from waza_engine.lab.samples import pattern_samples

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
ANSWER = "Deployed to 3 regions. The service is healthy. See https://a.example."
PROGRAM = "- {type: program, name: checked, config: {command: touch, args: ['%s']}}\n"


def only(directory: Path, grader: str, *answers: str) -> object:
    trials = [trial(answer, "bash", "view") for answer in answers or (ANSWER,)]
    (found,) = strengths(record(directory, {"a": trials}, f"- {{name: it, {grader}}}\n")).values()
    return found


def test_a_grader_of_the_whole_sentence_notices_more_than_one_of_a_word(tmp_path: Path) -> None:
    whole = only(tmp_path / "a", f"type: text, config: {{contains: ['{ANSWER}']}}")
    word = only(tmp_path / "b", "type: text, config: {contains: [service]}")
    assert (whole.strength, whole.finding) == (1.0, "")  # type: ignore[attr-defined]
    assert 0 < word.strength < 0.7  # type: ignore[attr-defined]


def test_what_a_grader_does_not_read_does_not_count_against_it(tmp_path: Path) -> None:
    found = only(tmp_path, "type: text, config: {contains: [service]}")
    assert "tool calls dropped" not in found.kinds  # type: ignore[attr-defined]
    assert "the transcript shuffled" not in found.kinds  # type: ignore[attr-defined]


def test_an_order_of_tools_notices_calls_that_are_dropped_or_reordered(tmp_path: Path) -> None:
    order = "type: action_sequence, config: {expected_actions: [bash, view], matching_mode: in_order_match}"
    found = only(tmp_path, order)
    assert found.strength == 1.0  # type: ignore[attr-defined]
    assert found.kinds["tool calls reordered"] == (1, 1)  # type: ignore[attr-defined]


def test_a_check_that_decides_nothing_is_found_beside_one_that_does(tmp_path: Path) -> None:
    found = only(tmp_path, "type: text, config: {regex_match: ['.*', service]}")
    assert found.finding == ""  # type: ignore[attr-defined]
    assert [check.path for check in found.weak_checks] == [("regex_match", 0)]  # type: ignore[attr-defined]


def test_what_a_task_expects_is_measured_as_graders_are(tmp_path: Path) -> None:
    expected = """
        expected:
          output_contains: [healthy, Deployed]
          output_not_contains: [sorry, '']
          output_contains_any: ['', a.example]
    """
    suite = write_suite(tmp_path, {"a": task("a", expected)}, config=CONFIG)
    found = strengths(write_record(suite, {"a": [trial(ANSWER)]}))
    assert {name: each.finding for name, each in found.items()} == {
        "_output_contains": "",
        "_output_not_contains": "",
        "_output_contains_any": "never fails",
    }
    assert found["_output_contains"].type == "expected"
    assert 0 < (found["_output_contains"].strength or 0) < 1


def test_a_text_that_every_answer_holds_is_a_weak_check_of_what_is_expected(tmp_path: Path) -> None:
    suite = write_suite(
        tmp_path, {"a": task("a", "expected: {output_contains: ['', healthy]}")}, config=CONFIG
    )
    found = strengths(write_record(suite, {"a": [trial(ANSWER)]}))["_output_contains"]
    assert [check.path for check in found.weak_checks] == [("output_contains", 0)]


def test_that_an_answer_is_no_answer_proves_nothing(tmp_path: Path) -> None:
    """The mock's answer is its prompt: that graders fail on it says nothing of them."""
    suite = write_suite(
        tmp_path,
        {"a": task("a"), "b": task("b")},
        graders="- {type: text, name: it, config: {contains: [healthy], not_contains: [healthy]}}\n",
    )
    run(suite, trials=3)
    found = strengths(suite)["it"]
    assert (found.passed, found.finding, found.strength) == (0, "", None)


@pytest.mark.parametrize(("others", "finding"), [(True, "never passes"), (False, "")])
def test_a_grader_that_fails_on_everything_is_weak_where_the_others_passed(
    tmp_path: Path, others: bool, finding: str
) -> None:
    contradictory = "- {type: text, name: it, config: {contains: [healthy], not_contains: [healthy]}}\n"
    trials = [trial(ANSWER, passed={"other": others, "it": False}) for _ in range(2)]
    found = strengths(record(tmp_path, {"a": trials}, contradictory))["it"]
    assert found.finding == finding


def test_programs_judges_people_and_files_that_are_gone_are_not_asked(tmp_path: Path) -> None:
    touched = tmp_path / "touched"
    graders = (
        PROGRAM % touched
        + "- {type: prompt, name: judged, config: {prompt: Is it good?}}\n"
        + "- {type: human, name: reviewed, config: {criteria: [Is it good?]}}\n"
        + "- {type: file, name: files, config: {must_exist: [a.txt]}}\n"
    )
    found = strengths(record(tmp_path, {"a": [trial(ANSWER)]}, graders))
    assert {name: each.not_measured for name, each in found.items()} == {
        "checked": "a program judges",
        "judged": "a model judges",
        "reviewed": "a person judges",
        "files": "the files of the agent were not kept (`--keep-workspace`)",
    }
    assert not touched.exists()


def test_the_same_seed_measures_the_same(tmp_path: Path) -> None:
    suite = record(
        tmp_path,
        {"a": [trial(ANSWER)], "b": [trial("No.")]},
        "- {type: text, name: it, config: {contains: ['3 regions']}}\n",
    )
    assert strengths(suite) == strengths(suite)


def test_the_command_says_what_is_weak_and_what_it_passed_on(tmp_path: Path) -> None:
    graders = "- {type: text, name: any, config: {regex_match: ['.*']}}\n"
    suite = record(tmp_path, {"a": [trial(ANSWER)], "b": [trial("No.")]}, graders)
    done = engine("strength", suite)
    assert done.returncode == 1
    assert "`any` passes on everything: on 2 recorded trials and on all" in done.stdout
    assert "nothing at all" in done.stdout


def test_the_command_as_json_has_every_grader(tmp_path: Path) -> None:
    graders = "- {type: text, name: it, config: {contains: [healthy]}}\n"
    suite = record(tmp_path, {"a": [trial(ANSWER)]}, graders)
    done = engine("strength", suite, "--format", "json")
    (grader,) = json.loads(done.stdout)["graders"]
    assert (done.returncode, grader["name"], grader["finding"]) == (0, "it", None)
    assert grader["strength"] == grader["caught"] / grader["tried"]
    assert grader["kinds"]["nothing at all"] == {"caught": 1, "tried": 1}


def test_a_suite_without_a_record_says_what_to_do(tmp_path: Path) -> None:
    done = engine("strength", write_suite(tmp_path, {"a": task("a")}))
    assert done.returncode == 2
    assert "has no results yet" in done.stderr


@pytest.mark.parametrize(
    "pattern",
    ["deployed", r"(?i)fatal error|crash", r"^\s*\d{3}-\w+$", r"[^a-z]+\.md", r"(a)(b)\1", r"https?://\S+"],
)
def test_a_text_is_written_that_a_pattern_matches(pattern: str) -> None:
    assert pattern_samples(pattern)


def test_no_text_is_written_for_a_pattern_that_matches_none() -> None:
    assert pattern_samples(r"a\bb") == []


@pytest.mark.parametrize("name", ["code-explainer", "inline-graders", "custom-grader/suite", "prompts-file"])
def test_no_grader_of_the_examples_is_weak(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    shutil.copytree(EXAMPLES / name, tmp_path / name, ignore=shutil.ignore_patterns(".waza"))
    suite = tmp_path / name / "eval.yaml"
    run(suite, keep_workspace=True)
    found = strengths(suite)
    assert found
    assert not any("were not kept" in each.not_measured for each in found.values())
    assert [each for each in found.values() if each.finding or each.weak_checks] == []


def with_reference(directory: Path, grader: str, answer: str, reference: str = ANSWER) -> GraderStrength:
    """Return the strength of a grader on one trial of a task with a reference."""
    more = f"reference: {json.dumps(reference)}\n"
    suite = write_suite(
        directory, {"a": task("a", more)}, graders=f"- {{name: it, {grader}}}\n", config=CONFIG
    )
    return strengths(write_record(suite, {"a": [trial(answer, "bash")]}))["it"]


def test_a_grader_that_fails_on_a_good_answer_says_so(tmp_path: Path) -> None:
    grader = "type: text, config: {contains: [succeeded]}"
    found = with_reference(tmp_path, grader, "It succeeded.")
    assert [each.task for each in found.rejected] == ["a"]
    done = engine("strength", tmp_path)
    told = " ".join(done.stdout.split())
    assert done.returncode == 1
    assert "`it` fails on the reference of the task `a`, an answer known to be good" in told
    (grader_document,) = json.loads(engine("strength", tmp_path, "--format", "json").stdout)["graders"]
    assert [each["task"] for each in grader_document["rejected_references"]] == ["a"]


def test_a_reference_stands_in_where_no_recorded_answer_passes(tmp_path: Path) -> None:
    grader = "type: text, config: {contains: [healthy]}"
    found = with_reference(tmp_path / "a", grader, "No idea.")
    assert (found.passed, found.rejected, found.finding) == (0, (), "")
    assert 0 < (found.strength or 0) < 1
    assert with_reference(tmp_path / "b", grader, "No idea.", " ").strength is None


@pytest.mark.parametrize(
    "grader",
    [
        "type: tool_calls, config: {required_tools: [bash]}",
        "type: code, config: {assertions: ['len(tool_calls) > 0']}",
        "type: behavior, config: {required_tools: [bash]}",
        f"{PROGRAM % 'touched'}".strip().removeprefix("- {").removesuffix("}").replace("name: checked, ", ""),
    ],
)
def test_a_reference_is_an_answer_and_says_nothing_of_what_was_done(tmp_path: Path, grader: str) -> None:
    assert with_reference(tmp_path, grader, "Done.").rejected == ()
    assert not (tmp_path / "touched").exists()


def test_what_a_task_expects_is_held_against_its_reference(tmp_path: Path) -> None:
    more = f"reference: {json.dumps(ANSWER)}\nexpected: {{output_contains: [unhealthy]}}\n"
    suite = write_suite(tmp_path, {"a": task("a", more)}, config=CONFIG)
    found = strengths(write_record(suite, {"a": [trial("It is unhealthy.")]}))["_output_contains"]
    assert len(found.rejected) == 1
