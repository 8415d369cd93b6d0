"""Other values for a rule, derived from a record: shared by grader types.

Proposals are tried on the recorded trials before they are offered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, cast

from waza_engine.graders.explanation import Proposal, RulePath, shortened
from waza_engine.graders.matching.loosened import Loosened, matching_loosened
from waza_engine.graders.matching.nearest import nearest_text, places_of
from waza_engine.graders.matching.patterns import PatternError, found_at

MOST = 3
LEAST_ALIKE = 0.75
LONGEST_TEXT = 200
LONGEST_SEQUENCE = 30
_MOST_ENUMERATED = 20


def proposed_texts(
    path: RulePath, wanted: str, texts: Sequence[str], *, ignore_case: bool = True
) -> Iterator[Proposal]:
    """Propose a missing string in the form that really occurs."""
    written: Counter[str] = Counter()
    for text in texts:
        if places_of(wanted, text, ignore_case=ignore_case)[0] is not None:
            continue
        near = nearest_text(wanted, text)
        if near is not None and near.alike >= LEAST_ALIKE and near.end - near.start <= LONGEST_TEXT:
            written[text[near.start : near.end]] += 1
    for found, _ in written.most_common(MOST):
        yield Proposal(f"Expect it as it was answered: `{shortened(found, 60)}`", path, found)


def proposed_patterns(
    path: RulePath, pattern: str, texts: Sequence[str], *, ignore_case: bool = False
) -> Iterator[Proposal]:
    """Propose patterns that allow a little more, and match where this one does not."""
    counted: Counter[Loosened] = Counter()
    for text in texts:
        try:
            if found_at(pattern, text, ignore_case=ignore_case) is not None:
                continue
        except PatternError:
            return
        near = matching_loosened(pattern, text, ignore_case=ignore_case)
        if near is not None:
            counted[near[0]] += 1
    for looser, _ in counted.most_common(MOST):
        words = f"Loosen the pattern, {looser.allows}: `{shortened(looser.pattern, 60)}`"
        yield Proposal(words, path, looser.pattern)


def proposed_most(path: RulePath, limit: int, observed: Sequence[int]) -> Iterator[Proposal]:
    """Propose the highest observed value for a limit, and the next round number."""
    most = max(observed, default=limit)
    if most > limit:
        name = path[-1]
        yield Proposal(f"Raise `{name}` to {most:,}, the most observed", path, most)
        above = round_above(most)
        if above != most:
            yield Proposal(f"Raise `{name}` to {above:,}, above the {most:,} observed", path, above)


def proposed_least(path: RulePath, limit: int, observed: Sequence[int]) -> Iterator[Proposal]:
    """Propose the least that was observed for a lower limit."""
    least = min(observed, default=limit)
    if least < limit:
        yield Proposal(f"Lower `{path[-1]}` to {least:,}, the least observed", path, least)


def proposed_names(path: RulePath, name: str, used: Sequence[Sequence[str]]) -> Iterator[Proposal]:
    """Propose a name as the agent really uses it."""
    others = Counter(one for names in used if name not in names for one in set(names))
    alike = [one for one in others if one.lower() == name.lower() or one.lower() in _same(name)]
    alike += get_close_matches(name, list(others), MOST, 0.6)
    for found in list(dict.fromkeys(alike))[:MOST]:
        yield Proposal(f"Name it as the agent does: `{shortened(found, 60)}`", path, found)


def proposed_sequence(
    path: RulePath, wanted: Sequence[str], actual: Sequence[Sequence[str]], what: str
) -> Iterator[Proposal]:
    """Propose a sequence as it really was."""
    counted = Counter(tuple(names) for names in actual if names and list(names) != list(wanted))
    for found, _ in counted.most_common(MOST):
        if len(found) <= LONGEST_SEQUENCE:
            yield Proposal(
                f"Expect the {what} as they were: {shortened(', '.join(found), 80)}", path, list(found)
            )


def schema_of(values: Sequence[Any]) -> dict[str, Any] | None:
    """Return a JSON Schema that all values satisfy: their types, and keys of all objects are required."""
    kinds = {_kind(value) for value in values}
    if kinds == {"integer", "number"}:
        kinds = {"number"}
    if len(kinds) != 1:
        return {"type": sorted(kinds)} if kinds else None
    (kind,) = kinds
    if kind == "object":
        blocks = [cast("Mapping[str, Any]", value) for value in values]
        names = list(dict.fromkeys(name for block in blocks for name in block))
        if len(names) > _MOST_ENUMERATED:
            return {"type": "object"}
        required = [name for name in names if all(name in block for block in blocks)]
        properties = {name: schema_of([block[name] for block in blocks if name in block]) for name in names}
        return {
            "type": "object",
            **({"required": required} if required else {}),
            **({"properties": properties} if properties else {}),
        }
    if kind == "array":
        items = [item for value in values for item in cast("Sequence[Any]", value)]
        inner = schema_of(items)
        return {"type": "array", **({"items": inner} if inner is not None else {})}
    return {"type": kind}


def _kind(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case Mapping():
            return "object"
        case _:
            return "array"


def round_above(value: int) -> int:
    """Return the next round number: 10 for 7, 40 for 37, 1,500 for 1,250."""
    return -(-value // _step(value)) * _step(value)


def round_below(value: int) -> int:
    """Return the previous round number: 5 for 7, 35 for 37, 1,000 for 1,250."""
    return value // _step(value) * _step(value)


def _step(value: int) -> int:
    return max(5, 10 ** (len(str(value)) - 1) // 2)


def _same(name: str) -> frozenset[str]:
    """Return other names for the tools of agents that do the same."""
    for names in _SAME:
        if name.lower() in names:
            return names
    return frozenset()


_SAME = (
    frozenset({"bash", "shell", "sh", "run_command", "runcommand", "terminal", "powershell"}),
    frozenset({"view", "read", "read_file", "readfile", "cat", "open_file"}),
    frozenset({"edit", "write", "write_file", "writefile", "str_replace_editor", "create", "apply_patch"}),
    frozenset({"grep", "search", "rg", "ripgrep", "search_files"}),
    frozenset({"fetch", "web_fetch", "webfetch"}),
)
