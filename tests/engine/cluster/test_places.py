"""A place decides who has a trial: in a folder and in an object store the same."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytest.importorskip("distributed")

from tests.engine.cluster.object_stores import BUCKET, ObjectServer, object_server
from waza_engine.boundary import suite_boundary
from waza_engine.cluster.object_place import ObjectPlace, checked_store
from waza_engine.cluster.place import FolderPlace, Place
from waza_engine.cluster.stored_places import fetch_place
from waza_engine.results.places import place_directory
from waza_engine.results.reading.place_entries import entries_in, note_in, write_note
from waza_engine.runs.loading.suite import SuiteError

RUN = "run-1700000000-abcdef"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ObjectServer]:
    with object_server(monkeypatch) as running:
        yield running


@pytest.fixture(params=["folder", "file", "s3"])
def place(request: pytest.FixtureRequest, tmp_path: Path, server: ObjectServer) -> Place:
    if request.param == "folder":
        return FolderPlace(tmp_path / "place", suite_boundary(tmp_path))
    return ObjectPlace(f"{BUCKET if request.param == 's3' else (tmp_path / 'store').as_uri()}/{RUN}")


def other(place: Place) -> Place:
    """Return the place as another process sees it."""
    if isinstance(place, FolderPlace):
        return FolderPlace(place.folder, suite_boundary(place.folder.parent))
    return ObjectPlace(place.name)


def test_of_many_who_claim_an_attempt_one_has_it(place: Place) -> None:
    place.create()
    places = [other(place) for _ in range(4)]
    with ThreadPoolExecutor(8) as pool:
        for number in range(5):
            key = f"0/{number}"
            claimed = [pool.submit(places[each % 4].claim, key, 1, f"w{each}") for each in range(8)]
            winners = [f"w{each}" for each, future in enumerate(claimed) if future.result()]
            assert [place.claimant(key, 1)] == winners


def test_an_attempt_is_permitted_or_revoked_never_both(place: Place) -> None:
    place.create()
    worker = other(place)
    assert worker.permit("0/1", 1, "w", {"asked": {"test_id": "a"}})
    assert not place.revoke("0/1", 1)
    assert place.revoke("0/1", 2)
    assert not worker.permit("0/1", 2, "w", {})


def test_answers_and_documents_are_read_as_they_were_written(place: Place) -> None:
    place.create()
    worker = other(place)
    worker.claim("0/1", 1, "w")
    assert place.entries("0/1") == []
    assert place.document("0/1") is None
    for number in range(12):
        worker.append("0/1", {"answer": f"ä{number}"})
    worker.append("0/12", {"answer": "of another trial"})
    worker.finish("0/1", {"trial": {"output": "x" * 100_000}})
    assert [entry["answer"] for entry in place.entries("0/1")] == [f"ä{number}" for number in range(12)]
    assert place.document("0/1") == {"trial": {"output": "x" * 100_000}}


def test_a_lease_holds_as_long_as_it_is_renewed(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.create()
    worker = other(place)
    worker.claim("0/1", 1, "w")
    worker.write_lease("w", {"machine": "elsewhere", "process": {"pid": 1, "started": 0}})
    assert not place.is_lost("w", "0/1", 1)
    gone = place.claimant("0/1", 1)
    assert gone == "w"
    monkeypatch.setattr("waza_engine.cluster.place.LEASE_SECONDS", -3.0)
    monkeypatch.setattr("waza_engine.cluster.object_place.LEASE_SECONDS", -3.0)
    monkeypatch.setattr("waza_engine.results.reading.place_entries.LEASE_SECONDS", -3.0)
    assert place.is_lost("w", "0/1", 1)


def test_a_worker_without_a_lease_is_lost_only_after_a_while(place: Place) -> None:
    place.create()
    other(place).claim("0/1", 1, "w")
    assert not place.is_lost("w", "0/1", 1)


def test_the_request_to_stop_is_seen(place: Place) -> None:
    place.create()
    worker = other(place)
    assert not worker.is_stopped
    place.write_stop("cancelled")
    time.sleep(place.look_seconds + 0.1)
    assert worker.is_stopped
    assert worker.is_there


@pytest.mark.parametrize("scheme", ["file", "s3"])
def test_in_a_place_that_was_removed_nothing_is_permitted(
    scheme: str, tmp_path: Path, server: ObjectServer
) -> None:
    place = ObjectPlace(f"{BUCKET if scheme == 's3' else (tmp_path / 'store').as_uri()}/{RUN}")
    place.create()
    worker = ObjectPlace(place.name)
    assert worker.claim("0/1", 1, "w")
    place.remove()
    for write in (
        lambda: worker.permit("0/1", 1, "w", {}),
        lambda: worker.append("0/1", {}),
        lambda: worker.finish("0/1", {}),
        lambda: worker.write_lease("w", {}),
    ):
        with pytest.raises(FileNotFoundError, match="the run has ended"):
            write()
    assert not server.objects
    assert not worker.is_there


def test_a_claim_whose_answer_was_lost_is_the_claim_of_who_made_it(server: ObjectServer) -> None:
    place = ObjectPlace(f"{BUCKET}/{RUN}")
    place.create()
    server.drops = 1
    assert place.claim("0/1", 1, "w")
    assert server.drops == 0
    assert not ObjectPlace(place.name).claim("0/1", 1, "v")


def test_a_store_that_does_not_refuse_the_second_is_not_used(server: ObjectServer) -> None:
    server.is_lax = True
    with pytest.raises(OSError, match="it lets two create the same object"):
        ObjectPlace(f"{BUCKET}/{RUN}").create()


def test_a_store_that_refuses_its_user_says_so(server: ObjectServer) -> None:
    server.is_closed = True
    with pytest.raises(OSError, match="these credentials may not use it") as error:
        ObjectPlace(f"{BUCKET}/{RUN}").create()
    assert "not-for-anybody-else" not in str(error.value)


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("s3:/runs", "is no object store"),
        ("https://example.org/x", "is no object store"),
        ("memory:///", "is no object store"),
        ("file:///", "is no object store"),
        ("s3://me:secret@runs/x", "write `s3://runs/x`"),
        ("az://runs/x?sig=abc", "takes no credentials"),
    ],
)
def test_the_address_of_a_store_is_checked(written: str, words: str) -> None:
    with pytest.raises(SuiteError, match="--store") as error:
        checked_store(written)
    assert words in str(error.value)
    assert "secret" not in str(error.value)
    assert checked_store("s3://runs/x/") == "s3://runs/x"


def test_what_workers_left_in_a_store_is_fetched_for_who_names_the_store(
    tmp_path: Path, server: ObjectServer
) -> None:
    within = suite_boundary(tmp_path)
    folder = place_directory(tmp_path, RUN)
    write_note(folder, f"{BUCKET}/{RUN}", within)
    place = ObjectPlace(f"{BUCKET}/{RUN}")
    place.create()
    place.write_lease("w", {"machine": "elsewhere", "process": {"pid": 1, "started": 0}})
    place.claim("0/1", 1, "w")
    place.append("0/1", {"answer": {"test_id": "a"}})
    with pytest.raises(SuiteError, match=r"resume it with `--store s3://runs`"):
        fetch_place(folder, "s3://elsewhere", within)
    # Its worker still has the trial.
    fetch_place(folder, BUCKET, within)
    assert note_in(folder, within)
    assert place.is_there
    place.finish("0/1", {"trial": {"test_id": "a"}})
    fetch_place(folder, BUCKET, within)
    assert not note_in(folder, within)
    assert not server.objects
    assert [{*entry} for entry in entries_in(folder, within)] == [{"answer"}, {"trial"}]
