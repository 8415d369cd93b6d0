"""Explanations shared by grader types: why a string, pattern, limit or sequence passes or fails."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher, unified_diff

from waza_engine.counting import counted, cut
from waza_engine.graders.matching.nearest import (
    longest_beginning,
    loosened,
    matching_loosened,
    nearest_text,
    occurrences_of,
)
from waza_engine.graders.matching.patterns import PatternError, find_first
from waza_engine.graders.matching.strings import quoted, shortened
from waza_engine.lab.insight import MOST_LINES, Excerpt, Explanation

_MOST_TOOLS = 12
_GREATEST = 10.0**12


def explain_text(
    wanted: str, text: str, *, ignore_case: bool = True, wherein: str = "the answer"
) -> Explanation:
    """Explain whether a string occurs in another one."""
    place, count = occurrences_of(wanted, text, ignore_case=ignore_case)
    if place is not None:
        times = "once" if count == 1 else f"{count} times"
        return Explanation(
            f"{times}", (f"found {times} in {wherein}",), excerpt=Excerpt.of(text, *place), weight=1.0
        )
    near = nearest_text(wanted, text)
    if near is None:
        return _absent(text, wherein, "nothing in {} is like it")
    sentence = f"not found; the nearest in {wherein}: {near.how}"
    return Explanation(
        near.how, (sentence,), excerpt=Excerpt.of(text, near.start, near.end), weight=near.alike
    )


def explain_pattern(
    pattern: str, text: str, *, ignore_case: bool = False, wherein: str = "the answer"
) -> Explanation:
    """Explain whether a pattern occurs in a string."""
    try:
        place = find_first(pattern, text, ignore_case=ignore_case)
    except PatternError as error:
        return Explanation("!", (str(error),))
    if place is not None:
        sentence = (
            f"the first match in {wherein}"
            if place[1] > place[0]
            else f"it matches nothing at all in {wherein}"
        )
        return Explanation("matches", (sentence,), excerpt=Excerpt.of(text, *place), weight=1.0)
    near = matching_loosened(pattern, text, ignore_case=ignore_case)
    if near is not None:
        looser, place = near
        sentence = f"no match; with {looser.allows} it would match: {quoted(looser.pattern)}"
        return Explanation("nearly", (sentence,), excerpt=Excerpt.of(text, *place), weight=0.9)
    begun = _longest_beginning(pattern, text, ignore_case=ignore_case)
    if begun is not None:
        beginning, place = begun
        sentence = f"no match; only its beginning {quoted(beginning)} does"
        weight = 0.8 * len(beginning) / max(1, len(pattern))
        return Explanation("begins", (sentence,), excerpt=Excerpt.of(text, *place), weight=weight)
    return _absent(text, wherein, "no match, nor of any part of it, in {}")


def explain_limit(observed: float, limit: float, unit: str, *, least: bool = False) -> Explanation:
    """Explain a number against the most that is allowed, or the least."""
    over = limit - observed if least else observed - limit
    bound = "at least" if least else "at most"
    distance = (
        f"{_number(over)} {'too few' if least else 'too many'}" if over > 0 else f"{_number(-over)} to spare"
    )
    sentence = f"{_number(observed)} {unit}, {bound} {_number(limit)} allowed: {distance}"
    return Explanation(_number(observed), (sentence,), weight=min(_GREATEST, max(-_GREATEST, over)))


def explain_sequence(wanted: Sequence[str], actual: Sequence[str], what: str) -> Explanation:
    """Explain a sequence of names against the real one, in lines that align them."""
    matcher = SequenceMatcher(None, list(wanted), list(actual), autojunk=False)
    lines: list[str] = []
    for tag, start, end, first, last in matcher.get_opcodes():
        if tag == "equal":
            lines += [f" {name}" for name in wanted[start:end]]
        else:
            lines += [f"-{name}" for name in wanted[start:end]]
            lines += [f"+{name}" for name in actual[first:last]]
    sentence = f"{len(wanted)} {what} wanted (-), {len(actual)} recorded (+)"
    return Explanation(_row(actual), (sentence,), lines=_few(lines), weight=1 - matcher.ratio())


def explain_name(name: str, used: Sequence[str], what: str) -> Explanation:
    """Explain whether a name is one of those that were used, and which there were."""
    count = used.count(name)
    times = f"{name} {'once' if count == 1 else f'{count} times'}" if count else f"no {name}"
    near = next((one for one in used if one.lower() == name.lower() and one != name), None)
    hint = (f"{near} differs in upper and lower case",) if not count and near is not None else ()
    sentences = (
        f"{times} among {len(used)} {what}: {tally(used)}" if used else f"there were no {what}",
        *hint,
    )
    return Explanation(f"{count}×", sentences, weight=float(bool(hint)) + (0.5 if used else 0.0))


def explain_difference(wanted: str, actual: str) -> Explanation:
    """Explain how two multi-line strings differ."""
    if wanted == actual:
        return Explanation("the same", ("it is the same",))
    lines = list(unified_diff(wanted.splitlines(), actual.splitlines(), lineterm="", n=2))[2:]
    changed = sum(line[:1] in "+-" for line in lines)
    count = counted(changed, "line")
    sentences = (
        f"it differs in {count}: wanted (-), recorded (+)" if lines else "only the ends of its lines differ"
    )
    return Explanation(count, (sentences,), lines=_few(lines), weight=float(changed))


def tally(used: Sequence[str]) -> str:
    """Return names with how often they occur, the most frequent first."""
    counted = Counter(used).most_common(_MOST_TOOLS)
    return ", ".join(name if count == 1 else f"{name} ×{count}" for name, count in counted)


def _longest_beginning(pattern: str, text: str, *, ignore_case: bool) -> tuple[str, tuple[int, int]] | None:
    """Return the longest part of a pattern that matches, ignoring case if that is much longer."""
    exactly = longest_beginning(pattern, text, ignore_case=ignore_case)
    loosest = next((one.pattern for one in loosened(pattern)), None)
    loosely = longest_beginning(loosest, text, ignore_case=ignore_case) if loosest is not None else None
    if exactly is None or (loosely is not None and len(loosely[0]) > 2 * len(exactly[0])):
        return loosely
    return exactly


def _absent(text: str, wherein: str, words: str) -> Explanation:
    if not text.strip():
        return Explanation("empty", (f"{wherein} is empty",), weight=-1.0)
    begins = Excerpt.of(text, 0, 0)
    return Explanation("nothing", (f"{words.format(wherein)}, which begins:",), excerpt=begins)


def _number(value: float) -> str:
    return f"{int(value):,}" if float(value).is_integer() else f"{value:g}"


def _row(names: Sequence[str]) -> str:
    return shortened(", ".join(names) or "none", 80)


def _few(lines: Sequence[str]) -> tuple[str, ...]:
    if len(lines) <= MOST_LINES:
        return tuple(_line(line) for line in lines)
    kept = (*lines[:MOST_LINES], f" … and {counted(len(lines) - MOST_LINES, 'more line')}")
    return tuple(_line(line) for line in kept)


def _line(line: str) -> str:
    """Return a diff line with its marker and its indentation, cut off when it is long."""
    return cut(line, 200)
