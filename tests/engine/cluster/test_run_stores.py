"""A store decides who has a trial: in a folder and in an object store the same."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytest.importorskip("distributed")

from tests.engine.cluster.object_stores import BUCKET, ObjectServer
from waza_engine.boundary import suite_boundary
from waza_engine.cluster.object_run_store import ObjectRunStore, checked_store
from waza_engine.cluster.run_store import FolderRunStore, RunStore
from waza_engine.cluster.stored_run_folders import fetch_run_store
from waza_engine.results.reading.run_store_entries import entries_in, note_in, write_note
from waza_engine.results.result_file_names import run_store_directory
from waza_engine.runs.loading.suite_on_disk import SuiteError

RUN = "run-1700000000-abcdef"


@pytest.fixture(params=["folder", "file", "s3"])
def run_store(request: pytest.FixtureRequest, tmp_path: Path, server: ObjectServer) -> RunStore:
    if request.param == "folder":
        return FolderRunStore(tmp_path / "place", suite_boundary(tmp_path))
    return ObjectRunStore(f"{BUCKET if request.param == 's3' else (tmp_path / 'store').as_uri()}/{RUN}")


def other(run_store: RunStore) -> RunStore:
    """Return the store as another process sees it."""
    if isinstance(run_store, FolderRunStore):
        return FolderRunStore(run_store.folder, suite_boundary(run_store.folder.parent))
    return ObjectRunStore(run_store.name)


def test_of_many_who_claim_an_attempt_one_has_it(run_store: RunStore) -> None:
    run_store.create()
    run_stores = [other(run_store) for _ in range(4)]
    with ThreadPoolExecutor(8) as pool:
        for number in range(5):
            key = f"0/{number}"
            claimed = [pool.submit(run_stores[each % 4].claim, key, 1, f"w{each}") for each in range(8)]
            winners = [f"w{each}" for each, future in enumerate(claimed) if future.result()]
            assert [run_store.claimant(key, 1)] == winners


def test_an_attempt_is_permitted_or_revoked_never_both(run_store: RunStore) -> None:
    run_store.create()
    worker = other(run_store)
    assert worker.permit("0/1", 1, "w", {"asked": {"test_id": "a"}})
    assert not run_store.revoke("0/1", 1)
    assert run_store.revoke("0/1", 2)
    assert not worker.permit("0/1", 2, "w", {})


def test_answers_and_documents_are_read_as_they_were_written(run_store: RunStore) -> None:
    run_store.create()
    worker = other(run_store)
    worker.claim("0/1", 1, "w")
    assert run_store.entries("0/1") == []
    assert run_store.document("0/1") is None
    for number in range(12):
        worker.append("0/1", {"answer": f"ä{number}"})
    worker.append("0/12", {"answer": "of another trial"})
    worker.finish("0/1", {"trial": {"output": "x" * 100_000}})
    assert [entry["answer"] for entry in run_store.entries("0/1")] == [f"ä{number}" for number in range(12)]
    assert run_store.document("0/1") == {"trial": {"output": "x" * 100_000}}


def test_a_lease_holds_as_long_as_it_is_renewed(run_store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    run_store.create()
    worker = other(run_store)
    worker.claim("0/1", 1, "w")
    worker.write_lease("w", {"machine": "elsewhere", "process": {"pid": 1, "started": 0}})
    assert not run_store.is_lost("w", "0/1", 1)
    gone = run_store.claimant("0/1", 1)
    assert gone == "w"
    monkeypatch.setattr("waza_engine.cluster.run_store.LEASE_SECONDS", -3.0)
    monkeypatch.setattr("waza_engine.cluster.object_run_store.LEASE_SECONDS", -3.0)
    monkeypatch.setattr("waza_engine.results.reading.run_store_entries.LEASE_SECONDS", -3.0)
    assert run_store.is_lost("w", "0/1", 1)


def test_a_worker_without_a_lease_is_lost_only_after_a_while(run_store: RunStore) -> None:
    run_store.create()
    other(run_store).claim("0/1", 1, "w")
    assert not run_store.is_lost("w", "0/1", 1)


def test_the_request_to_stop_is_seen(run_store: RunStore) -> None:
    run_store.create()
    worker = other(run_store)
    assert not worker.is_stopped
    run_store.write_stop("cancelled")
    time.sleep(run_store.look_seconds + 0.1)
    assert worker.is_stopped
    assert worker.is_there


@pytest.mark.parametrize("scheme", ["file", "s3"])
def test_in_a_place_that_was_removed_nothing_is_permitted(
    scheme: str, tmp_path: Path, server: ObjectServer
) -> None:
    run_store = ObjectRunStore(f"{BUCKET if scheme == 's3' else (tmp_path / 'store').as_uri()}/{RUN}")
    run_store.create()
    worker = ObjectRunStore(run_store.name)
    assert worker.claim("0/1", 1, "w")
    run_store.remove()
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
    run_store = ObjectRunStore(f"{BUCKET}/{RUN}")
    run_store.create()
    server.drops = 1
    assert run_store.claim("0/1", 1, "w")
    assert server.drops == 0
    assert not ObjectRunStore(run_store.name).claim("0/1", 1, "v")


def test_a_store_that_does_not_refuse_the_second_is_not_used(server: ObjectServer) -> None:
    server.is_lax = True
    with pytest.raises(OSError, match="it lets two create the same object"):
        ObjectRunStore(f"{BUCKET}/{RUN}").create()


def test_a_store_that_refuses_its_user_says_so(server: ObjectServer) -> None:
    server.is_closed = True
    with pytest.raises(OSError, match="these credentials may not use it") as error:
        ObjectRunStore(f"{BUCKET}/{RUN}").create()
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
    folder = run_store_directory(tmp_path, RUN)
    write_note(folder, f"{BUCKET}/{RUN}", within)
    run_store = ObjectRunStore(f"{BUCKET}/{RUN}")
    run_store.create()
    run_store.write_lease("w", {"machine": "elsewhere", "process": {"pid": 1, "started": 0}})
    run_store.claim("0/1", 1, "w")
    run_store.append("0/1", {"answer": {"test_id": "a"}})
    with pytest.raises(SuiteError, match=r"resume it with `--store s3://runs`"):
        fetch_run_store(folder, "s3://elsewhere", within)
    # Its worker still has the trial.
    fetch_run_store(folder, BUCKET, within)
    assert note_in(folder, within)
    assert run_store.is_there
    run_store.finish("0/1", {"trial": {"test_id": "a"}})
    fetch_run_store(folder, BUCKET, within)
    assert not note_in(folder, within)
    assert not server.objects
    assert [{*entry} for entry in entries_in(folder, within)] == [{"answer"}, {"trial"}]
