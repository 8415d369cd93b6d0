"""Graders of packages: locked by digest, read from the folder of `waza get`, never downloaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.suites import run, task, verdicts, write_suite
from waza_engine.runs.loading.packaged_graders import packaged_grader
from waza_engine.spec.grader_entry import GraderEntry
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.grader_packages import GraderPackageError, directory_digest, parse_reference
from waza_engine.spec.reading.suite_files import DISK

REF = "example.com/acme/graders#factuality@v1.0.0"
COMMIT = "a" * 40
MANIFEST = "schema_version: 1\nexports:\n  graders:\n    factuality:\n      path: graders/factuality.yaml\n"
GRADER = "type: text\nweight: 3\nconfig:\n  contains: [supported]\n"


def package(folder: Path, grader: str = GRADER) -> Path:
    """Put a package of one grader into the folder of packages and return it."""
    place = folder / "example.com/acme/graders" / COMMIT
    (place / "graders").mkdir(parents=True)
    (place / "waza.registry.yaml").write_bytes(MANIFEST.encode())
    (place / "graders/factuality.yaml").write_bytes(grader.encode())
    return place


def lock(suite: Path, digest: str, ref: str = REF) -> None:
    text = f"schema_version: 1\ngraders:\n  - ref: {ref}\n    commit: {COMMIT}\n    digest: {digest}\n"
    (suite / "waza.lock").write_text(text + "    url: https://example.com/acme/graders.git\n", "utf-8")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package as `waza get` leaves it, and a suite that has locked it."""
    monkeypatch.setenv("WAZA_MODULE_CACHE", str(tmp_path / "cache"))
    folder = package(tmp_path / "cache")
    lock(tmp_path, directory_digest(folder))
    return folder


def test_a_digest_is_of_paths_and_contents_in_their_order(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/z").write_bytes(b"1")
    (tmp_path / "a-b").write_bytes(b"2")
    # sha256 of b"a-b\0" b"2\0" b"a/z\0" b"1\0"
    known = "sha256:70f542115deb658ae01a227b393a950ffcec748a6800a8761245f8f11a9cd4b5"
    assert directory_digest(tmp_path) == known


def test_keys_of_the_entry_win_over_those_of_the_package(tmp_path: Path, place: Path) -> None:
    assert place.is_dir()
    entry = GraderEntry(ref=REF, name="strict", config={"not_contains": ["no"]})
    found = packaged_grader(entry, tmp_path / "eval.yaml", DISK)
    assert (found.type, found.name, found.weight) == ("text", "strict", 3)
    assert found.config == {"contains": ["supported"], "not_contains": ["no"]}


@pytest.mark.parametrize(
    "ref",
    [
        "example.com/acme/graders#factuality@v1.0.0",
        "example.com/acme/graders@v1.0.0",
        "example.com/acme/graders/graders/factuality@v1.0.0",
        "example.com/acme/graders/graders/factuality.yaml@v1.0.0",
    ],
)
def test_a_grader_is_named_by_export_or_by_path(tmp_path: Path, place: Path, ref: str) -> None:
    lock(tmp_path, directory_digest(place), ref)
    found = packaged_grader(GraderEntry(ref=ref), tmp_path / "eval.yaml", DISK)
    assert (found.name, found.type) == ("factuality", "text")


@pytest.mark.parametrize(
    "ref",
    ["acme/graders@v1", "example.com/acme/graders", "example.com/../graders@v1", "a/b/c/../d@v1", "@v1"],
)
def test_a_reference_of_another_form_is_refused(ref: str) -> None:
    with pytest.raises(GraderPackageError, match=r"`ref: "):
        parse_reference(ref)


def _error(tmp_path: Path, **entry: object) -> str:
    with pytest.raises(GraderPackageError) as caught:
        packaged_grader(GraderEntry.model_validate({"ref": REF, **entry}), tmp_path / "eval.yaml", DISK)
    return str(caught.value)


def test_without_a_lock_one_is_asked_for(tmp_path: Path, place: Path) -> None:
    assert place.is_dir()
    (tmp_path / "waza.lock").unlink()
    found = _error(tmp_path)
    assert found.startswith("`waza.lock` is missing or empty beside the eval file; run `waza get eval.yaml`")


def test_a_reference_that_is_not_locked_is_refused(tmp_path: Path, place: Path) -> None:
    assert place.is_dir()
    assert "`waza.lock` has `example.com/acme/graders@v2` not in `graders`; run" in _error(
        tmp_path, ref="example.com/acme/graders@v2"
    )


def test_a_lock_of_another_form_is_refused(tmp_path: Path, place: Path) -> None:
    assert place.is_dir()
    lock(tmp_path, "sha256:short")
    assert _error(tmp_path).startswith("`waza.lock`: `digest` of ")


def test_an_altered_package_is_refused(tmp_path: Path, place: Path) -> None:
    (place / "graders/factuality.yaml").write_text("type: text\n", "utf-8")
    assert "is not what `waza.lock` has locked" in _error(tmp_path)


def test_a_package_that_is_not_there_is_never_fetched(tmp_path: Path, place: Path) -> None:
    place.rename(place.with_name("b" * 40))
    assert "run `waza get` while online, nothing is downloaded here" in _error(tmp_path)


def test_another_type_than_that_of_the_package_is_refused(tmp_path: Path, place: Path) -> None:
    assert place.is_dir()
    assert "is of type `text`, not `prompt`; leave `type` out" in _error(tmp_path, type="prompt")


@pytest.mark.parametrize("kind", ["program", "script", "inline"])
def test_programs_of_packages_are_refused(tmp_path: Path, place: Path, kind: str) -> None:
    (place / "graders/factuality.yaml").write_text(f"type: {kind}\n", "utf-8")
    lock(tmp_path, directory_digest(place))
    assert f"of type `{kind}`, which runs programs" in _error(tmp_path)


@pytest.mark.parametrize("own", [{}, {"language": "javascript"}])
def test_assertions_of_packages_start_no_program(tmp_path: Path, place: Path, own: dict[str, str]) -> None:
    language = "python" if own else "javascript"
    (place / "graders/factuality.yaml").write_text(
        f"type: code\nconfig: {{assertions: ['1'], language: {language}}}\n", "utf-8"
    )
    lock(tmp_path, directory_digest(place))
    assert "assertions in JavaScript, for which a program is started" in _error(tmp_path, config=own)


def test_links_in_a_package_are_refused(tmp_path: Path, place: Path) -> None:
    (place / "graders/other.yaml").symlink_to(tmp_path / "waza.lock")
    assert "links are refused" in _error(tmp_path)


def _suite(tmp_path: Path, listed: str = f"- ref: {REF}\n  name: strict\n") -> Path:
    return write_suite(tmp_path, {"a": task("a", prompt="supported")}, graders=listed)


def test_a_run_grades_with_the_grader_of_a_package(tmp_path: Path, place: Path) -> None:
    assert place.is_dir()
    found = verdicts(run(_suite(tmp_path))[0])
    assert [(name, one.type, one.passed, one.weight) for name, one in found.items()] == [
        ("strict", "text", True, 3.0)
    ]


def test_a_run_without_the_package_stops_at_the_line_of_the_reference(tmp_path: Path, place: Path) -> None:
    place.rename(place.with_name("b" * 40))
    with pytest.raises(SuiteFileError, match="nothing is downloaded here") as caught:
        run(_suite(tmp_path))
    assert (caught.value.line, caught.value.location) == (6, ("graders", 0, "ref"))


def test_a_task_cannot_name_a_package(tmp_path: Path, place: Path) -> None:
    assert place.is_dir()
    path = write_suite(tmp_path, {"a": task("a", f"graders:\n- ref: {REF}\n  name: strict\n")})
    assert "`ref` is for graders of the eval file" in verdicts(run(path)[0])["strict"].feedback
