"""Graders of packages: locked by digest, read from the folder of `waza get`, never downloaded."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.engine.suites import run, task, verdicts, write_suite
from waza_engine.runs.loading.suite_on_disk import packaged_grader
from waza_engine.spec.grader_entry import GraderEntry
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.grader_packages import GraderPackageError, directory_digest, parse_reference
from waza_engine.spec.reading.suite_reader import DISK

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


def _write(place: Path, grader: str) -> None:
    """Lock a package with this grader."""
    (place / "graders/factuality.yaml").write_text(grader, "utf-8")
    lock(place.parents[4], directory_digest(place))


def _javascript(language: str) -> Callable[[Path], None]:
    return lambda place: _write(place, f"type: code\nconfig: {{assertions: ['1'], language: {language}}}\n")


NO_LOCK = "`waza.lock` is missing or empty beside the eval file; run `waza get eval.yaml`"
NOT_LOCKED = "`waza.lock` has `example.com/acme/graders@v2` not in `graders`; run"
NEEDS_NODE = "assertions in JavaScript, for which a program is started"


REFUSED: list[tuple[Callable[[Path], object], dict[str, object], str]] = [
    (lambda place: (place.parents[4] / "waza.lock").unlink(), {}, NO_LOCK),
    (lambda place: None, {"ref": "example.com/acme/graders@v2"}, NOT_LOCKED),
    (lambda place: lock(place.parents[4], "sha256:short"), {}, "`waza.lock`: `digest` of "),
    (
        lambda place: (place / "graders/factuality.yaml").write_text("type: text\n", "utf-8"),
        {},
        "is not what `waza.lock` has locked",
    ),
    (
        lambda place: place.rename(place.with_name("b" * 40)),
        {},
        "run `waza get` while online, nothing is downloaded here",
    ),
    (lambda place: None, {"type": "prompt"}, "is of type `text`, not `prompt`; leave `type` out"),
    *(
        (lambda place, kind=kind: _write(place, f"type: {kind}\n"), {}, f"of type `{kind}`, which runs")
        for kind in ("program", "script", "inline")
    ),
    (_javascript("javascript"), {"config": {}}, NEEDS_NODE),
    (_javascript("python"), {"config": {"language": "javascript"}}, NEEDS_NODE),
    (
        lambda place: (place / "graders/other.yaml").symlink_to(place.parents[4] / "waza.lock"),
        {},
        "links are refused",
    ),
]


@pytest.mark.parametrize(("change", "entry", "said"), REFUSED)
def test_what_cannot_be_trusted_is_refused(
    tmp_path: Path, place: Path, change: Callable[[Path], object], entry: dict[str, object], said: str
) -> None:
    change(place)
    with pytest.raises(GraderPackageError) as caught:
        packaged_grader(GraderEntry.model_validate({"ref": REF, **entry}), tmp_path / "eval.yaml", DISK)
    assert said in str(caught.value)


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
