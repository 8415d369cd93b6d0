"""Graders of packages: no false error for what is locked and there, one at the `ref` for everything else."""

import re
from pathlib import Path

import pytest

from tests.server.analysis.drawing import EVAL, graders, problems
from tests.server.project.files import opened, put, workspace_with
from waza_engine.spec.reading.grader_packages import directory_digest
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.analysis.problem import Problem
from waza_language_server.features.hover.hover import hover

REF = "example.com/acme/graders/factuality@v1.0.0"
COMMIT = "a" * 40
SUITE = f"{EVAL}graders:\n  - ref: {REF}\n    name: strict\n    config: {{not_contains: [no]}}\n"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package as `waza get` leaves it, and the lock of a suite."""
    monkeypatch.setenv("WAZA_MODULE_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "cache/example.com/acme/graders" / COMMIT
    folder.mkdir(parents=True)
    (folder / "factuality.yaml").write_text("type: text\nconfig: {contains: [yes]}\n", "utf-8")
    pins = f"    commit: {COMMIT}\n    digest: {directory_digest(folder)}\n    url: u\n"
    put(tmp_path, "waza.lock", f"graders:\n  - ref: {REF}\n{pins}")
    put(tmp_path, "tasks/a.yaml", "id: a\nname: A\ninputs:\n  prompt: x\n")
    return folder


def _found(folder: Path, text: str = SUITE) -> tuple[Problem, ...]:
    document = opened(put(folder, "eval.yaml", text), "eval")
    return diagnose(document, workspace_with(document))


@pytest.mark.usefixtures("package")
def test_a_locked_package_is_fine(tmp_path: Path) -> None:
    assert _found(tmp_path) == ()


def test_an_altered_package_is_one_error_at_its_reference(tmp_path: Path, package: Path) -> None:
    (package / "more.yaml").write_text("", "utf-8")
    (problem,) = _found(tmp_path)
    assert SUITE[problem.span.start : problem.span.end] == REF
    assert problem.severity == "error"
    assert "is not what `waza.lock` has locked" in problem.message


@pytest.mark.usefixtures("package")
def test_a_missing_lock_says_what_to_run(tmp_path: Path) -> None:
    (tmp_path / "waza.lock").unlink()
    (problem,) = _found(tmp_path)
    assert problem.message.startswith("`waza.lock` is missing or empty beside the eval file; run `waza get")


@pytest.mark.usefixtures("package")
def test_another_type_than_that_of_the_package_is_reported(tmp_path: Path) -> None:
    (problem,) = _found(tmp_path, SUITE.replace("    name:", "    type: json_schema\n    name:"))
    assert "of type `text`, not `json_schema`" in problem.message


def test_a_package_must_not_run_programs(tmp_path: Path, package: Path) -> None:
    _write(tmp_path, package, "type: program\nconfig: {command: sh}\n")
    (problem,) = _found(tmp_path)
    assert "of type `program`, which runs programs" in problem.message


def test_assertions_of_a_package_start_no_program(tmp_path: Path, package: Path) -> None:
    _write(tmp_path, package, "type: code\nconfig: {assertions: ['len(output) > 3']}\n")
    in_python = SUITE.replace("not_contains: [no]", "assertions: ['len(output) > 4']")
    assert _found(tmp_path, in_python) == ()
    (problem,) = _found(tmp_path, SUITE.replace("not_contains: [no]", "language: javascript"))
    assert "assertions in JavaScript, for which a program is started" in problem.message
    _write(tmp_path, package, "type: code\nconfig: {assertions: ['output'], language: javascript}\n")
    assert [each.message for each in _found(tmp_path, in_python)] == [problem.message]


def _write(folder: Path, package: Path, text: str) -> None:
    (package / "factuality.yaml").write_text(text, "utf-8")
    lock = folder / "waza.lock"
    pinned = re.sub("digest: .*", f"digest: {directory_digest(package)}", lock.read_text("utf-8"))
    lock.write_text(pinned, "utf-8")


@pytest.mark.usefixtures("package")
def test_an_unknown_key_beside_a_reference_is_reported(tmp_path: Path) -> None:
    assert [each.code for each in _found(tmp_path, SUITE + "    extra: 1\n")] == ["unknown-key"]


def test_a_reference_in_a_task_is_reported() -> None:
    found = problems(graders(f"  - ref: {REF}\n    name: a\n"))
    assert [(each.code, each.severity) for each in found] == [("grader-package", "error")]


@pytest.mark.usefixtures("package")
def test_hover_says_since_when_a_reference_holds(tmp_path: Path) -> None:
    document = opened(put(tmp_path, "eval.yaml", SUITE), "eval")
    shown = hover(document, workspace_with(document), SUITE.index("ref:") + 1, documentation="")
    assert shown is not None
    assert "**Since** upstream's versions after 0.38" in shown.text
