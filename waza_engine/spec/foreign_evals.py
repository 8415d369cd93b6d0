"""Recognize eval files of other tools: several of them call theirs ``eval.yaml``, too.

The content decides, never the name. The rules come from the public formats: Vally's reference of eval files
(``stimuli``) and of experiments (``evals``, ``baseline`` and ``variants`` or ``matrix``), the skill-validator
of the .NET skills (``scenarios``), the guides to evaluating agent skills (``evals.json`` and lists of
``should_trigger``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from waza_engine.counting import counted, cut
from waza_engine.spec.problems import SuiteFileError

Dialect = Literal["vally", "skill-validator", "evals.json", "trigger list", "vally experiment"]

_OF_A_SUITE = frozenset({"tasks", "tasks_from", "metrics", "skill"})
_OF_A_SUITE_OR_VALLY = frozenset({"config", "graders"})
_NAME_AND_ADVICE: Mapping[Dialect, tuple[str, str]] = {
    "vally": ("a Vally eval file", "run it with `waza-engine run`"),
    "skill-validator": (
        "a skill-validator eval file",
        "write its scenarios as tasks of an eval.yaml of waza",
    ),
    "evals.json": ("an evals.json file", "run it with `waza-engine run`"),
    "trigger list": ("a trigger list", "run it with `waza-engine run`"),
    "vally experiment": ("a Vally experiment", "run an eval.yaml of waza once for each variant"),
}
RUN_AS_SUITES: frozenset[Dialect] = frozenset({"evals.json", "trigger list", "vally"})
_NAME_OF_EVALS = re.compile(r"(?:eval|trigger).*\.(?:json|ya?ml)\Z")
_KEYS_OF_OTHERS = re.compile(r"stimuli|scenarios|skill_name|should_trigger|variants|matrix")


@dataclass(frozen=True, slots=True)
class ForeignEval:
    """An eval file of another tool. ``holds`` says what is in it: ``3 stimuli``."""

    dialect: Dialect
    holds: str

    @property
    def runs(self) -> bool:
        """Return whether the engine runs it as a suite."""
        return self.dialect in RUN_AS_SUITES

    @property
    def title(self) -> str:
        """The name of its format, and its content."""
        return f"{_NAME_AND_ADVICE[self.dialect][0]} ({self.holds})"

    @property
    def refusal(self) -> str:
        """The title, and that it is not run; to be continued after ``this is``."""
        return f"{self.title}, which waza does not run"

    @property
    def advice(self) -> str:
        """How to get its tests into a suite."""
        return _NAME_AND_ADVICE[self.dialect][1]


class ForeignEvalError(SuiteFileError):
    """The file is another tool's; ``found`` says which."""

    def __init__(self, path: Path, found: ForeignEval) -> None:
        super().__init__(path, 0, f"this is {found.refusal}; {found.advice}")
        self.found = found


def foreign_eval(data: object) -> ForeignEval | None:
    """Return which other tool's eval file parsed YAML or JSON is, None for a suite and for anything else."""
    if isinstance(data, list):
        return _trigger_list(cast("list[object]", data))
    if not isinstance(data, Mapping):
        return None
    keys = cast("Mapping[object, object]", data)
    evals = keys.get("evals")
    if isinstance(evals, list):
        cases = cast("list[object]", evals)
        return _trigger_list(cases) or _evals_json(keys.get("skill_name"), cases) or _experiment(keys, cases)
    if not _OF_A_SUITE.isdisjoint(keys):
        return None
    if stimuli := _entries(keys.get("stimuli"), ("name", "prompt", "turns")):
        many = "1 stimulus" if len(stimuli) == 1 else f"{len(stimuli):,} stimuli"
        return ForeignEval("vally", many)
    scenarios = _entries(keys.get("scenarios"), ("name", "prompt"))
    if scenarios and _OF_A_SUITE_OR_VALLY.isdisjoint(keys) and any("prompt" in each for each in scenarios):
        return ForeignEval("skill-validator", counted(len(scenarios), "scenario"))
    return None


def is_named_as_evals(name: str) -> bool:
    """Return whether only evals of other tools are called so, whatever is in the file."""
    if name in ("evals.json", "eval.vally.yaml", "eval.vally.yml"):
        return True
    return name.endswith((".evals.json", ".eval.yaml", ".eval.yml"))


def may_be_evals(name: str) -> bool:
    """Return whether a file in the folder of a skill may be an eval file of any tool, by its name."""
    return _NAME_OF_EVALS.search(name) is not None


def foreign_eval_in(text: str, path: Path) -> ForeignEval | None:
    """Return what ``foreign_eval`` says of a text, JSON or YAML by its name; None if it cannot be parsed."""
    if not _KEYS_OF_OTHERS.search(text):
        return None
    # The editor's start imports this module and needs no YAML library.
    from waza_engine.spec.reading.yaml_reader import parse_yaml

    try:
        return foreign_eval(json.loads(text) if path.suffix == ".json" else parse_yaml(text, path).value)
    except (ValueError, RecursionError, SuiteFileError):
        return None


def is_faulty_evals(text: str, path: Path) -> bool:
    """Return whether a file is called like evals, and has a mistake that hides whose they are.

    It is listed like a suite, so that a run of all suites reports the mistake instead of leaving it out.
    """
    if not is_named_as_evals(path.name):
        return False
    from waza_engine.spec.reading.yaml_reader import parse_yaml

    try:
        data: object = json.loads(text) if path.suffix == ".json" else parse_yaml(text, path).value
    except (ValueError, RecursionError, SuiteFileError):
        return True
    if foreign_eval(data) is not None:
        return False
    keys: Mapping[object, object] = (
        cast("Mapping[object, object]", data) if isinstance(data, Mapping) else {"evals": data}
    )
    cases, asks = keys.get("evals"), {"prompt", "query", "should_trigger"}
    asking = isinstance(cases, list) and any(
        isinstance(each, Mapping) and not cast("Mapping[object, object]", each).keys().isdisjoint(asks)
        for each in cast("list[object]", cases)
    )
    return asking or ("stimuli" in keys and "tasks" not in keys)


def _experiment(keys: Mapping[object, object], evals: Sequence[object]) -> ForeignEval | None:
    varied = isinstance(keys.get("variants"), Mapping) or isinstance(keys.get("matrix"), Mapping)
    if not varied or "baseline" not in keys or not all(isinstance(each, str) for each in evals):
        return None
    return ForeignEval("vally experiment", counted(len(evals), "eval file"))


def _trigger_list(entries: Sequence[object]) -> ForeignEval | None:
    asked = _entries(entries, ("query", "prompt", "should_trigger"))
    # One complete entry tells; mistakes in the others are errors of this format.
    if not any(
        isinstance(each.get("should_trigger"), bool)
        and isinstance(each.get("query", each.get("prompt")), str)
        for each in asked
    ):
        return None
    return ForeignEval("trigger list", counted(len(asked), "prompt"))


def _evals_json(skill: object, cases: Sequence[object]) -> ForeignEval | None:
    if not isinstance(skill, str):
        return None
    name = " ".join(skill.split())
    return ForeignEval("evals.json", f"skill `{cut(name, 60)}`, {counted(len(cases), 'case')}")


def _entries(value: object, keys: Collection[str]) -> Sequence[Mapping[str, object]]:
    """Return a list of blocks that each have one of the keys; nothing if it is something else."""
    if not isinstance(value, list):
        return ()
    entries = cast("list[object]", value)
    if not all(isinstance(each, Mapping) and not each.keys().isdisjoint(keys) for each in entries):
        return ()
    return cast("list[Mapping[str, object]]", entries)
