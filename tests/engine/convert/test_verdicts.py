"""Deterministic graders give the same verdicts after a conversion, on any recorded answer."""

import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from waza_engine.convert.convert import convert, write_conversion
from waza_engine.graders.base import GraderError, GradingContext
from waza_engine.graders.registry import create
from waza_engine.runs.grading.graders import expectations
from waza_engine.runs.loading.suite_on_disk import Suite, SuiteTask, load_suite

# No letter with more than two forms: `(?i)` takes `s` and `ſ` for equal, `contains` does not.
SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much]
LETTERS = "abXY 0.*([\\^$é中\n"
TEXTS = st.text(LETTERS, min_size=1, max_size=4).filter(str.strip)
PATTERNS = st.sampled_from(["a", "^b", "(?i)x+", "[ab]y", "0|é", "(?m)^a$", "a(?=b)", "(", "\\.", "中"])
PATHS = st.sampled_from(["a.txt", "b/c.md"])


def lists(items: st.SearchStrategy[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(items, min_size=1, max_size=2)


TEXT_OPTIONS = st.dictionaries(
    st.sampled_from(["contains", "not_contains", "contains_cs", "not_contains_cs"]), lists(TEXTS), max_size=2
)
PATTERN_OPTIONS = st.dictionaries(
    st.sampled_from(["regex_match", "regex_not_match"]), lists(PATTERNS), max_size=2
)
CONTENT = st.fixed_dictionaries({"path": PATHS}, optional={"must_match": lists(PATTERNS)})
Grader = dict[str, Any]


def grader(kind: str, *options: Grader) -> Grader:
    return {"type": kind, "config": {key: value for each in options for key, value in each.items()}}


def paths(listed: list[str]) -> Grader:
    return grader("file", {"must_exist": listed})


def content(entry: Grader, more: Grader) -> Grader:
    return grader("file", {"content_patterns": [entry | more]})


def keywords(texts: list[str]) -> Grader:
    return grader("keyword", {"must_contain": texts})


def has_options(made: Grader) -> bool:
    return bool(made["config"])


GRADERS: st.SearchStrategy[Grader] = st.one_of(
    st.builds(grader, st.just("text"), TEXT_OPTIONS, PATTERN_OPTIONS),
    st.builds(paths, lists(PATHS)),
    st.builds(content, CONTENT, st.sampled_from([{}, {"must_not_match": ["a"]}])),
    st.builds(keywords, lists(TEXTS)),
).filter(has_options)
EXPECTED = st.dictionaries(
    st.sampled_from(["output_contains", "output_not_contains", "output_contains_any"]),
    lists(TEXTS),
    max_size=2,
)
ANSWERS = st.lists(
    st.tuples(st.text(LETTERS, max_size=12), st.dictionaries(PATHS, st.text(LETTERS, max_size=6))),
    min_size=3,
    max_size=6,
)


def written(folder: Path, graders: list[dict[str, Any]], expected: dict[str, Any]) -> Path:
    named = [{"name": f"g{number}", **grader} for number, grader in enumerate(graders)]
    task = {"id": "t", "name": "T", "inputs": {"prompt": "p"}, "graders": named, "expected": expected}
    suite = {
        "name": "s",
        "skill": "k",
        "config": {"trials_per_task": 1, "timeout_seconds": 9, "executor": "mock"},
        "tasks": [task],
    }
    (folder / ".git").mkdir(exist_ok=True)
    path = folder / "waza" / "eval.yaml"
    path.parent.mkdir()
    path.write_text(yaml.safe_dump(suite, allow_unicode=True), "utf-8")
    return path


def passes(suite: Suite, answer: str, workspace: Path) -> bool:
    """Return whether an answer passes: all graders of the only task and its expectations do."""
    (found,) = suite.tasks
    return all(_verdicts(suite, found, answer, workspace))


def _verdicts(suite: Suite, found: SuiteTask, answer: str, workspace: Path) -> list[bool]:
    assert found.task is not None
    verdicts = [verdict.passed for verdict in expectations(found.task.expected, answer)]
    for entry in (*suite.spec.graders, *found.task.graders):
        if entry.type == "score":
            continue  # It passes when the others do.
        try:
            context = GradingContext(output=answer, workspace=workspace, suite_directory=suite.directory)
            verdicts.append(create(entry).grade(context).passed)
        except GraderError:
            verdicts.append(False)
    return verdicts


@pytest.mark.parametrize("chain", [("evals.json",), ("evals.json", "waza"), ("vally",), ("vally", "waza")])
@settings(max_examples=12, deadline=None, suppress_health_check=SLOW)
@given(st.lists(GRADERS, min_size=1, max_size=3), EXPECTED, ANSWERS)
def test_verdicts_stay(
    chain: tuple[Any, ...],
    graders: list[dict[str, Any]],
    expected: dict[str, Any],
    answers: list[tuple[str, dict[str, str]]],
) -> None:
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root)
        source = path = written(folder, graders, expected)
        for step, target in enumerate(chain):
            conversion = convert(path, target, folder / f"step-{step}")
            write_conversion(conversion, force=False)
            left_out = [loss for loss in conversion.losses if loss.kind == "left out"]
            assert all(loss.place.endswith(".description") for loss in left_out), left_out
            name = "evals.json" if target == "evals.json" else "eval.yaml"
            path = folder / f"step-{step}" / name
        before, after = load_suite(source), load_suite(path)
        for number, (answer, files) in enumerate(answers):
            workspace = folder / f"workspace-{number}"
            workspace.mkdir()
            for name, content in files.items():
                (workspace / name).parent.mkdir(exist_ok=True)
                (workspace / name).write_text(content, "utf-8")
            assert passes(before, answer, workspace) == passes(after, answer, workspace), (answer, files)
