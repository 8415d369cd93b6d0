"""Answers with a label, as upstream's ``waza assure --references`` reads them: good, other and bad ones.

Source: upstream's ``schemas/grader-reference-1.0.schema.json`` and ``docs/GRADER-CHALLENGES.md``. Fields that
bind labels to one version of a suite and of upstream's program (digests of declarations, manifests, reviews)
are ignored, except for the digest of the answer's own file. Unknown keys are no error.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Literal, cast, get_args

from waza_engine.counting import counted
from waza_engine.executors.executor import Cancellation
from waza_engine.executors.replay import snapshot_in
from waza_engine.files import Boundary, FileError, read_bytes
from waza_engine.graders.matching.strings import shortened
from waza_engine.lab.measuring import NO_EVIDENCE, built_expectations, reads_answers_alone, why_not_measured
from waza_engine.results.json_values import Block, block_of, blocks_of, text_of
from waza_engine.runs.grading.graders import BuiltGrader, grade
from waza_engine.runs.loading.suite_on_disk import SuiteError
from waza_engine.runs.regrading.regrade import GradableTask
from waza_engine.vocabulary import grader_label

LONGEST_LABELS_BYTES = 16 * 1024 * 1024
LONGEST_ANSWER_BYTES = 1024 * 1024
"""Of a file with one written answer, as upstream has it."""
LONGEST_SNAPSHOT_BYTES = 32 * 1024 * 1024
MOST_CASES = 1000
_KIND, _INPUT_KIND, _SNAPSHOT_KIND = "waza.grader-reference", "waza.grader-reference-input", "task-snapshot"
_VERSION, _INPUT_VERSION = "1", "2"

Classification = Literal["good", "alternative_valid", "critical_bad"]
_CLASSIFICATIONS: Mapping[str, Classification] = {word: word for word in get_args(Classification)}


class LabelsError(SuiteError):
    """The labels cannot be used; the sentences are for their author."""


@dataclass(frozen=True, slots=True)
class LabelledCheck:
    """One grader's expected verdict on an answer; ``at_checkpoint``: in the middle of a conversation."""

    grader: str
    passed: bool
    at_checkpoint: bool = False


@dataclass(frozen=True, slots=True)
class LabelledCase:
    """An answer to a task, and its label; without ``answer`` it is ``left_out``, and why."""

    id: str
    task: str
    classification: Classification
    checks: tuple[LabelledCheck, ...] = ()
    answer: str = ""
    left_out: str = ""


def read_labels(path: Path) -> list[LabelledCase]:
    """Return the cases of a file of labels, in its order. Raises ``LabelsError``."""
    document = _document(path, LONGEST_LABELS_BYTES, f"The labels {path}", None)[1]
    _check_form(document, _KIND, "schema_version", _VERSION, f"The labels {path}")
    listed = document.get("cases")
    blocks = blocks_of(listed)
    if not isinstance(listed, list) or not listed:
        raise LabelsError(f"The labels {path} have no list `cases` of labelled answers.")
    if len(blocks) < len(cast("list[Any]", listed)):
        raise LabelsError(f"The labels {path}: each of `cases` must be an object.")
    if len(blocks) > MOST_CASES:
        raise LabelsError(f"The labels {path} have more than {MOST_CASES:,} cases; write several files.")
    cases: list[LabelledCase] = []
    wrong: dict[str, None] = {}
    taken: set[str] = set()
    for position, block in enumerate(blocks, 1):
        identifier = text_of(block.get("id"))
        name = f"{path}: the case `{identifier}`" if identifier else f"{path}: case {position}"
        try:
            if identifier in taken:
                raise LabelsError(f"{name} is there twice; give each its own `id`.")
            cases.append(_case(block, identifier, name, path.parent))
        except LabelsError as error:
            wrong |= dict.fromkeys(error.sentences)
        taken.add(identifier)
    if wrong:
        raise LabelsError(*wrong)
    return cases


def check_tasks(path: Path, cases: Sequence[LabelledCase], known: Sequence[str]) -> None:
    """Raise ``LabelsError`` when cases belong to tasks that are not among those of the suite."""
    wrong = [
        f"{path}: the case `{case.id}` is of the task `{case.task}`, which the suite does not have."
        for case in cases
        if case.task not in known
    ]
    if wrong:
        raise LabelsError(*wrong)


def _case(block: Block, identifier: str, name: str, folder: Path) -> LabelledCase:
    if not identifier:
        raise LabelsError(f"{name} has no `id`.")
    classification = _CLASSIFICATIONS.get(text_of(block.get("classification")))
    if classification is None:
        words = ", ".join(f"`{word}`" for word in _CLASSIFICATIONS)
        raise LabelsError(f"{name} has no `classification` of {words}.")
    task = text_of(block.get("task_id"))
    if not task:
        raise LabelsError(f"{name} has no `task_id`.")
    if ("snapshot" in block) == ("authored_input" in block):
        raise LabelsError(f"{name} must have either `authored_input` or `snapshot`, the file of its answer.")
    checks = tuple(_checks(block, name))
    if "snapshot" in block:
        answer, left_out = _recorded_answer(text_of(block["snapshot"]), task, name, folder)
    else:
        answer, left_out = _authored_answer(block_of(block, "authored_input"), name, folder)
    return LabelledCase(identifier, task, classification, checks, answer, left_out)


def _checks(block: Block, name: str) -> Iterator[LabelledCheck]:
    for listed in blocks_of(block.get("checks")):
        check, passed = block_of(listed, "check"), listed.get("expected_passed")
        grader = text_of(check.get("grader"))
        if not grader or not isinstance(passed, bool):
            raise LabelsError(f"{name}: each of `checks` needs `check.grader` and `expected_passed`.")
        yield LabelledCheck(grader, passed, check.get("scope") == "checkpoint")


def _authored_answer(written: Block, name: str, folder: Path) -> tuple[str, str]:
    """Return the hand-written answer, or why there is none."""
    place, digest = text_of(written.get("path")), text_of(written.get("document_sha256"))
    if not place or not digest:
        raise LabelsError(f"{name}: `authored_input` needs `path` and `document_sha256`.")
    what = f"{name}: {place}"
    content, document = _document(_inside(folder, place, what), LONGEST_ANSWER_BYTES, what, folder)
    found = hashlib.sha256(content).hexdigest()
    if found != digest.lower():
        raise LabelsError(
            f"{what} is not the file that was labelled: its SHA-256 is {found}, and `document_sha256` says "
            f"{digest}."
        )
    _check_form(document, _INPUT_KIND, "schemaVersion", _INPUT_VERSION, what)
    answer = block_of(document, "payload").get("output")
    if answer is None and "output" in block_of(document, "payload"):
        return "", "its answer is not available (`output` is null)"
    return _text(answer, what, "payload.output"), ""


def _recorded_answer(place: str, task: str, name: str, folder: Path) -> tuple[str, str]:
    """Return the answer of a recorded trial, or why there is none."""
    if not place:
        raise LabelsError(f"{name}: `snapshot` must be the path of a file.")
    what = f"{name}: {place}"
    path = _inside(folder, place, what)
    document = _document(path, LONGEST_SNAPSHOT_BYTES, what, folder)[1]
    if document.get("kind") != _SNAPSHOT_KIND:
        return "", f"{place} is no snapshot of a trial (`kind: {_SNAPSHOT_KIND}`)"
    trials = snapshot_in(path, document).trials
    if task not in trials:
        raise LabelsError(f"{what} is a trial of the task `{next(iter(trials))}`, and not of `{task}`.")
    (trial,) = trials[task].values()
    if not trial.output:
        return "", f"{place} holds no answer"
    return _text(trial.output, what, "result.finalOutput"), ""


def _inside(folder: Path, place: str, what: str) -> Path:
    """Return the path of a file below a folder; links are followed when it is read."""
    base = os.path.abspath(folder)  # noqa: PTH100 - links stay
    path = os.path.normpath(os.path.join(base, place))  # noqa: PTH118 - of any make
    if not path.startswith(base.rstrip(os.sep) + os.sep):
        raise LabelsError(f"{what} leads out of the folder of the labels; put the file beside them.")
    return Path(path)


def _document(path: Path, most: int, what: str, folder: Path | None) -> tuple[bytes, Mapping[str, Any]]:
    """Return the bytes of a file, and the JSON object that they are."""
    within = None if folder is None else Boundary.around(folder, name="the folder of the labels")
    try:
        content = read_bytes(path, most, within=within)
    except FileError as error:
        raise LabelsError(f"{what} cannot be read: {error.why}.") from None
    try:
        document: object = json.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise LabelsError(f"{what} is not UTF-8 text.") from None
    except json.JSONDecodeError as error:
        raise LabelsError(f"{what} is no JSON: see line {error.lineno}.") from None
    except (ValueError, RecursionError):
        raise LabelsError(f"{what} cannot be read: its values are too long or nested too deeply.") from None
    if not isinstance(document, dict):
        raise LabelsError(f"{what} must be a JSON object.")
    return content, cast("dict[str, Any]", document)


def _check_form(document: Block, kind: str, version_key: str, major: str, what: str) -> None:
    if document.get("kind") != kind:
        raise LabelsError(f"{what} must have `kind: {kind}`.")
    version = text_of(document.get(version_key))
    if version.partition(".")[0] != major:
        raise LabelsError(f"{what}: `{version_key}` must be {major}.0; no other version can be read.")


def _text(answer: object, what: str, key: str) -> str:
    if not isinstance(answer, str):
        raise LabelsError(f"{what} has no text at `{key}`.")
    try:
        answer.encode()
    except UnicodeEncodeError:
        raise LabelsError(f"{what}: `{key}` holds half of a character, which is no text.") from None
    return answer


Judged = Literal["as labelled", "otherwise", "not decided", "left out"]

NOT_RECORDED = "the record has no such task, or it was not asked for"
_BY_MORE = "more than the answer decides it"
_AT_CHECKPOINT = "what a checkpoint says is not graded"
_NO_GRADER = "the task has no such grader, or it was not asked for"


@dataclass(frozen=True, slots=True)
class CheckedVerdict:
    """A grader's verdict on an answer; ``expected`` is that of its check, None without one."""

    grader: str
    passed: bool
    feedback: str
    expected: bool | None = None


@dataclass(frozen=True, slots=True)
class NotAsked:
    """A grader that could not be asked of an answer, and why, one clause; ``checked``: a check names it."""

    grader: str
    why: str
    checked: bool = False


@dataclass(frozen=True, slots=True)
class LabelledCaseVerdicts:
    """A labelled answer and its task's verdicts.

    ``rejected`` are those that fail it though it is good, ``differing`` those that contradict their check;
    ``let_through``: it is bad, and all graders of its task pass it.
    """

    case: LabelledCase
    judged: Judged
    verdicts: tuple[CheckedVerdict, ...] = ()
    not_asked: tuple[NotAsked, ...] = ()
    rejected: tuple[CheckedVerdict, ...] = ()
    differing: tuple[CheckedVerdict, ...] = ()
    let_through: bool = False


def judge_labelled(
    cases: Sequence[LabelledCase],
    tasks: Sequence[GradableTask],
    cancellation: Cancellation,
    *,
    all_graders: bool,
) -> list[LabelledCaseVerdicts]:
    """Return the verdicts on each case. ``all_graders`` is true if no grader was deselected by its name.

    Raises ``CancelledRunError``.
    """
    by_id: dict[str, GradableTask] = {}
    for task in tasks:
        by_id.setdefault(task.recorded.id, task)
    found: list[LabelledCaseVerdicts] = []
    for case in cases:
        task = by_id.get(case.task)
        if case.left_out or task is None:
            why = case.left_out or NOT_RECORDED
            found.append(LabelledCaseVerdicts(replace(case, left_out=why), "left out"))
        else:
            found.append(_judge_case(case, task, cancellation, all_graders=all_graders))
    return found


def _judge_case(
    case: LabelledCase, task: GradableTask, cancellation: Cancellation, *, all_graders: bool
) -> LabelledCaseVerdicts:
    graders = [*chain(task.task.graders, built_expectations(task.task))]
    verdicts, not_asked = _ask_graders(case, task, graders, cancellation)
    may_be_caught = bool(not_asked) or not all_graders or bool(task.task.spec.checkpoints)
    not_asked += _unknown(case, graders)
    rejected = tuple(
        each
        for each in verdicts
        if case.classification != "critical_bad" and not each.passed and each.expected is not False
    )
    differing = tuple(
        each
        for each in verdicts
        if each.expected is not None and each.expected != each.passed and each not in rejected
    )
    caught = any(not each.passed for each in verdicts)
    bad = case.classification == "critical_bad"
    let_through = bad and bool(verdicts) and not caught and not may_be_caught
    judged: Judged = "as labelled"
    if rejected or differing or let_through:
        judged = "otherwise"
    elif not verdicts or (bad and not caught) or any(each.checked for each in not_asked):
        judged = "not decided"
    return LabelledCaseVerdicts(
        case, judged, tuple(verdicts), tuple(not_asked), rejected, differing, let_through
    )


def _ask_graders(
    case: LabelledCase, task: GradableTask, graders: Sequence[BuiltGrader], cancellation: Cancellation
) -> tuple[list[CheckedVerdict], list[NotAsked]]:
    """Return the verdicts on an answer, and the graders without one."""
    context = replace(task.context, output=case.answer)
    expected = {check.grader: check.passed for check in case.checks if not check.at_checkpoint}
    verdicts: list[CheckedVerdict] = []
    not_asked: list[NotAsked] = []
    for built in graders:
        why = why_not_measured(built)
        if why == NO_EVIDENCE:
            # Its verdict is the same for every answer, and so for this one.
            why = ""
        elif not why and not reads_answers_alone(built):
            why = _BY_MORE
        if not why:
            (verdict,) = grade((built,), context, cancellation)
            if verdict.status == "graded":
                verdicts.append(
                    CheckedVerdict(built.name, verdict.passed, verdict.feedback, expected.get(built.name))
                )
                continue
            why = verdict.feedback
        not_asked.append(NotAsked(built.name, why, built.name in expected))
    return verdicts, not_asked


def _unknown(case: LabelledCase, graders: Sequence[BuiltGrader]) -> list[NotAsked]:
    """Return the checks of a case that name no grader at the end of its task."""
    names = {built.name for built in graders}
    return [
        NotAsked(check.grader, _AT_CHECKPOINT if check.at_checkpoint else _NO_GRADER, checked=True)
        for check in case.checks
        if check.at_checkpoint or check.grader not in names
    ]


Document = dict[str, Any]

_WORDS = {"good": "good", "alternative_valid": "valid alternative", "critical_bad": "bad"}
_ORDER: tuple[Judged, ...] = ("as labelled", "otherwise", "not decided", "left out")


def labelled_document(path: Path, found: Sequence[LabelledCaseVerdicts]) -> Document:
    """Return the ``file`` of labels and an object for each of its ``cases``.

    ``judged`` is ``as labelled``, ``otherwise``, ``not decided`` or ``left out``, and ``messages`` say why.
    """
    return {"file": str(path), "cases": [_case_document(each) for each in found]}


def labelled_summary(path: Path, found: Sequence[LabelledCaseVerdicts]) -> str:
    """Return in one line how many labelled answers were judged as labelled."""
    counts = Counter(each.judged for each in found)
    numbers = ", ".join(f"{counts[judged]} {judged}" for judged in _ORDER if counts[judged])
    return f"{path.name}: {counted(len(found), 'labelled answer')}: {numbers}"


def contradictions(found: LabelledCaseVerdicts) -> Iterator[str]:
    """Yield, a sentence each, where the graders contradict the label of an answer."""
    answer = f"{_WORDS[found.case.classification]} answer `{found.case.id}` to the task `{found.case.task}`"
    for verdict in found.rejected:
        yield f"`{grader_label(verdict.grader)}` fails on the {answer}: {_why(verdict)}."
    if found.let_through:
        yield f"The {answer} passes all its graders: the suite would let it through."
    for verdict in found.differing:
        does, should = ("passes", "fail") if verdict.passed else ("fails", "pass")
        why = "" if verdict.passed else f": {_why(verdict)}"
        yield (
            f"`{grader_label(verdict.grader)}` {does} on the {answer}, where its label says that it should "
            f"{should}{why}."
        )


def open_sentence(found: LabelledCaseVerdicts) -> str:
    """Return in one sentence why an answer is not judged, "" for one that is."""
    case = found.case
    if found.judged == "left out":
        return f"The answer `{case.id}` to the task `{case.task}` is left out: {case.left_out}."
    if found.judged != "not decided":
        return ""
    names = [f"`{grader_label(each.grader)}` ({shortened(each.why.rstrip('.'))})" for each in found.not_asked]
    not_asked = f"not asked: {', '.join(names)}" if names else "not all of its graders were asked"
    asked = (
        "the graders that were asked pass it"
        if all(verdict.passed for verdict in found.verdicts)
        else "some graders cannot be asked"
    )
    asked = asked if found.verdicts else "no grader was asked"
    return f"The answer `{case.id}` to the task `{case.task}` is not decided: {asked}; {not_asked}."


def _why(verdict: CheckedVerdict) -> str:
    return shortened(verdict.feedback.rstrip("."))


def _case_document(found: LabelledCaseVerdicts) -> Document:
    case = found.case
    messages = [*contradictions(found), open_sentence(found)]
    return {
        "id": case.id,
        "task": case.task,
        "classification": case.classification,
        "judged": found.judged,
        "let_through": found.let_through,
        "rejected_by": [verdict.grader for verdict in found.rejected],
        "differing": [verdict.grader for verdict in found.differing],
        "messages": [message for message in messages if message],
        "graders": [
            {
                "name": verdict.grader,
                "passed": verdict.passed,
                "expected_passed": verdict.expected,
                "feedback": verdict.feedback,
            }
            for verdict in found.verdicts
        ],
        "not_asked": [{"name": each.grader, "reason": each.why} for each in found.not_asked],
    }
