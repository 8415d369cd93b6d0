"""``calibrate``, ``validate-refs`` and ``balance``: check graders, reference answers and categories."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, cast

from waza_engine.counting import cut
from waza_engine.graders.programs.program_output import UnusableAnswerError
from waza_engine.harness.row_grading import HarnessGrader, Tally, failed_result
from waza_engine.harness.row_values import input_text, number_in, score_in
from waza_engine.harness.rows import Notes, Prompt, Row, capture_in
from waza_engine.harness.summary import score_lines, step_lines
from waza_engine.harness.views import encoded_lines
from waza_engine.markdown import code, fenced
from waza_engine.results.json_values import Json, text_of
from waza_engine.terminal import complain

SAMPLE = 10
_OUTPUT_CHARACTERS = 500
_ALL_STEPS = 5
_LEGEND = (
    "- [ ] **Valid failure**: the answer is wrong, and the grader is right",
    "- [ ] **Grader bug**: the grader is wrong",
    "- [ ] **Ambiguous**: the prompt or the hint does not say what a good answer is",
)
_BOXES = ("- [ ] Valid failure", "- [ ] Grader bug", "- [ ] Ambiguous")
_UNCATEGORIZED = "(uncategorized)"
_FEW_CASES, _SMALL_SET, _DOMINANT_PERCENT = 3, 20, 50


def sampled_failures(
    rows: Iterable[Row], count: int, notes: Notes, *, seed: int | None = None, passes: bool = False
) -> list[Json]:
    """Return a random sample of the failed captures of a file, and with ``passes`` of the passed ones.

    When there are no more than ``count``, all are returned in their order. Only the sample is in memory.
    """
    draw = random.Random(seed)
    sample: list[Json] = []
    met = 0
    for row in rows:
        score = score_in(row.block)
        if score is None or (score["pass"] and not passes):
            continue
        met += 1
        if len(sample) < count:
            sample.append(capture_in(row, notes))
        elif count > 0 and (position := draw.randrange(met)) < count:
            sample[position] = capture_in(row, notes)
    return sample


def snippet(trajectory: Sequence[Any]) -> list[Any]:
    """Return at most five steps: the first two, the middle one, the last two."""
    if len(trajectory) <= _ALL_STEPS:
        return list(trajectory)
    return [*trajectory[:2], trajectory[len(trajectory) // 2], *trajectory[-2:]]


def calibration_report(samples: Sequence[Json], grader: HarnessGrader | None) -> Iterator[bytes]:
    """Yield a report to fill in; with a grader each sample is graded again."""
    lines = ["# Calibration of the grader", "", f"Generated: {datetime.now(UTC).isoformat()}"]
    lines += [
        f"Samples: {len(samples)}",
        "",
        "Mark for each sample which it is:",
        "",
        *_LEGEND,
        "",
        "---",
        "",
    ]
    yield encoded_lines(lines)
    for number, sample in enumerate(samples, 1):
        yield encoded_lines(_sample_lines(number, sample, grader))


def _sample_lines(number: int, sample: Json, grader: HarnessGrader | None) -> list[str]:
    score = sample["score"]
    lines = [f"## Sample {number}: {code(sample['id'])}", ""]
    lines += [f"**Input:** {code(input_text(sample['input'], ' → '))}", ""]
    if hint := text_of(sample.get("hint")):
        lines += [f"**Hint:** {code(hint)}", ""]
    lines += ["**Output:**", "", fenced(cut(sample["output"], _OUTPUT_CHARACTERS)), ""]
    lines += score_lines("Original score", score, f"{number_in(score, 'score'):g}")
    if grader is not None:
        again = _graded_again(sample, grader)
        lines += score_lines("Score of the other grader", again, f"{again['score']:g}")
    lines += ["**Trajectory:**", ""]
    for step in snippet(sample["trajectory"]):
        lines.append(f"- {step_lines(step)[0]}")
    return [*lines, "", "**Review:**", "", *_BOXES, "", "---", ""]


def _graded_again(sample: Json, grader: HarnessGrader) -> Json:
    try:
        return grader.grade(
            {key: sample.get(key) for key in ("input", "output", "hint", "trajectory", "metadata")}
        )
    except UnusableAnswerError as error:
        return failed_result(error)


def checked_references(prompts: Iterable[Prompt], grader: HarnessGrader, tally: Tally) -> Iterator[Json]:
    """Yield the verdict of the grader on the reference answer of each prompt that has one."""
    failing: list[str] = []
    for prompt in prompts:
        if prompt.reference is None:
            continue
        try:
            result = grader.grade(
                {
                    "input": prompt.input,
                    "output": prompt.reference,
                    "hint": prompt.hint,
                    "trajectory": [],
                    "metadata": prompt.metadata,
                }
            )
            tally.add(passed=result["pass"])
        except UnusableAnswerError as error:
            tally.add_broken(error, prompt.id)
            result = failed_result(error)
        if not result["pass"]:
            failing.append(f"{prompt.id}: {result.get('reasoning', 'no reasoning')}")
        yield {
            "id": prompt.id,
            "reference": prompt.reference,
            "passes": result["pass"],
            "graderResult": result,
        }
    if not tally.total:
        complain("No prompt has a `reference`.")
        return
    complain(f"{tally.passed} passed, {tally.total - tally.passed} failed")
    for line in failing:
        complain(f"  {line}")


def balance_of(prompts: Iterable[Prompt], key: str, threshold: float) -> Json:
    """Return how many prompts have each value of a metadata key, and what to change.

    A value is underrepresented when its share is below ``threshold`` percent of an even share.
    """
    counts = Counter(
        _category((prompt.metadata or {}).get(key)) if key in (prompt.metadata or {}) else _UNCATEGORIZED
        for prompt in prompts
    )
    total = counts.total()
    categories: list[Json] = [
        {"name": name, "count": count, "percentage": math.floor(100 * count / total + 0.5)}
        for name, count in sorted(counts.items(), key=lambda item: -item[1])
    ]
    least = 100 / len(categories) * threshold / 100 if categories else 0.0
    rare = [each["name"] for each in categories if each["percentage"] < least]
    return {
        "totalCases": total,
        "categories": categories,
        "underrepresented": rare,
        "suggestions": _suggestions(categories, rare, total),
    }


def _category(value: Any) -> str:
    """Return a metadata value as JavaScript writes it in a string."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case float() if value.is_integer():
            return str(int(value))
        case list():
            return ",".join("" if item is None else _category(item) for item in cast("list[Any]", value))
        case dict():
            return "[object Object]"
        case _:
            return str(value)


def _suggestions(categories: Sequence[Json], rare: Sequence[str], total: int) -> list[str]:
    found: list[str] = []
    if rare:
        found.append(f"Add prompts to the underrepresented categories: {', '.join(rare)}")
    dominant = next((each for each in categories if each["percentage"] > _DOMINANT_PERCENT), None)
    if dominant is not None:
        found.append(f"`{dominant['name']}` holds {dominant['percentage']}% of the prompts; add others")
    tiny = [each["name"] for each in categories if each["count"] < _FEW_CASES]
    if tiny:
        found.append(f"Fewer than {_FEW_CASES} prompts say little about a category: {', '.join(tiny)}")
    if total < _SMALL_SET:
        found.append(f"{total} prompts give wide intervals; write {_SMALL_SET} or more")
    return found or ["The prompts are well balanced"]
