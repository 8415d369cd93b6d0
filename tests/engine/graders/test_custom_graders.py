"""Grader types that a package adds: installed, run, described, and harmless when broken."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.engine.graders.custom_package import EXAMPLE, ROOT, broken_plugin, install_example
from tests.engine.serve.client import Engine
from tests.engine.suites import task, write_suite

pytestmark = pytest.mark.check


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install_example(tmp_path_factory.mktemp("installed"))


def engine(*arguments: str | Path, path: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (path, ROOT)))}
    return subprocess.run(
        [sys.executable, "-m", "waza_engine", *map(str, arguments)],
        env=environment, capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip


def validations(run: subprocess.CompletedProcess[str]) -> Mapping[str, Any]:
    return json.loads(run.stdout)["tasks"][0]["runs"][0]["validations"]


def test_the_example_suite_runs_with_the_installed_package(site: Path, tmp_path: Path) -> None:
    suite = shutil.copytree(EXAMPLE / "suite", tmp_path / "suite", ignore=shutil.ignore_patterns(".waza"))
    run = engine("run", suite, "--format", "json", path=site)
    assert run.returncode == 0, run.stderr
    verdict = validations(run)["easy_to_read"]
    assert (verdict["type"], verdict["passed"], len(verdict["checks"])) == ("reading_level", True, 2)


def test_its_options_are_checked_like_those_of_other_types(site: Path, tmp_path: Path) -> None:
    graders = (
        "- {type: reading_level, name: none, config: {}}\n"
        "- {type: reading_level, name: misspelt, config: {max_words: 1, max_word_letters: 1}}\n"
    )
    run = engine(
        "run", write_suite(tmp_path, {"a": task("a")}, graders=graders), "--format", "json", path=site
    )
    found = validations(run)
    assert "give at least one of `max_sentence_words` or `max_word_letters`" in found["none"]["feedback"]
    assert (found["misspelt"].get("status"), found["misspelt"]["passed"]) == (None, False)
    assert "write `max_sentence_words`" in run.stderr


def test_schemas_know_it_when_they_are_asked_to(site: Path) -> None:
    plain, custom = (json.loads(engine("schema", *flag, path=site).stdout) for flag in ((), ("--custom",)))
    assert set(custom) - set(plain) == {"graders/reading_level.schema.json"}
    assert "grader_reading_level" in custom["eval.schema.json"]["$defs"]
    assert "grader_reading_level" not in plain["eval.schema.json"]["$defs"]
    assert "The most words" in json.dumps(custom["graders/reading_level.schema.json"])


def test_an_editor_is_told_the_types(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, (site, ROOT))))
    with Engine() as served:
        custom = served.request("grader.types", custom=True)["result"]
        every = served.request("grader.types")["result"]
    assert [(known["type"], known["built_in"]) for known in custom["types"]] == [("reading_level", False)]
    assert custom["types"][0]["schema"]["properties"]["type"]["const"] == "reading_level"
    assert custom["types"][0]["documentation"].startswith("Checks that an answer is easy to read")
    assert {"text", "reading_level"} <= {known["type"] for known in every["types"]}


def test_a_package_that_cannot_be_imported_costs_only_its_own_types(tmp_path: Path) -> None:
    path = broken_plugin(tmp_path / "site")
    graders = "- {type: lost, name: lost}\n- {type: text, name: speaks, config: {contains: [mock]}}\n"
    suite = write_suite(tmp_path / "suite", {"a": task("a")}, graders=graders)
    found = validations(engine("run", suite, "--format", "json", path=path))
    assert found["speaks"]["passed"]
    assert found["lost"]["status"] == "error"
    assert "the plug-in `lost` (no_such_module_here) cannot be loaded" in found["lost"]["feedback"]


def test_a_package_that_prints_and_ends_the_process_costs_nothing_but_its_types(tmp_path: Path) -> None:
    path = broken_plugin(tmp_path / "site", "leaves")
    (path / "leaves.py").write_text("print('hello')\nraise SystemExit(5)\n", "utf-8")
    suite = write_suite(tmp_path / "suite", {"a": task("a")}, graders="- {type: lost, name: lost}\n")
    found = validations(engine("run", suite, "--format", "json", path=path))
    assert found["lost"]["feedback"].endswith("the plug-in `lost` (leaves) cannot be loaded: SystemExit: 5")


OLDEST = """\
from waza.graders.base import Grader, GraderContext, GraderType, GraderRegistry
from waza.schemas.results import GraderResult

@GraderRegistry.register("lost")
class MyCustomGrader(Grader):
    @property
    def grader_type(self) -> GraderType:
        return GraderType.CODE

    def grade(self, context: GraderContext) -> GraderResult:
        return GraderResult(
            name=self.name,
            type=self.grader_type.value,
            score=0.5,
            passed=self.config["word"] in context.output,
            message="Custom grading complete",
        )
"""


def test_a_grader_of_the_first_version_registers_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = broken_plugin(tmp_path / "site", "oldest")
    (path / "oldest.py").write_text(OLDEST, "utf-8")
    graders = "- {type: lost, name: special, config: {word: hello}}\n"
    suite = write_suite(tmp_path / "suite", {"a": task("a")}, graders=graders)
    said = validations(engine("run", suite, "--format", "json", path=path))["special"]
    assert (said["score"], said["passed"], said["feedback"]) == (0.5, True, "Custom grading complete")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, (path, ROOT))))
    with Engine() as served:
        (known,) = served.request("grader.types", custom=True)["result"]["types"]
    assert known["schema"]["deprecated"]
    assert "from `waza_engine.graders.base`" in known["schema"]["x-waza-deprecation"]


def test_an_installed_package_of_that_name_comes_first(tmp_path: Path) -> None:
    path = broken_plugin(tmp_path / "site", "oldest")
    (path / "waza").mkdir()
    (path / "waza" / "__init__.py").write_text("", "utf-8")
    (path / "oldest.py").write_text(OLDEST, "utf-8")
    suite = write_suite(tmp_path / "suite", {"a": task("a")}, graders="- {type: lost, name: special}\n")
    said = validations(engine("run", suite, "--format", "json", path=path))["special"]
    assert (
        "No module named 'waza.graders'" in said["feedback"] or "first version's package" in said["feedback"]
    )


def test_a_program_for_the_first_version_is_told_what_to_import_instead(tmp_path: Path) -> None:
    path = tmp_path / "site"
    path.mkdir()
    (path / "oldest.py").write_text("from waza.graders.base import Grader, GraderRegistry\n", "utf-8")
    graders = (
        "- {type: script, name: script, config: {script: oldest.py}}\n"
        "- {type: inline, name: inline, config: {grader: oldest.py}}\n"
        f"- {{type: program, name: program, config: {{command: '{sys.executable}', args: [oldest.py]}}}}\n"
    )
    suite = write_suite(tmp_path / "suite", {"a": task("a")}, graders=graders)
    (suite.parent / "oldest.py").write_bytes((path / "oldest.py").read_bytes())
    found = validations(engine("run", suite, "--format", "json", path=path))
    for name in ("script", "inline", "program"):
        said = found[name]["feedback"]
        assert "`waza.graders` is the first version's package" in said
        assert "from `waza_engine.graders.base`" in said
        assert "Traceback" not in said
