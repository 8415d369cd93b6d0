"""The store of a run in an object store (S3, Google Cloud, Azure, a folder), for machines that share no disk.

A claim is an object that is created conditionally: the store refuses the second. Credentials and endpoints
are those of the environment of each machine; the address has none.
"""

from __future__ import annotations

import errno
import itertools
import os
import platform
import secrets
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from urllib.parse import urlsplit

import obstore
from obstore import exceptions, store

from waza_engine.cluster.run_store import RunStore
from waza_engine.masking import masked
from waza_engine.results.json_values import Block, Json, object_in, plain, text_of
from waza_engine.results.reading.journals import goes_on
from waza_engine.results.reading.run_store_entries import LEASE_SECONDS
from waza_engine.runs.loading.suite_on_disk import SuiteError
from waza_engine.terminal import json_text

SCHEMES = ("s3", "gs", "az", "file")
_LOOK_SECONDS = 2.0
_TRIES = 3
_CLOCK_SECONDS = 60.0
_REASON_CHARACTERS = 200
# A worker gives up after 20 seconds without a lease: requests about it must end well before that. All others
# may fail for some seconds, and files of a suite take their time.
_QUICK, _USUAL, _BULK = (4.0, 4.0), (20.0, 15.0), (600.0, 15.0)
_MOST_RETRIES = 100
_MARKER = "run.json"


def checked_store(written: str) -> str:
    """Return the address of a store without a slash at its end. Raises ``SuiteError``."""
    try:
        parts = urlsplit(written)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in SCHEMES or not (parts.path.strip("/") if parts.scheme == "file" else parts.netloc):
        raise SuiteError(
            f"`--store {masked(written)}` is no object store; write `s3://BUCKET/FOLDER`, `gs://…`, `az://…` "
            "or `file:///FOLDER`."
        )
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise SuiteError(
            f"`--store` takes no credentials in the address: set them in the environment of each machine, "
            f"and write `{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}`."
        )
    return written.rstrip("/")


class ObjectRunStore(RunStore):
    """The store of a run in an object store, at an address of ``checked_store`` and the id of the run."""

    look_seconds = _LOOK_SECONDS

    def __init__(self, name: str) -> None:
        """Raise ``OSError`` when the settings of the store in the environment cannot be used."""
        super().__init__(name)
        self._quick, self._store, self._bulk = (_opened(name, *each) for each in (_QUICK, _USUAL, _BULK))
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._looks: dict[str, tuple[float, bool]] = {}
        self._leases: dict[str, tuple[float, tuple[float, Block] | None]] = {}
        self._ahead = 0.0
        self._clock_read: float | None = None

    def create(self) -> str:
        """Create the store. Raises ``OSError``, also for a store that lets two create the same object."""
        self._put(_MARKER, {})
        name = f"seen-{secrets.token_hex(8)}"
        if not self._put(name, {}) or self._put(name, {}):
            raise OSError(errno.ENOTSUP, "it lets two create the same object, so nothing could be claimed")
        return name

    @property
    def is_there(self) -> bool:
        """Return whether the run still has its store, as it was seen in the last seconds."""
        return self._seen(_MARKER, if_unknown=True)

    @property
    def is_stopped(self) -> bool:
        """Return whether the run is to end, as it was seen in the last seconds."""
        return self._seen("stop", if_unknown=False)

    def permit(self, key: str, attempt: int, worker: str, entry: Json) -> bool:
        """Permit a worker to ask an agent, as a folder does."""
        permitted = super().permit(key, attempt, worker, entry)
        # Another run may have taken over in between, and removed the store.
        self._check()
        return permitted

    def append(self, key: str, entry: Json) -> None:
        """Store a line about an active trial, as an object of its own."""
        self._check()
        name = f"trials/{key}/{next(self._numbers):08}-{secrets.token_hex(3)}.jsonl"
        self._overwrite(name, plain(entry))

    def entries(self, key: str) -> list[Block]:
        """Return the lines about an active trial."""
        lines = (self._read(name) for name, _ in sorted(self.listed(f"trials/{key}")))
        return [line for line in lines if line is not None]

    def finish(self, key: str, document: Json) -> None:
        """Write the document of a trial that has ended."""
        self._check()
        self._overwrite(f"trials/{key}.json", plain(document))

    def write_lease(self, worker: str, description: Json) -> None:
        """Begin or renew the lease of a worker."""
        self._check(is_urgent=True)
        self._overwrite(f"workers/{worker}.json", description, is_urgent=True)

    def is_lost(self, worker: str, key: str, attempt: int) -> bool:
        """Return whether the worker of a claim has ended, or has not renewed its lease."""
        lease = self._lease(worker) if worker else None
        if lease is None:
            return self.now() - self.modified(f"trials/{key}.{attempt}.claim") > LEASE_SECONDS
        renewed, description = lease
        if self.now() - renewed > LEASE_SECONDS:
            return True
        return description.get("machine") == platform.node() and not goes_on(description)

    def now(self) -> float:
        """Return the time by the clock of the store, in seconds."""
        read = time.monotonic()
        if self._clock_read is None or read - self._clock_read > _CLOCK_SECONDS:
            name = f"clock-{platform.node()}-{secrets.token_hex(3)}"
            self._overwrite(name, {})
            self._ahead, self._clock_read = self.modified(name) - time.monotonic(), read
            with _as_os_errors(self.name):
                obstore.delete(self._store, name)
        return self._ahead + time.monotonic()

    def modified(self, name: str, *, is_urgent: bool = False) -> float:
        """Return when an object was written, by the clock of the store, in seconds."""
        with _as_os_errors(self.name):
            found = obstore.head(self._quick if is_urgent else self._store, name)
        return found["last_modified"].timestamp()

    def listed(self, folder: str) -> Iterator[tuple[str, float]]:
        """Yield the names of objects in a folder, and of folders below it, each with when it was written."""
        with _as_os_errors(self.name):
            chunks = obstore.list(self._store, prefix=folder or None)  # pyright: ignore[reportUnknownMemberType]
            for found in (found for chunk in chunks for found in chunk):
                yield found["path"], found["last_modified"].timestamp()

    def content(self, name: str) -> bytes:
        """Return the content of an object."""
        with _as_os_errors(self.name):
            return bytes(obstore.get(self._bulk, name).bytes())

    def write(self, name: str, content: bytes) -> None:
        """Write an object."""
        with _as_os_errors(self.name):
            obstore.put(self._bulk, name, content, use_multipart=False)

    def remove(self) -> None:
        """Remove all objects, the marker first: a worker that wakes up later must not go on."""
        with suppress(FileNotFoundError), _as_os_errors(self.name):
            obstore.delete(self._store, _MARKER)
        with _as_os_errors(self.name):
            obstore.delete(self._store, [name for name, _ in self.listed("")])

    def _seen(self, name: str, *, if_unknown: bool) -> bool:
        at, seen = self._looks.get(name, (-_LOOK_SECONDS, if_unknown))
        if time.monotonic() - at > _LOOK_SECONDS:
            try:
                seen = self._exists(name, is_urgent=True)
            except OSError:
                # A store that does not answer is noticed by the lease.
                seen = if_unknown
            self._looks[name] = time.monotonic(), seen
        return seen

    def has(self, name: str) -> bool:
        """Return whether an object is there."""
        return self._exists(name, is_urgent=False)

    def _exists(self, name: str, *, is_urgent: bool) -> bool:
        try:
            self.modified(name, is_urgent=is_urgent)
        except FileNotFoundError:
            return False
        return True

    def _check(self, *, is_urgent: bool = False) -> None:
        """Raise ``FileNotFoundError`` when the run has ended."""
        if not self._exists(_MARKER, is_urgent=is_urgent):
            raise FileNotFoundError(errno.ENOENT, "the run has ended", self.name)

    def _lease(self, worker: str) -> tuple[float, Block] | None:
        with self._lock:
            read, lease = self._leases.get(worker, (-_LOOK_SECONDS, None))
            if time.monotonic() - read > _LOOK_SECONDS:
                name = f"workers/{worker}.json"
                try:
                    lease = self.modified(name), self._read(name) or {}
                except FileNotFoundError:
                    lease = None
                self._leases[worker] = time.monotonic(), lease
            return lease

    def _create(self, name: str, document: Json, *, sync: bool = False) -> bool:
        del sync  # Each object is stored when the store says so.
        self._check()
        return self._put(name, document)

    def _overwrite(self, name: str, document: object, *, is_urgent: bool = False) -> None:
        client, content = self._quick if is_urgent else self._store, json_text(document).encode()
        with _as_os_errors(self.name):
            obstore.put(client, name, content, use_multipart=False)

    def _put(self, name: str, document: Json) -> bool:
        """Create an object; return whether it is ours, which a mark in it says."""
        mark = secrets.token_hex(8)
        content = json_text({**document, "mark": mark}).encode()
        for _ in range(_TRIES):
            try:
                with _as_os_errors(self.name):
                    obstore.put(self._store, name, content, mode="create", use_multipart=False)
            except FileExistsError:
                # The first request may have succeeded and its answer was lost, or two came at the same time.
                found = self._read(name)
                if found is not None:
                    return text_of(found.get("mark")) == mark
            else:
                return True
        raise OSError(errno.EIO, "it refuses to create an object that is not there", self.name)

    def _read(self, name: str) -> Block | None:
        try:
            with _as_os_errors(self.name):
                content = bytes(obstore.get(self._store, name).bytes())
        except FileNotFoundError:
            return None
        return object_in(content) or {}


def _opened(name: str, seconds: float, retry_seconds: float) -> store.ObjectStore:
    """Return a client; ``seconds`` limit a request, ``retry_seconds`` its repetitions."""
    with _as_os_errors(name):
        if name.startswith("file:"):
            return store.LocalStore.from_url(name, mkdir=True, automatic_cleanup=True)
        # These options replace those of the environment.
        is_plain = os.environ.get("AWS_ALLOW_HTTP", "").lower() == "true"
        return store.from_url(
            name,
            client_options={"timeout": timedelta(seconds=seconds), "allow_http": is_plain},
            retry_config={"max_retries": _MOST_RETRIES, "retry_timeout": timedelta(seconds=retry_seconds)},
        )


_KNOWN = (
    (FileNotFoundError, FileNotFoundError, errno.ENOENT, "there is no such object or bucket"),
    (exceptions.AlreadyExistsError, FileExistsError, errno.EEXIST, "there is one already"),
    # Some stores answer so to a conditional request that comes at the same time as another one.
    (exceptions.PreconditionError, FileExistsError, errno.EEXIST, "there is one already"),
    (exceptions.PermissionDeniedError, PermissionError, errno.EACCES, "these credentials may not use it"),
    (exceptions.UnauthenticatedError, PermissionError, errno.EACCES, "it does not know these credentials"),
    (exceptions.NotSupportedError, OSError, errno.ENOTSUP, "it cannot create objects conditionally"),
)


@contextmanager
def _as_os_errors(name: str) -> Generator[None]:
    """Raise ``OSError`` with a reason for people instead of the errors of a store."""
    try:
        yield
    except (exceptions.BaseError, FileNotFoundError) as error:
        for kind, raised, number, why in _KNOWN:
            if isinstance(error, kind):
                raise raised(number, why, name) from None
        why = " ".join(str(error).split()).partition(" Debug source")[0][:_REASON_CHARACTERS]
        raise OSError(errno.EIO, f"it does not answer as a store does ({masked(why)})", name) from None
