"""Skill, test or environment: what the record of a red task bears out, and no more."""

import json
import shutil
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.engine.suites import CONFIG, only_task, run, task, write_suite
from waza_engine.results.codec.summary_blocks import task_document, task_of
from waza_engine.results.reading.scores import task_result
from waza_engine.results.record import CheckpointOutcome, TaskOutcome, TrialOutcome, Validation
from waza_engine.results.task_conclusion import Cause, cause_of, conclude_task
from waza_engine.scoring.task_scores import TrialStatus, task_statistics

pytestmark = pytest.mark.check


def verdict(name: str, *, passed: bool) -> Validation:
    return Validation(name, "text", float(passed), passed, "" if passed else "missing text: `x`")


def trial(number: int = 1, error: str = "", **graders: bool) -> TrialOutcome:
    verdicts = {name: verdict(name, passed=passed) for name, passed in graders.items()}
    status = "error" if error else "passed" if all(graders.values()) else "failed"
    return TrialOutcome(number, status, verdicts or None, output="An answer.", error=error)


def cause(*trials: TrialOutcome, executor: str = "") -> Cause:
    status = "error" if all(each.error for each in trials) else "failed"
    found = cause_of(conclude_task(TaskOutcome("a", "a", status, trials), executor))
    assert found is not None
    return found


CALM = {"short": True, "calm": True}
TWICE = (1, 2)


@pytest.mark.parametrize(
    ("trials", "kind"),
    [
        ([trial(said=False, short=True)], "skill"),
        ([trial(1, "", said=True, **CALM), trial(2, "", said=False, **CALM)], "skill"),
        ([trial(number, said=False) for number in TWICE], "skill"),
        ([trial(number, said=False, short=True) for number in TWICE], "skill"),
        # One grader stands against all others in each trial.
        ([trial(number, "", said=False, **CALM) for number in TWICE], "not known"),
        ([trial(error="the agent ended with exit code 137")], "environment"),
    ],
)
def test_the_verdicts_of_the_graders_say_whose_fault_it_is(trials: list[TrialOutcome], kind: str) -> None:
    assert cause(*trials).kind == kind


@pytest.mark.parametrize(
    ("error", "end"), [("is it on?", "is it on?"), ("it is off.", "it is off."), ("off", "off.")]
)
def test_what_broke_ends_its_sentence_with_one_sign(error: str, end: str) -> None:
    assert cause(trial(error=error)).evidence.endswith(f": {end}")


@pytest.mark.parametrize(
    ("error", "rest"), [("", "the others were found wrong"), ("the agent is gone", "1 was found wrong")]
)
def test_a_trial_that_broke_was_not_found_wrong(error: str, rest: str) -> None:
    trials = (trial(1, said=True), trial(2, said=False), trial(3, error, **{} if error else {"said": False}))
    assert cause(*trials).evidence == f"1 of 3 trials passed the same test; {rest} by `said`."


def test_graders_of_what_an_agent_said_before_it_broke_did_not_end_it() -> None:
    error = "follow-up 1/2: the agent ended with exit code 3"
    found = cause(*(trial(number, error, said=False) for number in TWICE))
    assert (found.kind, found.evidence) == ("environment", f"2 of 2 trials broke: {error}.")


def test_what_graders_say_of_a_trial_that_broke_is_no_word_on_the_answer_of_another() -> None:
    found = cause(trial(1, "no answer in time", said=True, short=False), trial(2, said=False, short=True))
    assert (found.kind, "`said`" in found.evidence, "`short`" in found.evidence) == ("skill", True, False)


@pytest.mark.parametrize(
    ("status", "executor", "kind", "told"),
    [
        ("error", "", "test", "there is no file schema.json"),
        ("failed", "", "skill", "mid after turn 2"),
        ("failed", "mock", "not known", "mid after turn 2"),
    ],
)
def test_a_checkpoint_that_ends_the_conversation_has_found_an_answer_wrong_or_broke(
    status: TrialStatus, executor: str, kind: str, told: str
) -> None:
    said = verdict("mid", passed=False)
    if status == "error":
        said = replace(said, status="error", feedback="there is no file schema.json")
    checkpoint = CheckpointOutcome(2, status, {"mid": said}, stopped=True)
    broke = replace(trial(error="the checkpoint after turn 2 did not pass"), checkpoints=(checkpoint,))
    found = cause(broke, executor=executor)
    assert (found.kind, told in found.evidence) == (kind, True)


def test_a_task_that_passed_has_no_cause() -> None:
    assert cause_of(conclude_task(TaskOutcome("a", "a", "passed", (trial(said=True),)))) is None


def test_a_grader_that_cannot_grade_is_the_test(tmp_path: Path) -> None:
    grader = "- {type: json_schema, name: shape, config: {schema_file: none.json, extract_json: true}}\n"
    suite = write_suite(tmp_path, {"a": task("a", prompt="'{}'")}, graders=grader, config=CONFIG)
    found = conclude_task(only_task(run(suite)[0]))
    assert found.cause is not None
    assert (found.cause.kind, "`shape` could not grade" in found.cause.evidence) == ("test", True)


def test_what_a_mock_answered_says_nothing_of_the_skill() -> None:
    assert cause(trial(said=False), executor="mock") == Cause(
        "not known", "`mock` answered instead of an agent with the skill; `said` found the answer wrong."
    )


def test_the_document_of_a_task_says_its_cause() -> None:
    found = conclude_task(TaskOutcome("a", "a", "failed", (trial(said=False),)))
    assert found.document()["cause"] == {
        "kind": "skill",
        "evidence": "The answer was found wrong by `said`, and nothing contradicts that.",
    }


HANGING = """
- type: program
  name: slow
  config: {command: python3, args: [-c, "import time; time.sleep(60)"], timeout: 1}
"""


def cause_in_a_run(directory: Path, graders: str) -> tuple[str, str]:
    suite = write_suite(directory, {"a": task("a")}, graders=graders, config=CONFIG)
    found = conclude_task(only_task(run(suite)[0])).cause
    assert found is not None
    return found.kind, found.evidence


def test_a_program_that_hangs_has_found_no_answer_wrong(tmp_path: Path) -> None:
    kind, evidence = cause_in_a_run(tmp_path, HANGING)
    assert kind == "not known"
    assert evidence == (
        "`slow` said nothing of the answer: `python3` did not end by itself and was killed after 1 second. "
        "The answer or this grader is wrong."
    )


def test_a_program_that_is_not_there_is_the_test(tmp_path: Path) -> None:
    graders = "- {type: program, name: gone, config: {command: no-such-program-here}}\n"
    kind, evidence = cause_in_a_run(tmp_path, graders)
    assert kind == "test"
    assert "`gone` said nothing of the answer: `no-such-program-here` cannot be started" in evidence


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
def test_a_program_that_was_ended_by_a_signal_says_which(tmp_path: Path) -> None:
    kills = '"import os; os.kill(os.getpid(), 9)"'
    graders = f"- {{type: program, name: dies, config: {{command: python3, args: [-c, {kills}]}}}}\n"
    kind, evidence = cause_in_a_run(tmp_path, graders)
    assert (kind, "`python3` was ended by the signal SIGKILL" in evidence) == ("not known", True)


def test_only_what_judged_the_answer_found_it_wrong(tmp_path: Path) -> None:
    judged = "- {type: text, name: adieu, config: {contains: [adieu]}}\n"
    kind, evidence = cause_in_a_run(tmp_path, f"{HANGING}{judged}")
    assert kind == "skill"
    assert evidence == "The answer was found wrong by `adieu`, and nothing contradicts that."


def test_assertions_that_take_too_long_have_found_nothing_wrong(tmp_path: Path) -> None:
    each = " ".join(f"for {name} in o" for name in "abcdefgh")
    graders = f"- {{type: code, name: late, config: {{assertions: ['all(1 for o in [output] {each})']}}}}\n"
    kind, evidence = cause_in_a_run(tmp_path, graders)
    assert (kind, "`late` said nothing of the answer" in evidence) == ("not known", True)


def test_a_hook_that_failed_before_a_task_is_the_environment(tmp_path: Path) -> None:
    hooks = "hooks: {before_task: [{command: python3 -c exit(3), error_on_fail: true}]}\n"
    suite = write_suite(tmp_path, {"a": task("a")}, config=CONFIG, more=hooks)
    found = conclude_task(only_task(run(suite)[0])).cause
    assert found is not None
    assert (found.kind, "the hook `python3 -c exit(3)` exited with 3" in found.evidence) == (
        "environment",
        True,
    )


@pytest.mark.parametrize(
    ("assertions", "kind", "told"),
    [
        (["length > 3"], "test", "`shape` said nothing of the answer: length > 3: the name `length` does"),
        (["len(output) > 0", "output says hello"], "test", "output says hello: not a Python expression"),
        (["output.__globals__ is str"], "test", "the attribute `__globals__` is not allowed in an assertion"),
        (["all(word in output for word in ['a'])"], "test", "`output` is not visible inside a comprehension"),
        (["tool_calls[0]['name'] == 'bash'"], "not known", "IndexError: list index out of range. The answer"),
        (["length > 3", "tool_calls[0]"], "not known", "length > 3: the name `length` does not exist here"),
        (["output and len(errors) and (n := 5)", "n > 3"], "skill", "found wrong by `shape`"),
        (["len(errors) < 0 or (n := 5)", "(m := n + 'a')", "m"], "not known", "The answer or this grader"),
        (["length > 3", "len(output) == 0"], "skill", "found wrong by `shape`"),
    ],
)
def test_assertions_that_raise_have_found_nothing_wrong(
    tmp_path: Path, assertions: list[str], kind: str, told: str
) -> None:
    config = json.dumps({"assertions": assertions})
    found = cause_in_a_run(tmp_path, f"- {{type: code, name: shape, config: {config}}}\n")
    assert (found[0], told in found[1]) == (kind, True), found


@pytest.mark.parametrize(
    ("grader", "kind"),
    [
        ("type: text, name: shape, config: {regex_match: ['(']}", "test"),
        ("type: regex, name: shape, config: {must_not_match: ['(']}", "test"),
        ("type: text, name: shape, config: {regex_match: ['('], contains: [nowhere]}", "skill"),
        (
            "type: file, name: shape, config: {globs: true, content_patterns: [{path: '*.txt', "
            "must_not_match: ['(']}]}",
            "test",
        ),
    ],
)
def test_an_invalid_pattern_has_found_nothing_wrong(tmp_path: Path, grader: str, kind: str) -> None:
    found = cause_in_a_run(tmp_path, f"- {{{grader}}}\n")
    assert (found[0], "said nothing of the answer: " in found[1]) == (kind, kind == "test"), found


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
@pytest.mark.parametrize(("assertion", "kind"), [("output.(", "test"), ("tool_calls[0].name", "not known")])
def test_javascript_that_raises_has_found_nothing_wrong(tmp_path: Path, assertion: str, kind: str) -> None:
    config = json.dumps({"language": "javascript", "assertions": [assertion]})
    found = cause_in_a_run(tmp_path, f"- {{type: code, name: shape, config: {config}}}\n")
    assert (found[0], "`shape` said nothing of the answer" in found[1]) == (kind, True), found


def test_an_agent_that_broke_after_it_had_said_something_has_no_score() -> None:
    said = TrialOutcome(1, "error", {"g": verdict("g", passed=True)}, error="no answer in time")
    assert (said.score.score, said.score.weighted_score) == (0.0, 0.0)
    written = task_of(task_document(TaskOutcome("a", "A", "error", (said,), task_statistics([said.score]))))
    found = conclude_task(written)
    assert (found.verdict, found.score) == ("errored", 0.0)
    assert found.cause is not None
    assert found.cause.evidence == "1 of 1 trial broke: no answer in time."
    assert task_result(task_of(task_document(written)), datetime.now(UTC)).score == 0.0
