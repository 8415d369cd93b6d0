"""Find the rating in a judge's reply: lenient, but never made up.

A JSON object may be inside prose or a code fence; with several, the last one that holds a rating counts. The
field is the one that the rubric names, ``overall_score``, ``score``, ``overall`` or ``rating``, a single
``…_score``, else the mean of the numbers of all criteria.

Ranges (`Score: 3-4`) and limits (`Maximum score: 5`) are not ratings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from waza_engine.graders.judging.scales import RatingError, Scale

_NUMBER = r"[-+]?\d+(?:\.\d+)?(?:\s*\(?\s*(?:/|out of)\s*\d+(?:\.\d+)?)?"
_LABELLED = re.compile(
    r"(?:^|(?<=[\s*_#>(]))(?:overall |final )?(?:score|rating)[\s*_`]*(?::|=|is\b|-|–)[\s*_`]*"
    rf"({_NUMBER}|true\b|false\b|pass\b|fail\b)",
    re.IGNORECASE | re.ASCII,
)
_ALONE = re.compile(rf"[\s*_`]*({_NUMBER})[\s*_`.]*", re.ASCII)
_LINE = re.compile(
    rf"[\s*_#>]*(?:overall |final )?(?:score|rating)[\s*_`]*[:=][\s*_`]*{_NUMBER}\)?[\s*_`.]*",
    re.IGNORECASE | re.ASCII,
)
_WORDS_BEFORE = re.compile(r"^[\s*_#>(\-+\d.)|]*([^\W\d_][\w /&'-]*?)[\s*_`]*$")
_BOUND = re.compile(
    r"\b(?:max|maximum|min|minimum|highest|lowest|best|worst|possible|passing|required|perfect|previous|"
    r"threshold)(?:[ -](?:possible|achievable|passing|required))?[\s*_`]*$",
    re.IGNORECASE,
)
_OF_THE_WHOLE = frozenset(
    {"overall", "final", "total", "my", "the", "a", "your", "this", "so", "new", "revised", "updated"}
)
# More digits, the end of a range, a share, a decimal comma: the number before it is not the rating.
_GOES_ON = re.compile(
    r"[\w.]*\d|,\d|\s*%|[-–—]\d|\s+[-–—]\s*\d+(?:\.\d+)?(?![\d.]*\s*[^\W\d])|\s+(?:to|or)\s+\d|\s*/\s*\d",
    re.IGNORECASE,
)
_THOUGHT_END = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_THOUGHT_START = re.compile(r"\s*<(?:think|thinking|thought|reasoning)>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TextRating:
    """A rating as it is written. With ``criteria`` there is no overall one, and ``raw`` is ""."""

    raw: str
    criteria: dict[str, str] = field(default_factory=dict[str, str])


def rating_in_text(text: str) -> TextRating | None:
    """Return the overall rating in a reply, the last one if there are several.

    Return None without a rating, or if the last one is not a single number.
    """
    if alone := _ALONE.fullmatch(text):
        return TextRating(alone[1])
    whole: str | None = None
    criteria: dict[str, str] = {}
    for found in _LABELLED.finditer(text):
        before = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
        if _BOUND.search(before):
            continue
        unclear = _GOES_ON.match(text, found.end()) is not None
        name = _criterion(before)
        if name:
            criteria[name] = "" if unclear else found[1]
        else:
            whole = "" if unclear else found[1]
    if whole is None and len(criteria) == 1:
        whole = next(iter(criteria.values()))
    if whole is not None:
        return TextRating(whole) if whole else None
    return TextRating("", criteria) if criteria and all(criteria.values()) else None


def rating_line(text: str) -> bool:
    """Return whether a line of a reply is an overall rating and nothing else."""
    return any(_LINE.fullmatch(line) for line in text.splitlines())


def is_a_rating(text: str) -> bool:
    """Return whether a string is a number, or one of a scale, and nothing else."""
    return _ALONE.fullmatch(text) is not None


def without_thoughts(text: str) -> str:
    """Return a reply without the model's thoughts before it; "" for one that was still thinking."""
    ends = list(_THOUGHT_END.finditer(text))
    reply = text[ends[-1].end() :] if ends else text
    return "" if _THOUGHT_START.match(reply) else reply


def _criterion(before: str) -> str:
    """Return the criterion that a line with this beginning rates, "" for the whole answer."""
    words = _WORDS_BEFORE.match(before)
    if words is None:
        return ""
    name = words[1].strip()
    return "" if not name or name.split()[-1].lower() in _OF_THE_WHOLE or len(name.split()) > 4 else name


_OVERALL = ("overall_score", "score", "overall", "overall_rating", "rating", "overall_assessment")
_GROUPS = ("scores", "ratings", "criteria", "criteria_scores", "evaluations", "assessments", "dimensions")
_NAMES = ("criterion", "criteria", "name", "dimension", "metric", "aspect", "id")
_WRAPPERS = ("result", "evaluation", "output", "response", "grade")
_REASONS = (
    "reasoning",
    "reason",
    "explanation",
    "rationale",
    "chain_of_thought",
    "feedback",
    "justification",
)
_NO_RATINGS = frozenset(
    {
        "threshold",
        "confidence",
        "max_score",
        "min_score",
        "maximum",
        "scale",
        "version",
        "tokens",
        "count",
        "weight",
    }
)
_SORRY = r"(?:(?:i'm |i am )?(?:very |truly )?sorry|i apologi[sz]e|unfortunately|as an ai)[^.!?]{0,30}?"
_CANNOT = r"(?:i (?:can't|cannot|won't|will not|must decline to)|(?:i am|i'm) (?:unable|not able) to)"
# "I cannot rate this above 3" is a rating.
_NO_LIMIT = r"\b(?![^.!?]{0,60}\b(?:of|above|higher|more|better|than|full|perfect|over|below|lower|less)\b)"
_RATES = rf"(?:rate|grade|judge|evaluate|assess|score|answer|discuss|review|respond to){_NO_LIMIT}"
_GIVES = r"(?:provide|give|offer) (?:\w+ ){1,2}(?:rating|score|grade|verdict|evaluation|answer)"
_HELPS = r"(?:assist|help(?! but)|comply|continue|fulfill?|engage|participate|do (?:that|this)|proceed)\b"
_REFUSAL = re.compile(
    rf"\W*(?:{_SORRY})?[,.!;: -]*(?:but )?{_CANNOT} (?:{_HELPS}|{_RATES}|{_GIVES}{_NO_LIMIT})", re.IGNORECASE
)
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")


@dataclass(frozen=True, slots=True)
class Reply:
    """A judge's reply. ``rating`` is a number on the scale, ``place`` where it was found.

    ``passed`` is the judge's own verdict, None when it gave none; ``criteria`` are ratings by name.
    """

    rating: float
    place: str
    reasoning: str = ""
    passed: bool | None = None
    criteria: Mapping[str, float] = field(default_factory=dict[str, float])


def read_reply(output: str, scale: Scale, wanted: str = "", *, as_text: bool = False) -> Reply:
    """Return the rating of a reply. Raises ``RatingError``.

    ``wanted`` is the field that the rubric names; ``as_text`` says that the judge should reply with a line of
    text, so that JSON before or after it is a quotation.
    """
    text = without_thoughts(output)
    if not text.strip():
        raise RatingError("thought, and gave no reply" if output.strip() else "gave an empty reply")
    objects, rest, broken = objects_in(text, everywhere=as_text)
    replies = (_read(found, scale, wanted) for found in reversed(objects))
    has_line = rating_line(rest)
    reply = None if has_line else next(filter(None, replies), None)
    if reply is not None:
        return reply
    if broken and not (as_text and has_line):
        raise RatingError(f"replied with JSON that cannot be read: {quoted_reply(text)}")
    found = rating_in_text(rest)
    if found is not None and found.criteria:
        return _mean(found.criteria, scale, text.strip())
    if found is not None:
        return Reply(scale.rating(found.raw), "text", "" if _is_number(text) else text.strip())
    if objects:
        keys = ", ".join(f"`{key}`" for key in list(objects[-1])[:8]) or "no field"
        raise RatingError(f"replied with no rating `{wanted or 'score'}`: its answer has {keys}")
    raise RatingError(f"replied without a rating: {quoted_reply(text)}")


def _read(found: Mapping[str, Any], scale: Scale, wanted: str) -> Reply | None:
    """Return the rating of an object, None when it holds none."""
    keys = {str(key).strip().lower().replace(" ", "_").replace("-", "_"): key for key in found}
    first = (wanted.lower(),) if wanted else ()
    name = next((name for name in (*first, *_OVERALL) if name in keys and _is_rating(found[keys[name]])), "")
    criteria = _criteria(found, wanted)
    passed = next((found[keys[key]] for key in ("passed", "pass") if key in keys), None)
    reasoning = next((_as_text(found[keys[key]]) for key in _REASONS if key in keys), "")

    def reply(rating: float, place: str, others: Mapping[str, float]) -> Reply:
        return Reply(rating, place, reasoning, passed if isinstance(passed, bool) else None, others)

    if name:
        others = {key: value for key, value in criteria.items() if key != keys[name]}
        return reply(scale.rating(_value(found[keys[name]])), str(keys[name]), _only_on_scale(others, scale))
    ending = [key for key in criteria if key.lower().endswith("_score")]
    if len(ending) == 1:
        others = {key: value for key, value in criteria.items() if key != ending[0]}
        return reply(scale.rating(criteria[ending[0]]), ending[0], _only_on_scale(others, scale))
    chosen = ending or list(criteria)
    if chosen:
        mean = _mean({key: criteria[key] for key in chosen}, scale, reasoning)
        return reply(mean.rating, mean.place, mean.criteria)
    for key in _WRAPPERS:
        inner = found.get(key)
        if isinstance(inner, Mapping):
            wrapped = _read(cast("Mapping[str, Any]", inner), scale, wanted)
            if wrapped is not None:
                return wrapped
    return None


def _mean(criteria: Mapping[str, object], scale: Scale, reasoning: str) -> Reply:
    """Return the mean of the ratings of criteria. Raises ``RatingError``."""
    ratings = {key: scale.rating(value) for key, value in criteria.items()}
    if not scale.between:
        raise RatingError(f"rated {len(ratings)} criteria and not the whole, and there is only {scale.text}")
    mean = sum(ratings.values()) / len(ratings)
    return Reply(mean, "mean of " + ", ".join(ratings), reasoning, criteria=ratings)


def _criteria(found: Mapping[str, Any], wanted: str) -> dict[str, Any]:
    """Return the fields that rate something: numbers, ``{"score": …}``, those in a block or a list."""
    ratings: dict[str, Any] = {}
    for key, value in found.items():
        lowered = str(key).lower()
        if lowered in _WRAPPERS and isinstance(value, Mapping):
            continue
        if lowered in _GROUPS and isinstance(value, Mapping):
            ratings |= _criteria(cast("Mapping[str, Any]", value), wanted)
        elif lowered in _GROUPS and isinstance(value, list):
            ratings |= _ratings_of_list(cast("list[object]", value), wanted)
        elif lowered not in _NO_RATINGS and _is_number(_value(value)):
            ratings[str(key)] = _value(value)
    return ratings


def _ratings_of_list(items: Sequence[object], wanted: str) -> dict[str, Any]:
    """Return the ratings of a list of criteria, by their names; none when one of them has no rating."""
    ratings: dict[str, Any] = {}
    for number, item in enumerate(items, 1):
        if not isinstance(item, Mapping):
            return {}
        block = cast("Mapping[str, object]", item)
        rating = _value(block.get(wanted, block))
        if not _is_number(rating):
            return {}
        name = next((str(block[key]) for key in _NAMES if isinstance(block.get(key), str)), str(number))
        ratings[name if name not in ratings else f"{name} {number}"] = rating
    return ratings


def _only_on_scale(criteria: Mapping[str, Any], scale: Scale) -> dict[str, float]:
    """Return the values on the scale: other ratings than the one that counts are informative only."""
    found: dict[str, float] = {}
    for key, value in criteria.items():
        try:
            found[key] = scale.rating(value)
        except RatingError:
            continue
    return found


def _value(value: object) -> object:
    if isinstance(value, Mapping):
        block = cast("Mapping[str, object]", value)
        return next((block[key] for key in ("score", "rating", "value") if key in block), None)
    return value


def _is_rating(value: object) -> bool:
    inner = _value(value)
    # A short string may be the label of a level.
    return isinstance(inner, bool) or _is_number(inner) or (isinstance(inner, str) and 0 < len(inner) <= 40)


def _is_number(value: object) -> bool:
    if isinstance(value, str):
        return is_a_rating(value)
    return isinstance(value, int | float) and not isinstance(value, bool)


def objects_in(text: str, *, everywhere: bool = False) -> tuple[list[Mapping[str, Any]], str, bool]:
    """Return the outermost JSON objects in a reply, the rest after them, and whether one is broken.

    ``everywhere`` adds the text before and between them.

    A list of objects that rate a criterion each is one object.
    """
    found: list[tuple[int, int, Mapping[str, Any]]] = []
    broken = False
    for start, end in _braced(text):
        piece = text[start:end]
        for candidate in (piece, _TRAILING_COMMA.sub(r"\1", piece)):
            try:
                value: object = json.loads(candidate, strict=False)
            except (ValueError, RecursionError):
                continue
            if isinstance(value, Mapping):
                found.append((start, end, cast("Mapping[str, Any]", value)))
            break
        else:
            broken = broken or re.search(r"[\"']\s*:", piece) is not None
    ends = [0, *(end for _, end, _ in found)]
    between = [text[before:start] for before, (start, _, _) in zip(ends, found, strict=False)]
    rest = "\n".join([*(between if everywhere else ()), text[ends[-1] :]])
    return list(_grouped(text, found)), rest, broken


def _grouped(text: str, found: Sequence[tuple[int, int, Mapping[str, Any]]]) -> Iterator[Mapping[str, Any]]:
    """Yield objects, those of one list, or of one line each with a name, as ``{"criteria": […]}``."""
    groups: list[list[Mapping[str, Any]]] = []
    before = 0
    for start, end, value in found:
        between = text[before:start].strip()
        listed = between == "," or (not between and "\n" in text[before:start] and _is_named(value))
        if groups and listed:
            groups[-1].append(value)
        else:
            groups.append([value])
        before = end
    for group in groups:
        yield group[0] if len(group) == 1 else {"criteria": group}


def _is_named(value: Mapping[str, Any]) -> bool:
    return any(isinstance(value.get(name), str) for name in _NAMES)


def _braced(text: str) -> Iterator[tuple[int, int]]:
    """Yield where outermost braces begin and end; an opening one without its end goes to the end."""
    start, depth, quoted, escaped = -1, 0, False, False
    for position, character in enumerate(text):
        if depth and quoted:
            quoted = escaped or character != '"'
            escaped = character == "\\" and not escaped
        elif depth and character == '"':
            quoted = True
        elif character == "{":
            start = position if depth == 0 else start
            depth += 1
        elif character == "}" and depth:
            depth -= 1
            if depth == 0:
                yield start, position + 1
    if depth:
        yield start, len(text)


def _as_text(value: object) -> str:
    return value.strip() if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def is_refusal(reply: str) -> bool:
    """Return whether a reply begins with a refusal to judge, whatever rating comes after it."""
    return _REFUSAL.match(" ".join(without_thoughts(reply).replace("\u2019", "'").split())) is not None


def quoted_reply(text: str) -> str:
    """Return the beginning of a reply in quotes, on one line."""
    line = " ".join(text.split())
    return f"“{line[:160]}{'…' if len(line) > 160 else ''}”"
