"""Pass rates of the cases of an ``evals.json`` in the newest iteration of a workspace of skill-creator.

That is ``<skill>-workspace/iteration-N`` next to the folder of the skill; ``waza-engine run --layout
skill-creator`` writes one, too. Its ``benchmark.json`` counts; without the runs of cases there, as the guide
of agentskills.io writes it, each ``eval-<id or name>/<configuration>/grading.json`` does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from statistics import mean
from typing import TYPE_CHECKING, Any

from waza_engine.later_patterns import compiled_later
from waza_engine.markdown import code
from waza_engine.number_formats import format_score
from waza_language_server.features.scores.verdict_hints import Verdict
from waza_language_server.project.eval_cases import skill_file_of
from waza_language_server.project.suite_file import SuiteFile, scalar_text
from waza_language_server.project.uris import path_of

if TYPE_CHECKING:
    from pathlib import Path

    from waza_language_server.project.document import Document
    from waza_language_server.project.facts import Fact
    from waza_language_server.project.index import Project

_CONFIGURATIONS = {"with skill": ("with_skill",), "without": ("without_skill", "old_skill")}
"""The words of a hint, and the names of the configurations that they are about."""
_ITERATION = compiled_later(r"iteration-(\d{1,6})")
_RUN = compiled_later(r"run-\d{1,6}")
_Rate = tuple[str, str, float]
"""The id or name of a case, the configuration of a run, and its pass rate."""


def benchmark_hints(document: Document, project: Project) -> Iterator[Verdict]:
    """Yield how often the assertions of each case passed with and without the skill."""
    path = path_of(document.uri)
    for folder in _iterations(project, path) if path is not None else ():
        file = folder / "benchmark.json"
        found = project.disk.derived(file, "benchmark", _of_benchmark) or tuple(_of_gradings(project, folder))
        if found:
            rates: dict[tuple[str, str], list[float]] = {}
            for case, configuration, rate in found:
                rates.setdefault((case, configuration), []).append(rate)
            story = f"The pass rate of the assertions in {code('/'.join(folder.parts[-2:]))}."
            yield from _hints(document, rates, story)
            return


def _hints(
    document: Document, rates: Mapping[tuple[str, str], Sequence[float]], story: str
) -> Iterator[Verdict]:
    for task in SuiteFile(document.tree).tasks():
        head, names = task.node.get("id"), (task.id, scalar_text(task.node.get("name")) or "")
        words: list[str] = []
        for label, configurations in _CONFIGURATIONS.items():
            found = (rates.get((name, each)) for name in names for each in configurations)
            if of_case := next(filter(None, found), None):
                words.append(f"{label} {format_score(mean(of_case))}")
        if head is not None and words:
            yield Verdict(head, " · ".join(words), story, kind="history")


def _iterations(project: Project, path: Path) -> Iterator[Path]:
    """Yield the folders of the iterations, the last one first."""
    skill = skill_file_of(project, path)
    if skill is None:
        return
    workspace = skill.parent.with_name(f"{skill.parent.name}-workspace")
    found = filter(None, map(_ITERATION.fullmatch, project.names(workspace)))
    for match in sorted(found, key=lambda match: int(match[1]), reverse=True):
        yield workspace / match[0]


def _of_benchmark(text: Fact[str]) -> tuple[_Rate, ...]:
    """Return the rates of a benchmark, those before the first part of another form."""
    found: list[_Rate] = []
    with suppress(ValueError, TypeError, KeyError, AttributeError, RecursionError):
        for run in json.loads(text.value)["runs"]:
            rate, configuration = float(run["result"]["pass_rate"]), str(run["configuration"])
            found += [(name, configuration, rate) for name in _names(run)]
    return tuple(found)


def _of_gradings(project: Project, iteration: Path) -> Iterator[_Rate]:
    for folder in sorted(name for name in project.names(iteration) if name.startswith("eval-")):
        place = iteration / folder
        metadata = project.disk.derived(place / "eval_metadata.json", "names of a case", _of_metadata)
        for configuration in (each for known in _CONFIGURATIONS.values() for each in known):
            runs = filter(_RUN.fullmatch, project.names(place / configuration))
            for run in (place / configuration, *(place / configuration / name for name in runs)):
                rate = project.disk.derived(run / "grading.json", "grading", _of_grading)
                if rate is not None:
                    names = {folder.removeprefix("eval-"), *metadata}
                    yield from ((name, configuration, rate) for name in names)


def _of_metadata(text: Fact[str]) -> frozenset[str]:
    with suppress(ValueError, AttributeError, RecursionError):
        return _names(json.loads(text.value))
    return frozenset()


def _names(block: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(str(block[key]) for key in ("eval_id", "eval_name") if block.get(key) is not None)


def _of_grading(text: Fact[str]) -> float | None:
    with suppress(ValueError, TypeError, KeyError, RecursionError):
        return float(json.loads(text.value)["summary"]["pass_rate"])
    return None
