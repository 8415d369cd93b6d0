"""The grader program of a converted suite in a pipeline, and public suites on the way to prompts and back."""

import json
from pathlib import Path

import pytest

from tests.command_line import engine
from tests.engine.convert.test_harness import converted, same_verdicts
from tests.engine.harness.test_captures_as_records import capture
from tests.engine.harness.test_captures_as_records import written as written_rows
from tests.engine.suites import GREETS, task, write_suite
from tests.shared_corpus import needs_corpus, suite_files
from waza_engine.convert.conversion import ConversionError
from waza_engine.runs.loading.suite_on_disk import SuiteError
from waza_engine.spec.problems import SuiteFileError

pytestmark = pytest.mark.check


def test_the_exported_program_grades_in_a_pipeline(tmp_path: Path) -> None:
    source = write_suite(tmp_path / "s", {"a": task("a")}, graders=GREETS)
    converted(source, tmp_path / "out", "harness")
    metadata = {"wazaTask": "a"}
    rows = [capture("1", output="hello", metadata=metadata), capture("2", output="bye", metadata=metadata)]
    record = written_rows(tmp_path, *rows, capture("3", output="hello"))
    ended = engine("harness", "grade", str(record), "-g", str(tmp_path / "out" / "grader.py"))
    found = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [row.get("score", {}).get("pass") for row in found] == [True, False, None]
    assert "`metadata.wazaTask` must be the id of a task" in found[2]["errors"][0]


@needs_corpus
def test_public_suites_keep_their_verdicts(tmp_path: Path) -> None:
    checked = 0
    for number, source in enumerate(suite_files("eval.yaml", "eval.yml")):
        try:
            checked += same_verdicts(source, tmp_path / str(number))
        except (SuiteError, SuiteFileError, ConversionError):
            continue
    assert checked > 200
