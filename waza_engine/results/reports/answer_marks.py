"""An answer with its graders' matches marked: every wanted or forbidden match, and the nearest miss.

Carets below a line of the answer mark the characters, one line of them for each rule.
"""

from __future__ import annotations

from collections.abc import Iterator

from waza_engine.frozen import frozen
from waza_engine.graders.matching.nearest import matching_loosened, nearest_text
from waza_engine.graders.matching.patterns import PatternError, found_everywhere
from waza_engine.graders.matching.strings import lowered, quoted, shortened
from waza_engine.graders.registry import BUILT_IN_TYPES
from waza_engine.results.json_values import value_at
from waza_engine.results.record import TrialOutcome, Validation
from waza_engine.terminal import visible_lines
from waza_engine.vocabulary import shown_grader

LEGEND = "Below a line `^` marks what a grader found: ✓ what it wants, ✗ what it forbids, ≈ what is nearest."
MOST_OF_RULE = 20
MOST = 100
RULES_OF_LINE = 6
LONGEST_SEARCHED = 200_000
_RULE_CHARACTERS = 60
_TEXTS = {
    "contains": True,
    "not_contains": True,
    "contains_cs": False,
    "not_contains_cs": False,
    "must_contain": True,
    "keywords": True,
    "must_not_contain": True,
}
"""Lists of strings in an answer, for any grader, and whether case is ignored."""
_PATTERNS = frozenset({"regex_match", "regex_not_match", "must_match", "must_not_match"})


@frozen()
class Mark:
    """Some characters of an answer, and their meaning for a rule in a few words."""

    start: int
    end: int
    words: str


@frozen()
class MarkedAnswer:
    """An answer with its marks: its lines, and the numbers from 1 of those that are marks, not text."""

    text: str
    marks: tuple[int, ...] = ()


def wanted_text(verdict: Validation, path: tuple[str | int, ...]) -> str:
    """Return the string that a check looks for, "" when the details of the verdict do not say."""
    value = value_at(verdict.details, path)
    return value if isinstance(value, str) else ""


def marked_answer(trial: TrialOutcome, longest: int) -> MarkedAnswer:
    """Return the beginning of an answer with its marks; unchanged when there are none."""
    answer, marks = trial.output[:longest], marks_in(trial, longest)
    lines = list(_annotated(answer, marks)) if marks else [(answer, False)]
    numbers = (number for number, (_, is_mark) in enumerate(lines, start=1) if is_mark)
    return MarkedAnswer("\n".join(line for line, _ in lines), tuple(numbers))


def marks_in(trial: TrialOutcome, longest: int) -> list[Mark]:
    """Return the marks of all graders in the beginning of an answer, in its order."""
    verdicts = (trial.validations or {}).values()
    found = (mark for verdict in verdicts for mark in marks_of(verdict, trial.output))
    kept = (mark for mark in found if mark.start < min(longest, len(trial.output)))
    return sorted(kept, key=lambda mark: mark.start)[:MOST]


def marks_of(verdict: Validation, answer: str) -> Iterator[Mark]:
    """Yield the matches of a text or pattern grader in an answer, or the nearest miss."""
    if verdict.type not in BUILT_IN_TYPES or verdict.status != "graded":
        return
    answer = answer[:LONGEST_SEARCHED]
    for check in verdict.checks:
        key, wanted = str(check.path[0]) if check.path else "", wanted_text(verdict, check.path)
        if not wanted:
            continue
        name = shown_grader(verdict.name)
        where = f"{name}: {key}" if name == verdict.name else name
        if key in _TEXTS:
            places = list(_places(wanted, answer, ignore_case=_TEXTS[key]))
        elif key in _PATTERNS:
            places = _matches(wanted, answer)
        else:
            continue
        glyph = "✓" if check.passed else "✗"
        yield from (Mark(start, end, f"{glyph} {where} {_short(wanted)}") for start, end in places)
        if not places and not check.passed:
            yield from _nearest(key, wanted, answer, where)


def _nearest(key: str, wanted: str, answer: str, where: str) -> Iterator[Mark]:
    if key in _TEXTS:
        near = nearest_text(wanted, answer)
        if near is not None:
            yield Mark(near.start, near.end, f"≈ {where} {_short(wanted)}: {near.how}")
        return
    looser = matching_loosened(wanted, answer)
    if looser is not None:
        yield Mark(*looser[1], f"≈ {where} {_short(wanted)}: {looser[0].allows}")


def _places(wanted: str, answer: str, *, ignore_case: bool) -> Iterator[tuple[int, int]]:
    wanted, answer = (lowered(wanted), lowered(answer)) if ignore_case else (wanted, answer)
    at = answer.find(wanted)
    for _ in range(MOST_OF_RULE):
        if at < 0:
            return
        yield at, at + len(wanted)
        at = answer.find(wanted, at + len(wanted))


def _matches(pattern: str, answer: str) -> list[tuple[int, int]]:
    try:
        return [place for place in found_everywhere(pattern, answer, MOST_OF_RULE) if place[0] < place[1]]
    except PatternError:
        return []


def _annotated(answer: str, marks: list[Mark]) -> Iterator[tuple[str, bool]]:
    """Yield the lines of an answer and its marks, and whether each is a mark."""
    position, waiting = 0, marks
    for line in answer.split("\n"):
        yield line, False
        end = position + len(line)
        here = [mark for mark in waiting if mark.start <= end]
        waiting = waiting[len(here) :]
        rules: dict[str, list[tuple[int, int]]] = {}
        for mark in here:
            last = max(mark.start + 1, min(mark.end, end))
            rules.setdefault(mark.words, []).append((mark.start - position, last - position))
        for words, places in list(rules.items())[:RULES_OF_LINE]:
            yield f"{_carets(line, places)} {words}", True
        if len(rules) > RULES_OF_LINE:
            yield f"^ and {len(rules) - RULES_OF_LINE} more on this line", True
        position = end + 1


def _carets(line: str, places: list[tuple[int, int]]) -> str:
    """Return carets below parts of a line as it is shown; tabs are kept so that the columns align."""
    places = [(_shown_before(line, first), _shown_before(line, last)) for first, last in places]
    line = visible_lines(line)
    end = max(last for _, last in places)
    row = ["\t" if letter == "\t" else " " for letter in line[:end]]
    row += [" "] * (end - len(row))  # a match may begin at the end of its line
    for first, last in places:
        row[first:last] = "^" * (last - first)
    return "".join(row)


def _shown_before(line: str, place: int) -> int:
    """Return how many characters are shown before a column, which may be beyond the line's end."""
    return len(visible_lines(line[:place])) + max(0, place - len(line))


def _short(wanted: str) -> str:
    return quoted(shortened(wanted, _RULE_CHARACTERS))
