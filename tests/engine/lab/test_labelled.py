"""Answers that are labelled good or bad, held against the graders of their tasks."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import Finished, engine
from tests.engine.lab.recorded import record, trial, write_record
from tests.engine.suites import CONFIG, task, write_suite
from waza_engine.lab.labels import LabelsError, read_labels

SAYS_READY = "- {type: text, name: ready, config: {contains: ['state: ready']}}\n"
FORBIDS = "- {type: text, name: calm, config: {not_contains: [forbidden]}}\n"
READY, WRONG = "state: ready", "state: wrong"

Case = Mapping[str, Any]


def authored(folder: Path, name: str, output: str | None) -> dict[str, str]:
    """Write an answer as its author leaves it; return what leads to it."""
    document = {
        "schemaVersion": "2.0",
        "kind": "waza.grader-reference-input",
        "payload": {"schema_version": "1.0", "id": name, "output": output},
    }
    content = json.dumps(document).encode()
    (folder / f"{name}.json").write_bytes(content)
    return {"path": f"{name}.json", "document_sha256": hashlib.sha256(content).hexdigest()}


def case(
    folder: Path, name: str, classification: str, output: str | None, **expected: bool
) -> dict[str, Any]:
    """Return a case of the task ``a``; ``expected`` is what graders should say by their names."""
    return {
        "id": name,
        "classification": classification,
        "task_id": "a",
        "authored_input": authored(folder, name, output),
        "checks": [
            {"check": {"scope": "eval", "grader": grader}, "expected_passed": passed}
            for grader, passed in expected.items()
        ],
    }


def labels(folder: Path, *cases: Case) -> Path:
    """Write a file of labels; return its path."""
    path = folder / "labels.json"
    document = {"kind": "waza.grader-reference", "schema_version": "1.0", "cases": cases}
    path.write_text(json.dumps(document), "utf-8")
    return path


def suite(folder: Path, graders: str = SAYS_READY, more: str = "") -> Path:
    """Return a recorded suite with the task ``a``, whose graders are not weak."""
    made = write_suite(folder, {"a": task("a", more)}, graders=graders, config=CONFIG)
    return write_record(made, {"a": [trial(READY, "bash")]})


def judged(folder: Path, *cases: Case, graders: str = SAYS_READY) -> tuple[Finished, list[dict[str, Any]]]:
    """Hold cases against the graders of a suite; return the command and what it says of each of them."""
    path = labels(folder, *cases)
    done = engine("strength", suite(folder, graders), "--references", path, "--format", "json")
    assert done.returncode in (0, 1), done.stderr
    return done, json.loads(done.stdout)["references"]["cases"]


def refused(folder: Path, *cases: Case) -> str:
    """Return what is said of labels that cannot be used."""
    done = engine("strength", suite(folder), "--references", labels(folder, *cases))
    assert (done.returncode, done.stdout) == (2, "")
    return done.stderr


def test_answers_that_are_judged_as_labelled_are_no_finding(tmp_path: Path) -> None:
    done, found = judged(
        tmp_path,
        case(tmp_path, "good", "good", READY, ready=True),
        case(tmp_path, "other", "alternative_valid", f"note: it was\n{READY}"),
        case(tmp_path, "bad", "critical_bad", WRONG, ready=False),
    )
    assert done.returncode == 0
    assert [(each["id"], each["judged"], each["messages"]) for each in found] == [
        ("good", "as labelled", []),
        ("other", "as labelled", []),
        ("bad", "as labelled", []),
    ]


@pytest.mark.parametrize(
    ("classification", "words"),
    [("good", "the good answer"), ("alternative_valid", "the valid alternative answer")],
)
def test_a_grader_that_fails_a_good_answer_is_told_with_its_words(
    tmp_path: Path, classification: str, words: str
) -> None:
    done, (found,) = judged(tmp_path, case(tmp_path, "it", classification, "It is ready."))
    (grader,) = found["graders"]
    assert (done.returncode, found["judged"], found["rejected_by"]) == (1, "otherwise", ["ready"])
    (message,) = found["messages"]
    assert message.startswith(f"`ready` fails on {words} `it` to the task `a`: ")
    assert grader["feedback"].rstrip(".") in message


def test_a_bad_answer_that_all_graders_pass_would_be_let_through(tmp_path: Path) -> None:
    done, (found,) = judged(
        tmp_path,
        case(tmp_path, "it", "critical_bad", f"{READY}\ndeleted: all"),
        graders=SAYS_READY + FORBIDS,
    )
    assert (done.returncode, found["judged"], found["let_through"]) == (1, "otherwise", True)
    assert found["messages"] == [
        "The bad answer `it` to the task `a` passes all its graders: the suite would let it through."
    ]


def test_one_grader_that_fails_a_bad_answer_is_enough(tmp_path: Path) -> None:
    done, (found,) = judged(
        tmp_path,
        case(tmp_path, "it", "critical_bad", f"{READY}\nforbidden: yes"),
        graders=SAYS_READY + FORBIDS,
    )
    assert (done.returncode, found["judged"]) == (0, "as labelled")
    assert {grader["name"]: grader["passed"] for grader in found["graders"]} == {"ready": True, "calm": False}


@pytest.mark.parametrize(
    ("expected", "says"),
    [
        (
            {"ready": False},
            "`ready` passes on the bad answer `it` to the task `a`, where its label says that ",
        ),
        ({"calm": True}, "`calm` fails on the bad answer `it` to the task `a`, where its label says that "),
    ],
)
def test_a_grader_that_says_otherwise_than_its_check_is_told(
    tmp_path: Path, expected: dict[str, bool], says: str
) -> None:
    done, (found,) = judged(
        tmp_path,
        case(tmp_path, "it", "critical_bad", f"{READY}\nforbidden: yes", **expected),
        graders=SAYS_READY + FORBIDS,
    )
    assert (done.returncode, found["differing"]) == (1, list(expected))
    assert found["messages"][0].startswith(says)


def test_a_good_answer_may_fail_a_grader_whose_check_says_so(tmp_path: Path) -> None:
    done, (found,) = judged(tmp_path, case(tmp_path, "it", "good", "It is ready.", ready=False))
    assert (done.returncode, found["judged"]) == (0, "as labelled")


@pytest.mark.parametrize(
    ("grader", "why"),
    [
        ("{type: prompt, name: other, config: {prompt: Good?}}", "a model judges"),
        (
            "{type: tool_calls, name: other, config: {required_tools: [bash]}}",
            "more than the answer decides it",
        ),
    ],
)
def test_where_graders_cannot_be_asked_nobody_knows_what_is_let_through(
    tmp_path: Path, grader: str, why: str
) -> None:
    _, (found,) = judged(
        tmp_path, case(tmp_path, "it", "critical_bad", READY), graders=f"{SAYS_READY}- {grader}\n"
    )
    assert (found["judged"], found["let_through"]) == ("not decided", False)
    assert found["not_asked"] == [{"name": "other", "reason": why}]
    assert f"not asked: `other` ({why})" in found["messages"][0]


@pytest.mark.parametrize("assertion", ["'ready' in output", "len(output) > 3"])
def test_assertions_on_the_answer_are_evaluated(tmp_path: Path, assertion: str) -> None:
    grader = f'- {{type: code, name: it, config: {{assertions: ["{assertion}"]}}}}\n'
    _, found = judged(
        tmp_path,
        case(tmp_path, "good", "good", READY),
        case(tmp_path, "bad", "critical_bad", "No."),
        graders=grader,
    )
    assert [each["judged"] for each in found] == ["as labelled", "as labelled"]


def test_a_program_of_the_suite_is_not_started_for_a_label(tmp_path: Path) -> None:
    touched = tmp_path / "touched"
    program = f"- {{type: program, name: it, config: {{command: touch, args: ['{touched}']}}}}\n"
    judged(tmp_path, case(tmp_path, "it", "good", READY), graders=program)
    assert not touched.exists()


def test_what_a_task_expects_is_asked_as_graders_are(tmp_path: Path) -> None:
    path = labels(tmp_path, case(tmp_path, "it", "good", "It is ready."))
    made = suite(tmp_path, more="expected: {output_contains: ['state: ready']}\n")
    told = " ".join(engine("strength", made, "--references", path).stdout.split())
    assert "`expected.output_contains` fails on the good answer `it` to the task `a`" in told


def test_a_snapshot_of_a_trial_gives_its_answer(tmp_path: Path) -> None:
    snapshot = {
        "kind": "task-snapshot",
        "task": {"testId": "a", "runNumber": 2},
        "result": {"status": "passed", "finalOutput": WRONG},
    }
    (tmp_path / "it.json").write_text(json.dumps(snapshot), "utf-8")
    recorded = {"id": "it", "classification": "good", "task_id": "a", "snapshot": "it.json"}
    done, (found,) = judged(tmp_path, recorded)
    assert (done.returncode, found["rejected_by"]) == (1, ["ready"])


@pytest.mark.parametrize(
    ("document", "why"),
    [
        ({"kind": "preserved-files"}, "it.json is no snapshot of a trial"),
        ({"kind": "task-snapshot", "task": {"testId": "a"}}, "it.json holds no answer"),
    ],
)
def test_a_snapshot_without_an_answer_is_left_out_and_that_is_said(
    tmp_path: Path, document: dict[str, Any], why: str
) -> None:
    (tmp_path / "it.json").write_text(json.dumps(document), "utf-8")
    done, (found,) = judged(
        tmp_path, {"id": "it", "classification": "critical_bad", "task_id": "a", "snapshot": "it.json"}
    )
    assert (done.returncode, found["judged"]) == (0, "left out")
    assert f"is left out: {why}" in found["messages"][0]


def test_an_answer_that_is_not_available_is_no_bad_answer(tmp_path: Path) -> None:
    _, (found,) = judged(tmp_path, case(tmp_path, "it", "critical_bad", None))
    assert (found["judged"], found["graders"]) == ("left out", [])


def test_an_empty_answer_is_an_answer(tmp_path: Path) -> None:
    _, (found,) = judged(tmp_path, case(tmp_path, "it", "critical_bad", ""))
    assert found["judged"] == "as labelled"


def test_a_task_that_was_not_recorded_is_left_out(tmp_path: Path) -> None:
    made = write_suite(tmp_path, {"a": task("a"), "b": task("b")}, graders=SAYS_READY, config=CONFIG)
    write_record(made, {"b": [trial(READY)]})
    path = labels(tmp_path, case(tmp_path, "it", "good", WRONG))
    done = engine("strength", made, "--references", path)
    assert done.returncode == 0
    assert "`it` to the task `a` is left out: the record has no such task" in done.stdout


def test_with_some_graders_alone_nothing_is_said_to_be_let_through(tmp_path: Path) -> None:
    path = labels(tmp_path, case(tmp_path, "it", "critical_bad", f"{READY}\nforbidden"))
    done = engine(
        "strength", suite(tmp_path, SAYS_READY + FORBIDS), "--references", path, "--grader", "ready"
    )
    assert "is not decided" in done.stdout
    assert "let it through" not in done.stdout


def test_a_check_of_a_checkpoint_is_not_decided(tmp_path: Path) -> None:
    labelled = case(tmp_path, "it", "good", READY)
    check = {"scope": "checkpoint", "grader": "ready", "after_turn": 1}
    labelled["checks"] = [{"check": check, "expected_passed": False}]
    _, (found,) = judged(tmp_path, labelled)
    assert (found["judged"], found["differing"]) == ("not decided", [])


def test_a_grader_at_a_checkpoint_might_catch_a_bad_answer(tmp_path: Path) -> None:
    more = f"""
        checkpoints:
          - {{after_turn: 1, graders: [{FORBIDS.strip().removeprefix("- ")}]}}
    """
    path = labels(tmp_path, case(tmp_path, "it", "critical_bad", READY))
    done = engine("strength", suite(tmp_path, more=more), "--references", path)
    assert "is not decided" in done.stdout


def test_a_check_of_a_grader_that_is_not_there_excuses_nothing(tmp_path: Path) -> None:
    _, (found,) = judged(tmp_path, case(tmp_path, "it", "critical_bad", READY, missing=False))
    assert (found["judged"], found["let_through"]) == ("otherwise", True)
    assert [each["name"] for each in found["not_asked"]] == ["missing"]


def test_the_command_tells_people_what_became_of_the_labels(tmp_path: Path) -> None:
    path = labels(
        tmp_path,
        case(tmp_path, "fine", "good", READY),
        case(tmp_path, "wordy", "good", "It is ready."),
        case(tmp_path, "gone", "good", None),
    )
    done = engine("strength", suite(tmp_path), "--references", path)
    assert done.returncode == 1
    assert "⚠ `ready` fails on the good answer `wordy`" in done.stdout
    assert "labels.json: 3 labelled answers: 1 as labelled, 1 otherwise, 1 left out" in done.stdout


def test_without_labels_nothing_is_said_of_them(tmp_path: Path) -> None:
    made = record(tmp_path, {"a": [trial(READY)]}, SAYS_READY)
    assert "references" not in json.loads(engine("strength", made, "--format", "json").stdout)


def test_an_answer_that_was_changed_since_is_refused(tmp_path: Path) -> None:
    labelled = case(tmp_path, "it", "good", READY)
    authored(tmp_path, "it", WRONG)
    assert "it.json is not the file that was labelled: its SHA-256 is" in refused(tmp_path, labelled)


def test_every_case_that_cannot_be_used_is_told_at_once(tmp_path: Path) -> None:
    gone, unknown = case(tmp_path, "gone", "good", READY), case(tmp_path, "odd", "fine", READY)
    (tmp_path / "gone.json").unlink()
    told = refused(tmp_path, gone, unknown)
    assert "the case `gone`: gone.json cannot be read: the file does not exist." in told
    assert "the case `odd` has no `classification` of `good`, `alternative_valid`, `critical_bad`." in told


def test_a_case_of_a_task_that_the_suite_does_not_have_is_refused(tmp_path: Path) -> None:
    labelled = {**case(tmp_path, "it", "good", READY), "task_id": "z"}
    assert "the case `it` is of the task `z`, which the suite does not have" in refused(tmp_path, labelled)


@pytest.mark.parametrize("place", ["../it.json", "/it.json", "a/../../it.json", "."])
def test_an_answer_outside_the_folder_of_the_labels_is_not_read(tmp_path: Path, place: str) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    labelled = case(tmp_path, "it", "good", READY)
    labelled["authored_input"]["path"] = place
    with pytest.raises(LabelsError, match="leads out of the folder of the labels"):
        read_labels(labels(inside, labelled))


def test_a_link_out_of_the_folder_of_the_labels_is_not_followed(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    labelled = case(tmp_path, "it", "good", READY)
    (inside / "it.json").symlink_to(tmp_path / "it.json")
    with pytest.raises(LabelsError, match="a link leads out of the folder of the labels"):
        read_labels(labels(inside, labelled))


def test_an_answer_that_is_too_large_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LabelsError, match="the file is larger than 1 MiB"):
        read_labels(labels(tmp_path, case(tmp_path, "it", "good", "x" * 1024 * 1024)))


def test_two_cases_of_one_name_are_refused(tmp_path: Path) -> None:
    labelled = case(tmp_path, "it", "good", READY)
    with pytest.raises(LabelsError, match="the case `it` is there twice"):
        read_labels(labels(tmp_path, labelled, labelled))


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("{\n,", "is no JSON: see line 2"),
        ("[]", "must be a JSON object"),
        ("[" * 100_000, "nested too deeply"),
        ('{"kind": "other"}', "must have `kind: waza.grader-reference`"),
        ('{"kind": "waza.grader-reference", "schema_version": "2.0"}', "`schema_version` must be 1.0"),
        ('{"kind": "waza.grader-reference", "schema_version": "1.0", "cases": []}', "have no list `cases`"),
        ('{"kind": "waza.grader-reference", "schema_version": "1.0", "cases": [1]}', "must be an object"),
        ('{"kind": "waza.grader-reference", "schema_version": "1.0", "cases": [{}]}', "case 1 has no `id`"),
        (
            '{"kind": "waza.grader-reference", "schema_version": "1.0", "cases": [' + "{}," * 1000 + "{}]}",
            "more than 1,000 cases",
        ),
        ("\udcff", "is not UTF-8 text"),
    ],
)
def test_what_is_no_file_of_labels_says_why(tmp_path: Path, content: str, why: str) -> None:
    path = tmp_path / "labels.json"
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(LabelsError, match=why):
        read_labels(path)


def test_half_a_character_is_no_answer(tmp_path: Path) -> None:
    with pytest.raises(LabelsError, match="half of a character"):
        read_labels(labels(tmp_path, case(tmp_path, "it", "good", "\ud800")))


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    path = labels(tmp_path, case(tmp_path, "it", "good", READY))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert [each.answer for each in read_labels(path)] == [READY]


def test_a_name_that_is_no_text_can_be_told(tmp_path: Path) -> None:
    labelled = {**case(tmp_path, "it", "good", "It is ready."), "id": "\ud800\n"}
    made, path = suite(tmp_path), labels(tmp_path, labelled)
    assert engine("strength", made, "--references", path).returncode == 1
    assert engine("strength", made, "--references", path, "--format", "json").returncode == 1


def test_labels_that_are_not_there_end_the_command(tmp_path: Path) -> None:
    done = engine("strength", suite(tmp_path), "--references", tmp_path / "none.json")
    assert done.returncode == 2
    assert "none.json cannot be read: the file does not exist." in done.stderr
