"""Grading a trial: every grader by itself and with a deadline, so a broken one spoils only its own score."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal, cast

from waza_engine.counting import cut, in_seconds
from waza_engine.executors.executor import Cancellation
from waza_engine.graders.base import Grader, GraderError, GradingContext, SurroundingsError, Verdict
from waza_engine.graders.matching.strings import line_end_advice, lowered
from waza_engine.graders.registry import create
from waza_engine.results.json_values import value_at
from waza_engine.results.record import Validation
from waza_engine.runs.limits.cancellation import CancelledRunError, TooSlowError, call_bounded
from waza_engine.spec.expected import Expected
from waza_engine.spec.grader_entry import GraderEntry
from waza_engine.vocabulary import COULD_NOT_GRADE, EXPECTED_LISTS, MEASURES_JUDGES, Check, unjudged_details

GRADER_SECONDS = 120.0
_OWN_LIMIT_GRACE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class BuiltGrader:
    """A grader entry, ready to grade; ``grader`` is None when it cannot be built, and ``error`` says why.

    ``name`` is the key in the results: that of the entry, or its type when it has none. ``notices`` are the
    problems that would keep it from grading.
    """

    name: str
    entry: GraderEntry
    grader: Grader[Any] | None
    error: str = ""
    notices: tuple[str, ...] = ()

    @property
    def required(self) -> bool:
        """Return whether its failure fails the trial: not if it is advisory, or measures a judge."""
        return self.entry.required and self.entry.type != MEASURES_JUDGES

    @property
    def deadline_seconds(self) -> float:
        """The longest that one grading may take: longer than a limit of the entry or of the grader."""
        own = self.entry.config.get("timeout")
        limit = float(own) if isinstance(own, int | float) and not isinstance(own, bool) else 0.0
        limit = max(limit, 0.0 if self.grader is None else self.grader.longest_seconds)
        return max(GRADER_SECONDS, limit + _OWN_LIMIT_GRACE_SECONDS)


def build_graders(
    entries: Sequence[GraderEntry], build: Callable[[GraderEntry], Grader[Any]] = create
) -> tuple[tuple[BuiltGrader, ...], list[str]]:
    """Return the graders in order, and warnings of names that occur twice.

    Of two graders with one name the later one counts; graders without a name are
    called by their type, so none of them is lost. ``build`` makes the grader of an entry, or remembers it.
    """
    built: dict[str, BuiltGrader] = {}
    warnings: list[str] = []
    for entry in entries:
        name = entry.name or _free_name(entry.type or "grader", built)
        if name in built:
            warnings.append(f"two graders are called `{name}`; only the later one counts")
            del built[name]
        try:
            built[name] = BuiltGrader(name, entry, build(entry))
        except GraderError as error:
            built[name] = BuiltGrader(name, entry, None, str(error))
        except Exception as error:  # noqa: BLE001 - a grader type of somebody else must not end the run
            built[name] = BuiltGrader(name, entry, None, f"the grader cannot be built: {error!r}")
    return tuple(built.values()), warnings


def grade(
    graders: Sequence[BuiltGrader],
    context: GradingContext,
    cancellation: Cancellation,
    known: Mapping[str, Validation] = MappingProxyType({}),
) -> Iterator[Validation]:
    """Yield the verdict of each grader in order; ``known`` are those of other graders of the trial.

    Raises ``CancelledRunError``.
    """
    verdicts = {name: verdict.graded for name, verdict in known.items()}
    for built in graders:
        reads = built.grader is not None and built.grader.reads_verdicts
        shown = replace(context, verdicts=dict(verdicts)) if reads else context
        verdict = _grade_bounded(built, shown, cancellation)
        verdicts[verdict.name] = verdict.graded
        yield verdict


def _grade_bounded(built: BuiltGrader, context: GradingContext, cancellation: Cancellation) -> Validation:
    seconds = built.deadline_seconds

    def bounded(grader: Grader[Any]) -> Verdict:
        return call_bounded(lambda: grader.grade(context), seconds, cancellation)

    return _grade_one(built, bounded)


def grade_here(built: BuiltGrader, context: GradingContext) -> Validation:
    """Return the verdict of a grader without a thread and a deadline of its own.

    For graders that only compute: assertions and patterns, which could hang, have deadlines anyway.
    """
    return _grade_one(built, lambda grader: grader.grade(context))


def grade_expected(
    expected: Expected, context: GradingContext, names: Sequence[str] = ()
) -> Iterator[Validation]:
    """Yield the verdicts of the ``expected`` block, only those of some names when names are given."""
    for validation in expectations(expected, context.output):
        if not names or validation.name in names:
            yield validation


def _grade_one(built: BuiltGrader, ask: Callable[[Grader[Any]], Verdict]) -> Validation:
    started = time.monotonic()
    grader = built.grader
    if grader is None:
        return _validation(built, _broken(built.error), "error", started)
    try:
        verdict = ask(grader)
    except CancelledRunError:
        raise
    except TooSlowError:
        return _validation(
            built, _broken(f"it took longer than {in_seconds(built.deadline_seconds)}"), "error", started
        )
    except SurroundingsError as error:
        unjudged = replace(_broken(str(error)), details=unjudged_details("surroundings", str(error)))
        return _validation(built, unjudged, "error", started)
    except GraderError as error:
        return _validation(built, _broken(str(error)), "error", started)
    except OSError as error:
        where = f" {error.filename}" if error.filename else ""
        why = f"a file or folder{where} that it needs cannot be used: {error.strerror or error}"
        return _validation(built, _broken(why), "error", started)
    except Exception as error:  # noqa: BLE001 - one grader's defect must not cost the others their verdict
        return _validation(built, _broken(f"{type(error).__name__}: {error}"), "error", started)
    status = verdict.status if verdict.status in ("graded", "pending") else "error"
    return _validation(built, verdict, status, started)


def _broken(why: str) -> Verdict:
    return Verdict(score=0.0, passed=False, feedback=f"{COULD_NOT_GRADE}{why}")


def _validation(
    built: BuiltGrader, verdict: Verdict, status: Literal["graded", "pending", "error"], started: float
) -> Validation:
    return Validation(
        name=built.name,
        type=built.entry.type,
        score=float(verdict.passed) if built.entry.binary else min(1.0, max(0.0, verdict.score)),
        passed=verdict.passed,
        feedback=verdict.feedback,
        weight=built.entry.weight,
        required=built.required,
        status=status,
        details=verdict.details,
        checks=with_rules(verdict, built.entry),
        duration_ms=round((time.monotonic() - started) * 1000),
    )


def _free_name(wanted: str, taken: dict[str, BuiltGrader]) -> str:
    number, name = 1, wanted
    while name in taken:
        number += 1
        name = f"{wanted}-{number}"
    return name


NAMES = CONTAINS, NOT_CONTAINS, CONTAINS_ANY = tuple(f"_{key}" for key in EXPECTED_LISTS)


def expectations(expected: Expected, output: str) -> Iterator[Validation]:
    """Yield the verdict of each list that is not empty. Texts are compared without regard to case."""
    answer = lowered(output)
    if expected.output_contains:
        yield _all_hold(
            CONTAINS,
            expected.output_contains,
            lambda text: lowered(text) in answer,
            lambda text: (
                f"the answer does not contain `{text}`"
                + line_end_advice(answer, lambda answer: lowered(text) in answer)
            ),
        )
    if expected.output_not_contains:
        yield _all_hold(
            NOT_CONTAINS,
            expected.output_not_contains,
            lambda text: lowered(text) not in answer,
            lambda text: f"the answer contains `{text}`",
        )
    if expected.output_contains_any:
        yield _any_holds(expected.output_contains_any, answer)


def _all_hold(
    name: str, texts: Sequence[str], holds: Callable[[str], bool], complaint: Callable[[str], str]
) -> Validation:
    key = name.removeprefix("_")
    checks = [
        Check((key, index), holds(text), "" if holds(text) else complaint(text), rule=text)
        for index, text in enumerate(texts)
    ]
    failures = [check.message for check in checks if not check.passed]
    return Validation(
        name=name,
        type="expected",
        score=(len(checks) - len(failures)) / len(checks),
        passed=not failures,
        feedback="; ".join(failures) or "All expectations hold",
        checks=checks,
    )


def _any_holds(texts: Sequence[str], answer: str) -> Validation:
    hit = next((text for text in texts if lowered(text) in answer), None)
    listed = ", ".join(f"`{text}`" for text in texts)
    feedback = f"the answer contains none of {listed}" if hit is None else f"The answer contains `{hit}`"
    complaint = feedback if hit is None else ""
    return Validation(
        name=CONTAINS_ANY,
        type="expected",
        score=0.0 if hit is None else 1.0,
        passed=hit is not None,
        feedback=feedback,
        checks=[Check(("output_contains_any",), hit is not None, complaint, rule=option_text(texts))],
    )


_LONGEST = 500
_CONTAINERS = (Mapping, list, tuple)


def with_rules(verdict: Verdict, entry: GraderEntry) -> tuple[Check, ...]:
    """Return the checks of a verdict, each with the value at its path unless the details show it."""
    return tuple(_with_rule(check, verdict, entry) for check in verdict.checks)


def option_text(value: object) -> str:
    """Return a grader's option for display: a string as it is, a list or mapping as JSON."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    text = _json(cast("object", value)) if isinstance(value, _CONTAINERS) else str(value)
    return cut(text, _LONGEST)


def _with_rule(check: Check, verdict: Verdict, entry: GraderEntry) -> Check:
    if check.rule or not check.path or isinstance(value_at(verdict.details, check.path), str):
        return check
    written = value_at(entry.config, check.path)
    if written is None and check.path[0] in ("assertions", "rubric"):
        # Older locations next to `config`.
        written = value_at({"assertions": entry.assertions, "rubric": entry.rubric}, check.path)
    words = option_text(written)
    return replace(check, rule=words) if words else check


def _json(value: object) -> str:
    """Return the beginning of a value as JSON: a schema may be long, and is not written to its end."""
    text = ""
    try:
        for piece in json.JSONEncoder(ensure_ascii=False, skipkeys=True, default=str).iterencode(value):
            text += piece
            if len(text) > _LONGEST:
                break
    except (ValueError, RecursionError):
        return ""
    return text
