"""Paths and the URIs that editors write for them."""

import os
from pathlib import Path

import pytest

from waza_language_server.project.uris import path_of, uri_of


def test_a_path_survives_the_way_there_and_back(tmp_path: Path) -> None:
    path = tmp_path / "a b#ü%20" / "eval.yaml"
    assert path_of(uri_of(path)) == path


def test_escapes_of_any_kind_are_read() -> None:
    assert path_of("file:///repo/a%20b/eval.yaml") == Path("/repo/a b/eval.yaml")


@pytest.mark.parametrize(
    "uri", ["untitled:Untitled-1", "git:/repo/eval.yaml", "", "file://[", "file:///a%00b"]
)
def test_what_is_on_no_disk_has_no_path(uri: str) -> None:
    assert path_of(uri) is None


@pytest.mark.skipif(os.name != "nt", reason="drive letters")
def test_drive_letters_as_vs_code_writes_them() -> None:
    assert path_of("file:///c%3A/repo/eval.yaml") == Path("C:/repo/eval.yaml")
    assert uri_of(Path("C:/repo/eval.yaml")) == "file:///c%3A/repo/eval.yaml"


@pytest.mark.skipif(os.name == "nt", reason="names are no bytes there")
def test_a_name_that_is_no_utf_8_keeps_its_bytes() -> None:
    path = Path("/a") / os.fsdecode(b"caf\xe9.yaml")
    assert uri_of(path) == "file:///a/caf%E9.yaml"
    assert path_of(uri_of(path)) == path


def test_half_a_surrogate_pair_in_a_uri_is_no_exception() -> None:
    assert path_of("file:///a/\ud800.yaml") is not None
