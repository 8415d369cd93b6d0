"""Pass rates of the cases of an ``evals.json`` in the newest benchmark of skill-creator.

That is ``<skill>-workspace/iteration-N/benchmark.json`` next to the folder of the skill; ``waza-engine run
--layout skill-creator`` writes it, too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from statistics import mean
from typing import TYPE_CHECKING

from waza_engine.figures import shown_score
from waza_engine.later_patterns import compiled_later
from waza_engine.markdown import code
from waza_language_server.features.scores.verdict_hints import Verdict
from waza_language_server.project.eval_cases import skill_file_of
from waza_language_server.project.suite_file import SuiteFile, word
from waza_language_server.project.uris import path_of

if TYPE_CHECKING:
    from pathlib import Path

    from waza_language_server.project.document import Document
    from waza_language_server.project.facts import Fact
    from waza_language_server.project.index import Project

_BENCHMARK = "benchmark.json"
_CONFIGURATIONS = {"with skill": ("with_skill",), "without": ("without_skill", "old_skill")}
"""The words of a hint, and the names of the configurations that they are about."""
_ITERATION = compiled_later(r"iteration-(\d{1,6})")
_Rates = Mapping[tuple[str, str], Sequence[float]]
"""The pass rates of the runs of a case, by its id or name and by configuration."""


def benchmark_hints(document: Document, project: Project) -> Iterator[Verdict]:
    """Yield how often the assertions of each case passed with and without the skill."""
    path = path_of(document.uri)
    file = _newest(project, path) if path is not None else None
    if file is None:
        return
    rates = project.disk.derived(file, "benchmark", _rates)
    story = f"The pass rate of the assertions in {code('/'.join(file.parts[-3:]))}."
    for task in SuiteFile(document.tree).tasks():
        head = task.node.get("id")
        label = " · ".join(_words(rates, (task.id, word(task.node.get("name")) or "")))
        if head is not None and label:
            yield Verdict(head, label, story, kind="history")


def _words(rates: _Rates, names: Sequence[str]) -> Iterator[str]:
    for words, configurations in _CONFIGURATIONS.items():
        found = (rates.get((name, each)) for name in names for each in configurations)
        of_case = next(filter(None, found), None)
        if of_case is not None:
            yield f"{words} {shown_score(mean(of_case))}"


def _newest(project: Project, path: Path) -> Path | None:
    """Return the benchmark of the last iteration, None without one."""
    skill = skill_file_of(project, path)
    if skill is None:
        return None
    workspace = skill.parent.with_name(f"{skill.parent.name}-workspace")
    found = {
        int(match[1]): match[0] for match in map(_ITERATION.fullmatch, project.names(workspace)) if match
    }
    folders = (workspace / found[number] for number in sorted(found, reverse=True))
    return next((each / _BENCHMARK for each in folders if _BENCHMARK in project.names(each)), None)


def _rates(text: Fact[str]) -> _Rates:
    """Return the rates of a benchmark, those before the first part of another form."""
    found: dict[tuple[str, str], list[float]] = {}
    with suppress(ValueError, TypeError, KeyError, AttributeError, RecursionError):
        for run in json.loads(text.value)["runs"]:
            rate, configuration = float(run["result"]["pass_rate"]), str(run["configuration"])
            for name in {str(run.get("eval_id")), str(run.get("eval_name"))}:
                found.setdefault((name, configuration), []).append(rate)
    return found
